//! Memory per connection of one role: how much a process grows with the number of its connections.
//!
//! A fresh process holds a number of connections of one role in the same state. Each peer is freed
//! as soon as possible, so that the next one reuses its memory. The cost of a connection is the
//! slope over the number of connections, which excludes the fixed cost of the process.

use std::{thread, time::Instant};

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};

use super::{
    growth::Growth,
    threads::joined,
    workload::{Countable, Workload},
};
use crate::{
    library::{Connection, Setup, TlsLibrary},
    noop::NoopLibrary,
    process,
    record::{Measurement, Metric, Observation, Overhead, Phase, Record, Unit},
    request::Request,
    scenario::{Scenario, Side, Variant, VariantKind},
    session::{self, HandshakeBench, Pair},
    transport::Transport,
};

/// Numbers of connections that determine the slope.
const SESSIONS: [u32; 3] = [100, 1_000, 10_000];

/// Connections made and freed before counting, so that one-time allocations of the library do not
/// count.
const WARM_UP: u32 = 20;

/// Data exchanged in each direction before the memory of the state `data` is read.
const DATA: [u8; 1024] = [0x5a; 1024];

/// The states in which memory is read: after construction, after the handshake, after data.
const MOMENTS: [Phase; 3] = [Phase::Construction, Phase::Handshake, Phase::Data];

const SIDES: [Side; 2] = [Side::Client, Side::Server];

pub struct Memory;

impl<L: TlsLibrary> Workload<L> for Memory {
    fn sides(&self) -> &'static [Option<Side>] {
        const { &[Some(SIDES[0]), Some(SIDES[1])] }
    }

    fn variants(&self) -> &'static [VariantKind] {
        &[VariantKind::Sessions, VariantKind::ReleasedBuffers]
    }

    fn measure(&self, library: &L, request: &Request) -> Result<Vec<Record>> {
        session::prove_verification(library, &request.scenario)?;
        // No time is measured, so both sides may run at once.
        thread::scope(|scope| {
            let spawned = SIDES.map(|side| scope.spawn(move || measure(request, side)));
            let measured = spawned.into_iter().map(joined);
            measured.map(|it| it.map(Record::Measurement)).collect()
        })
    }

    /// Bytes per no-op connection, or of all of them if the variant names a number.
    fn own_cost(&self, request: &Request) -> Result<Vec<Record>> {
        let one = |side| -> Result<Record> {
            Ok(Record::Overhead(Overhead {
                bytes: Some(own_cost(&request.scenario, side)?),
                ..request.overhead(Some(side))
            }))
        };
        SIDES.into_iter().map(one).collect()
    }

    fn countable(&self) -> Option<&dyn Countable<L>> {
        None
    }
}

/// What a fresh process must hold.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Holding {
    /// Whether to hold connections of the no-op library.
    #[serde(default)]
    empty: bool,
    scenario: Scenario,
    side: Side,
    moment: Phase,
    sessions: u32,
}

/// Makes and keeps `sessions` values, and returns the growth of the process. Nothing else may run
/// in the process meanwhile.
pub fn keep<T>(sessions: u32, mut make: impl FnMut() -> Result<T>) -> Result<Growth> {
    for _ in 0..WARM_UP {
        make()?;
    }
    let before = Growth::until_now()?;
    // The vector counts too: some libraries store a connection inline, others behind a pointer.
    let mut kept = Vec::with_capacity(sessions as usize);
    for _ in 0..sessions {
        kept.push(make()?);
    }
    let after = Growth::until_now()?;
    drop(kept);
    let grown = after.since(before);
    let left = Growth::until_now()?.since(before).allocated;
    ensure!(
        left <= grown.allocated / 2,
        "{left} of {} bytes are still allocated after all connections were freed",
        grown.allocated
    );
    Ok(grown)
}

fn exchange<L: TlsLibrary>(pair: &mut Pair<'_, L>) -> Result<()> {
    let mut buffer = [0; DATA.len()];
    pair.server.send(&DATA).context("server")?;
    pair.client.receive(&mut buffer).context("client")?;
    ensure!(
        buffer == DATA,
        "the client received other data than was sent"
    );
    buffer.fill(0);
    pair.client.send(&DATA).context("client")?;
    pair.server.receive(&mut buffer).context("server")?;
    ensure!(
        buffer == DATA,
        "the server received other data than was sent"
    );
    Ok(())
}

/// Holds connections in this process, which should be fresh.
pub fn hold<L: TlsLibrary>(library: &L, holding: &Holding) -> Result<Growth> {
    match holding.empty {
        true => hold_pairs(&NoopLibrary, holding, |bench| bench.unchecked()),
        false => hold_pairs(library, holding, |bench| bench.handshake(false)),
    }
}

fn hold_pairs<L: TlsLibrary>(
    library: &L,
    holding: &Holding,
    handshake: impl for<'a> Fn(&'a HandshakeBench<'_, L>) -> Result<Pair<'a, L>>,
) -> Result<Growth> {
    let scenario = &holding.scenario;
    let server_config = library.server_config(&Setup::server(scenario)?)?;
    let bench = HandshakeBench::new(
        library,
        &server_config,
        scenario,
        Transport::HANDSHAKE_CAPACITY,
    )?;
    let releases = scenario.variant == Some(Variant::ReleasedBuffers);
    let release = |pair: &mut Pair<'_, L>| -> Result<()> {
        if releases {
            pair.client.release_buffers().context("client")?;
            pair.server.release_buffers().context("server")?;
        }
        Ok(())
    };
    let complete = || -> Result<_> {
        let mut pair = handshake(&bench)?;
        release(&mut pair)?;
        if holding.moment == Phase::Data {
            exchange(&mut pair)?;
            release(&mut pair)?;
        }
        Ok((pair.client, pair.server))
    };
    let constructed = holding.moment == Phase::Construction;
    match (holding.side, constructed) {
        (Side::Client, true) => keep(holding.sessions, || {
            library.connect(&bench.client_config, &bench.transport.client)
        }),
        (Side::Client, false) => keep(holding.sessions, || Ok(complete()?.0)),
        (Side::Server, true) => keep(holding.sessions, || {
            library.accept(&server_config, &bench.transport.server)
        }),
        (Side::Server, false) => keep(holding.sessions, || Ok(complete()?.1)),
        (other, _) => bail!("side \"{other}\" holds no connections"),
    }
}

/// Runs this program again with the argument `hold`.
fn in_fresh_process(holding: &Holding) -> Result<Growth> {
    let answer = process::answer(process::this_program("hold")?, holding)?;
    Ok(serde_json::from_slice(&answer)?)
}

/// Slope of the least-squares line through the points; at least 0.
fn slope(points: &[(f64, f64)]) -> f64 {
    let count = points.len() as f64;
    let mean = |pick: fn(&(f64, f64)) -> f64| points.iter().map(pick).sum::<f64>() / count;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let covariance: f64 = points
        .iter()
        .map(|point| (point.0 - x) * (point.1 - y))
        .sum();
    let variance: f64 = points.iter().map(|point| (point.0 - x).powi(2)).sum();
    (covariance / variance).max(0.0)
}

/// Selects one of the two counts.
type Count = fn(&Growth) -> u64;

const COUNTS: [(Metric, Count); 2] = [
    (Metric::ALLOCATED, |it| it.allocated),
    (Metric::RESIDENT, |it| it.resident),
];

/// The numbers of connections to hold.
fn numbers(scenario: &Scenario) -> Vec<u32> {
    match scenario.variant {
        Some(Variant::Sessions(number)) => vec![number],
        _ => SESSIONS.to_vec(),
    }
}

/// The growth of a fresh process for each number of connections.
fn growths(numbers: &[u32], holding: impl Fn(u32) -> Holding) -> Result<Vec<(f64, Growth)>> {
    let growth = |&sessions| Ok((f64::from(sessions), in_fresh_process(&holding(sessions))?));
    numbers.iter().map(growth).collect()
}

/// Total bytes if there is one number of connections; otherwise bytes per connection.
fn figure(growths: &[(f64, Growth)], pick: Count) -> (f64, Unit) {
    let points = growths
        .iter()
        .map(|(number, growth)| (*number, pick(growth) as f64));
    let points: Vec<_> = points.collect();
    match points[..] {
        [(_, bytes)] => (bytes, Unit::BYTES),
        _ => (slope(&points), Unit::BYTES_PER_CONNECTION),
    }
}

/// The harness' own share of one role's memory, by the allocator's count: connections of the no-op
/// library, held in the same way. The kernel counts whole pages, which hide it.
fn own_cost(scenario: &Scenario, side: Side) -> Result<f64> {
    let growths = growths(&numbers(scenario), |sessions| Holding {
        empty: true,
        scenario: scenario.clone(),
        side,
        moment: Phase::Handshake,
        sessions,
    })?;
    Ok(figure(&growths, |it| it.allocated).0)
}

/// Memory of one role in each state: total bytes at the number of sessions that the variant names,
/// or bytes per connection.
fn measure(request: &Request, side: Side) -> Result<Measurement> {
    let start = Instant::now();
    let numbers = numbers(&request.scenario);
    let mut observations = Vec::new();
    for moment in MOMENTS {
        let growths = growths(&numbers, |sessions| Holding {
            empty: false,
            scenario: request.scenario.clone(),
            side,
            moment,
            sessions,
        })?;
        for (metric, pick) in COUNTS {
            let (value, unit) = figure(&growths, pick);
            observations.push(Observation::new(moment, metric, value, unit));
        }
    }
    let connections = numbers.iter().copied().map(u64::from).sum::<u64>() * MOMENTS.len() as u64;
    Ok(request.measurement(Some(side), connections, start.elapsed(), observations))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Operation;

    #[test]
    fn the_slope_excludes_a_constant_part() {
        let points = [(100.0, 5_200.0), (1_000.0, 7_000.0), (10_000.0, 25_000.0)];
        assert!((slope(&points) - 2.0).abs() < 1e-9);
        assert_eq!(slope(&[(1.0, 9.0), (2.0, 1.0)]), 0.0);
    }

    #[test]
    fn the_variant_names_the_number_of_sessions() {
        let mut scenario = Scenario::new(Operation::Memory);
        assert_eq!(numbers(&scenario), SESSIONS);
        scenario.variant = Some(Variant::Sessions(1000));
        assert_eq!(numbers(&scenario), [1000]);
    }
}
