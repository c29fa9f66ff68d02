//! What is counted of a program is what it is known to ask for: `examples/known-calls.rs` adds calls
//! to those of OpenSSL, and the counts grow by these and by nothing else.

use std::{
    collections::BTreeMap,
    path::Path,
    process::{Command, Stdio},
    sync::LazyLock,
};

use serde_json::json;
use tls_harness::{record::Record, request::Request, scenario::Side};

/// Figures of one MiB that is sent or received, by metric.
type Figures = BTreeMap<String, f64>;

/// Writes of 64 KiB in a MiB.
const WRITES: f64 = 16.0;

/// The figures of both sides, with more calls.
fn counted(known: Option<&str>) -> [Figures; 2] {
    let request: Request = serde_json::from_value(json!({
        "schema": 1, "round": 1, "block": 0, "implementation": "known", "counter": "calls",
        "measure_seconds": 0.1, "warmup_seconds": 0.1,
        "scenario": {"operation": "transfer", "protocol": "1.3", "threads": 1,
            "cipher_suite": "TLS_AES_256_GCM_SHA384", "key_exchange": "X25519",
            "certificate": "ecdsa-p256", "authentication": "server", "resumption": "none",
            "size": 65536, "in_flight": 65536},
    }))
    .unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_tls-openssl"));
    let program = program.with_file_name("examples").join("known-calls");
    let mut command = Command::new(program);
    command
        .arg("measure")
        .env_remove("KNOWN")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    command.envs(known.map(|known| ("KNOWN", known)));
    let mut child = command.spawn().unwrap();
    serde_json::to_writer(child.stdin.take().unwrap(), &request).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{known:?}: {}", output.status);
    let text = String::from_utf8(output.stdout).unwrap();
    let mut sides = [Figures::new(), Figures::new()];
    for line in text.lines() {
        let Record::Measurement(measurement) = serde_json::from_str(line).unwrap() else {
            continue;
        };
        let side = usize::from(measurement.scenario.side == Some(Side::Receiver));
        sides[side].extend(measurement.observations.iter().map(|it| {
            assert_eq!(
                it.unit.to_string().ends_with("/MiB"),
                it.unit.to_string() != "bytes"
            );
            (it.metric.to_string(), it.value)
        }));
    }
    sides
}

/// The figures without more calls, which all tests compare with.
static BEFORE: LazyLock<[Figures; 2]> = LazyLock::new(|| counted(None));

/// What a write asks for in addition, by metric, as the counts show it: without zeros. The most at
/// once is that of a step, which is one write: it is given whole.
fn added(known: &str) -> Figures {
    let ([before, received], [after, received_after]) = (&*BEFORE, counted(Some(known)));
    assert_eq!(*received, received_after, "{known}: the other side");
    assert_eq!(before.len(), 9);
    let grown = after
        .into_iter()
        .filter(|(metric, value)| *value != before[metric]);
    let grown = grown.map(|(metric, value)| {
        let figure = match metric.as_str() {
            "peak-allocated" => value,
            _ => (value - before[&metric]) / WRITES,
        };
        (metric, figure)
    });
    grown.collect()
}

fn figures<const N: usize>(known: [(&str, f64); N]) -> Figures {
    known
        .map(|(metric, value)| (metric.to_owned(), value))
        .into()
}

#[test]
fn known_allocations_are_counted() {
    let expected = [
        ("allocations", 5.0),
        ("allocated-in-all", 100.0 + 200.0 + 400.0 + 300.0 + 400.0),
        ("peak-allocated", 1_100.0),
        ("frees", 4.0),
    ];
    let mut added = added("allocations");
    // glibc locks its heap for what its cache of freed blocks does not hold.
    added.remove("locked-instructions");
    assert_eq!(added, figures(expected));
}

#[test]
fn known_locks_are_counted() {
    let mut added = added("locks");
    // glibc takes at least one locked instruction for a lock or its end, also without a rival.
    assert!(added.remove("locked-instructions").unwrap() >= 13.0);
    let expected = [
        ("mutex-locks", 6.0),
        ("read-locks", 4.0),
        ("write-locks", 3.0),
    ];
    assert_eq!(added, figures(expected));
}

#[test]
fn known_locked_instructions_are_counted() {
    assert_eq!(added("atomics"), figures([("locked-instructions", 7.0)]));
}

#[test]
fn known_calls_into_the_kernel_are_counted() {
    assert_eq!(added("kernel"), figures([("kernel-calls", 8.0)]));
}
