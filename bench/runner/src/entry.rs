//! One `[[scenarios]]` of a suite: a field may contain a list of values, and `threads` a word for
//! numbers that depend on the host.

use itertools::Itertools as _;
use tls_harness::scenario::Scenario;
use toml::{Table, Value};

use crate::lines::readable;

/// Why a table is not a valid entry: the wrong field, if there is one, and the message.
#[derive(Debug, PartialEq)]
pub struct Wrong {
    pub field: Option<String>,
    pub message: String,
}

/// The scenarios of all combinations of the listed values on a host with this many cores; those that
/// differ only in threads are adjacent.
pub fn scenarios(mut table: Table, cores: Option<u32>) -> Result<Vec<Scenario>, Wrong> {
    let threads = table.remove("threads").map(listed).unwrap_or_default();
    let mut fields = Vec::new();
    for (field, value) in table {
        let values = listed(value);
        let wrong = match values.is_empty() {
            true => Some(format!("{field} = []: expected a value")),
            false => values.iter().find_map(|it| unknown(&field, it)),
        };
        match wrong {
            None => fields.push((field, values)),
            Some(message) => {
                let field = Some(field);
                return Err(Wrong { field, message });
            }
        }
    }
    let counts = threads.iter().map(|it| thread_counts(it, cores));
    let counts: Vec<_> = counts.flatten_ok().try_collect().map_err(|message| Wrong {
        field: Some("threads".to_owned()),
        message,
    })?;
    if !counts.is_empty() {
        fields.push(("threads".to_owned(), counts));
    }
    let all = fields.iter().map(|(_, values)| values.len());
    if all.fold(1, usize::saturating_mul) > MOST_SCENARIOS {
        return Err(Wrong {
            field: None,
            message: format!("more than {MOST_SCENARIOS} combinations, expected fewer"),
        });
    }
    let pairs = |(field, values): (String, Vec<Value>)| {
        let pair = move |value| (field.clone(), value);
        values.into_iter().map(pair)
    };
    let tables = fields.into_iter().map(pairs).multi_cartesian_product();
    let scenarios = tables.map(|fields| Table::from_iter(fields).try_into());
    scenarios
        .try_collect()
        .map_err(|error: toml::de::Error| Wrong {
            field: None,
            message: readable(error.message()),
        })
}

/// The values of a field, which may be a list.
fn listed(value: Value) -> Vec<Value> {
    match value {
        Value::Array(values) => values,
        value => vec![value],
    }
}

/// The largest number of threads: more than any host has processors.
const MOST_THREADS: i64 = 10_000;

/// The largest number of combinations.
const MOST_SCENARIOS: usize = 10_000;

/// The numbers of threads for a host with this many cores, in ascending order: a number, `1` and
/// the cores, or numbers up to the cores and above.
fn thread_counts(value: &Value, cores: Option<u32>) -> Result<Vec<Value>, String> {
    let cores = cores.ok_or("the number of the host's cores is unknown".to_owned());
    let counts = match (value.as_str(), value.as_integer()) {
        (Some("one-and-cores"), _) => ascending([1, cores?]),
        (Some("past-cores"), _) => past(cores?),
        (_, Some(1..=MOST_THREADS)) => return Ok(vec![value.clone()]),
        _ => {
            return Err(format!(
                "threads = {value}: expected a number up to {MOST_THREADS}, \"one-and-cores\" or \
                 \"past-cores\""
            ));
        }
    };
    Ok(counts.into_iter().map(|it| i64::from(it).into()).collect())
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

/// The message about a field that is unknown or has an invalid value, if it does.
fn unknown(field: &str, value: &Value) -> Option<String> {
    let message = refused(field, value.clone())?;
    if value.is_str() {
        return Some(message);
    }
    // A word may lack only its quotes.
    Some(match refused(field, value.to_string().into()) {
        None => format!("found {field} = {value}, expected \"{value}\", in quotes"),
        Some(of_word) if of_word.starts_with("unknown variant") => of_word,
        Some(_) => message,
    })
}

/// The parser's message about a field with this value.
fn refused(field: &str, value: Value) -> Option<String> {
    let mut alone = Table::new();
    alone.insert("operation".into(), "handshake".into());
    alone.insert(field.to_owned(), value);
    let error = alone.try_into::<Scenario>().err()?;
    Some(readable(error.message()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str, cores: Option<u32>) -> Vec<String> {
        let scenarios = scenarios(toml::from_str(text).unwrap(), cores).unwrap();
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
        let counts = |value: &str, cores| thread_counts(&value.into(), cores);
        let found = [1, 8].map(|cores| counts("one-and-cores", Some(cores)).unwrap());
        assert_eq!(found, [vec![1.into()], vec![1.into(), 8.into()]]);
        let unknown = Err("the number of the host's cores is unknown".to_owned());
        assert_eq!(counts("past-cores", None), unknown);
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
}
