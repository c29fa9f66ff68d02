//! Runs the same work on every thread of a scenario, starting at the same moment.

use std::{
    sync::Barrier,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Result, anyhow, ensure};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

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
///
/// # Errors
/// The error of the first thread that failed.
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
        spawned
            .into_iter()
            .map(|thread| thread.join().map_err(|_| anyhow!("a thread panicked"))?)
            .collect()
    })
}

/// Binds this thread to one of the logical processors that the process may use, round-robin.
fn pin(index: usize) -> Result<()> {
    let allowed = sched_getaffinity(None)?;
    let processors: Vec<usize> = (0..CpuSet::MAX_CPU)
        .filter(|processor| allowed.is_set(*processor))
        .collect();
    let mut one = CpuSet::new();
    one.set(processors[index % processors.len()]);
    Ok(sched_setaffinity(None, &one)?)
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
