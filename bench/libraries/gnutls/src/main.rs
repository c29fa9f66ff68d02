//! Measures GnuTLS.

use std::process::ExitCode;

fn main() -> ExitCode {
    tls_harness::program::main(&tls_gnutls::GnuTls::default())
}
