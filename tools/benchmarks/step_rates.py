"""Simulates how often the nightly test reports a step that is none, and how often it finds one.

    python tools/benchmarks/step_rates.py

writes step_rates.md beside it. A history has eight series, as the suite `nightly` has, of 60 nights
each. The noise of a night is 0.1%, three times the difference between rounds of one build: a change
of the source also changes the counts of code that it does not touch.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tlsperf.analysis.steps import RATE, steps

SERIES: Final = 8
NIGHTS: Final = 60
LEVEL: Final = 1e6
NOISE: Final = 0.001
ROUNDS: Final = 0.0003
"""The difference between rounds of one build of rustls (callgrind.md)."""
HISTORIES: Final = 100
STEP: Final = 30
"""The first night with the new level."""

Floats = NDArray[np.float64]


class Noise(NamedTuple):
    """The difference between nights without a step."""

    name: str
    tails: int | None = None
    """Degrees of freedom of Student's t; None for normal noise."""
    common: float = 0.0
    """A part that all series of a night share, as many times their own."""
    walks: bool = False
    """Whether each night's change stays, so that counts move away from their first level."""
    loud: float = 1.0
    """The noise of the first series, as many times that of the others."""


NORMAL: Final = Noise("normal")
HEAVY: Final = Noise("heavy tails (t, 4 degrees)", tails=4)
STAYS: Final = Noise("heavy tails, changes that stay", tails=4, walks=True)
HELD: Final = (
    NORMAL,
    HEAVY,
    Noise("normal, half of it shared by all series", common=1.0),
    Noise("heavy tails, half of it shared", tails=4, common=1.0),
    Noise("normal, changes that stay", walks=True),
    STAYS,
    Noise("normal, five times as much in one series", loud=5.0),
    Noise("heavy tails, five times as much in one series", tails=4, loud=5.0),
)
"""Noise for which the rate is promised."""

NOT_HELD: Final = (Noise("heavier tails (t, 3 degrees), changes that stay", tails=3, walks=True),)


def nights(seed: int, noise: Noise, size: float = NOISE) -> Floats:
    """Counts without a step: series by nights, with noise of a `size` as a logarithm."""
    generator = np.random.default_rng(seed)

    def drawn(*shape: int) -> Floats:
        if noise.tails is None:
            return generator.standard_normal(shape)
        return generator.standard_t(noise.tails, shape)

    each = drawn(SERIES, NIGHTS) + noise.common * drawn(1, NIGHTS)
    each[0] *= noise.loud
    logs = np.cumsum(each, axis=1) if noise.walks else each
    return LEVEL * np.exp(size * logs)


def alarms(noise: Noise, histories: int) -> float:
    """The share of nights with an alarm in any series."""
    counted = [
        len({step.night for step in steps(nights(seed, noise).tolist()).steps})
        for seed in range(histories)
    ]
    return sum(counted) / (histories * NIGHTS)


def share_found(noise: Noise, factor: float, histories: int, size: float = NOISE) -> float:
    """The share of histories that find a step by `factor` in one series."""
    found = 0
    for seed in range(histories):
        values = nights(seed, noise, size)
        values[2, STEP:] *= factor
        found += any((s.series, s.night) == (2, STEP) for s in steps(values.tolist()).steps)
    return found / histories


def table() -> str:
    """The text of step_rates.md."""
    lines = [
        "# Rates of false and of found steps",
        "",
        "Written by `python tools/benchmarks/step_rates.py`; its docstring describes the model.",
        f"Each rate is from {HISTORIES} histories of {NIGHTS} nights with {SERIES} series.",
        "",
        "| noise of 0.1% | nights with a false alarm | promised |",
        "|---|---:|---:|",
        *(f"| {n.name} | {alarms(n, HISTORIES):.2%} | {RATE:.0%} |" for n in HELD),
        *(f"| {n.name} | {alarms(n, HISTORIES):.2%} | – |" for n in NOT_HELD),
        "",
        "| step in one of eight series | noise | found |",
        "|---|---|---:|",
    ]
    for percent in (0.5, 1, 2, 5):
        for size in (ROUNDS, NOISE):
            for noise in (NORMAL, STAYS):
                found = share_found(noise, 1 + percent / 100, HISTORIES, size)
                lines.append(f"| {percent}% | {size:.2%}, {noise.name} | {found:.0%} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    Path(__file__).with_suffix(".md").write_text(table(), encoding="utf-8")
