//! Measures rustls with graviola.

use std::process::ExitCode;

fn main() -> ExitCode {
    tls_harness::program::main(&tls_rustls::Rustls::graviola())
}
