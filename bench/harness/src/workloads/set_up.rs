//! Set-ups: the work before the first byte, which some programs repeat for each connection.
//!
//! A step makes what the variant names, uses it for one handshake, and frees it; each of these is a
//! phase. So the total includes work that a library postpones until first use. For `process-…` a
//! step is a whole process.

mod bench;
mod kept;

pub use kept::{Keeping, keep};

use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use self::bench::{Bench, Life, alone, ended, what};
use super::{
    timed::{Step, Target, Timed},
    workload::{Quantity, Work},
};
use crate::{
    clock::{ProcessTimes, process_times},
    library::TlsLibrary,
    noop::NoopLibrary,
    process,
    record::{Observation, Phase},
    scenario::{Scenario, SetUp, Side, Variant, VariantKind},
    session::{self, Pair},
};

pub struct SetUps;

impl Timed for SetUps {
    const SIDES: &'static [Option<Side>] = &[None];
    const VARIANTS: &'static [VariantKind] = &[VariantKind::SetUp];
    // Making a server with ten thousand certificates takes seconds.
    const LEAST_WARM_UP: u32 = 1;
    const LONG: bool = true;

    type Shared<L: TlsLibrary> = ();

    fn work(_: &Scenario) -> Result<Work> {
        Ok(Work::one(Quantity::Single))
    }

    fn prepare<L: TlsLibrary>(target: &Target<'_, L>) -> Result<()> {
        match target.checked {
            // Proving it with the large certificate set would take too long.
            true => session::prove_verification(
                target.library,
                &Scenario {
                    variant: None,
                    ..target.scenario.clone()
                },
            ),
            false => Ok(()),
        }
    }

    fn waits(scenario: &Scenario) -> bool {
        let process = |it| matches!(it, SetUp::ProcessClient(_) | SetUp::ProcessServer);
        what(scenario).is_ok_and(process)
    }

    fn beside(scenario: &Scenario) -> Result<Vec<Observation>> {
        kept::observe(scenario)
    }

    fn run<L: TlsLibrary, R>(
        target: &Target<'_, L>,
        (): &(),
        driver: impl FnOnce(&mut Step<'_>) -> Result<R>,
    ) -> Result<R> {
        match what(target.scenario)? {
            SetUp::ProcessClient(_) | SetUp::ProcessServer => {
                let first = First {
                    empty: !target.checked,
                    scenario: target.scenario.clone(),
                };
                driver(&mut |tally| tally.add([first.in_fresh_process()?.phases()]))
            }
            SetUp::Slope(slope) => {
                let (few, many, number) = slope.ends();
                let mut few = Lives::new(target, few)?;
                let mut many = Lives::new(target, many)?;
                driver(&mut |tally| {
                    let many = total(&many.next()?);
                    // Directly after many items, few take another time than otherwise: a set-up
                    // that is not timed comes between.
                    few.next()?;
                    let few = total(&few.next()?);
                    tally.add([ends(few, many, number)])
                })
            }
            set_up => {
                let mut lives = Lives::new(target, set_up)?;
                driver(&mut |tally| tally.add([lives.next()?]))
            }
        }
    }
}

/// What one item and what `number` of them take, as the cost of each and the rest.
fn ends(few: Duration, many: Duration, number: u32) -> [(Phase, Duration); 2] {
    let each = many.saturating_sub(few) / (number - 1);
    [
        (Phase::Fixed, few.saturating_sub(each)),
        (Phase::Each, each),
    ]
}

fn total(life: &[(Phase, Duration)]) -> Duration {
    life.iter().map(|(_, time)| *time).sum()
}

/// Repeats one set-up.
struct Lives<'a, L: TlsLibrary> {
    bench: Bench<'a, L>,
    set_up: SetUp,
    /// Existing contexts: the peer's, and the one that is shared or replaced.
    client: Option<L::ClientConfig>,
    server: Option<L::ServerConfig>,
}

impl<'a, L: TlsLibrary> Lives<'a, L> {
    fn new(target: &Target<'a, L>, set_up: SetUp) -> Result<Self> {
        let scenario = Scenario {
            variant: Some(Variant::SetUp(set_up)),
            ..target.scenario.clone()
        };
        let bench = Bench::new(target.library, &scenario, target.checked)?;
        let is_client = matches!(set_up, SetUp::Client(_));
        let is_server = matches!(set_up, SetUp::Server | SetUp::Names(_));
        let client = || bench.library.client_config(&bench.client);
        let server = || bench.library.server_config(&bench.server);
        Ok(Self {
            client: (!is_client).then(client).transpose()?,
            server: (!is_server).then(server).transpose()?,
            set_up,
            bench,
        })
    }

    fn next(&mut self) -> Result<Life> {
        let bench = &self.bench;
        match (self.set_up, &self.client, &mut self.server) {
            (SetUp::Anchors(_), ..) => alone(|| bench.library.anchors(bench.client.trusted)),
            (SetUp::PrivateKey, ..) => {
                let key = bench
                    .server
                    .identity
                    .context("a server needs an identity")?;
                alone(|| bench.library.private_key(key.key))
            }
            (SetUp::Client(_), _, Some(server)) => bench.client(server),
            (SetUp::Server | SetUp::Names(_), Some(client), _) => {
                let (server, life) = bench.server(client)?;
                Ok(ended(life, server))
            }
            (SetUp::Reload(_), Some(client), Some(serving)) => {
                let (server, life) = bench.server(client)?;
                Ok(ended(life, std::mem::replace(serving, server)))
            }
            (SetUp::Shared(_), Some(client), Some(server)) => {
                let times = bench.first_handshake(client, server)?;
                Ok(vec![(Phase::Handshake, times.client.total())])
            }
            (other, ..) => bail!("{other} is not one set-up in this process"),
        }
    }
}

/// The handshake that a fresh process must run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct First {
    /// Whether to use the no-op library.
    #[serde(default)]
    empty: bool,
    scenario: Scenario,
}

/// The clocks when a process completed its first handshake, without the time of the other role.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reached {
    /// By the clock that all processes share.
    wall_nanoseconds: u64,
    processor_nanoseconds: u64,
}

impl Reached {
    fn phases(self) -> [(Phase, Duration); 2] {
        let processor = self.processor_nanoseconds;
        let waiting = self.wall_nanoseconds.saturating_sub(processor);
        [
            (Phase::Processor, Duration::from_nanos(processor)),
            (Phase::Waiting, Duration::from_nanos(waiting)),
        ]
    }
}

impl First {
    /// Runs this program again with the argument `first`, and returns the time since its start.
    fn in_fresh_process(&self) -> Result<Reached> {
        let command = process::this_program("first")?;
        let start = process_times()?.wall;
        let mut reached: Reached = serde_json::from_slice(&process::answer(command, self)?)?;
        let start = u64::try_from(start.as_nanos())?;
        reached.wall_nanoseconds = reached.wall_nanoseconds.saturating_sub(start);
        Ok(reached)
    }
}

/// Runs one handshake in this process, which should be fresh.
pub fn first<L: TlsLibrary>(library: &L, first: &First) -> Result<Reached> {
    match first.empty {
        true => first_of(&NoopLibrary, &first.scenario, false),
        false => first_of(library, &first.scenario, true),
    }
}

fn first_of<L: TlsLibrary>(library: &L, scenario: &Scenario, checked: bool) -> Result<Reached> {
    let side = what(scenario)?.side();
    let bench = Bench::new(library, scenario, checked)?;
    // The measured role begins here, and includes what the library initializes once per process.
    let (client, server, other) = match side {
        Side::Client => {
            let client = library.client_config(&bench.client)?;
            let (server, other) = beside(|| library.server_config(&bench.server))?;
            (client, server, other)
        }
        _ => {
            let server = library.server_config(&bench.server)?;
            let (client, other) = beside(|| library.client_config(&bench.client))?;
            (client, server, other)
        }
    };
    bench.transport.clear();
    let before = process_times()?;
    let pair: Pair<'_, L> = session::run(library, &client, &server, &bench.transport, false)?;
    let times = process_times()?;
    if checked {
        bench.expected.check(&pair, &bench.transport, false)?;
    }
    let (client, server) = (pair.times.client.total(), pair.times.server.total());
    let peer = match side {
        Side::Client => server,
        _ => client,
    };
    // Only the wall clock is read between the roles, so processor time is divided in the same
    // proportion.
    let share = peer.as_secs_f64() / (client + server).as_secs_f64().max(f64::MIN_POSITIVE);
    let both = times.processor.saturating_sub(before.processor);
    let own = |time: Duration, peers| u64::try_from(time.saturating_sub(peers).as_nanos());
    Ok(Reached {
        wall_nanoseconds: own(times.wall, other.wall + peer)?,
        processor_nanoseconds: own(times.processor, other.processor + both.mul_f64(share))?,
    })
}

/// Makes the other role's context, and returns its time by both clocks.
fn beside<T>(make: impl FnOnce() -> Result<T>) -> Result<(T, ProcessTimes)> {
    let before = process_times()?;
    let made = make()?;
    let after = process_times()?;
    let took = ProcessTimes {
        wall: after.wall.saturating_sub(before.wall),
        processor: after.processor.saturating_sub(before.processor),
    };
    Ok((made, took))
}

#[cfg(test)]
mod tests;
