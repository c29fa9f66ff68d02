//! BoringSSL does what the harness asks of it.

#[macro_use]
#[path = "../../shared/conformance.rs"]
mod conformance;

use tls_boringssl::BoringSsl;

const PROGRAM: &str = env!("CARGO_BIN_EXE_tls-boringssl");

/// By session id in TLS1.3; then of TLS1.3 with other suites than one; then the hybrid ones not by id.
const MISSING: usize = match (cfg!(boringssl_groups), cfg!(boringssl_tls13_ciphers)) {
    (_, true) => 8,
    (true, false) => 8 + 20,
    (false, false) => 8 + 20 + 5,
};

const HAS_HYBRID: bool = cfg!(boringssl_groups);

conformance_tests!(
    BoringSsl,
    PROGRAM,
    missing: MISSING,
    measured: if HAS_HYBRID { 16 } else { 8 }
);

#[test]
fn every_primitive_is_right() {
    let missing = match HAS_HYBRID {
        true => 0,
        false => 21,
    };
    assert_eq!(conformance::every_primitive_is_right(&BoringSsl), missing);
}

#[cfg(boringssl_groups)]
#[test]
fn client_hellos_carry_their_key_shares() {
    conformance::client_hellos_carry_their_key_shares(&BoringSsl, PROGRAM);
}
