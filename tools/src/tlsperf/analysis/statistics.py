"""Statistics of series of rounds: medians, ratios, intervals, verdicts. Pure functions over arrays.

A round has one observation for each implementation and scenario. An array here has the observations
of one of them, one element for each round, all above zero, in any one unit. Ratios are of rates
(`better="higher"`) or of durations, bytes and instructions (`better="lower"`). They always have the
same direction: above 1 the left side is better.

One rule gives every verdict (`verdict`): better or worse if the interval excludes 1 and the ratio
is beyond the noise floor. That interval is corrected: with `comparisons` ratios on a page, each has
the confidence 1 - 0.05 / comparisons (Bonferroni). So a report in which nothing differs shows a
difference in at most 5 of 100 cases. Bonferroni holds for any dependence between scenarios (they
share rounds, so they are dependent), and its intervals cannot contradict the verdicts. Step-down
tests (Holm) and false discovery rates (Benjamini-Hochberg) have no such intervals.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from tlsperf.contract.comparisons import Estimator
from tlsperf.contract.metric import Better
from tlsperf.contract.results import Verdict
from tlsperf.contract.text import counted, share

Floats = NDArray[np.float64]

ALPHA: Final = 0.05
"""How often a report in which nothing differs may claim a difference."""

UNSTABLE_SPREAD_PERCENT: Final = 10.0
"""A series with at least this relative standard deviation is unstable (pyperf's threshold)."""

OUTLIER_DEVIATIONS: Final = 14.826
"""A round further from the median than this many median absolute deviations is an outlier: ten
robust standard deviations (hyperfine's threshold; Iglewicz and Hoaglin 1993).
"""

SAME_WITHIN: Final = 1.02
"""Ratios up to this one are no difference: no reader decides by less, and few hosts show it."""

_HALF: Final = 5
"""Drift needs at least this many rounds in each half of a series."""


@dataclass(frozen=True, slots=True)
class Summary:
    """Statistics of one series of rounds. `low` and `high` are None if there are too few rounds."""

    median: float
    low: float | None
    high: float | None
    count: int
    spread_percent: float | None
    """Relative standard deviation (n - 1); None with a single round."""
    upper_median: float
    """The higher of the two middle values of an even count: the estimator of the 2023 tables."""
    best: float
    outliers: tuple[int, ...]
    """Positions of the rounds that are more than 14.8 median absolute deviations off."""

    def by(self, estimator: Estimator) -> float:
        """The figure that stands for the series."""
        of = {"median": self.median, "upper-median": self.upper_median, "best": self.best}
        return of[estimator]


@dataclass(frozen=True, slots=True)
class RatioEstimate:
    """How many times better left is than right, with its simultaneous interval."""

    value: float
    low: float | None
    high: float | None
    verdict: Verdict
    paired: bool
    rounds: int
    """Number of pairs; without common rounds, the smaller number of the two sides."""
    note: str | None = None
    floor: float = SAME_WITHIN
    """The ratio up to which there is no difference."""

    def untested(self, note: str) -> RatioEstimate:
        """The same ratio and interval without a verdict; `note` gives the reason."""
        return replace(self, verdict="not tested", note=note)


# --- one series --------------------------------------------------------------------------------


def summary(values: ArrayLike, better: Better = "higher") -> Summary:
    """Median with its 95% order-statistic interval, spread and outliers of one series.

    The interval runs from the k-th smallest to the k-th largest value, with the largest k for which
    a binomial(n, 1/2) count is below k with a probability of at most 0.025 (David and Nagaraja,
    Order Statistics, 7.1). It is distribution-free, covers at least 95%, and needs 6 rounds.
    """
    series = np.sort(_series(values))
    count = len(series)
    middle = _middle(series)
    rank = _median_rank(count)
    spread = None
    if count > 1 and (mean := float(series.mean())) > 0:
        spread = 100 * math.sqrt(float(((series - mean) ** 2).sum()) / (count - 1)) / mean
    return Summary(
        median=middle,
        low=float(series[rank - 1]) if rank else None,
        high=float(series[count - rank]) if rank else None,
        count=count,
        spread_percent=spread,
        upper_median=float(series[count // 2]),
        best=float(series[-1] if better == "higher" else series[0]),
        outliers=_outliers(np.asarray(values, dtype=np.float64), middle),
    )


def stability_warnings(figures: Sequence[Summary]) -> list[str]:
    """Warnings about the figures of a table, one sentence each; empty if there are none."""
    many = len(figures)
    warnings = []
    spreads = [of.spread_percent or 0 for of in figures]
    unstable = sum(spread >= UNSTABLE_SPREAD_PERCENT for spread in spreads)
    if unstable:
        warnings.append(
            f"{share(unstable, many, 'figures', 'is', 'are')} unstable: relative standard "
            f"deviation of {UNSTABLE_SPREAD_PERCENT:.0f}% or more, up to {max(spreads):.0f}%."
        )
    with_outliers = [len(of.outliers) for of in figures if of.outliers]
    if with_outliers:
        count = sum(with_outliers)
        warnings.append(
            f"{share(len(with_outliers), many, 'figures', 'has', 'have')} outliers: {count} "
            f"round{'s' if count > 1 else ''} more than {OUTLIER_DEVIATIONS:.1f} median absolute "
            "deviations from the median."
        )
    without = sum(of.low is None or of.median == 0 for of in figures)
    if without:
        warnings.append(
            f"{share(without, many, 'figures', 'has', 'have')} too few rounds for an interval: "
            f"{fewest_for_median()} are needed."
        )
    return warnings


# --- two series --------------------------------------------------------------------------------


def paired_ratio(
    left: ArrayLike,
    right: ArrayLike,
    comparisons: int = 1,
    better: Better = "higher",
    spread: float = 0,
    floor: float = SAME_WITHIN,
) -> RatioEstimate:
    """Left over right within one run: element i of both is the same round.

    An effect of a round on both sides cancels in its log ratio. The estimate is the Hodges-Lehmann
    median of the Walsh averages; its interval is the inversion of Wilcoxon's signed-rank test,
    exact at any count (Hollander, Wolfe and Chicken, Nonparametric Statistical Methods, 3.2-3.3).
    `spread` is the standard deviation of the log ratio between runs (`ratio_reach`).
    """
    ours, theirs = _logs(_series(left)), _logs(_series(right))
    rounds = len(ours)
    if rounds != len(theirs):
        raise ValueError(f"paired series of {rounds} and {len(theirs)} rounds")
    shifts = _walsh_averages(ours - theirs)
    return _estimate(
        shifts if better == "higher" else -shifts[::-1],
        rank=lambda count: _signed_rank(rounds, count),
        rounds=rounds,
        needed=lambda: _first(lambda n: _signed_rank(n, comparisons)),
        comparisons=comparisons,
        paired=True,
        spread=spread,
        floor=floor,
    )


def hodges_lehmann(logs: Floats) -> float:
    """The median of the means of all pairs of values, including each value with itself."""
    return _middle(_walsh_averages(logs))


def unpaired_ratio(
    left: ArrayLike,
    right: ArrayLike,
    comparisons: int = 1,
    better: Better = "higher",
    drift: float = 1,
    floor: float = SAME_WITHIN,
) -> RatioEstimate:
    """Left over right without common rounds: data of others, other days, other runs.

    The estimate is the Hodges-Lehmann median of all differences of logs; its interval is the
    inversion of the Mann-Whitney test, exact (Hollander, Wolfe and Chicken, 4.2-4.3). It cannot
    separate changes of the host between the two: the estimate is marked unpaired, with a note.
    `drift` is the ratio within which 95% of equal things are between such series (the function
    `drift`, or the noise between runs). The interval is widened by it on both sides, corrected for
    the comparisons as if such differences were normal.
    """
    ours, theirs = _logs(_series(left)), _logs(_series(right))
    rounds = min(len(ours), len(theirs))
    shifts = np.sort((ours[:, None] - theirs).ravel())
    return _estimate(
        shifts if better == "higher" else -shifts[::-1],
        rank=lambda count: _rank_sum(len(ours), len(theirs), count),
        rounds=rounds,
        needed=lambda: _first(lambda n: _rank_sum(n, n, comparisons)),
        comparisons=comparisons,
        paired=False,
        drift=drift ** (normal_quantile(comparisons) / normal_quantile()),
        floor=floor,
    )


def drift(many: Iterable[ArrayLike]) -> float:
    """How far the host drifted during the series: the argument `drift` of unpaired ratios.

    For 95% of the series, the ratio of their second half to their first is within it. It is 1 if no
    series is long enough. Rounds must be in the order of time.
    """
    drifted = []
    for values in many:
        rounds = _series(values)
        half = len(rounds) // 2
        if half >= _HALF:
            drifted.append(unpaired_ratio(rounds[:half], rounds[half:]).value)
    return percentile_95(drifted) if drifted else 1.0


def percentile_95(ratios: Iterable[float]) -> float:
    """The 95th percentile of ratios of equal things, each taken above 1."""
    distances = [max(ratio, 1 / ratio) for ratio in ratios]
    return float(np.quantile(distances, 1 - ALPHA, method="inverted_cdf"))


def ratio_reach(own: float, single: float, spread: float, comparisons: int) -> float:
    """How far the interval of a log ratio reaches, so that it holds what it promises.

    It contains the ratio of the two builds on any day, corrected for the comparisons, and the ratio
    of another run 95 times of 100. `own` is the reach by the run's own rounds, corrected, and
    `single` the one of 95%; `spread` is the standard deviation between runs, which no run shows by
    itself. The other run has an error too: its variance is that of a difference. Without a spread
    the interval says nothing of another day.
    """
    corrected = math.hypot(own, normal_quantile(comparisons) * spread)
    return (
        max(corrected, math.sqrt(2) * math.hypot(single, normal_quantile() * spread))
        if spread
        else own
    )


@cache
def normal_quantile(comparisons: int = 1) -> float:
    """Half the width of a normal interval in standard deviations, corrected for the comparisons."""
    return -float(special.ndtri(ALPHA / 2 / comparisons))


def counted_ratio(left: ArrayLike, right: ArrayLike, same_within: float) -> RatioEstimate:
    """Right over left of counts, so that above 1 is fewer.

    Counts have almost no noise and need no test: `low` to `high` is the range over all rounds of
    both sides. There is a difference if it excludes 1 and the medians differ by more than
    `same_within`, the ratio up to which counts of one binary differ.
    """
    ours, theirs = _series(left), _series(right)
    low, value, high = np.exp(
        [
            _logs(theirs).min() - _logs(ours).max(),
            np.log(_middle(np.sort(theirs))) - np.log(_middle(np.sort(ours))),
            _logs(theirs).max() - _logs(ours).min(),
        ]
    ).tolist()
    return RatioEstimate(
        value=value,
        low=low,
        high=high,
        verdict=verdict(low, high, value, same_within)[0],
        paired=True,
        rounds=min(len(ours), len(theirs)),
        note="of counts; an interval spans all rounds, from the smallest to the largest ratio",
    )


def untested_ratio(
    left: float, right: float, note: str, better: Better = "higher"
) -> RatioEstimate:
    """Left over right of two single figures: without rounds, so without interval and verdict."""
    ratio = math.exp(float(_logs(np.array([left]))[0] - _logs(np.array([right]))[0]))
    return RatioEstimate(
        value=ratio if better == "higher" else 1 / ratio,
        low=None,
        high=None,
        verdict="not tested",
        paired=False,
        rounds=0,
        note=note,
    )


def verdict(
    low: float, high: float, value: float, floor: float = SAME_WITHIN
) -> tuple[Verdict, str | None]:
    """The only rule: better or worse if the interval excludes 1 and the ratio is beyond the floor.

    `floor` is the ratio up to which there is no difference; the note names a
    noise floor that decides the verdict.
    """
    if low <= 1 <= high:
        return "no difference shown", None
    if max(value, 1 / value) <= floor:
        beyond = f"within the noise floor of {100 * (floor - 1):.2g}%"
        return "no difference shown", beyond if floor > SAME_WITHIN else None
    return ("faster" if low > 1 else "slower"), None


# --- calculation ---------------------------------------------------------------------------------


def _middle(ascending: Floats) -> float:
    """The median of sorted values; for a few, np.median takes twenty times as long."""
    count = len(ascending)
    return float((ascending[(count - 1) // 2] + ascending[count // 2]) / 2)


def _walsh_averages(logs: Floats) -> Floats:
    """The means of all pairs of values, ascending."""
    return np.asarray(np.sort((logs[:, None] + logs)[_upper_triangle(len(logs))]) / 2)


def _estimate(
    shifts: Floats,
    rank: Callable[[int], int],
    rounds: int,
    needed: Callable[[], int],
    comparisons: int,
    paired: bool,
    drift: float = 1,
    spread: float = 0,
    floor: float = SAME_WITHIN,
) -> RatioEstimate:
    """The estimate from sorted log shifts: their median, and the rank-th from each end.

    `rank` gives the rank for a number of comparisons; 0 if there are too few rounds.
    """
    middle = _middle(shifts)
    value = math.exp(middle)
    corrected, single = rank(comparisons), rank(1)
    if corrected == 0:
        over = f" over {comparisons} comparisons" if comparisons > 1 else ""
        return RatioEstimate(
            value=value,
            low=None,
            high=None,
            verdict="too few rounds",
            paired=paired,
            rounds=rounds,
            note=f"{counted(rounds, 'round')}; a verdict{over} needs {needed()}",
        )
    below, above = (
        ratio_reach(own, single_own, spread, comparisons)
        for own, single_own in (
            (middle - float(shifts[corrected - 1]), middle - float(shifts[single - 1])),
            (float(shifts[-corrected]) - middle, float(shifts[-single]) - middle),
        )
    )
    low, high = math.exp(middle - below) / drift, math.exp(middle + above) * drift
    found, note = verdict(low, high, value, floor)
    if not paired:
        note = "; ".join(filter(None, [_unpaired_note(drift), note]))
    return RatioEstimate(
        value=value,
        low=low,
        high=high,
        verdict=found,
        paired=paired,
        rounds=rounds,
        note=note,
        floor=floor,
    )


def _unpaired_note(drift: float) -> str:
    note = "unpaired: without common rounds, other changes are part of the ratio"
    if drift == 1:
        return note
    return f"{note}; interval widened by {100 * (drift - 1):.1f}% for the drift between them"


def _series(values: ArrayLike) -> Floats:
    series = np.asarray(values, dtype=np.float64)
    if series.ndim != 1 or series.size == 0 or not bool(np.isfinite(series).all()):
        raise ValueError(f"expected a series of finite numbers, found {values!r}")
    return series


def _logs(values: Floats) -> Floats:
    if bool((values <= 0).any()):
        raise ValueError(f"a ratio needs values above zero, found {values.min()}")
    return np.log(values)


def _outliers(series: Floats, middle: float) -> tuple[int, ...]:
    deviations = np.abs(series - middle)
    typical = _middle(np.sort(deviations))
    if typical == 0:  # more than half the rounds are equal, so there is no scale
        return ()
    return tuple(int(i) for i in np.flatnonzero(deviations > OUTLIER_DEVIATIONS * typical))


@cache
def _median_rank(count: int) -> int:
    """Largest k with P(binomial(count, 1/2) < k) <= ALPHA / 2; 0 if there is none."""
    below = special.bdtr(np.arange(count), count, 0.5)  # scipy.stats takes a second to import
    return int(np.searchsorted(below, ALPHA / 2, "right"))


@cache
def fewest_for_median() -> int:
    """The least number of rounds of which a median has an interval."""
    return _first(_median_rank)


def _first(rank: Callable[[int], int]) -> int:
    return next(count for count in range(1, 1000) if rank(count))


@cache
def _upper_triangle(count: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    rows, columns = np.triu_indices(count)
    return rows, columns


@cache
def _signed_rank(count: int, comparisons: int) -> int:
    """Largest k with P(W < k) <= ALPHA / 2 / comparisons for the signed-rank statistic W.

    W is the sum of the numbers from 1 to `count` that a fair coin picks. Convolution gives its
    distribution.
    """
    distribution = np.zeros(count * (count + 1) // 2 + 1)
    distribution[0] = 1
    for rank in range(1, count + 1):
        distribution[rank:] += distribution[:-rank].copy()
        distribution /= 2
    return _tail(distribution, comparisons)


@cache
def _rank_sum(left: int, right: int, comparisons: int) -> int:
    """Largest k with P(U < k) <= ALPHA / 2 / comparisons for the Mann-Whitney statistic U.

    The counts of U are the coefficients of the Gaussian binomial (left + right over left): the
    product of (1 - q^(right + i)) / (1 - q^i) for i = 1 … left (Mann and Whitney 1947). They are
    integers, because the division would not cancel in floating point.
    """
    counts = [0] * (left * right + 1)
    counts[0] = 1
    for i in range(1, left + 1):
        for q in range(left * right, right + i - 1, -1):
            counts[q] -= counts[q - right - i]
        for q in range(i, left * right + 1):
            counts[q] += counts[q - i]
    total = math.comb(left + right, left)
    return _tail(np.array([count / total for count in counts]), comparisons)


def _tail(distribution: Floats, comparisons: int) -> int:
    below = np.cumsum(distribution)
    return int(np.searchsorted(below, ALPHA / 2 / comparisons, "right"))
