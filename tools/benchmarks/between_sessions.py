"""Spread between sessions, which widens the intervals of figures from one session.

    python tools/benchmarks/between_sessions.py [run …]

Runs of the same implementations and scenarios on one host are taken as sessions; a run with at
least five sessions contributes each of them. Without arguments it uses the ten runs of 21 November
2026. For each kind of figure it prints the standard deviation between sessions of a median and of
the ratio of two implementations (`DEFAULT_SPREADS`, or `[between_sessions]` of
data/hosts/<id>.toml). It also prints the share of pairs of medians that are outside each other's
interval, before and after widening.

A spread is the variance over the sessions minus the variance that the rounds within each explain.
For whole runs, the latter comes from their intervals, taken as normal (for ratios, those of a
single comparison). For the few rounds of a session it comes from their median absolute deviation,
which one disturbed round does not change. With few runs, variances are averaged with their degrees
of freedom as weights. `other` is all figures on one thread together.
"""

from __future__ import annotations

import math
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from tlsperf.analysis.ratios import common_rounds
from tlsperf.analysis.series import MeasuredRun, measured
from tlsperf.analysis.sessions import FEWEST_SESSIONS, another_run_by_spread, kind_of
from tlsperf.analysis.statistics import normal_quantile, paired_ratio, summary
from tlsperf.load.run import load_run

RUNS: Final = Path(__file__).parents[2] / "data" / "runs"
OF_ONE_DAY: Final = (
    *("2026-11-21-configurations-vm", "2026-11-21-history-vm", "2026-11-21-instructions-vm"),
    *("2026-11-21-latency-vm", "2026-11-21-libraries-vm", "2026-11-21-memory-vm"),
    *("2026-11-21-post-quantum-vm", "2026-11-21-providers-vm", "2026-11-21-standard-vm"),
    "2026-11-21-threads-vm",
)
FEWEST_ROUNDS: Final = 6


MEDIAN: Final = math.pi / 2
HODGES_LEHMANN: Final = math.pi / 3
"""Variance of the estimate over that of the mean, for normal values."""

_NORMAL: Final = 1.4826
"""Ratio of standard deviation to median absolute deviation, for normal values."""


class Estimate(NamedTuple):
    """A median or a ratio of one session, with the 95% interval from its own rounds."""

    value: float
    low: float
    high: float
    variance: float
    """Variance of its logarithm that the rounds explain."""


def _of_run(value: float, low: float, high: float) -> Estimate:
    """An estimate with the variance that follows from its interval."""
    return Estimate(value, low, high, (math.log(high / low) / 2 / normal_quantile()) ** 2)


def _of_session(
    value: float, low: float, high: float, rounds: Sequence[float], efficiency: float
) -> Estimate:
    """An estimate with the variance that follows from the deviations of its rounds."""
    logs = np.log(rounds)
    deviation = _NORMAL * float(np.median(np.abs(logs - np.median(logs))))
    return Estimate(value, low, high, efficiency * deviation**2 / len(rounds))


Same = dict[str, list[list[Estimate]]]
"""By kind: a list of figures, each with one estimate for each session."""


def _medians(run: MeasuredRun) -> Iterator[tuple[str, object, Estimate]]:
    for row in run.series:
        for implementation, sample in row.samples.items():
            if row.is_part or row.definition.is_count or not (sample.counts and sample.has_rounds):
                continue
            sessions = list(sample.sessions.values())
            several = len(sessions) >= FEWEST_SESSIONS
            for rounds in sessions if several else [sample.rounds]:
                of = summary(rounds)
                if of.low is None or of.high is None:
                    continue
                interval = of.median, of.low, of.high
                found = _of_session(*interval, rounds, MEDIAN) if several else _of_run(*interval)
                yield kind_of(row.scenario), (implementation, row.key), found


def _ratios(run: MeasuredRun) -> Iterator[tuple[str, object, Estimate]]:
    pairs = frozenset([run.id])
    for row in run.series:
        if row.is_part or row.definition.is_count:
            continue
        for a, b in combinations(sorted(row.samples), 2):
            left, right = row.samples[a], row.samples[b]
            common = common_rounds(left, right, pairs) if left.counts and right.counts else []
            numbers = {at.session for at in common}
            several = len(numbers) >= FEWEST_SESSIONS
            for number in sorted(numbers) if several else [None]:
                rounds = [at for at in common if number in (None, at.session)]
                if len(rounds) < FEWEST_ROUNDS or rounds[0].round is None:
                    continue
                ours, theirs = ([side.valid[at] for at in rounds] for side in (left, right))
                of = paired_ratio(ours, theirs)
                assert of.low is not None
                assert of.high is not None
                interval = of.value, of.low, of.high
                quotients = [x / y for x, y in zip(ours, theirs, strict=True)]
                found = (
                    _of_session(*interval, quotients, HODGES_LEHMANN)
                    if several
                    else _of_run(*interval)
                )
                yield kind_of(row.scenario), (a, b, row.key), found


def repeated(found: Iterator[tuple[str, object, Estimate]]) -> Same:
    """The figures of more than one session, by kind."""
    by_figure: defaultdict[tuple[str, object], list[Estimate]] = defaultdict(list)
    for kind, figure, estimate in found:
        by_figure[kind, figure].append(estimate)
    same: defaultdict[str, list[list[Estimate]]] = defaultdict(list)
    for (kind, _), estimates in by_figure.items():
        if len(estimates) > 1:
            same[kind].append(estimates)
    same["other"] = [e for kind, of in same.items() if kind != "threads" for e in of]
    return dict(same)


def spread_percent(figures: Sequence[Sequence[Estimate]]) -> float:
    """Standard deviation between sessions in per cent; 0 if the rounds explain all of it."""
    squares = explained = 0.0
    degrees = sum(len(estimates) - 1 for estimates in figures)
    for estimates in figures:
        logs = [math.log(e.value) for e in estimates]
        mean = sum(logs) / len(logs)
        squares += sum((x - mean) ** 2 for x in logs)
        explained += (len(logs) - 1) * sum(e.variance for e in estimates) / len(logs)
    return 100 * math.sqrt(max(squares - explained, 0) / degrees)


def outside(figures: Sequence[Sequence[Estimate]], spread: float) -> tuple[int, int]:
    """How many medians are outside the interval of another session, and the number of pairs.

    Each pair counts once: if the first median is outside the second one's interval.
    """
    count = of = 0
    for estimates in figures:
        for a, b in combinations(estimates, 2):
            low, high = b.low, b.high
            if spread:
                low, high = another_run_by_spread(b.value, b.low, b.high, 1, spread)
            count += not low <= a.value <= high
            of += 1
    return count, of


def spreads(runs: Sequence[MeasuredRun]) -> tuple[Same, Same]:
    """Medians and ratios that more than one session of the runs has."""
    return (
        repeated(item for run in runs for item in _medians(run)),
        repeated(item for run in runs for item in _ratios(run)),
    )


def text(runs: Sequence[MeasuredRun]) -> str:
    """The spreads as a Markdown table."""
    medians, ratios = spreads(runs)
    lines = [
        "| kind | medians | spread | outside | outside, widened | ratios | spread |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for kind in medians:
        found = spread_percent(medians[kind])
        shares = [
            f"{n} of {of} ({100 * n / of:.1f}%)"
            for n, of in (outside(medians[kind], s) for s in (0, found / 100))
        ]
        of_ratios = f"{spread_percent(ratios[kind]):.2f}%" if kind in ratios else "-"
        lines.append(
            f"| {kind} | {len(medians[kind])} | {found:.2f}% | {' | '.join(shares)} | "
            f"{len(ratios.get(kind, []))} | {of_ratios} |"
        )
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str]) -> int:
    folders = [RUNS / name for name in arguments or OF_ONE_DAY]
    print(text([measured(load_run(folder)) for folder in folders]), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
