//! The order of implementations within a block.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// The order of `count` implementations in a block of a round. The shuffle depends only on the
/// run's seed, the round and the block, so that a resumed run has the same order.
pub fn order(seed: u64, round: u32, block: u32, count: usize) -> Vec<usize> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream((u64::from(round) << 32) + u64::from(block));
    let mut order: Vec<usize> = (0..count).collect();
    order.shuffle(&mut random);
    order
}

/// The blocks of a round in their order: the number of a scenario, and the index of a program.
pub fn blocks(seed: u64, round: u32, scenarios: usize, programs: usize) -> Vec<(u32, usize)> {
    let numbers = (0..).take(scenarios);
    let each = |block| {
        order(seed, round, block, programs)
            .into_iter()
            .map(move |it| (block, it))
    };
    numbers.flat_map(each).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn orders_do_not_change_between_versions() {
        for (seed, round, block, expected) in [
            (42, 1, 0, [0, 1, 5, 3, 2, 4]),
            (42, 1, 1, [5, 1, 0, 4, 2, 3]),
            (42, 2, 1, [5, 0, 1, 4, 3, 2]),
            (43, 2, 1, [1, 4, 3, 5, 0, 2]),
        ] {
            assert_eq!(order(seed, round, block, 6), expected);
        }
    }

    #[test]
    fn every_order_is_equally_frequent() {
        let mut counts: HashMap<Vec<usize>, u32> = HashMap::new();
        for round in 1..=1500 {
            for block in 0..8 {
                *counts.entry(order(7, round, block, 3)).or_default() += 1;
            }
        }
        // 12,000 draws of six orders: 2,000 of each are expected, with a standard deviation of 41.
        assert_eq!(counts.len(), 6);
        assert!(
            counts.values().all(|count| (1800..2200).contains(count)),
            "{counts:?}"
        );
    }
}
