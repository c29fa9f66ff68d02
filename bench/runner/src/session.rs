//! Measures one session: its rounds and blocks, each written to the journal at once.

use std::time::Duration;

use anyhow::Result;
use indicatif::HumanDuration;
use jiff::{SignedDuration, Timestamp};
use tls_harness::record::{Block, Record, RoundState, Schema, Status};
use tls_harness::request::{Counter, Request};

use crate::history::History;
use crate::host::root::Root;
use crate::host::watch::Watch;
use crate::journal::Journal;
use crate::medians::rows;
use crate::precision::is_precise;
use crate::program::{Measured, Program};
use crate::progress::Progress;
use crate::schedule::order;
use crate::stop;
use crate::suite::Suite;
use crate::usage::Usage;
use crate::words::counted;

/// Time after which a counting process is killed: no scenario takes an hour on any host.
const COUNTED_TIMEOUT: Duration = Duration::from_secs(3600);

/// How often to measure a block whose process was stopped meanwhile; the last result is kept.
const STOPPED_TRIES: u32 = 3;

/// Largest number of rounds with `--until-precise`, as a multiple of the suite's rounds.
const MOST_PRECISE: u32 = 5;

/// The session that is being measured; it also keeps the state for the sessions after it.
pub struct Session<'a> {
    /// The first session is 1.
    pub number: u32,
    pub layout: u32,
    pub suite: &'a Suite,
    pub programs: &'a [Program],
    pub root: &'a Root,
    pub seed: u64,
    pub until_precise: Option<f64>,
    pub counter: Option<Counter>,
    pub journal: Journal,
    pub history: History,
    pub progress: Progress,
    pub disk_was_full: bool,
    /// The last step of the time of day.
    pub stepped: Option<SignedDuration>,
}

impl Session<'_> {
    pub fn measure(&mut self) -> Result<()> {
        if let Some(mark) = self.history.interrupted(Timestamp::now()) {
            self.progress.say(&format!(
                "resuming after {}: round {} was interrupted and is repeated",
                counted(self.counted(), "complete round"),
                mark.round
            ));
            self.append_one(Record::RoundState(mark))?;
        }
        let rounds = self.rounds();
        self.progress.finish();
        rounds
    }

    fn rounds(&mut self) -> Result<()> {
        while !self.done()? {
            self.round()?;
        }
        Ok(())
    }

    fn counted(&self) -> u32 {
        self.history.counted_in(self.number)
    }

    /// Whether the requested rounds are complete, and every median has the requested precision.
    fn done(&self) -> Result<bool> {
        let (counted, rounds) = (self.counted(), self.suite.rounds);
        let is_last = counted >= rounds.saturating_mul(MOST_PRECISE);
        match self.until_precise {
            Some(target) if counted >= rounds && !is_last => {
                let rows = rows(&self.journal.records()?);
                let mut values = rows.iter().flat_map(|row| row.values.values());
                Ok(values.all(|it| is_precise(it, target)))
            }
            _ => Ok(counted >= rounds),
        }
    }

    fn round(&mut self) -> Result<()> {
        let round = self.history.next_round();
        let mut watch = Watch::start(self.root);
        let before = Usage::now()?;
        let mut runner_cpu = Duration::ZERO;
        let mut measuring = Duration::ZERO;
        let mut done = 0;
        for (block, scenario) in (0..).zip(&self.suite.scenarios) {
            if self.counter.is_some() {
                self.progress.line(&format!(
                    "{} ({} of {}){}",
                    scenario.name(),
                    block + 1,
                    self.suite.scenarios.len(),
                    self.history.mean().map_or(String::new(), |_| format!(
                        ": about {} left",
                        HumanDuration(self.remaining(done))
                    ))
                ));
            }
            for index in order(self.seed, round, block, self.programs.len()) {
                stop::check()?;
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
                let session = (self.number, self.layout);
                let request = self.suite.request(session, round, block, id, self.counter);
                let (elapsed, cpu) = self.block(program, &request)?;
                measuring += elapsed;
                runner_cpu += cpu;
                watch.sample();
                done += 1;
            }
        }
        let spent = Usage::now()?.since(&before);
        let mut conditions = watch.finish(spent.processor_seconds);
        self.stepped = conditions.stepped.or(self.stepped);
        if self.counter.is_some() {
            // Other programs on the host do not change a count.
            conditions.disturbances.clear();
        }
        let (causes, reasons): (Vec<_>, Vec<_>) = conditions.disturbances.into_iter().unzip();
        let repeats = self.history.repeats_in(self.number);
        let disturbed = !causes.is_empty() && repeats < self.suite.most_repeats();
        let percent = |part: Duration, whole: Duration| {
            (!whole.is_zero()).then(|| 100.0 * part.as_secs_f64() / whole.as_secs_f64())
        };
        let state = RoundState {
            schema: Schema,
            time: Timestamp::now(),
            session: self.number,
            round,
            elapsed_seconds: conditions.elapsed.as_secs_f64(),
            disturbed,
            causes,
            reasons,
            load_by_others_percent: conditions.load_by_others_percent,
            steal_percent: conditions.steal_percent,
            frequency_mhz: conditions.frequency_mhz,
            throttle_count: conditions.throttle_count,
            temperature_celsius: conditions.temperature_celsius,
            involuntary_switches: Some(spent.involuntary_switches),
            runner_cpu_percent: percent(runner_cpu, measuring),
        };
        let outcome = outcome(disturbed, &state.reasons);
        self.append_one(Record::RoundState(state))?;
        self.journal.verify()?;
        let more = self.until_precise.map_or(String::new(), |target| {
            format!(
                ", and more until every median is within {}%",
                target * 100.0
            )
        });
        self.progress.say(&format!(
            "{}round {round}: {outcome}{} of {} complete, about {} left{more}",
            self.prefix(),
            self.counted(),
            counted(self.suite.rounds.max(self.counted()), "round"),
            HumanDuration(self.remaining(0)),
        ));
        Ok(())
    }

    /// Measures one block and writes its records, or the mark of its failure. Returns its
    /// wall-clock time and the runner's processor time during it.
    fn block(&mut self, program: &Program, request: &Request) -> Result<(Duration, Duration)> {
        let id = &program.implementation.id;
        let failed = |reason: String, elapsed: Duration| {
            Record::Block(Block {
                schema: Schema,
                time: Timestamp::now(),
                session: request.session,
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
        let measured = self.measured(program, request, timeout)?;
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

    /// Measures a block, and again if its process was stopped meanwhile. Returns the result of the
    /// last try, and the total times of all tries.
    fn measured(
        &self,
        program: &Program,
        request: &Request,
        timeout: Duration,
    ) -> Result<Measured> {
        let mut all = program.measure(request, timeout)?;
        for _ in 1..STOPPED_TRIES {
            let Some(why) = all.invalid() else { break };
            self.progress.say(&format!(
                "{}, {}, round {}: {why}: measured again",
                program.implementation.id,
                request.scenario.name(),
                request.round
            ));
            let again = program.measure(request, timeout)?;
            all = Measured {
                elapsed: all.elapsed + again.elapsed,
                runner_cpu: all.runner_cpu + again.runner_cpu,
                ..again
            };
        }
        Ok(all)
    }

    /// Start of a progress line in a run of several sessions.
    fn prefix(&self) -> String {
        match self.suite.sessions {
            1 => String::new(),
            sessions => format!("session {} of {sessions}, ", self.number),
        }
    }

    fn append_one(&mut self, record: Record) -> Result<()> {
        let line = record.to_line()? + "\n";
        self.append(line.as_bytes(), &[record])
    }

    fn append(&mut self, lines: &[u8], records: &[Record]) -> Result<()> {
        let (progress, was_full) = (&self.progress, &mut self.disk_was_full);
        self.journal.append(lines, |text| {
            *was_full = true;
            progress.warn(text);
        })?;
        for record in records {
            self.history.add(record);
        }
        Ok(())
    }

    /// The expected time of the remaining rounds, after `done` blocks of the current one: for each
    /// block its mean time so far.
    fn remaining(&self, done: usize) -> Duration {
        let expected = |block: u32, scenario, program: &Program| {
            self.history
                .mean_block(block, &program.implementation.id)
                .or_else(|| self.counter.and_then(|_| self.history.mean()))
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
}

/// The result of a round, which precedes the number of complete rounds.
fn outcome(disturbed: bool, reasons: &[String]) -> String {
    let reasons = reasons.join("; ");
    match (disturbed, reasons.is_empty()) {
        (_, true) => String::new(),
        (true, false) => format!("disturbed ({reasons}), so it is measured again; "),
        (false, false) => format!("disturbed ({reasons}), but counts; "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disturbed_round_is_reported_as_repeated_or_counted() {
        let reasons = ["steal time 3%".to_owned(), "throttled".to_owned()];
        assert_eq!(outcome(false, &[]), "");
        assert_eq!(
            outcome(true, &reasons),
            "disturbed (steal time 3%; throttled), so it is measured again; "
        );
        assert_eq!(
            outcome(false, &reasons[..1]),
            "disturbed (steal time 3%), but counts; "
        );
    }
}
