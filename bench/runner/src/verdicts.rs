//! The number of rounds after which a report can show a difference.

use crate::suite::Suite;
use crate::words::counted;

/// Largest share of pages with a false verdict (`ALPHA` of the tools' statistics).
const ALPHA: f64 = 0.05;

/// From this number of sessions on, intervals use the sessions instead of the rounds.
const SESSIONS: u32 = 5;

/// The smallest number of rounds with which the signed-rank test can exclude a ratio of 1,
/// corrected for all comparisons: the smallest n for which 2 / 2^n is at most `ALPHA` divided by
/// their number.
pub fn rounds_for(comparisons: u32) -> u32 {
    let target = 2.0 * f64::from(comparisons.max(1)) / ALPHA;
    (1..).find(|n| 2_f64.powi(*n) >= target).unwrap_or(1) as u32
}

/// Text that states how many rounds a verdict needs, and whether a run of this suite has them.
pub fn expected(suite: &Suite) -> String {
    let comparisons = suite.comparisons();
    if comparisons == 0 {
        return "1 implementation: nothing is compared".to_owned();
    }
    let needed = rounds_for(comparisons);
    let compared = counted(comparisons, "comparison");
    let rounds = suite.rounds * suite.sessions;
    match (suite.sessions >= SESSIONS, rounds >= needed) {
        (true, _) => format!(
            "a verdict on {compared} uses the {} sessions",
            suite.sessions
        ),
        (false, true) => {
            format!("a verdict on {compared} needs {needed} rounds: this run has {rounds}")
        }
        (false, false) => format!(
            "a verdict on {compared} needs {needed} rounds: this run has {rounds}, so no \
             difference can be shown; use --rounds {needed}, or compare less"
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
            assert_eq!(rounds_for(comparisons), rounds);
        }
    }
}
