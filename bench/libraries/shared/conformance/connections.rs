//! Connections over sockets, between two processes of a built program.

use tls_harness::{
    library::TlsLibrary,
    record::{Measurement, Metric, Phase, Record},
    scenario::{Resumption, Scenario, Side},
};

use super::{
    measurements::{has_a_rate_alone, of_block, request},
    programs::records_of,
    scenarios::connections,
};

/// A connection takes more than this: two processes exchange at least six segments.
const LEAST_MICROSECONDS: f64 = 10.0;

/// Every supported connection is measured on both sides: handshake, a byte in each direction, and a
/// close on which both agree. Without TLS a full one takes less; a resumed one may not, while other
/// tests run.
pub fn connections_over_sockets_are_measured_on_both_sides<L: TlsLibrary>(
    library: &L,
    program: &str,
) {
    for scenario in connections() {
        let records = records_of(program, &request(scenario.clone()));
        let name = scenario.name();
        let is_full = scenario.resumption == Some(Resumption::None);
        let Some(all) = of_block(library, &scenario, &records) else {
            continue;
        };
        let measured = |side| -> &Measurement {
            let expected = scenario.on(side);
            let found = all.iter().find(|it| it.scenario == expected);
            found.unwrap_or_else(|| panic!("{name}: no measurement of {side:?}"))
        };
        let (client, server, both) = (
            measured(Some(Side::Client)),
            measured(Some(Side::Server)),
            measured(None),
        );
        for side in [client, server] {
            let of = side.scenario.name();
            let time = |phase| {
                let mut all = side.observations.iter();
                let found = all.find(|it| (it.metric, it.phase) == (Metric::PROCESSOR_TIME, phase));
                found.unwrap_or_else(|| panic!("{of}: no {phase:?}")).value
            };
            let [total, user, system] = [Phase::Total, Phase::User, Phase::System].map(time);
            assert!(
                (total - user - system).abs() < 1e-6 * total,
                "{of}: {total} µs, expected the sum of {user} and {system}"
            );
            assert_eq!(side.operations, both.operations, "{of}: connections");
            let without_tls = without_tls(&records, &side.scenario);
            assert!(
                LEAST_MICROSECONDS < without_tls && (!is_full || without_tls < total),
                "{of}: {without_tls} µs without TLS, {total} µs with it"
            );
        }
        has_a_rate_alone(both, 1.0);
    }
}

/// Processor time of a side's connections with the no-op library, in microseconds.
fn without_tls(records: &[Record], scenario: &Scenario) -> f64 {
    let found = records.iter().find_map(|record| match record {
        Record::Overhead(it) if it.scenario == *scenario => it.nanoseconds,
        _ => None,
    });
    found.unwrap_or_else(|| panic!("{}: no overhead record", scenario.name())) / 1e3
}
