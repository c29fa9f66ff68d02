//! Detects whether a thread was stopped while it was timed. A stopped thread neither runs nor waits
//! for a processor: its process was suspended, its quota was used up, or its machine was suspended.
//! Waiting for a processor is load by others, which the runner watches in each round.

use std::{
    fs,
    time::{Duration, Instant},
};

/// Share of the time above which a thread counts as stopped, if `SHORTEST` holds too.
const LIMIT: f64 = 0.1;

/// Shortest mean absence of a stopped thread. Threads that wait for each other's locks are absent
/// too, but only for microseconds.
const SHORTEST: Duration = Duration::from_millis(20);

/// The time that a thread has spent since it started.
#[derive(Clone, Copy, Debug)]
pub struct Presence {
    time: Instant,
    running: Duration,
    waiting: Duration,
    /// Number of voluntary context switches.
    absences: u64,
}

impl Presence {
    /// Reads the figures of this thread; `None` if the kernel does not record them.
    pub fn now() -> Option<Self> {
        // Fields of schedstat (the kernel's Documentation/scheduler/sched-stats.rst): time on a
        // processor and time waiting for one, in nanoseconds.
        let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        let mut fields = text.split_ascii_whitespace().map(str::parse);
        let (_, waiting) = (fields.next()?.ok()?, fields.next()?.ok()?);
        let (running, absences) = usage()?;
        Some(Self {
            time: Instant::now(),
            running,
            waiting: Duration::from_nanos(waiting),
            absences,
        })
    }

    /// Share of the time since `before` in which the thread was stopped; `None` if it was not.
    pub fn stopped_since(&self, before: &Self) -> Option<f64> {
        let passed = self.time - before.time;
        let running = self.running.saturating_sub(before.running);
        let waiting = self.waiting.saturating_sub(before.waiting);
        let away = passed.saturating_sub(running + waiting);
        let absences = self.absences.saturating_sub(before.absences);
        let mean = away.div_f64(absences.max(1) as f64);
        let share = away.as_secs_f64() / passed.as_secs_f64();
        (share > LIMIT && mean >= SHORTEST).then_some(share)
    }
}

/// Processor time and number of voluntary context switches of this thread.
fn usage() -> Option<(Duration, u64)> {
    // SAFETY: rusage consists of numbers; all-zero bytes are a valid value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: getrusage only writes into `usage`.
    let failed = unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) } != 0;
    let time = |it: libc::timeval| {
        let (seconds, micros) = (u64::try_from(it.tv_sec), u64::try_from(it.tv_usec));
        Some(Duration::from_secs(seconds.ok()?) + Duration::from_micros(micros.ok()?))
    };
    let running = time(usage.ru_utime)? + time(usage.ru_stime)?;
    let absences = u64::try_from(usage.ru_nvcsw).ok()?;
    (!failed).then_some((running, absences))
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    fn at(milliseconds: [u64; 3], absences: u64) -> Option<f64> {
        let [passed, running, waiting] = milliseconds.map(Duration::from_millis);
        let before = Presence {
            time: Instant::now(),
            running: Duration::from_secs(1),
            waiting: Duration::from_secs(2),
            absences: 7,
        };
        let after = Presence {
            time: before.time + passed,
            running: before.running + running,
            waiting: before.waiting + waiting,
            absences: before.absences + absences,
        };
        after.stopped_since(&before)
    }

    #[test]
    fn a_thread_that_neither_ran_nor_waited_for_a_processor_was_stopped() {
        assert_eq!(at([1000, 250, 0], 1), Some(0.75));
        assert_eq!(at([1000, 250, 250], 1), Some(0.5));
        assert_eq!(at([2000, 500, 250], 1), Some(0.625), "a share of the time");
        assert_eq!(at([1000, 250, 0], 0), Some(0.75), "the machine was stopped");
        assert_eq!(at([1000, 250, 750], 1), None, "load by others");
        assert_eq!(at([1000, 1000, 0], 0), None);
        assert_eq!(at([1000, 900, 0], 1), None, "a tenth is the limit");
        assert_eq!(at([1000, 899, 0], 1), Some(0.101));
    }

    #[test]
    fn threads_that_wait_for_a_lock_were_not_stopped() {
        assert_eq!(at([1000, 200, 0], 40), Some(0.8), "20 ms at a time");
        assert_eq!(at([1000, 200, 0], 41), None);
        assert_eq!(at([100, 85, 0], 0), None, "15 ms");
    }

    #[test]
    fn time_in_the_kernel_counts_as_running() {
        let counted = || {
            let mut expected = Duration::ZERO;
            while expected < Duration::from_millis(50) {
                let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
                let (running, _) = text.split_once(' ').unwrap();
                expected = Duration::from_nanos(running.parse().unwrap());
            }
            (usage().unwrap().0.as_secs_f64(), expected.as_secs_f64())
        };
        let (found, expected) = thread::spawn(counted).join().unwrap();
        assert!(
            (0.9..1.1).contains(&(found / expected)),
            "{found} s of {expected}"
        );
    }

    #[test]
    fn a_sleeping_thread_was_stopped_and_a_working_one_was_not() {
        let share = |work: fn()| {
            let before = Presence::now().unwrap();
            work();
            Presence::now().unwrap().stopped_since(&before)
        };
        assert!(share(|| thread::sleep(Duration::from_millis(500))).is_some());
        let working = share(|| {
            let start = Instant::now();
            while start.elapsed() < Duration::from_millis(200) {}
        });
        assert_eq!(working, None);
    }
}
