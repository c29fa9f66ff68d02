//! The overhead of the harness is recorded for each kind that is timed. Memory needs a library's
//! program, so the conformance tests check it.

use serde_json::json;
use tls_harness::{noop::NoopLibrary, record::Record, request::Request, workloads};

#[test]
fn every_kind_that_is_timed_records_the_harness_own_cost() {
    for (scenario, sides) in [
        (json!({}), 2),
        (json!({"threads": 3}), 2),
        (json!({"resumption": "ticket"}), 2),
        (json!({"resumption": "ticket", "variant": "early-data"}), 2),
        (json!({"operation": "transfer", "size": 1024}), 2),
        (
            json!({"operation": "transfer", "size": 1024, "threads": 2}),
            2,
        ),
        (
            json!({"operation": "transfer", "size": 16384, "in_flight": 65536}),
            2,
        ),
        (json!({"operation": "client-hello", "variant": "X25519"}), 1),
        (
            json!({"operation": "primitive", "variant": "aes-256-gcm-seal-16384"}),
            1,
        ),
        (json!({"operation": "quic-packet", "size": 1200}), 2),
    ] {
        let mut whole = json!({"operation": "handshake", "protocol": "1.3",
            "cipher_suite": "TLS_AES_256_GCM_SHA384", "key_exchange": "X25519",
            "certificate": "rsa-2048", "authentication": "server", "resumption": "none"});
        for (key, value) in scenario.as_object().unwrap() {
            whole[key] = value.clone();
        }
        let request: Request = serde_json::from_value(json!({
            "schema": 1, "round": 1, "block": 0, "implementation": "empty-1.0", "latency": true,
            "scenario": whole, "measure_seconds": 0.0, "warmup_seconds": 0.0,
        }))
        .unwrap();
        let workload = workloads::of::<NoopLibrary>(request.scenario.operation);
        let records = workload.own_cost(&request).unwrap();
        assert_eq!(records.len(), sides, "{scenario}");
        for record in records {
            let Record::Overhead(overhead) = record else {
                panic!("{record:?} is not an overhead record");
            };
            let cost = overhead.nanoseconds.unwrap();
            assert!(cost > 0.0 && overhead.clock_nanoseconds > 0.0, "{scenario}");
            assert!(overhead.bytes.is_none());
            let transfer = scenario["operation"] == "transfer";
            assert_eq!(overhead.copies_nanoseconds.is_some(), transfer);
        }
    }
}
