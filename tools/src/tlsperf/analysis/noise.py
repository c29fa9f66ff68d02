"""The noise floor: how far two measurements of the same thing lie apart.

Three sources, from the best to the weakest. The same binary under two ids in one run is measured
as two libraries are, so it shows what their comparison would show if nothing differed. The rounds
of any run, taken alternately, are such a pair one round apart. Other runs of the same build on the
same host show what the pairs within a run cannot: what changes from day to day.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Final, NamedTuple

from tlsperf.analysis.ratios import as_ratio, median_ratio, paired_rounds_ratio
from tlsperf.analysis.series import MeasuredRun, Sample, Series, measured, row_names
from tlsperf.analysis.statistics import RatioEstimate, percentile_95
from tlsperf.contract.errors import UserError
from tlsperf.contract.results import Noise, NoiseRow
from tlsperf.contract.run import Implementation, Run
from tlsperf.contract.text import implementation_label
from tlsperf.load.run import load_run, read_runs

_BUILD: Final = tuple(
    f for f in Implementation.model_fields if f not in {"binary_sha256", "source", "note"}
)


class RoundPairs(NamedTuple):
    """Two series of the same implementation in the same row."""

    row: Series
    implementation: str
    left: Sequence[float]
    right: Sequence[float]


def same_binary_twice(run: MeasuredRun) -> Noise | None:
    """From implementations of one binary (equal checksums) in a run; None if there are none."""
    return _within(run, "same binary twice", duplicate_pairs(run))


def duplicate_pairs(run: MeasuredRun) -> list[RoundPairs]:
    """The rounds that two implementations of one binary have in common, row by row."""
    duplicates = [
        (a.id, b.id)
        for a, b in combinations(run.loaded.run.implementations, 2)
        if a.binary_sha256 is not None and a.binary_sha256 == b.binary_sha256
    ]
    pairs = []
    for row in _rows(run):
        for one, other in duplicates:
            left, right = (row.samples[i].valid if i in row.samples else {} for i in (one, other))
            common = [key for key in left if key in right]
            if common and run.loaded.rounds_are_pairs:
                ours, theirs = ([side[k] for k in common] for side in (left, right))
                pairs.append(RoundPairs(row, one, ours, theirs))
    return pairs


def alternate_rounds(run: MeasuredRun) -> Noise | None:
    """From the 1st, 3rd, 5th … round of each implementation against the 2nd, 4th, 6th …"""
    pairs = []
    for row in _rows(run):
        for implementation, sample in _in_order(run, row):
            rounds = sample.rounds if sample.has_rounds else []
            if len(rounds) > 1:
                half = len(rounds) // 2
                left, right = rounds[: 2 * half : 2], rounds[1 : 2 * half : 2]
                pairs.append(RoundPairs(row, implementation, left, right))
    return _within(run, "alternate rounds", pairs)


def other_runs(run: MeasuredRun, others: Sequence[MeasuredRun]) -> Noise | None:
    """From the medians of the same builds in other runs on the same host; None without any.

    Figures without rounds count: it is their distance that is of interest, and no verdict.
    """
    host = run.loaded.run.host_id
    there = [o for o in others if o.loaded.run.host_id == host and o.id != run.id]
    found: list[tuple[Series, str, RatioEstimate]] = []
    used = []
    for other in there:
        same = same_builds(run.loaded.run, other.loaded.run)
        before = {row.key: row for row in _rows(other)}
        for row in _rows(run):
            for implementation in same:
                left = row.samples.get(implementation)
                match = before.get(row.key)
                right = match.samples.get(implementation) if match else None
                if left and right and left.counts and right.counts:
                    note = f"median of this run over that of {other.id}"
                    estimate = median_ratio(left, right, row.metric, note)
                    found.append((row, implementation, estimate))
                    if other.id not in used:
                        used.append(other.id)
    if not found:
        return None
    floor = _floor([estimate for _, _, estimate in found])
    return Noise(
        source="other runs on this host",
        run=run.id,
        others=used,
        floor_percent=floor,
        comparisons=len(found),
        statement=f"The same builds in other runs on this host: 19 of 20 of {len(found)} medians "
        f"lie within {_per_cent(floor)} % of each other.",
        rows=_noise_rows(run, found),
    )


def noise_of(run: MeasuredRun, others: Sequence[MeasuredRun]) -> list[Noise]:
    """All that is known of a run's noise, from the best source to the weakest."""
    found = (same_binary_twice(run), alternate_rounds(run), other_runs(run, others))
    return [noise for noise in found if noise is not None]


def same_builds(run: Run, other: Run) -> list[str]:
    """Ids of the implementations that are one build in both runs, as far as they are recorded."""
    there = {i.id: i for i in other.implementations}
    return [
        i.id
        for i in run.implementations
        if i.id in there and all(getattr(i, f) == getattr(there[i.id], f) for f in _BUILD)
    ]


def earlier(of: Run, runs: Iterable[Run]) -> list[Run]:
    """Those of some runs that are older than a run, on its host, and share a build with it."""

    def when(run: Run) -> tuple[str, str, str]:
        return run.date.isoformat(), run.started.isoformat() if run.started else "", run.id

    return [
        run
        for run in sorted(runs, key=when)
        if run.host_id == of.host_id and when(run) < when(of) and same_builds(of, run)
    ]


def measure_noise(folder: Path) -> str:
    """What is known of the noise of the run in `folder`, for people to read.

    Raises UserError if neither rounds nor earlier runs show it.
    """
    run = measured(load_run(folder))
    beside = earlier(run.loaded.run, read_runs(folder.parent).values())
    others = [measured(load_run(folder.parent / other.id)) for other in beside]
    found = noise_of(run, others)
    if not found:
        raise UserError(
            f"run {run.id} has single figures, and no earlier run on {run.loaded.run.host_id} has "
            "one of its builds: nothing tells its noise; measure several rounds"
        )
    return noise_text(run, found)


def noise_text(run: MeasuredRun, found: Sequence[Noise]) -> str:
    """What `tlsperf noise` prints: each source's statement, and its rows as a Markdown table."""
    labels = {i.id: implementation_label(i) for i in run.loaded.run.implementations}
    blocks = []
    for noise in found:
        lines = [
            noise.statement,
            "",
            "| scenario | implementation | against itself |",
            "|---|---|---|",
        ]
        lines += [f"| {r.name} | {labels[r.implementation]} | {r.ratio.text} |" for r in noise.rows]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _rows(run: MeasuredRun) -> list[Series]:
    """Rows of one figure a round."""
    return [row for row in run.series if row.statistic == "value" and not row.is_part]


def _in_order(run: MeasuredRun, row: Series) -> list[tuple[str, Sample]]:
    """The samples of a row in the order of the run's implementations."""
    return [
        (i.id, row.samples[i.id]) for i in run.loaded.run.implementations if i.id in row.samples
    ]


def _within(run: MeasuredRun, source: str, pairs: Sequence[RoundPairs]) -> Noise | None:
    """Noise of pairs of rounds within a run, corrected for their number as a report is."""
    usable = [p for p in pairs if min(*p.left, *p.right) > 0]
    if not usable:
        return None
    found = [
        (
            p.row,
            p.implementation,
            paired_rounds_ratio(p.left, p.right, p.row.metric, len(usable)),
        )
        for p in usable
    ]
    floor = _floor([estimate for _, _, estimate in found])
    tested = [e.verdict for _, _, e in found if e.verdict != "too few rounds"]
    false = sum(verdict != "no difference shown" for verdict in tested)
    what = {
        "same binary twice": "The same binary twice in this run",
        "alternate rounds": "Odd rounds of this run against even ones",
    }[source]
    called = (
        f"{false or 'none'} of them would have been called faster or slower"
        if tested
        else "too few rounds for a verdict on any of them"
    )
    return Noise.model_validate(
        {
            "source": source,
            "run": run.id,
            "floor_percent": floor,
            "comparisons": len(found),
            "false_verdicts": false if tested else None,
            "statement": f"{what}: 19 of 20 of {len(found)} ratios lie within "
            f"{_per_cent(floor)} % of 1; {called}.",
            "rows": _noise_rows(run, found),
        }
    )


def _floor(estimates: Sequence[RatioEstimate]) -> float:
    """Per cent within which 95 % of the ratios are."""
    return round(100 * (percentile_95(estimate.value for estimate in estimates) - 1), 3)


def _per_cent(floor: float) -> str:
    """One decimal; of what is less, as with counts, three."""
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
