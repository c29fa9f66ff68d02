//! The request to a library's program: one block to measure, as one JSON object on standard input.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{
    clock,
    record::{self, Measurement, Observation, Overhead, Schema},
    scenario::{Scenario, Side},
};

/// What to count instead of measuring time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Counter {
    /// Instructions, counted by Valgrind's tool Callgrind.
    Callgrind,
    /// Allocations, locks, locked instructions and calls into the kernel.
    Calls,
    /// Bytes, records and messages that are sent, and the calls of the transport.
    Wire,
}

impl Counter {
    pub const ALL: [Self; 3] = [Self::Callgrind, Self::Calls, Self::Wire];

    /// The name of a command line and of `run.toml`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Callgrind => "callgrind",
            Self::Calls => "calls",
            Self::Wire => "wire",
        }
    }
}

/// One block: one implementation in one scenario (both sides of it) in one round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub schema: Schema,
    #[serde(default = "record::first", skip_serializing_if = "record::is_first")]
    pub session: u32,
    pub round: u32,
    /// Number of the program's layout; 0 is the linker's own order.
    #[serde(default, skip_serializing_if = "record::is_own")]
    pub layout: u32,
    /// Index of the scenario in the suite.
    pub block: u32,
    /// Id to write into the records.
    pub implementation: String,
    pub scenario: Scenario,
    pub measure_seconds: f64,
    pub warmup_seconds: f64,
    /// Also record the time of each handshake, as percentiles and a histogram.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub latency: bool,
    /// Pin each thread to its own logical processor.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
    /// Also record the handshakes per second of all threads together, by the wall clock.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub throughput: bool,
    /// Count this over a fixed number of operations instead of measuring time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counter: Option<Counter>,
}

impl Request {
    /// A measurement of one side, or of the scenario as a whole.
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

    /// An overhead record of one side, or of the scenario as a whole, with no figure yet.
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
    fn the_example_request_of_the_design_is_parsed() {
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
    fn an_unknown_field_is_rejected() {
        let text = r#"{"schema":1,"round":3,"block":7,"implementation":"a","seconds":1,
            "scenario":{"operation":"handshake"},"measure_seconds":0.5,"warmup_seconds":0.1}"#;
        assert!(serde_json::from_str::<Request>(text).is_err());
    }

    #[test]
    fn records_have_the_names_and_numbers_of_their_request() {
        let text = r#"{"schema":1,"session":5,"round":3,"layout":2,"block":7,"implementation":"a-1",
            "scenario":{"operation":"handshake","protocol":"1.3"},
            "measure_seconds":0.5,"warmup_seconds":0.1}"#;
        let request: Request = serde_json::from_str(text).unwrap();
        for side in [None, Some(Side::Client), Some(Side::Server)] {
            let it = request.measurement(side, 9, None, Vec::new());
            assert_eq!(
                (it.session, it.round, it.layout, it.operations),
                (5, 3, 2, 9)
            );
            assert_eq!(
                (it.implementation.as_str(), it.scenario.side),
                ("a-1", side)
            );
            let it = request.overhead(side);
            assert_eq!((it.session, it.round, it.scenario.side), (5, 3, side));
            assert_eq!(it.implementation, "a-1");
        }
    }
}
