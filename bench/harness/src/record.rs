//! Lines of our raw format, JSON Lines (`tlsbench/1`), as `data/schema/record.schema.json` has them.

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

use crate::scenario::Scenario;

mod metric;

pub use metric::{Metric, Unit};

/// The number in every record: only 1 is read or written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Schema;

impl Schema {
    const NUMBER: u32 = 1;
}

impl Serialize for Schema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(Self::NUMBER)
    }
}

impl<'de> Deserialize<'de> for Schema {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u32::deserialize(deserializer)? {
            Self::NUMBER => Ok(Self),
            other => Err(de::Error::custom(format!(
                "schema is {other}, expected {}",
                Self::NUMBER
            ))),
        }
    }
}

/// A figure that is neither negative nor NaN nor infinite, in both directions.
mod figure {
    use super::*;

    fn check(value: f64) -> Result<f64, String> {
        if value.is_finite() && value >= 0.0 {
            Ok(value)
        } else {
            Err(format!("{value}, expected a finite number not below 0"))
        }
    }

    pub fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(check(*value).map_err(ser::Error::custom)?)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        check(f64::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

/// The same, where it may be absent.
mod optional_figure {
    use super::*;

    #[derive(Serialize, Deserialize)]
    struct Figure(#[serde(with = "figure")] f64);

    pub fn serialize<S: Serializer>(value: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
        value.map(Figure).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<f64>, D::Error> {
        Ok(Some(Figure::deserialize(deserializer)?.0))
    }
}

/// Which statistic of the operations of one round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Statistic {
    #[default]
    #[serde(rename = "value")]
    Value,
    #[serde(rename = "p5")]
    P5,
    #[serde(rename = "p50")]
    P50,
    #[serde(rename = "p90")]
    P90,
    #[serde(rename = "p99")]
    P99,
    #[serde(rename = "p99.9")]
    P999,
    #[serde(rename = "max")]
    Max,
}

/// `total`, or a part of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Phase {
    #[default]
    #[serde(rename = "total")]
    Total,
    #[serde(rename = "construction")]
    Construction,
    #[serde(rename = "flight-1")]
    Flight1,
    #[serde(rename = "flight-2")]
    Flight2,
    #[serde(rename = "flight-3")]
    Flight3,
    #[serde(rename = "flight-4")]
    Flight4,
    #[serde(rename = "tickets")]
    Tickets,
    #[serde(rename = "handshake")]
    Handshake,
    #[serde(rename = "data")]
    Data,
    /// What was set up is freed.
    #[serde(rename = "destruction")]
    Destruction,
    /// Processor time of a fresh process.
    #[serde(rename = "processor")]
    Processor,
    /// The rest of its time by the wall clock.
    #[serde(rename = "waiting")]
    Waiting,
    /// What a set-up takes without any of what it has many of.
    #[serde(rename = "fixed")]
    Fixed,
    /// What each of them adds.
    #[serde(rename = "each")]
    Each,
}

/// One measured figure of one scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Observation {
    #[serde(default)]
    pub phase: Phase,
    pub metric: Metric,
    #[serde(default)]
    pub statistic: Statistic,
    #[serde(with = "figure")]
    pub value: f64,
    pub unit: Unit,
}

/// One implementation in one scenario in one round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measurement {
    pub schema: Schema,
    /// When it was written, UTC.
    pub time: Timestamp,
    /// Counted from 1.
    #[serde(default = "first", skip_serializing_if = "is_first")]
    pub session: u32,
    /// Counted through over all sessions of the run.
    pub round: u32,
    /// How the program was linked; 0: in the linker's own order.
    #[serde(default, skip_serializing_if = "is_own")]
    pub layout: u32,
    pub implementation: String,
    pub scenario: Scenario,
    pub observations: Vec<Observation>,
    /// Handshakes or writes measured in this round.
    pub operations: u64,
    /// Time charged to this side, summed; absent where no time is measured.
    #[serde(
        default,
        with = "optional_figure",
        skip_serializing_if = "Option::is_none"
    )]
    pub elapsed_seconds: Option<f64>,
    /// Rate of each thread, in the unit of the total rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_thread: Option<Vec<f64>>,
    /// HdrHistogram V2, base64, nanoseconds, 3 significant digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub histogram: Option<String>,
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub valid: bool,
    /// Why it must not count, when `valid` is false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// How a block ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Measured,
    Absent,
    Failed,
}

/// Written after all records of one block: what stands before it is complete.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Block {
    pub schema: Schema,
    pub time: Timestamp,
    /// Counted from 1.
    #[serde(default = "first", skip_serializing_if = "is_first")]
    pub session: u32,
    pub round: u32,
    /// Index of the scenario in the suite.
    pub block: u32,
    pub implementation: String,
    pub status: Status,
    /// Why the implementation cannot do it (absent), or what failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Wall time of the block's process.
    #[serde(with = "figure")]
    pub elapsed_seconds: f64,
}

/// Cost of the harness itself: the driver run with a library that does nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Overhead {
    pub schema: Schema,
    pub time: Timestamp,
    /// Counted from 1.
    #[serde(default = "first", skip_serializing_if = "is_first")]
    pub session: u32,
    pub round: u32,
    pub implementation: String,
    /// One read of the clock.
    #[serde(with = "figure")]
    pub clock_nanoseconds: f64,
    pub scenario: Scenario,
    /// Per handshake, write or operation; absent for memory.
    #[serde(
        default,
        with = "optional_figure",
        skip_serializing_if = "Option::is_none"
    )]
    pub nanoseconds: Option<f64>,
    /// Per write, above `nanoseconds`: framing and copying to or from the transport; for transfers.
    #[serde(
        default,
        with = "optional_figure",
        skip_serializing_if = "Option::is_none"
    )]
    pub copies_nanoseconds: Option<f64>,
    /// For memory: by the allocator's count, per connection or in all as its figures are.
    #[serde(
        default,
        with = "optional_figure",
        skip_serializing_if = "Option::is_none"
    )]
    pub bytes: Option<f64>,
}

/// What disturbed a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cause {
    /// The runner was stopped during the round, and resumed the run later.
    Interrupted,
    /// Load by others.
    Load,
    /// Processor time stolen by the hypervisor.
    Steal,
    Throttled,
}

/// State of the host over one round; a disturbed round does not count and is repeated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoundState {
    pub schema: Schema,
    pub time: Timestamp,
    /// Counted from 1.
    #[serde(default = "first", skip_serializing_if = "is_first")]
    pub session: u32,
    pub round: u32,
    #[serde(with = "figure")]
    pub elapsed_seconds: f64,
    #[serde(default, skip_serializing_if = "is_false")]
    pub disturbed: bool,
    /// Codes of the reasons; absent in records from before there were codes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Cause>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    /// Of one core.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_by_others_percent: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steal_percent: Option<f64>,
    /// Mean over the cores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frequency_mhz: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttle_count: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature_celsius: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub involuntary_switches: Option<u64>,
    /// Of one core.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runner_cpu_percent: Option<f64>,
}

/// One line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Record {
    Measurement(Measurement),
    Block(Block),
    Overhead(Overhead),
    #[serde(rename = "round")]
    RoundState(RoundState),
}

fn yes() -> bool {
    true
}

fn is_true(value: &bool) -> bool {
    *value
}

fn is_false(value: &bool) -> bool {
    !value
}

pub(crate) fn first() -> u32 {
    1
}

pub(crate) fn is_first(session: &u32) -> bool {
    *session == first()
}

pub(crate) fn is_own(layout: &u32) -> bool {
    *layout == 0
}

impl Record {
    /// The record as one line of JSON, without the line's end.
    ///
    /// # Errors
    /// A figure is negative, NaN or infinite.
    pub fn to_line(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    const EXAMPLE: &str = include_str!("../../../data/schema/record.example.jsonl");

    fn validator() -> jsonschema::Validator {
        let schema = include_str!("../../../data/schema/record.schema.json");
        jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap()
    }

    #[test]
    fn examples_are_read_and_written_without_loss() {
        for line in EXAMPLE.lines() {
            let record: Record = serde_json::from_str(line).unwrap();
            let again: Record = serde_json::from_str(&record.to_line().unwrap()).unwrap();
            assert_eq!(record, again);
            let (written, example): (Value, Value) = (
                serde_json::to_value(&record).unwrap(),
                serde_json::from_str(line).unwrap(),
            );
            assert_eq!(written, example);
        }
    }

    #[test]
    fn what_is_written_is_valid_by_the_schema() {
        let validator = validator();
        for line in EXAMPLE.lines() {
            let record: Record = serde_json::from_str(line).unwrap();
            let value: Value = serde_json::from_str(&record.to_line().unwrap()).unwrap();
            validator.validate(&value).unwrap();
        }
    }

    #[test]
    fn what_the_contract_refuses_is_refused() {
        let validator = validator();
        let example = EXAMPLE.lines().nth(1).unwrap();
        for (found, put) in [
            (r#""schema":1"#, r#""schema":2"#),
            (r#""kind":"measurement""#, r#""kind":"guess""#),
            (r#""value":6012.25"#, r#""value":-1"#),
            (r#""value":6012.25"#, r#""value":null"#),
            (r#""unit":"MiB/s""#, r#""unit":"MB/s""#),
            (r#""operations":1800"#, r#""operations":1800,"more":1"#),
        ] {
            let line = example.replacen(found, put, 1);
            assert_ne!(line, example, "{found} is not in the example");
            assert!(serde_json::from_str::<Record>(&line).is_err(), "{line}");
            assert!(!validator.is_valid(&serde_json::from_str(&line).unwrap()));
        }
    }

    #[test]
    fn a_figure_that_is_not_a_number_is_not_written() {
        let mut record: Record = serde_json::from_str(EXAMPLE.lines().nth(1).unwrap()).unwrap();
        let Record::Measurement(measurement) = &mut record else {
            panic!("the second example is a measurement");
        };
        measurement.observations[0].value = f64::NAN;
        assert!(record.to_line().is_err());
    }
}
