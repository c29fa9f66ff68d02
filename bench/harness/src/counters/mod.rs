//! Counts the work of one role instead of timing it.
//!
//! Fresh processes repeat the operations of a kind a fixed number of times. The counter is on during
//! one role's calls into the library: those that are timed in other runs, with the same checks after
//! each. callgrind counts instructions; `calls` counts allocations, locks and system calls. `wire`
//! needs no fresh process: it reads the recording of the transport.

pub mod callgrind;
pub mod calls;
pub mod interposed;
pub mod kernel;
mod marks;
pub mod sockets;
pub mod wire;

use std::{
    any::Any,
    mem::ManuallyDrop,
    path::Path,
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread::{self, ScopedJoinHandle},
};

use anyhow::{Context, Result, anyhow};
use serde::{Deserialize, Serialize};

use self::marks::Marks;
use crate::{
    implementation::Implementation,
    library::{Connection, Negotiated, Progress, Setup, TlsLibrary},
    noop::NoopLibrary,
    process,
    record::{Measurement, Metric, Observation, Phase, Record, Statistic, Unit},
    request::{Counter, Request},
    scenario::{Operation, Scenario, Side, Variant},
    transport::Endpoint,
    workloads::{self, Countable, Quantity, Work},
};

/// Fresh processes that count operations which draw random numbers: what a process draws when it
/// begins, such as the seed of a hash map, holds for all that it counts.
const PROCESSES: u32 = 4;

/// Steps that each of them counts: a multiple of 32, since the libraries make new blinding for RSA
/// in every 32nd signature.
const STEPS: u64 = 64;

/// Steps where nothing is random, in one process.
const STEPS_IF_NOT_RANDOM: u64 = 16;

/// Steps before, which are not counted: what a library does once is not the cost of an operation.
const WARM_UP: u32 = 20;

/// Processes, steps of each and steps before, where an operation takes milliseconds.
const LONG: (u32, u64, u32) = (2, 4, 2);

/// What a fresh process is to count.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counting {
    scenario: Scenario,
    side: Side,
    steps: u64,
    warm_up: u32,
    marks: Marks,
    /// Whether the process has a second thread, which does nothing.
    beside_idle_thread: bool,
}

/// A library, of which the calls of one role are counted.
struct Counted<'l, L> {
    library: &'l L,
    side: Side,
    /// Off before and after the steps that are counted.
    counting: &'l AtomicBool,
}

/// What a role has set up. That it is freed is counted too, if it is in a step.
struct Held<'l, T> {
    value: ManuallyDrop<T>,
    counted: bool,
    counting: &'l AtomicBool,
}

impl<T> Drop for Held<'_, T> {
    fn drop(&mut self) {
        let counted = self.counted && self.counting.load(Ordering::Relaxed);
        // SAFETY: it is dropped here alone, once.
        collect_if(counted, || unsafe { ManuallyDrop::drop(&mut self.value) });
    }
}

/// A count that is always on: what is held alone exists in steps only.
static ALWAYS: AtomicBool = AtomicBool::new(true);

/// A connection, whose calls are counted or not.
struct CountedConnection<C> {
    connection: C,
    counted: bool,
}

impl<'l, L> Counted<'l, L> {
    fn connection<C>(
        &self,
        sides: [Side; 2],
        make: impl FnOnce() -> Result<C>,
    ) -> Result<CountedConnection<C>> {
        let counted = sides.contains(&self.side);
        Ok(CountedConnection {
            connection: collect_if(counted, make)?,
            counted,
        })
    }

    /// What belongs to no role.
    fn alone(&self, load: impl FnOnce() -> Result<Box<dyn Any>>) -> Result<Box<dyn Any>> {
        let value = collect_if(self.counting.load(Ordering::Relaxed), load)?;
        Ok(Box::new(Held {
            value: ManuallyDrop::new(value),
            counted: true,
            counting: &ALWAYS,
        }))
    }

    fn held<T>(&self, side: Side, make: impl FnOnce() -> Result<T>) -> Result<Held<'l, T>> {
        let counted = self.side == side;
        let value = collect_if(counted && self.counting.load(Ordering::Relaxed), make)?;
        Ok(Held {
            value: ManuallyDrop::new(value),
            counted,
            counting: self.counting,
        })
    }
}

#[inline(always)]
fn collect_if<R>(counted: bool, call: impl FnOnce() -> R) -> R {
    match counted {
        true => marks::collect(call),
        false => call(),
    }
}

impl<C: Connection> Connection for CountedConnection<C> {
    fn handshake(&mut self) -> Result<Progress> {
        collect_if(self.counted, || self.connection.handshake())
    }

    fn send_early_data(&mut self, data: &[u8]) -> Result<()> {
        collect_if(self.counted, || self.connection.send_early_data(data))
    }

    fn receive_early_data(&mut self, buffer: &mut [u8]) -> Result<usize> {
        collect_if(self.counted, || self.connection.receive_early_data(buffer))
    }

    fn early_data_accepted(&self) -> Result<bool> {
        self.connection.early_data_accepted()
    }

    fn receive_tickets(&mut self) -> Result<()> {
        collect_if(self.counted, || self.connection.receive_tickets())
    }

    fn send(&mut self, data: &[u8]) -> Result<()> {
        collect_if(self.counted, || self.connection.send(data))
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<usize> {
        collect_if(self.counted, || self.connection.receive(buffer))
    }

    fn receive_with(&mut self, buffer: &mut [u8], take: &mut dyn FnMut(&[u8])) -> Result<()> {
        let counted = self.counted;
        collect_if(counted, || {
            // Collection is toggled: what the driver does with the bytes is not counted.
            let take = &mut |bytes: &[u8]| collect_if(counted, || take(bytes));
            self.connection.receive_with(buffer, take)
        })
    }

    fn negotiated(&self) -> Result<Negotiated> {
        self.connection.negotiated()
    }
}

impl<'l, L: TlsLibrary> TlsLibrary for Counted<'l, L> {
    type ClientConfig = Held<'l, L::ClientConfig>;
    type ServerConfig = Held<'l, L::ServerConfig>;
    type Client<'a> = CountedConnection<L::Client<'a>>;
    type Server<'a> = CountedConnection<L::Server<'a>>;

    fn implementation(&self) -> Result<Implementation> {
        self.library.implementation()
    }

    fn unsupported(&self, scenario: &Scenario) -> Option<String> {
        self.library.unsupported(scenario)
    }

    fn anchors(&self, pem: &str) -> Result<Box<dyn Any>> {
        self.alone(|| self.library.anchors(pem))
    }

    fn private_key(&self, pem: &str) -> Result<Box<dyn Any>> {
        self.alone(|| self.library.private_key(pem))
    }

    fn client_config(&self, setup: &Setup) -> Result<Self::ClientConfig> {
        self.held(Side::Client, || self.library.client_config(setup))
    }

    fn server_config(&self, setup: &Setup) -> Result<Self::ServerConfig> {
        self.held(Side::Server, || self.library.server_config(setup))
    }

    fn connect<'a>(
        &self,
        config: &'a Self::ClientConfig,
        endpoint: &'a Endpoint,
    ) -> Result<Self::Client<'a>> {
        self.connection([Side::Client, Side::Receiver], || {
            self.library.connect(&config.value, endpoint)
        })
    }

    fn accept<'a>(
        &self,
        config: &'a Self::ServerConfig,
        endpoint: &'a Endpoint,
    ) -> Result<Self::Server<'a>> {
        self.connection([Side::Server, Side::Sender], || {
            self.library.accept(&config.value, endpoint)
        })
    }
}

/// What of a kind can be counted.
fn countable<'a, L: TlsLibrary + 'a>(operation: Operation) -> Result<&'a dyn Countable<L>> {
    workloads::of::<L>(operation)
        .countable()
        .with_context(|| not_counted(operation))
}

fn not_counted(operation: Operation) -> String {
    format!("instructions are not counted in {operation} scenarios")
}

/// Repeats what is counted, in this process, which should be fresh. Returns what the process itself
/// counted, if it did.
///
/// # Errors
/// No counter is running, or an operation failed or had another result than the scenario says.
pub fn count<L: TlsLibrary>(
    library: &L,
    counting: &Counting,
) -> Result<Option<interposed::Counts>> {
    let (end, ended) = mpsc::channel::<()>();
    thread::scope(|scope| {
        if counting.beside_idle_thread {
            scope.spawn(move || ended.recv());
        }
        let counts = repeat(library, counting);
        drop(end);
        counts
    })
}

fn repeat<L: TlsLibrary>(library: &L, counting: &Counting) -> Result<Option<interposed::Counts>> {
    let counted = Counted {
        library,
        side: counting.side,
        counting: &AtomicBool::new(false),
    };
    let scenario = &counting.scenario;
    countable(scenario.operation)?.run(&counted, scenario, &mut |step| {
        for _ in 0..counting.warm_up {
            step()?;
        }
        counting.marks.start()?;
        counted.counting.store(true, Ordering::Relaxed);
        let counted_steps = (0..counting.steps).try_for_each(|_| {
            interposed::step();
            step()
        });
        counted.counting.store(false, Ordering::Relaxed);
        counted_steps
    })?;
    match counting.marks {
        Marks::Interposed => interposed::counts().map(Some),
        Marks::Callgrind | Marks::Kernel => Ok(None),
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
///
/// # Errors
/// A process that counts failed, or what it wrote is not valid.
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
///
/// # Errors
/// The process failed, or the scenario is not counted.
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
    Ok(counts.operations as f64 * counts.work.amount)
}

/// What fresh processes are to count of one role.
struct Counts {
    processes: u32,
    counting: Counting,
    /// Of one process.
    operations: u64,
    work: Work,
}

impl Counts {
    fn of(scenario: &Scenario, side: Option<Side>) -> Result<Self> {
        let countable = countable::<NoopLibrary>(scenario.operation)?;
        let (processes, steps, warm_up) = match (countable.is_long(), countable.is_random()) {
            (true, _) => LONG,
            (false, true) => (PROCESSES, STEPS, WARM_UP),
            (false, false) => (1, STEPS_IF_NOT_RANDOM, WARM_UP),
        };
        // A set-up has no sides: it is one of a role's.
        let role = side.or(match scenario.variant {
            Some(Variant::SetUp(set_up)) => Some(set_up.side()),
            _ => None,
        });
        let work = countable.work(scenario)?;
        Ok(Self {
            processes,
            counting: Counting {
                scenario: scenario.clone(),
                side: role.with_context(|| not_counted(scenario.operation))?,
                steps,
                warm_up,
                marks: Marks::Callgrind,
                beside_idle_thread: false,
            },
            operations: steps * work.operations,
            work,
        })
    }
}

fn measure_side(request: &Request, side: Option<Side>) -> Result<Measurement> {
    let Counts {
        processes,
        counting,
        operations,
        work,
    } = Counts::of(&request.scenario, side)?;
    let one = || -> Result<u64> {
        let profile = process::answer(callgrind::this_program(&[], "count")?, &counting)?;
        callgrind::instructions(&profile)
    };
    // All at once: the counts do not depend on what else runs.
    let totals: Vec<Result<u64>> = thread::scope(|scope| {
        let spawned: Vec<_> = (0..processes).map(|_| scope.spawn(one)).collect();
        let join = |thread: ScopedJoinHandle<'_, _>| {
            let panicked = |_| Err(anyhow!("a thread panicked"));
            thread.join().unwrap_or_else(panicked)
        };
        spawned.into_iter().map(join).collect()
    });
    let total: u64 = totals.into_iter().sum::<Result<u64>>()?;
    let operations = u64::from(processes) * operations;
    let observation = Observation {
        phase: Phase::Total,
        metric: Metric::INSTRUCTIONS,
        statistic: Statistic::Value,
        value: total as f64 / (operations as f64 * work.amount),
        unit: match work.quantity {
            Quantity::Handshakes => Unit::INSTRUCTIONS_PER_HANDSHAKE,
            Quantity::Mebibytes => Unit::INSTRUCTIONS_PER_MEBIBYTE,
            Quantity::Operations | Quantity::Packets | Quantity::Single => {
                Unit::INSTRUCTIONS_PER_OPERATION
            }
        },
    };
    Ok(request.measurement(side, operations, None, vec![observation]))
}
