//! Memory per connection of a library whose connections allocate known numbers of bytes.
//!
//! This program is its own library's program: the measurement starts it again with `hold`. So it has
//! a `main` of its own, and nothing else runs in the process whose memory is counted.

mod allocating;

use std::{env, process::ExitCode};

use allocating::{Allocated, Allocating, Bytes, OF_CLIENT, OF_SERVER};
use serde_json::json;
use tls_harness::{
    program,
    record::{Measurement, Metric, Phase, Record, Statistic, Unit},
    request::Request,
    scenario::{Operation, Side},
    workloads::{
        self,
        memory::{self, Holding, keep},
        workload::Workload,
    },
};

/// Bytes that an allocator may add to the three allocations of a connection.
const ADDED: f64 = 64.0;

/// Bytes of a connection of the no-op library.
const NOOP: f64 = 24.0;

fn scenario(variant: Option<&str>) -> serde_json::Value {
    json!({"operation": "memory", "protocol": "1.3", "cipher_suite": "TLS_AES_256_GCM_SHA384",
        "key_exchange": "X25519", "certificate": "rsa-2048", "authentication": "server",
        "resumption": "none", "threads": 1, "variant": variant})
}

fn request(variant: Option<&str>) -> Request {
    serde_json::from_value(json!({"schema": 1, "round": 1, "block": 0,
        "implementation": "allocating-1.0", "scenario": scenario(variant),
        "measure_seconds": 0.0, "warmup_seconds": 0.0}))
    .unwrap()
}

fn of_memory() -> &'static dyn Workload<Allocating> {
    workloads::of(Operation::Memory)
}

/// The measurement of the client, then that of the server.
fn measured(variant: Option<&str>) -> [Measurement; 2] {
    let records = of_memory().measure(&Allocating, &request(variant)).unwrap();
    let measurement = |record| match record {
        Record::Measurement(measurement) => measurement,
        other => panic!("{other:?} is not a measurement"),
    };
    let measurements: Vec<_> = records.into_iter().map(measurement).collect();
    measurements.try_into().unwrap()
}

/// Checks both counts of a measurement in each state: bytes of `connections` connections.
fn check(measurement: &Measurement, of: Bytes, connections: f64, unit: Unit) {
    let observations = &measurement.observations;
    assert_eq!(observations.len(), 6);
    for (state, phase) in [Phase::Construction, Phase::Handshake, Phase::Data]
        .into_iter()
        .enumerate()
    {
        let [allocated, resident] = [Metric::ALLOCATED, Metric::RESIDENT].map(|metric| {
            let mut found = observations
                .iter()
                .filter(|it| it.metric == metric && it.phase == phase && it.unit == unit);
            let found = found.next().unwrap();
            assert_eq!(found.statistic, Statistic::Value);
            found.value / connections
        });
        let bytes: usize = of[..=state].iter().sum();
        let expected = (bytes + size_of::<Allocated<'_>>()) as f64;
        assert!(
            allocated >= expected && allocated < expected + ADDED,
            "{phase:?}: found {allocated} bytes, expected {expected}"
        );
        assert!(
            resident >= 0.8 * expected && resident < 1.5 * expected,
            "{phase:?}: found {resident} resident bytes, expected {expected}"
        );
    }
}

fn each_state_of_each_side_has_its_bytes_per_connection() {
    let [client, server] = measured(None);
    check(&client, OF_CLIENT, 1.0, Unit::BYTES_PER_CONNECTION);
    check(&server, OF_SERVER, 1.0, Unit::BYTES_PER_CONNECTION);
    for (measurement, side) in [(client, Side::Client), (server, Side::Server)] {
        assert_eq!(measurement.scenario.side, Some(side));
        assert_eq!(measurement.operations, 3 * (100 + 1_000 + 10_000));
        assert!(measurement.elapsed_seconds.unwrap() > 0.0);
    }
}

fn a_number_of_sessions_has_the_bytes_of_all() {
    let [client, server] = measured(Some("sessions-2000"));
    check(&client, OF_CLIENT, 2_000.0, Unit::BYTES);
    check(&server, OF_SERVER, 2_000.0, Unit::BYTES);
    assert_eq!(client.operations, 3 * 2_000);
}

fn the_harness_own_bytes_are_those_of_the_no_op_library() {
    for (variant, connections) in [(None, 1.0), (Some("sessions-2000"), 2_000.0)] {
        let records = of_memory().own_cost(&request(variant)).unwrap();
        assert_eq!(records.len(), 2);
        for (record, side) in records.into_iter().zip([Side::Client, Side::Server]) {
            let Record::Overhead(overhead) = record else {
                panic!("{record:?} is not an overhead record");
            };
            assert_eq!(overhead.scenario.side, Some(side));
            let bytes = overhead.bytes.unwrap() / connections;
            assert!((NOOP..NOOP + 1.0).contains(&bytes), "{bytes} bytes");
        }
    }
}

fn only_clients_and_servers_hold_connections() {
    assert_eq!(
        of_memory().sides(),
        [Some(Side::Client), Some(Side::Server)]
    );
    let holding: Holding = serde_json::from_value(json!({"scenario": scenario(None),
        "side": "sender", "moment": "handshake", "sessions": 1}))
    .unwrap();
    let error = memory::hold(&Allocating, &holding).unwrap_err();
    assert_eq!(error.to_string(), "side \"sender\" holds no connections");
}

fn kept_memory_is_counted() {
    let growth = keep(100, || Ok(vec![1_u8; 10_000])).unwrap();
    assert!(
        growth.allocated >= 1_000_000 && growth.allocated < 1_200_000,
        "{growth:?}"
    );
}

fn memory_that_is_never_touched_is_not_resident() {
    let growth = keep(100, || Ok(Vec::<u8>::with_capacity(1 << 20))).unwrap();
    assert!(growth.allocated >= 100 << 20, "{growth:?}");
    assert!(growth.resident < 50 << 20, "{growth:?}");
}

fn what_is_allocated_once_does_not_count() {
    let mut calls = 0;
    let mut once: Option<Vec<u8>> = None;
    let growth = keep(100, || {
        calls += 1;
        once.get_or_insert_with(|| vec![1; 1_000_000]);
        Ok(vec![1_u8; 1_000])
    })
    .unwrap();
    assert_eq!(calls, 120);
    assert!(growth.allocated < 200_000, "{growth:?}");
}

fn memory_that_stays_after_the_connections_is_refused() {
    let leaks = || {
        Box::leak(Box::new([1_u8; 10_000]));
        Ok(())
    };
    let error = keep(100, leaks).unwrap_err().to_string();
    assert!(error.contains("still allocated"), "{error}");
}

fn main() -> ExitCode {
    if env::args().nth(1).as_deref() == Some("hold") {
        return program::main(&Allocating);
    }
    kept_memory_is_counted();
    memory_that_is_never_touched_is_not_resident();
    what_is_allocated_once_does_not_count();
    memory_that_stays_after_the_connections_is_refused();
    only_clients_and_servers_hold_connections();
    each_state_of_each_side_has_its_bytes_per_connection();
    a_number_of_sessions_has_the_bytes_of_all();
    the_harness_own_bytes_are_those_of_the_no_op_library();
    ExitCode::SUCCESS
}
