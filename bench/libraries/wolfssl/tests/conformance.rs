//! wolfSSL passes the conformance tests of the harness.

#[macro_use]
#[path = "../../shared/conformance/mod.rs"]
mod conformance;

use conformance::unsupported;
use tls_wolfssl::WolfSsl;

/// Scenarios that only wolfSSL does not support.
const OWN: &str = include_str!("unsupported.txt");

const PROGRAM: &str = env!("CARGO_BIN_EXE_tls-wolfssl");

conformance_tests!(WolfSsl, PROGRAM, unsupported: [
    unsupported::PRIMITIVES,
    unsupported::QUIC_PACKETS,
    unsupported::SESSION_ID,
    unsupported::ML_DSA,
    unsupported::COMPRESSION,
    OWN,
]);

#[test]
fn every_primitive_is_right() {
    conformance::measurements::every_primitive_is_right(&WolfSsl);
}

#[test]
fn client_hellos_carry_their_key_shares() {
    conformance::programs::client_hellos_carry_their_key_shares(&WolfSsl, PROGRAM);
}
