//! AWS-LC does what the harness asks of it.

#[path = "../../conformance.rs"]
mod conformance;

use tls_aws_lc::AwsLc;

#[test]
fn every_handshake_negotiates_what_it_claims() {
    let missing = conformance::every_handshake_negotiates_what_it_claims(&AwsLc);
    assert_eq!(missing, 9);
}

#[test]
fn every_transfer_arrives() {
    conformance::every_transfer_arrives(&AwsLc);
}

#[test]
fn what_is_wrong_is_noticed() {
    conformance::what_is_wrong_is_noticed(&AwsLc);
}

#[test]
fn a_ticket_is_used_once() {
    conformance::a_ticket_is_used_once(&AwsLc);
}

#[test]
fn the_main_report_is_measured() {
    assert_eq!(conformance::the_main_report_is_measured(&AwsLc), 16);
}

#[test]
fn threads_measure_at_once() {
    conformance::threads_measure_at_once(&AwsLc);
}

#[test]
fn every_primitive_is_right() {
    assert_eq!(conformance::every_primitive_is_right(&AwsLc), 21);
}

#[test]
fn the_session_cache_holds_what_it_is_told() {
    conformance::the_session_cache_holds_what_it_is_told(&AwsLc);
}

#[test]
fn construction_and_tickets_are_phases() {
    conformance::construction_and_tickets_are_phases(&AwsLc);
}

#[test]
fn the_build_is_described() {
    conformance::the_build_is_described(&AwsLc);
}

#[test]
fn memory_is_counted_by_the_allocator_that_is_named() {
    conformance::memory_is_counted_by_the_allocator_that_is_named(env!("CARGO_BIN_EXE_tls-aws-lc"));
}
