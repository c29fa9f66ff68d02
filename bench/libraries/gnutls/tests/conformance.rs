//! GnuTLS passes the conformance tests of the harness.

#[macro_use]
#[path = "../../shared/conformance/mod.rs"]
#[allow(
    dead_code,
    reason = "there may be no hybrid group to send key shares of"
)]
mod conformance;

use conformance::{scenarios, unsupported};
use tls_gnutls::GnuTls;
use tls_harness::{
    library::TlsLibrary,
    scenario::{KeyExchange, Resumption, Scenario},
};

const PROGRAM: &str = env!("CARGO_BIN_EXE_tls-gnutls");

/// Scenarios that only GnuTLS does not support.
const OWN: &str = include_str!("unsupported.txt");

/// Whether the installed GnuTLS supports X25519MLKEM768 and ML-DSA, which versions since 3.8.9 may
/// do.
fn has_hybrid_group() -> bool {
    let hybrid = Scenario {
        key_exchange: Some(KeyExchange::X25519MlKem768),
        ..scenarios::handshake_13()
    };
    GnuTls.unsupported(&hybrid).is_none()
}

conformance_tests!(
    GnuTls,
    PROGRAM,
    unsupported: [
        unsupported::PRIMITIVES,
        unsupported::QUIC_PACKETS,
        unsupported::SESSION_ID,
        OWN,
        unsupported::ML_KEM_ALONE,
        unsupported::COMPRESSION,
        if has_hybrid_group() { "" } else { unsupported::HYBRID },
        if has_hybrid_group() { "" } else { unsupported::P256_HYBRID },
        if has_hybrid_group() { "" } else { unsupported::ML_DSA },
    ]
);

#[test]
fn the_scheme_of_a_servers_signature_is_reported() {
    let reported = conformance::handshakes::the_reported_scheme_is_that_of_the_certificate(&GnuTls);
    assert!(reported >= 4);
}

#[test]
fn replayed_early_data_of_tickets_is_rejected() {
    let tried = conformance::handshakes::early_data_is_accepted_once(&GnuTls, Resumption::Ticket);
    assert!(tried > 0);
}

#[test]
fn every_primitive_is_right() {
    conformance::measurements::every_primitive_is_right(&GnuTls);
}
