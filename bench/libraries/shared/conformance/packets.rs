//! Packets of QUIC are protected as RFC 9001 states, or their blocks are absent with a reason.

use tls_harness::{library::TlsLibrary, record::Unit, scenario::Side};

use super::{
    measurements::{has_a_rate_alone, of_block, records, the_harness_costs_at_most},
    scenarios::packets,
};

/// Every supported block has a rate of sealing and one of opening.
pub fn every_packet_is_protected<L: TlsLibrary>(library: &L) {
    for scenario in packets() {
        let name = scenario.name();
        let records = records(library, &scenario);
        let Some(measured) = of_block(library, &scenario, &records) else {
            continue;
        };
        for measurement in &measured {
            has_a_rate_alone(measurement, 1.0);
            let unit = measurement.observations[0].unit;
            assert_eq!(unit, Unit::PACKETS_PER_SECOND, "{name}");
        }
        let sides: Vec<_> = measured.iter().map(|it| it.scenario.side).collect();
        assert_eq!(sides, [Some(Side::Sender), Some(Side::Receiver)], "{name}");
        // In 2026-11-24-quic-vm the harness took up to 2.9%: a packet takes a quarter of a microsecond.
        let overheads = the_harness_costs_at_most(0.06, &records);
        assert_eq!(overheads, 2, "{name}: records of the harness' own cost");
    }
}
