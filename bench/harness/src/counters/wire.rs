//! What each side sends, and the calls of the transport by which the library reads and sends it.
//!
//! The transport is the harness' own and records each call, so the counts are exact. They come
//! from several handshakes, since the length of signatures varies.

use std::sync::Arc;

use anyhow::{Context, Result};

use crate::{
    library::{
        Connection, Setup, TlsLibrary,
        watched::{Call, Watch, Watched},
    },
    record::{Measurement, Metric, Observation, Phase, Statistic, Unit},
    request::Request,
    scenario::{Operation, Protocol, Scenario, Side},
    session::{self, FLIGHTS, HandshakeBench},
    transport::{Action, Endpoint, Recording, Transport},
    wire,
    workloads::{self, workload::Work},
};

/// Handshakes or batches of a round.
const STEPS: usize = 20;

/// Bytes of a segment of TCP: an Ethernet frame of 1,500 without the headers of IPv4 and TCP.
const SEGMENT: usize = 1460;

const BYTES: Metric = Metric::new("wire-bytes");
const RECORDS: Metric = Metric::new("wire-records");
const MESSAGES: Metric = Metric::new("wire-messages");
const SEGMENTS: Metric = Metric::new("wire-segments");
const KEY_SHARE: Metric = Metric::new("key-share");
const ROUND_TRIPS: Metric = Metric::new("round-trips");
const OVERHEAD: Metric = Metric::new("wire-overhead");
const READS: Metric = Metric::new("transport-reads");
const WRITES: Metric = Metric::new("transport-writes");
const READ_SIZE: Metric = Metric::new("read-size");
const WRITE_SIZE: Metric = Metric::new("write-size");

const ALL: [Metric; 11] = [
    BYTES,
    RECORDS,
    MESSAGES,
    SEGMENTS,
    KEY_SHARE,
    ROUND_TRIPS,
    OVERHEAD,
    READS,
    WRITES,
    READ_SIZE,
    WRITE_SIZE,
];

/// Metrics whose whole is recorded with the smallest and the largest value.
const RANGES: [Metric; 3] = [BYTES, READ_SIZE, WRITE_SIZE];

/// Whether a metric is one of these.
pub fn counts(metric: Metric) -> bool {
    ALL.contains(&metric)
}

/// Why nothing is counted for a request, if so.
pub fn unsupported(request: &Request) -> Option<String> {
    let Scenario {
        operation, threads, ..
    } = request.scenario;
    match operation {
        Operation::Handshake | Operation::Transfer => {}
        other => return Some(format!("the wire is not counted in {other} scenarios")),
    }
    if threads.unwrap_or(1) != 1 {
        return Some("the wire is counted on one thread".into());
    }
    request
        .latency
        .then(|| "counts of the wire have no latency".into())
}

impl Watch for Recording {
    fn opens(self: &Arc<Self>, side: Side, endpoint: &Endpoint) {
        endpoint.record(side, self);
    }

    /// Records that the driver calls the library for the next flight.
    fn call<R>(&self, side: Option<Side>, call: Call, make: impl FnOnce() -> R) -> R {
        let phase = match call {
            Call::Flight(number) => FLIGHTS.get(number).copied(),
            Call::Tickets => Some(Phase::Tickets),
            Call::Make | Call::Free | Call::Open | Call::Data => None,
        };
        if let (Some(side), Some(phase)) = (side, phase) {
            self.add(side, Action::Turn(phase));
        }
        make()
    }
}

type Recorded<'l, L> = Watched<'l, L, Recording>;

/// The figures of one role.
pub fn measure_side<L: TlsLibrary>(
    library: &L,
    request: &Request,
    side: Option<Side>,
) -> Result<Measurement> {
    let recorded = Watched {
        library,
        watch: Arc::default(),
    };
    let side = side.context("a scenario without sides has no wire")?;
    let scenario = &request.scenario;
    let mut samples = Samples::default();
    let operations = match scenario.operation {
        Operation::Handshake => handshakes(&recorded, scenario, side, &mut samples)?,
        _ => transfers(&recorded, scenario, side, &mut samples)?,
    };
    Ok(request.measurement(Some(side), operations, None, samples.observations()))
}

/// Counts handshakes, and after each a byte in both directions.
fn handshakes<L: TlsLibrary>(
    library: &Recorded<'_, L>,
    scenario: &Scenario,
    side: Side,
    samples: &mut Samples,
) -> Result<u64> {
    session::prove_verification(library, scenario)?;
    let server = library.server_config(&Setup::server(scenario)?)?;
    let capacity = Transport::HANDSHAKE_CAPACITY;
    let bench = HandshakeBench::new(library, &server, scenario, capacity)?;
    bench.prepare()?;
    let protocol = scenario.protocol.context("a handshake without protocol")?;
    for _ in 0..STEPS {
        library.watch.take();
        let mut pair = bench.handshake(bench.resumes())?;
        handshake(&library.watch.take(), protocol, side, samples)?;
        pair.client.send(&[1])?;
        pair.server.receive(&mut [0])?;
        pair.server.send(&[1])?;
        pair.client.receive(&mut [0])?;
        calls(&library.watch.take(), side).add(Phase::Data, CALLS_OF_HANDSHAKE, 1.0, samples);
    }
    Ok(STEPS as u64)
}

const CALLS_OF_HANDSHAKE: [Unit; 2] = [Unit::new("reads/handshake"), Unit::new("writes/handshake")];
const CALLS_OF_MEBIBYTE: [Unit; 2] = [Unit::new("reads/MiB"), Unit::new("writes/MiB")];

/// Adds the figures of one handshake.
fn handshake(
    actions: &[(Side, Action)],
    protocol: Protocol,
    side: Side,
    samples: &mut Samples,
) -> Result<()> {
    let sent: Vec<_> = flights(actions)
        .into_iter()
        .filter_map(|(from, bytes)| (from == side).then_some(bytes))
        .collect();
    let mut whole = [0; 4];
    let mut key_shares = 0;
    for (phase, flight) in FLIGHTS.iter().zip(wire::flights(protocol, &sent)?) {
        let found = [
            flight.bytes,
            flight.records,
            flight.messages,
            flight.bytes.div_ceil(SEGMENT),
        ];
        of_wire(*phase, found, samples);
        whole.iter_mut().zip(found).for_each(|(sum, it)| *sum += it);
        key_shares += flight.key_shares;
    }
    of_wire(Phase::Total, whole, samples);
    let mut total = |metric, unit, value| samples.add(Phase::Total, metric, unit, value);
    if protocol == Protocol::Tls13 {
        total(KEY_SHARE, Unit::BYTES, key_shares as f64);
    }
    let trips = round_trips(actions, side)?;
    total(ROUND_TRIPS, Unit::new("round trips"), trips);
    let whole = calls(actions, side);
    whole.add(Phase::Total, CALLS_OF_HANDSHAKE, 1.0, samples);
    whole.add_sizes(samples);
    for (phase, turn) in turns(actions, side) {
        calls(turn, side).add(phase, CALLS_OF_HANDSHAKE, 1.0, samples);
    }
    Ok(())
}

fn of_wire(phase: Phase, found: [usize; 4], samples: &mut Samples) {
    let metrics = [
        (BYTES, Unit::new("bytes/handshake")),
        (RECORDS, Unit::new("records/handshake")),
        (MESSAGES, Unit::new("messages/handshake")),
        (SEGMENTS, Unit::new("segments/handshake")),
    ];
    for ((metric, unit), value) in metrics.into_iter().zip(found) {
        samples.add(phase, metric, unit, value as f64);
    }
}

/// Counts batches of a transfer.
fn transfers<L: TlsLibrary>(
    library: &Recorded<'_, L>,
    scenario: &Scenario,
    side: Side,
    samples: &mut Samples,
) -> Result<u64> {
    let countable = workloads::of::<Recorded<'_, L>>(scenario.operation).countable();
    let countable = countable.context("the kind is not counted")?;
    let Work {
        operations, amount, ..
    } = countable.work(scenario)?;
    let mebibytes = operations as f64 * amount;
    let sends = side == Side::Sender;
    let side = side.role();
    countable.run(library, scenario, &mut |step| {
        for _ in 0..STEPS {
            library.watch.take();
            step()?;
            let actions = library.watch.take();
            let counted = calls(&actions, side);
            counted.add(Phase::Total, CALLS_OF_MEBIBYTE, mebibytes, samples);
            counted.add_sizes(samples);
            if sends {
                let sent = sent_by(&actions, side);
                let records = wire::all_records(&sent)? as f64 / mebibytes;
                samples.add(Phase::Total, RECORDS, Unit::new("records/MiB"), records);
                let more = sent.len() as f64 / mebibytes - f64::from(1 << 20);
                samples.add(Phase::Total, OVERHEAD, Unit::new("bytes/MiB"), more);
            }
        }
        Ok(())
    })?;
    Ok(STEPS as u64 * operations)
}

/// All bytes that one side sent.
fn sent_by(actions: &[(Side, Action)], side: Side) -> Vec<u8> {
    let flights = flights(actions).into_iter();
    let sent = flights.filter_map(|(from, bytes)| (from == side).then_some(bytes));
    sent.flatten().collect()
}

/// The bytes of one side until the other answers, in the order of time.
pub fn flights(actions: &[(Side, Action)]) -> Vec<(Side, Vec<u8>)> {
    let mut flights: Vec<(Side, Vec<u8>)> = Vec::new();
    for (side, action) in actions {
        let Action::Write(bytes) = action else {
            continue;
        };
        match flights.last_mut() {
            Some((last, flight)) if last == side => flight.extend_from_slice(bytes),
            _ => flights.push((*side, bytes.clone())),
        }
    }
    flights
}

/// The actions of one side by phase: from each call of the driver to the next.
fn turns(actions: &[(Side, Action)], side: Side) -> Vec<(Phase, &[(Side, Action)])> {
    let starts: Vec<_> = actions
        .iter()
        .enumerate()
        .filter_map(|(index, (_, action))| match action {
            Action::Turn(phase) => Some((index, *phase)),
            _ => None,
        })
        .collect();
    let ends = starts.iter().skip(1).map(|it| it.0);
    let spans = starts.iter().zip(ends.chain([actions.len()]));
    spans
        .filter(|((start, _), _)| actions[*start].0 == side)
        .map(|((start, phase), end)| (*phase, &actions[*start..end]))
        .collect()
}

/// Round trips from the client's first byte until a side may send data: half of the flights that
/// were sent before the call in which its library completes the handshake.
fn round_trips(actions: &[(Side, Action)], side: Side) -> Result<f64> {
    let last = actions.iter().rposition(|(of, action)| {
        *of == side && matches!(action, Action::Turn(phase) if *phase != Phase::Tickets)
    });
    let last = last.context("a side without a flight")?;
    Ok(flights(&actions[..last]).len() as f64 / 2.0)
}

/// The bytes of each call of one side.
struct Calls {
    reads: Vec<usize>,
    writes: Vec<usize>,
}

fn calls(actions: &[(Side, Action)], side: Side) -> Calls {
    let mut calls = Calls {
        reads: Vec::new(),
        writes: Vec::new(),
    };
    for (_, action) in actions.iter().filter(|(of, _)| *of == side) {
        match action {
            Action::Turn(_) => {}
            Action::Read(asked) => calls.reads.push(*asked),
            Action::Write(bytes) => calls.writes.push(bytes.len()),
        }
    }
    calls
}

impl Calls {
    fn add(&self, phase: Phase, [reads, writes]: [Unit; 2], per: f64, samples: &mut Samples) {
        samples.add(phase, READS, reads, self.reads.len() as f64 / per);
        samples.add(phase, WRITES, writes, self.writes.len() as f64 / per);
    }

    fn add_sizes(&self, samples: &mut Samples) {
        for (metric, sizes) in [(READ_SIZE, &self.reads), (WRITE_SIZE, &self.writes)] {
            for size in sizes {
                samples.add(Phase::Total, metric, Unit::BYTES, *size as f64);
            }
        }
    }
}

/// The values of each figure, in the order of their first.
#[derive(Default)]
struct Samples(Vec<((Phase, Metric, Unit), Vec<f64>)>);

impl Samples {
    fn add(&mut self, phase: Phase, metric: Metric, unit: Unit, value: f64) {
        let key = (phase, metric, unit);
        match self.0.iter_mut().find(|it| it.0 == key) {
            Some((_, values)) => values.push(value),
            None => self.0.push((key, vec![value])),
        }
    }

    /// The median of each, which is one of its values.
    fn observations(self) -> Vec<Observation> {
        let mut observations = Vec::new();
        for ((phase, metric, unit), mut values) in self.0 {
            values.sort_by(f64::total_cmp);
            let last = values.len() - 1;
            let mut add = |statistic, value| {
                observations.push(Observation {
                    phase,
                    metric,
                    statistic,
                    value,
                    unit,
                });
            };
            add(Statistic::Value, values[last / 2]);
            if phase == Phase::Total && RANGES.contains(&metric) {
                add(Statistic::Min, values[0]);
                add(Statistic::Max, values[last]);
            }
        }
        observations
    }
}

#[cfg(test)]
mod tests;
