//! Measures rustls with aws-lc-rs through its unbuffered API.

use std::process::ExitCode;

use tls_rustls::{Rustls, unbuffered::Unbuffered};

fn main() -> ExitCode {
    tls_harness::program::main(&Unbuffered(Rustls::aws_lc_rs()))
}
