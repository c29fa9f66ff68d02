//! wolfSSL passes the conformance tests of the harness.

#[macro_use]
#[path = "../../shared/conformance/mod.rs"]
mod conformance;

use conformance::{scenarios, unsupported};
use tls_harness::{
    library::{Setup, TlsLibrary},
    scenario::{Resumption, Scenario},
    session::HandshakeBench,
    transport::Transport,
};
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
    unsupported::EARLY_DATA_TICKET,
    OWN,
]);

#[test]
fn tickets_of_tls_1_2_are_renewed_by_default() {
    conformance::handshakes::by_default_renews(&WolfSsl, 1);
}

#[test]
fn every_primitive_is_right() {
    conformance::measurements::every_primitive_is_right(&WolfSsl);
}

#[test]
fn client_hellos_carry_their_key_shares() {
    conformance::programs::client_hellos_carry_their_key_shares(&WolfSsl, PROGRAM);
}

/// wolfSSL counts the tickets of a session in one byte.
#[test]
fn a_session_is_resumed_more_than_256_times_in_a_row() {
    let scenario = Scenario {
        resumption: Some(Resumption::Ticket),
        ..scenarios::handshake_13()
    };
    let server = Setup::server(&scenario).and_then(|setup| WolfSsl.server_config(&setup));
    let server = server.unwrap();
    let capacity = Transport::HANDSHAKE_CAPACITY;
    let bench = HandshakeBench::new(&WolfSsl, &server, &scenario, capacity).unwrap();
    bench.prepare().unwrap();
    for number in 0..300 {
        if let Err(error) = bench.handshake(true) {
            panic!("resumption {number}: {error:#}");
        }
    }
}
