//! OpenSSL does what the harness asks of it.

#[path = "../../conformance.rs"]
mod conformance;

use tls_openssl::OpenSsl;

const PROGRAM: &str = env!("CARGO_BIN_EXE_tls-openssl");

#[test]
fn every_handshake_negotiates_what_it_claims() {
    let missing = conformance::every_handshake_negotiates_what_it_claims(&OpenSsl);
    assert_eq!(missing, 0);
}

#[test]
fn every_transfer_arrives() {
    conformance::every_transfer_arrives(&OpenSsl);
}

#[test]
fn what_is_wrong_is_noticed() {
    conformance::what_is_wrong_is_noticed(&OpenSsl);
}

#[test]
fn a_ticket_is_used_once() {
    conformance::a_ticket_is_used_once(&OpenSsl);
}

#[test]
fn the_main_report_is_measured() {
    assert_eq!(conformance::the_main_report_is_measured(&OpenSsl), 16);
}

#[test]
fn threads_measure_at_once() {
    conformance::threads_measure_at_once(&OpenSsl);
}

#[test]
fn every_primitive_is_right() {
    assert_eq!(conformance::every_primitive_is_right(&OpenSsl), 0);
}

#[test]
fn the_session_cache_holds_what_it_is_told() {
    conformance::the_session_cache_holds_what_it_is_told(&OpenSsl);
}

#[test]
fn construction_and_tickets_are_phases() {
    conformance::construction_and_tickets_are_phases(&OpenSsl);
}

#[test]
fn the_build_is_described() {
    conformance::the_build_is_described(&OpenSsl);
}

#[test]
fn memory_is_counted_by_the_allocator_that_is_named() {
    conformance::memory_is_counted_by_the_allocator_that_is_named(env!(
        "CARGO_BIN_EXE_tls-openssl"
    ));
}

#[test]
fn threads_and_latencies_are_those_of_every_handshake() {
    conformance::threads_and_latencies_are_those_of_every_handshake(PROGRAM);
}

#[test]
fn memory_grows_with_the_sessions() {
    conformance::memory_grows_with_the_sessions(PROGRAM);
}

#[test]
fn client_hellos_carry_their_key_shares() {
    conformance::client_hellos_carry_their_key_shares(&OpenSsl, PROGRAM);
}
