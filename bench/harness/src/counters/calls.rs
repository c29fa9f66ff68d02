//! Counts the allocations, locks, locked instructions and system calls of one role.
//!
//! Three fresh processes repeat the same operations: the functions of `interposed` count the calls
//! of one, callgrind counts the locked instructions of another, and strace the system calls of the
//! third. Each has a second thread that does nothing, because glibc skips locked instructions in a
//! process with a single thread.

use std::process::Command;

use anyhow::{Context, Result};

use super::{
    callgrind::{self, BUS},
    counted::{Counting, Counts},
    kernel,
    marks::Marks,
    sockets,
};
use crate::{
    allocator, interposed,
    library::TlsLibrary,
    process,
    record::{Measurement, Metric, Observation, Phase, Unit},
    request::Request,
    scenario::{Operation, Side},
    workloads::workload::Quantity,
};

/// The allocator whose functions are replaced.
pub const ALLOCATOR: &str = "system";

/// What was counted.
struct Counted {
    calls: interposed::Counts,
    locked_instructions: u64,
    kernel: u64,
}

/// The work that a figure is divided by.
#[derive(Clone, Copy, PartialEq)]
enum Per {
    /// Handshake or MiB: the units of both.
    Work([Unit; 2]),
    /// The mean of the steps.
    Step,
}

/// One figure.
struct Figure {
    metric: Metric,
    per: Per,
    of: fn(&Counted) -> u64,
    /// Absent if the library's locks are not calls of pthread.
    is_lock: bool,
}

const LOCKS: Per = Per::Work([Unit::new("locks/handshake"), Unit::new("locks/MiB")]);

const FIGURES: [Figure; 9] = [
    figure(
        "allocations",
        Per::Work([
            Unit::new("allocations/handshake"),
            Unit::new("allocations/MiB"),
        ]),
        |it| it.calls.allocations,
    ),
    figure(
        "allocated-in-all",
        Per::Work([Unit::new("bytes/handshake"), Unit::new("bytes/MiB")]),
        |it| it.calls.bytes,
    ),
    figure("peak-allocated", Per::Step, |it| it.calls.peaks),
    figure(
        "frees",
        Per::Work([Unit::new("frees/handshake"), Unit::new("frees/MiB")]),
        |it| it.calls.frees,
    ),
    lock("mutex-locks", |it| it.calls.mutex_locks),
    lock("read-locks", |it| it.calls.read_locks),
    lock("write-locks", |it| it.calls.write_locks),
    figure(
        "locked-instructions",
        Per::Work([
            Unit::new("locked instructions/handshake"),
            Unit::new("locked instructions/MiB"),
        ]),
        |it| it.locked_instructions,
    ),
    figure(
        "kernel-calls",
        Per::Work([Unit::new("calls/handshake"), Unit::new("calls/MiB")]),
        |it| it.kernel,
    ),
];

const fn figure(metric: &'static str, per: Per, of: fn(&Counted) -> u64) -> Figure {
    Figure {
        metric: Metric::new(metric),
        per,
        of,
        is_lock: false,
    }
}

const fn lock(metric: &'static str, of: fn(&Counted) -> u64) -> Figure {
    Figure {
        is_lock: true,
        ..figure(metric, LOCKS, of)
    }
}

/// Whether a metric is one of these.
pub fn counts(metric: Metric) -> bool {
    FIGURES.iter().any(|it| it.metric == metric) || sockets::counts(metric)
}

/// Why calls are not counted in scenarios of a kind, if so.
pub fn unsupported(operation: Operation) -> Option<String> {
    if operation == Operation::Connection {
        return None;
    }
    if !matches!(operation, Operation::Handshake | Operation::Transfer) {
        return Some(format!("calls are not counted in {operation} scenarios"));
    }
    match allocator::found() {
        Ok(found) if found == ALLOCATOR => None,
        Ok(found) => Some(format!("calls of the allocator {found} are not counted")),
        Err(error) => Some(format!("{error:#}")),
    }
}

/// What a process counts of the calls of the allocator and of locks.
pub fn interposed(mut program: Command, counting: &Counting) -> Result<interposed::Counts> {
    let preloaded = interposed::Library::write()?;
    preloaded.preload(&mut program);
    let counts = process::answer(program, counting)?;
    serde_json::from_slice(&counts).context("counts of calls")
}

/// The figures of one role.
pub fn measure_side<L: TlsLibrary>(
    library: &L,
    request: &Request,
    side: Option<Side>,
) -> Result<Measurement> {
    let counts = Counts::of(&request.scenario, side)?;
    let amount = counts.amount();
    let Counts {
        mut counting,
        operations,
        work,
        ..
    } = counts;
    counting.beside_idle_thread = true;

    counting.marks = Marks::Callgrind;
    let profile = process::answer(callgrind::this_program(&[BUS], "count")?, &counting)?;

    counting.marks = Marks::Interposed;
    let calls = interposed(process::this_program("count")?, &counting)?;

    counting.marks = Marks::Kernel;
    let trace = kernel::Trace::of_this_process();
    process::answer(trace.this_program("count")?, &counting)?;

    let counted = Counted {
        calls,
        locked_instructions: callgrind::locked_instructions(&profile)?,
        kernel: trace.calls()?.len() as u64,
    };
    let figures = FIGURES.iter();
    let figures = figures.filter(|it| !it.is_lock || library.locks_by_calls());
    let observations = figures.map(|it| {
        let total = (it.of)(&counted) as f64;
        let (value, unit) = match (it.per, work.quantity) {
            (Per::Step, _) => (total / counting.steps as f64, Unit::BYTES),
            (Per::Work([_, of_mebibyte]), Quantity::Mebibytes) => (total / amount, of_mebibyte),
            (Per::Work([of_handshake, _]), _) => (total / amount, of_handshake),
        };
        Observation::new(Phase::Total, it.metric, value, unit)
    });
    let observations = observations.collect();
    Ok(request.measurement(side, operations, None, observations))
}
