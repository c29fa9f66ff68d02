//! GnuTLS does what the harness asks of it.

#[path = "../../conformance.rs"]
#[allow(
    dead_code,
    reason = "the library leaves the cache of sessions to the application, and does not tell its build"
)]
mod conformance;

use tls_gnutls::GnuTls;
use tls_harness::{
    library::TlsLibrary,
    scenario::{KeyExchange, Scenario},
};

/// The host's GnuTLS decides: those since 3.8.9 may have X25519MLKEM768.
fn has_hybrid_group() -> bool {
    let hybrid = Scenario {
        key_exchange: Some(KeyExchange::X25519MlKem768),
        ..conformance::handshake_13()
    };
    GnuTls.missing(&hybrid).is_none()
}

#[test]
fn every_handshake_negotiates_what_it_claims() {
    let missing = conformance::every_handshake_negotiates_what_it_claims(&GnuTls);
    assert_eq!(missing, if has_hybrid_group() { 29 } else { 32 });
}

#[test]
fn every_transfer_arrives() {
    conformance::every_transfer_arrives(&GnuTls);
}

#[test]
fn what_is_wrong_is_noticed() {
    conformance::what_is_wrong_is_noticed(&GnuTls);
}

#[test]
fn a_ticket_is_used_once() {
    conformance::a_ticket_is_used_once(&GnuTls);
}

#[test]
fn the_main_report_is_measured() {
    let measured = conformance::the_main_report_is_measured(&GnuTls);
    assert_eq!(measured, if has_hybrid_group() { 14 } else { 6 });
}

#[test]
fn threads_measure_at_once() {
    conformance::threads_measure_at_once(&GnuTls);
}

#[test]
fn every_primitive_is_right() {
    assert_eq!(conformance::every_primitive_is_right(&GnuTls), 21);
}

#[test]
fn construction_and_tickets_are_phases() {
    conformance::construction_and_tickets_are_phases(&GnuTls);
}

#[test]
fn memory_is_counted_by_the_allocator_that_is_named() {
    conformance::memory_is_counted_by_the_allocator_that_is_named(env!("CARGO_BIN_EXE_tls-gnutls"));
}
