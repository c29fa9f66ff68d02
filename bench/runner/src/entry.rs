//! One `[[scenarios]]` of a suite: a field may hold a list of values, and `threads` a word for
//! numbers that depend on the host.

use anyhow::{Context as _, Result};
use itertools::Itertools as _;
use serde::Deserialize;
use serde::de::{Deserializer, Error};
use tls_harness::scenario::Scenario;
use toml::{Table, Value};

/// Numbers of threads.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Threads {
    Number(u32),
    /// One, and as many as the host has cores.
    OneAndCores,
    /// Up to the cores of the host and past them.
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

    /// The numbers on a host with this many cores, ascending.
    fn counts(self, cores: Option<u32>) -> Result<Vec<u32>> {
        let cores = || cores.context("the number of the host's cores is unknown");
        Ok(match self {
            Self::Number(number) => vec![number],
            Self::OneAndCores => ascending([1, cores()?]),
            Self::PastCores => past(cores()?),
        })
    }
}

/// Powers of two below the cores, the cores, half as many again, and twice as many: 1, 2, 3, 4 on
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

/// The scenarios of all combinations of the values in lists.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Each without threads.
    scenarios: Vec<Scenario>,
    threads: Vec<Threads>,
}

impl Entry {
    /// The scenarios on a host with this many cores, those that differ in threads next to each other.
    ///
    /// # Errors
    /// `threads` depends on the cores, whose number is unknown.
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

impl<'de> Deserialize<'de> for Entry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut table = Table::deserialize(deserializer)?;
        let threads = match table.remove("threads") {
            None => Vec::new(),
            Some(Value::Array(values)) => values,
            Some(value) => vec![value],
        };
        let threads = threads.iter().map(Threads::read);
        let mut fields = Vec::new();
        for (field, value) in table {
            let values = match value {
                Value::Array(values) => values,
                value => vec![value],
            };
            if values.is_empty() {
                return Err(Error::custom(format!("{field} = []: expected a value")));
            }
            fields.push(values.into_iter().map(move |value| (field.clone(), value)));
        }
        let tables = fields.into_iter().multi_cartesian_product();
        let tables = tables.map(|fields| fields.into_iter().collect::<Table>());
        Ok(Self {
            threads: threads.collect::<Result<_, _>>().map_err(Error::custom)?,
            scenarios: tables
                .map(|table| table.try_into().map_err(Error::custom))
                .collect::<Result<_, _>>()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(entry: &str, cores: Option<u32>) -> Result<Vec<String>> {
        let entry: Entry = toml::from_str(entry)?;
        let scenarios = entry.scenarios(cores)?;
        Ok(scenarios.iter().map(Scenario::name).collect())
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
        let found = names(entry, None).unwrap();
        assert_eq!(found.len(), 8);
        assert_eq!(found[0], "handshake 1.2, RSA-2048");
        assert_eq!(found[1], "handshake 1.2, RSA-2048, 4 threads");
        assert_eq!(found[7], "handshake 1.3, Ed25519, 4 threads");
    }

    #[test]
    fn threads_may_be_left_out() {
        let found = names("operation = \"memory\"", Some(2)).unwrap();
        assert_eq!(found, ["memory"]);
    }

    #[test]
    fn a_wrong_field_is_refused_with_what_was_expected() {
        for (field, expected) in [
            ("threads = 0", "threads = 0: expected a number"),
            (
                "threads = \"many\"",
                "expected a number, \"one-and-cores\" or",
            ),
            ("size = []", "size = []: expected a value"),
            ("protocol = [\"1.1\"]", "1.1"),
            ("colour = \"red\"", "colour"),
        ] {
            let error = names(&format!("operation = \"transfer\"\n{field}\n"), Some(2));
            let error = error.unwrap_err().to_string();
            assert!(error.contains(expected), "{field}: {error}");
        }
    }
}
