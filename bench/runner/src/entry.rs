//! One `[[scenarios]]` of a suite: a field may contain a list of values, and `threads` a word for
//! numbers that depend on the host.

use anyhow::{Context as _, Result};
use itertools::Itertools as _;
use tls_harness::scenario::Scenario;
use toml::{Table, Value};

use crate::lines::readable;

/// Numbers of threads.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Threads {
    Number(u32),
    /// One, and the number of cores.
    OneAndCores,
    /// Numbers up to the host's cores and above.
    PastCores,
}

impl Threads {
    fn read(value: &Value) -> Result<Self, String> {
        let number = || u32::try_from(value.as_integer()?).ok().filter(|it| *it > 0);
        match value.as_str() {
            Some("one-and-cores") => Ok(Self::OneAndCores),
            Some("past-cores") => Ok(Self::PastCores),
            _ => number().map(Self::Number).ok_or_else(|| {
                format!("threads = {value}: expected a number, \"one-and-cores\" or \"past-cores\"")
            }),
        }
    }

    /// The numbers for a host with this many cores, in ascending order.
    fn counts(self, cores: Option<u32>) -> Result<Vec<u32>> {
        let cores = || cores.context("the number of the host's cores is unknown");
        Ok(match self {
            Self::Number(number) => vec![number],
            Self::OneAndCores => ascending([1, cores()?]),
            Self::PastCores => past(cores()?),
        })
    }
}

/// Powers of two below the number of cores, that number, 1.5 times and twice as many: 1, 2, 3, 4 on
/// 2 cores; 1, 2, 4, 8, 16, 32, 64, 80, 120, 160 on 80.
fn past(cores: u32) -> Vec<u32> {
    let powers = (0..u32::BITS).map(|power| 1 << power);
    let below = powers.take_while(|power| *power < cores);
    ascending(below.chain([cores, cores + cores.div_ceil(2), 2 * cores]))
}

fn ascending(counts: impl IntoIterator<Item = u32>) -> Vec<u32> {
    let mut counts: Vec<u32> = counts.into_iter().collect();
    counts.sort_unstable();
    counts.dedup();
    counts
}

/// The scenarios of all combinations of the listed values.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The scenarios, without their threads.
    scenarios: Vec<Scenario>,
    threads: Vec<Threads>,
}

impl Entry {
    /// The scenarios on a host with this many cores; those that differ only in threads are
    /// adjacent.
    pub fn scenarios(&self, cores: Option<u32>) -> Result<Vec<Scenario>> {
        let mut counts = Vec::new();
        for threads in &self.threads {
            counts.extend(threads.counts(cores)?.into_iter().map(Some));
        }
        if counts.is_empty() {
            counts.push(None);
        }
        let on = |scenario: &Scenario, threads| Scenario {
            threads,
            ..scenario.clone()
        };
        let each = |scenario| counts.iter().map(move |&threads| on(scenario, threads));
        Ok(self.scenarios.iter().flat_map(each).collect())
    }
}

/// Why a table is not a valid entry: the wrong field, if there is one, and the message.
#[derive(Debug, PartialEq)]
pub struct Wrong {
    pub field: Option<String>,
    pub message: String,
}

impl Entry {
    /// Parses an entry.
    pub fn read(mut table: Table) -> Result<Self, Wrong> {
        let wrong = |field: &str, message: String| Wrong {
            field: Some(field.to_owned()),
            message,
        };
        let threads = match table.remove("threads") {
            None => Vec::new(),
            Some(Value::Array(values)) => values,
            Some(value) => vec![value],
        };
        let threads = threads.iter().map(Threads::read);
        let threads: Result<_, _> = threads.collect();
        let mut fields = Vec::new();
        for (field, value) in &table {
            let values = match value {
                Value::Array(values) => values.clone(),
                value => vec![value.clone()],
            };
            if values.is_empty() {
                return Err(wrong(field, format!("{field} = []: expected a value")));
            }
            if let Some(message) = values.iter().find_map(|it| unknown(field, it)) {
                return Err(wrong(field, message));
            }
            fields.push(values.into_iter().map(move |value| (field.clone(), value)));
        }
        let tables = fields.into_iter().multi_cartesian_product();
        let tables = tables.map(|fields| fields.into_iter().collect::<Table>());
        let scenarios: Result<_, toml::de::Error> = tables.map(Table::try_into).collect();
        Ok(Self {
            threads: threads.map_err(|message| wrong("threads", message))?,
            scenarios: scenarios.map_err(|error| Wrong {
                field: None,
                message: readable(error.message()),
            })?,
        })
    }
}

/// The message about a field that is unknown or has an invalid value, if it does.
fn unknown(field: &str, value: &Value) -> Option<String> {
    let mut alone = Table::new();
    alone.insert("operation".into(), "handshake".into());
    alone.insert(field.to_owned(), value.clone());
    let error = alone.try_into::<Scenario>().err()?;
    Some(readable(error.message()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(text: &str) -> Result<Entry, Wrong> {
        Entry::read(toml::from_str(text).unwrap())
    }

    fn names(text: &str, cores: Option<u32>) -> Vec<String> {
        let scenarios = entry(text).unwrap().scenarios(cores).unwrap();
        scenarios.iter().map(Scenario::name).collect()
    }

    #[test]
    fn thread_counts_go_up_to_the_cores_and_past_them() {
        assert_eq!(past(1), [1, 2]);
        assert_eq!(past(2), [1, 2, 3, 4]);
        assert_eq!(past(4), [1, 2, 4, 6, 8]);
        assert_eq!(past(6), [1, 2, 4, 6, 9, 12]);
        assert_eq!(past(80), [1, 2, 4, 8, 16, 32, 64, 80, 120, 160]);
    }

    #[test]
    fn one_and_cores_is_one_number_on_one_core() {
        let counts = |cores| Threads::OneAndCores.counts(Some(cores)).unwrap();
        assert_eq!((counts(1), counts(8)), (vec![1], vec![1, 8]));
        let error = Threads::PastCores.counts(None).unwrap_err();
        assert!(error.to_string().contains("cores is unknown"), "{error}");
    }

    #[test]
    fn lists_give_all_their_combinations() {
        let entry = "operation = \"handshake\"\nprotocol = [\"1.2\", \"1.3\"]\n\
                     certificate = [\"rsa-2048\", \"ed25519\"]\nthreads = [1, 4]\n";
        let found = names(entry, None);
        assert_eq!(found.len(), 8);
        assert_eq!(found[0], "TLS 1.2 handshake, RSA-2048");
        assert_eq!(found[1], "TLS 1.2 handshake, RSA-2048, 4 threads");
        assert_eq!(found[7], "TLS 1.3 handshake, Ed25519, 4 threads");
    }

    #[test]
    fn threads_may_be_left_out() {
        let found = names("operation = \"memory\"", Some(2));
        assert_eq!(found, ["memory"]);
    }

    #[test]
    fn the_error_for_a_wrong_field_states_the_expected_value() {
        for (field, expected) in [
            ("threads = 0", "threads = 0: expected a number"),
            (
                "threads = \"many\"",
                "expected a number, \"one-and-cores\" or",
            ),
            ("size = []", "size = []: expected a value"),
            ("protocol = [\"1.1\"]", "unknown variant `1.1`"),
            ("certificat = \"ed25519\"", "did you mean `certificate`?"),
        ] {
            let wrong = entry(&format!("operation = \"transfer\"\n{field}\n")).unwrap_err();
            assert!(wrong.message.contains(expected), "{field}: {wrong:?}");
            assert!(field.starts_with(&wrong.field.unwrap()));
        }
        let wrong = entry("threads = 1\n").unwrap_err();
        assert_eq!(wrong.field, None);
        assert_eq!(wrong.message, "missing field `operation`");
    }
}
