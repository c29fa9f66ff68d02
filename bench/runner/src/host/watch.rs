//! The host during one round: load by others, steal time, frequency, throttling, temperature.

use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use tls_harness::record::Cause;

use super::root::Root;

/// Load by others above which a round is disturbed, in per cent of one core.
pub const LOAD_LIMIT_PERCENT: f64 = 10.0;
/// Steal time above which a round is disturbed, in per cent of all cores' time.
pub const STEAL_LIMIT_PERCENT: f64 = 1.0;
/// Processor time that cannot be distinguished from the ticks that count it: five ticks of 10 ms.
const RESOLUTION_SECONDS: f64 = 0.05;
/// Difference between the time of day and the monotonic clock over a round that counts as a step. A
/// gradual adjustment stays far below it.
const STEP_LIMIT: SignedDuration = SignedDuration::from_secs(1);

#[derive(Clone, Debug, Default)]
struct Counters {
    /// Processor time of all processes and the kernel, in seconds since boot.
    busy_seconds: Option<f64>,
    steal_seconds: Option<f64>,
    processors: usize,
    throttle_count: Option<u64>,
}

impl Counters {
    fn read(root: &Root) -> Self {
        let stat = root.read("proc/stat").unwrap_or_default();
        let hertz = rustix::param::clock_ticks_per_second() as f64;
        // Columns in proc_stat(5): user nice system idle iowait irq softirq steal guest guest_nice.
        // Guest times are included in user times.
        let total: Vec<f64> = stat
            .lines()
            .find_map(|line| line.strip_prefix("cpu "))
            .map(|line| {
                line.split_whitespace()
                    .filter_map(|n| n.parse().ok())
                    .collect()
            })
            .unwrap_or_default();
        let seconds = |index: usize| total.get(index).map(|ticks: &f64| ticks / hertz);
        let per_cpu = |line: &&str| {
            line.strip_prefix("cpu")
                .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        };
        Self {
            busy_seconds: [0, 1, 2, 5, 6].iter().map(|index| seconds(*index)).sum(),
            steal_seconds: seconds(7),
            processors: stat.lines().filter(per_cpu).count(),
            throttle_count: throttle_count(root),
        }
    }
}

/// Number of throttling events of cores and packages since boot; `None` if the host does not report
/// it.
pub fn throttle_count(root: &Root) -> Option<u64> {
    let counts = ["core", "package"]
        .map(|part| root.of_processors(&format!("thermal_throttle/{part}_throttle_count")));
    let counts = counts
        .iter()
        .flatten()
        .filter_map(|count| count.parse().ok());
    counts.reduce(|sum: u64, count| sum + count)
}

/// The highest current temperature of any sensor in °C (the kernel reports thousandths).
pub fn temperature(root: &Root) -> Option<f64> {
    let sensors = root.sensors().into_iter();
    sensors
        .filter_map(|(_, path)| root.read_number::<f64>(&path))
        .map(|thousandths| thousandths / 1000.0)
        .reduce(f64::max)
}

/// Current mean frequency of the processors, MHz.
pub fn frequency(root: &Root) -> Option<f64> {
    mean(&root.frequencies("scaling_cur_freq"))
}

fn mean(values: &[f64]) -> Option<f64> {
    let count = values.len() as f64;
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / count)
}

/// The host's state during one round. Percentages refer to one core, except steal time, which
/// refers to all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conditions {
    pub elapsed: Duration,
    pub load_by_others_percent: Option<f64>,
    pub steal_percent: Option<f64>,
    pub frequency_mhz: Option<f64>,
    pub throttle_count: Option<u64>,
    pub temperature_celsius: Option<f64>,
    /// Step of the time of day. No figure depends on it.
    pub stepped: Option<SignedDuration>,
    /// Disturbances of the round, each as a code and a text; empty if there were none.
    pub disturbances: Vec<(Cause, String)>,
}

/// Watches the host from the start of a round to its end.
pub struct Watch<'a> {
    root: &'a Root,
    date: Timestamp,
    start: Instant,
    before: Counters,
    frequencies: Vec<f64>,
    temperatures: Vec<f64>,
}

impl<'a> Watch<'a> {
    pub fn start(root: &'a Root) -> Self {
        Self {
            root,
            date: Timestamp::now(),
            start: Instant::now(),
            before: Counters::read(root),
            frequencies: Vec::new(),
            temperatures: Vec::new(),
        }
    }

    /// Must be called between blocks, never during one.
    pub fn sample(&mut self) {
        self.frequencies.extend(frequency(self.root));
        self.temperatures.extend(temperature(self.root));
    }

    /// `own_seconds`: processor time of the runner and its child processes in this round.
    pub fn finish(self, own_seconds: f64) -> Conditions {
        let elapsed = self.start.elapsed();
        let stepped = stepped(Timestamp::now().duration_since(self.date), elapsed);
        let seconds = elapsed.as_secs_f64();
        let after = Counters::read(self.root);
        let grown = |before: Option<f64>, after: Option<f64>| Some((after? - before?).max(0.0));
        let busy = grown(self.before.busy_seconds, after.busy_seconds);
        let others = busy.map(|busy| (busy - own_seconds).max(0.0));
        let stolen = grown(self.before.steal_seconds, after.steal_seconds);
        let capacity = seconds * after.processors.max(1) as f64;
        let mut conditions = Conditions {
            elapsed,
            load_by_others_percent: others.map(|others| 100.0 * others / seconds),
            steal_percent: stolen.map(|stolen| 100.0 * stolen / capacity),
            frequency_mhz: mean(&self.frequencies),
            throttle_count: after
                .throttle_count
                .zip(self.before.throttle_count)
                .map(|(after, before)| after.saturating_sub(before)),
            temperature_celsius: self.temperatures.into_iter().reduce(f64::max),
            stepped,
            disturbances: Vec::new(),
        };
        let resolved = |time: Option<f64>| time.is_some_and(|time| time > RESOLUTION_SECONDS);
        let over = |percent: Option<f64>, limit: f64| percent.filter(|percent| *percent > limit);
        let load = over(conditions.load_by_others_percent, LOAD_LIMIT_PERCENT);
        let load = load.filter(|_| resolved(others)).map(|load| {
            format!("load by others of {load:.1}% of a core is above {LOAD_LIMIT_PERCENT}%")
        });
        let steal = over(conditions.steal_percent, STEAL_LIMIT_PERCENT);
        let steal = steal
            .filter(|_| resolved(stolen))
            .map(|steal| format!("steal time of {steal:.1}% is above {STEAL_LIMIT_PERCENT}%"));
        let throttled = conditions.throttle_count.filter(|count| *count > 0);
        let throttled = throttled.map(|count| format!("throttled {count} times"));
        let causes = [
            (Cause::Load, load),
            (Cause::Steal, steal),
            (Cause::Throttled, throttled),
        ];
        let causes = causes.into_iter();
        conditions.disturbances = causes
            .filter_map(|(cause, text)| Some((cause, text?)))
            .collect();
        conditions
    }
}

/// Difference between the time of day and the monotonic clock, if it is large enough for a step.
pub fn stepped(by_date: SignedDuration, elapsed: Duration) -> Option<SignedDuration> {
    let step = by_date - SignedDuration::try_from(elapsed).ok()?;
    (step.abs() > STEP_LIMIT).then_some(step)
}
