"""Steps in counts from night to night, found as the nights come in. Pure functions.

A night is compared with the one before it, as a difference of logarithms. A step is a difference
beyond `limit` times the usual one: the median absolute difference of all nights before, in all
series of the implementation together or in this series, whichever is larger. So a series whose
counts differ more than those of the others, as those of transfers do, does not alarm more often.
Only that night and those before it are used.

The differences are taken as independent, from Student's t distribution with `TAILS` degrees of
freedom: counts jump more often by many times their usual difference than normal noise would. They
may stay, as those of a change of the source do, or not. The series of one implementation are a
family (Bonferroni): with noise alone, at most `RATE` of its nights have an alarm in any of them.
tools/benchmarks/step_rates.md has the rates that simulations found.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]

RATE: Final = 0.01
"""Share of nights with a false alarm, at most, in all series of one implementation together."""

TAILS: Final = 4
"""Degrees of freedom of the differences."""

FEWEST: Final = 8
"""Differences from which the usual one is known."""

FEWEST_OWN: Final = 4
"""Differences of a series itself, without which it has no verdict."""

FLOOR: Final = 0.0002
"""The smallest usual difference, as a logarithm. Rounds of one build differ by at most 0.07% in
560 pairs (docs/compare.md), which is about 3.4 standard deviations, and their median by less."""


@dataclass(frozen=True)
class Step:
    """A change of one series from one night to the next that has a count."""

    series: int
    night: int
    before: float
    """The count of the last night before, in the unit of the series."""
    after: float

    @property
    def ratio(self) -> float:
        """The count after to the count before."""
        return self.after / self.before


def limit(series: int) -> float:
    """How many usual differences a step must exceed, where so many series are watched."""
    usual = special.stdtrit(TAILS, 0.75)  # half of the absolute differences are smaller
    return float(-special.stdtrit(TAILS, RATE / (2 * series)) / usual)


def usual_difference(differences: Floats) -> float:
    """The median absolute difference between nights: steps, which are few, do not change it.

    Of the median the upper limit of its 95% interval by order statistics, so that the rate holds
    while few nights are known.
    """
    count = len(differences)
    rank = math.ceil(count / 2 + special.ndtri(0.975) * math.sqrt(count) / 2)
    return max(FLOOR, float(np.sort(np.abs(differences))[min(rank, count) - 1]))


def usual_of_series(differences: Floats) -> float:
    """The median absolute difference of one series.

    Of fewer than `FEWEST` the second largest: their median may be small by chance, and the largest
    may be a step.
    """
    sizes = np.sort(np.abs(differences))
    return float(sizes[-2] if len(sizes) < FEWEST else np.median(sizes))


@dataclass(frozen=True)
class Found:
    """What is known about the nights of one implementation."""

    steps: list[Step]
    judged: int
    """Nights with enough nights before them for a verdict."""


def steps(series: Sequence[Sequence[float | None]]) -> Found:
    """The steps of one implementation's series, by night.

    `series` are counts above zero, one each night, of equal length; None where there is none.
    """
    found: list[Step] = []
    judged = 0
    above = limit(max(len(series), 1))
    own: list[list[float]] = [[] for _ in series]
    last: list[float | None] = [None] * len(series)
    for night in range(len(series[0]) if series else 0):
        new: list[tuple[Step, float]] = []
        for at, values in enumerate(series):
            before, after = last[at], values[night]
            if before is not None and after is not None:
                new.append((Step(at, night, before, after), math.log(after / before)))
            last[at] = before if after is None else after
        known = [difference for differences in own for difference in differences]
        if len(known) >= FEWEST:
            usual = usual_difference(np.array(known))
            with_verdict = [it for it in new if len(own[it[0].series]) >= FEWEST_OWN]
            judged += bool(with_verdict)
            for step, difference in with_verdict:
                beyond = above * max(usual, usual_of_series(np.array(own[step.series])))
                found += [step] if abs(difference) > beyond else []
        for step, difference in new:
            own[step.series].append(difference)
    return Found(found, judged)
