"""Simulates how often verdicts are right: prints the tables of simulation.md, in about five minutes.

    python tools/benchmarks/simulation.py

A simulated report is two implementations measured in 16 scenarios over 30 rounds, in the order of
`tlsbench`: scenarios follow each other within a round, and within a scenario the two
implementations are measured close in time, in an order shuffled for each round. Noise is relative
and in logs; its standard deviation is drawn for each scenario from those of the 2023 runs
(`SPREADS_PERCENT`). "Nothing differs" means the same distribution on both sides; a true difference
shifts one side.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy import stats

import session_simulation
from session_simulation import is_claim
from tlsperf.analysis import statistics
from tlsperf.analysis.series import measured
from tlsperf.analysis.statistics import ALPHA, RatioEstimate, Summary, summary
from tlsperf.load.run import load_run

Floats = NDArray[np.float64]

paired_ratio = partial(statistics.paired_ratio, floor=1)
unpaired_ratio = partial(statistics.unpaired_ratio, floor=1)
"""No difference is too small for a verdict here: the floor of 2% would hide what is counted."""

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


INDEPENDENT: Final = ("normal", "skewed", "bimodal")


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


def _covers(estimate: RatioEstimate | Summary, truth: float) -> bool:
    low, high = estimate.low, estimate.high
    return low is not None and high is not None and low <= truth <= high


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
            is_claim(paired_ratio(left[i, 0], right[i, 0])) for i in range(reports)
        ),
        false_per_report=_rate(
            any(is_claim(paired_ratio(*pair, SCENARIOS)) for pair in zip(*report, strict=True))
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


def _unlike(noise: Noise) -> Noise:
    """The noise with another spread on the right."""

    def drawn(random: Generator, reports: int, scenarios: int) -> tuple[Floats, Floats]:
        left, right = noise(random, reports, scenarios)
        return left, right * _spreads(random, reports, scenarios) / 0.005

    return drawn


LIMITS: Final[dict[str, tuple[Noise, Callable[[Floats, Floats], RatioEstimate]]]] = {
    **{f"unpaired, independent rounds: {n}": (NOISES[n], unpaired_ratio) for n in INDEPENDENT},
    "unpaired, in batches on a walking host": (_in_batches, unpaired_ratio),
    "paired, each side walks for itself": (_own_walks, paired_ratio),
    **{
        f"paired, unlike spreads, equal medians: {n}": (_unlike(NOISES[n]), paired_ratio)
        for n in INDEPENDENT
    },
}
"""Cases that the promises do not cover."""


def _limits(seed: int) -> Iterator[tuple[str, Rate]]:
    """Rates of uncorrected false verdicts, and of intervals of one median that miss it."""
    random = np.random.default_rng([seed, 100])
    for case, (noise, ratio) in LIMITS.items():
        left, right = noise(random, REPORTS, 1)
        spread = _spreads(random, REPORTS, 1)
        pairs = zip(np.exp(left * spread)[:, 0], np.exp(right * spread)[:, 0], strict=True)
        yield case, _rate(is_claim(ratio(ours, theirs)) for ours, theirs in pairs)
        if noise is _in_batches:
            yield from _widened(random)
    for name in INDEPENDENT:
        left, _ = NOISES[name](random, REPORTS, 1)
        medians = (summary(np.exp(0.01 * rounds)) for rounds in left[:, 0])
        misses = _rate(not _covers(of, 1) for of in medians)
        yield f"interval of one median misses it: {name}", misses


def _widened(random: Generator, reports: int = 500) -> Iterator[tuple[str, Rate]]:
    """Measurement in batches on a drifting host, with intervals widened by its drift."""
    left, right = _in_batches(random, reports, SCENARIOS)
    spread = _spreads(random, reports, SCENARIOS)
    one, all_ = [], []
    for ours, theirs in zip(np.exp(left * spread), np.exp(right * spread), strict=True):
        drift = statistics.drift([*ours, *theirs])
        one.append(is_claim(unpaired_ratio(ours[0], theirs[0], drift=drift)))
        all_.append(
            any(
                is_claim(unpaired_ratio(a, b, SCENARIOS, drift=drift))
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
    half = ROUNDS // 2
    configurations = list(real_rounds().values())
    halves = [
        (figures[:, order[:half]], figures[:, order[half:]])
        for figures in configurations
        for order in (random.permutation(ROUNDS) for _ in range(splits))
    ]
    for name, ratio in (("paired", paired_ratio), ("unpaired", unpaired_ratio)):
        one = (random.integers(len(left)) for left, _ in halves)
        of_one = (ratio(left[i], right[i]) for (left, right), i in zip(halves, one, strict=True))
        yield f"random halves, {name}: one figure", _rate(map(is_claim, of_one))
        of_any = (
            any(is_claim(ratio(a, b, len(left))) for a, b in zip(left, right, strict=True))
            for left, right in halves
        )
        yield f"random halves, {name}: any figure of the configuration, corrected", _rate(of_any)
    every = [figure for figures in configurations for figure in figures]
    alternate = (paired_ratio(figure[::2], figure[1::2]) for figure in every)
    yield "alternate runs, paired: each figure once", _rate(map(is_claim, alternate))
    in_order = (unpaired_ratio(figure[:half], figure[half:]) for figure in every)
    case = "first half against second half, unpaired: each figure once"
    yield case, _rate(map(is_claim, in_order))


# --- the tables ---------------------------------------------------------------------------------


def row(outcome: Outcome) -> str:
    rates = (
        outcome.false_per_scenario,
        outcome.false_per_report,
        outcome.coverage,
        *outcome.found,
    )
    return f"| {outcome.noise} | {outcome.seed} | " + " | ".join(str(r) for r in rates) + " |"


def main() -> int:
    failures: list[str] = []
    for name in NOISES:
        for seed in SEEDS:
            outcome = simulate(name, seed)
            failures += outcome.failures()
            print(row(outcome), flush=True)
    for cases in (_limits, real_halves):
        print()
        for case, rate in cases(SEEDS[0]):
            print(f"| {case} | {rate} | {rate.of:,} |", flush=True)
    print()
    for setting in session_simulation.SETTINGS:
        counts = session_simulation.simulate(setting)
        failures += counts.failures() if setting.is_promised else []
        print(counts.line(), flush=True)
    for failure in failures:
        print(f"not held: {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
