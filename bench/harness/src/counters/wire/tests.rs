//! What is counted of recordings made by hand.

use super::*;

const CLIENT: Side = Side::Client;
const SERVER: Side = Side::Server;

fn turn(side: Side, phase: Phase) -> (Side, Action) {
    (side, Action::Turn(phase))
}

fn write(side: Side, bytes: usize) -> (Side, Action) {
    // One record of application data.
    let length = (bytes - 5).to_be_bytes();
    let mut record = vec![23, 3, 3, length[6], length[7]];
    record.resize(bytes, 0);
    (side, Action::Write(record))
}

fn read(side: Side) -> (Side, Action) {
    (side, Action::Read(5))
}

/// As in TLS 1.3 with a ticket.
fn actions() -> Vec<(Side, Action)> {
    vec![
        turn(CLIENT, Phase::Flight1),
        write(CLIENT, 200),
        read(CLIENT),
        turn(SERVER, Phase::Flight1),
        read(SERVER),
        read(SERVER),
        write(SERVER, 100),
        write(SERVER, 1361),
        turn(CLIENT, Phase::Flight2),
        read(CLIENT),
        read(CLIENT),
        read(CLIENT),
        write(CLIENT, 60),
        turn(SERVER, Phase::Flight2),
        read(SERVER),
        write(SERVER, 80),
        turn(CLIENT, Phase::Tickets),
        read(CLIENT),
    ]
}

fn figures(side: Side) -> Vec<(Phase, String, f64)> {
    let mut samples = Samples::default();
    handshake(&actions(), Protocol::Tls13, side, &mut samples).unwrap();
    let found = samples.observations().into_iter();
    found
        .filter(|it| it.statistic == Statistic::Value)
        .map(|it| (it.phase, it.metric.to_string(), it.value))
        .collect()
}

#[test]
fn a_flight_ends_where_the_other_side_answers() {
    let lengths: Vec<_> = flights(&actions())
        .iter()
        .map(|(side, bytes)| (*side, bytes.len()))
        .collect();
    let expected = [(CLIENT, 200), (SERVER, 1461), (CLIENT, 60), (SERVER, 80)];
    assert_eq!(lengths, expected);
}

#[test]
fn each_phase_has_its_figures() {
    let of_sides = [figures(CLIENT), figures(SERVER)];
    for (side, phase, metric, value) in [
        (SERVER, Phase::Flight1, "wire-bytes", 1461.0),
        (SERVER, Phase::Flight1, "wire-records", 2.0),
        (SERVER, Phase::Flight1, "wire-segments", 2.0),
        (SERVER, Phase::Flight1, "wire-messages", 0.0),
        (SERVER, Phase::Flight2, "wire-bytes", 80.0),
        (SERVER, Phase::Total, "wire-bytes", 1541.0),
        (SERVER, Phase::Total, "wire-segments", 3.0),
        (SERVER, Phase::Total, "round-trips", 1.5),
        (CLIENT, Phase::Flight1, "transport-reads", 1.0),
        (CLIENT, Phase::Flight2, "transport-reads", 3.0),
        (CLIENT, Phase::Flight2, "transport-writes", 1.0),
        (CLIENT, Phase::Tickets, "transport-reads", 1.0),
        (CLIENT, Phase::Tickets, "transport-writes", 0.0),
        (CLIENT, Phase::Total, "transport-reads", 5.0),
        (CLIENT, Phase::Total, "transport-writes", 2.0),
        (CLIENT, Phase::Total, "round-trips", 1.0),
    ] {
        let found = &of_sides[usize::from(side == SERVER)];
        let expected = (phase, metric.to_owned(), value);
        assert!(
            found.contains(&expected),
            "{side}: {expected:?} in {found:?}"
        );
    }
}

#[test]
fn a_range_has_the_smallest_and_the_largest_value() {
    let mut samples = Samples::default();
    for value in [71.0, 70.0, 72.0, 70.0] {
        samples.add(Phase::Total, BYTES, Unit::BYTES, value);
        samples.add(Phase::Flight1, BYTES, Unit::BYTES, value);
    }
    let found: Vec<_> = samples
        .observations()
        .iter()
        .map(|it| (it.phase, it.statistic, it.value))
        .collect();
    let expected = [
        (Phase::Total, Statistic::Value, 70.0),
        (Phase::Total, Statistic::Min, 70.0),
        (Phase::Total, Statistic::Max, 72.0),
        (Phase::Flight1, Statistic::Value, 70.0),
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_call_for_a_flight_or_for_tickets_begins_a_phase() {
    let recording = Recording::default();
    for (call, phase) in [
        (Call::Open, None),
        (Call::Flight(0), Some(Phase::Flight1)),
        (Call::Flight(1), Some(Phase::Flight2)),
        (Call::Tickets, Some(Phase::Tickets)),
        (Call::Data, None),
    ] {
        recording.call(Some(CLIENT), call, || ());
        let expected = phase.map(|phase| turn(CLIENT, phase));
        assert_eq!(recording.take(), Vec::from_iter(expected), "{phase:?}");
    }
}
