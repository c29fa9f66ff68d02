"""Compares two runs of the same programs on one host.

    python tools/benchmarks/two_runs.py RUN OTHER

Reports how many medians and ratios of each run are within the intervals of the other, and whether
a verdict of one run contradicts one of the other: faster in one, slower in the other. Both are ids
below data/runs. The exit code is 1 if fewer than 90% of the medians are within, or if a verdict
contradicts another.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Final, NamedTuple

from tlsperf.analysis.conditions import same_host
from tlsperf.analysis.intervals import Intervals
from tlsperf.analysis.noise import same_builds
from tlsperf.analysis.ratios import prior_of_ratios, sample_ratio, session_logs
from tlsperf.analysis.series import MeasuredRun, Rules, Series, measured, row_names
from tlsperf.analysis.sessions import Spreads, spreads_of
from tlsperf.analysis.statistics import RatioEstimate
from tlsperf.contract.errors import UserError
from tlsperf.contract.record import Identifier
from tlsperf.load.run import load_run, read_hosts
from tlsperf.report.tables import grouped

DATA: Final = Path(__file__).parents[2] / "data"
WITHIN: Final = 0.9


class Agreement(NamedTuple):
    """How far two runs of the same programs agree."""

    within: int
    medians: int
    """Checks in both directions: two for each median that both runs have."""
    outside: list[str]
    ratios_within: int
    ratios: int
    """Checks in both directions: two for each ratio that both runs have."""
    verdicts: int
    """Ratios with a verdict in both runs."""
    contradictions: list[str]

    @property
    def holds(self) -> bool:
        return self.within >= WITHIN * self.medians and not self.contradictions

    def text(self) -> str:
        share = 100 * self.within / self.medians if self.medians else 0
        lines = [
            f"{self.within} of {self.medians} medians ({share:.1f}%) are within the interval of "
            "the other run.",
            *(f"- outside: {name}" for name in self.outside),
            f"{self.ratios_within} of {self.ratios} ratios are within the interval of the other "
            "run.",
            f"{len(self.contradictions)} of {self.verdicts} verdicts contradict one of the other "
            "run.",
            *(f"- contradicts: {name}" for name in self.contradictions),
        ]
        return "\n".join(lines) + "\n"


class _Table(NamedTuple):
    """The rows of a table of one run, with the parameters of its intervals and ratios."""

    rows: dict[object, Series]
    intervals: Intervals
    rules: Rules


def agreement(run: MeasuredRun, other: MeasuredRun, spreads: Spreads) -> Agreement:
    """Compares two runs on one host. Raises UserError if host or programs differ."""
    if not same_host(run.loaded.run, other.loaded.run):
        raise UserError(f"{run.id} and {other.id} were not measured on one host in one state")
    builds = same_builds(run.loaded.run, other.loaded.run)
    if not builds:
        raise UserError(f"{run.id} and {other.id} have no program (sha256) in common")
    names = row_names(run.series)
    within = medians = ratios_within = ratios = verdicts = 0
    outside, contradictions = [], []
    for one, two in _tables(run, other, builds, spreads):
        for key, row in one.rows.items():
            theirs = two.rows.get(key)
            if theirs is None:
                continue
            for build in builds:
                if build not in row.samples or build not in theirs.samples:
                    continue
                name = f"{names[row.key][0]}, {build}"
                for side, there, against in ((one, theirs, row), (two, row, theirs)):
                    interval = side.intervals.of(against, against.samples[build])
                    if interval is None:
                        continue
                    low, high = interval
                    figure = there.samples[build].figure
                    medians += 1
                    within += low <= figure <= high
                    if not low <= figure <= high:
                        outside.append(f"{name}: {figure:g}, interval {low:g} to {high:g}")
        for (pair, mine), (_, yours) in zip(
            _ratios(one, two, builds), _ratios(two, one, builds), strict=True
        ):
            if mine is None or yours is None:
                continue
            for ratio, expected in ((mine, yours), (yours, mine)):
                if expected.low is not None and expected.high is not None:
                    ratios += 1
                    ratios_within += expected.low <= ratio.value <= expected.high
            if {mine.verdict, yours.verdict} <= {"faster", "slower"}:
                verdicts += 1
                if mine.verdict != yours.verdict:
                    contradictions.append(f"{pair}: {mine.verdict}, {yours.verdict}")
    return Agreement(within, medians, outside, ratios_within, ratios, verdicts, contradictions)


def _tables(
    run: MeasuredRun, other: MeasuredRun, builds: Sequence[Identifier], spreads: Spreads
) -> Iterator[tuple[_Table, _Table]]:
    """The tables that both runs have."""
    rows = [[r for r in side.series if not r.is_part] for side in (run, other)]
    ours, theirs = (grouped(of) for of in rows)
    tested = len(rows[0]) * len(builds) * (len(builds) - 1) // 2
    for key in ours:
        if key in theirs:
            one, two = (
                _Table(
                    {row.key: row for row in side[key]},
                    Intervals(side[key], spreads),
                    Rules(pairs=frozenset([of.id]), comparisons=max(tested, 1), spreads=spreads),
                )
                for side, of in ((ours, run), (theirs, other))
            )
            yield one, two


def _ratios(
    table: _Table, other: _Table, builds: Sequence[Identifier]
) -> Iterator[tuple[str, RatioEstimate | None]]:
    """The ratio of each two builds in each row that both tables have."""
    pairs = [
        (row, a, b)
        for key, row in sorted(table.rows.items(), key=lambda item: str(item[0]))
        if key in other.rows
        for a, b in combinations(builds, 2)
        if all(i in t.rows[key].samples for t in (table, other) for i in (a, b))
    ]
    usable = [(r, a, b) for r, a, b in pairs if r.samples[a].counts and r.samples[b].counts]
    prior = prior_of_ratios(
        session_logs(r.samples[a], r.samples[b], table.rules.pairs) for r, a, b in usable
    )
    for row, a, b in pairs:
        estimate = sample_ratio(row.samples[a], row.samples[b], row, table.rules, prior)
        yield f"{a} against {b} in {row.scenario.operation} ({row.unit})", estimate


def main(arguments: Sequence[str]) -> int:
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    one, two = (measured(load_run(DATA / "runs" / name)) for name in arguments)
    host = read_hosts(DATA / "hosts").get(one.loaded.run.host_id)
    try:
        found = agreement(one, two, spreads_of(host))
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    print(found.text(), end="")
    return 0 if found.holds else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
