//! A run: every round of a suite, interleaved, journalled as it is measured, and resumed where it
//! stopped.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use jiff::Timestamp;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;
use sha2::{Digest, Sha256};
use tls_harness::counters::callgrind;
use tls_harness::record::{Block, Record, RoundState, Schema, Status};
use tls_harness::request::{Counter, Request};
use tls_harness::run::{
    CheckResult, CheckStatus, HostFacts, RawFile, Run, RunCounter, RunWarning, SuiteReference, Tool,
};

use crate::files::replace;
use crate::history::History;
use crate::host::check::check;
use crate::host::facts;
use crate::host::root::Root;
use crate::host::watch::Watch;
use crate::implementations::{Places, Ready, prepare};
use crate::journal::Journal;
use crate::precision::half_width;
use crate::program::Program;
use crate::progress::Progress;
use crate::schedule::order;
use crate::suite::{Suite, SuiteFile, hex};

/// How often to look for space on a full disk, and how long to wait between: half an hour.
const DISK_TRIES: u32 = 180;
const DISK_PAUSE: Duration = Duration::from_secs(10);

/// Rounds of a run that counts, unless told: the fewest that have an interval.
const COUNTED_ROUNDS: u32 = 6;

/// When a process that counts is taken to hang: no scenario takes a minute, on any host an hour.
const COUNTED_TIMEOUT: Duration = Duration::from_secs(3600);

/// With `--until-precise`, rounds measured at most, in rounds of the suite.
const MOST_PRECISE: u32 = 5;

/// What a run is asked to be.
pub struct Order {
    pub suite: PathBuf,
    /// The folder of the run; its name is the run's id.
    pub out: PathBuf,
    pub places: Places,
    pub host_id: Option<String>,
    /// Instead of the suite's.
    pub rounds: Option<u32>,
    /// Half-width of the 95 % interval of every median, as a share of it.
    pub until_precise: Option<f64>,
    /// What to count instead of measuring time.
    pub counter: Option<Counter>,
    /// As the run records it.
    pub command: String,
}

/// Runs or resumes what is ordered; returns the path of the finished run.toml.
pub fn run(ordered: &Order, root: &Root) -> Result<PathBuf> {
    let finished = ordered.out.join("run.toml");
    let partial = ordered.out.join("run.partial.toml");
    if finished.exists() {
        // A kill between the last two steps of a run leaves its plan behind.
        remove(&partial)?;
        same_measure(&finished, ordered.counter)?;
        eprintln!("{} is complete: nothing to do", ordered.out.display());
        return Ok(finished);
    }
    let facts = facts::capture(root);
    let SuiteFile { mut suite, sha256 } = SuiteFile::read(&ordered.suite, facts.cores)?;
    if let Some(rounds) = ordered.rounds {
        ensure!(rounds > 0, "--rounds 0: expected at least 1");
        suite.rounds = rounds;
    } else if ordered.counter.is_some() {
        suite.rounds = COUNTED_ROUNDS;
    }
    let counter = ordered.counter.map(versioned).transpose()?;
    let Ready {
        programs,
        locks,
        warnings,
    } = prepare(&mut suite, &ordered.places)?;
    let facts = facts::identified(
        facts,
        ordered.host_id.as_deref(),
        facts::KNOWN_HOSTS.as_ref(),
    )?;
    let mut plan = plan(ordered, &suite, sha256, &programs, facts, root)?;
    plan.counter = counter;
    plan.warnings.extend(warnings);

    let raw = ordered.out.join("raw");
    std::fs::create_dir_all(&raw).with_context(|| raw.display().to_string())?;
    let (journal, records) = Journal::open(&raw.join("records.jsonl"))?;
    let plan = if partial.exists() {
        resume(&partial, plan)?
    } else {
        ensure!(
            records.is_empty(),
            "{} holds records, but there is no {}: expected the folder of one run",
            raw.display(),
            partial.display()
        );
        plan.host = plan.host.map(facts::with_compilers);
        write(&partial, &plan)?;
        plan
    };
    let mut session = Session {
        suite: &suite,
        programs: &programs,
        root,
        seed: plan.seed.context("run.partial.toml has no seed")?,
        until_precise: ordered.until_precise,
        counter: ordered.counter,
        journal,
        history: History::of(&records),
        progress: Progress::new(),
        disk_was_full: false,
    };
    session.measure()?;
    let mut run = plan;
    session.conclude(&mut run);
    run.files = vec![raw_file(
        &ordered.out,
        "raw/records.jsonl",
        "tlsbench/1",
        None,
    )?];
    for lock in locks {
        let path = format!("raw/builds/{}.lock", lock.name);
        let bytes = std::fs::read(&lock.path).with_context(|| lock.path.display().to_string())?;
        std::fs::create_dir_all(raw.join("builds"))?;
        replace(&ordered.out.join(&path), &bytes)?;
        run.files.push(raw_file(
            &ordered.out,
            &path,
            CARGO_LOCK,
            Some(lock.implementation),
        )?);
    }
    write(&finished, &run)?;
    remove(&partial)?;
    for warning in &run.warnings {
        eprintln!("warning: {}", warning.message);
    }
    Ok(finished)
}

/// A counter with the version that this host has.
fn versioned(counter: Counter) -> Result<RunCounter> {
    let Counter::Callgrind = counter;
    Ok(RunCounter {
        name: counter,
        version: callgrind::version()?,
    })
}

/// What is known of a run before it begins.
fn plan(
    ordered: &Order,
    suite: &Suite,
    sha256: String,
    programs: &[Program],
    host: HostFacts,
    root: &Root,
) -> Result<Run> {
    let id = ordered
        .out
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    ensure!(
        id.starts_with(letter) && id.chars().all(|c| letter(c) || "._-".contains(c)),
        "--out {}: the last part names the run: expected lower-case letters, digits, '.', '_', '-'",
        ordered.out.display()
    );
    let checks = check(&host, root);
    // What is wrong with the host's state disturbs a clock, and no count.
    let troubling: &[CheckResult] = match ordered.counter {
        Some(_) => &[],
        None => &checks,
    };
    let warnings = host_warnings(&host, troubling);
    let allocators: Vec<_> = programs
        .iter()
        .map(|program| program.implementation.allocator.clone())
        .collect();
    let allocator = match allocators.first() {
        Some(first) if allocators.iter().all(|other| other == first) => first.clone(),
        _ => None,
    };
    let now = Timestamp::now();
    Ok(Run {
        schema: Schema,
        id: id.to_owned(),
        date: now.strftime("%Y-%m-%d").to_string().parse()?,
        started: Some(seconds(now)?),
        finished: None,
        complete: false,
        rounds: None,
        seed: Some(rand::random::<u32>().into()),
        allocator,
        host_id: host.id.clone(),
        tool: Tool {
            name: "tlsbench".to_owned(),
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            commit: None,
            url: None,
            commands: vec![ordered.command.clone()],
        },
        suite: Some(SuiteReference {
            name: suite.name.clone(),
            family: suite.family.clone(),
            sha256: Some(sha256),
        }),
        counter: None,
        source: None,
        host: Some(host),
        checks,
        warnings,
        implementations: programs
            .iter()
            .map(|program| program.implementation.clone())
            .collect(),
        files: Vec::new(),
    })
}

/// What a reader must know of the host that measures.
fn host_warnings(host: &HostFacts, checks: &[CheckResult]) -> Vec<RunWarning> {
    let mut warnings = Vec::new();
    let mut warn = |code: &str, message: String| {
        warnings.push(RunWarning {
            code: code.to_owned(),
            message,
        });
    };
    if host.is_virtual == Some(true) {
        let by = host.virtualization.as_deref().unwrap_or("unknown");
        warn(
            "virtual-machine",
            format!("Measured in a virtual machine ({by}), not on bare metal."),
        );
    }
    if let Some(by) = &host.container {
        warn("container", format!("Measured in a container ({by})."));
    }
    let failed = |check: &&CheckResult| check.status == CheckStatus::Fail;
    for check in checks.iter().filter(failed) {
        warn(
            &check.check,
            format!(
                "The check of the host's {} failed: {}.",
                check.check, check.found
            ),
        );
    }
    warnings
}

/// Refuses to take a finished run of one measure for one of another.
fn same_measure(finished: &Path, ordered: Option<Counter>) -> Result<()> {
    let name = finished.display().to_string();
    let text = std::fs::read_to_string(finished).with_context(|| name.clone())?;
    let run: Run = toml::from_str(&text).with_context(|| name.clone())?;
    let of = |counter: Option<Counter>| counter.map_or("time", |_| "instructions");
    let (found, asked) = (of(run.counter.map(|it| it.name)), of(ordered));
    ensure!(
        found == asked,
        "{name}: the run is complete, and measured {found}, not {asked}; begin another with \
         another --out"
    );
    Ok(())
}

/// The plan of a run that was begun, if what there is now can go on with it.
fn resume(partial: &Path, now: Run) -> Result<Run> {
    let name = partial.display().to_string();
    let text = std::fs::read_to_string(partial).with_context(|| name.clone())?;
    let begun: Run = toml::from_str(&text).with_context(|| name.clone())?;
    let mut differences = Vec::new();
    if begun.tool.commands != now.tool.commands {
        differences.push(format!(
            "it was begun by `{}`",
            begun.tool.commands.join("; ")
        ));
    }
    if begun.tool.version != now.tool.version {
        differences.push("it was begun by another version of tlsbench".to_owned());
    }
    if begun.counter != now.counter {
        differences.push(match (&begun.counter, &now.counter) {
            (None, _) => "it measures time".to_owned(),
            (Some(begun), _) => format!("it counts under valgrind {}", begun.version),
        });
    }
    if begun.suite != now.suite {
        differences.push("the suite was changed".to_owned());
    }
    if begun.implementations != now.implementations {
        differences.push("the libraries' programs were changed".to_owned());
    }
    match (&begun.host, &now.host) {
        (Some(begun), Some(now)) => differences.extend(
            facts::differences(now, begun)?
                .into_iter()
                .map(|difference| format!("host: {difference}")),
        ),
        _ => differences.push("the host is not told".to_owned()),
    }
    ensure!(
        differences.is_empty(),
        "{name}: the run cannot go on: {}; begin another with another --out",
        differences.join("; ")
    );
    Ok(begun)
}

/// A run that is being measured.
struct Session<'a> {
    suite: &'a Suite,
    programs: &'a [Program],
    root: &'a Root,
    seed: u64,
    until_precise: Option<f64>,
    counter: Option<Counter>,
    journal: Journal,
    history: History,
    progress: Progress,
    disk_was_full: bool,
}

impl Session<'_> {
    fn measure(&mut self) -> Result<()> {
        if let Some(mark) = self.history.interrupted(Timestamp::now()) {
            self.progress.say(&format!(
                "going on: {} rounds count; round {} was interrupted and is repeated",
                self.history.counted_rounds.len(),
                mark.round
            ));
            self.append_one(Record::RoundState(mark))?;
        }
        while !self.done() {
            self.round()?;
        }
        self.progress.finish();
        Ok(())
    }

    fn counted(&self) -> u32 {
        u32::try_from(self.history.counted_rounds.len()).unwrap_or(u32::MAX)
    }

    /// Whether the rounds asked for are there, and every median is as precise as asked.
    fn done(&self) -> bool {
        let counted = self.counted();
        if counted < self.suite.rounds {
            return false;
        }
        let Some(target) = self.until_precise else {
            return true;
        };
        counted >= self.suite.rounds.saturating_mul(MOST_PRECISE)
            || self
                .history
                .rates()
                .values()
                .all(|rates| half_width(rates).is_some_and(|width| width <= target))
    }

    fn round(&mut self) -> Result<()> {
        let round = self.history.next_round();
        let mut watch = Watch::start(self.root);
        let before = Usage::now()?;
        let mut runner_cpu = Duration::ZERO;
        let mut measuring = Duration::ZERO;
        let mut done = 0;
        for (block, scenario) in (0..).zip(&self.suite.scenarios) {
            for index in order(self.seed, round, block, self.programs.len()) {
                let program = &self.programs[index];
                let id = &program.implementation.id;
                let rounds = self.counted() as usize;
                let per_round = self.suite.blocks_per_round();
                self.progress.block(
                    rounds * per_round + done,
                    self.suite.rounds.max(self.counted() + 1) as usize * per_round,
                    self.remaining(done),
                    &format!("{}, {id}", scenario.name()),
                );
                let request = Request {
                    schema: Schema,
                    round,
                    block,
                    implementation: id.clone(),
                    scenario: scenario.clone(),
                    measure_seconds: self.suite.measure_seconds,
                    warmup_seconds: self.suite.warmup_seconds,
                    latency: self.suite.latency,
                    pinned: self.suite.pinned,
                    throughput: self.suite.throughput,
                    counter: self.counter,
                };
                let (elapsed, cpu) = self.block(program, &request)?;
                measuring += elapsed;
                runner_cpu += cpu;
                watch.sample();
                done += 1;
            }
        }
        let spent = Usage::now()?.since(&before);
        let mut seen = watch.finish(spent.processor_seconds);
        if self.counter.is_some() {
            // Whatever else runs on the host, a count stays the same.
            seen.reasons.clear();
        }
        let repeats = self.history.repeats();
        let disturbed = !seen.reasons.is_empty() && repeats < self.suite.most_repeats();
        let percent = |part: Duration, whole: Duration| {
            (!whole.is_zero()).then(|| 100.0 * part.as_secs_f64() / whole.as_secs_f64())
        };
        let state = RoundState {
            schema: Schema,
            time: Timestamp::now(),
            round,
            elapsed_seconds: seen.elapsed.as_secs_f64(),
            disturbed,
            reasons: seen.reasons,
            load_by_others_percent: seen.load_by_others_percent,
            steal_percent: seen.steal_percent,
            frequency_mhz: seen.frequency_mhz,
            throttle_count: seen.throttle_count,
            temperature_celsius: seen.temperature_celsius,
            involuntary_switches: Some(spent.involuntary_switches),
            runner_cpu_percent: percent(runner_cpu, measuring),
        };
        let reasons = state.reasons.join("; ");
        let verdict = match (disturbed, reasons.is_empty()) {
            (_, true) => String::new(),
            (true, false) => format!("; disturbed, is repeated: {reasons}"),
            (false, false) => format!("; disturbed, counts all the same: {reasons}"),
        };
        self.append_one(Record::RoundState(state))?;
        let more = self.until_precise.map_or(String::new(), |target| {
            format!(
                ", and more until every median is within {} %",
                target * 100.0
            )
        });
        self.progress.say(&format!(
            "round {round}: {} of {} count, about {} left{more}{verdict}",
            self.counted(),
            self.suite.rounds.max(self.counted()),
            indicatif::HumanDuration(self.remaining(0)),
        ));
        Ok(())
    }

    /// Measures one block and keeps its records, or the mark that it failed; returns its wall time
    /// and the runner's processor time in it.
    fn block(&mut self, program: &Program, request: &Request) -> Result<(Duration, Duration)> {
        let id = &program.implementation.id;
        let failed = |reason: String, elapsed: Duration| {
            Record::Block(Block {
                schema: Schema,
                time: Timestamp::now(),
                round: request.round,
                block: request.block,
                implementation: id.clone(),
                status: Status::Failed,
                reason: Some(reason),
                elapsed_seconds: elapsed.as_secs_f64(),
            })
        };
        if let Some(reason) = self.history.given_up(request.block, id) {
            self.append_one(failed(reason, Duration::ZERO))?;
            return Ok((Duration::ZERO, Duration::ZERO));
        }
        let timeout = match self.counter {
            Some(_) => COUNTED_TIMEOUT,
            None => self.suite.timeout(&request.scenario),
        };
        let measured = program.measure(request, timeout)?;
        match measured.outcome {
            Ok(kept) => self.append(&kept.lines, &kept.records)?,
            Err(reason) => {
                self.progress.say(&format!(
                    "failed: {id}, {}, round {}: {reason}",
                    request.scenario.name(),
                    request.round
                ));
                self.append_one(failed(reason, measured.elapsed))?;
            }
        }
        Ok((measured.elapsed, measured.runner_cpu))
    }

    fn append_one(&mut self, record: Record) -> Result<()> {
        let line = record.to_line()? + "\n";
        self.append(line.as_bytes(), &[record])
    }

    fn append(&mut self, lines: &[u8], records: &[Record]) -> Result<()> {
        let (progress, was_full) = (&self.progress, &mut self.disk_was_full);
        self.journal.append(lines, DISK_TRIES, DISK_PAUSE, |text| {
            *was_full = true;
            progress.say(text);
        })?;
        for record in records {
            self.history.add(record);
        }
        Ok(())
    }

    /// What the rounds to come will take, after `done` blocks of the one in flight: for each
    /// block the mean of what its like took so far.
    fn remaining(&self, done: usize) -> Duration {
        let expected = |block: u32, scenario, program: &Program| {
            self.history
                .mean_block(block, &program.implementation.id)
                .unwrap_or_else(|| self.suite.expected_block(scenario))
        };
        let blocks = (0..)
            .zip(&self.suite.scenarios)
            .flat_map(|(block, scenario)| {
                self.programs
                    .iter()
                    .map(move |program| expected(block, scenario, program))
            });
        let blocks: Vec<Duration> = blocks.collect();
        let round: Duration = blocks.iter().sum();
        let over: Duration = blocks.iter().take(done).sum();
        let rounds = self.suite.rounds.saturating_sub(self.counted());
        (round * rounds).saturating_sub(over)
    }

    /// Fills in what is known only at the end.
    fn conclude(&self, run: &mut Run) {
        let mut warn = |code: &str, message: String| {
            run.warnings.push(RunWarning {
                code: code.to_owned(),
                message,
            });
        };
        for (block, id, times, reason) in self.history.failures() {
            let scenario = self.suite.scenarios.get(block as usize);
            let name = scenario.map(tls_harness::scenario::Scenario::name);
            warn(
                "failed-blocks",
                format!(
                    "{id} failed in {times} blocks of {}: {reason}.",
                    name.unwrap_or_default()
                ),
            );
        }
        let disturbed = |state: &&RoundState| !state.disturbed && !state.reasons.is_empty();
        let counted = self.history.rounds.iter().filter(disturbed).count();
        if counted > 0 {
            warn(
                "disturbed-rounds",
                format!(
                    "{counted} of {} rounds count although the host was disturbed: {} were \
                     repeated, and no more than that are.",
                    self.counted(),
                    self.history.repeats()
                ),
            );
        }
        for sensor in self.root.unreadable() {
            warn("unreadable-sensor", format!("Could not read {sensor}."));
        }
        let interruptions = self.history.interruptions();
        if interruptions > 0 {
            warn(
                "interrupted",
                format!("The run was interrupted and resumed {interruptions} times."),
            );
        }
        if self.disk_was_full {
            warn(
                "disk-full",
                "The disk was full; the run waited for space.".to_owned(),
            );
        }
        if let Some(target) = self.until_precise {
            self.tell_precision(target);
            let wide = |rates: &Vec<f64>| half_width(rates).is_none_or(|width| width > target);
            let imprecise = self
                .history
                .rates()
                .values()
                .filter(|rates| wide(rates))
                .count();
            if imprecise > 0 {
                warn(
                    "imprecise",
                    format!(
                        "{imprecise} medians are not known to within {} % after {} rounds.",
                        target * 100.0,
                        self.counted()
                    ),
                );
            }
        }
        run.rounds = Some(self.counted());
        run.finished = seconds(Timestamp::now()).ok();
        run.complete = true;
    }

    /// After how many rounds each median first was as precise as asked.
    fn tell_precision(&self, target: f64) {
        for ((scenario, id), rates) in self.history.rates() {
            let within = |rates: &[f64]| half_width(rates).filter(|width| *width <= target);
            let first = (1..=rates.len()).find(|count| within(&rates[..*count]).is_some());
            let end = half_width(&rates).map_or("too few rounds".to_owned(), |width| {
                format!("±{:.2} % after {}", width * 100.0, rates.len())
            });
            let took = first.map_or("never".to_owned(), |count| format!("{count} rounds"));
            println!(
                "{scenario}, {id}: {took} to ±{:.2} %; {end}",
                target * 100.0
            );
        }
    }
}

/// Processor time and switches of the runner and of all it ran.
struct Usage {
    processor_seconds: f64,
    involuntary_switches: u64,
}

impl Usage {
    fn now() -> Result<Self> {
        let (own, children) = (
            getrusage(UsageWho::RUSAGE_SELF)?,
            getrusage(UsageWho::RUSAGE_CHILDREN)?,
        );
        let seconds = [own, children]
            .iter()
            .flat_map(|usage| [usage.user_time(), usage.system_time()])
            .map(|time| time.num_microseconds() as f64 / 1e6)
            .sum();
        Ok(Self {
            processor_seconds: seconds,
            involuntary_switches: children
                .involuntary_context_switches()
                .try_into()
                .unwrap_or_default(),
        })
    }

    fn since(&self, before: &Self) -> Self {
        Self {
            processor_seconds: self.processor_seconds - before.processor_seconds,
            involuntary_switches: self.involuntary_switches - before.involuntary_switches,
        }
    }
}

/// A moment in TOML, to the second.
fn seconds(time: Timestamp) -> Result<toml::value::Datetime> {
    Ok(time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string().parse()?)
}

/// The format of a build's Cargo.lock, which holds no measurements.
const CARGO_LOCK: &str = "cargo-lock";

/// A raw file with its checksum; of one implementation, if it is told.
fn raw_file(
    folder: &Path,
    path: &str,
    format: &str,
    implementation: Option<String>,
) -> Result<RawFile> {
    let full = folder.join(path);
    let bytes = std::fs::read(&full).with_context(|| full.display().to_string())?;
    Ok(RawFile {
        path: path.to_owned(),
        sha256: hex(&Sha256::digest(&bytes)),
        bytes: bytes.len() as u64,
        format: format.to_owned(),
        implementation,
        round: None,
    })
}

fn remove(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| path.display().to_string())
        }
        _ => Ok(()),
    }
}

/// Writes a run beside its place, flushes it, and moves it there: it is whole or not there.
fn write(path: &Path, run: &Run) -> Result<()> {
    let text = toml::to_string(run)?;
    crate::files::replace(path, text.as_bytes())
}
