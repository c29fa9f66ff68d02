"""The noise floor: how far two measurements of the same thing differ.

There are two sources. A/A: the same binary under two ids in one run, or else the odd rounds of a run
against its even ones, compared like two libraries. Another layout: sessions of the run whose
programs were linked differently. How far two runs differ is in `data/spreads.json`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Final, NamedTuple

from tlsperf.analysis.ratios import as_ratio, logs_by_session, paired_rounds_ratio
from tlsperf.analysis.series import Key, MeasuredRun, Series, figure, measured, row_names
from tlsperf.analysis.statistics import RatioEstimate, percentile_95, untested_ratio
from tlsperf.contract.errors import UserError
from tlsperf.contract.record import Identifier
from tlsperf.contract.results import Noise, NoiseRow, NoiseSource
from tlsperf.contract.run import Run
from tlsperf.contract.text import implementation_label
from tlsperf.load.run import load_run

_At = tuple[Identifier, int]
"""Run and session."""


class RoundPairs(NamedTuple):
    """Two series of the same implementation in the same row."""

    row: Series
    implementation: str
    left: Sequence[float]
    right: Sequence[float]


def same_binary_twice(run: MeasuredRun) -> Noise | None:
    """Noise from implementations of one binary and configuration in a run; None without any."""
    return _within(run, "same binary twice", duplicate_pairs(run))


def duplicate_pairs(run: MeasuredRun) -> list[RoundPairs]:
    """The common rounds of each two implementations that run one binary alike, by row."""
    if not run.loaded.rounds_are_pairs:
        return []
    duplicates = [
        (a.id, b.id) for a, b in combinations(run.loaded.run.implementations, 2) if a.runs_as(b)
    ]
    pairs = []
    for row in _rows(run):
        for one, other in duplicates:
            left, right = (row.samples[i].valid if i in row.samples else {} for i in (one, other))
            common = [key for key in left if key in right]
            if common:
                ours, theirs = ([side[k] for k in common] for side in (left, right))
                pairs.append(RoundPairs(row, one, ours, theirs))
    return pairs


def alternate_rounds(run: MeasuredRun) -> Noise | None:
    """Noise from the 1st, 3rd, 5th … round of each implementation against the 2nd, 4th, 6th …"""
    pairs = []
    for row in _rows(run):
        for implementation in (i.id for i in run.loaded.run.implementations):
            sample = row.samples.get(implementation)
            if sample and sample.has_rounds and len(sample.rounds) > 1:
                left, right = sample.rounds[:-1:2], sample.rounds[1::2]
                pairs.append(RoundPairs(row, implementation, left, right))
    return _within(run, "alternate rounds", pairs)


@dataclass(frozen=True, eq=False)
class _Session:
    """One session of a run: the program and the medians of each implementation in it."""

    number: int
    programs: Mapping[Identifier, str | None]
    """Their sha256; None or absent if it is not recorded."""
    medians: Mapping[tuple[Key, Identifier], float]


def _sessions(run: MeasuredRun) -> list[_Session]:
    medians: dict[int, dict[tuple[Key, Identifier], float]] = {
        at.session: {}
        for row in run.series
        for sample in row.samples.values()
        for at in sample.valid
    }
    for row in _rows(run):
        for implementation, sample in row.samples.items():
            for (_, number), rounds in sample.sessions.items() if sample.counts else ():
                medians[number][row.key, implementation] = figure(rounds)
    return [
        _Session(number, _programs(run.loaded.run, number), medians[number])
        for number in sorted(medians)
    ]


def _programs(run: Run, session: int) -> Mapping[Identifier, str | None]:
    layout = next((of.layout for of in run.sessions if of.number == session), 0)
    for linked in run.layouts:
        if linked.number == layout:
            return dict(linked.programs)
    return {of.id: of.binary_sha256 for of in run.implementations}


def another_layout(run: MeasuredRun) -> Noise:
    """Noise from pairs of sessions of a run whose programs were linked differently: medians of one
    implementation, and ratios of two of them.
    """
    rows = {row.key: row for row in _rows(run)}
    pairs = frozenset([run.id] if run.loaded.rounds_are_pairs else [])

    @cache
    def logs(key: Key, one: Identifier, other: Identifier) -> Mapping[_At, float]:
        return logs_by_session(rows[key].samples[one], rows[key].samples[other], pairs)

    medians: dict[tuple[Key, Identifier], list[float]] = {}
    ratios: list[float] = []
    sessions = _sessions(run)
    for a, b in combinations(sessions, 2):
        reference: dict[Key, Identifier] = {}
        for (key, i), median in a.medians.items():
            there = b.medians.get((key, i))
            if there is None or not _linked_apart(a, b, i):
                continue
            medians.setdefault((key, i), []).append(median / there)
            against = reference.setdefault(key, i)
            if against != i:
                ours, theirs = (logs(key, i, against).get((run.id, of.number)) for of in (a, b))
                if ours is not None and theirs is not None:
                    ratios.append(math.exp(ours - theirs))
    if not medians:
        statement = "Another layout: not measured, because each program of this run has only one."
        return Noise(
            source="another layout", run=run.id, comparisons=0, statement=statement, rows=[]
        )
    floor = _percent(ratio for found in medians.values() for ratio in found)
    count = sum(map(len, medians.values()))
    of_ratios = _percent(r ** (1 / math.sqrt(len(sessions))) for r in ratios) if ratios else None
    statement = (
        f"Another layout of the same build: 95% of {count} pairs of medians are within "
        f"{_per_cent(floor)}% of each other"
    )
    if of_ratios is not None:
        statement += (
            f", and 95% of {len(ratios)} pairs of ratios of two implementations are within "
            f"{_per_cent(of_ratios)}% for means of {len(sessions)} sessions"
        )
    farthest = {of: max(found, key=lambda r: abs(math.log(r))) for of, found in medians.items()}
    return Noise(
        source="another layout",
        run=run.id,
        floor_percent=floor,
        ratio_percent=of_ratios,
        comparisons=count,
        statement=f"{statement}.",
        rows=_noise_rows(
            run,
            [
                (rows[key], implementation, untested_ratio(ratio, 1, _FARTHEST))
                for (key, implementation), ratio in farthest.items()
            ],
        ),
    )


_FARTHEST: Final = "the two medians that are the farthest apart"
_WHAT: Final = {
    "same binary twice": "The same binary twice in this run",
    "alternate rounds": "Odd rounds of this run against even ones",
}
"""What statements say of A/A."""


def _linked_apart(a: _Session, b: _Session, implementation: Identifier) -> bool:
    """Whether two sessions are known to have run different programs of one implementation."""
    one, other = (session.programs.get(implementation) for session in (a, b))
    return one is not None and other is not None and one != other


def noise_of(run: MeasuredRun) -> list[Noise]:
    """The noise of a run from up to two sources; empty without rounds and layouts."""
    within = same_binary_twice(run) or alternate_rounds(run)
    layout = another_layout(run)
    if within is None and not layout.comparisons:
        return []
    return [*([within] if within else []), layout]


def verdict_floor(found: Iterable[Noise]) -> float:
    """The ratio that a verdict must exceed: the largest noise of ratios that the page prints."""
    percents = [
        noise.ratio_percent if noise.source == "another layout" else noise.floor_percent
        for noise in found
    ]
    return 1 + max((p for p in percents if p is not None), default=0.0) / 100


def measure_noise(folder: Path) -> str:
    """The noise of the run in `folder` as Markdown. Raises UserError if the run has no rounds."""
    run = measured(load_run(folder))
    found = noise_of(run)
    if not found:
        raise UserError(
            f"run {run.id} has single figures, so its noise is not known: measure several rounds"
        )
    return noise_text(run, found)


def noise_text(run: MeasuredRun, found: Sequence[Noise]) -> str:
    """The output of `tlsperf noise`: each source's statement, and its rows as a Markdown table."""
    labels = {i.id: implementation_label(i) for i in run.loaded.run.implementations}
    blocks = []
    for noise in found:
        if not noise.rows:
            blocks.append(noise.statement)
            continue
        head = ["| scenario | implementation | against itself |", "|---|---|---|"]
        lines = [noise.statement, "", *head]
        lines += [f"| {r.name} | {labels[r.implementation]} | {r.ratio.text} |" for r in noise.rows]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _rows(run: MeasuredRun) -> list[Series]:
    """The rows that have one figure in each round."""
    return [row for row in run.series if row.statistic == "value" and not row.is_part]


def _within(run: MeasuredRun, source: NoiseSource, pairs: Sequence[RoundPairs]) -> Noise | None:
    """Noise of pairs of rounds in a run; verdicts are corrected for their number, as in reports."""
    usable = [p for p in pairs if min(*p.left, *p.right) > 0]
    if not usable:
        return None
    found = [
        (of, implementation, paired_rounds_ratio(left, right, of.metric, len(usable)))
        for of, implementation, left, right in usable
    ]
    floor = _percent(estimate.value for _, _, estimate in found)
    tested = [e.verdict for _, _, e in found if e.verdict != "too few rounds"]
    false = sum(verdict != "no difference shown" for verdict in tested)
    called = (
        f"{false or 'none'} of them would have been called faster or slower"
        if tested
        else "too few rounds for a verdict on any of them"
    )
    return Noise(
        source=source,
        run=run.id,
        floor_percent=floor,
        comparisons=len(found),
        false_verdicts=false if tested else None,
        statement=f"{_WHAT[source]}: 95% of the {len(found)} ratios are within "
        f"{_per_cent(floor)}% of 1; {called}.",
        rows=_noise_rows(run, found),
    )


def _percent(ratios: Iterable[float]) -> float:
    """The percentage within which 95% of the ratios are."""
    return round(100 * (percentile_95(ratios) - 1), 3)


def _per_cent(floor: float) -> str:
    """One decimal; three for smaller values, as counts have them."""
    return f"{floor:.{1 if floor >= 0.1 else 3}f}"


def _noise_rows(
    run: MeasuredRun, found: Sequence[tuple[Series, str, RatioEstimate]]
) -> list[NoiseRow]:
    names = row_names(run.series)
    return [
        NoiseRow(
            anchor=names[row.key][1],
            name=names[row.key][0],
            implementation=implementation,
            ratio=as_ratio(estimate, row.metric),
        )
        for row, implementation, estimate in found
    ]
