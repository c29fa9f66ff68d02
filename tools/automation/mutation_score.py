"""The common parts of the scores of `mutants.py` and `bench_mutants.py`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NoReturn

LEAST_PERCENT: Final = 90.0
"""The tests must notice at least this percentage of a file's mutants."""


class MutantsError(Exception):
    """A step that failed."""


def percent(noticed: int, mutants: int) -> float:
    """The noticed share in per cent, rounded down to one decimal; 100 without mutants."""
    return int(1000 * noticed / mutants) / 10 if mutants else 100.0


def below(name: str, noticed: int, mutants: int, before: tuple[int, int] | None) -> Iterator[str]:
    """A problem if fewer mutants are noticed than in `before` (noticed, mutants), or than
    required.
    """
    least = max(percent(*before) if before else 0.0, LEAST_PERCENT)
    now = percent(noticed, mutants)
    if now < least:
        yield f"{name}: found {now}% of {mutants} mutants noticed, expected at least {least}%"


def exit_code(problems: Sequence[str]) -> int:
    """Prints the problems; returns 1 if there are any, else 0."""
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


def run(main: Callable[[list[str]], int]) -> NoReturn:
    """Runs a program with the arguments of the command line, and exits with its exit code."""
    try:
        sys.exit(main(sys.argv[1:]))
    except MutantsError as error:
        print(f"mutants: {error}", file=sys.stderr)
        sys.exit(1)
