//! GnuTLS does what the harness asks of it.

#[macro_use]
#[path = "../../shared/conformance.rs"]
#[allow(
    dead_code,
    reason = "there may be no hybrid group to send key shares of"
)]
mod conformance;

use tls_gnutls::GnuTls;
use tls_harness::{
    library::TlsLibrary,
    scenario::{KeyExchange, Scenario},
};

const PROGRAM: &str = env!("CARGO_BIN_EXE_tls-gnutls");

/// The host's GnuTLS decides: those since 3.8.9 may have X25519MLKEM768.
fn has_hybrid_group() -> bool {
    let hybrid = Scenario {
        key_exchange: Some(KeyExchange::X25519MlKem768),
        ..conformance::handshake_13()
    };
    GnuTls.unsupported(&hybrid).is_none()
}

conformance_tests!(
    GnuTls,
    PROGRAM,
    missing: if has_hybrid_group() { 17 } else { 20 },
    measured: if has_hybrid_group() { 14 } else { 6 }
);

#[test]
fn every_primitive_is_right() {
    assert_eq!(conformance::every_primitive_is_right(&GnuTls), 21);
}
