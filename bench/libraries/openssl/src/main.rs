//! Measures OpenSSL, with the recommended settings if the environment requests them.

use std::process::ExitCode;

use tls_harness::{implementation, program};
use tls_openssl::{OpenSsl, Tuned};

fn main() -> ExitCode {
    match implementation::is_tuned() {
        true => program::main(&Tuned),
        false => program::main(&OpenSsl),
    }
}
