//! How precisely a median is known.

use tls_harness::record::median;

/// Half the width of the 95% order-statistic interval of the median, as a share of the median;
/// `None` with fewer than 6 values, for which there is no such interval.
///
/// The interval is from the k-th smallest to the k-th largest value, with the largest k for which
/// at most 2.5% of a binomial distribution (n, 1/2) fall below k: H. A. David and H. N. Nagaraja,
/// *Order Statistics*, 3rd edition, section 7.1.
pub fn half_width(values: &[f64]) -> Option<f64> {
    let n = values.len();
    let k = rank(n)?;
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let width = (sorted[n - k] - sorted[k - 1]) / 2.0;
    Some(if width == 0.0 {
        0.0
    } else {
        width / median(values)
    })
}

/// Whether the half-width of the 95% interval of the median of these rates is at most `target`.
pub fn is_precise(rates: &[f64], target: f64) -> bool {
    half_width(rates).is_some_and(|width| width <= target)
}

/// The largest k ≥ 1 with P(B < k) ≤ 2.5% for B binomial (n, 1/2).
fn rank(n: usize) -> Option<usize> {
    let real = n as f64;
    // The term for i, and the sum of those below it, without logarithms: 2^-n is a normal
    // number up to n = 1022, the bound on rounds.
    let mut term = (-real).exp2();
    let mut below = 0.0;
    let mut k = 0;
    while below + term <= 0.025 && k < n {
        below += term;
        term *= (n - k) as f64 / (k + 1) as f64;
        k += 1;
    }
    (k > 0).then_some(k)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_those_of_the_tables() {
        // Order-statistic intervals of the median at 95%, e.g. Conover, Practical Nonparametric
        // Statistics, table A3: n = 6 (1, 6), 9 (2, 8), 12 (3, 10), 30 (10, 21), 100 (40, 61).
        let ranks: Vec<_> = [6, 8, 9, 12, 30, 100].map(rank).to_vec();
        assert_eq!(ranks, [1, 1, 2, 3, 10, 40].map(Some));
        assert_eq!(rank(5), None);
        assert_eq!(rank(0), None);
    }

    #[test]
    fn half_width_is_relative_to_the_median() {
        let values = [104.0, 96.0, 100.0, 98.0, 102.0, 100.0];
        assert!((half_width(&values).unwrap() - 0.04).abs() < 1e-12);
        assert_eq!(half_width(&values[..5]), None);
        assert_eq!(half_width(&[0.0; 6]), Some(0.0));
        let skewed = [90.0, 95.0, 100.0, 110.0, 120.0, 130.0];
        assert!((half_width(&skewed).unwrap() - 20.0 / 105.0).abs() < 1e-12);
        let nine = [1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 9.0, 11.0, 13.0];
        assert!((half_width(&nine).unwrap() - 4.5 / 5.0).abs() < 1e-12);
    }
}
