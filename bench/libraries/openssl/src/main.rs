//! Measures OpenSSL, tuned where its environment says so.

use std::process::ExitCode;

use tls_harness::{implementation, program};
use tls_openssl::{OpenSsl, Tuned};

fn main() -> ExitCode {
    match implementation::is_tuned() {
        true => program::main(&Tuned),
        false => program::main(&OpenSsl),
    }
}
