//! Counts the work of one role instead of timing it.
//!
//! Fresh processes repeat the operations of a kind a fixed number of times. The counter is on during
//! one role's calls into the library: those that are timed in other runs, with the same checks after
//! each. callgrind counts instructions; `calls` counts allocations, locks and system calls. `wire`
//! needs no fresh process: it reads the recording of the transport.

pub mod callgrind;
pub mod calls;
mod counted;
pub mod kernel;
mod marks;
pub mod sockets;
pub mod wire;

use std::{path::Path, process::Command, thread};

use anyhow::Result;

pub use self::counted::{Counting, count};
use self::{
    counted::{Counts, countable, not_counted},
    marks::Marks,
};
use crate::{
    implementation::MASK_VARIABLE,
    library::TlsLibrary,
    process,
    record::{Measurement, Metric, Observation, Phase, Record, Unit},
    request::{Counter, Request},
    scenario::{Operation, Scenario, Side, Variant},
    workloads::{self, threads::joined, workload::Quantity},
};

impl Counter {
    /// Whether its runs have figures of this metric.
    #[must_use]
    pub fn counts(self, metric: Metric) -> bool {
        match self {
            Self::Callgrind => metric == Metric::INSTRUCTIONS,
            Self::Calls => calls::counts(metric),
            Self::Wire => wire::counts(metric),
        }
    }
}

/// Why nothing is counted for a request, if so.
pub fn unsupported<L: TlsLibrary>(library: &L, request: &Request) -> Option<String> {
    let scenario = &request.scenario;
    if request.counter == Some(Counter::Wire) {
        return wire::unsupported(request);
    }
    if let Some(reason) = library.uncountable() {
        return Some(reason.into());
    }
    let is_counted_in_sockets =
        scenario.operation == Operation::Connection && request.counter == Some(Counter::Calls);
    if let Some(Variant::Server(server)) = scenario.variant {
        return Some(format!("the calls of {server} are not counted"));
    }
    if !is_counted_in_sockets && countable::<L>(scenario.operation).is_err() {
        return Some(not_counted(scenario.operation));
    }
    if let Some(Variant::SetUp(set_up)) = scenario.variant
        && !set_up.is_countable()
    {
        return Some(format!("instructions are not counted in {set_up}"));
    }
    if scenario.threads.unwrap_or(1) != 1 {
        return Some("instructions are counted on one thread".into());
    }
    if request.latency {
        return Some("instructions have no latency".into());
    }
    match request.counter {
        Some(Counter::Calls) => calls::unsupported(scenario.operation),
        Some(Counter::Callgrind | Counter::Wire) | None => None,
    }
}

/// The records of one block: what is counted per handshake, per MiB of plaintext or per operation.
pub fn measure<L: TlsLibrary>(
    library: &L,
    request: &Request,
    counter: Counter,
) -> Result<Vec<Record>> {
    let sides = workloads::of::<L>(request.scenario.operation).sides();
    let one = |&side: &Option<Side>| match counter {
        Counter::Callgrind => measure_side(request, side),
        Counter::Calls if request.scenario.operation == Operation::Connection => {
            sockets::measure_side(library, request, side)
        }
        Counter::Calls => calls::measure_side(library, request, side),
        Counter::Wire => wire::measure_side(library, request, side),
    };
    sides
        .iter()
        .map(|side| one(side).map(Record::Measurement))
        .collect()
}

/// Has a program count the operations of one role, in one fresh process that writes callgrind's
/// profile to a file. Returns the work that the profile is of: handshakes, MiB or operations.
pub fn profile(
    program: &Path,
    environment: &[(String, String)],
    scenario: &Scenario,
    side: Option<Side>,
    file: &Path,
) -> Result<f64> {
    let counts = Counts::of(scenario, side)?;
    let command = callgrind::program(&[], program, "count", file, environment);
    process::answer(command, &counts.counting)?;
    Ok(counts.amount())
}

/// Has a program count the allocations of one role, in one fresh process. Returns those of a
/// handshake, MiB or operation, and the most bytes of a step that were allocated at once.
pub fn allocations(
    program: &Path,
    environment: &[(String, String)],
    scenario: &Scenario,
    side: Option<Side>,
) -> Result<[f64; 2]> {
    let mut counts = Counts::of(scenario, side)?;
    counts.counting.marks = Marks::Interposed;
    let mut command = Command::new(program);
    command
        .arg("count")
        .env_remove("GLIBC_TUNABLES")
        .env_remove(MASK_VARIABLE)
        .envs(environment.iter().map(|(name, value)| (name, value)));
    let found = calls::interposed(command, &counts.counting)?;
    let peak = found.peaks as f64 / counts.counting.steps as f64;
    Ok([found.allocations as f64 / counts.amount(), peak])
}

fn measure_side(request: &Request, side: Option<Side>) -> Result<Measurement> {
    let counts = Counts::of(&request.scenario, side)?;
    let amount = f64::from(counts.processes) * counts.amount();
    let Counts {
        processes,
        counting,
        operations,
        work,
    } = counts;
    let one = || -> Result<u64> {
        let profile = process::answer(callgrind::this_program(&[], "count")?, &counting)?;
        callgrind::instructions(&profile)
    };
    // All at once: the counts do not depend on what else runs.
    let total: u64 = thread::scope(|scope| {
        let spawned: Vec<_> = (0..processes).map(|_| scope.spawn(one)).collect();
        spawned.into_iter().map(joined).sum::<Result<u64>>()
    })?;
    let operations = u64::from(processes) * operations;
    let value = total as f64 / amount;
    let unit = match work.quantity {
        Quantity::Handshakes => Unit::INSTRUCTIONS_PER_HANDSHAKE,
        Quantity::Mebibytes => Unit::INSTRUCTIONS_PER_MEBIBYTE,
        Quantity::Operations | Quantity::Packets | Quantity::Single => {
            Unit::INSTRUCTIONS_PER_OPERATION
        }
    };
    let observation = Observation::new(Phase::Total, Metric::INSTRUCTIONS, value, unit);
    Ok(request.measurement(side, operations, None, vec![observation]))
}
