//! AWS-LC does what the harness asks of it.

#[macro_use]
#[path = "../../shared/conformance.rs"]
mod conformance;

use tls_aws_lc::AwsLc;

const PROGRAM: &str = env!("CARGO_BIN_EXE_tls-aws-lc");

conformance_tests!(AwsLc, PROGRAM, missing: 9, measured: 16);

#[test]
fn every_primitive_is_right() {
    assert_eq!(conformance::every_primitive_is_right(&AwsLc), 21);
}

#[test]
fn client_hellos_carry_their_key_shares() {
    conformance::client_hellos_carry_their_key_shares(&AwsLc, PROGRAM);
}
