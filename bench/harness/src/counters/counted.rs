//! What fresh processes count of a library: the calls of one role.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::marks::{self, Marks};
use crate::{
    interposed,
    library::{
        TlsLibrary,
        watched::{Call, Watch, Watched},
    },
    noop::NoopLibrary,
    scenario::{Operation, Scenario, Side, Variant},
    workloads::{
        self,
        workload::{Countable, Work},
    },
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
    pub steps: u64,
    warm_up: u32,
    pub marks: Marks,
    /// Whether the process has a second thread, which does nothing.
    pub beside_idle_thread: bool,
}

/// What is counted of a library: the calls of one role.
struct Counted {
    side: Side,
    /// Off before and after the steps that are counted.
    is_counting: AtomicBool,
}

impl Watch for Counted {
    #[inline(always)]
    fn call<R>(&self, side: Option<Side>, call: Call, make: impl FnOnce() -> R) -> R {
        let role = self.side.role();
        // What is set up before the steps is not a part of them.
        let is_set_up = matches!(call, Call::Make | Call::Free);
        let is_step = !is_set_up || self.is_counting.load(Ordering::Relaxed);
        match is_step && side.is_none_or(|side| side == role) {
            // Within another one, this turns the count off and on again.
            true => marks::collect(make),
            false => make(),
        }
    }
}

/// What of a kind can be counted.
pub fn countable<'a, L: TlsLibrary + 'a>(operation: Operation) -> Result<&'a dyn Countable<L>> {
    workloads::of::<L>(operation)
        .countable()
        .with_context(|| not_counted(operation))
}

pub fn not_counted(operation: Operation) -> String {
    format!("instructions are not counted in {operation} scenarios")
}

/// Repeats what is counted, in this process, which should be fresh. Returns what the process itself
/// counted, if it did.
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
    let counted = Watched {
        library,
        watch: Arc::new(Counted {
            side: counting.side,
            is_counting: AtomicBool::new(false),
        }),
    };
    let is_counting = &counted.watch.is_counting;
    let scenario = &counting.scenario;
    countable(scenario.operation)?.run(&counted, scenario, &mut |step| {
        for _ in 0..counting.warm_up {
            step()?;
        }
        counting.marks.start()?;
        is_counting.store(true, Ordering::Relaxed);
        let counted_steps = (0..counting.steps).try_for_each(|_| {
            interposed::step();
            step()
        });
        is_counting.store(false, Ordering::Relaxed);
        counted_steps
    })?;
    match counting.marks {
        Marks::Interposed => interposed::counts().map(Some),
        Marks::Callgrind | Marks::Kernel => Ok(None),
    }
}

/// What fresh processes are to count of one role.
pub struct Counts {
    pub processes: u32,
    pub counting: Counting,
    /// Of one process.
    pub operations: u64,
    pub work: Work,
}

impl Counts {
    /// The work of one process, which a figure is divided by.
    pub fn amount(&self) -> f64 {
        self.operations as f64 * self.work.amount
    }

    pub fn of(scenario: &Scenario, side: Option<Side>) -> Result<Self> {
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
