//! OpenSSL does what the harness asks of it.

#[macro_use]
#[path = "../../shared/conformance/mod.rs"]
mod conformance;

use conformance::unsupported;
use tls_openssl::OpenSsl;

const PROGRAM: &str = env!("CARGO_BIN_EXE_tls-openssl");

const UNSUPPORTED: &[&str] = match (cfg!(openssl_3), cfg!(openssl_hybrid)) {
    (false, _) => &[unsupported::HYBRID, unsupported::PRIMITIVES],
    (true, false) => &[unsupported::HYBRID, unsupported::ML_KEM],
    (true, true) => &[],
};

conformance_tests!(OpenSsl, PROGRAM, unsupported: UNSUPPORTED);

#[test]
fn every_primitive_is_right() {
    conformance::measurements::every_primitive_is_right(&OpenSsl);
}

#[cfg(openssl_hybrid)]
#[test]
fn client_hellos_carry_their_key_shares() {
    conformance::programs::client_hellos_carry_their_key_shares(&OpenSsl, PROGRAM);
}
