"""The ratio of two samples, its direction and its words: one function for every page and command.

What decides is the entry of the metric in `contract.metrics`: which direction is better, whether
a count needs no test, and how a better value is called.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tlsperf.analysis.series import Sample, rounded
from tlsperf.analysis.statistics import (
    RatioEstimate,
    counted_ratio,
    paired_ratio,
    unpaired_ratio,
    untested_ratio,
)
from tlsperf.contract.metrics import METRICS, Metric
from tlsperf.contract.record import Identifier
from tlsperf.contract.results import Ratio

NO_ROUNDS: Final = "single figures, without rounds to test"


def sample_ratio(
    left: Sample,
    right: Sample,
    metric: Metric,
    *,
    pairs: frozenset[Identifier] = frozenset(),
    comparisons: int = 1,
    drift: float = 1.0,
    untested: str = NO_ROUNDS,
) -> RatioEstimate | None:
    """Left over right; in pairs where they share rounds of a run whose rounds are pairs.

    `pairs` are the ids of such runs; `drift` widens an unpaired ratio; `untested` is the note of
    a ratio without rounds. None if a side has nothing that a ratio may use.
    """
    if not (left.counts and right.counts):
        return None
    definition = METRICS[metric]
    if definition.is_count:
        return paired_rounds_ratio(left.rounds, right.rounds, metric)
    if not (left.has_rounds and right.has_rounds):
        return median_ratio(left, right, metric, untested)
    common = [key for key in left.valid if key[0] in pairs and key in right.valid]
    if common:
        ours, theirs = ([side.valid[key] for key in common] for side in (left, right))
        return paired_rounds_ratio(ours, theirs, metric, comparisons)
    return unpaired_ratio(left.rounds, right.rounds, comparisons, definition.better, drift)


def paired_rounds_ratio(
    left: Sequence[float], right: Sequence[float], metric: Metric, comparisons: int = 1
) -> RatioEstimate:
    """Left over right of rounds that are pairs, or of counts, whose rounds need not be."""
    definition = METRICS[metric]
    if definition.same_within is not None:
        return counted_ratio(left, right, definition.same_within)
    return paired_ratio(left, right, comparisons, definition.better)


def median_ratio(left: Sample, right: Sample, metric: Metric, note: str) -> RatioEstimate:
    """Left over right of two medians, without a test; `note` says why."""
    return untested_ratio(left.median, right.median, note, METRICS[metric].better)


def direction(ratio: RatioEstimate, untested_from: float) -> int:
    """1 for better, -1 for worse, 0 for no difference.

    Where there is no verdict, the ratio decides from `untested_from` on.
    """
    match ratio.verdict:
        case "faster":
            return 1
        case "slower":
            return -1
        case "no difference shown":
            return 0
        case _:
            return (ratio.value >= untested_from) - (ratio.value <= 1 / untested_from)


def as_ratio(estimate: RatioEstimate, metric: Metric) -> Ratio:
    """A ratio as results.json has it."""
    return Ratio(
        value=rounded(estimate.value, 6),
        low=None if estimate.low is None else rounded(estimate.low, 6),
        high=None if estimate.high is None else rounded(estimate.high, 6),
        verdict=estimate.verdict,
        paired=estimate.paired,
        text=ratio_text(estimate, metric),
        note=estimate.note,
    )


def ratio_text(ratio: RatioEstimate, metric: Metric = "rate") -> str:
    """A ratio as readers see it, everywhere: `1.70x faster (1.68 to 1.72)`.

    A worse one is inverted with its interval (`1.45x slower (1.41 to 1.49)`). Two decimals, or
    in each number as many as it takes to see that it is above 1.
    """
    better, worse = METRICS[metric].words
    value, low, high = ratio.value, ratio.low, ratio.high
    if ratio.verdict == "too few rounds":
        return f"{factor_text(value)}, {ratio.verdict}"
    if low is None or high is None:
        return factor_text(value)
    if ratio.verdict == "no difference shown":
        return f"{ratio.verdict} ({low:.2f} to {high:.2f})"
    if ratio.verdict == "not tested":
        return f"{factor_text(value)} ({low:.2f} to {high:.2f})"
    word = better
    if ratio.verdict == "slower":
        value, low, high, word = 1 / value, 1 / high, 1 / low, worse
    return f"{_above_one(value)}x {word} ({_above_one(low)} to {_above_one(high)})"


def _above_one(value: float) -> str:
    digits = 2
    while digits < 15 and float(f"{value:.{digits}f}") <= 1:
        digits += 1
    return f"{value:.{digits}f}"


def factor_text(value: float) -> str:
    """A bare ratio: 1.22x."""
    return f"{value:.2f}x"
