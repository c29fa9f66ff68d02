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

const GNUTLS: GnuTls = GnuTls { is_host: false };

const PROGRAM: &str = env!("CARGO_BIN_EXE_tls-gnutls");

/// Scenarios that only GnuTLS does not support.
const OWN: &str = include_str!("unsupported.txt");

/// Whether GnuTLS was built with what it needs for X25519MLKEM768 and ML-DSA, which
/// distributions leave out.
fn has_hybrid_group() -> bool {
    let hybrid = Scenario {
        key_exchange: Some(KeyExchange::X25519MlKem768),
        ..scenarios::handshake_13()
    };
    GNUTLS.unsupported(&hybrid).is_none()
}

conformance_tests!(
    GNUTLS,
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
    let reported = conformance::handshakes::the_reported_scheme_is_that_of_the_certificate(&GNUTLS);
    assert!(reported >= 4);
}

#[test]
fn replayed_early_data_of_tickets_is_rejected() {
    let tried = conformance::handshakes::early_data_is_accepted_once(&GNUTLS, Resumption::Ticket);
    assert!(tried > 0);
}

#[test]
fn tickets_of_tls_1_2_are_not_renewed_by_default() {
    conformance::handshakes::by_default_renews(&GNUTLS, 0);
}

#[test]
fn every_primitive_is_right() {
    conformance::measurements::every_primitive_is_right(&GNUTLS);
}

/// Both programs have one adapter, so one scenario is enough for the other.
#[test]
fn the_hosts_own_library_is_measured_beside_it() {
    let host = env!("CARGO_BIN_EXE_tls-gnutls-host");
    conformance::programs::the_build_is_described(host);
    let request = conformance::measurements::request(scenarios::handshake_13());
    assert!(!conformance::programs::measured_by(host, &request).is_empty());
}
