"""Each statistic against scipy's tests, textbook values, or arithmetic by hand."""

import math
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tlsperf.analysis import statistics
from tlsperf.analysis.ratios import ratio_text
from tlsperf.analysis.statistics import (
    RatioEstimate,
    Summary,
    counted_ratio,
    paired_ratio,
    stability_warnings,
    summary,
    unpaired_ratio,
)
from tlsperf.contract.metric import Better

positive = st.floats(min_value=0.1, max_value=1e6)
series = st.lists(positive, min_size=1, max_size=40)
Ratio = Callable[..., RatioEstimate]


def test_median_interval_of_thirty_rounds_runs_from_the_10th_to_the_21st() -> None:
    of = summary(np.arange(1, 31))
    assert (of.median, of.low, of.high, of.count) == (15.5, 10, 21, 30)
    assert (of.upper_median, of.best) == (16, 30)
    assert summary(np.arange(1, 31), better="lower").best == 1


@given(st.integers(min_value=6, max_value=200))
def test_median_interval_is_the_narrowest_that_covers(count: int) -> None:
    of = summary(np.arange(1.0, count + 1))
    assert of.low is not None
    assert 1 - 2 * stats.binom.cdf(of.low - 1, count, 0.5) >= 0.95
    assert 1 - 2 * stats.binom.cdf(of.low, count, 0.5) < 0.95


STEADY = [100.0, 101, 99, 100, 102, 98, 100.5]


@pytest.mark.parametrize(
    ("values", "outliers"),
    [
        (STEADY, ()),
        ([100.0, 50, *STEADY], (1,)),
        ([100.0] * 9 + [101], ()),
        ([98, 102, 98, 102, 100, 120.0], ()),
        # the median is 0, and the typical deviation 1
        ([1, -1, 1, -1, 0, 14.826, -14.826], ()),
        ([1, -1, 1, -1, 0, 14.827, -14.826], (5,)),
    ],
)
def test_outliers_are_ten_robust_deviations_off_and_keep_their_position(
    values: list[float], outliers: tuple[int, ...]
) -> None:
    assert summary(values).outliers == outliers


CALM = summary([1000 + i for i in range(-4, 5)])
OUTLIER = summary([1000 + i for i in range(-4, 5)] + [900])
OFF = "more than 14.8 median absolute deviations from the median."
UNSTABLE = "unstable: relative standard deviation of 10% or more, up to"


@pytest.mark.parametrize(
    ("figures", "warning"),
    [
        ([CALM, summary([97, 100, 103] * 10)], None),
        ([CALM, replace(CALM, spread_percent=25.4)], f"1 of 2 figures is {UNSTABLE} 25%."),
        ([replace(CALM, spread_percent=10.0)], f"1 of 1 figures is {UNSTABLE} 10%."),
        (
            [summary([100.0, 101])],
            "1 of 1 figures has too few rounds for an interval: 6 are needed.",
        ),
        ([OUTLIER], f"1 of 1 figures has outliers: 1 round {OFF}"),
        ([OUTLIER, OUTLIER], f"2 of 2 figures have outliers: 2 rounds {OFF}"),
    ],
)
def test_warnings_count_figures_and_rounds(figures: list[Summary], warning: str | None) -> None:
    assert stability_warnings(figures) == ([warning] if warning else [])


@pytest.mark.parametrize("values", [[], [[1.0, 2.0]], [1.0, math.nan], [math.inf]])
def test_an_invalid_series_is_rejected(values: list[float]) -> None:
    with pytest.raises(ValueError, match="series of finite numbers"):
        summary(values)


# scipy has the tests but not the intervals: an interval at level 1 - alpha excludes a ratio exactly
# if the p-value of that ratio's test is at most alpha.


@given(st.integers(7, 30), st.integers(0, 10_000))
def test_paired_verdict_is_the_exact_signed_rank_test(rounds: int, seed: int) -> None:
    noise = np.random.default_rng(seed)
    left = 100 * np.exp(noise.normal(0.01, 0.02, rounds))
    right = 100 * np.exp(noise.normal(0, 0.02, rounds))
    p = stats.wilcoxon(np.log(left) - np.log(right), method="exact").pvalue
    assert (paired_ratio(left, right, floor=1).verdict != "no difference shown") == (p <= 0.05)
    needed = p <= 0.05 / 3
    assert (paired_ratio(left, right, 3, floor=1).verdict in ("faster", "slower")) == needed


@given(st.integers(5, 14), st.integers(5, 14), st.integers(0, 10_000))
def test_unpaired_verdict_is_the_exact_mann_whitney_test(n: int, m: int, seed: int) -> None:
    noise = np.random.default_rng(seed)
    left = 100 * np.exp(noise.normal(0.02, 0.02, n))
    right = 100 * np.exp(noise.normal(0, 0.02, m))
    p = stats.mannwhitneyu(left, right, method="exact").pvalue
    estimate = unpaired_ratio(left, right, floor=1)
    assert (estimate.verdict != "no difference shown") == (p <= 0.05)
    assert not estimate.paired
    assert estimate.note is not None
    assert "unpaired" in estimate.note


def test_quantiles_of_both_tests_are_the_textbook_ones() -> None:
    # Two-sided 0.05 critical values of Wilcoxon and Wilcox 1964, and of Mann-Whitney for n = m.
    critical = {n: statistics._signed_rank(n, 1) - 1 for n in (6, 10, 20, 30)}
    assert critical == {6: 0, 10: 8, 20: 52, 30: 137}
    critical = {n: statistics._rank_sum(n, n, 1) - 1 for n in (5, 10, 20)}
    assert critical == {5: 2, 10: 23, 20: 127}


@given(series, st.floats(min_value=0.5, max_value=2))
def test_an_exact_multiple_is_found_whatever_the_rounds_did(
    values: list[float], factor: float
) -> None:
    estimate = paired_ratio(np.array(values) * factor, values)
    assert estimate.value == pytest.approx(factor)
    if len(values) < 6:
        assert estimate.verdict == "too few rounds"
    else:
        assert estimate.low == pytest.approx(factor)
        assert estimate.high == pytest.approx(factor)


@given(series, st.integers(0, 1000), st.sampled_from(["higher", "lower"]), st.integers(1, 40))
def test_swapped_sides_invert_the_ratio_and_the_verdict(
    values: list[float], seed: int, better: Better, comparisons: int
) -> None:
    other = np.random.default_rng(seed).permutation(values) * 1.01
    for ratio in (paired_ratio, unpaired_ratio):
        one = ratio(values, other, comparisons, better)
        back = ratio(other, values, comparisons, better)
        assert one.value == pytest.approx(1 / back.value)
        opposite = {"faster": "slower", "slower": "faster"}
        assert back.verdict == opposite.get(one.verdict, one.verdict)


def test_more_comparisons_widen_the_interval_and_take_more_rounds() -> None:
    noise = np.random.default_rng(1)
    left, right = (100 * np.exp(noise.normal(0, 0.02, 30)) for _ in range(2))
    assert ends(paired_ratio(left, right, 16))[0] < ends(paired_ratio(left, right))[0]
    few = paired_ratio(left[:9], right[:9] / 2, 16)
    assert few.verdict == "too few rounds"
    assert few.note == "9 rounds; a verdict over 16 comparisons needs 10"
    assert paired_ratio(left[:10], right[:10] / 2, 16).verdict == "faster"


def test_impossible_pairs_are_rejected() -> None:
    for left, right, message in (
        ([1.0, 2.0], [1.0], "paired series of 2 and 1 rounds"),
        ([0.0, 1.0], [1.0, 1.0], "above zero"),
        ([math.nan, 1.0], [1.0, 1.0], "finite"),
    ):
        with pytest.raises(ValueError, match=message):
            paired_ratio(left, right)


@given(series, st.integers(0, 1000), st.floats(-0.05, 0.05))
def test_text_and_verdict_agree(values: list[float], seed: int, shift: float) -> None:
    noise = np.random.default_rng(seed).normal(shift, 0.01, len(values))
    estimate = paired_ratio(np.array(values) * np.exp(noise), values, 16)
    text = ratio_text(estimate)
    if estimate.verdict in ("faster", "slower"):
        low = float(text.split("(")[1].split(" ")[0])
        assert low > 1
        assert estimate.verdict in text
    else:
        assert text.startswith((estimate.verdict, "the same within")) or "too few" in text
        assert not {"faster", "slower"} & set(text.split())


def test_a_large_report_takes_at_most_two_seconds_of_processor_time() -> None:
    noise = np.random.default_rng(0)
    rates = 1000 * np.exp(noise.normal(0, 0.02, (100, 50, 30)))
    began = time.process_time()
    for implementation in rates:
        for scenario, of in enumerate(implementation):
            stability_warnings([summary(of)])
            ratio_text(paired_ratio(of, rates[0, scenario], comparisons=50 * 99))
    assert time.process_time() - began <= 2


def ends(ratio: RatioEstimate) -> tuple[float, float]:
    assert ratio.low is not None
    assert ratio.high is not None
    return ratio.low, ratio.high


def test_drift_between_runs_widens_an_unpaired_interval() -> None:
    rounds = np.linspace(100, 101, 30)
    plain, wide = (unpaired_ratio(rounds * 1.03, rounds, drift=d) for d in (1, 1.05))
    low, high = ends(plain)
    assert ends(wide) == pytest.approx((low / 1.05, high * 1.05))
    assert (plain.verdict, wide.verdict) == ("faster", "no difference shown")
    assert "widened by 5.0%" in (wide.note or "")
    narrow, corrected = (unpaired_ratio(rounds * 1.03, rounds, 16, drift=d) for d in (1, 1.05))
    # 2.9552 is the normal quantile of 0.05 / 2 / 16.
    assert ends(narrow)[0] / ends(corrected)[0] == pytest.approx(1.05 ** (2.9552 / 1.96), 1e-4)


@pytest.mark.parametrize(
    ("many", "expected"),
    [
        ([], 1),
        ([[100.0] * 30] * 20, 1),
        ([[100.0] * 30] * 19 + [[100.0] * 15 + [103.0] * 15], 1),
        ([[100.0] * 30] * 18 + [[100.0] * 15 + [103.0] * 15, [103.0] * 15 + [100.0] * 15], 1.03),
        ([[100.0] * 5 + [103.0] * 5], 1.03),
        ([[100.0] * 5 + [103.0] * 4], 1),
        ([[100.0] * 6 + [103.0] * 6], 1.03),
    ],
)
def test_drift_is_the_95th_percentile_of_differences_between_halves(
    many: list[list[float]], expected: float
) -> None:
    assert statistics.drift(many) == pytest.approx(expected)


def test_a_ratio_across_another_host_keeps_its_interval_and_loses_its_verdict() -> None:
    rounds = np.linspace(100, 101, 30)
    neutral = paired_ratio(rounds * 2, rounds).untested("another host")
    assert (neutral.verdict, neutral.note) == ("not tested", "another host")
    assert ratio_text(neutral) == "2.00x (2.00 to 2.00)"


# --- edge cases ----------------------------------------------------------------------------------


@given(series)
def test_a_median_is_the_middle_and_a_spread_is_over_one_fewer(values: list[float]) -> None:
    of = summary(values)
    assert of.median == pytest.approx(float(np.median(values)))
    if len(values) > 1:
        expected = 100 * float(np.std(values, ddof=1)) / float(np.mean(values))
        assert of.spread_percent == pytest.approx(expected, abs=1e-9)
    else:
        assert of.spread_percent is None
    assert (of.low is None) is (len(values) < 6)
    assert summary([0.0] * 30).spread_percent is None


SKEWED = np.exp(np.random.default_rng(11).exponential(0.02, 24))
LEVEL = np.exp(np.random.default_rng(12).normal(0, 0.001, 24))


@pytest.mark.parametrize("ratio", [paired_ratio, unpaired_ratio])
def test_a_ratio_of_durations_is_that_of_the_rates_inverted_with_its_interval(ratio: Ratio) -> None:
    rates, durations = ratio(LEVEL, SKEWED), ratio(SKEWED, LEVEL, 1, "lower")
    inverted = ratio(1 / LEVEL, 1 / SKEWED, 1, "lower")
    for of in (durations, inverted):
        assert (of.low, of.value, of.high) == pytest.approx((rates.low, rates.value, rates.high))
    low, high = ends(rates)
    assert rates.value / low != pytest.approx(high / rates.value, rel=1e-3)


@pytest.mark.parametrize(
    ("ratio", "needed", "needed_of_three"), [(paired_ratio, 6, 7), (unpaired_ratio, 4, 5)]
)
def test_too_few_rounds_state_how_many_are_needed(
    ratio: Ratio, needed: int, needed_of_three: int
) -> None:
    few = ratio([1.0, 2, 3], [4.0, 5, 6])
    assert (few.verdict, few.rounds, few.low, few.high) == ("too few rounds", 3, None, None)
    assert few.paired is (ratio is paired_ratio)
    assert few.note == f"3 rounds; a verdict needs {needed}"
    assert ratio([1.0], [4.0]).note == f"1 round; a verdict needs {needed}"
    assert ratio([1.0, 2, 3], [4.0, 5, 6], 3).note == (
        f"3 rounds; a verdict over 3 comparisons needs {needed_of_three}"
    )
    enough = ratio(LEVEL, LEVEL)
    assert (enough.rounds, enough.paired) == (24, few.paired)


def test_an_unpaired_ratio_has_the_rounds_of_its_smaller_side_and_one_note() -> None:
    note = "unpaired: without common rounds, other changes are part of the ratio"
    of = unpaired_ratio([1.0] * 7, [1.0] * 9)
    assert (of.rounds, of.note) == (7, note)
    doubled = unpaired_ratio([1.0] * 7, [1.0] * 9, drift=2)
    assert doubled.note == f"{note}; interval widened by 100.0% for the drift between them"


def test_a_probability_that_is_just_the_one_allowed_is_allowed() -> None:
    # One of 120 orders of 3 and 7 values has all of the 3 first: 1 in 120 is 0.05 / 2 / 3.
    assert statistics._rank_sum(3, 7, 3) == 1
    assert statistics._rank_sum(3, 7, 4) == 0


def test_normal_quantiles_are_the_textbook_ones() -> None:
    assert statistics.normal_quantile() == pytest.approx(1.959964, abs=1e-6)
    assert statistics.normal_quantile(16) == pytest.approx(float(stats.norm.isf(0.025 / 16)))


@pytest.mark.parametrize(
    ("interval", "expected"),
    [
        ((1.0, 2.0, 1.5, 1.0), ("no difference shown", None)),
        ((0.5, 1.0, 0.7, 1.0), ("no difference shown", None)),
        ((1.01, 2.0, 1.5, 1.0), ("faster", None)),
        ((0.5, 0.99, 0.7, 1.0), ("slower", None)),
        ((1.2, 3.0, 1.5, 1.5), ("no difference shown", "within the noise floor of 50%")),
        ((0.3, 0.8, 1 / 1.5, 1.6), ("no difference shown", "within the noise floor of 60%")),
        ((1.2, 3.0, 1.5, 1.99), ("no difference shown", "within the noise floor of 99%")),
        ((1.2, 3.0, 1.5, 1.49), ("faster", None)),
        ((1.01, 1.03, 1.02, 1.02), ("no difference shown", None)),
        ((1.01, 1.03, 1.021, 1.02), ("faster", None)),
    ],
)
def test_a_verdict_requires_an_interval_without_1_and_a_ratio_beyond_the_floor(
    interval: tuple[float, float, float, float], expected: tuple[str, str | None]
) -> None:
    assert statistics.verdict(*interval) == expected
    if expected[1] is None:
        assert statistics.verdict(*interval[:3]) == expected


def test_counts_differ_by_their_range_and_by_more_than_counts_of_one_binary() -> None:
    fewer = counted_ratio([100.0, 101, 102], [200.0, 202], 1.01)
    assert (fewer.low, fewer.value, fewer.high) == pytest.approx((200 / 102, 201 / 101, 2.02))
    assert (fewer.verdict, fewer.paired, fewer.rounds) == ("faster", True, 2)
    assert (
        fewer.note
        == "of counts; an interval spans all rounds, from the smallest to the largest ratio"
    )
    assert counted_ratio([200.0, 202], [100.0, 101, 102], 1.01).verdict == "slower"
    near = counted_ratio([100.0, 100.1], [100.5, 100.6], 1.01)
    assert (near.verdict, near.note) == ("no difference shown", fewer.note)
    assert ends(near)[0] > 1
    overlapping = counted_ratio([100.0, 150.0], [120.0, 250.0], 1.01)
    assert overlapping.verdict == "no difference shown"
