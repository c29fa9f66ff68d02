//! s2n-tls does what the harness asks of it.

#[macro_use]
#[path = "../../shared/conformance.rs"]
mod conformance;

use tls_s2n_tls::S2nTls;

const PROGRAM: &str = env!("CARGO_BIN_EXE_tls-s2n-tls");

conformance_tests!(S2nTls, PROGRAM, missing: 29, measured: 14);

#[test]
fn every_primitive_is_right() {
    assert_eq!(conformance::every_primitive_is_right(&S2nTls), 21);
}

#[test]
fn client_hellos_carry_their_key_shares() {
    conformance::client_hellos_carry_their_key_shares(&S2nTls, PROGRAM);
}
