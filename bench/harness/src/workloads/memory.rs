//! Memory of one role: how much a process grows with the connections that it holds.
//!
//! A fresh process holds so many connections of one role at one moment of their life; each peer is
//! freed as soon as it has played its part, so that its memory is used again by the next. What a
//! connection costs is the slope over the number held, which leaves the process itself out.

use std::{
    env, fs,
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};

use crate::{
    allocator,
    library::{Connection, Setup, TlsLibrary},
    noop::NoopLibrary,
    process,
    record::{Metric, Observation, Phase, Statistic, Unit},
    scenario::{Scenario, Side},
    transport::Transport,
    workloads::handshake::{HandshakeBench, Pair},
};

/// Numbers of connections that the slope is drawn through.
const SESSIONS: [u32; 3] = [100, 1_000, 10_000];

/// Connections made and freed before anything is counted, so that what a library allocates once
/// is not taken for the cost of a connection.
const WARM_UP: u32 = 20;

/// Data exchanged in each direction before `data` is measured.
const DATA: [u8; 1024] = [0x5a; 1024];

/// When a connection's memory is looked at: after construction, after the handshake, after data.
const MOMENTS: [Phase; 3] = [Phase::Construction, Phase::Handshake, Phase::Data];

/// What a fresh process is to hold.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Holding {
    /// Connections of the library that does nothing.
    #[serde(default)]
    empty: bool,
    scenario: Scenario,
    side: Side,
    moment: Phase,
    sessions: u32,
}

/// Bytes by which the process grew.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Growth {
    /// By the allocator's own count.
    pub allocated: u64,
    /// By the kernel's.
    pub resident: u64,
}

/// Bytes in use by this process, as allocator and kernel count them.
fn usage() -> Result<Growth> {
    let statm = fs::read_to_string("/proc/self/statm").context("/proc/self/statm")?;
    let pages = statm.split(' ').nth(1);
    let pages: u64 = pages
        .context("/proc/self/statm has no second field")?
        .parse()?;
    Ok(Growth {
        allocated: allocator::in_use()?,
        resident: pages * rustix::param::page_size() as u64,
    })
}

/// Keeps `sessions` of what `make` makes, and tells what they cost. The count is that of the whole
/// process: nothing else may run in it.
///
/// # Errors
/// `make` fails, or the system does not tell.
pub fn keep<T>(sessions: u32, mut make: impl FnMut() -> Result<T>) -> Result<Growth> {
    for _ in 0..WARM_UP {
        make()?;
    }
    let before = usage()?;
    // The list counts too: some libraries keep a connection inside of it, some behind a pointer.
    let mut kept = Vec::with_capacity(sessions as usize);
    for _ in 0..sessions {
        kept.push(make()?);
    }
    let after = usage()?;
    drop(kept);
    Ok(Growth {
        allocated: after.allocated.saturating_sub(before.allocated),
        resident: after.resident.saturating_sub(before.resident),
    })
}

/// Exchanges data in both directions.
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
///
/// # Errors
/// A handshake failed or came to something else than the scenario says.
pub fn hold<L: TlsLibrary>(library: &L, holding: &Holding) -> Result<Growth> {
    match holding.empty {
        true => hold_pairs(&NoopLibrary, holding, |stage| stage.unchecked()),
        false => hold_pairs(library, holding, |stage| stage.handshake(false)),
    }
}

fn hold_pairs<L: TlsLibrary>(
    library: &L,
    holding: &Holding,
    handshake: impl for<'a> Fn(&'a HandshakeBench<'_, L>) -> Result<Pair<'a, L>>,
) -> Result<Growth> {
    let scenario = &holding.scenario;
    let server_config = library.server_config(&Setup::server(scenario)?)?;
    let stage = HandshakeBench::new(
        library,
        &server_config,
        scenario,
        Transport::HANDSHAKE_CAPACITY,
    )?;
    let complete = || -> Result<_> {
        let mut pair = handshake(&stage)?;
        if holding.moment == Phase::Data {
            exchange(&mut pair)?;
        }
        Ok((pair.client, pair.server))
    };
    let constructed = holding.moment == Phase::Construction;
    match (holding.side, constructed) {
        (Side::Client, true) => keep(holding.sessions, || {
            library.connect(&stage.client_config, &stage.transport.client)
        }),
        (Side::Client, false) => keep(holding.sessions, || Ok(complete()?.0)),
        (Side::Server, true) => keep(holding.sessions, || {
            library.accept(&server_config, &stage.transport.server)
        }),
        (Side::Server, false) => keep(holding.sessions, || Ok(complete()?.1)),
        (other, _) => bail!("side \"{other}\" holds no connections"),
    }
}

/// Runs this program again as `hold`.
fn in_fresh_process(holding: &Holding) -> Result<Growth> {
    let mut command = Command::new(env::current_exe()?);
    command.arg("hold");
    Ok(serde_json::from_slice(&process::answer(command, holding)?)?)
}

/// The number of sessions of a variant such as `sessions-1000`.
fn sessions(variant: &str) -> Result<u32> {
    variant
        .strip_prefix("sessions-")
        .and_then(|number| number.parse().ok())
        .with_context(|| format!("variant \"{variant}\": expected sessions- and a number"))
}

/// Slope of the least-squares line through the points, not below 0.
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

/// What was found about one role.
pub struct Measured {
    pub observations: Vec<Observation>,
    /// Connections held, over all processes.
    pub connections: u64,
    pub elapsed: Duration,
}

/// One count of a growth.
type Count = fn(&Growth) -> u64;

const COUNTS: [(Metric, Count); 2] = [
    (Metric::Allocated, |it| it.allocated),
    (Metric::Resident, |it| it.resident),
];

/// Numbers of connections to be held.
fn numbers(scenario: &Scenario) -> Result<Vec<u32>> {
    Ok(match scenario.variant.as_deref() {
        Some(variant) => vec![sessions(variant)?],
        None => SESSIONS.to_vec(),
    })
}

/// How much a fresh process grows with each number of connections.
fn growths(numbers: &[u32], holding: impl Fn(u32) -> Holding) -> Result<Vec<(f64, Growth)>> {
    let growth = |&sessions| Ok((f64::from(sessions), in_fresh_process(&holding(sessions))?));
    numbers.iter().map(growth).collect()
}

/// Bytes in all where there is one number of connections, or else per connection.
fn figure(growths: &[(f64, Growth)], pick: Count) -> (f64, Unit) {
    let points = growths
        .iter()
        .map(|(number, growth)| (*number, pick(growth) as f64));
    let points: Vec<_> = points.collect();
    match points[..] {
        [(_, bytes)] => (bytes, Unit::Bytes),
        _ => (slope(&points), Unit::BytesPerConnection),
    }
}

/// What the harness itself adds to the figures of one role by the allocator's count (the kernel's
/// goes by whole pages): connections of a library that does nothing, held in the same way.
///
/// # Errors
/// A process failed, or the variant can't be understood.
pub fn own_cost(scenario: &Scenario, side: Side) -> Result<f64> {
    let growths = growths(&numbers(scenario)?, |sessions| Holding {
        empty: true,
        scenario: scenario.clone(),
        side,
        moment: Phase::Handshake,
        sessions,
    })?;
    Ok(figure(&growths, |it| it.allocated).0)
}

/// Memory of one role at each moment: bytes at the number of sessions that the variant names, or
/// else bytes per connection.
///
/// # Errors
/// A process failed, or the variant can't be understood.
pub fn measure(scenario: &Scenario, side: Side) -> Result<Measured> {
    let start = Instant::now();
    let numbers = numbers(scenario)?;
    let mut observations = Vec::new();
    for moment in MOMENTS {
        let growths = growths(&numbers, |sessions| Holding {
            empty: false,
            scenario: scenario.clone(),
            side,
            moment,
            sessions,
        })?;
        for (metric, pick) in COUNTS {
            let (value, unit) = figure(&growths, pick);
            observations.push(Observation {
                phase: moment,
                metric,
                statistic: Statistic::Value,
                value,
                unit,
            });
        }
    }
    Ok(Measured {
        observations,
        connections: numbers.iter().copied().map(u64::from).sum::<u64>() * MOMENTS.len() as u64,
        elapsed: start.elapsed(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_leaves_out_what_is_constant() {
        let points = [(100.0, 5_200.0), (1_000.0, 7_000.0), (10_000.0, 25_000.0)];
        assert!((slope(&points) - 2.0).abs() < 1e-9);
        assert_eq!(slope(&[(1.0, 9.0), (2.0, 1.0)]), 0.0);
    }

    #[test]
    fn the_variant_names_the_number_of_sessions() {
        assert_eq!(sessions("sessions-1000").unwrap(), 1000);
        assert!(sessions("1000").is_err() && sessions("sessions-many").is_err());
    }
}
