"""Simulates how often verdicts are right; its results are in simulation.md.

    python tools/benchmarks/simulation.py           write the table (about five minutes)

A simulated report is two implementations measured in 16 scenarios over 30 rounds, in the order of
`tlsbench`: scenarios follow each other within a round, and within a scenario the two
implementations are measured close in time, in an order shuffled for each round. Noise is relative
and in logs; its standard deviation is drawn for each scenario from those of the 2023 runs
(`SPREADS_PERCENT`). "Nothing differs" means the same distribution on both sides; a true difference
shifts one side.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy import stats

import session_simulation
from tlsperf.analysis import statistics
from tlsperf.analysis.series import measured
from tlsperf.analysis.statistics import (
    ALPHA,
    RatioEstimate,
    paired_ratio,
    summary,
    unpaired_ratio,
)
from tlsperf.load.run import load_run

Floats = NDArray[np.float64]

ROUNDS: Final = 30
SCENARIOS: Final = 16
REPORTS: Final = 2000
SEEDS: Final = (1, 2, 3, 4, 5)
CHANGE: Final = 1.02
FOUND_SPREADS_PERCENT: Final = (1.0, 1.5, 2.2)

SPREADS_PERCENT: Final = (0.14, 0.24, 0.32, 0.39, 0.45, 0.58, 0.69, 0.95, 1.39, 1.78)
"""Relative standard deviations of the December 2023 runs: the 5th, 15th … 95th percentile of
the 168 series of 30 valid runs; the largest is 2.22."""

SHARED: Final = 0.75
"""Share of the variance of drift and random walk that the host causes; each side causes
the rest.
"""

SPLITS: Final = 250
"""Number of random halves for each configuration of the real runs."""

TABLE: Final = Path(__file__).with_name("simulation.md")
REAL_RUN: Final = Path(__file__).parents[2] / "data" / "runs" / "2023-12-13-configurations"


# --- noise: arrays of reports x scenarios x rounds for left and right, of unit variance ---------

Noise = Callable[[Generator, int, int], tuple[Floats, Floats]]


def _independent(draw: Callable[[Generator, tuple[int, ...]], Floats]) -> Noise:
    def noise(random: Generator, reports: int, scenarios: int) -> tuple[Floats, Floats]:
        shape = (reports, scenarios, ROUNDS)
        return draw(random, shape), draw(random, shape)

    return noise


def _normal(random: Generator, shape: tuple[int, ...]) -> Floats:
    return random.standard_normal(shape)


def _skewed(random: Generator, shape: tuple[int, ...]) -> Floats:
    """Noise that can only slow down: skewness -2, like the more disturbed of the 2023 series."""
    return np.asarray(np.log(2) - random.standard_exponential(shape))  # median 0


def _bimodal(random: Generator, shape: tuple[int, ...]) -> Floats:
    """Two states (page colouring, a frequency), with one round in four in the slow state."""
    slow = random.random(shape) < 0.25
    modes = np.where(slow, -2.2, 0.0) + 0.3 * random.standard_normal(shape)
    return np.asarray(modes - 0.3 * stats.norm.ppf(1 / 3))  # median 0: 1/4 + 3/4 * 1/3 below it


def _times(random: Generator, reports: int, scenarios: int) -> tuple[NDArray[np.intp], ...]:
    """When left and right are measured, in slots of one measurement each."""
    rounds, blocks = np.arange(ROUNDS), np.arange(scenarios)[:, None]
    first = 2 * (rounds * scenarios + blocks)
    swapped = random.random((reports, scenarios, ROUNDS)) < 0.5
    return first + swapped, first + ~swapped


def _with_host(host: Callable[[Generator, int, int], Floats]) -> Noise:
    """Noise from the host's state (reports x slots, unit variance over a run) for all scenarios."""

    def noise(random: Generator, reports: int, scenarios: int) -> tuple[Floats, Floats]:
        states = host(random, reports, 2 * scenarios * ROUNDS)
        rows = np.arange(reports)[:, None, None]
        left, right = (
            SHARED**0.5 * states[rows, time] + (1 - SHARED) ** 0.5 * _normal(random, time.shape)
            for time in _times(random, reports, scenarios)
        )
        return left, right

    return noise


def _drift(random: Generator, reports: int, slots: int) -> Floats:
    """A steady drift, up or down: a straight line."""
    line = (np.arange(slots) - (slots - 1) / 2) / slots * 12**0.5
    return np.asarray(random.choice([-1.0, 1.0], (reports, 1)) * line)


def _walk(random: Generator, reports: int, slots: int) -> Floats:
    """A random walk; n unit steps have an expected variance of n / 6 about their mean."""
    return np.asarray(
        np.cumsum(random.standard_normal((reports, slots)), axis=1) / (slots / 6) ** 0.5
    )


NOISES: Final[dict[str, Noise]] = {
    "normal": _independent(_normal),
    "skewed": _independent(_skewed),
    "bimodal": _independent(_bimodal),
    "drifting": _with_host(_drift),
    "random walk": _with_host(_walk),
}


def _own_walks(random: Generator, reports: int, scenarios: int) -> tuple[Floats, Floats]:
    """Each implementation drifts separately, which pairing cannot cancel."""
    shape = (reports, scenarios, ROUNDS)
    left, right = (
        np.cumsum(random.standard_normal(shape), axis=2) / (ROUNDS / 6) ** 0.5 for _ in range(2)
    )
    return left, right


def _in_batches(random: Generator, reports: int, scenarios: int) -> tuple[Floats, Floats]:
    """All rounds of left, then all of right, on a host with a random walk, as measured in 2023."""
    states = _walk(random, reports * scenarios, 2 * ROUNDS).reshape(reports, scenarios, -1)
    own = _normal(random, states.shape)
    both = SHARED**0.5 * states + (1 - SHARED) ** 0.5 * own
    return both[..., :ROUNDS], both[..., ROUNDS:]


# --- counting -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Rate:
    """A count and its total."""

    count: int
    of: int

    @property
    def bounds(self) -> tuple[float, float]:
        """99% Clopper-Pearson bounds."""
        interval = stats.binomtest(self.count, self.of).proportion_ci(0.99, "exact")
        return float(interval.low), float(interval.high)

    def __str__(self) -> str:
        low, high = self.bounds
        return f"{100 * self.count / self.of:.2f} ({100 * low:.2f} to {100 * high:.2f})"


def _rate(outcomes: Iterator[bool]) -> Rate:
    counted = np.fromiter(outcomes, dtype=np.bool_)
    return Rate(int(counted.sum()), len(counted))


def _spreads(random: Generator, reports: int, scenarios: int) -> Floats:
    return np.asarray(random.choice(SPREADS_PERCENT, (reports, scenarios, 1)) / 100)


def _claims(estimate: RatioEstimate) -> bool:
    return estimate.verdict in ("faster", "slower")


def _covers(estimate: RatioEstimate, truth: float) -> bool:
    return (
        estimate.low is not None
        and estimate.high is not None
        and (estimate.low <= truth <= estimate.high)
    )


@dataclass(frozen=True, slots=True)
class Outcome:
    """The rates of one noise with one seed."""

    noise: str
    seed: int
    false_per_scenario: Rate
    false_per_report: Rate
    coverage: Rate
    found: tuple[Rate, ...]
    """How often a true change is found, after correction, for each of `FOUND_SPREADS_PERCENT`."""

    def failures(self) -> list[str]:
        """The promises that this outcome breaks."""
        broken = []
        if self.false_per_scenario.bounds[0] > ALPHA:
            broken.append("false verdicts per scenario")
        if self.false_per_report.bounds[0] > ALPHA:
            broken.append("reports with a false verdict")
        low, high = self.coverage.bounds
        if not low <= 1 - ALPHA <= high:
            broken.append("coverage")
        broken += [
            f"true change at {spread}%"
            for spread, rate in zip(FOUND_SPREADS_PERCENT, self.found, strict=True)
            if spread <= 1.5 and rate.count < 0.9 * rate.of
        ]
        return [f"{self.noise}, seed {self.seed}: {promise}" for promise in broken]


def simulate(name: str, seed: int, reports: int = REPORTS) -> Outcome:
    """All rates of one noise with one seed."""
    noise = NOISES[name]
    random = np.random.default_rng([seed, list(NOISES).index(name)])
    left, right = noise(random, reports, SCENARIOS)
    spread = _spreads(random, reports, SCENARIOS)
    left, right = np.exp(left * spread), np.exp(right * spread)
    return Outcome(
        noise=name,
        seed=seed,
        false_per_scenario=_rate(
            _claims(paired_ratio(left[i, 0], right[i, 0])) for i in range(reports)
        ),
        false_per_report=_rate(
            any(_claims(paired_ratio(*pair, SCENARIOS)) for pair in zip(*report, strict=True))
            for report in zip(left, right, strict=True)
        ),
        coverage=_rate(
            _covers(paired_ratio(CHANGE * left[i, 1], right[i, 1]), CHANGE) for i in range(reports)
        ),
        found=tuple(_found(noise, random, percent, reports) for percent in FOUND_SPREADS_PERCENT),
    )


def _found(noise: Noise, random: Generator, spread_percent: float, reports: int) -> Rate:
    """Verdicts "faster" with `SCENARIOS` comparisons; one scenario of each report is simulated.

    It is alone in its round, so the two sides are half a round apart: harder than in a real report.
    """
    left, right = noise(random, reports, 1)
    scale = spread_percent / 100 / _deviation(noise)
    return _rate(
        paired_ratio(CHANGE * np.exp(a * scale), np.exp(b * scale), SCENARIOS).verdict == "faster"
        for a, b in zip(left[:, 0], right[:, 0], strict=True)
    )


def _deviation(noise: Noise) -> float:
    """Root of the mean within-run variance, so that a run shows the stated spread."""
    left, _ = noise(np.random.default_rng(0), 20_000, 1)
    return float(left.var(axis=2, ddof=1).mean() ** 0.5)


# --- limits -------------------------------------------------------------------------------------


def _limits(seed: int) -> Iterator[tuple[str, Rate]]:
    """Cases that the promises do not cover, as rates of uncorrected false verdicts per scenario."""
    random = np.random.default_rng([seed, 100])

    def false(noise: Noise, ratio: Callable[[Floats, Floats], RatioEstimate]) -> Rate:
        left, right = noise(random, REPORTS, 1)
        spread = _spreads(random, REPORTS, 1)
        pairs = zip(np.exp(left * spread)[:, 0], np.exp(right * spread)[:, 0], strict=True)
        return _rate(_claims(ratio(a, b)) for a, b in pairs)

    def unlike(noise: Noise) -> Noise:
        def drawn(random: Generator, reports: int, scenarios: int) -> tuple[Floats, Floats]:
            left, right = noise(random, reports, scenarios)
            return left, right * _spreads(random, reports, scenarios) / 0.005

        return drawn

    yield "unpaired, independent rounds: normal", false(NOISES["normal"], unpaired_ratio)
    yield "unpaired, independent rounds: skewed", false(NOISES["skewed"], unpaired_ratio)
    yield "unpaired, independent rounds: bimodal", false(NOISES["bimodal"], unpaired_ratio)
    yield "unpaired, in batches on a walking host", false(_in_batches, unpaired_ratio)
    yield from _widened(random)
    yield "paired, each side walks for itself", false(_own_walks, paired_ratio)
    for name in ("normal", "skewed", "bimodal"):
        yield (
            f"paired, unlike spreads, equal medians: {name}",
            false(unlike(NOISES[name]), paired_ratio),
        )

    def median_misses(noise: Noise) -> Rate:
        left, _ = noise(random, REPORTS, 1)
        return _rate(
            not (of.low is not None and of.high is not None and of.low <= 1 <= of.high)
            for of in (summary(np.exp(0.01 * rounds)) for rounds in left[:, 0])
        )

    for name, noise in list(NOISES.items())[:3]:
        yield f"interval of one median misses it: {name}", median_misses(noise)


def _widened(random: Generator, reports: int = 500) -> Iterator[tuple[str, Rate]]:
    """Measurement in batches on a drifting host, with intervals widened by its drift."""
    left, right = _in_batches(random, reports, SCENARIOS)
    spread = _spreads(random, reports, SCENARIOS)
    one, all_ = [], []
    for ours, theirs in zip(np.exp(left * spread), np.exp(right * spread), strict=True):
        drift = statistics.drift([*ours, *theirs])
        one.append(_claims(unpaired_ratio(ours[0], theirs[0], drift=drift)))
        all_.append(
            any(
                _claims(unpaired_ratio(a, b, SCENARIOS, drift=drift))
                for a, b in zip(ours, theirs, strict=True)
            )
        )
    yield "the same, widened by the drift of the host", _rate(iter(one))
    yield f"the same, any of {SCENARIOS} scenarios after correction", _rate(iter(all_))


# --- real rounds --------------------------------------------------------------------------------


def real_rounds() -> dict[str, Floats]:
    """Series of 30 valid runs of December 2023 by configuration: arrays of figures x runs."""
    found: dict[str, list[list[float]]] = {}
    for row in measured(load_run(REAL_RUN)).series:
        for implementation, sample in row.samples.items():
            if sample.has_rounds and len(sample.valid) == ROUNDS:
                rounds = [value for _, value in sorted(sample.valid.items())]
                found.setdefault(implementation, []).append(rounds)
    return {implementation: np.array(figures) for implementation, figures in found.items()}


def real_halves(seed: int, splits: int = SPLITS) -> Iterator[tuple[str, Rate]]:
    """Random halves of one configuration's runs against each other: every verdict is false."""
    random = np.random.default_rng([seed, 200])
    configurations = list(real_rounds().values())
    halves = [
        (figures[:, order[: ROUNDS // 2]], figures[:, order[ROUNDS // 2 :]])
        for figures in configurations
        for order in (random.permutation(ROUNDS) for _ in range(splits))
    ]
    ratios: dict[str, Callable[..., RatioEstimate]] = {
        "paired": paired_ratio,
        "unpaired": unpaired_ratio,
    }
    for name, ratio in ratios.items():
        yield (
            f"random halves, {name}: one figure",
            _rate(
                _claims(ratio(left[i], right[i]))
                for left, right in halves
                for i in (random.integers(len(left)),)
            ),
        )
        yield (
            f"random halves, {name}: any figure of the configuration, corrected",
            _rate(
                any(_claims(ratio(a, b, len(left))) for a, b in zip(left, right, strict=True))
                for left, right in halves
            ),
        )
    every = [figure for figures in configurations for figure in figures]
    yield (
        "alternate runs, paired: each figure once",
        _rate(_claims(paired_ratio(figure[::2], figure[1::2])) for figure in every),
    )
    yield (
        "first half against second half, unpaired: each figure once",
        _rate(
            _claims(unpaired_ratio(figure[: ROUNDS // 2], figure[ROUNDS // 2 :]))
            for figure in every
        ),
    )


# --- the table ----------------------------------------------------------------------------------


def row(outcome: Outcome) -> str:
    rates = (
        outcome.false_per_scenario,
        outcome.false_per_report,
        outcome.coverage,
        *outcome.found,
    )
    return f"| {outcome.noise} | {outcome.seed} | " + " | ".join(str(r) for r in rates) + " |"


def lines_of(rates: Iterable[tuple[str, Rate]]) -> list[str]:
    return [
        "| case | rate | of |",
        "|---|---:|---:|",
        *(f"| {case} | {rate} | {rate.of:,} |" for case, rate in rates),
    ]


def table(outcomes: list[Outcome], sessions: Sequence[session_simulation.Counts]) -> str:
    found = [f"2% found at {spread:g}%" for spread in FOUND_SPREADS_PERCENT]
    columns = ["noise", "seed", "false verdicts", "false reports", "coverage", *found]
    lines = [
        "# Simulation of the verdicts",
        "",
        "Written by `python tools/benchmarks/simulation.py`; its docstring describes the model.",
        f"Each rate is in per cent of {REPORTS:,} cases, with its 99% binomial bounds.",
        "",
        "- **false verdicts**: how often a single comparison without correction has a verdict of "
        "faster or slower, although nothing differs; at most 5.",
        f"- **false reports**: how often a report of {SCENARIOS} scenarios has any such verdict "
        "after correction, although nothing differs; at most 5.",
        "- **coverage**: how often the 95% interval of a ratio contains the true ratio.",
        f"- **2% found**: how often the verdict is faster after correction, if one of {SCENARIOS} "
        f"scenarios has a true change of 2%, with {ROUNDS} rounds. The column names the relative "
        "standard deviation of each side; up to 1.5% the rate is at least 90.",
        "",
        "| " + " | ".join(columns) + " |",
        "|---|" + "---:|" * (len(columns) - 1),
        *(row(outcome) for outcome in outcomes),
        "",
        "## Limits",
        "",
        "The limits above do not apply to these cases. A rate is that of false verdicts in a "
        "single comparison without correction, unless the row states otherwise. The last three "
        "rows state how often the 95% interval of a single median does not contain the true "
        "median.",
        "",
        *lines_of(_limits(SEEDS[0])),
        "",
        "## The runs of December 2023 against themselves",
        "",
        "The rates are false verdicts in per cent; 5 are expected for a single figure. Each "
        "configuration was run 30 times in a row. Random halves of its runs do not differ more "
        "often than expected. Neither do alternate runs, which share the drift of the host. The "
        "first and the second half do not share the drift, and differ more often than expected.",
        "",
        *lines_of(real_halves(SEEDS[0])),
        "",
        *session_simulation.table(sessions),
    ]
    return "\n".join(lines)


def main() -> int:
    outcomes = [simulate(name, seed) for name in NOISES for seed in SEEDS]
    written = TABLE.with_suffix(".new")
    sessions = session_simulation.simulated()
    written.write_text(table(outcomes, sessions), encoding="utf-8")
    written.replace(TABLE)
    failures = [failure for outcome in outcomes for failure in outcome.failures()]
    failures += [f for counts in sessions if counts.setting.is_promised for f in counts.failures()]
    for failure in failures:
        print(f"not held: {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
