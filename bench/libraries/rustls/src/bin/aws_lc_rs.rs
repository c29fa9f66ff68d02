//! Measures rustls with aws-lc-rs.

use std::process::ExitCode;

fn main() -> ExitCode {
    tls_harness::program::main(&tls_rustls::Rustls::aws_lc_rs())
}
