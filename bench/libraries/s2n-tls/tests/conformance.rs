//! s2n-tls does what the harness asks of it.

#[path = "../../conformance.rs"]
#[allow(
    dead_code,
    reason = "the library leaves the cache of sessions to the application"
)]
mod conformance;

use tls_s2n_tls::S2nTls;

#[test]
fn every_handshake_negotiates_what_it_claims() {
    let missing = conformance::every_handshake_negotiates_what_it_claims(&S2nTls);
    assert_eq!(missing, 29);
}

#[test]
fn every_transfer_arrives() {
    conformance::every_transfer_arrives(&S2nTls);
}

#[test]
fn what_is_wrong_is_noticed() {
    conformance::what_is_wrong_is_noticed(&S2nTls);
}

#[test]
fn a_ticket_is_used_once() {
    conformance::a_ticket_is_used_once(&S2nTls);
}

#[test]
fn the_main_report_is_measured() {
    assert_eq!(conformance::the_main_report_is_measured(&S2nTls), 14);
}

#[test]
fn threads_measure_at_once() {
    conformance::threads_measure_at_once(&S2nTls);
}

#[test]
fn every_primitive_is_right() {
    assert_eq!(conformance::every_primitive_is_right(&S2nTls), 21);
}

#[test]
fn construction_and_tickets_are_phases() {
    conformance::construction_and_tickets_are_phases(&S2nTls);
}

#[test]
fn the_build_is_described() {
    conformance::the_build_is_described(&S2nTls);
}

#[test]
fn memory_is_counted_by_the_allocator_that_is_named() {
    conformance::memory_is_counted_by_the_allocator_that_is_named(env!(
        "CARGO_BIN_EXE_tls-s2n-tls"
    ));
}
