"""Simulates sessions: whether intervals cover another run, and verdicts are right. Part of
simulation.py.

A simulated page compares three implementations in 16 scenarios. The log of a rate is the sum of

- an effect of the session on a scenario, which all implementations share (the host);
- an effect of the session on one implementation in a scenario (the layout of its program);
- in one setting, equal effects of the session on all scenarios: of all implementations, and of one;
- a drift within the session, most of which all implementations share;
- the round's own noise, with the spreads of the 2023 runs.

No difference is too small for a verdict here: the floor of 2% would hide what is counted.

The standard deviations of the first two are drawn for each scenario, uniformly from 0.3 to 1%.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from tlsperf.analysis.sessions import (
    another_run,
    another_run_by_spread,
    fit_prior,
    log_medians,
    session_ratio,
)
from tlsperf.analysis.statistics import (
    ALPHA,
    RatioEstimate,
    hodges_lehmann,
    paired_ratio,
    percentile_95,
    summary,
)

Floats = NDArray[np.float64]
Draw = Callable[[Generator, tuple[int, ...]], Floats]

IMPLEMENTATIONS: Final = 3
SCENARIOS: Final = 16
SESSIONS: Final = 5
ROUNDS: Final = 6
COMPARISONS: Final = (SCENARIOS + 1) * (IMPLEMENTATIONS - 1)
"""Comparisons on a simulated page: of its rows, and of one more row that averages them."""
EFFECTS: Final = (0.003, 0.01)
SPREADS: Final = (0.0014, 0.0024, 0.0032, 0.0039, 0.0045, 0.0058, 0.0069, 0.0095, 0.0139, 0.0178)
CHANGE: Final = 1.03
PAGES: Final = 1000


def _normal(random: Generator, shape: tuple[int, ...]) -> Floats:
    return random.standard_normal(shape)


def _heavy(random: Generator, shape: tuple[int, ...]) -> Floats:
    return np.asarray(random.standard_t(3, shape) / 3**0.5)


def _slow(random: Generator, shape: tuple[int, ...]) -> Floats:
    """Noise that can only make a measurement slower; median 0."""
    return np.asarray(math.log(2) - random.standard_exponential(shape))


@dataclass(frozen=True)
class Setting:
    """The parameters of a simulation: noise of the first implementation and of the others."""

    name: str
    noise: Draw
    of_others: Draw
    drift: float = 0.0
    """Standard deviation of a linear drift over a session, relative to that of the noise."""
    effects: tuple[float, float] = EFFECTS
    together: tuple[float, float] = (0, 0)
    """Standard deviations of effects on all scenarios: of all implementations, of one."""
    is_promised: bool = True


SETTINGS: Final = (
    Setting("normal", _normal, _normal),
    Setting("heavy tails", _heavy, _heavy),
    Setting("slow tails", _slow, _slow),
    Setting("drifting", _normal, _normal, drift=1.0),
    Setting("slow tails against normal", _slow, _normal, is_promised=False),
    Setting("no effects between sessions", _normal, _normal, effects=(0, 0), is_promised=False),
    Setting("all effects of 1%", _normal, _normal, effects=(0.01, 0.01), is_promised=False),
    Setting("all rows move together", _normal, _normal, together=(0.02, 0.005), is_promised=False),
)


class Page:
    """The true spreads of a page; `run` simulates a measurement of it."""

    def __init__(self, setting: Setting, random: Generator) -> None:
        self.setting = setting
        self.random = random
        per_row = (1, SCENARIOS, 1, 1)
        self.host = random.uniform(*setting.effects, per_row)
        self.layout = random.uniform(*setting.effects, per_row)
        self.noise = random.choice(SPREADS, per_row)

    def run(self, sessions: int = SESSIONS, rounds: int = ROUNDS) -> Floats:
        """Simulated rates: array of implementations x scenarios x sessions x rounds."""
        random = self.random
        shape = (IMPLEMENTATIONS, SCENARIOS, sessions, rounds)
        first = self.setting.noise(random, (1, *shape[1:]))
        others = self.setting.of_others(random, (IMPLEMENTATIONS - 1, *shape[1:]))
        line = np.linspace(-1, 1, rounds) * 3**0.5 * random.choice([-1.0, 1.0], (1, 1, sessions, 1))
        own = np.linspace(-0.3, 0.3, rounds) * random.choice([-1.0, 1.0], (*shape[:3], 1))
        logs = (
            self.host * random.standard_normal((1, SCENARIOS, sessions, 1))
            + self.layout * random.standard_normal((*shape[:3], 1))
            + self.noise * self.setting.drift * (line + own)
            + self.noise * np.concatenate([first, others])
        )
        if any(self.setting.together):
            of_all, of_one = self.setting.together
            logs += of_all * random.standard_normal((1, 1, sessions, 1))
            logs += of_one * random.standard_normal((IMPLEMENTATIONS, 1, sessions, 1))
        return np.asarray(1000 * np.exp(logs))


def ratios(run: Floats, change: float = 1) -> list[RatioEstimate]:
    """All comparisons of a page with the first implementation; `change` applies to the
    first ratio.
    """
    logs = np.log(run[1:]) - np.log(run[:1])
    logs[0, 0] += math.log(change)
    means = logs.mean(axis=1, keepdims=True)
    of_rows, of_means = (
        [
            np.array([hodges_lehmann(rounds) for rounds in row])
            for row in part.reshape(-1, *part.shape[2:])
        ]
        for part in (logs, means)
    )
    floor = _floor([*of_rows])
    found = []
    for group in (of_rows, of_means):
        prior = fit_prior(group)
        found += [
            session_ratio(row, prior, SESSIONS * ROUNDS, COMPARISONS, floor=floor) for row in group
        ]
    return found


def _floor(rows: Sequence[Floats]) -> float:
    """The noise floor of a page: of ratios in other sessions, for the page's number of sessions."""
    differences = [
        math.exp(abs(row[i] - row[j])) for row in rows for i in range(len(row)) for j in range(i)
    ]
    return float(percentile_95(differences) ** (1 / math.sqrt(SESSIONS)))


def is_claim(estimate: RatioEstimate) -> bool:
    return estimate.verdict in ("faster", "slower")


@dataclass
class Counts:
    """Outcomes of one setting: pairs of a count and its total."""

    setting: Setting
    false_pages: tuple[int, int]
    covered: tuple[int, int]
    found: tuple[int, int]
    false_pages_of_one: tuple[int, int]
    covered_of_one: tuple[int, int]

    def failures(self) -> list[str]:
        """The promises that the setting breaks."""
        rate = {name: n / of for name, (n, of) in self._promised().items()}
        chance = 2.576 * math.sqrt(ALPHA * (1 - ALPHA) / self.false_pages[1])
        broken = ["false pages"] if rate["false pages"] > ALPHA + chance else []
        broken += [] if 0.93 <= rate["coverage"] <= 0.97 else ["coverage"]
        broken += [] if rate["3% found"] >= 0.9 else ["3% found"]
        return [f"{self.setting.name}: {name}" for name in broken]

    def _promised(self) -> dict[str, tuple[int, int]]:
        return {"false pages": self.false_pages, "coverage": self.covered, "3% found": self.found}

    def line(self) -> str:
        """The setting's line of the table, in per cent."""
        values = (
            self.false_pages,
            self.covered,
            self.found,
            self.false_pages_of_one,
            self.covered_of_one,
        )
        cells = " | ".join(f"{100 * n / of:.1f}" for n, of in values)
        return f"| {self.setting.name} | {cells} |"


def simulate(setting: Setting, pages: int = PAGES) -> Counts:
    """All rates of one setting."""
    random = np.random.default_rng([7, SETTINGS.index(setting)])
    false = found = covered = cells = false_of_one = covered_of_one = 0
    for _ in range(pages):
        page = Page(setting, random)
        run, other = page.run(), page.run()
        false += any(map(is_claim, ratios(run)))
        found += ratios(run, CHANGE)[0].verdict == "faster"
        for inside in _covered(run, other):
            covered += inside
            cells += 1
        one, another = (page.run(1, SESSIONS * ROUNDS) for _ in range(2))
        false_of_one += any(map(is_claim, _ratios_of_one(one, setting)))
        covered_of_one += sum(_covered_of_one(one, another, setting))
    return Counts(
        setting,
        (false, pages),
        (covered, cells),
        (found, pages),
        (false_of_one, pages),
        (covered_of_one, cells),
    )


def _covered(run: Floats, other: Floats) -> Iterator[bool]:
    """For each figure, whether the other run's median is in its interval."""
    figures = [(run[i, s], other[i, s]) for i in range(IMPLEMENTATIONS) for s in range(SCENARIOS)]
    prior = fit_prior([log_medians(mine) for mine, _ in figures])
    for mine, theirs in figures:
        low, high = another_run(float(np.median(mine)), log_medians(mine), prior)
        yield low <= float(np.median(theirs)) <= high


def _root_mean_square(effects: tuple[float, float]) -> float:
    low, high = effects
    return math.sqrt((low**2 + low * high + high**2) / 3)


def _covered_of_one(run: Floats, other: Floats, setting: Setting) -> Iterator[bool]:
    """The same for runs of one session, with the true average spread between sessions."""
    spread = math.sqrt(2) * _root_mean_square(setting.effects)
    for mine, theirs in zip(
        run.reshape(-1, SESSIONS * ROUNDS), other.reshape(-1, SESSIONS * ROUNDS), strict=True
    ):
        of = summary(mine)
        assert of.low is not None
        assert of.high is not None
        low, high = another_run_by_spread(of.median, of.low, of.high, spread)
        yield low <= float(np.median(theirs)) <= high


def _ratios_of_one(run: Floats, setting: Setting) -> Iterator[RatioEstimate]:
    """All comparisons of a page of one session, in which only the session differs."""
    spread = math.sqrt(2) * _root_mean_square(setting.effects)
    rows = run.reshape(IMPLEMENTATIONS, SCENARIOS, -1)
    for other in rows[1:]:
        for ours, theirs in zip(other, rows[0], strict=True):
            yield paired_ratio(ours, theirs, COMPARISONS, spread=spread, floor=1)
