//! Records of the raw format `tlsbench/1`: JSON Lines with the schema
//! `data/schema/record.schema.json`.

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

use crate::scenario::Scenario;

mod check;
mod metric;

pub use metric::{Metric, Unit, median};

/// The schema number in every record; only 1 is accepted.
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

/// Reads and writes a figure, and rejects negative, NaN and infinite values.
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

/// The same for a figure that may be absent.
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

/// Reads a time only in the form that all tools read: `2026-11-21T08:00:01.25Z`.
mod utc {
    use super::*;

    const FORM: &str = "0000-00-00T00:00:00";

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
        let text = String::deserialize(deserializer)?;
        let fits = |(found, form): (char, char)| match form {
            '0' => found.is_ascii_digit(),
            form => found == form,
        };
        let (second, fraction) = text.split_at_checked(FORM.len()).unwrap_or_default();
        let fraction = fraction.strip_suffix('Z').unwrap_or("no Z");
        let digits = fraction.strip_prefix('.').unwrap_or("0");
        let is_time = second.len() == FORM.len()
            && second.chars().zip(FORM.chars()).all(fits)
            && (fraction.is_empty() || fraction.starts_with('.'))
            && (1..=9).contains(&digits.len())
            && digits.chars().all(|it| it.is_ascii_digit())
            && !text.starts_with("0000")
            && !second.ends_with("60");
        let time = text.parse().ok().filter(|_| is_time);
        time.ok_or_else(|| {
            let expected = "a time in UTC such as 2026-11-21T08:00:01Z";
            de::Error::custom(format!("time {text:?}, expected {expected}"))
        })
    }
}

/// The statistic over the operations of one round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Statistic {
    #[default]
    #[serde(rename = "value")]
    Value,
    #[serde(rename = "min")]
    Min,
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

/// `total`, or a part of the operation.
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
    /// The set-up is freed.
    #[serde(rename = "destruction")]
    Destruction,
    /// Processor time of a fresh process.
    #[serde(rename = "processor")]
    Processor,
    /// Processor time of a process in its own code.
    #[serde(rename = "user")]
    User,
    /// Processor time of a process in the kernel.
    #[serde(rename = "system")]
    System,
    /// The rest of the process's wall-clock time.
    #[serde(rename = "waiting")]
    Waiting,
    /// The cost of a set-up that does not depend on the number of items.
    #[serde(rename = "fixed")]
    Fixed,
    /// The cost that each item adds.
    #[serde(rename = "each")]
    Each,
}

/// One observation of one scenario.
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

impl Observation {
    /// A figure of a whole round.
    pub fn new(phase: Phase, metric: Metric, value: f64, unit: Unit) -> Self {
        Self {
            phase,
            metric,
            statistic: Statistic::Value,
            value,
            unit,
        }
    }
}

/// The figures of one implementation in one scenario in one round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measurement {
    pub schema: Schema,
    /// Time of writing, UTC.
    #[serde(deserialize_with = "utc::deserialize")]
    pub time: Timestamp,
    /// The first session is 1.
    #[serde(default = "first", skip_serializing_if = "is_first")]
    pub session: u32,
    /// The number continues over all sessions of a run.
    pub round: u32,
    /// Number of the program's layout; 0 is the linker's own order.
    #[serde(default, skip_serializing_if = "is_own")]
    pub layout: u32,
    pub implementation: String,
    pub scenario: Scenario,
    pub observations: Vec<Observation>,
    /// Number of measured operations in this round.
    pub operations: u64,
    /// Sum of the time charged to this side; absent if no time is measured.
    #[serde(
        default,
        with = "optional_figure",
        skip_serializing_if = "Option::is_none"
    )]
    pub elapsed_seconds: Option<f64>,
    /// Rate of each thread, in the unit of the total rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_thread: Option<Vec<f64>>,
    /// HdrHistogram V2 of nanoseconds with 3 significant digits, as base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub histogram: Option<String>,
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub valid: bool,
    /// The reason, if `valid` is false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The result of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Measured,
    Absent,
    Failed,
}

/// Written after all records of a block: all records before it are complete.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Block {
    pub schema: Schema,
    #[serde(deserialize_with = "utc::deserialize")]
    pub time: Timestamp,
    /// The first session is 1.
    #[serde(default = "first", skip_serializing_if = "is_first")]
    pub session: u32,
    pub round: u32,
    /// Index of the scenario in the suite.
    pub block: u32,
    pub implementation: String,
    pub status: Status,
    /// Why the implementation does not support the scenario (absent), or what failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Wall-clock time of the block's process.
    #[serde(with = "figure")]
    pub elapsed_seconds: f64,
}

/// Overhead of the harness: figures of the driver with a library that does nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Overhead {
    pub schema: Schema,
    #[serde(deserialize_with = "utc::deserialize")]
    pub time: Timestamp,
    /// The first session is 1.
    #[serde(default = "first", skip_serializing_if = "is_first")]
    pub session: u32,
    pub round: u32,
    pub implementation: String,
    /// Cost of one clock read.
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
    /// For transfers: framing and copying per write, in addition to `nanoseconds`.
    #[serde(
        default,
        with = "optional_figure",
        skip_serializing_if = "Option::is_none"
    )]
    pub copies_nanoseconds: Option<f64>,
    /// For memory: bytes that the allocator counts, per connection or in total like the figures.
    #[serde(
        default,
        with = "optional_figure",
        skip_serializing_if = "Option::is_none"
    )]
    pub bytes: Option<f64>,
}

/// The cause of a disturbance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cause {
    /// The runner was stopped during the round; the run was resumed later.
    Interrupted,
    /// Load by other processes.
    Load,
    /// The hypervisor took processor time.
    Steal,
    Throttled,
}

/// State of the host during one round; a disturbed round does not count and is repeated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoundState {
    pub schema: Schema,
    #[serde(deserialize_with = "utc::deserialize")]
    pub time: Timestamp,
    /// The first session is 1.
    #[serde(default = "first", skip_serializing_if = "is_first")]
    pub session: u32,
    pub round: u32,
    #[serde(with = "figure")]
    pub elapsed_seconds: f64,
    #[serde(default, skip_serializing_if = "is_false")]
    pub disturbed: bool,
    /// The causes; absent in records that are older than this field.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Cause>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    /// Percent of one core.
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
    /// Percent of one core.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runner_cpu_percent: Option<f64>,
}

/// One line of the file.
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
    /// Encodes the record as one line of JSON, without a newline.
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
    fn written_records_are_valid_by_the_schema() {
        let validator = validator();
        for line in EXAMPLE.lines() {
            let record: Record = serde_json::from_str(line).unwrap();
            let value: Value = serde_json::from_str(&record.to_line().unwrap()).unwrap();
            validator.validate(&value).unwrap();
        }
    }

    #[test]
    fn records_that_the_schema_rejects_are_rejected() {
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

    /// A line as a program's output is read.
    fn read(line: &str) -> Result<Record, String> {
        let record: Record = serde_json::from_str(line).map_err(|error| error.to_string())?;
        record.check()?;
        Ok(record)
    }

    /// `tools/tests/test_tlsbench.py` reads the same changed lines.
    #[test]
    fn a_line_is_accepted_as_the_tools_accept_it() {
        let changes = include_str!("../../../data/schema/record-changes.json");
        let changes: Value = serde_json::from_str(changes).unwrap();
        for name in ["accepted", "rejected"] {
            for change in changes[name].as_array().unwrap() {
                let number = change["line"].as_u64().unwrap() as usize;
                let mut line = EXAMPLE.lines().nth(number - 1).unwrap().to_owned();
                for pair in change["changes"].as_array().unwrap() {
                    let [old, new] = [0, 1].map(|it| pair[it].as_str().unwrap());
                    assert!(line.contains(old), "{old}");
                    line = line.replacen(old, new, 1);
                }
                let found = read(&line);
                assert_eq!(found.is_ok(), name == "accepted", "{line}: {found:?}");
            }
        }
    }

    /// Values that any field of a record may have by mistake.
    const VALUES: &str = r#"[null, true, 0, -1, 0.0, 1.5, 1e300, 99999999999999999999, "", "x",
        "rate", "1.3", "MiB/s", "MLKEM768", [], [[]], [null], ["x"], {}, {"x": 1}]"#;

    /// Calls `each` with every variant of a value in which one part is another value, or is absent.
    fn vary(value: &Value, others: &[Value], each: &mut dyn FnMut(Value)) {
        others.iter().for_each(|other| each(other.clone()));
        match value {
            Value::Object(fields) => {
                for (name, field) in fields {
                    let mut without = fields.clone();
                    without.remove(name);
                    each(without.into());
                    vary(field, others, &mut |field| {
                        let mut fields = fields.clone();
                        fields[name] = field;
                        each(fields.into());
                    });
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    each([&items[..], std::slice::from_ref(item)].concat().into());
                    vary(item, others, &mut |item| {
                        let mut items = items.clone();
                        items[index] = item;
                        each(items.into());
                    });
                }
            }
            _ => {}
        }
    }

    #[test]
    fn every_changed_line_that_is_read_fits_the_schema() {
        let validator = validator();
        let others: Vec<Value> = serde_json::from_str(VALUES).unwrap();
        let (mut kept, mut all) = (0, 0);
        for line in EXAMPLE.lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            vary(&line, &others, &mut |changed| {
                // These are compared with the request.
                let same = |field| changed[field] == line[field];
                if !same("scenario") || !same("implementation") {
                    return;
                }
                all += 1;
                if let Ok(record) = read(&changed.to_string()) {
                    kept += 1;
                    validator
                        .validate(&changed)
                        .unwrap_or_else(|it| panic!("{changed}: {it}"));
                    let written = serde_json::to_value(&record).unwrap();
                    assert!(validator.is_valid(&written), "{written}");
                }
            });
        }
        assert!(kept > 100 && all > 2000, "{kept} of {all}");
    }

    #[test]
    fn a_histogram_is_that_of_a_program_or_rejected() {
        let mut latencies = crate::latency::Latencies::new().unwrap();
        latencies.add(std::time::Duration::from_micros(70)).unwrap();
        let whole = latencies.encode().unwrap();
        let line = |text: &str| {
            let line = EXAMPLE.lines().nth(7).unwrap();
            line.replace(
                "\"operations\"",
                &format!("\"histogram\":{text:?},\"operations\""),
            )
        };
        read(&line(&whole)).unwrap();
        let longer = format!("{whole}AAAA");
        for text in [
            "",
            "x",
            "AAAA",
            &whole[4..],
            &whole[..whole.len() - 8],
            &longer,
        ] {
            let error = read(&line(text)).unwrap_err();
            assert!(error.starts_with("histogram: "), "{error}");
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
