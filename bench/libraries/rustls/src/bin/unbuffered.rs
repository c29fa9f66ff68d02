//! Measures rustls with aws-lc-rs by its unbuffered API.

use std::process::ExitCode;

use tls_rustls::{Rustls, unbuffered::Unbuffered};

fn main() -> ExitCode {
    tls_harness::program::main(&Unbuffered(Rustls::aws_lc_rs()))
}
