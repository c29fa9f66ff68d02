//! Memory of a set-up: the bytes that remain after its first handshake, and the bytes allocated
//! until then.
//!
//! Two fresh processes first make another set-up, so that one-time allocations of the library do
//! not count. The first process makes several, since the kernel counts whole pages. In the second,
//! glibc's mtrace(3) logs each allocation of one set-up.

use std::{
    collections::HashMap,
    env, fs,
    path::{Path, PathBuf},
    process::{self, Command},
};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use super::{Bench, what};
use crate::{
    allocator,
    library::{Setup, TlsLibrary},
    process::answer,
    record::{Metric, Observation, Phase, Statistic, Unit},
    scenario::{Scenario, SetUp},
};

/// The largest number of names whose allocations are logged: the log has a line for each
/// allocation.
const MOST_TRACED: u32 = 100;

/// Number of set-ups that are kept; one for a server with `MOST_TRACED` names or more.
const KEPT: u64 = 8;

/// The library that contains mtrace since glibc 2.34.
const TRACER: &str = "libc_malloc_debug.so.0";

/// The set-up that a fresh process must make and keep.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Keeping {
    scenario: Scenario,
    traced: bool,
}

/// Bytes by which a process grew.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Growth {
    allocated: u64,
    resident: u64,
}

/// Bytes in use by this process, by the allocator's and the kernel's count.
fn usage() -> Result<Growth> {
    let statm = fs::read_to_string("/proc/self/statm").context("/proc/self/statm")?;
    let pages = statm.split(' ').nth(1);
    let pages: u64 = pages
        .context("/proc/self/statm has no second field")?
        .parse()?;
    Ok(Growth {
        allocated: allocator::in_use()?,
        resident: pages * rustix::param::page_size() as u64,
    })
}

#[cfg(target_env = "gnu")]
unsafe extern "C" {
    fn mtrace();
    fn muntrace();
}

/// Starts or stops the log of allocations, if the environment names its file.
#[cfg(target_env = "gnu")]
fn trace(on: bool) {
    // SAFETY: glibc allows both calls at any time.
    unsafe { if on { mtrace() } else { muntrace() } }
}

/// Only glibc has mtrace.
#[cfg(not(target_env = "gnu"))]
fn trace(_: bool) {}

/// Makes and keeps the set-up of a scenario in this process, which should be fresh.
///
/// # Errors
///
/// The library rejects it, or a handshake failed.
pub fn keep<L: TlsLibrary>(library: &L, keeping: &Keeping) -> Result<Growth> {
    let scenario = &keeping.scenario;
    let bench = Bench::new(library, scenario, true)?;
    let set_up = what(scenario)?;
    let traced = keeping.traced;
    let number = match set_up {
        _ if traced => 1,
        SetUp::Names(names) if names >= MOST_TRACED => 1,
        _ => KEPT,
    };
    let grown = match set_up {
        SetUp::Anchors(_) => kept(number, traced, || library.anchors(bench.client.trusted)),
        SetUp::PrivateKey => {
            let key = Setup::server(scenario)?.identity;
            let key = key.context("a server needs an identity")?.key;
            kept(number, traced, || library.private_key(key))
        }
        SetUp::Client(_) => {
            let server = library.server_config(&bench.server)?;
            kept(number, traced, || {
                let client = library.client_config(&bench.client)?;
                bench.first_handshake(&client, &server)?;
                Ok(client)
            })
        }
        SetUp::Server | SetUp::Names(_) => {
            let client = library.client_config(&bench.client)?;
            kept(number, traced, || {
                let server = library.server_config(&bench.server)?;
                bench.first_handshake(&client, &server)?;
                Ok(server)
            })
        }
        other => bail!("{other} keeps nothing"),
    }?;
    Ok(Growth {
        allocated: grown.allocated / number,
        resident: grown.resident / number,
    })
}

/// The allocator's own count is not available while allocations are logged.
fn usage_unless(traced: bool) -> Result<Growth> {
    match traced {
        false => usage(),
        true => Ok(Growth::default()),
    }
}

/// Makes one value, then keeps `number` more; returns the growth of the process by these.
fn kept<T>(number: u64, traced: bool, mut make: impl FnMut() -> Result<T>) -> Result<Growth> {
    let once = make()?;
    let mut all = Vec::with_capacity(usize::try_from(number)?);
    let before = usage_unless(traced)?;
    trace(traced);
    let made = (0..number).try_for_each(|_| {
        all.push(make()?);
        anyhow::Ok(())
    });
    trace(false);
    made?;
    let after = usage_unless(traced)?;
    drop((once, all));
    Ok(Growth {
        allocated: after.allocated.saturating_sub(before.allocated),
        resident: after.resident.saturating_sub(before.resident),
    })
}

/// The allocations in a log of mtrace.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Trace {
    number: u64,
    bytes: u64,
    peak: u64,
}

impl Trace {
    /// Parses mtrace's log: `@ WHERE + ADDRESS SIZE` for an allocation, `-` and an address for a
    /// free, `<` and `>` for a reallocation.
    fn read(text: &str) -> Result<Self> {
        let mut found = Self::default();
        let mut living = HashMap::new();
        let mut in_use = 0;
        for (index, line) in text.lines().enumerate() {
            let mut words = line.split(' ').skip_while(|it| !is_sign(it));
            let (sign, address, size) = (words.next(), words.next(), words.next());
            let (Some(sign), Some(address)) = (sign, address) else {
                continue; // "= Start"
            };
            if matches!(sign, "-" | "<") {
                // An address allocated before the log started is not counted.
                in_use -= living.remove(address).unwrap_or(0);
                continue;
            }
            let size = size.and_then(|it| it.strip_prefix("0x"));
            let size = size.and_then(|it| u64::from_str_radix(it, 16).ok());
            let size = size.with_context(|| {
                format!(
                    "mtrace, line {}: found {line:?}, expected a size",
                    index + 1
                )
            })?;
            found.number += 1;
            found.bytes += size;
            in_use += size;
            living.insert(address, size);
            found.peak = found.peak.max(in_use);
        }
        Ok(found)
    }
}

fn is_sign(word: &str) -> bool {
    matches!(word, "+" | "-" | "<" | ">")
}

/// A file that is removed on drop.
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        // If it cannot be removed, it stays in the temporary folder.
        let _ = fs::remove_file(&self.0);
    }
}

/// Runs this program again with the argument `keep`.
fn in_fresh_process(scenario: &Scenario, trace: Option<&Path>) -> Result<Growth> {
    let mut command = Command::new(env::current_exe()?);
    command.arg("keep");
    if let Some(file) = trace {
        command.env("LD_PRELOAD", TRACER).env("MALLOC_TRACE", file);
    }
    let keeping = Keeping {
        scenario: scenario.clone(),
        traced: trace.is_some(),
    };
    Ok(serde_json::from_slice(&answer(command, &keeping)?)?)
}

/// The figures other than time; empty if nothing is kept.
///
/// # Errors
///
/// A process failed.
pub fn observe(scenario: &Scenario) -> Result<Vec<Observation>> {
    let traced = match what(scenario)? {
        SetUp::Anchors(_) | SetUp::PrivateKey | SetUp::Client(_) | SetUp::Server => true,
        SetUp::Names(number) => number <= MOST_TRACED,
        _ => return Ok(Vec::new()),
    };
    let grown = in_fresh_process(scenario, None)?;
    let mut figures = vec![(Metric::ALLOCATED, grown.allocated, Unit::BYTES)];
    // Growth of less than a page is not recorded.
    if grown.resident > 0 {
        figures.push((Metric::RESIDENT, grown.resident, Unit::BYTES));
    }
    if traced && cfg!(target_env = "gnu") && allocator::found()? == "system" {
        let name = format!("tls-set-up-{}", process::id());
        let file = Temporary(env::temp_dir().join(name));
        in_fresh_process(scenario, Some(&file.0))?;
        let text = fs::read_to_string(&file.0).with_context(|| {
            format!("no allocations were recorded: found no {TRACER} of glibc, or it does not run")
        })?;
        let trace = Trace::read(&text)?;
        figures.extend([
            (
                Metric::new("allocations"),
                trace.number,
                Unit::new("allocations"),
            ),
            (Metric::new("allocated-in-all"), trace.bytes, Unit::BYTES),
            (Metric::new("peak-allocated"), trace.peak, Unit::BYTES),
        ]);
    }
    let observation = |(metric, value, unit)| Observation {
        phase: Phase::Total,
        metric,
        statistic: Statistic::Value,
        value: value as f64,
        unit,
    };
    Ok(figures.into_iter().map(observation).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "= Start\n\
        @ ./tls:(f+0x12)[0x1] + 0x100 0x20\n\
        @ /lib/libc.so.6:[0x2] + 0x200 0x8\n\
        @ ./tls:[0x3] - 0x100\n\
        @ ./tls:[0x4] < 0x200\n\
        @ ./tls:[0x4] > 0x300 0x10\n\
        @ ./tls:[0x5] - 0x999\n\
        @ ./tls:[0x6] + 0x400 0x11\n\
        = End\n";

    #[test]
    fn the_trace_gives_number_bytes_and_peak_of_allocations() {
        let expected = Trace {
            number: 4,
            bytes: 0x20 + 0x8 + 0x10 + 0x11,
            peak: 0x28,
        };
        assert_eq!(Trace::read(TEXT).unwrap(), expected);
        assert_eq!(Trace::read("= Start\n= End\n").unwrap(), Trace::default());
    }

    #[test]
    fn an_error_names_the_line_of_an_allocation_without_a_size() {
        let text = "= Start\n@ ./tls:[0x3] + 0x100\n";
        let error = Trace::read(text).unwrap_err().to_string();
        assert!(error.starts_with("mtrace, line 2: found "), "{error}");
    }

    #[test]
    fn the_growth_excludes_the_first_set_up() {
        // Other tests allocate and free at the same time, but not during each of the 50 tries.
        let expected = 2 << 20..(2 << 20) + 16384;
        let once = |_| {
            kept(2, false, || Ok(vec![1_u8; 1 << 20]))
                .unwrap()
                .allocated
        };
        let found: Vec<u64> = (0..50).map(once).collect();
        assert!(found.iter().any(|it| expected.contains(it)), "{found:?}");
    }
}
