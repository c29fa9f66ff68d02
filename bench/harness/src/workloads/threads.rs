//! Runs the same work on every thread of a scenario, starting at the same moment.

use std::{
    sync::Barrier,
    thread::{self, ScopedJoinHandle},
    time::{Duration, Instant},
};

use anyhow::{Result, anyhow, ensure};
use rustix::{
    process::Pid,
    thread::{CpuSet, sched_getaffinity, sched_setaffinity},
};

use crate::request::Request;

/// Held by a thread until it is ready. Dropping it, on failure too, waits for all other threads.
pub struct Gate<'a>(&'a Barrier);

impl Drop for Gate<'_> {
    fn drop(&mut self) {
        self.0.wait();
    }
}

/// Runs `work` on as many threads as the scenario says: each prepares, drops its gate, and then
/// all measure at once. A single thread is started in the same way.
pub fn on_threads<R: Send>(
    request: &Request,
    work: impl Fn(Gate<'_>) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let threads = request.scenario.threads.unwrap_or(1) as usize;
    ensure!(threads > 0, "threads is 0, expected at least 1");
    let (barrier, work) = (Barrier::new(threads), &work);
    thread::scope(|scope| {
        let spawned: Vec<_> = (0..threads)
            .map(|index| {
                let gate = Gate(&barrier);
                scope.spawn(move || {
                    if request.pinned {
                        pin(index)?;
                    }
                    work(gate)
                })
            })
            .collect();
        spawned.into_iter().map(joined).collect()
    })
}

/// The result of a thread, when it has ended.
pub fn joined<T>(thread: ScopedJoinHandle<'_, Result<T>>) -> Result<T> {
    let panicked = |_| Err(anyhow!("a thread panicked"));
    thread.join().unwrap_or_else(panicked)
}

/// Binds this thread to one of the logical processors that the process may use, round-robin.
pub fn pin(index: usize) -> Result<()> {
    pin_process(None, index)
}

/// Binds the first thread of a process, or this thread.
pub fn pin_process(process: Option<Pid>, index: usize) -> Result<()> {
    let allowed = sched_getaffinity(None)?;
    let processors: Vec<usize> = (0..CpuSet::MAX_CPU)
        .filter(|processor| allowed.is_set(*processor))
        .collect();
    let mut one = CpuSet::new();
    one.set(processors[index % processors.len()]);
    Ok(sched_setaffinity(process, &one)?)
}

/// Calls `work` for a span of time, and at least `least` times.
pub fn repeat(span: Duration, least: u32, mut work: impl FnMut() -> Result<()>) -> Result<()> {
    let start = Instant::now();
    let mut count = 0;
    while count < least || start.elapsed() < span {
        work()?;
        count += 1;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use anyhow::bail;

    use super::*;

    fn request(threads: u32, pinned: bool) -> Request {
        serde_json::from_value(serde_json::json!({
            "schema": 1, "round": 1, "block": 0, "implementation": "a-1.0",
            "scenario": {"operation": "handshake", "threads": threads}, "pinned": pinned,
            "measure_seconds": 0.0, "warmup_seconds": 0.0,
        }))
        .unwrap()
    }

    /// The processors that this thread may use.
    fn allowed() -> Vec<usize> {
        let set = sched_getaffinity(None).unwrap();
        (0..CpuSet::MAX_CPU).filter(|it| set.is_set(*it)).collect()
    }

    #[test]
    fn pinned_threads_have_one_processor_each_in_order() {
        let all = allowed();
        let threads = u32::try_from(all.len()).unwrap() + 1;
        let found = on_threads(&request(threads, true), |_| Ok(allowed())).unwrap();
        let expected = all.iter().cycle().take(threads as usize);
        assert_eq!(found, expected.map(|it| vec![*it]).collect::<Vec<_>>());
        assert_eq!(allowed(), all, "the thread that starts them stays free");
    }

    #[test]
    fn a_thread_that_is_not_pinned_may_use_every_processor() {
        let found = on_threads(&request(2, false), |_| Ok(allowed())).unwrap();
        assert_eq!(found, [allowed(), allowed()]);
    }

    #[test]
    fn a_thread_that_fails_ends_the_others() {
        let first = AtomicUsize::new(0);
        let result = on_threads(&request(3, false), |gate| {
            if first.fetch_add(1, Relaxed) == 0 {
                bail!("not this one");
            }
            drop(gate);
            Ok(())
        });
        assert_eq!(result.unwrap_err().to_string(), "not this one");
        let error = on_threads(&request(0, false), |_| Ok(())).unwrap_err();
        assert!(error.to_string().contains("threads is 0"), "{error}");
    }
}
