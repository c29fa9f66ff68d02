//! AWS-LC passes the conformance tests of the harness.

#[macro_use]
#[path = "../../shared/conformance/mod.rs"]
mod conformance;

use conformance::unsupported;
use tls_aws_lc::AwsLc;

/// Scenarios that only AWS-LC does not support.
const OWN: &str = include_str!("unsupported.txt");

const PROGRAM: &str = env!("CARGO_BIN_EXE_tls-aws-lc");

conformance_tests!(AwsLc, PROGRAM, unsupported: [unsupported::QUIC_PACKETS, unsupported::SESSION_ID, OWN]);

#[test]
fn the_scheme_of_a_servers_signature_is_reported() {
    let reported = conformance::handshakes::the_reported_scheme_is_that_of_the_certificate(&AwsLc);
    assert!(reported >= 4);
}

#[test]
fn tickets_of_tls_1_2_are_not_renewed_by_default() {
    conformance::handshakes::by_default_renews(&AwsLc, 0);
}

#[test]
fn every_primitive_is_right() {
    conformance::measurements::every_primitive_is_right(&AwsLc);
}

#[test]
fn client_hellos_carry_their_key_shares() {
    conformance::programs::client_hellos_carry_their_key_shares(&AwsLc, PROGRAM);
}
