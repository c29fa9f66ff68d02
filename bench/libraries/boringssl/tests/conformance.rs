//! BoringSSL passes the conformance tests of the harness.

#[macro_use]
#[path = "../../shared/conformance/mod.rs"]
mod conformance;

use conformance::unsupported;
use tls_boringssl::BoringSsl;

const PROGRAM: &str = env!("CARGO_BIN_EXE_tls-boringssl");

/// Scenarios with TLS 1.3 cipher suites other than TLS_AES_256_GCM_SHA384.
const SUITES: &str = include_str!("unsupported/suites.txt");

const UNSUPPORTED: &[&str] = match (cfg!(boringssl_groups), cfg!(boringssl_tls13_ciphers)) {
    (_, true) => &[
        unsupported::SESSION_ID,
        unsupported::QUIC_PACKETS,
        unsupported::P256_HYBRID,
        unsupported::ML_KEM_ALONE,
    ],
    (true, false) => &[
        unsupported::SESSION_ID,
        unsupported::QUIC_PACKETS,
        unsupported::P256_HYBRID,
        unsupported::ML_KEM_ALONE,
        unsupported::ML_DSA,
        SUITES,
    ],
    (false, false) => &[
        unsupported::SESSION_ID,
        unsupported::QUIC_PACKETS,
        unsupported::P256_HYBRID,
        unsupported::ML_KEM_ALONE,
        unsupported::ML_DSA,
        SUITES,
        unsupported::HYBRID,
        unsupported::PRIMITIVES,
    ],
};

conformance_tests!(BoringSsl, PROGRAM, unsupported: UNSUPPORTED);

#[test]
fn the_scheme_of_a_servers_signature_is_reported() {
    let reported =
        conformance::handshakes::the_reported_scheme_is_that_of_the_certificate(&BoringSsl);
    assert!(reported >= 4);
}

#[test]
fn tickets_of_tls_1_2_are_not_renewed_by_default() {
    conformance::handshakes::by_default_renews(&BoringSsl, 0);
}

#[test]
fn every_primitive_is_right() {
    conformance::measurements::every_primitive_is_right(&BoringSsl);
}

#[cfg(boringssl_groups)]
#[test]
fn client_hellos_carry_their_key_shares() {
    conformance::programs::client_hellos_carry_their_key_shares(&BoringSsl, PROGRAM);
}
