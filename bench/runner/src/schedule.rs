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

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn an_order_contains_each_implementation_once_and_is_reproducible() {
        for round in 1..50 {
            for block in 0..8 {
                let first = order(42, round, block, 5);
                let mut sorted = first.clone();
                sorted.sort_unstable();
                assert_eq!(sorted, [0, 1, 2, 3, 4]);
                assert_eq!(first, order(42, round, block, 5));
            }
        }
    }

    #[test]
    fn orders_do_not_change_between_versions() {
        let orders = [(1, 0), (1, 1), (2, 1)].map(|(round, block)| order(42, round, block, 6));
        let expected = [[0, 1, 5, 3, 2, 4], [5, 1, 0, 4, 2, 3], [5, 0, 1, 4, 3, 2]];
        assert_eq!(orders, expected);
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

    #[test]
    fn seeds_rounds_and_blocks_differ() {
        let of = |seed, round, block| order(seed, round, block, 20);
        assert_ne!(of(1, 1, 0), of(2, 1, 0));
        assert_ne!(of(1, 1, 0), of(1, 2, 0));
        assert_ne!(of(1, 1, 0), of(1, 1, 1));
    }
}
