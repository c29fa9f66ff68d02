//! Answers of a built program to the requests that the runner sends.

use std::{
    ops::Range,
    process::{Command, Output, Stdio},
    thread,
    time::Duration,
};

use base64::{Engine, prelude::BASE64_STANDARD};
use hdrhistogram::{Histogram, serialization::Deserializer};
use serde_json::json;
use tls_harness::{
    binary::is_compiled_by,
    implementation::{Implementation, Linkage},
    library::{Connection, Setup, TlsLibrary},
    process,
    record::{Measurement, Metric, Observation, Phase, Record, Statistic, Status},
    request::Request,
    scenario::{Certificate, Operation, Scenario, Side, Variant},
    transport::Transport,
    workloads::growth::Growth,
};

use super::{
    measurements::{measurements, request},
    scenarios::handshake_13,
};

/// Plausible bytes per connection in any library. wolfSSL with bitsliced AES, which nobody chose, had
/// 258,266.
const PLAUSIBLE: Range<f64> = 500.0..250_000.0;

/// The output of a built program for a request; `meanwhile` receives its process id.
fn answer(program: &str, request: &Request, errors: Stdio, meanwhile: impl FnOnce(u32)) -> Output {
    let mut child = Command::new(program)
        .arg("measure")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(errors)
        .spawn()
        .unwrap();
    serde_json::to_writer(child.stdin.take().unwrap(), request).unwrap();
    meanwhile(child.id());
    child.wait_with_output().unwrap()
}

pub fn records_of(program: &str, request: &Request) -> Vec<Record> {
    records_while(program, request, |_| ())
}

/// The records of a block, while `meanwhile` acts on the process.
fn records_while(program: &str, request: &Request, meanwhile: impl FnOnce(u32)) -> Vec<Record> {
    let output = answer(program, request, Stdio::inherit(), meanwhile);
    let name = request.scenario.name();
    assert!(
        output.status.success(),
        "{program} measure, {name}: {}",
        output.status
    );
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The measurements of a block, which must be complete.
pub fn measured_by(program: &str, request: &Request) -> Vec<Measurement> {
    let records = records_of(program, request);
    let name = request.scenario.name();
    match records.last() {
        Some(Record::Block(block)) => {
            assert_eq!(block.status, Status::Measured, "{name}: {:?}", block.reason);
        }
        other => panic!("{name}: the last record is not a block mark: {other:?}"),
    }
    measurements(&records).cloned().collect()
}

/// A program reports compilers, flags, linkage and allocator. Compiler and flags of a shared
/// library of the host are unknown.
pub fn the_build_is_described(program: &str) {
    let output = Command::new(program).arg("describe").output().unwrap();
    let it: Implementation = serde_json::from_slice(&output.stdout).unwrap();
    let rust = it.rust_compiler.unwrap();
    assert!(rust.starts_with("rustc version"), "{rust}");
    match (it.c_compiler, it.flags) {
        (Some(c), Some(flags)) => {
            assert!(c.contains("GCC") || c.contains("clang"), "{c}");
            assert!(
                flags.contains("-O") || flags.contains("opt-level"),
                "{flags}"
            );
            assert!(it.linkage.is_some(), "`describe` reports no linkage");
        }
        found => {
            assert_eq!(
                found,
                (None, None),
                "`describe` reports one of compiler and flags: expected both, or none of a shared library"
            );
            assert_eq!(
                it.linkage,
                Some(Linkage::Shared),
                "`describe` reports no compiler: only a shared library has none"
            );
            assert!(it.source.is_some(), "`describe` reports no source");
        }
    }
    let allocator = it.allocator.unwrap();
    let known = allocator == "system" || allocator.starts_with("jemalloc 5.");
    assert!(known, "{allocator}");
}

/// What a program reports of its build is what `[default]` of library.toml states, as far as it does;
/// options and flags only in a release build, which is the measured one.
pub fn the_build_is_the_default(program: &str) {
    let output = Command::new(program).arg("describe").output().unwrap();
    let it: Implementation = serde_json::from_slice(&output.stdout).unwrap();
    let mut differences = Vec::new();
    let mut expect = |what: &str, holds: bool, found: &Option<String>, expected: &str| {
        if !holds {
            let found = found.as_deref().unwrap_or("nothing");
            differences.push(format!("{what}: found {found}, expected {expected}"));
        }
    };
    let system = it.allocator.as_deref() == Some("system");
    expect("allocator", system, &it.allocator, "system");
    let flags = it.flags.as_deref().unwrap_or_default();
    let levels = |of: &str| of.split(' ').filter(|it| it.starts_with("-O")).count();
    let is_one = flags.split(';').all(|of| levels(of) < 2);
    expect("flags", is_one, &it.flags, "one level of optimization");
    let flags = flags.split_whitespace();
    let lto = ["-flto", "lto=fat", "lto=thin", "lto=true"];
    let linked = |it: &str| lto.contains(&it) || it.starts_with("-flto=");
    expect("flags", !flags.clone().any(linked), &it.flags, "no LTO");

    let configure = option_env!("DEFAULT_CONFIGURE");
    let is_stated = configure.is_some();
    expect("library.toml", is_stated, &None, "its table [default]");
    if let Some(configure) = configure {
        let stated = it.configure.is_some();
        expect("configure", stated, &it.configure, "what it was told");
        let own = [("configure", &it.configure), ("flags", &it.flags)];
        let default = [configure, option_env!("DEFAULT_FLAGS").unwrap_or_default()];
        for ((what, found), default) in own.into_iter().zip(default) {
            let words = found.as_deref().unwrap_or_default().split_whitespace();
            for word in default.split_whitespace() {
                let holds = words.clone().any(|it| it == word);
                expect(what, holds || cfg!(debug_assertions), found, word);
            }
        }
        let named = option_env!("DEFAULT_COMPILER").unwrap_or_default();
        let command = if named.is_empty() { "cc" } else { named };
        let compiler = first_line(command, "--version", "");
        let llvm = first_line("rustc", "-vV", "LLVM version: ");
        let c = it.c_compiler.as_deref().unwrap_or_default();
        let holds = is_compiled_by(c, &compiler, &llvm);
        expect("C compiler", holds, &it.c_compiler, &compiler);
    }
    let name = format!("{} and `[default]` of library.toml", it.id);
    assert!(
        differences.is_empty(),
        "{name} differ: {}",
        differences.join("; ")
    );
}

/// The rest of the first line that a command prints with this beginning.
fn first_line(command: &str, argument: &str, beginning: &str) -> String {
    let output = Command::new(command).arg(argument).output();
    let output = output.unwrap_or_else(|error| panic!("{command} {argument}: {error}"));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut lines = text.lines();
    let line = lines.find_map(|line| line.strip_prefix(beginning));
    line.unwrap_or_else(|| panic!("{command} {argument}: no line {beginning}: {text}"))
        .to_owned()
}

/// The allocator that a program reports counts the memory of its connections, and the harness takes
/// only a small part of it.
pub fn memory_is_counted_by_the_reported_allocator(program: &str) {
    let scenario = Scenario {
        operation: Operation::Memory,
        variant: Some(Variant::Sessions(100)),
        ..handshake_13()
    };
    let records = records_of(program, &request(scenario));
    let mut sides = 0;
    for measurement in measurements(&records) {
        let own = records.iter().find_map(|record| match record {
            Record::Overhead(it) if it.scenario == measurement.scenario => it.bytes,
            _ => None,
        });
        let name = measurement.scenario.name();
        let own = own.unwrap_or_else(|| panic!("{name}: no overhead record"));
        for observation in &measurement.observations {
            if (observation.metric, observation.phase) == (Metric::ALLOCATED, Phase::Handshake) {
                let bytes = observation.value;
                assert!(
                    bytes > 100_000.0,
                    "{name}: {bytes} bytes of 100 connections"
                );
                assert!(own > 0.0 && own < bytes / 10.0, "{name}: {own} of {bytes}");
                sides += 1;
            }
        }
    }
    assert_eq!(sides, 2, "sides with a count of the allocator");
}

/// A server's connection is below 100 KB, unless library.toml says why not: one that is larger has been
/// built with an option that no server has. wolfSSL's had 256 KB with a hardening that is off by default.
pub fn the_size_of_a_connection_is_plausible(program: &str) {
    const CONNECTIONS: u32 = 100;
    let holding = json!({
        "scenario": Scenario { operation: Operation::Memory, ..handshake_13() },
        "side": Side::Server, "moment": Phase::Handshake, "sessions": CONNECTIONS,
    });
    let mut hold = Command::new(program);
    hold.arg("hold");
    let held = process::answer(hold, &holding).unwrap();
    let held: Growth = serde_json::from_slice(&held).unwrap();
    let bytes = held.allocated / u64::from(CONNECTIONS);
    assert!(bytes > 1_000, "a connection of {bytes} bytes: not counted");
    let reason = option_env!("LARGE_CONNECTION");
    let expected = match reason {
        None => "less than 100000, or large_connection = \"why\" below [default]",
        Some(_) => "100000 or more, or no large_connection below [default]",
    };
    assert_eq!(
        bytes >= 100_000,
        reason.is_some(),
        "library.toml of {}: found {bytes} bytes of a server's connection, expected {expected}",
        env!("LIBRARY")
    );
}

fn histogram(measurement: &Measurement) -> Histogram<u64> {
    let text = measurement.histogram.as_ref().unwrap();
    let bytes = BASE64_STANDARD.decode(text).unwrap();
    Deserializer::new().deserialize(&mut &*bytes).unwrap()
}

/// Three threads at once: each has a rate, both sides' histograms contain every handshake, and the
/// rate by the wall clock is below the rate of the roles.
pub fn threads_and_latencies_include_every_handshake(program: &str) {
    let request = Request {
        measure_seconds: 0.2,
        latency: true,
        throughput: true,
        ..request(Scenario {
            threads: Some(3),
            ..handshake_13()
        })
    };
    let measured = measured_by(program, &request);
    let sides: Vec<_> = measured.iter().map(|it| it.scenario.side).collect();
    let expected = [Some(Side::Client), Some(Side::Server), None];
    assert_eq!(
        sides, expected,
        "client, server, and all threads by the wall clock"
    );
    for measurement in &measured {
        let rates = measurement.per_thread.as_ref().unwrap();
        let name = measurement.scenario.name();
        assert_eq!(rates.len(), 3, "{name}: rates of 3 threads");
        assert!(rates.iter().all(|rate| *rate > 0.0), "{name}: {rates:?}");
        let (found, client) = (measurement.operations, measured[0].operations);
        assert_eq!(
            found, client,
            "{name}: handshakes of this measurement and of the client"
        );
    }
    for side in &measured[..2] {
        let histogram = histogram(side);
        let name = side.scenario.name();
        let (found, expected) = (histogram.len(), side.operations);
        assert_eq!(
            found, expected,
            "{name}: handshakes in the histogram, and in all"
        );
        let percentiles: Vec<&Observation> = side
            .observations
            .iter()
            .filter(|it| it.statistic != Statistic::Value && it.metric == Metric::DURATION)
            .collect();
        assert_eq!(percentiles.len(), 6, "{name}: percentiles");
        assert!(
            percentiles.is_sorted_by(|a, b| a.value <= b.value),
            "{name}: percentiles out of order: {percentiles:?}"
        );
        let (largest, expected) = (percentiles[5].value, histogram.max() as f64 / 1e3);
        assert!(
            (largest / expected - 1.0).abs() < 2e-3,
            "{name}: found {largest} µs as the largest, expected {expected} of the histogram"
        );
        let (wall, rate) = (
            measured[2].observations[0].value,
            side.observations[0].value,
        );
        assert!(
            wall < rate,
            "{name}: found {wall} handshakes/s by the wall clock, expected less than {rate}"
        );
    }
    let wall = &measured[2];
    let rate = wall.operations as f64 / wall.elapsed_seconds.unwrap();
    let (found, elapsed) = (wall.observations[0].value, wall.elapsed_seconds.unwrap());
    assert!(
        (found / rate - 1.0).abs() < 1e-9,
        "found {found} handshakes/s by the wall clock, expected {rate}"
    );
    assert!(
        elapsed >= request.measure_seconds,
        "measured for {elapsed} s, expected {} s",
        request.measure_seconds
    );
}

pub fn an_error_names_its_scenario(program: &str) {
    let scenario = Scenario {
        variant: Some(Variant::Cold),
        ..handshake_13()
    };
    let name = scenario.name();
    let output = answer(program, &request(scenario), Stdio::piped(), |_| ());
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{name} is measured");
    assert!(error.contains(&name), "no \"{name}\" in: {error}");
}

/// Bytes per connection between 100 and 300 sessions in fresh processes, separately for client and
/// server: they are plausible, and not less after data than before.
pub fn memory_grows_with_the_sessions(program: &str) {
    let held = |sessions: u32| {
        measured_by(
            program,
            &request(Scenario {
                operation: Operation::Memory,
                certificate: Some(Certificate::EcdsaP256),
                variant: Some(Variant::Sessions(sessions)),
                ..handshake_13()
            }),
        )
    };
    let (few, many) = (held(100), held(300));
    for (side, at) in [(Side::Client, 0), (Side::Server, 1)] {
        let slope = |metric, phase| {
            let bytes = |measured: &[Measurement]| {
                let found = measured[at].scenario.side;
                assert_eq!(found, Some(side), "the side of measurement {at}");
                let mut all = measured[at].observations.iter();
                let found = all.find(|it| (it.metric, it.phase) == (metric, phase));
                found.unwrap().value
            };
            (bytes(&many) - bytes(&few)) / 200.0
        };
        for metric in [Metric::ALLOCATED, Metric::RESIDENT] {
            let moments = [Phase::Construction, Phase::Handshake, Phase::Data];
            let [made, shaken, used] = moments.map(|moment| slope(metric, moment));
            let numbers = format!("{side}, {metric:?}: {made}, {shaken}, {used} bytes");
            for bytes in [made, shaken, used] {
                assert!(
                    PLAUSIBLE.contains(&bytes),
                    "{numbers} a connection, expected {PLAUSIBLE:?}"
                );
            }
            // The kernel counts whole pages, and may reclaim some at any time.
            let by_chance = match metric {
                Metric::RESIDENT => 64.0 * 4096.0 / 200.0,
                _ => 0.0,
            };
            assert!(
                shaken <= 1.1 * used + by_chance,
                "{numbers} after construction, handshake and data: expected the last not below the \
                 second"
            );
            // A library may hold less after the handshake: wolfSSL frees what only that needs.
            if (side, metric) == (Side::Client, Metric::ALLOCATED) {
                assert!(
                    made != shaken,
                    "{numbers} after construction, handshake and data: expected two moments"
                );
            }
        }
    }
}

/// An idle server's connections hold less memory if they release their buffers.
#[allow(dead_code, reason = "most libraries have no setting for it")]
pub fn released_buffers_hold_less_memory(program: &str) {
    let held = |variant: Option<Variant>| -> u64 {
        let scenario = Scenario {
            operation: Operation::Memory,
            certificate: Some(Certificate::EcdsaP256),
            variant,
            ..handshake_13()
        };
        let holding = json!({"scenario": scenario, "side": "server", "moment": "data",
            "sessions": 100});
        let mut hold = Command::new(program);
        hold.arg("hold");
        let held = process::answer(hold, &holding).unwrap();
        let held: Growth = serde_json::from_slice(&held).unwrap();
        held.allocated
    };
    let (default, released) = (held(None), held(Some(Variant::ReleasedBuffers)));
    assert!(
        released < default * 9 / 10,
        "{released} bytes of 100 connections with buffers released, {default} by default"
    );
}

/// A ClientHello has the requested key shares, which its size shows: 32 bytes for X25519, and 1216
/// for X25519MLKEM768 (draft-ietf-tls-ecdhe-mlkem, 3.1.1).
pub fn client_hellos_carry_their_key_shares<L: TlsLibrary>(library: &L, program: &str) {
    let hello = |variant: &str| Scenario {
        operation: Operation::ClientHello,
        key_exchange: None,
        variant: Some(variant.parse().unwrap()),
        ..handshake_13()
    };
    let size = |variant| {
        let setup = Setup::client(&hello(variant)).unwrap();
        let config = library.client_config(&setup).unwrap();
        let transport = Transport::new(Transport::HANDSHAKE_CAPACITY);
        let mut client = library.connect(&config, &transport.client).unwrap();
        client.handshake().unwrap();
        transport.sent_by_client(<[u8]>::len)
    };
    let (one, hybrid) = (size("X25519"), size("X25519MLKEM768"));
    let both = size("X25519MLKEM768+X25519");
    // OpenSSL adds the extension ec_point_formats, 6 bytes, if one of the groups is a pure curve.
    const FORMATS: usize = 6;
    let sizes =
        format!("ClientHellos of {one} (X25519), {hybrid} (X25519MLKEM768), {both} (both) bytes");
    let more = 1216 - 32;
    assert!(
        (more - FORMATS..=more).contains(&(hybrid - one)),
        "{sizes}: expected {} to {more} more with X25519MLKEM768 than with X25519",
        more - FORMATS
    );
    // The share with its group and length, and the group's number in the list of groups.
    let more = 4 + 32 + 2;
    assert!(
        (more..=more + FORMATS).contains(&(both - hybrid)),
        "{sizes}: expected {more} to {} more with both than with X25519MLKEM768",
        more + FORMATS
    );
    for variant in ["X25519", "X25519MLKEM768", "X25519MLKEM768+X25519"] {
        let measured = measured_by(program, &request(hello(variant)));
        assert_eq!(
            measured.len(),
            1,
            "ClientHello with {variant}: measurements"
        );
        let observations = &measured[0].observations;
        assert!(
            observations.iter().all(|it| it.value > 0.0),
            "ClientHello with {variant}: {observations:?}"
        );
    }
}

/// A process that is stopped for half of the measured time marks its figures as invalid.
pub fn figures_of_a_process_that_was_stopped_do_not_count(program: &str) {
    // On a busy host it may not measure yet when it is stopped: then each time is four times as long.
    let notes = |quarter: Duration| {
        let request = Request {
            measure_seconds: 4.0 * quarter.as_secs_f64(),
            ..request(handshake_13())
        };
        let records = records_while(program, &request, |process| {
            let send = |signal: &str| {
                let kill = ["-c", "kill \"$0\" \"$1\"", signal, &process.to_string()];
                let sent = Command::new("sh").args(kill).status().unwrap();
                assert!(sent.success(), "the signals were not sent: {sent}");
            };
            thread::sleep(quarter);
            send("-STOP");
            thread::sleep(2 * quarter);
            send("-CONT");
        });
        let note = |it: &Measurement| (it.valid, it.note.clone().unwrap_or_default());
        measurements(&records).map(note).collect::<Vec<_>>()
    };
    let is_noticed =
        |(valid, note): &(bool, String)| !valid && note.contains("the process was stopped for");
    let mut found = Vec::new();
    for quarter in [250, 1000, 4000].map(Duration::from_millis) {
        found = notes(quarter);
        assert_eq!(found.len(), 2, "sides that were measured: {found:?}");
        if found.iter().all(is_noticed) {
            return;
        }
    }
    panic!("measured while the process was stopped, expected a note: {found:?}");
}
