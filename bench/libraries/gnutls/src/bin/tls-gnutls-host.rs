//! Measures the GnuTLS that the host's own programs use.

use std::process::ExitCode;

fn main() -> ExitCode {
    tls_harness::program::main(&tls_gnutls::GnuTls { is_host: true })
}
