//! BoringSSL does what the harness asks of it.

#[macro_use]
#[path = "../../conformance.rs"]
mod conformance;

use tls_boringssl::BoringSsl;

const PROGRAM: &str = env!("CARGO_BIN_EXE_tls-boringssl");

conformance_tests!(BoringSsl, PROGRAM, missing: 8, measured: 16);

#[test]
fn every_primitive_is_right() {
    assert_eq!(conformance::every_primitive_is_right(&BoringSsl), 0);
}

#[test]
fn client_hellos_carry_their_key_shares() {
    conformance::client_hellos_carry_their_key_shares(&BoringSsl, PROGRAM);
}
