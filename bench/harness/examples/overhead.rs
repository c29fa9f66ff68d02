//! Prints the overhead of the harness: `cargo run --release -p tls-harness --example overhead`.
//!
//! The driver runs with a library that does nothing and, for transfers, with one that frames and
//! copies. Every library must copy into and out of the transport, and this copying is timed.

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
    workloads,
};

const IN_FLIGHT: u32 = 1 << 16;

fn scenario(operation: Operation, resumption: Resumption) -> Scenario {
    Scenario {
        protocol: Some(Protocol::Tls13),
        cipher_suite: Some(CipherSuite::Aes256Gcm),
        key_exchange: Some(KeyExchange::X25519MlKem768),
        certificate: Some(Certificate::Rsa2048),
        authentication: Some(Authentication::Server),
        resumption: Some(resumption),
        threads: Some(1),
        size: (operation == Operation::Transfer).then_some(IN_FLIGHT),
        in_flight: (operation == Operation::Transfer).then_some(IN_FLIGHT),
        ..Scenario::new(operation)
    }
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
            if let Some(copies) = overhead.copies_nanoseconds {
                println!("    framing and copies: {copies:.1} ns per write");
            }
        }
    }
    Ok(())
}
