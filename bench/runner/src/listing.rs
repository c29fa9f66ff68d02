//! What is printed of a suite before it is measured: its blocks, how long they take, and how many
//! rounds a report needs to show a difference.

use std::fmt::Write as _;
use std::time::Duration;

use indicatif::HumanDuration;
use serde_json::{Value, json};
use tls_harness::noop::NoopLibrary;
use tls_harness::scenario::Scenario;
use tls_harness::workloads;

use crate::listed::Listed;
use crate::selection::path_of;
use crate::suite::{PROCESS_SECONDS, Suite};
use crate::words::counted;

/// Largest share of pages with a false verdict (`ALPHA` of the tools' statistics).
const ALPHA: f64 = 0.05;

/// From this number of sessions on, intervals use the sessions instead of the rounds.
const SESSIONS: u32 = 5;

/// Text that lists the blocks in order, and how long they will take. `state` describes whether an
/// implementation is built.
pub fn to_text(suite: &Suite, state: impl Fn(&Listed) -> String) -> String {
    let mut text = format!(
        "{} (family {}): {}\n",
        suite.name, suite.family, suite.description
    );
    let paths: Vec<String> = suite.scenarios.iter().map(path_of).collect();
    let width = paths.iter().map(String::len).max().unwrap_or_default();
    for (block, (scenario, path)) in suite.scenarios.iter().zip(&paths).enumerate() {
        let _ = writeln!(text, "{block:>4}  {path:<width$}  {}", scenario.name());
    }
    for listed in &suite.implementations {
        let _ = writeln!(text, "      {listed}: {}", state(listed));
    }
    text + &expectation(suite) + "\n"
}

/// For a program: the scenarios in order, the implementations with the same states as in the text,
/// the seconds that undisturbed rounds take, and how many rounds a verdict on all comparisons needs.
pub fn to_json(suite: &Suite, state: impl Fn(&Listed) -> String) -> Value {
    let scenarios = suite.scenarios.iter();
    let scenarios: Vec<_> = scenarios
        .map(|it| json!({"path": path_of(it), "name": it.name()}))
        .collect();
    let implementations = suite.implementations.iter();
    let implementations: Vec<_> = implementations
        .map(|it| json!({"name": it.to_string(), "state": state(it)}))
        .collect();
    let rounds = suite.rounds * suite.sessions;
    let comparisons = comparisons(suite);
    json!({
        "schema": 1,
        "name": suite.name,
        "family": suite.family,
        "description": suite.description,
        "rounds": suite.rounds,
        "sessions": suite.sessions,
        "layouts": suite.layouts,
        "seconds": (round(suite) * rounds).as_secs_f64(),
        "comparisons": comparisons,
        "rounds_needed": rounds_needed(comparisons),
        "scenarios": scenarios,
        "implementations": implementations,
    })
}

/// The expected time of a round.
fn round(suite: &Suite) -> Duration {
    let blocks = suite.scenarios.iter().map(|it| suite.expected_block(it));
    let implementations = u32::try_from(suite.implementations.len()).unwrap_or(u32::MAX);
    blocks.sum::<Duration>() * implementations
}

/// Text that states how long a suite will take, and how many rounds a verdict needs.
pub fn expectation(suite: &Suite) -> String {
    let round = round(suite);
    let mut text = format!(
        "{} of {} of {} s (warm-up {} s, start and end of the process about {PROCESS_SECONDS} s): \
         about {}; if disturbed, up to {} repeated: at most {}\n",
        counted(suite.rounds, "round"),
        counted(suite.blocks_per_round(), "block"),
        suite.measure_seconds,
        suite.warmup_seconds,
        HumanDuration(round * suite.rounds),
        counted(suite.most_repeats(), "round"),
        HumanDuration(round * (suite.rounds + suite.most_repeats())),
    );
    if suite.sessions > 1 {
        let _ = writeln!(
            text,
            "{} sessions, each as above, with {} of each program: about {} and the time between them",
            suite.sessions,
            counted(suite.layouts, "layout"),
            HumanDuration(round * suite.rounds * suite.sessions),
        );
    }
    let rounds = suite.rounds * suite.sessions;
    text + &verdict(comparisons(suite), rounds, suite.sessions)
}

/// The smallest number of rounds with which the signed-rank test can exclude a ratio of 1,
/// corrected for all comparisons: the smallest n for which 2 / 2^n is at most `ALPHA` divided by
/// their number.
pub fn rounds_needed(comparisons: u32) -> u32 {
    let target = 2.0 * f64::from(comparisons.max(1)) / ALPHA;
    (1..).find(|n| 2_f64.powi(*n) >= target).unwrap_or(1) as u32
}

/// Number of ratios that a report of this run tests at once: all rows of all implementations except
/// the baseline.
pub fn comparisons(suite: &Suite) -> u32 {
    let sides = |it: &Scenario| workloads::of::<NoopLibrary>(it.operation).sides().len();
    let rows: usize = suite.scenarios.iter().map(sides).sum();
    let walls = match suite.throughput {
        true => suite.scenarios.len(),
        false => 0,
    };
    let others = suite.implementations.len().saturating_sub(1);
    u32::try_from((rows + walls) * others).unwrap_or(u32::MAX)
}

/// Whether so many rounds, in so many sessions, are enough for a verdict.
fn verdict(comparisons: u32, rounds: u32, sessions: u32) -> String {
    if comparisons == 0 {
        return "1 implementation: nothing is compared".to_owned();
    }
    let needed = rounds_needed(comparisons);
    let verdict = format!("a verdict on {}", counted(comparisons, "comparison"));
    match (sessions >= SESSIONS, rounds >= needed) {
        (true, _) => format!("{verdict} uses the {sessions} sessions"),
        (false, true) => format!("{verdict} needs {needed} rounds: this run has {rounds}"),
        (false, false) => format!(
            "{verdict} needs {needed} rounds: this run has {rounds}, so no difference can be shown; \
             use --rounds {needed}, or compare less"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_needed_rounds_equal_those_of_the_statistics() {
        // docs/statistics.md: 10 rounds for 16 comparisons, 12 for 100.
        for (comparisons, rounds) in [(1, 6), (16, 10), (100, 12), (330, 14)] {
            assert_eq!(rounds_needed(comparisons), rounds);
            assert!(!verdict(comparisons, rounds, 4).contains("no difference"));
            assert!(verdict(comparisons, rounds - 1, 4).contains("no difference"));
            assert!(verdict(comparisons, 5, 5).ends_with("uses the 5 sessions"));
        }
    }
}
