//! What a library's program is asked to measure: one block, one JSON object on standard input.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{
    clock,
    record::{self, Measurement, Observation, Overhead, Schema},
    scenario::{Scenario, Side},
};

/// What is counted instead of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Counter {
    /// Instructions, by valgrind's tool of this name.
    Callgrind,
}

/// One block: a scenario (without its side: both sides are measured) of one implementation in
/// one round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub schema: Schema,
    #[serde(default = "record::first", skip_serializing_if = "record::is_first")]
    pub session: u32,
    pub round: u32,
    /// How this program was linked.
    #[serde(default, skip_serializing_if = "record::is_own")]
    pub layout: u32,
    /// Index of the scenario in the suite.
    pub block: u32,
    /// Name to write into the records.
    pub implementation: String,
    pub scenario: Scenario,
    pub measure_seconds: f64,
    pub warmup_seconds: f64,
    /// Also keep the time of each handshake: percentiles and a histogram.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub latency: bool,
    /// Bind each thread to a logical processor of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
    /// Also record the handshakes of all threads per second of the wall clock, without a side.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub throughput: bool,
    /// Count this for a fixed number of operations, and measure no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counter: Option<Counter>,
}

impl Request {
    /// A measurement of one side, or of none.
    pub(crate) fn measurement(
        &self,
        side: Option<Side>,
        operations: u64,
        elapsed: impl Into<Option<Duration>>,
        observations: Vec<Observation>,
    ) -> Measurement {
        Measurement {
            schema: Schema,
            time: clock::date(),
            session: self.session,
            round: self.round,
            layout: self.layout,
            implementation: self.implementation.clone(),
            scenario: self.scenario.on(side),
            observations,
            operations,
            elapsed_seconds: elapsed.into().map(|it| it.as_secs_f64()),
            per_thread: None,
            histogram: None,
            valid: true,
            note: None,
        }
    }

    /// The harness' own cost for one side, or for none: without a figure yet.
    pub(crate) fn overhead(&self, side: Option<Side>) -> Overhead {
        Overhead {
            schema: Schema,
            time: clock::date(),
            session: self.session,
            round: self.round,
            implementation: self.implementation.clone(),
            clock_nanoseconds: clock::cost(),
            scenario: self.scenario.on(side),
            nanoseconds: None,
            copies_nanoseconds: None,
            bytes: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_request_of_the_design_is_understood() {
        let text = r#"{"schema":1,"round":3,"block":7,"implementation":"openssl-3.6.3",
            "scenario":{"operation":"handshake","protocol":"1.3"},
            "measure_seconds":0.5,"warmup_seconds":0.1}"#;
        let request: Request = serde_json::from_str(text).unwrap();
        assert_eq!((request.round, request.block), (3, 7));
        assert_eq!((request.session, request.layout), (1, 0));
        assert!(!request.latency && !request.pinned && !request.throughput);
        assert_eq!(request.counter, None);
    }

    #[test]
    fn an_unknown_field_is_refused() {
        let text = r#"{"schema":1,"round":3,"block":7,"implementation":"a","seconds":1,
            "scenario":{"operation":"handshake"},"measure_seconds":0.5,"warmup_seconds":0.1}"#;
        assert!(serde_json::from_str::<Request>(text).is_err());
    }
}
