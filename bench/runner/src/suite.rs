//! A suite: what to measure, for how long, and with which programs (`bench/suites/*.toml`).

use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail, ensure};
use indicatif::HumanDuration;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use tls_harness::implementation::Implementation;
use tls_harness::noop::NoopLibrary;
use tls_harness::record::Schema;
use tls_harness::scenario::{Operation, Scenario};
use tls_harness::workloads;
use toml::{Table, Value};

use crate::entry::Entry;
use crate::include::Include;
use crate::libraries::Libraries;
use crate::lines::Lines;
use crate::matrix::{Build, Subject};
use crate::selection::{Selection, path_of};
use crate::verdicts;
use crate::words::counted;

/// Seconds to start and end a library's process with its certificates and configuration; used until
/// a block of its kind has been measured.
const PROCESS_SECONDS: f64 = 0.1;

/// Seconds of a memory block, which depend on its handshakes and not on the suite.
const MEMORY_SECONDS: f64 = 9.0;

/// Largest number of implementations in a run by the schema: a page can show this many.
const MOST_IMPLEMENTATIONS: usize = 100;

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
    pub implementations: Vec<Subject>,
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
    ///
    /// # Errors
    ///
    /// The suite is invalid; names file and line.
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
            let subject = Subject::read(value.clone()).map_err(|error| anyhow!("{place}: {error}"));
            suite.implementations.push(subject?);
            places.push(place);
        }
        Ok(Self {
            suite,
            sha256: hex(&digest.finalize()),
            places,
        })
    }

    /// Reduces the suite to the selection. A part of a suite has its own name, family and checksum.
    ///
    /// # Errors
    ///
    /// Nothing is left.
    pub fn select(
        &mut self,
        selection: &Selection,
        libraries: &Libraries,
        describe: impl Fn(&str) -> Result<Implementation>,
    ) -> Result<()> {
        if selection.is_all() {
            return Ok(());
        }
        selection.apply(&mut self.suite, &mut self.places, libraries, describe)?;
        let text = format!("{}{}", self.sha256, selection.arguments());
        self.sha256 = hex(&Sha256::digest(text));
        for name in [&mut self.suite.name, &mut self.suite.family] {
            name.push_str("-part");
        }
        Ok(())
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
    let entry = Entry::read(table);
    let entry = entry.map_err(|it| anyhow!("{}: {}", at(it.field.as_deref()), it.message))?;
    let scenarios = entry
        .scenarios(cores)
        .with_context(|| at(Some("threads")))?;
    for scenario in &scenarios {
        if let Err(fault) = scenario.check() {
            let place = at(Some(fault.field));
            bail!("{place}: {}: {}", fault.field, fault.message);
        }
    }
    Ok(scenarios)
}

impl Suite {
    /// Checks the numbers of the header.
    fn check(&self, lines: &Lines) -> Result<()> {
        let wrong = |key: &str, found: &dyn std::fmt::Display, expected: &str| {
            let place = lines.at_key(key);
            Err(anyhow!(
                "{place}: found {key} = {found}, expected {expected}"
            ))
        };
        for (key, number) in [
            ("rounds", self.rounds),
            ("sessions", self.sessions),
            ("layouts", self.layouts),
        ] {
            if number == 0 {
                return wrong(key, &number, "at least 1");
            }
        }
        for (key, seconds) in [
            ("measure_seconds", Some(self.measure_seconds)),
            ("timeout_seconds", self.timeout_seconds),
        ] {
            if let Some(seconds) = seconds.filter(|it| *it <= 0.0 || !it.is_finite()) {
                return wrong(key, &seconds, "more than 0");
            }
        }
        if self.warmup_seconds < 0.0 || !self.warmup_seconds.is_finite() {
            return wrong("warmup_seconds", &self.warmup_seconds, "at least 0");
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

    /// Number of ratios that a report of this run tests at once: all rows of all implementations
    /// except the baseline.
    pub fn comparisons(&self) -> u32 {
        let sides = |it: &Scenario| workloads::of::<NoopLibrary>(it.operation).sides().len();
        let rows: usize = self.scenarios.iter().map(sides).sum();
        let walls = if self.throughput {
            self.scenarios.len()
        } else {
            0
        };
        let rows = rows + walls;
        let others = self.implementations.len().saturating_sub(1);
        u32::try_from(rows * others).unwrap_or(u32::MAX)
    }

    pub fn builds(&self) -> impl Iterator<Item = &Build> {
        self.implementations
            .iter()
            .filter_map(|subject| match subject {
                Subject::Build(build) => Some(build),
                Subject::Program(_) => None,
            })
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

    /// The expected wall-clock time of one round.
    pub fn expected_round(&self) -> Duration {
        let blocks = self.scenarios.iter().map(|it| self.expected_block(it));
        let implementations = u32::try_from(self.implementations.len()).unwrap_or(u32::MAX);
        blocks.sum::<Duration>() * implementations
    }

    /// Text that lists the blocks in order, and how long they will take. `state` describes whether
    /// an implementation is built.
    pub fn to_text(&self, state: impl Fn(&Subject) -> String) -> String {
        let mut text = format!(
            "{} (family {}): {}\n",
            self.name, self.family, self.description
        );
        let paths: Vec<String> = self.scenarios.iter().map(path_of).collect();
        let width = paths.iter().map(String::len).max().unwrap_or_default();
        for (block, (scenario, path)) in self.scenarios.iter().zip(&paths).enumerate() {
            let _ = writeln!(text, "{block:>4}  {path:<width$}  {}", scenario.name());
        }
        for subject in &self.implementations {
            let _ = writeln!(text, "      {subject}: {}", state(subject));
        }
        let _ = writeln!(text, "{}", self.expectation());
        text
    }

    /// Text that states how long it will take, and how many rounds a verdict needs.
    pub fn expectation(&self) -> String {
        let mut text = String::new();
        let round = self.expected_round();
        let _ = writeln!(
            text,
            "{} of {} of {} s (warm-up {} s, start and end of the process about \
             {PROCESS_SECONDS} s): about {}; if disturbed, up to {} repeated: at most {}",
            counted(self.rounds, "round"),
            counted(self.blocks_per_round(), "block"),
            self.measure_seconds,
            self.warmup_seconds,
            HumanDuration(round * self.rounds),
            counted(self.most_repeats(), "round"),
            HumanDuration(round * (self.rounds + self.most_repeats())),
        );
        if self.sessions > 1 {
            let _ = writeln!(
                text,
                "{} sessions, each as above, with {} of each program: about {} and the time between \
                 them",
                self.sessions,
                counted(self.layouts, "layout"),
                HumanDuration(round * self.rounds * self.sessions),
            );
        }
        text + &verdicts::expected(self)
    }
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
