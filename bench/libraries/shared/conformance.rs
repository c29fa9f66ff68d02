//! What every adapter must do, and what the driver must notice: a module of each adapter's tests.

use std::process::{Command, Stdio};

use base64::{Engine, prelude::BASE64_STANDARD};
use hdrhistogram::{Histogram, serialization::Deserializer};
use tls_harness::{
    implementation::{Implementation, Linkage},
    library::{Connection, HELLO_RETRY, Setup, TlsLibrary},
    record::{Measurement, Metric, Observation, Phase, Record, Schema, Statistic, Status},
    request::Request,
    scenario::{
        Authentication, Certificate, CipherSuite, KeyExchange, Operation, Protocol, Resumption,
        Scenario, Side,
    },
    transport::Transport,
    workloads as measure,
    workloads::handshake::{self, HandshakeBench},
    workloads::transfer::Batch,
};

/// The tests that every adapter has, of `$library` and its built program. `missing`: handshakes that
/// it can't do; `measured`: scenarios of the main report that it can.
macro_rules! conformance_tests {
    ($library:expr, $program:expr, missing: $missing:expr, measured: $measured:expr) => {
        #[test]
        fn every_handshake_negotiates_what_it_claims() {
            let missing = crate::conformance::every_handshake_negotiates_what_it_claims(&$library);
            assert_eq!(missing, $missing);
        }

        #[test]
        fn every_transfer_arrives() {
            crate::conformance::every_transfer_arrives(&$library);
        }

        #[test]
        fn what_is_wrong_is_noticed() {
            crate::conformance::what_is_wrong_is_noticed(&$library);
        }

        #[test]
        fn a_ticket_is_used_once() {
            crate::conformance::a_ticket_is_used_once(&$library);
        }

        #[test]
        fn the_main_report_is_measured() {
            let measured = crate::conformance::the_main_report_is_measured(&$library);
            assert_eq!(measured, $measured);
        }

        #[test]
        fn threads_measure_at_once() {
            crate::conformance::threads_measure_at_once(&$library);
        }

        #[test]
        fn the_session_cache_holds_what_it_is_told() {
            crate::conformance::the_session_cache_holds_what_it_is_told(&$library);
        }

        #[test]
        fn construction_and_tickets_are_phases() {
            crate::conformance::construction_and_tickets_are_phases(&$library);
        }

        #[test]
        fn the_build_is_described() {
            crate::conformance::the_build_is_described($program);
        }

        #[test]
        fn memory_is_counted_by_the_allocator_that_is_named() {
            crate::conformance::memory_is_counted_by_the_allocator_that_is_named($program);
        }

        #[test]
        fn threads_and_latencies_are_those_of_every_handshake() {
            crate::conformance::threads_and_latencies_are_those_of_every_handshake($program);
        }

        #[test]
        fn memory_grows_with_the_sessions() {
            crate::conformance::memory_grows_with_the_sessions($program);
        }
    };
}

/// A full handshake of TLS1.3 with an RSA certificate.
pub fn handshake_13() -> Scenario {
    Scenario {
        protocol: Some(Protocol::Tls13),
        cipher_suite: Some(CipherSuite::Aes256Gcm),
        key_exchange: Some(KeyExchange::X25519),
        certificate: Some(Certificate::Rsa2048),
        authentication: Some(Authentication::Server),
        resumption: Some(Resumption::None),
        threads: Some(1),
        ..Scenario::new(Operation::Handshake)
    }
}

/// A full handshake of TLS1.2 with an RSA certificate.
pub fn handshake_12() -> Scenario {
    Scenario {
        protocol: Some(Protocol::Tls12),
        cipher_suite: Some(CipherSuite::EcdheRsaAes256Gcm),
        ..handshake_13()
    }
}

/// The suites that a protocol allows with a certificate.
fn suites(protocol: Protocol, certificate: Certificate) -> Vec<CipherSuite> {
    let rsa = matches!(certificate, Certificate::Rsa2048 | Certificate::Rsa4096);
    let kind = match (protocol, rsa) {
        (Protocol::Tls13, _) => "TLS_AES TLS_CHACHA20",
        (Protocol::Tls12, true) => "TLS_ECDHE_RSA",
        (Protocol::Tls12, false) => "TLS_ECDHE_ECDSA",
    };
    let fits = |suite: &&CipherSuite| kind.split(' ').any(|it| suite.as_str().starts_with(it));
    CipherSuite::ALL.iter().filter(fits).copied().collect()
}

/// Handshakes of every kind: each suite, group, certificate, authentication and resumption.
fn handshakes() -> Vec<Scenario> {
    let mut scenarios = Vec::new();
    for base in [handshake_12(), handshake_13()] {
        let protocol = base.protocol.unwrap();
        for &certificate in Certificate::ALL {
            for authentication in [Authentication::Server, Authentication::Mutual] {
                for suite in suites(protocol, certificate) {
                    scenarios.push(Scenario {
                        cipher_suite: Some(suite),
                        certificate: Some(certificate),
                        authentication: Some(authentication),
                        ..base.clone()
                    });
                }
            }
        }
        for &group in KeyExchange::ALL {
            if protocol == Protocol::Tls12 && group == KeyExchange::X25519MlKem768 {
                continue;
            }
            for resumption in [Resumption::None, Resumption::Ticket, Resumption::SessionId] {
                for authentication in [Authentication::Server, Authentication::Mutual] {
                    let resumed_12 = protocol == Protocol::Tls12 && resumption != Resumption::None;
                    if resumed_12 && group != KeyExchange::X25519 {
                        continue;
                    }
                    scenarios.push(Scenario {
                        key_exchange: (!resumed_12).then_some(group),
                        resumption: Some(resumption),
                        authentication: Some(authentication),
                        ..base.clone()
                    });
                }
            }
            if protocol == Protocol::Tls13 {
                scenarios.push(Scenario {
                    key_exchange: Some(group),
                    variant: Some(HELLO_RETRY.into()),
                    ..base.clone()
                });
            }
        }
    }
    scenarios
}

fn stage<'a, L: TlsLibrary>(
    library: &'a L,
    server: &'a L::ServerConfig,
    scenario: &Scenario,
) -> HandshakeBench<'a, L> {
    HandshakeBench::new(library, server, scenario, Transport::HANDSHAKE_CAPACITY).unwrap()
}

fn server<L: TlsLibrary>(library: &L, scenario: &Scenario) -> L::ServerConfig {
    library
        .server_config(&Setup::server(scenario).unwrap())
        .unwrap_or_else(|error| panic!("{}: {error:#}", scenario.name()))
}

/// Every handshake that the library doesn't call missing negotiates what it claims, again and
/// again. Returns how many scenarios were missing.
pub fn every_handshake_negotiates_what_it_claims<L: TlsLibrary>(library: &L) -> usize {
    let mut missing = 0;
    for scenario in handshakes() {
        if library.unsupported(&scenario).is_some() {
            missing += 1;
            continue;
        }
        let server = server(library, &scenario);
        let stage = stage(library, &server, &scenario);
        let run = || {
            stage.prepare()?;
            (0..3).try_for_each(|_| stage.handshake(stage.resumes()).map(drop))
        };
        run().unwrap_or_else(|error| panic!("{}: {error:#}", scenario.name()));
    }
    missing
}

/// Every transfer arrives as it was sent, in records of the wanted size.
pub fn every_transfer_arrives<L: TlsLibrary>(library: &L) {
    for base in [handshake_12(), handshake_13()] {
        for suite in suites(base.protocol.unwrap(), Certificate::Rsa2048) {
            for (size, record_size) in [
                (16, None),
                (1000, None),
                (8192, None),
                (1 << 20, None),
                (8192, Some(1024)),
                (1 << 20, Some(4096)),
            ] {
                let scenario = Scenario {
                    operation: Operation::Transfer,
                    cipher_suite: Some(suite),
                    size: Some(size),
                    record_size,
                    ..base.clone()
                };
                // That it is missing is counted with the handshakes.
                if library.unsupported(&scenario).is_some() {
                    continue;
                }
                let mut batch = Batch::new(&scenario).unwrap();
                let server = server(library, &scenario);
                let stage =
                    HandshakeBench::new(library, &server, &scenario, batch.capacity()).unwrap();
                let mut pair = stage.handshake(false).unwrap();
                stage.transport.clear();
                for _ in 0..2 {
                    batch
                        .run(&mut pair)
                        .and_then(|_| batch.check(&stage.transport))
                        .unwrap_or_else(|error| panic!("{}: {error:#}", scenario.name()));
                }
            }
        }
    }
}

fn refused<T>(result: anyhow::Result<T>, expected: &str) {
    match result {
        Ok(_) => panic!("the driver did not notice: {expected}"),
        Err(error) => {
            let message = format!("{error:#}");
            assert!(
                message.contains(expected),
                "{message} does not say {expected}"
            );
        }
    }
}

/// The driver fails on a handshake that came to something else than the scenario says, and on one
/// that must not succeed.
pub fn what_is_wrong_is_noticed<L: TlsLibrary>(library: &L) {
    for scenario in [handshake_12(), handshake_13()] {
        handshake::prove_verification(library, &scenario).unwrap();
        let server_config = server(library, &scenario);

        let with_client = |change: fn(&mut Setup)| {
            let mut setup = Setup::client(&scenario).unwrap();
            change(&mut setup);
            let mut stage = stage(library, &server_config, &scenario);
            stage.client_config = library.client_config(&setup).unwrap();
            stage.handshake(false).map(drop)
        };
        with_client(|_| ()).unwrap();
        refused(
            with_client(|setup| {
                let other = tls_harness::certificates::authority(Certificate::EcdsaP256);
                setup.trusted = other.root;
            }),
            "client",
        );
        refused(
            with_client(|setup| setup.host_name = "other.example"),
            "client",
        );

        // Both roles are set up for something else than what is expected of them.
        let with_other = |change: &dyn Fn(&mut Scenario)| {
            let mut other = scenario.clone();
            change(&mut other);
            let server_config = server(library, &other);
            let mut stage = stage(library, &server_config, &scenario);
            let setup = Setup::client(&other).unwrap();
            stage.client_config = library.client_config(&setup).unwrap();
            stage.handshake(false).map(drop)
        };
        let other_suite = match scenario.protocol {
            Some(Protocol::Tls13) => CipherSuite::Aes128Gcm,
            _ => CipherSuite::EcdheRsaAes128Gcm,
        };
        let with_other_suite = Scenario {
            cipher_suite: Some(other_suite),
            ..scenario.clone()
        };
        if library.unsupported(&with_other_suite).is_none() {
            refused(
                with_other(&|other| other.cipher_suite = Some(other_suite)),
                "cipher suite: found",
            );
        }
        refused(
            with_other(&|other| other.key_exchange = Some(KeyExchange::Secp256r1)),
            "key exchange: found",
        );
        refused(
            with_other(&|other| other.resumption = Some(Resumption::Ticket)),
            match scenario.protocol {
                Some(Protocol::Tls13) => "bytes were sent that nobody read",
                _ => "tickets: found 1, expected 0",
            },
        );
        refused(
            with_other(&|other| {
                *other = match scenario.protocol {
                    Some(Protocol::Tls13) => handshake_12(),
                    _ => handshake_13(),
                }
            }),
            "protocol: found",
        );

        // No session is at hand, so nothing can be resumed.
        let resumed = Scenario {
            resumption: Some(Resumption::Ticket),
            ..scenario.clone()
        };
        let server_config = server(library, &resumed);
        refused(
            stage(library, &server_config, &resumed).handshake(true),
            "resumed: found false, expected true",
        );
    }
}

/// A session is resumed once: the second of two connections made from one ticket is a full one.
pub fn a_ticket_is_used_once<L: TlsLibrary>(library: &L) {
    let scenarios = [handshake_12(), handshake_13()].map(|base| Scenario {
        resumption: Some(Resumption::Ticket),
        ..base
    });
    let found = |scenario: &Scenario| library.unsupported(scenario).is_none();
    assert!(scenarios.iter().any(found), "no tickets at all");
    for scenario in scenarios.into_iter().filter(found) {
        let server = server(library, &scenario);
        let stage = stage(library, &server, &scenario);
        stage.prepare().unwrap();
        // This one takes the ticket away and never completes.
        drop(
            library
                .connect(&stage.client_config, &stage.transport.client)
                .unwrap(),
        );
        stage.handshake(false).unwrap();
        stage.handshake(true).unwrap();
    }
}

/// A server that resumes by id forgets the oldest session when it has as many as the set-up says;
/// "rough" is what rustls calls its capacity. One that leaves its cache to the application has none.
pub fn the_session_cache_holds_what_it_is_told<L: TlsLibrary>(library: &L) {
    let scenario = Scenario {
        key_exchange: None,
        resumption: Some(Resumption::SessionId),
        ..handshake_12()
    };
    let has_cache = library.unsupported(&scenario).is_none();
    for (others, is_kept) in [(4, has_cache), (16, false)] {
        let mut setup = Setup::server(&scenario).unwrap();
        setup.session_cache = 8;
        let server = library.server_config(&setup).unwrap();
        let first = stage(library, &server, &scenario);
        first.handshake(false).unwrap();
        for _ in 0..others {
            stage(library, &server, &scenario).handshake(false).unwrap();
        }
        if let Err(error) = first.handshake(is_kept) {
            panic!("after {others} other sessions in a cache of 8: {error:#}");
        }
    }
}

/// Construction and the reading of tickets are timed, each as a phase of its own, and with the
/// flights they are all that the rate is made of.
pub fn construction_and_tickets_are_phases<L: TlsLibrary>(library: &L) {
    let resumed = Scenario {
        resumption: Some(Resumption::Ticket),
        ..handshake_13()
    };
    for scenario in [handshake_12(), handshake_13(), resumed] {
        let resumes = scenario.resumption == Some(Resumption::Ticket);
        let records = measure::block(library, &request(scenario)).unwrap();
        let measured = records.iter().filter_map(|record| match record {
            Record::Measurement(measurement) => Some(measurement),
            _ => None,
        });
        for measurement in measured {
            let name = measurement.scenario.name();
            let microseconds: Vec<_> = measurement
                .observations
                .iter()
                .filter(|it| it.metric == Metric::Duration)
                .map(|it| (it.phase, it.value))
                .collect();
            assert_eq!(microseconds[0].0, Phase::Construction, "{name}");
            assert!(microseconds.iter().all(|it| it.1 > 0.0), "{name}");
            let reads = resumes && measurement.scenario.side == Some(Side::Client);
            let last = microseconds.last().unwrap().0;
            assert_eq!(last == Phase::Tickets, reads, "{name}: {last:?} is last");
            let sum: f64 = microseconds.iter().map(|it| it.1).sum();
            let total = 1e6 / measurement.observations[0].value;
            assert!((sum - total).abs() < 1e-6 * total, "{name}: {sum}, {total}");
        }
    }
}

/// What the program was built with is told: compilers, flags, linkage, allocator. Of a shared library
/// of the host, compiler and flags can't be.
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
            assert!(it.linkage.is_some());
        }
        found => {
            assert_eq!(found, (None, None));
            assert_eq!(it.linkage, Some(Linkage::Shared));
            assert!(it.source.is_some());
        }
    }
    let allocator = it.allocator.unwrap();
    let known = allocator == "system" || allocator.starts_with("jemalloc 5.");
    assert!(known, "{allocator}");
}

/// A program counts its connections' memory by the allocator that it names, and the harness is
/// little of it.
pub fn memory_is_counted_by_the_allocator_that_is_named(program: &str) {
    let scenario = Scenario {
        operation: Operation::Memory,
        variant: Some("sessions-100".into()),
        ..handshake_13()
    };
    let records = records_of(program, &request(scenario));
    let mut sides = 0;
    for record in &records {
        let Record::Measurement(measurement) = record else {
            continue;
        };
        let own = records.iter().find_map(|record| match record {
            Record::Overhead(it) if it.scenario == measurement.scenario => it.bytes,
            _ => None,
        });
        let name = measurement.scenario.name();
        let own = own.unwrap_or_else(|| panic!("{name}: what does the harness take?"));
        for observation in &measurement.observations {
            if (observation.metric, observation.phase) == (Metric::Allocated, Phase::Handshake) {
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
    assert_eq!(sides, 2);
}

/// The scenarios of the main report, as blocks of a suite.
fn main_report() -> Vec<Scenario> {
    let transfer = |base: Scenario, suite| Scenario {
        operation: Operation::Transfer,
        cipher_suite: Some(suite),
        size: Some(1 << 20),
        ..base
    };
    let ecdsa = |base: Scenario, suite| Scenario {
        cipher_suite: Some(suite),
        certificate: Some(Certificate::EcdsaP256),
        ..base
    };
    let hybrid = Scenario {
        key_exchange: Some(KeyExchange::X25519MlKem768),
        ..handshake_13()
    };
    let ticket = |base: Scenario, key_exchange| Scenario {
        resumption: Some(Resumption::Ticket),
        key_exchange,
        ..base
    };
    vec![
        transfer(handshake_12(), CipherSuite::EcdheRsaAes128Gcm),
        transfer(hybrid.clone(), CipherSuite::Aes256Gcm),
        handshake_12(),
        ecdsa(handshake_12(), CipherSuite::EcdheEcdsaAes256Gcm),
        hybrid.clone(),
        ecdsa(hybrid.clone(), CipherSuite::Aes256Gcm),
        ticket(handshake_12(), None),
        ticket(hybrid.clone(), hybrid.key_exchange),
    ]
}

fn request(scenario: Scenario) -> Request {
    Request {
        schema: Schema,
        round: 1,
        block: 0,
        implementation: "test-1.0".into(),
        scenario,
        measure_seconds: 0.01,
        warmup_seconds: 0.001,
        latency: false,
        pinned: false,
        throughput: false,
        counter: None,
    }
}

/// What the harness itself costs is at most 2 % of what is measured. Returns how often it is
/// recorded.
fn the_harness_costs_little(records: &[Record]) -> usize {
    let mut overheads = 0;
    for record in records {
        let Record::Overhead(overhead) = record else {
            continue;
        };
        let measured = records.iter().find_map(|record| match record {
            Record::Measurement(it) if it.scenario == overhead.scenario => Some(it),
            _ => None,
        });
        let measured = measured.unwrap();
        let nanoseconds = measured.elapsed_seconds.unwrap() * 1e9 / measured.operations as f64;
        let share = overhead.nanoseconds.unwrap() / nanoseconds;
        let name = overhead.scenario.name();
        assert!(
            overhead.clock_nanoseconds > 0.0,
            "{name}: the clock is free"
        );
        assert!(
            share <= 0.02,
            "{name}: {share:.4} of the time is the harness (are these tests run with --release?)"
        );
        overheads += 1;
    }
    overheads
}

/// The sixteen scenarios, two to a block: both sides are measured, or the block is absent with a
/// reason. Returns how many scenarios were measured.
pub fn the_main_report_is_measured<L: TlsLibrary>(library: &L) -> usize {
    let mut measured = 0;
    for scenario in main_report() {
        let records = measure::block(library, &request(scenario.clone()))
            .unwrap_or_else(|error| panic!("{}: {error:#}", scenario.name()));
        let sides = records
            .iter()
            .filter_map(|record| match record {
                Record::Measurement(measurement) => Some(measurement),
                _ => None,
            })
            .inspect(|measurement| {
                assert_eq!(
                    Some(measurement.scenario.clone()),
                    measurement.scenario.side.map(|side| scenario.on(side))
                );
                assert!(measurement.observations[0].value > 0.0);
            })
            .count();
        match records.last() {
            Some(Record::Block(block)) if block.status == Status::Absent => {
                assert!(block.reason.is_some());
                assert_eq!(sides, 0);
            }
            Some(Record::Block(block)) => {
                assert_eq!(block.status, Status::Measured);
                assert_eq!(sides, 2);
                assert_eq!(the_harness_costs_little(&records), 2);
            }
            other => panic!("the last record is no block mark: {other:?}"),
        }
        measured += sides;
    }
    measured
}

/// Several threads measure at once, each with a rate of its own.
pub fn threads_measure_at_once<L: TlsLibrary>(library: &L) {
    for resumption in [Resumption::None, Resumption::Ticket] {
        let scenario = Scenario {
            threads: Some(3),
            resumption: Some(resumption),
            ..handshake_13()
        };
        for record in measure::block(library, &request(scenario)).unwrap() {
            if let Record::Measurement(measurement) = record {
                let rates = measurement.per_thread.unwrap();
                assert_eq!(rates.len(), 3);
                let sum: f64 = rates.iter().sum();
                assert!((measurement.observations[0].value - sum).abs() < 1e-6 * sum);
            }
        }
    }
}

/// What the suite `primitives` measures.
const PRIMITIVES: [&str; 21] = [
    "aes-128-gcm-seal-16384",
    "aes-128-gcm-open-16384",
    "aes-128-gcm-seal-1350",
    "aes-128-gcm-open-1350",
    "aes-256-gcm-seal-16384",
    "aes-256-gcm-open-16384",
    "aes-256-gcm-seal-1350",
    "aes-256-gcm-open-1350",
    "chacha20-poly1305-seal-16384",
    "chacha20-poly1305-open-16384",
    "chacha20-poly1305-seal-1350",
    "chacha20-poly1305-open-1350",
    "rsa-2048-sign",
    "rsa-2048-verify",
    "ecdsa-p256-sign",
    "ecdsa-p256-verify",
    "x25519-generate",
    "x25519-agree",
    "ml-kem-768-generate",
    "ml-kem-768-encapsulate",
    "ml-kem-768-decapsulate",
];

/// Every primitive that the library doesn't call missing is what its name says, refuses what it
/// must, and is measured. Returns how many are missing.
pub fn every_primitive_is_right<L: TlsLibrary>(library: &L) -> usize {
    let mut missing = 0;
    for name in PRIMITIVES {
        let scenario = Scenario {
            variant: Some(name.into()),
            ..Scenario::new(Operation::Primitive)
        };
        let records = measure::block(library, &request(scenario.clone()))
            .unwrap_or_else(|error| panic!("{name}: {error:#}"));
        match &records[..] {
            [Record::Block(block)] => {
                assert_eq!(block.status, Status::Absent);
                assert!(block.reason.is_some());
                missing += 1;
            }
            [
                Record::Overhead(_),
                Record::Measurement(measurement),
                Record::Block(_),
            ] => {
                assert_eq!(measurement.scenario, scenario);
                let [observation] = &measurement.observations[..] else {
                    panic!("{name}: expected a rate alone");
                };
                let rate = measurement.operations as f64 / measurement.elapsed_seconds.unwrap();
                let expected = match name.rsplit_once('-') {
                    Some((_, "16384")) => rate * 16384.0 / 1024.0 / 1024.0,
                    Some((_, "1350")) => rate * 1350.0 / 1024.0 / 1024.0,
                    _ => rate,
                };
                assert!((observation.value / expected - 1.0).abs() < 1e-6, "{name}");
                assert_eq!(the_harness_costs_little(&records), 1);
            }
            other => panic!("{name}: {other:?}"),
        }
    }
    missing
}

/// What a program that was built answers to a request, as when the runner asks.
fn records_of(program: &str, request: &Request) -> Vec<Record> {
    let mut child = Command::new(program)
        .arg("measure")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    serde_json::to_writer(child.stdin.take().unwrap(), request).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The measurements among them, of a block that was measured.
fn measured_by(program: &str, request: &Request) -> Vec<Measurement> {
    let mut records = records_of(program, request);
    match records.pop() {
        Some(Record::Block(block)) => assert_eq!(block.status, Status::Measured),
        other => panic!("the last record is no block mark: {other:?}"),
    }
    let measurements = records.into_iter().filter_map(|record| match record {
        Record::Measurement(measurement) => Some(measurement),
        _ => None,
    });
    measurements.collect()
}

fn histogram(measurement: &Measurement) -> Histogram<u64> {
    let text = measurement.histogram.as_ref().unwrap();
    let bytes = BASE64_STANDARD.decode(text).unwrap();
    Deserializer::new().deserialize(&mut &*bytes).unwrap()
}

/// Three threads at once: each has its rate, every handshake is in the histogram of both sides, and
/// the wall clock has seen no more of them than the roles have.
pub fn threads_and_latencies_are_those_of_every_handshake(program: &str) {
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
    assert_eq!(sides, [Some(Side::Client), Some(Side::Server), None]);
    for measurement in &measured {
        let rates = measurement.per_thread.as_ref().unwrap();
        assert_eq!(rates.len(), 3);
        assert!(rates.iter().all(|rate| *rate > 0.0), "{rates:?}");
        assert_eq!(measurement.operations, measured[0].operations);
    }
    for side in &measured[..2] {
        let histogram = histogram(side);
        assert_eq!(histogram.len(), side.operations);
        let percentiles: Vec<&Observation> = side
            .observations
            .iter()
            .filter(|it| it.statistic != Statistic::Value)
            .collect();
        assert_eq!(percentiles.len(), 6);
        assert!(percentiles.is_sorted_by(|a, b| a.value <= b.value));
        let largest = percentiles[5].value;
        assert!((largest / (histogram.max() as f64 / 1e3) - 1.0).abs() < 2e-3);
        assert!(measured[2].observations[0].value < side.observations[0].value);
    }
    let wall = &measured[2];
    let rate = wall.operations as f64 / wall.elapsed_seconds.unwrap();
    assert!((wall.observations[0].value / rate - 1.0).abs() < 1e-9);
    assert!(wall.elapsed_seconds.unwrap() >= request.measure_seconds);
}

/// Bytes per connection between 100 and 300 sessions in fresh processes, client and server apart:
/// of a plausible order, and not less after data than before.
pub fn memory_grows_with_the_sessions(program: &str) {
    let held = |sessions: u32| {
        measured_by(
            program,
            &request(Scenario {
                operation: Operation::Memory,
                certificate: Some(Certificate::EcdsaP256),
                variant: Some(format!("sessions-{sessions}")),
                ..handshake_13()
            }),
        )
    };
    let (few, many) = (held(100), held(300));
    for (side, at) in [(Side::Client, 0), (Side::Server, 1)] {
        let slope = |metric, phase| {
            let bytes = |measured: &[Measurement]| {
                assert_eq!(measured[at].scenario.side, Some(side));
                let mut all = measured[at].observations.iter();
                let found = all.find(|it| (it.metric, it.phase) == (metric, phase));
                found.unwrap().value
            };
            (bytes(&many) - bytes(&few)) / 200.0
        };
        for metric in [Metric::Allocated, Metric::Resident] {
            let moments = [Phase::Construction, Phase::Handshake, Phase::Data];
            let [made, shaken, used] = moments.map(|moment| slope(metric, moment));
            let told = format!("{side}, {metric:?}: {made}, {shaken}, {used} bytes");
            for bytes in [made, shaken, used] {
                assert!((500.0..200_000.0).contains(&bytes), "{told}");
            }
            // The kernel counts whole pages, and takes some of them back by itself.
            let by_chance = match metric {
                Metric::Resident => 64.0 * 4096.0 / 200.0,
                _ => 0.0,
            };
            assert!(shaken <= 1.1 * used + by_chance, "{told}");
            if side == Side::Client {
                assert!(made < shaken, "{told}");
            }
        }
    }
}

/// A ClientHello has the key shares that it is asked for, by its size: 32 bytes for X25519, and
/// 1216 for X25519MLKEM768 (draft-ietf-tls-ecdhe-mlkem, 3.1.1).
pub fn client_hellos_carry_their_key_shares<L: TlsLibrary>(library: &L, program: &str) {
    let hello = |variant: &str| Scenario {
        operation: Operation::ClientHello,
        key_exchange: None,
        variant: Some(variant.into()),
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
    // OpenSSL offers formats of points, 6 bytes, if there is a group that is a curve alone.
    const FORMATS: usize = 6;
    let (more, told) = (1216 - 32, format!("{one}, {hybrid}, {both} bytes"));
    assert!((more - FORMATS..=more).contains(&(hybrid - one)), "{told}");
    // Number and length of the share, the share, and the number in the list of groups.
    let more = 4 + 32 + 2;
    assert!((more..=more + FORMATS).contains(&(both - hybrid)), "{told}");
    for variant in ["X25519", "X25519MLKEM768", "X25519MLKEM768+X25519"] {
        let measured = measured_by(program, &request(hello(variant)));
        assert_eq!(measured.len(), 1);
        assert!(measured[0].observations.iter().all(|it| it.value > 0.0));
    }
}
