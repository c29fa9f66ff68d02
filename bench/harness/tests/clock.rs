//! All timing uses the monotonic clock. The test needs its own process, because its `clock_gettime`
//! replaces the C library's.

use std::cell::Cell;

use tls_harness::{
    clock::{self, Laps},
    copy::CopyLibrary,
    library::{Setup, TlsLibrary},
    noop::NoopLibrary,
    scenario::Scenario,
    session,
    transport::Transport,
    workloads::transfer::Batch,
};

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Reads {
    monotonic: usize,
    others: usize,
}

thread_local! {
    static READS: Cell<Reads> = const { Cell::new(Reads { monotonic: 0, others: 0 }) };
}

#[unsafe(no_mangle)]
extern "C" fn clock_gettime(clock: libc::clockid_t, time: *mut libc::timespec) -> libc::c_int {
    let mut reads = READS.get();
    match clock {
        libc::CLOCK_MONOTONIC => reads.monotonic += 1,
        _ => reads.others += 1,
    }
    READS.set(reads);
    // SAFETY: the caller's arguments are passed on unchanged.
    let result = unsafe { libc::syscall(libc::SYS_clock_gettime, clock, time) };
    libc::c_int::try_from(result).unwrap_or(-1)
}

/// Counts the clock reads of `work`.
fn reads<R>(work: impl FnOnce() -> R) -> Reads {
    READS.set(Reads::default());
    work();
    READS.get()
}

fn monotonic(monotonic: usize) -> Reads {
    Reads {
        monotonic,
        others: 0,
    }
}

fn scenario(protocol: &str, operation: &str) -> Scenario {
    serde_json::from_value(
        serde_json::json!({"operation": operation, "protocol": protocol,
        "cipher_suite": "TLS_AES_256_GCM_SHA384", "key_exchange": "X25519", "size": 65536,
        "certificate": "rsa-2048", "authentication": "server", "resumption": "none"}),
    )
    .unwrap()
}

#[test]
fn times_are_read_only_from_the_monotonic_clock() {
    assert_eq!(reads(clock::date).others, 1, "this test counts every read");
    let laps = reads(|| {
        let mut laps = Laps::start();
        (laps.lap(), laps.lap())
    });
    assert_eq!(laps, monotonic(3));
    assert_eq!(reads(clock::cost).others, 0);
}

/// One read at the start, one after each construction, one before the flights, one after each
/// flight.
#[test]
fn a_handshake_reads_the_clock_between_its_phases_and_no_more() {
    for (protocol, flights) in [("1.2", 3 + 2), ("1.3", 2 + 2)] {
        let scenario = scenario(protocol, "handshake");
        let client = NoopLibrary
            .client_config(&Setup::client(&scenario).unwrap())
            .unwrap();
        let server = NoopLibrary
            .server_config(&Setup::server(&scenario).unwrap())
            .unwrap();
        let transport = Transport::new(64);
        for (awaits_tickets, tickets) in [(false, 0), (true, 1)] {
            transport.clear();
            let found = reads(|| {
                session::run(&NoopLibrary, &client, &server, &transport, awaits_tickets).unwrap()
            });
            assert_eq!(found, monotonic(3 + 1 + flights + tickets), "{protocol}");
        }
    }
}

#[test]
fn a_transfer_reads_the_clock_before_between_and_after_its_roles() {
    let scenario = scenario("1.3", "transfer");
    let mut batch = Batch::new(&scenario).unwrap();
    let transport = Transport::new(batch.capacity());
    let client = CopyLibrary
        .client_config(&Setup::client(&scenario).unwrap())
        .unwrap();
    let server = CopyLibrary
        .server_config(&Setup::server(&scenario).unwrap())
        .unwrap();
    let mut pair = session::run(&CopyLibrary, &client, &server, &transport, false).unwrap();
    transport.clear();
    let found = reads(|| batch.run(&mut pair).unwrap());
    assert_eq!(found, monotonic(3));
}
