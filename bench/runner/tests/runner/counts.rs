//! Runs that count instructions, with the real libraries' programs under Valgrind.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tls_harness::implementation::MASK_VARIABLE;
use tls_harness::record::{Measurement, Metric, Record, Status, Unit};
use tls_harness::request::Counter;
use tlsbench::options::Options;
use tlsbench::plan::Order;
use tlsbench::run::run;

use crate::common::{Answer, Bench, check_finished, expect, header, silent_host, stop_in};

/// The cheapest scenario that can be counted. Its threads may depend on the host; one is counted.
pub const CLIENT_HELLO: &str = "operation = \"client-hello\"\nthreads = 1\nvariant = \"X25519\"";

const TRANSFER: &str = "operation = \"transfer\"\nkey_exchange = \"X25519\"\nthreads = 1\n\
                        size = 65536\nin_flight = 65536";

const TWO_THREADS: &str = "operation = \"handshake\"\nkey_exchange = \"X25519\"\nthreads = 2";

const MEMORY: &str = "operation = \"memory\"\nkey_exchange = \"X25519\"\nthreads = 1";

/// The cheapest scenarios that can be counted, and two that cannot.
const ALL: [&str; 4] = [CLIENT_HELLO, TRANSFER, TWO_THREADS, MEMORY];

/// A suite of scenarios, by the fields in which they differ.
pub fn suite(programs: &[&str], scenarios: &[&str]) -> String {
    let shared = "protocol = \"1.3\"\ncipher_suite = \"TLS_AES_256_GCM_SHA384\"\n\
                  certificate = \"ecdsa-p256\"\nauthentication = \"server\"\nresumption = \"none\"\n";
    let scenarios = scenarios
        .iter()
        .map(|it| format!("[[scenarios]]\n{it}\n{shared}"));
    let head = format!("{}implementations = {programs:?}\n", header(1, 1.0));
    head + &scenarios.collect::<String>()
}

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
    bench.ordered(Options {
        counter: Some(Counter::Callgrind),
        ..Options::default()
    })
}

fn count(bench: &Bench, libraries: &[&str], rounds: u32) {
    fs::write(bench.path("suite.toml"), suite(libraries, &ALL)).unwrap();
    let mut order = counting(bench);
    order.options.rounds = Some(rounds);
    order.places.programs = programs();
    run(&order, &silent_host(bench)).unwrap();
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
    count(&bench, programs, 2);
    let folder = bench.path("run");
    check_finished(&folder, 4, programs.len(), 2);
    let counter = bench.measured().counter.unwrap();
    assert_eq!(counter.name, Counter::Callgrind);
    assert!(counter.version.starts_with("3."), "{}", counter.version);
    // Such as amd64-cx16-avx-avx2.
    let processor = counter.processor.unwrap();
    assert!(processor.starts_with(['a', 'A']), "{processor}");
    let hidden = |feature| feature == "rdrand" || feature == "rdseed";
    assert!(!processor.split('-').any(hidden), "{processor}");
    let records = bench.records();
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

/// Nothing was counted, and each block has a reason that begins in this way.
fn expect_no_count(bench: &Bench, blocks: usize, status: Status, expected: &str) {
    assert_eq!(bench.measurements(), []);
    let marks = bench.blocks();
    assert_eq!(marks.len(), blocks);
    for mark in marks {
        let reason = mark.reason.unwrap();
        assert!(reason.contains(expected), "{reason}");
        assert_eq!(mark.status, status);
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn a_library_that_valgrind_does_not_emulate_is_absent_with_the_reason() {
    let bench = Bench::new();
    count(&bench, &["tls-rustls-graviola"], 1);
    expect_no_count(&bench, 4, Status::Absent, "graviola requires ADX");
}

#[test]
fn a_time_in_a_run_that_counts_instructions_is_rejected() {
    let bench = Bench::of(1, &["one"]);
    run(&counting(&bench), &silent_host(&bench)).unwrap();
    expect_no_count(&bench, 12, Status::Failed, "time and counts");
}

#[test]
fn a_run_that_measures_time_does_not_resume_as_one_that_counts() {
    let bench = Bench::of(1, &["one"]);
    bench.measure();
    let refused = |expected: &str| {
        let error = run(&counting(&bench), &silent_host(&bench)).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
        assert!(error.to_string().contains("it measures time"), "{error}");
    };
    refused("the run is complete");
    stop_in(&bench, 1, |_| {});
    refused("the run cannot resume");
}

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
    // AES-GCM of 64 KiB, which features of the processor speed up most.
    let suite = suite(libraries, &[TRANSFER]);
    let counts = |environment: &[(&str, &str)]| {
        let bench = Bench::new();
        fs::write(bench.path("suite.toml"), &suite).unwrap();
        let run = "run --suite suite.toml --counter callgrind --rounds 1 --out run";
        let mut tlsbench = Command::new(programs().join("tlsbench"));
        tlsbench
            .args(run.split(' '))
            .envs(environment.iter().copied());
        Answer::of(tlsbench.current_dir(bench.folder.path())).done();
        let run = bench.measured();
        let masks = run.implementations.iter().map(|it| it.cpu_mask.as_deref());
        assert_eq!(masks.collect::<Vec<_>>(), vec![None; libraries.len()]);
        let counts = bench.measurements().into_iter().map(|it| {
            let key = (it.implementation.clone(), it.scenario.name());
            (key, it.observations[0].value)
        });
        counts.collect::<BTreeMap<_, _>>()
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
    let bench = Bench::of(1, &["one"]);
    let mut tlsbench = bench.command("", "run --suite suite.toml --counter callgrind --out run");
    let answer = Answer::of(tlsbench.env("PATH", bench.folder.path()));
    expect(&answer.errors, &["apt-get install valgrind"]);
    assert_eq!(answer.code, Some(1));
    assert!(!bench.path("run").exists());
}
