//! A suite: what to measure, for how long, with which libraries' programs (`bench/suites/*.toml`).

use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use indicatif::HumanDuration;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use tls_harness::record::Schema;
use tls_harness::scenario::{Operation, Scenario};

use crate::entry::Entry;
use crate::include::Include;
use crate::matrix::{Build, Subject};

/// Start and end of a library's process, with its certificates and configuration; used only until
/// a block of its kind has been measured.
const PROCESS_SECONDS: f64 = 0.1;

/// A block of memory takes the time of its handshakes, whatever the suite says.
const MEMORY_SECONDS: f64 = 9.0;

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    #[allow(dead_code, reason = "read to refuse a suite of another schema")]
    schema: Schema,
    pub name: String,
    /// Runs of one family are comparable over time.
    pub family: String,
    pub description: String,
    /// Of each session.
    pub rounds: u32,
    /// Repetitions of the suite, which may be hours apart.
    #[serde(default = "one")]
    pub sessions: u32,
    /// Ways to link each program; a session uses one.
    #[serde(default = "one")]
    pub layouts: u32,
    pub measure_seconds: f64,
    pub warmup_seconds: f64,
    /// Wall time after which a block's process is killed.
    timeout_seconds: Option<f64>,
    /// Also keep the time of each handshake.
    #[serde(default)]
    pub latency: bool,
    /// Bind each thread to a logical processor of its own.
    #[serde(default)]
    pub pinned: bool,
    /// Also measure what all threads together do by the wall clock.
    #[serde(default)]
    pub throughput: bool,
    /// Programs beside `tlsbench`, and builds of the matrix. One that is named twice is measured
    /// twice, as two implementations: the harness against itself.
    pub implementations: Vec<Subject>,
    /// Files beside the suite, whose scenarios come before its own.
    #[serde(default)]
    include: Vec<Include>,
    #[serde(default, rename = "scenarios")]
    entries: Vec<Entry>,
    /// What the entries mean on this host, each without its side: a block measures both.
    #[serde(skip)]
    pub scenarios: Vec<Scenario>,
}

/// A suite as it was read.
pub struct SuiteFile {
    pub suite: Suite,
    /// Of the bytes of its file and of the files that it includes, one after the other.
    pub sha256: String,
}

impl SuiteFile {
    /// `cores`: of the host that measures, if known.
    pub fn read(path: &Path, cores: Option<u32>) -> Result<Self> {
        Self::of(path, cores).with_context(|| path.display().to_string())
    }

    fn of(path: &Path, cores: Option<u32>) -> Result<Self> {
        let bytes = std::fs::read(path)?;
        let mut suite: Suite = toml::from_slice(&bytes)?;
        let mut digest = Sha256::new_with_prefix(&bytes);
        let folder = path.parent().unwrap_or(Path::new(""));
        for include in &suite.include {
            let (bytes, entries) = include.read(folder)?;
            digest.update(&bytes);
            suite.scenarios.extend(expanded(&entries, cores)?);
        }
        let own = expanded(&suite.entries, cores)?;
        suite.scenarios.extend(own);
        suite.check()?;
        Ok(Self {
            suite,
            sha256: hex(&digest.finalize()),
        })
    }
}

fn one() -> u32 {
    1
}

fn expanded(entries: &[Entry], cores: Option<u32>) -> Result<Vec<Scenario>> {
    let mut scenarios = Vec::new();
    for entry in entries {
        scenarios.extend(entry.scenarios(cores)?);
    }
    Ok(scenarios)
}

impl Suite {
    fn check(&self) -> Result<()> {
        ensure!(self.rounds > 0, "rounds = 0, expected at least 1");
        ensure!(self.sessions > 0, "sessions = 0, expected at least 1");
        ensure!(self.layouts > 0, "layouts = 0, expected at least 1");
        ensure!(
            self.measure_seconds > 0.0 && self.measure_seconds.is_finite(),
            "measure_seconds = {}, expected more than 0",
            self.measure_seconds
        );
        ensure!(
            self.warmup_seconds >= 0.0 && self.warmup_seconds.is_finite(),
            "warmup_seconds = {}, expected at least 0",
            self.warmup_seconds
        );
        if let Some(seconds) = self.timeout_seconds {
            ensure!(
                seconds > 0.0 && seconds.is_finite(),
                "timeout_seconds = {seconds}, expected more than 0"
            );
        }
        ensure!(!self.implementations.is_empty(), "implementations is empty");
        ensure!(!self.scenarios.is_empty(), "there is no [[scenarios]]");
        let mut seen = HashSet::new();
        for (index, scenario) in self.scenarios.iter().enumerate() {
            if let Some(side) = scenario.side {
                bail!("scenario {index}: side = \"{side}\", expected none: both are measured");
            }
            ensure!(
                seen.insert(scenario),
                "scenario {index} is there twice: {}",
                scenario.name()
            );
            ensure!(
                !self.throughput || scenario.operation == Operation::Handshake,
                "scenario {index}: throughput is measured of handshakes alone, found a {}",
                scenario.operation
            );
        }
        Ok(())
    }

    /// What is to be built.
    pub fn builds(&self) -> impl Iterator<Item = &Build> {
        self.implementations
            .iter()
            .filter_map(|subject| match subject {
                Subject::Build(build) => Some(build),
                Subject::Program(_) => None,
            })
    }

    /// Blocks of one round: each scenario of each implementation.
    pub fn blocks_per_round(&self) -> usize {
        self.scenarios.len() * self.implementations.len()
    }

    /// Disturbed rounds that are repeated; later ones count, with a warning.
    pub fn most_repeats(&self) -> u32 {
        self.rounds.div_ceil(5)
    }

    /// What a block is expected to take before one of its kind was measured.
    pub fn expected_block(&self, scenario: &Scenario) -> Duration {
        Duration::from_secs_f64(match scenario.operation {
            Operation::Memory => MEMORY_SECONDS,
            _ => self.measure_seconds + self.warmup_seconds + PROCESS_SECONDS,
        })
    }

    /// When a block's process is killed: a minute and ten times what it should take.
    pub fn timeout(&self, scenario: &Scenario) -> Duration {
        self.timeout_seconds.map_or_else(
            || Duration::from_secs(60) + self.expected_block(scenario) * 10,
            Duration::from_secs_f64,
        )
    }

    /// The expected wall time of one round.
    pub fn expected_round(&self) -> Duration {
        let blocks = self.scenarios.iter().map(|it| self.expected_block(it));
        let implementations = u32::try_from(self.implementations.len()).unwrap_or(u32::MAX);
        blocks.sum::<Duration>() * implementations
    }

    /// For people: what will run, in its order, and how long it will take. `state` says of each
    /// implementation whether it is there.
    pub fn to_text(&self, state: impl Fn(&Subject) -> String) -> String {
        let mut text = format!(
            "{} (family {}): {}\n",
            self.name, self.family, self.description
        );
        for (block, scenario) in self.scenarios.iter().enumerate() {
            let _ = writeln!(text, "{block:>4}  {}", scenario.name());
        }
        for subject in &self.implementations {
            let _ = writeln!(text, "      {subject}: {}", state(subject));
        }
        let round = self.expected_round();
        let _ = writeln!(
            text,
            "{} rounds of {} blocks of {} s (warm-up {} s, start and end of the process about \
             {PROCESS_SECONDS} s): about {}; up to {} disturbed rounds are repeated: at most {}",
            self.rounds,
            self.blocks_per_round(),
            self.measure_seconds,
            self.warmup_seconds,
            HumanDuration(round * self.rounds),
            self.most_repeats(),
            HumanDuration(round * (self.rounds + self.most_repeats())),
        );
        if self.sessions > 1 {
            let _ = writeln!(
                text,
                "{} sessions, each as above, with {} layouts of each program: about {} and what is \
                 between them",
                self.sessions,
                self.layouts,
                HumanDuration(round * self.rounds * self.sessions),
            );
        }
        text
    }
}

/// Lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
