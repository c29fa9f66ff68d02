//! Counts the system calls of one process whose connections are over sockets, as strace records them.
//!
//! The connections are made one after another, so that no call is for two of them. The other process is not
//! watched.

use std::process::Command;

use anyhow::{Context, Result};

use super::kernel::Trace;
use crate::{
    library::TlsLibrary,
    process,
    record::{Measurement, Metric, Observation, Phase, Unit},
    request::Request,
    scenario::Side,
    session, workloads,
};

/// Connections that are counted.
const CONNECTIONS: u64 = 64;

/// Calls that read from a socket or write to one, for a library.
const OF_LIBRARIES: [&str; 8] = [
    "read", "readv", "recvfrom", "recvmsg", "sendmsg", "sendto", "write", "writev",
];

const SYSTEM_CALLS: Metric = Metric::new("system-calls");

const SOCKET_CALLS: Metric = Metric::new("socket-calls");

/// Whether a metric is one of these.
pub fn counts(metric: Metric) -> bool {
    [SYSTEM_CALLS, SOCKET_CALLS].contains(&metric)
}

/// The calls of one side, per connection.
pub fn measure_side<L: TlsLibrary>(
    library: &L,
    request: &Request,
    side: Option<Side>,
) -> Result<Measurement> {
    session::prove_verification(library, &request.scenario)?;
    let trace = Trace::of_this_process();
    let command = |of: Side, argument: &str| -> Result<Command> {
        match side == Some(of) {
            true => trace.this_program(argument),
            false => process::this_program(argument),
        }
    };
    let peers = workloads::of::<L>(request.scenario.operation).peers();
    let peers = peers.context("the scenario has no processes of its own")?;
    let connections = peers.count(&request.scenario, CONNECTIONS, &command)?;
    let calls = trace.calls().context("the calls of a connection")?;
    let of_library = calls
        .iter()
        .filter(|it| OF_LIBRARIES.contains(&it.as_str()));
    let per_connection = |metric, count: usize| {
        let value = count as f64 / connections as f64;
        Observation::new(Phase::Total, metric, value, Unit::new("calls/connection"))
    };
    let observations = vec![
        per_connection(SYSTEM_CALLS, calls.len()),
        per_connection(SOCKET_CALLS, of_library.count()),
    ];
    Ok(request.measurement(side, connections, None, observations))
}
