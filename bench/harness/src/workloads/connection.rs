//! Connections over loopback TCP between two processes: handshake, a byte in each direction, close.
//!
//! The program starts itself twice, as the server and as the client of the scenario, each on a
//! processor of its own where there are two. Both take turns on several connections at once with
//! epoll and sockets that do not block. What is recorded of each side is the processor time of its
//! whole process: the library, the kernel, and the harness' own loop.

mod live;
mod message;
mod peer;
mod server;

pub use message::Peer;
pub use peer::be;

use std::time::Duration;

use anyhow::{Context, Result, ensure};

use self::{
    message::{Listening, Spent},
    server::Serving,
};
use super::workload::{Countable, Peers, Program, Workload};
use crate::{
    library::TlsLibrary,
    process,
    record::{Metric, Observation, Overhead, Phase, Record, Unit},
    request::Request,
    scenario::{Scenario, Server, Side, Variant, VariantKind},
    session,
};

const SIDES: [Side; 2] = [Side::Client, Side::Server];

/// Connections before those that are measured, at least.
const LEAST_WARM_UP: u64 = 32;

/// The connections without TLS that measure what the harness and the kernel take.
const OVERHEAD_SECONDS: f64 = 0.05;

pub struct Connections;

/// The argument of a process that is one side.
const ARGUMENT: &str = "peer";

impl Peers for Connections {
    fn count(&self, scenario: &Scenario, connections: u64, program: &Program<'_>) -> Result<u64> {
        let peer = Peer {
            at_once: 1,
            ..Peer::of(scenario, (0.0, LEAST_WARM_UP), (0.0, connections - 1))
        };
        let [client, _] = run(&peer, program)?;
        Ok(client.connections)
    }
}

/// Runs the server and the client of `peer` in fresh processes, and returns what each spent.
fn run(peer: &Peer, program: &Program<'_>) -> Result<[Spent; 2]> {
    let start = |side| program(side, ARGUMENT);
    let mut server = process::start(start(Side::Server)?, peer).context("server")?;
    let line = server.line().context("server")?;
    let Listening { port } = serde_json::from_str(&line).context("the server's first line")?;
    let client = Peer {
        port: Some(port),
        ..peer.clone()
    };
    let client = process::answer(start(Side::Client)?, &client).context("client")?;
    let server = server.finish().context("server")?;
    let client: Spent = serde_json::from_slice(&client).context("the client's answer")?;
    let server: Spent = serde_json::from_slice(&server).context("the server's answer")?;
    ensure!(
        client.connections == server.connections && client.connections > 0,
        "found {} connections of the server, expected {}, as many as the client's",
        server.connections,
        client.connections
    );
    Ok([client, server])
}

/// Runs a server of the system, and the client of `peer` in a fresh process.
fn run_with(server: Server, mut peer: Peer) -> Result<[Spent; 2]> {
    let serving = Serving::start(server, &peer.scenario)?;
    peer.port = Some(serving.port);
    peer.server_process = Some(serving.process());
    let mut client = process::start(process::this_program(ARGUMENT)?, &peer)?;
    let server = client.line().context("client")?;
    let client = client.finish().context("client")?;
    let server = serde_json::from_str(&server).context("the client's first line")?;
    let client = serde_json::from_slice(&client).context("the client's answer")?;
    Ok([client, server])
}

impl<L: TlsLibrary> Workload<L> for Connections {
    fn sides(&self) -> &'static [Option<Side>] {
        const { &[Some(SIDES[0]), Some(SIDES[1])] }
    }

    fn variants(&self) -> &'static [VariantKind] {
        &[
            VariantKind::HelloRetry,
            VariantKind::OwnTickets,
            VariantKind::Nagle,
            VariantKind::Server,
        ]
    }

    fn unsupported(&self, library: &L, scenario: &Scenario) -> Result<Option<String>> {
        match scenario.variant {
            Some(Variant::Server(server)) => {
                server::unsupported(server, &library.implementation()?)
            }
            _ => Ok(None),
        }
    }

    /// Processor time of each side, and connections per second as the client sees them.
    fn measure(&self, library: &L, request: &Request) -> Result<Vec<Record>> {
        session::prove_verification(library, &request.scenario)?;
        let warm_up = (request.warmup_seconds, LEAST_WARM_UP);
        let peer = Peer::of(&request.scenario, warm_up, (request.measure_seconds, 1));
        let spent = match request.scenario.variant {
            Some(Variant::Server(server)) => run_with(server, peer)?,
            _ => run(&peer, &|_, argument| process::this_program(argument))?,
        };
        let of_side = |(side, spent): (Side, Spent)| {
            let Spent {
                connections,
                user_nanoseconds: user,
                system_nanoseconds: system,
                ..
            } = spent;
            let observations = [
                (Phase::Total, user + system),
                (Phase::User, user),
                (Phase::System, system),
            ];
            let observations = observations.map(|(phase, nanoseconds)| {
                let value = spent.microseconds(nanoseconds);
                Observation::new(phase, Metric::PROCESSOR_TIME, value, Unit::MICROSECONDS)
            });
            let elapsed = Duration::from_nanos(user + system);
            request.measurement(Some(side), connections, elapsed, observations.into())
        };
        let mut records: Vec<_> = SIDES.into_iter().zip(spent).map(of_side).collect();
        let [client, _] = spent;
        let elapsed = Duration::from_nanos(client.wall_nanoseconds);
        let rate = client.connections as f64 / elapsed.as_secs_f64();
        let unit = Unit::CONNECTIONS_PER_SECOND;
        let rate = Observation::new(Phase::Total, Metric::RATE, rate, unit);
        records.push(request.measurement(None, client.connections, elapsed, vec![rate]));
        Ok(records.into_iter().map(Record::Measurement).collect())
    }

    /// Processor time of the same connections without TLS: of the kernel and of the harness.
    fn own_cost(&self, request: &Request) -> Result<Vec<Record>> {
        if let Some(Variant::Server(_)) = request.scenario.variant {
            // The harness has no part in such a server, which does not work without TLS.
            return Ok(Vec::new());
        }
        let (warm_up, measured) = ((0.0, LEAST_WARM_UP), (OVERHEAD_SECONDS, 1));
        let peer = Peer {
            empty: true,
            ..Peer::of(&request.scenario, warm_up, measured)
        };
        let spent = run(&peer, &|_, argument| process::this_program(argument))?;
        let record = |(side, spent): (Side, Spent)| {
            Record::Overhead(Overhead {
                nanoseconds: Some(
                    1e3 * spent.microseconds(spent.user_nanoseconds + spent.system_nanoseconds),
                ),
                ..request.overhead(Some(side))
            })
        };
        Ok(SIDES.into_iter().zip(spent).map(record).collect())
    }

    fn countable(&self) -> Option<&dyn Countable<L>> {
        None
    }

    fn peers(&self) -> Option<&dyn Peers> {
        Some(self)
    }
}

#[cfg(test)]
mod tests;
