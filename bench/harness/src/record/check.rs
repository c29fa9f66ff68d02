//! What the tools refuse in a record, which its types allow: a program's line is checked when it is
//! measured, so that a whole run is never rejected afterwards.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;

use super::{Measurement, Metric, Overhead, Phase, Record, RoundState, Statistic, metric};
use crate::scenario::Operation;

/// The first four bytes of a histogram in V2.
const COOKIE: [u8; 4] = [0x1c, 0x84, 0x93, 0x13];

/// The bytes of a histogram before its counts. Four of them are the length of the counts, four the
/// number of significant digits.
const HEADER: usize = 40;
const DIGITS: [u8; 4] = 3_u32.to_be_bytes();

impl Record {
    /// Checks the figures of a record as the tools do. An error is what was found, and what was
    /// expected.
    pub fn check(&self) -> Result<(), String> {
        let (session, round, checked) = match self {
            Self::Measurement(it) => (it.session, it.round, it.check()),
            Self::Overhead(it) => (it.session, it.round, it.check()),
            Self::Block(it) => (it.session, it.round, Ok(())),
            Self::RoundState(it) => (it.session, it.round, it.check()),
        };
        match session.min(round) {
            0 => Err(format!(
                "session {session}, round {round}, expected 1 or more"
            )),
            _ => checked,
        }
    }
}

impl Measurement {
    fn check(&self) -> Result<(), String> {
        if self.observations.is_empty() {
            return Err("no observations, expected at least one".to_owned());
        }
        if self.operations == 0 {
            return Err("0 operations, expected at least 1".to_owned());
        }
        if self.elapsed_seconds == Some(0.0) {
            return Err("elapsed_seconds 0, expected more than 0".to_owned());
        }
        let wrong = |it: &&f64| !it.is_finite() || **it < 0.0;
        if let Some(rate) = self.per_thread.iter().flatten().find(wrong) {
            return Err(format!("per_thread {rate}, expected a number not below 0"));
        }
        // The figures of a measurement that must not count may be anything.
        if self.valid {
            self.check_figures()?;
            if let Some(text) = &self.histogram {
                check_histogram(text)
                    .map_err(|error| format!("histogram: {error}, expected HdrHistogram V2"))?;
            }
        }
        Ok(())
    }

    fn check_figures(&self) -> Result<(), String> {
        let operation = self.scenario.operation;
        let mut seen = Vec::new();
        for it in &self.observations {
            let units = it.metric.units(operation);
            if !units.contains(&it.unit.to_string()) {
                let expected = match units.is_empty() {
                    true => format!("another metric for {operation}"),
                    false => units.join(" or "),
                };
                let (unit, metric) = (it.unit, it.metric);
                return Err(format!(
                    "unit {unit} for the {metric} of a {operation}, expected {expected}"
                ));
            }
            if it.metric == Metric::RATE {
                check_rate(it.value, &it.unit.to_string())?;
            }
            seen.push((it.phase, it.metric, it.statistic));
        }
        // The tools add the rate of the median thread to that of both sides together.
        if operation == Operation::Handshake && self.scenario.side.is_none() {
            let figures = self.observations.iter().map(|it| it.value);
            let mut rates = self.per_thread.clone().unwrap_or_default();
            if rates.is_empty() {
                rates.extend(figures);
            }
            check_rate(metric::median(&rates), "handshakes/s/thread")?;
            seen.push((Phase::Total, Metric::RATE, Statistic::P50));
        }
        let again = (1..seen.len()).find(|index| seen[..*index].contains(&seen[*index]));
        match again.map(|it| seen[it]) {
            Some((phase, metric, statistic)) => Err(format!(
                "a second {metric} of {phase:?}, {statistic:?}, expected each observation once"
            )),
            None => Ok(()),
        }
    }
}

fn check_rate(rate: f64, unit: &str) -> Result<(), String> {
    let [least, most] = metric::rates();
    match (least..=most).contains(&rate) {
        true => Ok(()),
        false => Err(format!(
            "{rate} {unit}, expected a rate of {least} to {most:e}"
        )),
    }
}

fn check_histogram(text: &str) -> Result<(), String> {
    let bytes = BASE64_STANDARD.decode(text).map_err(|it| it.to_string())?;
    let length = bytes.get(4..8).and_then(|it| <[u8; 4]>::try_from(it).ok());
    let length = length.map(|it| u32::from_be_bytes(it) as usize + HEADER);
    let has_three_digits = bytes.get(12..16) == Some(&DIGITS);
    if !bytes.starts_with(&COOKIE) || length != Some(bytes.len()) || !has_three_digits {
        return Err(format!("{} bytes", bytes.len()));
    }
    let read: Result<Histogram<u64>, _> = Deserializer::new().deserialize(&mut &bytes[..]);
    read.map(|_| ()).map_err(|error| error.to_string())
}

impl Overhead {
    fn check(&self) -> Result<(), String> {
        match self.nanoseconds.is_some() == self.bytes.is_some() {
            true => Err(
                "an overhead with both nanoseconds and bytes or neither, expected one".to_owned(),
            ),
            false => Ok(()),
        }
    }
}

impl RoundState {
    fn check(&self) -> Result<(), String> {
        let all = [
            self.load_by_others_percent,
            self.steal_percent,
            self.frequency_mhz,
            self.runner_cpu_percent,
        ];
        match all.into_iter().flatten().find(|it| *it < 0.0) {
            Some(figure) => Err(format!("{figure}, expected a number not below 0")),
            None => Ok(()),
        }
    }
}
