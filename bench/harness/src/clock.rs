//! The only clock of the harness: monotonic, in nanoseconds.

use std::{
    fs,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use jiff::Timestamp;

/// The time of day, to date records; no measurement uses it.
#[expect(
    clippy::disallowed_methods,
    reason = "the one place that dates records"
)]
pub fn date() -> Timestamp {
    Timestamp::now()
}

/// The wall clock and the processor time of a process, at one moment.
#[derive(Clone, Copy, Debug)]
pub struct ProcessTimes {
    /// Monotonic time since a moment that is the same for all processes of the host.
    pub wall: Duration,
    /// Processor time since the process started.
    pub processor: Duration,
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one clock that two processes share, and those of processes"
)]
fn read(clock: libc::clockid_t) -> Result<Duration> {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: clock_gettime only writes into `time`.
    let result = unsafe { libc::clock_gettime(clock, &raw mut time) };
    ensure!(result == 0, "the system has no clock {clock}");
    let (seconds, nanoseconds) = (time.tv_sec.try_into()?, time.tv_nsec.try_into()?);
    Ok(Duration::new(seconds, nanoseconds))
}

/// Reads both clocks of this process.
pub fn process_times() -> Result<ProcessTimes> {
    Ok(ProcessTimes {
        wall: read(libc::CLOCK_MONOTONIC)?,
        processor: read(libc::CLOCK_PROCESS_CPUTIME_ID)?,
    })
}

/// Processor time of a process: in its own code, and in the kernel's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessorTime {
    pub user: Duration,
    pub system: Duration,
}

impl ProcessorTime {
    /// That of this process since its start. The kernel divides the sum, which is exact, by where
    /// its timer found the process: 250 times a second with the usual configuration.
    pub fn of_this_process() -> Result<Self> {
        // SAFETY: rusage consists of numbers; all-zero bytes are a valid value.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: getrusage only writes into `usage`.
        let result = unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) };
        ensure!(result == 0, "getrusage failed");
        let time = |it: libc::timeval| -> Result<Duration> {
            let (seconds, micros) = (it.tv_sec.try_into()?, it.tv_usec.try_into()?);
            Ok(Duration::from_secs(seconds) + Duration::from_micros(micros))
        };
        Ok(Self {
            user: time(usage.ru_utime)?,
            system: time(usage.ru_stime)?,
        })
    }

    /// That of another process since its start. The sum is exact; the kernel reports the time in its
    /// code in ticks of 10 ms.
    pub fn of_process(id: u32) -> Result<Self> {
        let mut clock = 0;
        // SAFETY: the call only writes into `clock`.
        let result = unsafe { libc::clock_getcpuclockid(id.cast_signed(), &raw mut clock) };
        ensure!(result == 0, "there is no process {id}");
        let total = read(clock).with_context(|| format!("there is no process {id}"))?;
        let path = format!("/proc/{id}/stat");
        let text = fs::read_to_string(&path).with_context(|| path.clone())?;
        let system = system_ticks(&text).with_context(|| format!("{path}: {text:?}"))?;
        let ticks = rustix::param::clock_ticks_per_second();
        let system = Duration::from_secs_f64(system as f64 / ticks as f64).min(total);
        Ok(Self {
            user: total - system,
            system,
        })
    }

    /// What passed since an earlier moment.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        Self {
            user: self.user.saturating_sub(before.user),
            system: self.system.saturating_sub(before.system),
        }
    }
}

/// The system time in the text of `/proc/ID/stat`: the fifteenth field. The second, in parentheses, is a
/// name.
fn system_ticks(text: &str) -> Option<u64> {
    let (_, fields) = text.rsplit_once(')')?;
    fields.split_whitespace().nth(12)?.parse().ok()
}

/// Cost of one clock read in nanoseconds: the minimum of several means, since other work on the
/// host can only add time.
pub fn cost() -> f64 {
    const READS: u32 = 2_000;
    let mean = || {
        let start = Instant::now();
        for _ in 1..READS {
            std::hint::black_box(Instant::now());
        }
        start.elapsed().as_nanos() as f64 / f64::from(READS)
    };
    (0..10).map(|_| mean()).fold(f64::INFINITY, f64::min)
}

/// Consecutive spans of time: each ends where the next begins, so each costs one clock read.
pub struct Laps(Instant);

impl Laps {
    /// Begins the first span.
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// Ends a span and begins the next.
    pub fn lap(&mut self) -> Duration {
        let now = Instant::now();
        let span = now - self.0;
        self.0 = now;
        span
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processor_time_of_a_process_is_read_from_outside_too() {
        let before = ProcessorTime::of_this_process().unwrap();
        let found = ProcessorTime::of_process(std::process::id()).unwrap();
        let after = ProcessorTime::of_this_process().unwrap();
        let total = |it: ProcessorTime| it.user + it.system;
        let slack = Duration::from_millis(10);
        assert!(total(before) <= total(found) + slack && total(found) <= total(after) + slack);
        assert!(ProcessorTime::of_process(i32::MAX.cast_unsigned()).is_err());
    }

    /// Works in another thread until its process has spent so much more in its own code, or in the kernel.
    fn work(is_enough: fn(ProcessorTime) -> bool, in_kernel: bool) -> ProcessorTime {
        let before = ProcessorTime::of_this_process().unwrap();
        let work = || {
            use std::io::Read as _;
            let mut zeros = fs::File::open("/dev/zero").unwrap();
            let mut buffer = vec![0_u8; 1 << 16];
            let start = Instant::now();
            loop {
                match in_kernel {
                    true => zeros.read_exact(&mut buffer).unwrap(),
                    false => (0..64).for_each(|it| buffer.fill(it)),
                }
                std::hint::black_box(&buffer);
                let spent = ProcessorTime::of_this_process().unwrap().since(before);
                // On a busy host it may have a processor for a small part of the time.
                if is_enough(spent) || start.elapsed() > Duration::from_secs(10) {
                    return spent;
                }
            }
        };
        std::thread::scope(|scope| scope.spawn(work).join().unwrap())
    }

    #[test]
    fn the_time_of_a_process_is_that_of_all_its_threads_in_its_code_and_in_the_kernel() {
        const MUCH: Duration = Duration::from_millis(40);
        let before = process_times().unwrap();
        let own = ProcessorTime::of_this_process().unwrap();
        let user = work(|it| it.user >= MUCH, false);
        let system = work(|it| it.system >= MUCH, true);
        let after = process_times().unwrap();
        assert!(
            user.user >= MUCH && system.system >= MUCH,
            "{user:?} and {system:?}"
        );
        let spent = after.processor - before.processor;
        // The two are read from clocks of other precision.
        assert!(spent >= MUCH + MUCH / 2, "{spent:?}");
        assert_eq!(own.since(own), ProcessorTime::default());
    }

    #[test]
    fn the_time_of_another_process_has_that_of_its_kernel_and_not_ours() {
        let mut copying = std::process::Command::new("dd")
            .args(["if=/dev/zero", "of=/dev/null", "bs=1M"])
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let start = Instant::now();
        let found = loop {
            let found = ProcessorTime::of_process(copying.id());
            let is_enough = |it: &ProcessorTime| it.system >= Duration::from_millis(50);
            if found.as_ref().is_ok_and(is_enough) || start.elapsed() > Duration::from_secs(20) {
                break found;
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        copying.kill().unwrap();
        copying.wait().unwrap();
        let found = found.unwrap();
        // It clears memory in the kernel, and does nothing else.
        assert!(found.system >= Duration::from_millis(50), "{found:?}");
        assert!(found.system > found.user, "{found:?}");
    }

    #[test]
    fn the_system_time_is_read_after_a_name_with_spaces_and_parentheses() {
        let text = "71 (a ) b) S 1 71 71 0 -1 4194304 9 0 0 0 300 25 0 0 20 0 1";
        assert_eq!(system_ticks(text), Some(25));
        assert_eq!(system_ticks("71 (a) S 1"), None);
    }

    #[test]
    fn the_cost_of_a_clock_read_is_the_mean_of_many() {
        let read = || {
            let start = Instant::now();
            for _ in 0..1000 {
                std::hint::black_box(Instant::now());
            }
            start.elapsed().as_nanos() as f64 / 1000.0
        };
        let least = (0..100).map(|_| read()).fold(f64::INFINITY, f64::min);
        let ratio = cost() / least;
        assert!((0.25..4.0).contains(&ratio), "{ratio} of {least} ns");
    }

    #[test]
    fn a_lap_is_the_time_since_the_previous_one() {
        let pause = Duration::from_millis(20);
        let mut laps = Laps::start();
        std::thread::sleep(pause);
        assert!(laps.lap() >= pause);
        assert!(laps.lap() < pause);
    }

    #[test]
    fn records_are_dated_today() {
        let year: i16 = date().strftime("%Y").to_string().parse().unwrap();
        assert!(year >= 2026, "{year}");
    }
}
