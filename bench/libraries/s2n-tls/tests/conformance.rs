//! s2n-tls passes the conformance tests of the harness.

#[macro_use]
#[path = "../../shared/conformance/mod.rs"]
mod conformance;

use conformance::unsupported;
use tls_s2n_tls::S2nTls;

/// Scenarios that only s2n-tls does not support.
const OWN: &str = include_str!("unsupported.txt");

const PROGRAM: &str = env!("CARGO_BIN_EXE_tls-s2n-tls");

conformance_tests!(
    S2nTls,
    PROGRAM,
    unsupported: [
        unsupported::PRIMITIVES,
        unsupported::QUIC_PACKETS,
        unsupported::SESSION_ID,
        unsupported::ML_KEM_ALONE,
        unsupported::COMPRESSION,
        OWN,
    ]
);

#[test]
fn the_scheme_of_a_servers_signature_is_reported() {
    let reported = conformance::handshakes::the_reported_scheme_is_that_of_the_certificate(&S2nTls);
    assert!(reported >= 4);
}

#[test]
fn every_primitive_is_right() {
    conformance::measurements::every_primitive_is_right(&S2nTls);
}

#[test]
fn client_hellos_carry_their_key_shares() {
    conformance::programs::client_hellos_carry_their_key_shares(&S2nTls, PROGRAM);
}
