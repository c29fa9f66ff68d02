//! Measures rustls with ring.

use std::process::ExitCode;

fn main() -> ExitCode {
    tls_harness::program::main(&tls_rustls::Rustls::ring())
}
