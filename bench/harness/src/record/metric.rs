//! Metrics and units. `tools/src/tlsperf/contract/metrics.py` lists them, and `record.schema.json`
//! is generated from that list. A name that the schema lacks is neither read nor written.

use std::sync::LazyLock;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};
use serde_json::Value;

use crate::scenario::Operation;

/// The fields of an observation in the schema.
static FIELDS: LazyLock<Value> = LazyLock::new(|| {
    let schema = include_str!("../../../../data/schema/record.schema.json");
    let mut schema: Value = serde_json::from_str(schema).unwrap_or_default();
    schema["$defs"]["Observation"]["properties"].take()
});

/// The values that the schema allows for a field of an observation.
fn values(field: &str) -> Vec<String> {
    serde_json::from_value(FIELDS[field]["enum"].clone()).unwrap_or_default()
}

/// The least and the largest rate that can have been measured, in any unit.
pub(super) fn rates() -> [f64; 2] {
    let rates = &FIELDS["value"]["rates"];
    [0, 1].map(|it| rates[it].as_f64().unwrap_or(f64::NAN))
}

impl Metric {
    /// The units that it may have in an operation; empty if the operation has no such metric.
    pub(super) fn units(self, operation: Operation) -> Vec<String> {
        let all = &FIELDS["metric"]["units"][self.0];
        let units = all.get(operation.to_string()).or_else(|| all.get("*"));
        serde_json::from_value(units.cloned().unwrap_or_default()).unwrap_or_default()
    }
}

/// A type for names of the schema, with constants for the names that several modules use.
macro_rules! name {
    ($(#[$doc:meta])* $name:ident of $field:literal { $($value:ident = $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name(&'static str);

        impl $name {
            $(pub const $value: Self = Self($text);)+

            /// A name of the schema. Writing any other name is an error.
            pub const fn new(name: &'static str) -> Self {
                Self(name)
            }

            /// Looks up a name in the schema.
            fn find(name: &str) -> Result<Self, String> {
                static VALUES: LazyLock<Vec<String>> = LazyLock::new(|| values($field));
                match VALUES.iter().find(|value| *value == name) {
                    Some(value) => Ok(Self(value)),
                    None => Err(format!("{} \"{name}\", expected one of {:?}", $field, *VALUES)),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.0)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let known = Self::find(self.0).map_err(ser::Error::custom)?;
                serializer.serialize_str(known.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Self::find(&String::deserialize(deserializer)?).map_err(de::Error::custom)
            }
        }

        #[cfg(test)]
        impl $name {
            const CONSTANTS: &[Self] = &[$(Self::$value),+];
        }
    };
}

name!(
    /// The quantity that an observation measures.
    Metric of "metric" {
        RATE = "rate",
        DURATION = "duration",
        ALLOCATED = "allocated",
        RESIDENT = "resident",
        INSTRUCTIONS = "instructions",
        PROCESSOR_TIME = "processor-time",
    }
);

name!(
    Unit of "unit" {
        MEBIBYTES_PER_SECOND = "MiB/s",
        HANDSHAKES_PER_SECOND = "handshakes/s",
        OPERATIONS_PER_SECOND = "operations/s",
        CONNECTIONS_PER_SECOND = "connections/s",
        PACKETS_PER_SECOND = "packets/s",
        MICROSECONDS = "µs",
        BYTES = "bytes",
        BYTES_PER_CONNECTION = "bytes/connection",
        INSTRUCTIONS_PER_HANDSHAKE = "instructions/handshake",
        INSTRUCTIONS_PER_MEBIBYTE = "instructions/MiB",
        INSTRUCTIONS_PER_OPERATION = "instructions/operation",
    }
);

/// The median of at least one figure of a metric.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    f64::midpoint(sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_names_of_the_schema_are_read_and_written() {
        for name in values("metric") {
            let metric: Metric = serde_json::from_value(name.clone().into()).unwrap();
            assert_eq!(serde_json::to_value(metric).unwrap(), name);
        }
        for name in values("unit") {
            let unit: Unit = serde_json::from_value(name.clone().into()).unwrap();
            assert_eq!(serde_json::to_value(unit).unwrap(), name);
        }
        assert!(values("metric").len() > 5 && values("unit").len() > 8);
    }

    #[test]
    fn the_schema_states_units_by_operation_and_the_bounds_of_a_rate() {
        let units = |operation| Metric::RATE.units(operation);
        assert_eq!(units(Operation::Transfer), ["MiB/s"]);
        assert_eq!(units(Operation::ClientHello), ["operations/s"], "any other");
        assert!(units(Operation::Memory).is_empty());
        let [least, most] = rates();
        assert!(0.0 < least && least < most && most.is_finite());
    }

    #[test]
    fn the_schema_has_every_constant() {
        for metric in Metric::CONSTANTS {
            serde_json::to_string(metric).unwrap();
        }
        for unit in Unit::CONSTANTS {
            serde_json::to_string(unit).unwrap();
        }
    }

    #[test]
    fn an_unknown_name_is_rejected() {
        let message = |error: serde_json::Error| error.to_string();
        let read = serde_json::from_str::<Metric>("\"speed\"").map_err(message);
        assert!(
            read.unwrap_err()
                .starts_with("metric \"speed\", expected one of [\"rate\",")
        );
        let written = serde_json::to_string(&Unit::new("MB/s")).map_err(message);
        assert!(
            written
                .unwrap_err()
                .starts_with("unit \"MB/s\", expected one of")
        );
    }
}
