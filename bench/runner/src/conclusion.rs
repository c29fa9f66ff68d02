//! The warnings of a finished run, and the precision that it reached.

use jiff::SignedDuration;

use crate::history::History;
use crate::precision::half_width;
use crate::suite::Suite;
use crate::warnings::Warning;

/// The state of a run after its last round.
pub struct Conclusion<'a> {
    pub suite: &'a Suite,
    pub history: &'a History,
    pub until_precise: Option<f64>,
    pub unreadable_sensors: Vec<String>,
    pub disk_was_full: bool,
    pub stepped: Option<SignedDuration>,
}

impl Conclusion<'_> {
    pub fn warnings(&self) -> Vec<Warning> {
        let mut warnings = self.failed_blocks();
        warnings.extend(self.disturbed_rounds());
        let sensors = self.unreadable_sensors.iter().cloned();
        warnings.extend(sensors.map(|sensor| Warning::UnreadableSensor { sensor }));
        let times = self.history.interruptions();
        if times > 0 {
            warnings.push(Warning::Interrupted { times });
        }
        if self.disk_was_full {
            warnings.push(Warning::DiskFull);
        }
        let stepped = self.stepped.map(|by| by.as_secs_f64());
        warnings.extend(stepped.map(|seconds| Warning::SteppedClock { seconds }));
        warnings.extend(self.until_precise.and_then(|target| self.imprecise(target)));
        warnings
    }

    /// Text that states after how many rounds each median reached the requested precision.
    pub fn precision(&self) -> Vec<String> {
        let Some(target) = self.until_precise else {
            return Vec::new();
        };
        let percent = |share: f64| format!("±{:.2}%", share * 100.0);
        let rates = self.history.rates().into_iter();
        rates
            .map(|((scenario, id), rates)| {
                let precise = |count: &usize| is_precise(&rates[..*count], target);
                let first = (1..=rates.len()).find(precise);
                let took = first.map_or("never".to_owned(), |count| format!("{count} rounds"));
                let end = half_width(&rates).map_or("too few rounds".to_owned(), |width| {
                    format!("{} after {}", percent(width), rates.len())
                });
                format!("{scenario}, {id}: {took} to {}; {end}", percent(target))
            })
            .collect()
    }

    fn failed_blocks(&self) -> Vec<Warning> {
        let failures = self.history.failures();
        failures
            .map(|(block, implementation, blocks, reason)| {
                let scenario = self.suite.scenarios.get(block as usize);
                Warning::FailedBlocks {
                    implementation: implementation.to_owned(),
                    scenario: scenario.map(|it| it.name()).unwrap_or_default(),
                    blocks,
                    reason: reason.to_owned(),
                }
            })
            .collect()
    }

    fn disturbed_rounds(&self) -> Option<Warning> {
        let rounds = self.history.rounds.iter();
        let disturbed = rounds
            .filter(|state| !state.disturbed && !state.reasons.is_empty())
            .count();
        (disturbed > 0).then(|| Warning::DisturbedRoundsCounted {
            disturbed,
            counted: self.history.counted(),
            repeated: self.history.repeats(),
            most: self.suite.most_repeats(),
        })
    }

    fn imprecise(&self, target: f64) -> Option<Warning> {
        let rates = self.history.rates();
        let medians = rates
            .values()
            .filter(|rates| !is_precise(rates, target))
            .count();
        (medians > 0).then(|| Warning::Imprecise {
            medians,
            target,
            rounds: self.history.counted(),
        })
    }
}

/// Whether the half-width of the 95% interval of the median of these rates is at most `target`.
pub fn is_precise(rates: &[f64], target: f64) -> bool {
    half_width(rates).is_some_and(|width| width <= target)
}
