//! The contents of a run's journal: the state from which a run resumes.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use tls_harness::record::{Cause, Record, RoundState, Schema, Status};

/// After this many failures in a row a block is not tried again.
const MOST_FAILURES: u32 = 3;

/// A block of one implementation: the index of its scenario in the suite, and the implementation's
/// id.
type Place = (u32, String);

/// The results of the blocks at one place.
#[derive(Debug, Default)]
struct Blocks {
    measured: u32,
    elapsed: Duration,
    failures_in_a_row: u32,
    failures: u32,
    reason: String,
}

impl Blocks {
    fn given_up(&self) -> bool {
        self.failures_in_a_row >= MOST_FAILURES
    }
}

#[derive(Debug, Default)]
pub struct History {
    pub rounds: Vec<RoundState>,
    last_session: u32,
    last_round: u32,
    blocks: BTreeMap<Place, Blocks>,
    /// Times of the first and last record of an unfinished round.
    in_flight: Option<(Timestamp, Timestamp)>,
}

impl History {
    pub fn of(records: &[Record]) -> Self {
        let mut history = Self::default();
        for record in records {
            history.add(record);
        }
        history
    }

    pub fn add(&mut self, record: &Record) {
        let (session, round, time) = match record {
            Record::Measurement(it) => (it.session, it.round, it.time),
            Record::Overhead(overhead) => (overhead.session, overhead.round, overhead.time),
            Record::Block(block) => {
                let place = (block.block, block.implementation.clone());
                let blocks = self.blocks.entry(place).or_default();
                if block.status == Status::Failed {
                    // The mark of a block that was skipped repeats the reason of the last try.
                    if !blocks.given_up() {
                        blocks.reason = block.reason.clone().unwrap_or_default();
                    }
                    blocks.failures += 1;
                    blocks.failures_in_a_row += 1;
                } else {
                    blocks.failures_in_a_row = 0;
                }
                blocks.measured += 1;
                blocks.elapsed += Duration::from_secs_f64(block.elapsed_seconds);
                (block.session, block.round, block.time)
            }
            Record::RoundState(state) => {
                self.rounds.push(state.clone());
                (self.last_session, self.last_round) = (state.session, state.round);
                self.in_flight = None;
                return;
            }
        };
        (self.last_session, self.last_round) = (session, round);
        let first = self.in_flight.map_or(time, |(first, _)| first);
        self.in_flight = Some((first, time));
    }

    pub fn counted(&self) -> u32 {
        self.number_of(|state| !state.disturbed)
    }

    pub fn counted_in(&self, session: u32) -> u32 {
        self.number_of(|state| state.session == session && !state.disturbed)
    }

    pub fn next_round(&self) -> u32 {
        self.last_round + 1
    }

    /// The mark of a round that was unfinished when the runner stopped. It does not count: its
    /// blocks did not follow each other, and the host was not watched throughout.
    pub fn interrupted(&self, now: Timestamp) -> Option<RoundState> {
        let (first, last) = self.in_flight?;
        Some(RoundState {
            schema: Schema,
            time: now,
            session: self.last_session,
            round: self.last_round,
            elapsed_seconds: last.duration_since(first).as_secs_f64().max(0.0),
            disturbed: true,
            causes: vec![Cause::Interrupted],
            reasons: vec![
                "interrupted: the runner was stopped, and resumed the run later".to_owned(),
            ],
            load_by_others_percent: None,
            steal_percent: None,
            frequency_mhz: None,
            throttle_count: None,
            temperature_celsius: None,
            involuntary_switches: None,
            runner_cpu_percent: None,
        })
    }

    /// Number of rounds that the host disturbed, without those that were interrupted.
    pub fn repeats(&self) -> u32 {
        self.number_of(|state| state.disturbed && !is_interrupted(state))
    }

    /// The same for one session.
    pub fn repeats_in(&self, session: u32) -> u32 {
        self.number_of(|state| {
            state.session == session && state.disturbed && !is_interrupted(state)
        })
    }

    fn number_of(&self, is_meant: impl Fn(&RoundState) -> bool) -> u32 {
        let number = self.rounds.iter().filter(|state| is_meant(state)).count();
        u32::try_from(number).unwrap_or(u32::MAX)
    }

    pub fn interruptions(&self) -> u32 {
        self.number_of(is_interrupted)
    }

    /// The reason why this block is not tried again, if so.
    pub fn given_up(&self, block: u32, implementation: &str) -> Option<String> {
        let blocks = self.blocks.get(&(block, implementation.to_owned()))?;
        blocks
            .given_up()
            .then(|| format!("not tried again: {}", blocks.reason))
    }

    /// Mean wall-clock time of the blocks at one place, if there were any.
    pub fn mean_block(&self, block: u32, implementation: &str) -> Option<Duration> {
        let blocks = self.blocks.get(&(block, implementation.to_owned()))?;
        Some(blocks.elapsed / blocks.measured)
    }

    /// Mean wall-clock time of all blocks, if there were any.
    pub fn mean(&self) -> Option<Duration> {
        let all = self.blocks.values();
        let measured: u32 = all.clone().map(|it| it.measured).sum();
        let elapsed: Duration = all.map(|it| it.elapsed).sum();
        elapsed.checked_div(measured)
    }

    /// Places with failures: block, implementation, number of failures, and last reason.
    pub fn failures(&self) -> impl Iterator<Item = (u32, &str, u32, &str)> {
        self.blocks
            .iter()
            .filter(|(_, blocks)| blocks.failures > 0)
            .map(|((block, id), blocks)| {
                (*block, id.as_str(), blocks.failures, blocks.reason.as_str())
            })
    }
}

fn is_interrupted(state: &RoundState) -> bool {
    state.causes.contains(&Cause::Interrupted)
}
