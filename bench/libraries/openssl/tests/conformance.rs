//! OpenSSL does what the harness asks of it.

#[macro_use]
#[path = "../../shared/conformance.rs"]
mod conformance;

use tls_openssl::OpenSsl;

const PROGRAM: &str = env!("CARGO_BIN_EXE_tls-openssl");

const HAS_HYBRID: bool = cfg!(openssl_hybrid);

conformance_tests!(
    OpenSsl,
    PROGRAM,
    missing: if HAS_HYBRID { 0 } else { 7 },
    measured: if HAS_HYBRID { 16 } else { 8 }
);

#[test]
fn every_primitive_is_right() {
    let missing = match (cfg!(openssl_3), HAS_HYBRID) {
        (false, _) => 21,
        (true, false) => 3,
        (true, true) => 0,
    };
    assert_eq!(conformance::every_primitive_is_right(&OpenSsl), missing);
}

#[cfg(openssl_hybrid)]
#[test]
fn client_hellos_carry_their_key_shares() {
    conformance::client_hellos_carry_their_key_shares(&OpenSsl, PROGRAM);
}
