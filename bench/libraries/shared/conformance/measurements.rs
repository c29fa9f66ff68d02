//! Each block is measured, or absent if the library does not support its scenario.

use tls_harness::{
    block,
    library::TlsLibrary,
    record::{Metric, Phase, Record, Schema, Status},
    request::Request,
    scenario::{Resumption, Scenario, Side},
};

use super::scenarios::{handshake_12, handshake_13, main_report, primitives};

pub fn request(scenario: Scenario) -> Request {
    Request {
        schema: Schema,
        session: 1,
        round: 1,
        layout: 0,
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

/// Checks that the harness takes at most this share of each measured time. Returns the number of
/// overhead records.
pub fn the_harness_costs_at_most(most: f64, records: &[Record]) -> usize {
    // Without optimization the harness takes many times as long as in a program that measures.
    let most = if cfg!(debug_assertions) { 0.8 } else { most };
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
            "{name}: a clock read costs no time"
        );
        assert!(
            share <= most,
            "{name}: {share:.4} of the time is spent in the harness"
        );
        overheads += 1;
    }
    overheads
}

/// Each of the sixteen main scenarios is measured on both sides, or its block is absent with a
/// reason if the library does not support it.
pub fn the_main_report_is_measured<L: TlsLibrary>(library: &L) {
    for scenario in main_report() {
        let records = block::measure(library, &request(scenario.clone()))
            .unwrap_or_else(|error| panic!("{}: {error:#}", scenario.name()));
        let sides = records
            .iter()
            .filter_map(|record| match record {
                Record::Measurement(measurement) => Some(measurement),
                _ => None,
            })
            .inspect(|measurement| {
                let name = measurement.scenario.name();
                let expected = measurement.scenario.side.map(|side| scenario.on(side));
                assert_eq!(
                    Some(measurement.scenario.clone()),
                    expected,
                    "{name}: the measured scenario and the requested one"
                );
                assert!(
                    measurement.observations[0].value > 0.0,
                    "{name}: a rate of 0"
                );
            })
            .count();
        match (records.last(), library.unsupported(&scenario)) {
            (Some(Record::Block(block)), Some(reason)) => {
                let name = scenario.name();
                assert_eq!(block.status, Status::Absent, "{name}: status of the block");
                assert_eq!(
                    block.reason,
                    Some(reason),
                    "{name}: the reason of `unsupported`"
                );
                assert_eq!(sides, 0, "{name}: sides that were measured");
            }
            (Some(Record::Block(block)), None) => {
                let name = scenario.name();
                assert_eq!(
                    block.status,
                    Status::Measured,
                    "{name}: status of the block"
                );
                assert_eq!(sides, 2, "{name}: sides that were measured");
                let overheads = the_harness_costs_at_most(0.02, &records);
                assert_eq!(overheads, 2, "{name}: records of the harness' own cost");
            }
            (other, _) => panic!("the last record is not a block mark: {other:?}"),
        }
    }
}

/// The records of a block; a panic names the scenario.
fn measured<L: TlsLibrary>(library: &L, scenario: Scenario) -> Vec<Record> {
    let name = scenario.name();
    block::measure(library, &request(scenario)).unwrap_or_else(|error| panic!("{name}: {error:#}"))
}

pub fn threads_measure_at_once<L: TlsLibrary>(library: &L) {
    for resumption in [Resumption::None, Resumption::Ticket] {
        let scenario = Scenario {
            threads: Some(3),
            resumption: Some(resumption),
            ..handshake_13()
        };
        for record in measured(library, scenario) {
            if let Record::Measurement(measurement) = record {
                let name = measurement.scenario.name();
                let rates = measurement.per_thread.unwrap();
                assert_eq!(rates.len(), 3, "{name}: rates of 3 threads");
                let (sum, total) = (rates.iter().sum::<f64>(), measurement.observations[0].value);
                assert!(
                    (total - sum).abs() < 1e-6 * sum,
                    "{name}: found a total of {total}, expected {sum}, the sum of {rates:?}"
                );
            }
        }
    }
}

/// Construction and the processing of tickets are timed as separate phases; together with the
/// flights they add up to the time that the rate is computed from.
pub fn construction_and_tickets_are_phases<L: TlsLibrary>(library: &L) {
    let resumed = Scenario {
        resumption: Some(Resumption::Ticket),
        ..handshake_13()
    };
    for scenario in [handshake_12(), handshake_13(), resumed] {
        let resumes = scenario.resumption == Some(Resumption::Ticket);
        let records = measured(library, scenario);
        let measured = records.iter().filter_map(|record| match record {
            Record::Measurement(measurement) => Some(measurement),
            _ => None,
        });
        for measurement in measured {
            let name = measurement.scenario.name();
            let microseconds: Vec<_> = measurement
                .observations
                .iter()
                .filter(|it| it.metric == Metric::DURATION)
                .map(|it| (it.phase, it.value))
                .collect();
            assert_eq!(
                microseconds[0].0,
                Phase::Construction,
                "{name}: the first phase"
            );
            assert!(
                microseconds.iter().all(|it| it.1 > 0.0),
                "{name}: a phase without time in {microseconds:?}"
            );
            let reads = resumes && measurement.scenario.side == Some(Side::Client);
            let last = microseconds.last().unwrap().0;
            assert_eq!(last == Phase::Tickets, reads, "{name}: {last:?} is last");
            let sum: f64 = microseconds.iter().map(|it| it.1).sum();
            let total = 1e6 / measurement.observations[0].value;
            assert!((sum - total).abs() < 1e-6 * total, "{name}: {sum}, {total}");
        }
    }
}

/// Every supported primitive computes what its name says, rejects invalid input, and is measured.
pub fn every_primitive_is_right<L: TlsLibrary>(library: &L) {
    for scenario in primitives() {
        let name = scenario.variant.as_ref().unwrap().to_string();
        let records = block::measure(library, &request(scenario.clone()))
            .unwrap_or_else(|error| panic!("{name}: {error:#}"));
        match (&records[..], library.unsupported(&scenario)) {
            ([Record::Block(block)], Some(reason)) => {
                assert_eq!(block.status, Status::Absent, "{name}: status of the block");
                assert_eq!(
                    block.reason,
                    Some(reason),
                    "{name}: the reason of `unsupported`"
                );
            }
            (
                [
                    Record::Overhead(_),
                    Record::Measurement(measurement),
                    Record::Block(_),
                ],
                None,
            ) => {
                assert_eq!(
                    measurement.scenario, scenario,
                    "{name}: the measured scenario"
                );
                let [observation] = &measurement.observations[..] else {
                    panic!("{name}: expected a rate alone");
                };
                let rate = measurement.operations as f64 / measurement.elapsed_seconds.unwrap();
                let expected = match name.rsplit_once('-') {
                    Some((_, "16384")) => rate * 16384.0 / 1024.0 / 1024.0,
                    Some((_, "1350")) => rate * 1350.0 / 1024.0 / 1024.0,
                    _ => rate,
                };
                let found = observation.value;
                assert!(
                    (found / expected - 1.0).abs() < 1e-6,
                    "{name}: found a rate of {found}, expected {expected}"
                );
                let overheads = the_harness_costs_at_most(0.02, &records);
                assert_eq!(overheads, 1, "{name}: records of the harness' own cost");
            }
            other => panic!("{name}: {other:?}"),
        }
    }
}
