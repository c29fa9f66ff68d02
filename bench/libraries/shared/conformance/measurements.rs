//! Each block is measured, or absent if the library does not support its scenario.

use tls_harness::{
    block,
    library::TlsLibrary,
    record::{Measurement, Metric, Phase, Record, Schema, Status},
    request::Request,
    scenario::{Resumption, Scenario, Side},
};

use super::{
    good,
    scenarios::{handshake_12, handshake_13, main_report, primitives},
};

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
        let mut all = measurements(records);
        let measured = all.find(|it| it.scenario == overhead.scenario).unwrap();
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

/// The records of a block; a panic names the scenario.
pub fn records<L: TlsLibrary>(library: &L, scenario: &Scenario) -> Vec<Record> {
    good(
        block::measure(library, &request(scenario.clone())),
        scenario,
    )
}

pub fn measurements(records: &[Record]) -> impl Iterator<Item = &Measurement> {
    records.iter().filter_map(|record| match record {
        Record::Measurement(measurement) => Some(measurement),
        _ => None,
    })
}

/// What a block measured. None if the library does not support its scenario, and the block says so.
pub fn of_block<'a, L: TlsLibrary>(
    library: &L,
    scenario: &Scenario,
    records: &'a [Record],
) -> Option<Vec<&'a Measurement>> {
    let name = scenario.name();
    let Some(Record::Block(block)) = records.last() else {
        panic!("{name}: the last record is not a block mark");
    };
    let reason = library.unsupported(scenario);
    let expected = match reason {
        Some(_) => Status::Absent,
        None => Status::Measured,
    };
    assert_eq!(block.status, expected, "{name}: {:?}", block.reason);
    assert_eq!(block.reason, reason, "{name}: the reason of `unsupported`");
    let measured: Vec<_> = measurements(records).collect();
    assert_eq!(
        measured.is_empty(),
        reason.is_some(),
        "{name}: {measured:?}"
    );
    reason.is_none().then_some(measured)
}

/// A rate is all that was measured: that of the operations, each of this amount.
pub fn has_a_rate_alone(measurement: &Measurement, amount: f64) {
    let name = measurement.scenario.name();
    let [rate] = &measurement.observations[..] else {
        panic!("{name}: expected a rate alone");
    };
    assert_eq!(rate.metric, Metric::RATE, "{name}");
    let operations = measurement.operations as f64;
    let expected = operations * amount / measurement.elapsed_seconds.unwrap();
    assert!(
        (rate.value / expected - 1.0).abs() < 1e-6,
        "{name}: found {} {}, expected {expected}",
        rate.value,
        rate.unit
    );
}

/// Each of the sixteen main scenarios is measured on both sides, or its block is absent with a
/// reason if the library does not support it.
pub fn the_main_report_is_measured<L: TlsLibrary>(library: &L) {
    for scenario in main_report() {
        let records = records(library, &scenario);
        let Some(sides) = of_block(library, &scenario, &records) else {
            continue;
        };
        let name = scenario.name();
        assert_eq!(sides.len(), 2, "{name}: sides that were measured");
        for measured in sides {
            let side = measured.scenario.side;
            assert!(side.is_some(), "{name}: no side");
            assert_eq!(
                measured.scenario,
                scenario.on(side),
                "{name}: the measured scenario"
            );
            assert!(measured.observations[0].value > 0.0, "{name}: a rate of 0");
        }
        let overheads = the_harness_costs_at_most(0.02, &records);
        assert_eq!(overheads, 2, "{name}: records of the harness' own cost");
    }
}

pub fn threads_measure_at_once<L: TlsLibrary>(library: &L) {
    for resumption in [Resumption::None, Resumption::Ticket] {
        let scenario = Scenario {
            threads: Some(3),
            resumption: Some(resumption),
            ..handshake_13()
        };
        for measurement in measurements(&records(library, &scenario)) {
            let name = measurement.scenario.name();
            let rates = measurement.per_thread.as_ref().unwrap();
            assert_eq!(rates.len(), 3, "{name}: rates of 3 threads");
            let (sum, total) = (rates.iter().sum::<f64>(), measurement.observations[0].value);
            assert!(
                (total - sum).abs() < 1e-6 * sum,
                "{name}: found a total of {total}, expected {sum}, the sum of {rates:?}"
            );
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
        for measurement in measurements(&records(library, &scenario)) {
            let name = measurement.scenario.name();
            let observations = measurement.observations.iter();
            let phases = observations.filter(|it| it.metric == Metric::DURATION);
            let microseconds: Vec<_> = phases.map(|it| (it.phase, it.value)).collect();
            let first = microseconds[0].0;
            assert_eq!(first, Phase::Construction, "{name}: the first phase");
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
        let records = records(library, &scenario);
        let Some(measured) = of_block(library, &scenario, &records) else {
            continue;
        };
        let name = scenario.name();
        let [measurement] = measured[..] else {
            panic!("{name}: {measured:?}");
        };
        assert_eq!(
            measurement.scenario, scenario,
            "{name}: the measured scenario"
        );
        let bytes = scenario.primitive().unwrap().bytes();
        let mebibytes = bytes.map(|it| f64::from(it) / 1024.0 / 1024.0);
        has_a_rate_alone(measurement, mebibytes.unwrap_or(1.0));
        let overheads = the_harness_costs_at_most(0.02, &records);
        assert_eq!(overheads, 1, "{name}: records of the harness' own cost");
    }
}
