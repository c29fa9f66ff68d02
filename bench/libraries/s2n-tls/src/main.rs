//! Measures s2n-tls.

use std::process::ExitCode;

fn main() -> ExitCode {
    tls_harness::program::main(&tls_s2n_tls::S2nTls)
}
