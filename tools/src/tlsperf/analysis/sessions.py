"""Intervals about another run, from the sessions of this run. Pure functions.

A session is some rounds of a suite, with time between it and the next. The rounds of a session
share the state of the host and the layout of the program, so sessions are the observations. A shift
that all rows of a table share has only as many observations as there are sessions, however many
rows there are, so it is estimated separately. The rest of each row is moderated, because few
sessions estimate a spread badly: its variance is shrunk towards that of all rows by as much as they
agree (Smyth 2004, doi 10.2202/1544-6115.1027, with the estimates of limma's fitFDist).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import special

from tlsperf.analysis.statistics import (
    ALPHA,
    SAME_WITHIN,
    RatioEstimate,
    normal_quantile,
    ratio_reach,
    verdict,
)
from tlsperf.contract.host import one_model
from tlsperf.contract.metric import Better
from tlsperf.contract.metrics import Statistic
from tlsperf.contract.record import Scenario
from tlsperf.contract.run import FigureKind, HostFacts
from tlsperf.contract.spreads import ModelSpreads

Floats = NDArray[np.float64]

FEWEST_SESSIONS: Final = 5
"""With at least this many sessions, the spread between them is estimated from the run itself."""

MEDIAN_ERROR: Final = 1.15
"""Error of the median of all rounds over that of the mean of the sessions' medians: 1.10 if the
sessions do not differ, 1.20 if only the sessions differ (standard errors of medians of normal
samples).
"""


# --- moderated variances -------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, slots=True)
class Prior:
    """The common part of a table's rows: a variance with its degrees of freedom, and the shift of
    all rows in each session.
    """

    variance: float
    degrees: float
    """Infinite if the rows differ by no more than chance."""
    pooled: float = math.inf
    """Degrees of freedom of all rows together: the limit for one row (as in limma)."""
    shared: Floats | None = None
    """The shift of all rows in each session (in logs), if it is known."""
    shared_variance: float = 0.0
    """Variance of that shift, without the part that the rows' own variance adds to its estimate."""
    scale: float = 1.0
    """Variance of a row over the variance of its residual after `shared` is subtracted."""

    def half_width(self, sessions: Floats, confidence: float, of_shared: float = 0.0) -> float:
        """Half the width of the interval of the mean of some sessions (logs), with moderated
        variance.

        `of_shared` is a separate confidence for the shift of all rows: it is one outcome for a
        table, not one for each comparison.
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

    def reversed(self) -> Prior:
        """The prior of the inverse ratios: the shift of all rows has the other sign."""
        return self if self.shared is None else replace(self, shared=-self.shared)

    def _moderated(self, variance: float, degrees: float) -> tuple[float, float]:
        if math.isinf(self.degrees):
            return self.variance, self.pooled
        total = self.degrees + degrees
        moderated = (self.degrees * self.variance + degrees * variance) / total
        return moderated, min(total, self.pooled)


def _quantile(degrees: float, confidence: float) -> float:
    """The two-sided quantile of Student's t."""
    if math.isinf(degrees):
        return float(special.ndtri((1 + confidence) / 2))
    return float(special.stdtrit(degrees, (1 + confidence) / 2))


NO_PRIOR: Final = Prior(0.0, 0.0)
"""For a row by itself: only its own variance is known."""

MOST_DEGREES: Final = 12
"""Limit for the degrees of a prior: with few rows an agreement by chance makes intervals too narrow
(`tools/benchmarks/simulation.md`).
"""


def fit_prior(rows: Sequence[Floats]) -> Prior:
    """The prior of rows of sessions (logs, at least two each).

    Rows of equal length are of the same sessions.
    """
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
    """The prior from the log variances of rows, without a shared shift."""
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


def log_medians(sessions: Iterable[Sequence[float]]) -> Floats:
    """The logarithm of each session's median."""
    return np.log([float(median(rounds)) for rounds in sessions])


def another_run(
    median: float, sessions: Floats, prior: Prior, spread: float = 0
) -> tuple[float, float]:
    """The interval that contains the median of another run with as many sessions 95 times of 100.

    `spread` is the standard deviation between runs, in logs. The other run has an error too, so the
    variance is that of a difference: twice that of one run.
    """
    own = MEDIAN_ERROR * prior.half_width(sessions, 1 - ALPHA)
    half = math.sqrt(2) * math.hypot(own, normal_quantile() * spread)
    return median * math.exp(-half), median * math.exp(half)


def another_run_by_spread(
    median: float, low: float, high: float, spread: float
) -> tuple[float, float]:
    """The same for a run with few sessions: the interval of its rounds, widened by the spread."""
    between = normal_quantile() * spread
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
    floor: float = SAME_WITHIN,
    spread: float = 0,
) -> RatioEstimate:
    """The ratio from one log for each session (Hodges-Lehmann over its rounds).

    `spread` is the standard deviation of the log ratio between runs (`ratio_reach`).
    """
    sign = 1 if better == "higher" else -1
    middle = sign * float(sessions.mean())
    half = ratio_reach(
        prior.half_width(sessions, 1 - ALPHA / comparisons, of_shared=1 - ALPHA),
        prior.half_width(sessions, 1 - ALPHA),
        spread,
        comparisons,
    )
    value, low, high = (math.exp(x) for x in (middle, middle - half, middle + half))
    found, note = verdict(low, high, value, floor)
    return RatioEstimate(
        value=value,
        low=low,
        high=high,
        verdict=found,
        paired=True,
        rounds=rounds,
        note=note,
        floor=floor,
    )


# --- known spreads -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Spreads:
    """How far two runs of the same builds differ, in per cent, by kind of figure."""

    rates: Mapping[FigureKind, float]
    ratios: Mapping[FigureKind, float]
    pairs: Mapping[FigureKind, int] = field(default_factory=dict)
    """Pairs of runs on this processor model; absent of a kind for an assumption."""
    virtual: bool = False
    """Whether the host is a virtual machine: its rates have no interval."""

    def of_median(self, scenario: Scenario, statistic: Statistic = "value") -> float:
        """Standard deviation of a median between runs, in logs."""
        return _deviation(self.rates[kind_of(scenario, statistic)])

    def of_ratio(
        self, scenario: Scenario, statistic: Statistic = "value", against: Scenario | None = None
    ) -> float:
        """Standard deviation of a ratio between runs, in logs: of two builds in a scenario, or of
        one build in this scenario and in another one.
        """
        apart = against is not None and apart_by_key_exchange(scenario, against)
        return _deviation(self.ratios["key-exchange" if apart else kind_of(scenario, statistic)])


def _deviation(percent: float) -> float:
    """The standard deviation of one run, of which 95% of the differences of two are within this."""
    return math.log1p(percent / 100) / (math.sqrt(2) * normal_quantile())


DEFAULT_SPREADS: Final = Spreads(
    rates={
        "transfer": 1.3,
        "full-handshake": 1.6,
        "resumed-handshake": 1.6,
        "threads": 3.7,
        "latency": 3.7,
        "memory": 1.0,
        "client-hello": 1.6,
        "other": 1.6,
    },
    ratios={
        "transfer": 0.6,
        "full-handshake": 0.5,
        "resumed-handshake": 0.9,
        "threads": 2.9,
        "latency": 2.9,
        "memory": 1.0,
        "client-hello": 0.9,
        "other": 0.9,
        "key-exchange": 0.5,
    },
)
"""For a processor model without two runs: how far ten runs of one day differed."""

VIRTUAL_SPREADS: Final = Spreads(
    rates={
        "transfer": 22.3,
        "full-handshake": 32.8,
        "resumed-handshake": 43.9,
        "threads": 18.1,
        "latency": 20.9,
        "memory": 1.1,
        "client-hello": 7.5,
        "other": 43.9,
    },
    ratios={
        "transfer": 8.1,
        "full-handshake": 9.2,
        "resumed-handshake": 8.1,
        "threads": 9.6,
        "latency": 11.9,
        "memory": 3.1,
        "client-hello": 3.2,
        "other": 9.2,
        "key-exchange": 7.9,
    },
    virtual=True,
)
"""For a virtual machine without two runs: the widest of the two in data/spreads.json of this project.
Of other operations no two runs are known: the widest kind on one thread.
"""


def spreads_of(host: HostFacts | None, known: Sequence[ModelSpreads]) -> Spreads:
    """The spreads of a host's processor model. A kind that it lacks is assumed."""
    if host is None:
        return DEFAULT_SPREADS
    assumed = VIRTUAL_SPREADS if host.virtual else DEFAULT_SPREADS
    own = next((of for of in known if one_model(of.host, host)), None)
    return spreads_of_model(own, assumed) if own else assumed


_ONE_THREAD: Final = ("transfer", "full-handshake", "resumed-handshake")


def spreads_of_model(model: ModelSpreads, assumed: Spreads) -> Spreads:
    """Those that were measured, and what is assumed of the other kinds: of other operations that they
    differ as the widest kind on one thread does.
    """
    rates: dict[FigureKind, float] = {}
    ratios: dict[FigureKind, float] = {}
    for found, name in ((rates, "rates"), (ratios, "ratios")):
        of_kinds = {kind: getattr(of, name) for kind, of in model.kinds.items()}
        found |= {kind: percent for kind, percent in of_kinds.items() if percent is not None}
        if widest := [found[kind] for kind in _ONE_THREAD if kind in found]:
            found.setdefault("other", max(widest))
    return replace(
        assumed,
        rates={**assumed.rates, **rates},
        ratios={**assumed.ratios, **ratios},
        pairs={kind: of.pairs for kind, of in model.kinds.items()},
    )


def kind_of(scenario: Scenario, statistic: Statistic = "value") -> FigureKind:
    """The kind of figure of a row."""
    if scenario.operation == "memory":
        return "memory"
    if statistic != "value":
        return "latency"
    if (scenario.threads or 1) > 1:
        return "threads"
    if scenario.operation == "transfer":
        return "transfer"
    if scenario.operation == "client-hello":
        return "client-hello"
    if scenario.operation != "handshake":
        return "other"
    return "full-handshake" if scenario.resumption in (None, "none") else "resumed-handshake"


def apart_by_key_exchange(one: Scenario, other: Scenario) -> bool:
    """Whether two scenarios of one thread are the same but for the key exchange."""
    if one.key_exchange == other.key_exchange or (one.threads or 1) > 1:
        return False
    return one.model_copy(update={"key_exchange": other.key_exchange}) == other
