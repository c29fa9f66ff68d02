//! A suite: what to measure, for how long, and with which programs (`bench/suites/*.toml`).

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail, ensure};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use tls_harness::record::Schema;
use tls_harness::request::{Counter, Request};
use tls_harness::scenario::{Operation, Scenario};
use toml::{Table, Value};

use crate::entry;
use crate::files::hex;
use crate::id::{self, is_id};
use crate::include::Include;
use crate::lines::Lines;
use crate::listed::{Build, Listed};

/// Seconds to start and end a library's process with its certificates and configuration; used until
/// a block of its kind has been measured.
pub const PROCESS_SECONDS: f64 = 0.1;

/// Seconds of a memory block, which depend on its handshakes and not on the suite.
const MEMORY_SECONDS: f64 = 9.0;

/// Largest number of implementations in a run by the schema: a page can show this many.
const MOST_IMPLEMENTATIONS: usize = 100;

/// Largest number of rounds, of sessions and of layouts.
pub const MOST: u32 = 10_000;

/// Longest time of a block.
const MOST_SECONDS: f64 = 86_400.0;

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    #[allow(dead_code, reason = "read to refuse a suite of another schema")]
    schema: Schema,
    pub name: String,
    /// Runs of one family can be compared over time.
    pub family: String,
    pub description: String,
    /// Rounds of each session.
    pub rounds: u32,
    /// Repetitions of the suite, which may be hours apart.
    #[serde(default = "one")]
    pub sessions: u32,
    /// Layouts of each program; a session uses one.
    #[serde(default = "one")]
    pub layouts: u32,
    pub measure_seconds: f64,
    pub warmup_seconds: f64,
    /// Wall-clock time after which the process of a block is killed.
    timeout_seconds: Option<f64>,
    /// Also record the time of each handshake.
    #[serde(default)]
    pub latency: bool,
    /// Pin each thread to its own logical processor.
    #[serde(default)]
    pub pinned: bool,
    /// Also record the rate of all threads together by the wall clock.
    #[serde(default)]
    pub throughput: bool,
    /// Programs beside `tlsbench`, and builds of the matrix. A program that is listed twice is
    /// measured twice, as two implementations: this compares the harness with itself.
    #[serde(skip)]
    pub implementations: Vec<Listed>,
    #[serde(rename = "implementations")]
    listed: Vec<Value>,
    /// Files beside the suite, whose scenarios precede its own.
    #[serde(default)]
    include: Vec<Include>,
    #[serde(default, rename = "scenarios")]
    entries: Vec<Table>,
    /// The scenarios on this host, without sides: a block measures both.
    #[serde(skip)]
    pub scenarios: Vec<Scenario>,
}

/// A suite with facts about its file.
pub struct SuiteFile {
    pub suite: Suite,
    /// Checksum of the bytes of its file and of the included files, and of the selection, if there
    /// is one.
    pub sha256: String,
    /// `FILE:LINE` of each implementation.
    pub places: Vec<String>,
}

impl SuiteFile {
    /// `cores`: number of the measuring host's cores, if known.
    pub fn read(path: &Path, cores: Option<u32>) -> Result<Self> {
        let lines = Lines::read(path)?;
        let mut suite: Suite = lines.parse()?;
        suite.check(&lines)?;
        let mut digest = Sha256::new_with_prefix(lines.bytes());
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut seen = HashSet::new();
        let mut add = |lines: &Lines, entries: Vec<Table>| -> Result<()> {
            for (index, table) in entries.into_iter().enumerate() {
                for scenario in scenarios(lines, index, table, cores)? {
                    let at = |field: Option<&str>| lines.at("scenarios", index, field);
                    ensure!(
                        seen.insert(scenario.clone()),
                        "{}: found \"{}\" a second time, expected each scenario once",
                        at(None),
                        scenario.name()
                    );
                    ensure!(
                        !suite.throughput || scenario.operation == Operation::Handshake,
                        "{}: found a {} with throughput = true, expected handshakes only",
                        at(Some("operation")),
                        scenario.operation
                    );
                    suite.scenarios.push(scenario);
                }
            }
            Ok(())
        };
        for include in &suite.include {
            let included = include.read(folder);
            let (lines, entries) = included.with_context(|| lines.at_key("include"))?;
            digest.update(lines.bytes());
            add(&lines, entries)?;
        }
        add(&lines, std::mem::take(&mut suite.entries))?;
        ensure!(
            !suite.scenarios.is_empty(),
            "{}: found no [[scenarios]] and no include, expected one of both",
            path.display()
        );
        let mut places = Vec::new();
        for (index, value) in suite.listed.iter().enumerate() {
            let place = lines.at("implementations", index, None);
            let listed = Listed::read(value.clone()).map_err(|error| anyhow!("{place}: {error}"));
            suite.implementations.push(listed?);
            places.push(place);
        }
        Ok(Self {
            suite,
            sha256: hex(&digest.finalize()),
            places,
        })
    }
}

fn one() -> u32 {
    1
}

/// The scenarios of one entry, checked.
fn scenarios(
    lines: &Lines,
    index: usize,
    table: Table,
    cores: Option<u32>,
) -> Result<Vec<Scenario>> {
    let at = |field: Option<&str>| lines.at("scenarios", index, field);
    let scenarios = entry::scenarios(table, cores);
    let scenarios =
        scenarios.map_err(|it| anyhow!("{}: {}", at(it.field.as_deref()), it.message))?;
    for scenario in &scenarios {
        if let Err(fault) = scenario.check() {
            let place = at(Some(fault.field));
            bail!("{place}: {}: {}", fault.field, fault.message);
        }
    }
    Ok(scenarios)
}

impl Suite {
    /// Checks the header.
    fn check(&self, lines: &Lines) -> Result<()> {
        let wrong = |key: &str, found: &dyn std::fmt::Display, expected: &str| {
            let place = lines.at_key(key);
            Err(anyhow!(
                "{place}: found {key} = {found}, expected {expected}"
            ))
        };
        for (key, id) in [("name", &self.name), ("family", &self.family)] {
            let place = lines.at_key(key);
            ensure!(
                is_id(id),
                "{place}: found {key} = \"{id}\", {}",
                id::EXPECTED
            );
        }
        for (key, number) in [
            ("rounds", self.rounds),
            ("sessions", self.sessions),
            ("layouts", self.layouts),
        ] {
            if !(1..=MOST).contains(&number) {
                return wrong(key, &number, &format!("1 to {MOST}"));
            }
        }
        for (key, seconds, least) in [
            ("measure_seconds", Some(self.measure_seconds), "more than 0"),
            ("timeout_seconds", self.timeout_seconds, "more than 0"),
            ("warmup_seconds", Some(self.warmup_seconds), "0 or more"),
        ] {
            let seconds = seconds.unwrap_or(MOST_SECONDS);
            let enough = seconds > 0.0 || (seconds == 0.0 && least == "0 or more");
            if !enough || seconds > MOST_SECONDS {
                let expected = format!("{least}, and at most {MOST_SECONDS}");
                return wrong(key, &seconds, &expected);
            }
        }
        if self.listed.is_empty() {
            return wrong(
                "implementations",
                &"[]",
                "a program such as \"tls-openssl\"",
            );
        }
        if self.listed.len() > MOST_IMPLEMENTATIONS {
            bail!(
                "{}: found {} implementations, expected at most {MOST_IMPLEMENTATIONS}",
                lines.at_key("implementations"),
                self.listed.len()
            );
        }
        Ok(())
    }

    /// The distinct programs beside `tlsbench`.
    pub fn programs(&self) -> Vec<&str> {
        let mut names: Vec<_> = self
            .implementations
            .iter()
            .filter_map(|listed| match listed {
                Listed::Program(name) => Some(name.as_str()),
                Listed::Build(_) => None,
            })
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    pub fn builds(&self) -> impl Iterator<Item = &Build> {
        self.implementations
            .iter()
            .filter_map(|listed| match listed {
                Listed::Build(build) => Some(build),
                Listed::Program(_) => None,
            })
    }

    /// The request for one block of a program. `session`: its number and layout.
    pub fn request(
        &self,
        (session, layout): (u32, u32),
        round: u32,
        block: u32,
        implementation: &str,
        counter: Option<Counter>,
    ) -> Request {
        Request {
            schema: Schema,
            session,
            round,
            layout,
            block,
            implementation: implementation.to_owned(),
            scenario: self.scenarios[block as usize].clone(),
            measure_seconds: self.measure_seconds,
            warmup_seconds: self.warmup_seconds,
            latency: self.latency,
            pinned: self.pinned,
            throughput: self.throughput,
            counter,
        }
    }

    /// Blocks in one round: each scenario of each implementation.
    pub fn blocks_per_round(&self) -> usize {
        self.scenarios.len() * self.implementations.len()
    }

    /// Number of disturbed rounds that are repeated; later ones count, with a warning.
    pub fn most_repeats(&self) -> u32 {
        self.rounds.div_ceil(5)
    }

    /// The expected time of a block before one of its kind was measured.
    pub fn expected_block(&self, scenario: &Scenario) -> Duration {
        Duration::from_secs_f64(match scenario.operation {
            Operation::Memory => MEMORY_SECONDS,
            _ => self.measure_seconds + self.warmup_seconds + PROCESS_SECONDS,
        })
    }

    /// Time after which the process of a block is killed: a minute and ten times the expected time.
    pub fn timeout(&self, scenario: &Scenario) -> Duration {
        self.timeout_seconds.map_or_else(
            || Duration::from_secs(60) + self.expected_block(scenario) * 10,
            Duration::from_secs_f64,
        )
    }
}
