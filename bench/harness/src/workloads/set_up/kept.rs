//! Memory of a set-up: the bytes that remain after its first handshake, and the bytes allocated
//! until then.
//!
//! Two fresh processes first make another set-up, so that one-time allocations of the library do
//! not count. The first process makes several, since the kernel counts whole pages. In the second,
//! each allocation of one set-up is counted (`interposed.rs`).

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use super::bench::{Bench, what};
use crate::{
    allocator,
    interposed::{self, Counts},
    library::{Setup, TlsLibrary},
    process::{answer, this_program},
    record::{Metric, Observation, Phase, Unit},
    scenario::{Scenario, SetUp},
    workloads::growth::Growth,
};

/// The largest number of names whose allocations are counted.
const MOST_COUNTED: u32 = 100;

/// Number of set-ups that are kept; one for a server with `MOST_COUNTED` names or more.
const KEPT: u64 = 8;

/// The set-up that a fresh process must make and keep.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Keeping {
    scenario: Scenario,
    counted: bool,
}

/// What a process that keeps set-ups found.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kept {
    /// Of one set-up.
    growth: Growth,
    calls: Option<Counts>,
}

/// Makes and keeps the set-up of a scenario in this process, which should be fresh.
pub fn keep<L: TlsLibrary>(library: &L, keeping: &Keeping) -> Result<Kept> {
    let scenario = &keeping.scenario;
    let bench = Bench::new(library, scenario, true)?;
    let set_up = what(scenario)?;
    let counted = keeping.counted;
    let number = match set_up {
        _ if counted => 1,
        SetUp::Names(names) if names >= MOST_COUNTED => 1,
        _ => KEPT,
    };
    match set_up {
        SetUp::Anchors(_) => kept(number, counted, || library.anchors(bench.client.trusted)),
        SetUp::PrivateKey => {
            let key = Setup::server(scenario)?.identity;
            let key = key.context("a server needs an identity")?.key;
            kept(number, counted, || library.private_key(key))
        }
        SetUp::Client(_) => {
            let server = library.server_config(&bench.server)?;
            kept(number, counted, || {
                let client = library.client_config(&bench.client)?;
                bench.first_handshake(&client, &server)?;
                Ok(client)
            })
        }
        SetUp::Server | SetUp::Names(_) => {
            let client = library.client_config(&bench.client)?;
            kept(number, counted, || {
                let server = library.server_config(&bench.server)?;
                bench.first_handshake(&client, &server)?;
                Ok(server)
            })
        }
        other => bail!("{other} keeps nothing"),
    }
}

/// Makes one value, then keeps `number` more; returns the growth of the process by each of these.
fn kept<T>(number: u64, counted: bool, mut make: impl FnMut() -> Result<T>) -> Result<Kept> {
    let once = make()?;
    let mut all = Vec::with_capacity(usize::try_from(number)?);
    // The allocator's own count is not available beside functions that count.
    let usage = || match counted {
        true => Ok(Growth::default()),
        false => Growth::until_now(),
    };
    let before = usage()?;
    if counted {
        interposed::start()?;
    }
    interposed::step();
    interposed::toggle();
    let made = (0..number).try_for_each(|_| {
        all.push(make()?);
        anyhow::Ok(())
    });
    interposed::toggle();
    made?;
    let calls = counted.then(interposed::counts).transpose()?;
    let grown = usage()?.since(before);
    drop((once, all));
    Ok(Kept {
        growth: Growth {
            allocated: grown.allocated / number,
            resident: grown.resident / number,
        },
        calls,
    })
}

/// Runs this program again with the argument `keep`.
fn in_fresh_process(scenario: &Scenario, counted: bool) -> Result<Kept> {
    let preloaded = counted.then(interposed::Library::write).transpose()?;
    let mut command = this_program("keep")?;
    if let Some(library) = &preloaded {
        library.preload(&mut command);
    }
    let keeping = Keeping {
        scenario: scenario.clone(),
        counted,
    };
    Ok(serde_json::from_slice(&answer(command, &keeping)?)?)
}

/// The figures other than time; empty if nothing is kept.
pub fn observe(scenario: &Scenario) -> Result<Vec<Observation>> {
    let counted = match what(scenario)? {
        SetUp::Anchors(_) | SetUp::PrivateKey | SetUp::Client(_) | SetUp::Server => true,
        SetUp::Names(number) => number <= MOST_COUNTED,
        _ => return Ok(Vec::new()),
    };
    let Kept { growth, .. } = in_fresh_process(scenario, false)?;
    let mut figures = vec![(Metric::ALLOCATED, growth.allocated, Unit::BYTES)];
    // Growth of less than a page is not recorded.
    if growth.resident > 0 {
        figures.push((Metric::RESIDENT, growth.resident, Unit::BYTES));
    }
    if counted && cfg!(target_env = "gnu") && allocator::found()? == "system" {
        let calls = in_fresh_process(scenario, true)?.calls;
        let calls = calls.context("no allocations were counted")?;
        let allocations = Unit::new("allocations");
        figures.extend([
            (Metric::new("allocations"), calls.allocations, allocations),
            (Metric::new("allocated-in-all"), calls.bytes, Unit::BYTES),
            (Metric::new("peak-allocated"), calls.peaks, Unit::BYTES),
        ]);
    }
    let observation =
        |(metric, value, unit)| Observation::new(Phase::Total, metric, value as f64, unit);
    Ok(figures.into_iter().map(observation).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_growth_excludes_the_first_set_up() {
        // Other tests allocate and free at the same time, but not during each of the 50 tries.
        let expected = 1 << 20..(1 << 20) + 8192;
        let once = |_| {
            let found = kept(2, false, || Ok(vec![1_u8; 1 << 20]));
            found.unwrap().growth.allocated
        };
        let found: Vec<u64> = (0..50).map(once).collect();
        assert!(found.iter().any(|it| expected.contains(it)), "{found:?}");
    }
}
