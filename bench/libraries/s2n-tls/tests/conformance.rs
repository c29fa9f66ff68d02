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
fn tickets_of_tls_1_2_are_not_renewed_by_default() {
    conformance::handshakes::by_default_renews(&S2nTls, 0);
}

#[test]
fn released_buffers_hold_less_memory() {
    conformance::programs::released_buffers_hold_less_memory(PROGRAM);
}

#[test]
fn every_primitive_is_right() {
    conformance::measurements::every_primitive_is_right(&S2nTls);
}

#[test]
fn client_hellos_carry_their_key_shares() {
    conformance::programs::client_hellos_carry_their_key_shares(&S2nTls, PROGRAM);
}
