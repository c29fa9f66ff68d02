//! Runs that count instructions, with the real libraries' programs under Valgrind.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tls_harness::implementation::MASK_VARIABLE;
use tls_harness::record::{Block, Measurement, Metric, Record, Status, Unit};
use tls_harness::request::Counter;
use tlsbench::plan::Order;
use tlsbench::run::run;

use crate::common::{Bench, check_finished, read_records, read_run, silent_host};

/// The cheapest scenarios that can be counted, and two that cannot.
const SUITE: &str = r#"
schema = 1
name = "counts"
family = "counts"
description = ""
rounds = 30
measure_seconds = 1.0
warmup_seconds = 1.0
implementations = ["tls-rustls-ring"]

[[scenarios]]
operation = "client-hello"
protocol = "1.3"
cipher_suite = "TLS_AES_256_GCM_SHA384"
certificate = "ecdsa-p256"
authentication = "server"
resumption = "none"
threads = 1
variant = "X25519"

[[scenarios]]
operation = "transfer"
protocol = "1.3"
cipher_suite = "TLS_AES_256_GCM_SHA384"
key_exchange = "X25519"
certificate = "ecdsa-p256"
authentication = "server"
resumption = "none"
threads = 1
size = 65536
in_flight = 65536

[[scenarios]]
operation = "handshake"
protocol = "1.3"
cipher_suite = "TLS_AES_256_GCM_SHA384"
key_exchange = "X25519"
certificate = "ecdsa-p256"
authentication = "server"
resumption = "none"
threads = 2

[[scenarios]]
operation = "memory"
protocol = "1.3"
cipher_suite = "TLS_AES_256_GCM_SHA384"
key_exchange = "X25519"
certificate = "ecdsa-p256"
authentication = "server"
resumption = "none"
threads = 1
"#;

/// Why the last two of them are not counted.
const NOT_COUNTED: [&str; 2] = [
    "instructions are counted on one thread",
    "instructions are not counted in memory scenarios",
];

/// The folder in which Cargo puts the programs of the workspace.
pub fn programs() -> PathBuf {
    let folder = Path::new(env!("CARGO_BIN_EXE_tlsbench")).parent().unwrap();
    for name in [
        "openssl",
        "boringssl",
        "rustls-aws-lc-rs",
        "rustls-ring",
        "rustls-graviola",
    ] {
        let name = format!("tls-{name}");
        assert!(
            folder.join(&name).exists(),
            "no program {name}; build it: cargo build --workspace in bench/"
        );
    }
    folder.to_owned()
}

fn counting(bench: &Bench) -> Order {
    Order {
        counter: Some(Counter::Callgrind),
        ..bench.order()
    }
}

fn count(bench: &Bench, suite: &str, rounds: u32) {
    fs::write(bench.path("suite.toml"), suite).unwrap();
    let mut order = Order {
        rounds: Some(rounds),
        ..counting(bench)
    };
    order.places.programs = programs();
    run(&order, &silent_host(bench)).unwrap();
}

/// The block marks of a run in which nothing was counted.
fn marks(bench: &Bench) -> Vec<Block> {
    let mut marks = Vec::new();
    for record in read_records(&bench.path("run")) {
        match record {
            Record::Block(block) => marks.push(block),
            Record::RoundState(_) => {}
            other => panic!("{other:?}"),
        }
    }
    marks
}

#[test]
fn instructions_are_counted_alone_and_are_the_same_in_every_round() {
    counted_alone(&["tls-rustls-ring"]);
}

#[test]
#[ignore = "nightly: Valgrind runs 36 processes"]
fn instructions_of_several_libraries_are_the_same_in_every_round() {
    counted_alone(&["tls-openssl", "tls-boringssl", "tls-rustls-aws-lc-rs"]);
}

fn counted_alone(programs: &[&str]) {
    let bench = Bench::new();
    let suite = SUITE.replace(r#"["tls-rustls-ring"]"#, &format!("{programs:?}"));
    count(&bench, &suite, 2);
    let folder = bench.path("run");
    check_finished(&folder, 4, programs.len(), 2);
    let counter = read_run(&folder).counter.unwrap();
    assert_eq!(counter.name, Counter::Callgrind);
    assert!(counter.version.starts_with("3."), "{}", counter.version);
    // Such as amd64-cx16-avx-avx2.
    let processor = counter.processor.unwrap();
    assert!(processor.starts_with(['a', 'A']), "{processor}");
    let hidden = |feature| feature == "rdrand" || feature == "rdseed";
    assert!(!processor.split('-').any(hidden), "{processor}");
    let records = read_records(&folder);
    let mut counts: Vec<&Measurement> = Vec::new();
    for record in &records {
        match record {
            Record::Measurement(measurement) => {
                assert_eq!(measurement.elapsed_seconds, None);
                let [observation] = &measurement.observations[..] else {
                    panic!("{measurement:?}");
                };
                assert_eq!(observation.metric, Metric::INSTRUCTIONS);
                counts.push(measurement);
            }
            Record::Block(block) if block.block < 2 => {
                assert_eq!(block.status, Status::Measured, "{:?}", block.reason);
            }
            Record::Block(block) => {
                assert_eq!(block.status, Status::Absent);
                let reason = block.reason.as_deref().unwrap();
                assert!(NOT_COUNTED.contains(&reason), "{reason}");
            }
            Record::Overhead(_) => panic!("a time in a run that counts"),
            Record::RoundState(state) => assert!(!state.disturbed),
        }
    }
    // Two rounds: a ClientHello, and both sides of a transfer.
    assert_eq!(counts.len(), 6 * programs.len());
    for count in &counts {
        let again = |other: &&&Measurement| {
            (&other.implementation, &other.scenario) == (&count.implementation, &count.scenario)
                && other.round != count.round
        };
        let other = counts.iter().find(again).unwrap();
        let (one, two) = (&count.observations[0], &other.observations[0]);
        let limit = match count.implementation.starts_with("rustls") {
            true => 1e-2,
            false => 1e-3,
        };
        assert!(
            (one.value / two.value - 1.0).abs() <= limit,
            "{}, {}: {} and {}",
            count.implementation,
            count.scenario.name(),
            one.value,
            two.value
        );
        match one.unit {
            // At least one instruction for 16 bytes of AES-GCM, and fewer than a hundred per byte.
            Unit::INSTRUCTIONS_PER_MEBIBYTE => {
                assert!((65_536.0..1e8).contains(&one.value), "{}", one.value);
            }
            // An X25519 key takes some tens of thousands.
            Unit::INSTRUCTIONS_PER_OPERATION => {
                assert!(count.operations >= 200);
                assert!((1e4..1e6).contains(&one.value), "{}", one.value);
            }
            other => panic!("{other:?}"),
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn a_library_that_valgrind_does_not_emulate_is_absent_with_the_reason() {
    let bench = Bench::new();
    let suite = SUITE.replace("tls-rustls-ring", "tls-rustls-graviola");
    count(&bench, &suite, 1);
    let marks = marks(&bench);
    assert_eq!(marks.len(), 4);
    for mark in marks {
        assert_eq!(mark.status, Status::Absent);
        let reason = mark.reason.unwrap();
        assert!(reason.starts_with("graviola requires ADX"), "{reason}");
    }
}

#[test]
fn a_time_in_a_run_that_counts_instructions_is_rejected() {
    let bench = Bench::new();
    bench.suite(1, 0.001, &["one"]);
    run(&counting(&bench), &silent_host(&bench)).unwrap();
    for mark in marks(&bench) {
        assert_eq!(mark.status, Status::Failed);
        let reason = mark.reason.unwrap();
        assert!(reason.contains("time and counts"), "{reason}");
    }
}

#[test]
fn a_run_that_measures_time_does_not_resume_as_one_that_counts() {
    let bench = Bench::new();
    bench.suite(1, 0.001, &["one"]);
    bench.run(&silent_host(&bench)).unwrap();
    let refused = || {
        run(&counting(&bench), &silent_host(&bench))
            .unwrap_err()
            .to_string()
    };
    let error = refused();
    assert!(
        error.contains("the run is complete") && error.contains("it measures time"),
        "{error}"
    );
    // The state after a kill between the last two steps of a run.
    fs::rename(
        bench.path("run/run.toml"),
        bench.path("run/run.partial.toml"),
    )
    .unwrap();
    let error = refused();
    assert!(error.contains("it measures time"), "{error}");
}

/// AES-GCM of 64 KiB, which features of the processor speed up most, by a library that
/// `OPENSSL_ia32cap` hides them from.
const AES: &str = r#"
schema = 1
name = "counts"
family = "counts"
description = ""
rounds = 1
measure_seconds = 1.0
warmup_seconds = 1.0
implementations = ["tls-openssl"]

[[scenarios]]
operation = "transfer"
protocol = "1.3"
cipher_suite = "TLS_AES_256_GCM_SHA384"
key_exchange = "X25519"
certificate = "ecdsa-p256"
authentication = "server"
resumption = "none"
threads = 1
size = 65536
in_flight = 65536
"#;

#[test]
fn a_processor_mask_in_the_environment_changes_no_count() {
    a_mask_changes_no_count_of(&["tls-openssl"]);
}

#[test]
#[ignore = "nightly: Valgrind runs eight processes"]
fn a_processor_mask_changes_no_count_of_other_libraries() {
    a_mask_changes_no_count_of(&["tls-boringssl", "tls-rustls-aws-lc-rs"]);
}

fn a_mask_changes_no_count_of(libraries: &[&str]) {
    let suite = AES.replace(r#"["tls-openssl"]"#, &format!("{libraries:?}"));
    let counts = |environment: &[(&str, &str)]| {
        let bench = Bench::new();
        fs::write(bench.path("suite.toml"), &suite).unwrap();
        let output = Command::new(programs().join("tlsbench"))
            .args(["run", "--counter", "callgrind", "--rounds", "1", "--suite"])
            .arg(bench.path("suite.toml"))
            .arg("--out")
            .arg(bench.path("run"))
            .envs(environment.iter().copied())
            .output()
            .unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{error}");
        let run = read_run(&bench.path("run"));
        let masks = run.implementations.iter().map(|it| it.cpu_mask.as_deref());
        assert_eq!(masks.collect::<Vec<_>>(), vec![None; libraries.len()]);
        let mut counts = BTreeMap::new();
        for record in read_records(&bench.path("run")) {
            if let Record::Measurement(it) = record {
                let key = (it.implementation.clone(), it.scenario.name());
                counts.insert(key, it.observations[0].value);
            }
        }
        counts
    };
    let plain = counts(&[]);
    // A processor without AES, carry-less multiplication and AVX2.
    let hidden = counts(&[
        (MASK_VARIABLE, "~0x200000200000000:~0x60000000020"),
        ("GLIBC_TUNABLES", "glibc.cpu.hwcaps=-AVX2,-ERMS"),
    ]);
    assert_eq!(plain.len(), 2 * libraries.len());
    for (key, count) in &plain {
        let share = hidden[key] / count - 1.0;
        assert!(share.abs() < 0.002, "{key:?}: {share}");
    }
}

#[test]
fn without_valgrind_the_error_names_the_command_that_installs_it() {
    let bench = Bench::new();
    bench.suite(1, 0.001, &["one"]);
    let output = Command::new(bench.path("tlsbench"))
        .args(["run", "--counter", "callgrind", "--suite"])
        .arg(bench.path("suite.toml"))
        .arg("--out")
        .arg(bench.path("run"))
        .env("PATH", bench.folder.path())
        .output()
        .unwrap();
    assert!(!output.status.success());
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains("apt-get install valgrind"), "{error}");
    assert!(!bench.path("run").exists());
}
