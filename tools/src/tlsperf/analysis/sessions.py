"""Intervals about another run: what the sessions of a run say of a figure. Pure functions.

A session is some rounds of a suite, with time between it and the next. The rounds of a session
share the state of the host and the layout of the program, so sessions are the observations. What
moves all rows of a table together has only as many observations as there are sessions, however
many rows there are, so it is estimated apart. What is left of each row is moderated, since few
sessions estimate a spread badly: its variance is shrunk towards that of all rows by as much as they
agree (Smyth 2004, doi 10.2202/1544-6115.1027, with the estimates of limma's fitFDist).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from tlsperf.analysis.statistics import ALPHA, RatioEstimate, normal_quantile, verdict
from tlsperf.contract.metrics import Better
from tlsperf.contract.record import Scenario
from tlsperf.contract.run import FigureKind, Host, HostFacts

Floats = NDArray[np.float64]

FEWEST_SESSIONS: Final = 5
"""Sessions from which the spread between them is estimated from the run itself."""

MEDIAN_ERROR: Final = 1.15
"""Error of the median of all rounds over that of the mean of the sessions' medians: 1.10 if the
sessions do not differ, 1.20 if nothing else does (standard errors of medians of normal samples)."""


# --- moderated variances -------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, slots=True)
class Prior:
    """What the rows of a table have in common: a variance, worth so many degrees of freedom, and
    what moves all of them together from session to session."""

    variance: float
    degrees: float
    """Infinite if the rows differ by no more than chance."""
    pooled: float = math.inf
    """Degrees of freedom of all rows together: a row has no more (as in limma)."""
    shared: Floats | None = None
    """By how much each session moves all rows (logs), if that is known."""
    shared_variance: float = 0.0
    """Of what moves them, without what the rows' own variance adds to its estimate."""
    scale: float = 1.0
    """Variance of a row over that of what is left of it without its share in `shared`."""

    def half_width(self, sessions: Floats, confidence: float, of_shared: float = 0.0) -> float:
        """Of the interval of the mean of some sessions (logs), with the moderated variance.

        `of_shared` is the confidence for what all rows share, if it is another: that is one
        outcome for a table, not one for each comparison.
        """
        own = sessions
        together = 0.0
        if self.shared is not None and len(self.shared) == len(sessions):
            own = sessions - self.shared
            quantile = _quantile(len(sessions) - 1, of_shared or confidence)
            together = quantile**2 * self.shared_variance
        variance, degrees = self._moderated(float(own.var(ddof=1)), len(sessions) - 1)
        alone = _quantile(degrees, confidence) ** 2 * self.scale * variance
        return math.sqrt((alone + together) / len(sessions))

    def _moderated(self, variance: float, degrees: float) -> tuple[float, float]:
        if math.isinf(self.degrees):
            return self.variance, self.pooled
        total = self.degrees + degrees
        moderated = (self.degrees * self.variance + degrees * variance) / total
        return moderated, min(total, self.pooled)


def _quantile(degrees: float, confidence: float) -> float:
    """Of Student's t, two-sided."""
    if math.isinf(degrees):
        return float(special.ndtri((1 + confidence) / 2))
    return float(special.stdtrit(degrees, (1 + confidence) / 2))


NO_PRIOR: Final = Prior(0.0, 0.0)
"""A row by itself: its own variance is all that is known."""

MOST_DEGREES: Final = 12
"""A prior counts for no more, however well the rows seem to agree: with few rows an agreement by
chance makes intervals too narrow (`tools/benchmarks/simulation.md`)."""


def fit_prior(rows: Sequence[Floats]) -> Prior:
    """The prior of rows of sessions (logs, two and more each). Rows of equal length are of the
    same sessions."""
    if len(rows) < 2 or len({len(row) for row in rows}) > 1:
        return _fit_own(rows)
    values = np.array(rows)
    count, sessions = values.shape
    centred = values - values.mean(axis=1, keepdims=True)
    shared = centred.mean(axis=0)
    left = float(((centred - shared) ** 2).sum()) / ((count - 1) * (sessions - 1))
    prior = _fit_own([row - shared for row in values])
    return replace(
        prior,
        shared=shared,
        shared_variance=max(float(shared.var(ddof=1)) - left / count, 0.0),
        scale=count / (count - 1),
    )


def _fit_own(rows: Sequence[Floats]) -> Prior:
    """From the log variances of rows."""
    of = [(float(row.var(ddof=1)), len(row) - 1) for row in rows]
    variances, degrees = np.array([(v, d) for v, d in of if v > 0]).reshape(-1, 2).T
    if len(variances) < 2:
        return NO_PRIOR
    pooled = float(degrees.sum())
    logs = np.log(variances) - special.digamma(degrees / 2) + np.log(degrees / 2)
    mean = float(logs.mean())
    excess = float(logs.var(ddof=1) - special.polygamma(1, degrees / 2).mean())
    if excess <= 0:
        return Prior(math.exp(mean), MOST_DEGREES, pooled)
    half = _trigamma_inverse(excess)
    variance = math.exp(mean + float(special.digamma(half)) - math.log(half))
    return Prior(variance, min(2 * half, MOST_DEGREES), pooled)


def _trigamma_inverse(value: float) -> float:
    """The x with trigamma(x) = value, by Newton's method on 1 / trigamma (as in limma)."""
    x = 0.5 + 1 / value
    for _ in range(50):
        trigamma = float(special.polygamma(1, x))
        step = trigamma * (1 - trigamma / value) / float(special.polygamma(2, x))
        x += step
        if -step / x < 1e-8:
            break
    return x


# --- figures and ratios --------------------------------------------------------------------------


def log_medians(sessions: Iterable[ArrayLike]) -> Floats:
    """The log of each session's median."""
    return np.log([float(np.median(np.asarray(rounds))) for rounds in sessions])


def another_run(median: float, sessions: Floats, prior: Prior) -> tuple[float, float]:
    """Within which another run of as many sessions has its median, 95 times of 100.

    The other run has an error of its own, so the variance of a difference counts: twice that of
    one of them.
    """
    half = math.sqrt(2) * MEDIAN_ERROR * prior.half_width(sessions, 1 - ALPHA)
    return median * math.exp(-half), median * math.exp(half)


def another_run_by_spread(
    median: float, low: float, high: float, sessions: int, spread: float
) -> tuple[float, float]:
    """The same of a run with few sessions: its own interval, widened by a known spread.

    `spread` is the standard deviation between sessions, in logs.
    """
    between = normal_quantile() * spread / math.sqrt(sessions)
    below, above = (
        math.sqrt(2) * math.hypot(math.log(side / median), between) for side in (low, high)
    )
    return median * math.exp(-below), median * math.exp(above)


def session_ratio(
    sessions: Floats,
    prior: Prior,
    rounds: int,
    comparisons: int = 1,
    better: Better = "higher",
    floor: float = 1,
) -> RatioEstimate:
    """The ratio of which each session gives a log (Hodges-Lehmann over its rounds)."""
    sign = 1 if better == "higher" else -1
    middle = sign * float(sessions.mean())
    half = prior.half_width(sessions, 1 - ALPHA / comparisons, of_shared=1 - ALPHA)
    value, low, high = (math.exp(x) for x in (middle, middle - half, middle + half))
    found, note = verdict(low, high, value, floor)
    return RatioEstimate(
        value=value, low=low, high=high, verdict=found, paired=True, rounds=rounds, note=note
    )


# --- spreads that are known ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Spreads:
    """Standard deviations between sessions in per cent, by kind of figure."""

    medians: Mapping[FigureKind, float]
    ratios: Mapping[FigureKind, float]
    of_host: bool
    """Measured on the host of the run; else the default."""

    def of_median(self, scenario: Scenario) -> float:
        """In logs, of the median of a session."""
        return self.medians[kind_of(scenario)] / 100

    def of_ratio(self, scenario: Scenario) -> float:
        """In logs, of a session's ratio of two implementations."""
        return self.ratios[kind_of(scenario)] / 100


DEFAULT_SPREADS: Final = Spreads(
    medians={
        "transfer": 0.48,
        "full-handshake": 0.58,
        "resumed-handshake": 0.58,
        "threads": 1.30,
        "other": 0.57,
    },
    ratios={
        "transfer": 0.22,
        "full-handshake": 0.19,
        "resumed-handshake": 0.32,
        "threads": 1.05,
        "other": 0.24,
    },
    of_host=False,
)
"""What `tools/benchmarks/between_sessions.py` finds in the ten runs of 21 November 2026."""


def spreads_of(host: HostFacts | None) -> Spreads:
    """Those known of a host; for a kind that is not known there, the default."""
    known = host.between_sessions if isinstance(host, Host) else None
    if known is None:
        return DEFAULT_SPREADS
    return Spreads(
        medians={**DEFAULT_SPREADS.medians, **known.medians},
        ratios={**DEFAULT_SPREADS.ratios, **known.ratios},
        of_host=True,
    )


def kind_of(scenario: Scenario) -> FigureKind:
    """The kind of figure that a scenario gives."""
    if (scenario.threads or 1) > 1:
        return "threads"
    if scenario.operation == "transfer":
        return "transfer"
    if scenario.operation != "handshake":
        return "other"
    return "full-handshake" if scenario.resumption in (None, "none") else "resumed-handshake"
