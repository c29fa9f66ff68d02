//! Packets of QUIC are protected as RFC 9001 states, or their blocks are absent with a reason.

use tls_harness::{
    block,
    library::TlsLibrary,
    record::{Record, Status, Unit},
    scenario::Side,
};

use super::{
    measurements::{request, the_harness_costs_at_most},
    scenarios::packets,
};

/// Every supported block has a rate of sealing and one of opening.
pub fn every_packet_is_protected<L: TlsLibrary>(library: &L) {
    for scenario in packets() {
        let name = scenario.name();
        let records = block::measure(library, &request(scenario.clone()))
            .unwrap_or_else(|error| panic!("{name}: {error:#}"));
        if let ([Record::Block(block)], Some(reason)) =
            (&records[..], library.unsupported(&scenario))
        {
            assert_eq!(block.status, Status::Absent, "{name}: status of the block");
            assert_eq!(block.reason, Some(reason), "{name}: the reason");
            continue;
        }
        let mut sides = Vec::new();
        for record in &records {
            let Record::Measurement(measurement) = record else {
                continue;
            };
            let [observation] = &measurement.observations[..] else {
                panic!("{name}: expected a rate alone");
            };
            let expected = measurement.operations as f64 / measurement.elapsed_seconds.unwrap();
            assert!(
                (observation.value / expected - 1.0).abs() < 1e-6,
                "{name}: found {}, expected {expected} packets/s",
                observation.value
            );
            assert_eq!(observation.unit, Unit::PACKETS_PER_SECOND, "{name}");
            sides.push(measurement.scenario.side);
        }
        assert_eq!(sides, [Some(Side::Sender), Some(Side::Receiver)], "{name}");
        // In 2026-11-24-quic-vm the harness took up to 2.9%: a packet takes a quarter of a microsecond.
        let overheads = the_harness_costs_at_most(0.06, &records);
        assert_eq!(overheads, 2, "{name}: records of the harness' own cost");
    }
}
