//! What the harness itself costs: `cargo run --release -p tls-harness --example overhead`.
//!
//! The driver runs with a library that does nothing. The copies into and out of the transport are
//! shown apart: every library has to make them, and they are timed by definition.

use std::{hint::black_box, time::Instant};

use anyhow::{Context, Result};
use tls_harness::{
    clock,
    noop::NoopLibrary,
    record::{Record, Schema},
    request::Request,
    scenario::{
        Authentication, Certificate, CipherSuite, KeyExchange, Operation, Protocol, Resumption,
        Scenario,
    },
    transport::Transport,
    workloads,
};

const MEBIBYTE: usize = 1 << 20;
const RECORD: usize = 1 << 14;

fn scenario(operation: Operation, resumption: Resumption) -> Scenario {
    Scenario {
        protocol: Some(Protocol::Tls13),
        cipher_suite: Some(CipherSuite::Aes256Gcm),
        key_exchange: Some(KeyExchange::X25519MlKem768),
        certificate: Some(Certificate::Rsa2048),
        authentication: Some(Authentication::Server),
        resumption: Some(resumption),
        threads: Some(1),
        size: (operation == Operation::Transfer).then_some(1 << 20),
        ..Scenario::new(operation)
    }
}

/// Nanoseconds to copy one mebibyte into the transport and out of it, the least of many.
fn copies() -> [f64; 2] {
    let transport = Transport::new(MEBIBYTE);
    let (data, mut buffer) = (vec![0x5a; RECORD], vec![0; RECORD]);
    let mut least = [f64::INFINITY; 2];
    for _ in 0..200 {
        transport.clear();
        let start = Instant::now();
        for _ in 0..MEBIBYTE / RECORD {
            assert!(transport.server.send(&data), "the transport is full");
        }
        let sent = Instant::now();
        while transport.client.receive(&mut buffer) > 0 {
            black_box(&buffer);
        }
        let times = [sent - start, sent.elapsed()].map(|time| time.as_nanos() as f64);
        for (least, time) in least.iter_mut().zip(times) {
            *least = least.min(time);
        }
    }
    least
}

fn main() -> Result<()> {
    println!("one read of the clock: {:.1} ns", clock::cost());
    for (operation, resumption, phases) in [
        (Operation::Handshake, Resumption::None, [3, 3]),
        (Operation::Handshake, Resumption::Ticket, [4, 3]),
        (Operation::Transfer, Resumption::None, [1, 1]),
    ] {
        let request = Request {
            schema: Schema,
            session: 1,
            round: 1,
            layout: 0,
            block: 0,
            implementation: "empty".into(),
            scenario: scenario(operation, resumption),
            measure_seconds: 0.0,
            warmup_seconds: 0.0,
            latency: false,
            pinned: false,
            throughput: false,
            counter: None,
        };
        let workload = workloads::of::<NoopLibrary>(operation);
        for (record, phases) in workload.own_cost(&request)?.into_iter().zip(phases) {
            let Record::Overhead(overhead) = record else {
                continue;
            };
            let nanoseconds = overhead.nanoseconds.context("no time was taken")?;
            println!(
                "{}: {nanoseconds:.1} ns, {:.1} ns per phase",
                overhead.scenario.name(),
                nanoseconds / f64::from(phases)
            );
        }
    }
    let [sending, receiving] = copies().map(|time| time / 1e3);
    println!(
        "copies, part of what is timed: {sending:.1} µs per MiB sent, {receiving:.1} µs per MiB received"
    );
    Ok(())
}
