"""The noise floor: how far two measurements of the same thing differ.

There are three sources. A/A: the same binary under two ids in one run, or else the odd rounds of a
run against its even ones, compared like two libraries. Another layout: sessions of the run whose
programs were linked differently. Other sessions: sessions of the same programs (by sha256), in this
run or an earlier one on the same host. They show noise that pairs of rounds cannot show.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Final, NamedTuple

from tlsperf.analysis.conditions import same_host
from tlsperf.analysis.ratios import as_ratio, logs_by_session, paired_rounds_ratio
from tlsperf.analysis.series import Key, MeasuredRun, Series, figure, measured, row_names
from tlsperf.analysis.statistics import RatioEstimate, percentile_95, untested_ratio
from tlsperf.contract.errors import UserError
from tlsperf.contract.record import Identifier
from tlsperf.contract.results import Noise, NoiseRow, NoiseSource
from tlsperf.contract.run import Run
from tlsperf.contract.text import implementation_label
from tlsperf.load.damage import readable
from tlsperf.load.run import load_run, read_runs


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

    run: MeasuredRun
    number: int
    programs: Mapping[Identifier, str | None]
    """Their sha256; None or absent if it is not recorded."""
    medians: Mapping[tuple[Key, Identifier], float]


def another_layout(run: MeasuredRun) -> Noise:
    """Noise from the sessions of a run whose programs were linked differently."""
    return _between(run, "another layout", _sessions(run))


def other_sessions(run: MeasuredRun, others: Sequence[MeasuredRun]) -> Noise:
    """Noise from sessions of the same programs, in this run and in others on the same host.

    Figures without rounds count, because only their distance is used, not a verdict.
    """
    there = [o for o in others if o.id != run.id and same_host(o.loaded.run, run.loaded.run)]
    sessions = [session for one in (run, *there) for session in _sessions(one)]
    return _between(run, "other sessions", sessions)


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
        _Session(run, number, _programs(run.loaded.run, number), medians[number])
        for number in sorted(medians)
    ]


def _programs(run: Run, session: int) -> Mapping[Identifier, str | None]:
    layout = next((of.layout for of in run.sessions if of.number == session), 0)
    for linked in run.layouts:
        if linked.number == layout:
            return dict(linked.programs)
    return {of.id: of.binary_sha256 for of in run.implementations}


def _between(run: MeasuredRun, source: NoiseSource, sessions: Sequence[_Session]) -> Noise:
    """Noise from pairs of sessions: medians of one implementation, and ratios of two of them."""
    same_program = source == "other sessions"
    runs = dict.fromkeys(session.run for session in sessions)
    rows = {of: {row.key: row for row in _rows(of)} for of in runs}

    @cache
    def logs(
        of: MeasuredRun, key: Key, one: Identifier, other: Identifier
    ) -> Mapping[tuple[Identifier, int], float]:
        samples = rows[of][key].samples
        pairs = frozenset([of.id] if of.loaded.rounds_are_pairs else [])
        return logs_by_session(samples[one], samples[other], pairs)

    medians: dict[tuple[Key, Identifier], list[float]] = {}
    ratios: list[float] = []
    used: dict[Identifier, None] = {}
    for a, b in combinations(sessions, 2):
        if run not in (a.run, b.run):
            continue
        reference: dict[Key, Identifier] = {}
        for (key, i), median in a.medians.items():
            there = b.medians.get((key, i))
            if there is None or _same_program(a, b, i) is not same_program:
                continue
            medians.setdefault((key, i), []).append(median / there)
            used |= {of.run.id: None for of in (a, b) if of.run is not run}
            against = reference.setdefault(key, i)
            if against != i:
                ours, theirs = (
                    logs(of.run, key, i, against).get((of.run.id, of.number)) for of in (a, b)
                )
                if ours is not None and theirs is not None:
                    ratios.append(math.exp(ours - theirs))
    if not medians:
        statement = f"{source.capitalize()}: not measured, because {_WHY_NOT[source]}."
        return Noise(source=source, run=run.id, comparisons=0, statement=statement, rows=[])
    floor = _percent(ratio for found in medians.values() for ratio in found)
    count = sum(map(len, medians.values()))
    own_sessions = sum(session.run is run for session in sessions)
    of_ratios = _percent(r ** (1 / math.sqrt(own_sessions)) for r in ratios) if ratios else None
    statement = f"{_WHAT[source]}: 95% of {count} pairs of medians are within {_per_cent(floor)}% of each other"
    if of_ratios is not None:
        statement += (
            f", and 95% of {len(ratios)} pairs of ratios of two implementations are within "
            f"{_per_cent(of_ratios)}%"
            + (f" for means of {own_sessions} sessions" if own_sessions > 1 else "")
        )
    farthest = {of: max(found, key=lambda r: abs(math.log(r))) for of, found in medians.items()}
    return Noise(
        source=source,
        run=run.id,
        others=list(used),
        floor_percent=floor,
        ratio_percent=of_ratios,
        comparisons=count,
        statement=f"{statement}.",
        rows=_noise_rows(
            run,
            [
                (rows[run][key], implementation, untested_ratio(ratio, 1, _FARTHEST))
                for (key, implementation), ratio in farthest.items()
            ],
        ),
    )


_FARTHEST: Final = "the two medians that are the farthest apart"
_WHAT: Final = {
    "same binary twice": "The same binary twice in this run",
    "alternate rounds": "Odd rounds of this run against even ones",
    "another layout": "Another layout of the same build",
    "other sessions": "Other sessions of the same programs on this host",
}
"""What statements say of each source."""

_WHY_NOT: Final = {
    "another layout": "each program of this run has only one",
    "other sessions": "no other session of these programs, in this run or an earlier one on this "
    "host, has one of these rows",
}


def _same_program(a: _Session, b: _Session, implementation: Identifier) -> bool | None:
    """Whether both sessions ran the same program; None if it is not recorded."""
    one, other = (session.programs.get(implementation) for session in (a, b))
    if one is None or other is None:
        return True if a.run is b.run and not a.run.loaded.run.layouts else None
    if one == other:
        return True
    return False if a.run is b.run else None


def noise_of(run: MeasuredRun, others: Sequence[MeasuredRun]) -> list[Noise]:
    """The noise of a run from up to three sources; empty without rounds and other sessions."""
    within = same_binary_twice(run) or alternate_rounds(run)
    found = [another_layout(run), other_sessions(run, others)]
    if within is None and not any(noise.comparisons for noise in found):
        return []
    return [*([within] if within else []), *found]


def verdict_floor(found: Iterable[Noise]) -> float:
    """The ratio that a verdict must exceed: the largest noise of ratios that the page prints."""
    percents = [
        noise.ratio_percent
        if noise.source in ("another layout", "other sessions")
        else noise.floor_percent
        for noise in found
    ]
    return 1 + max((p for p in percents if p is not None), default=0.0) / 100


def same_builds(run: Run, other: Run) -> list[str]:
    """Ids of the implementations whose program is the same file in both runs."""
    there = {i.id: i.binary_sha256 for i in other.implementations}
    return [
        i.id
        for i in run.implementations
        if i.binary_sha256 is not None and i.binary_sha256 == there.get(i.id)
    ]


def earlier(of: Run, runs: Iterable[Run]) -> list[Run]:
    """Runs on the same host that are older than `of` and share a program with it, by time."""
    return [
        run
        for run in sorted(runs, key=when)
        if same_host(run, of) and when(run) < when(of) and same_builds(of, run)
    ]


def when(run: Run) -> tuple[str, str, str]:
    """The order of runs: by date, and on one day by when measuring began."""
    return run.date.isoformat(), run.started.isoformat() if run.started else "", run.id


def measure_noise(folder: Path) -> str:
    """The noise of the run in `folder` as Markdown.

    Raises UserError if the run has no rounds and no earlier run helps.
    """
    run = measured(load_run(folder))
    beside = earlier(run.loaded.run, read_runs(folder.parent).values())
    others = readable(load_run, [folder.parent / other.id for other in beside])
    found = noise_of(run, list(map(measured, others)))
    if not found:
        raise UserError(
            f"run {run.id} has single figures, and no earlier run on {run.loaded.run.host_id} has "
            "one of its builds, so its noise is not known: measure several rounds"
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
