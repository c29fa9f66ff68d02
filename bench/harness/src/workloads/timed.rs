//! The driver of all kinds whose operations are timed: warm-up, then a window of time on every
//! thread, then the records.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::{
    threads::{on_threads, repeat},
    workload::{Countable, Quantity, Repeatable, Work, Workload},
};
use crate::{
    copy::CopyLibrary,
    latency::Latencies,
    library::{Setup, TlsLibrary},
    noop::NoopLibrary,
    presence::Presence,
    record::{Measurement, Metric, Observation, Overhead, Phase, Record, Unit},
    request::Request,
    scenario::{Scenario, Side, VariantKind},
    session,
};

/// How long, and how often, the libraries that encrypt nothing are driven.
const OVERHEAD_WINDOW: Duration = Duration::from_millis(1);
const OVERHEAD_WINDOWS: u32 = 5;

/// A library in a scenario.
pub struct Target<'a, L> {
    pub library: &'a L,
    pub scenario: &'a Scenario,
    /// Off for the libraries that encrypt nothing: their results are not checked.
    pub checked: bool,
}

impl<L: TlsLibrary> Target<'_, L> {
    /// The server's configuration, after the proof that the library verifies, if it is checked.
    pub fn server_config(&self) -> Result<L::ServerConfig> {
        if self.checked {
            session::prove_verification(self.library, self.scenario)?;
        }
        self.library.server_config(&Setup::server(self.scenario)?)
    }
}

/// One step of a kind: does its operations, checks their result, and adds their time.
pub type Step<'a> = dyn FnMut(&mut Tally) -> Result<()> + 'a;

/// A kind whose operations are timed.
pub trait Timed {
    /// The roles that a step times.
    const SIDES: &'static [Option<Side>];

    /// Kinds of variants that its scenarios may have.
    const VARIANTS: &'static [VariantKind] = &[];

    /// Whether latencies and the throughput of all threads are recorded on request: each step must
    /// be one operation.
    const LATENCY: bool = false;

    /// Whether a counter can count its operations: they must be calls of connections.
    const COUNTABLE: bool = true;

    /// Whether it moves so many bytes that the transport's copies count.
    const COPIES: bool = false;

    /// Whether an operation draws random numbers.
    const RANDOM: bool = true;

    /// Whether an operation takes milliseconds.
    const LONG: bool = false;

    /// A warm-up has at least so many steps, however short its time.
    const LEAST_WARM_UP: u32 = 4;

    /// Made once, for all threads.
    type Shared<L: TlsLibrary>: Sync;

    /// What one step does.
    fn work(scenario: &Scenario) -> Result<Work>;

    /// Proves what the result of a single step does not show, and makes what threads share.
    fn prepare<L: TlsLibrary>(target: &Target<'_, L>) -> Result<Self::Shared<L>>;

    /// Whether a step waits for another process: its thread is away then, and was not stopped.
    fn waits(_: &Scenario) -> bool {
        false
    }

    /// Figures of the first role that are not times and do not come from the timed steps.
    fn beside(_: &Scenario) -> Result<Vec<Observation>> {
        Ok(Vec::new())
    }

    /// On each thread: gets ready, and calls `driver` with the step.
    fn run<L: TlsLibrary, R>(
        target: &Target<'_, L>,
        shared: &Self::Shared<L>,
        driver: impl FnOnce(&mut Step<'_>) -> Result<R>,
    ) -> Result<R>;
}

/// What one role spent.
#[derive(Default)]
struct Role {
    phases: Vec<(Phase, Duration)>,
    /// Of each step, if requested.
    latencies: Option<Latencies>,
    /// Of the longest phase of each step, if requested.
    stalls: Option<Latencies>,
}

impl Role {
    fn add(&mut self, phase: Phase, time: Duration) {
        match self.phases.iter_mut().find(|it| it.0 == phase) {
            Some((_, sum)) => *sum += time,
            None => self.phases.push((phase, time)),
        }
    }

    fn total(&self) -> Duration {
        self.phases.iter().map(|(_, time)| *time).sum()
    }
}

/// What the steps of one thread spent, by role and phase.
pub struct Tally {
    steps: u64,
    roles: Vec<Role>,
}

impl Tally {
    fn new(roles: usize, latency: bool) -> Result<Self> {
        let role = || -> Result<_> {
            Ok(Role {
                phases: Vec::new(),
                latencies: latency.then(Latencies::new).transpose()?,
                stalls: latency.then(Latencies::new).transpose()?,
            })
        };
        Ok(Self {
            steps: 0,
            roles: (0..roles).map(|_| role()).collect::<Result<_>>()?,
        })
    }

    /// Adds one step: the times of each role of `Timed::SIDES`, by phase.
    pub fn add<T: IntoIterator<Item = (Phase, Duration)>>(
        &mut self,
        roles: impl IntoIterator<Item = T>,
    ) -> Result<()> {
        self.steps += 1;
        for (role, times) in self.roles.iter_mut().zip(roles) {
            let (mut total, mut longest) = (Duration::ZERO, Duration::ZERO);
            for (phase, time) in times {
                role.add(phase, time);
                total += time;
                longest = longest.max(time);
            }
            for (latencies, time) in [(&mut role.latencies, total), (&mut role.stalls, longest)] {
                if let Some(latencies) = latencies {
                    latencies.add(time)?;
                }
            }
        }
        Ok(())
    }
}

/// What one thread measured.
struct Window {
    tally: Tally,
    start: Instant,
    end: Instant,
    /// The share of it in which the thread was stopped, if it was.
    stopped: Option<f64>,
}

impl<T: Timed, L: TlsLibrary> Workload<L> for T {
    fn sides(&self) -> &'static [Option<Side>] {
        T::SIDES
    }

    fn variants(&self) -> &'static [VariantKind] {
        T::VARIANTS
    }

    fn measure(&self, library: &L, request: &Request) -> Result<Vec<Record>> {
        let [warmup, measure] = spans(request)?;
        let target = Target {
            library,
            scenario: &request.scenario,
            checked: true,
        };
        let work = T::work(target.scenario)?;
        let shared = T::prepare(&target)?;
        let windows = on_threads(request, |gate| {
            T::run(&target, &shared, |step| {
                let mut thrown_away = Tally::new(T::SIDES.len(), false)?;
                repeat(warmup, T::LEAST_WARM_UP, || step(&mut thrown_away))?;
                let mut tally = Tally::new(T::SIDES.len(), T::LATENCY && request.latency)?;
                drop(gate);
                let before = Presence::now();
                let start = Instant::now();
                repeat(measure, 1, || step(&mut tally))?;
                // A step may do nothing but check.
                while tally.steps == 0 {
                    step(&mut tally)?;
                }
                let end = Instant::now();
                let after = Presence::now().zip(before);
                let after = after.filter(|_| !T::waits(target.scenario));
                let stopped = after.and_then(|(after, before)| after.stopped_since(&before));
                Ok(Window {
                    tally,
                    start,
                    end,
                    stopped,
                })
            })
        })?;
        let sides = T::SIDES.iter().enumerate();
        let mut records = sides
            .map(|(index, side)| {
                let tallies = windows.iter().map(|window| &window.tally);
                let roles = tallies.map(|tally| (tally.steps, &tally.roles[index]));
                role(request, *side, work, &roles.collect::<Vec<_>>())
            })
            .collect::<Result<Vec<_>>>()?;
        if let Some(first) = records.first_mut() {
            first.observations.extend(T::beside(target.scenario)?);
        }
        if T::LATENCY && request.throughput {
            records.push(throughput(request, work, &windows)?);
        }
        let stopped = windows.iter().filter_map(|window| window.stopped);
        if let Some(share) = stopped.reduce(f64::max) {
            for record in &mut records {
                record.valid = false;
                record.note = Some(format!(
                    "the process was stopped for {:.0}% of the measured time",
                    share * 100.0
                ));
            }
        }
        Ok(records.into_iter().map(Record::Measurement).collect())
    }

    fn own_cost(&self, request: &Request) -> Result<Vec<Record>> {
        let empty = least_cost::<T, _>(&NoopLibrary, request)?;
        let copying = match T::COPIES {
            true => Some(least_cost::<T, _>(&CopyLibrary, request)?),
            false => None,
        };
        let sides = T::SIDES.iter().enumerate();
        let records = sides.map(|(index, side)| {
            Record::Overhead(Overhead {
                nanoseconds: Some(empty[index]),
                copies_nanoseconds: copying
                    .as_ref()
                    .map(|copying| (copying[index] - empty[index]).max(0.0)),
                ..request.overhead(*side)
            })
        });
        Ok(records.collect())
    }

    fn countable(&self) -> Option<&dyn Countable<L>> {
        T::COUNTABLE.then_some(self)
    }
}

impl<T: Timed, L: TlsLibrary> Countable<L> for T {
    fn work(&self, scenario: &Scenario) -> Result<Work> {
        T::work(scenario)
    }

    fn is_random(&self) -> bool {
        T::RANDOM
    }

    fn is_long(&self) -> bool {
        T::LONG
    }

    fn run(
        &self,
        library: &L,
        scenario: &Scenario,
        driver: &mut dyn FnMut(&mut Repeatable<'_>) -> Result<()>,
    ) -> Result<()> {
        let target = Target {
            library,
            scenario,
            checked: true,
        };
        let shared = T::prepare(&target)?;
        T::run(&target, &shared, |step| {
            let mut unused = Tally::new(0, false)?;
            driver(&mut || step(&mut unused))
        })
    }
}

/// Nanoseconds per operation of each role, with a library that encrypts nothing: the mean over the
/// threads.
fn least_cost<T: Timed, L: TlsLibrary>(library: &L, request: &Request) -> Result<Vec<f64>> {
    let target = Target {
        library,
        scenario: &request.scenario,
        checked: false,
    };
    let work = T::work(target.scenario)?;
    let shared = T::prepare(&target)?;
    let threads = on_threads(request, |gate| {
        T::run(&target, &shared, |step| {
            drop(gate);
            // The least of several windows: whatever else runs on the host only adds to it.
            let mut least = vec![f64::INFINITY; T::SIDES.len()];
            for _ in 0..OVERHEAD_WINDOWS {
                let mut tally = Tally::new(T::SIDES.len(), T::LATENCY && request.latency)?;
                repeat(OVERHEAD_WINDOW, 1, || step(&mut tally))?;
                let operations = tally.steps * work.operations;
                for (least, role) in least.iter_mut().zip(&tally.roles) {
                    *least = least.min(mean(role.total(), operations));
                }
            }
            Ok(least)
        })
    })?;
    let mean = |index| threads.iter().map(|it| it[index]).sum::<f64>() / threads.len() as f64;
    Ok((0..T::SIDES.len()).map(mean).collect())
}

/// How long to warm up, and how long to measure.
fn spans(request: &Request) -> Result<[Duration; 2]> {
    let span = |seconds| {
        Duration::try_from_secs_f64(seconds)
            .with_context(|| format!("{seconds} s is no span of time"))
    };
    Ok([
        span(request.warmup_seconds)?,
        span(request.measure_seconds)?,
    ])
}

/// Nanoseconds per operation.
fn mean(time: Duration, operations: u64) -> f64 {
    time.as_nanos() as f64 / operations as f64
}

/// The figure for all phases together: work by time, or the mean time of one operation.
fn whole(rate: f64, quantity: Quantity) -> Observation {
    match quantity.per_second() {
        Some(unit) => Observation::new(Phase::Total, Metric::RATE, rate, unit),
        None => duration(Phase::Total, 1e6 / rate),
    }
}

fn duration(phase: Phase, microseconds: f64) -> Observation {
    Observation::new(phase, Metric::DURATION, microseconds, Unit::MICROSECONDS)
}

/// The record of one role: the sum of the threads' rates (or the time of one operation), the mean
/// time of each phase where there are several, and the latencies if they were requested.
fn role(
    request: &Request,
    side: Option<Side>,
    work: Work,
    threads: &[(u64, &Role)],
) -> Result<Measurement> {
    let (mut operations, mut sum, mut rates) = (0, Role::default(), Vec::new());
    for (steps, role) in threads {
        let done = steps * work.operations;
        operations += done;
        rates.push(done as f64 * work.amount / role.total().as_secs_f64());
        for (phase, time) in &role.phases {
            sum.add(*phase, *time);
        }
    }
    let mut observations = vec![whole(rates.iter().sum(), work.quantity)];
    sum.phases.sort_unstable();
    let phases = sum.phases.iter().filter(|it| it.0 != Phase::Total);
    observations
        .extend(phases.map(|(phase, time)| duration(*phase, mean(*time, operations) / 1e3)));
    let latencies = threads.iter().filter_map(|it| it.1.latencies.as_ref());
    let latencies = Latencies::merged(latencies)?;
    observations.extend(latencies.iter().flat_map(Latencies::observations));
    let stalls = Latencies::merged(threads.iter().filter_map(|it| it.1.stalls.as_ref()))?;
    observations.extend(stalls.iter().flat_map(Latencies::stalls));
    Ok(Measurement {
        per_thread: (rates.len() > 1).then_some(rates),
        histogram: latencies.map(|it| it.encode()).transpose()?,
        ..request.measurement(side, operations, sum.total(), observations)
    })
}

/// What all threads together did by the wall clock: from the gate to the end of the last thread,
/// with both roles and the harness' checks in it.
fn throughput(request: &Request, work: Work, windows: &[Window]) -> Result<Measurement> {
    let start = windows.iter().map(|window| window.start).min();
    let end = windows.iter().map(|window| window.end).max();
    let wall = start.zip(end).map(|(start, end)| end - start);
    let wall = wall.context("no thread measured")?;
    let done = |window: &Window| window.tally.steps * work.operations;
    let amount = |operations: u64| operations as f64 * work.amount;
    let operations: u64 = windows.iter().map(done).sum();
    let rates = windows
        .iter()
        .map(|window| amount(done(window)) / (window.end - window.start).as_secs_f64());
    let value = amount(operations) / wall.as_secs_f64();
    Ok(Measurement {
        per_thread: (windows.len() > 1).then(|| rates.collect()),
        ..request.measurement(None, operations, wall, vec![whole(value, work.quantity)])
    })
}

#[cfg(test)]
#[path = "timed/tests.rs"]
mod tests;
