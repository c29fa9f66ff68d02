//! Whether a journal has what its run has written so far: each block once and in its order, each round
//! with its state. A journal that was reordered, or has rounds of another run, cannot resume.

use tls_harness::record::{Block, Cause, Record, RoundState, Status};
use tls_harness::request::Counter;

use crate::block;
use crate::manifest::RunSession;
use crate::schedule;
use crate::suite::Suite;

/// The run whose journal is checked.
pub struct Replay<'a> {
    pub suite: &'a Suite,
    pub sessions: &'a [RunSession],
    /// Ids of the programs, in the order of the suite.
    pub ids: &'a [&'a str],
    pub counter: Option<Counter>,
}

/// What the next record belongs to.
struct Place {
    session: u32,
    round: u32,
    /// Blocks of the round that are complete.
    done: usize,
    /// Rounds of the session that are measured again.
    repeats: u32,
}

impl Replay<'_> {
    /// An error has the index of a record, and says what it is and what it should be.
    pub fn check(&self, records: &[Record]) -> Result<(), (usize, String)> {
        let mut place = Place {
            session: 1,
            round: 1,
            done: 0,
            repeats: 0,
        };
        let mut start = 0;
        for (index, record) in records.iter().enumerate() {
            let checked = match record {
                Record::Measurement(_) | Record::Overhead(_) => continue,
                Record::Block(mark) => self.block(&mut place, mark, &records[start..=index]),
                Record::RoundState(_) if start < index => Err((
                    0,
                    "a record that no block mark follows, expected a block".to_owned(),
                )),
                Record::RoundState(state) => self
                    .round(&mut place, state)
                    .and_then(|()| record.check())
                    .map_err(|it| (0, it)),
            };
            checked.map_err(|(offset, what)| (start + offset, what))?;
            start = index + 1;
        }
        Ok(())
    }

    /// Checks the records of the next block, of which the mark is the last.
    fn block(
        &self,
        place: &mut Place,
        mark: &Block,
        records: &[Record],
    ) -> Result<(), (usize, String)> {
        if place.done == 0 && mark.session > place.session {
            (place.session, place.repeats) = (mark.session, 0);
        }
        let blocks = self.blocks(place).map_err(|it| (0, it))?;
        let Some((number, program)) = blocks.get(place.done).copied() else {
            let expected = format!("expected the state of round {}", place.round);
            return Err((0, format!("one more block, {expected}")));
        };
        if mark.status == Status::Failed && records.len() > 1 {
            return Err((
                0,
                "a record of a failed block, expected only its mark".to_owned(),
            ));
        }
        let layout = (place.session - 1) % self.suite.layouts;
        let session = (place.session, layout);
        let id = self.ids[program];
        let request = self
            .suite
            .request(session, place.round, number, id, self.counter);
        block::check(records, &request)?;
        place.done += 1;
        Ok(())
    }

    fn round(&self, place: &mut Place, state: &RoundState) -> Result<(), String> {
        if (state.session, state.round) != (place.session, place.round) {
            return Err(format!(
                "the state of session {}, round {}, expected that of session {}, round {}",
                state.session, state.round, place.session, place.round
            ));
        }
        let blocks = self.blocks(place)?.len();
        let interrupted = state.causes.contains(&Cause::Interrupted);
        if place.done == 0 || (place.done < blocks && !interrupted) {
            return Err(format!(
                "the state of round {} after {} of its blocks, expected all {blocks}",
                place.round, place.done
            ));
        }
        let repeated = !state.causes.is_empty() && place.repeats < self.suite.most_repeats();
        if state.disturbed != (interrupted || repeated) {
            return Err(format!(
                "disturbed = {} with {} causes, expected {}",
                state.disturbed,
                state.causes.len(),
                !state.disturbed
            ));
        }
        place.repeats += u32::from(state.disturbed && !interrupted);
        (place.round, place.done) = (place.round + 1, 0);
        Ok(())
    }

    /// The blocks of a round in their order.
    fn blocks(&self, place: &Place) -> Result<Vec<(u32, usize)>, String> {
        let (scenarios, programs) = (self.suite.scenarios.len(), self.ids.len());
        let begun = self.sessions.iter().find(|it| it.number == place.session);
        let begun = begun.ok_or_else(|| {
            let known = self.sessions.len();
            format!(
                "session {}, expected one of the {known} in the plan",
                place.session
            )
        })?;
        let (seed, round) = (begun.seed, place.round);
        Ok(schedule::blocks(seed, round, scenarios, programs))
    }
}
