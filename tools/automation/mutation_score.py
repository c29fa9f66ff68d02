"""What the scores of `mutants.py` and `bench_mutants.py` have in common."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

LEAST_PERCENT: Final = 90.0
"""Share of the mutants of a file that its tests must notice."""


def percent(noticed: int, mutants: int) -> float:
    """The score, which is never rounded up."""
    return int(1000 * noticed / mutants) / 10 if mutants else 100.0


def below(name: str, noticed: int, mutants: int, before: tuple[int, int] | None) -> Iterator[str]:
    """A problem if fewer mutants are noticed than `before` (noticed, mutants), or than must be."""
    least = max(percent(*before) if before else 0.0, LEAST_PERCENT)
    now = percent(noticed, mutants)
    if now < least:
        yield f"{name}: found {now}% of {mutants} mutants noticed, expected at least {least}%"
