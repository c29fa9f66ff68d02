"""`tlsperf compare`: any two implementations of any runs, scenario by scenario.

The factor is right over left of the figures shown, whatever they measure; the verdict beside it
says whether right is better, from all rounds (`statistics`).
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final, Literal

from tlsperf.analysis.ratios import factor_text, ratio_text, sample_ratio
from tlsperf.analysis.series import (
    At,
    MeasuredRun,
    Rules,
    Sample,
    Series,
    figure,
    measured,
    rounded,
    row_names,
    widening,
)
from tlsperf.analysis.sessions import DEFAULT_SPREADS
from tlsperf.analysis.statistics import RatioEstimate, summary
from tlsperf.contract.comparisons import Estimator
from tlsperf.contract.errors import UserError
from tlsperf.contract.run import Implementation
from tlsperf.contract.text import ABSENT, implementation_label
from tlsperf.load.run import load_run, read_run

OutputFormat = Literal["markdown", "csv", "json"]

_NUMBER: Final = re.compile(rf"[0-9.]+x?|{ABSENT}")


@dataclass(frozen=True)
class ComparedSide:
    """One implementation of one run, with its rows."""

    run: MeasuredRun
    implementation: Implementation
    rows: tuple[Series, ...]

    @property
    def label(self) -> str:
        return implementation_label(self.implementation)

    def sample(self, row: Series) -> Sample:
        return row.samples[self.implementation.id]


@dataclass(frozen=True)
class RowPair:
    """One scenario on both sides."""

    left: Series
    right: Series
    name: str
    anchor: str


@dataclass(frozen=True)
class Comparison:
    """A row of the result. `factor` is None if a ratio must not use a figure."""

    name: str
    anchor: str
    unit: str
    left: float
    right: float
    factor: float | None
    estimate: RatioEstimate | None
    verdict: str
    note: str | None


# --- which two ---------------------------------------------------------------------------------


def find_side(reference: str, runs: Path) -> ComparedSide:
    """The implementation `[RUN/]IMPLEMENTATION` of the folder `runs`, loaded with its run.

    The run may be left out where only one has an implementation of that id.
    """
    run_id, _, identifier = reference.rpartition("/")
    folders = [runs / run_id] if run_id else sorted(p.parent for p in runs.glob("*/run.toml"))
    found = [f for f in folders if identifier in [i.id for i in read_run(f).implementations]]
    if not found:
        known = sorted({i.id for f in folders for i in read_run(f).implementations})
        where = run_id or f"any run in {runs}"
        raise UserError(f"{identifier} is not in {where}; there are: {', '.join(known)}")
    if len(found) > 1:
        choices = ", ".join(f"{folder.name}/{identifier}" for folder in found)
        raise UserError(f"{identifier} is in several runs; say which: {choices}")
    return side_of(measured(load_run(found[0])), identifier)


def side_of(run: MeasuredRun, identifier: str) -> ComparedSide:
    """One implementation of a measured run, with the rows that it has."""
    implementation = next(i for i in run.loaded.run.implementations if i.id == identifier)
    own = [row for row in run.series if identifier in row.samples and not row.is_part]
    return ComparedSide(run, implementation, tuple(own))


# --- row by row --------------------------------------------------------------------------------


def pairs_of(left: ComparedSide, right: ComparedSide) -> list[RowPair]:
    """Rows that both sides have, in the left one's order.

    Where two sources report different fields of what readers know by one name (the group of a
    transfer, say), the name decides.
    """
    exact = {row.key: row for row in right.rows}
    names, theirs = row_names(left.rows), row_names(right.rows)
    by_anchor = {(theirs[row.key][1], row.unit): row for row in right.rows}
    pairs = []
    for row in left.rows:
        name, anchor = names[row.key]
        other = exact.get(row.key) or by_anchor.get((anchor, row.unit))
        if other is not None:
            pairs.append(RowPair(row, other, name, anchor))
    return pairs


def matching(pairs: Iterable[RowPair], pattern: str | None) -> list[RowPair]:
    """Those with the pattern in their name or anchor; * and ? match anything."""
    if pattern is None:
        return list(pairs)
    wanted = f"*{pattern.lower()}*"
    return [
        p for p in pairs if fnmatchcase(p.name.lower(), wanted) or fnmatchcase(p.anchor, wanted)
    ]


def compare(
    left: ComparedSide,
    right: ComparedSide,
    pairs: Sequence[RowPair],
    estimator: Estimator = "median",
    include_invalid: bool = False,
) -> list[Comparison]:
    """Figures, factor and verdict of each pair; verdicts are corrected for their number."""
    usable = [p for p in pairs if _counts(left, right, p, include_invalid)]
    tested = sum(_has_rounds(left, right, p) for p in usable)
    paired = left.run is right.run and left.run.loaded.rounds_are_pairs
    rules = Rules(
        pairs=frozenset([left.run.id] if paired else []),
        comparisons=max(tested, 1),
        drift=max(widening(side.rows, DEFAULT_SPREADS) for side in (left, right)),
    )
    rows = []
    for pair in pairs:
        ours, theirs = left.sample(pair.left), right.sample(pair.right)
        figures = [_figure(s, pair.left, estimator, include_invalid) for s in (ours, theirs)]
        note = _note(left, ours, right, theirs)
        factor, estimate, verdict = None, None, ABSENT
        if pair in usable:
            factor = figures[1] / figures[0]
            estimate = sample_ratio(
                _with_invalid(theirs) if include_invalid else theirs,
                _with_invalid(ours) if include_invalid else ours,
                pair.left,
                rules,
            )
            if estimate is not None:
                verdict = (
                    f"{estimate.verdict}: {estimate.note}"
                    if estimate.low is None
                    else ratio_text(estimate, pair.left.metric)
                )
        rows.append(
            Comparison(
                name=pair.name,
                anchor=pair.anchor,
                unit=pair.left.unit,
                left=figures[0],
                right=figures[1],
                factor=factor,
                estimate=estimate,
                verdict=verdict,
                note=note,
            )
        )
    return rows


def _counts(left: ComparedSide, right: ComparedSide, pair: RowPair, include_invalid: bool) -> bool:
    samples = [left.sample(pair.left), right.sample(pair.right)]
    if include_invalid:
        samples = [_with_invalid(sample) for sample in samples]
    return all(sample.counts for sample in samples)


def _has_rounds(left: ComparedSide, right: ComparedSide, pair: RowPair) -> bool:
    return left.sample(pair.left).has_rounds and right.sample(pair.right).has_rounds


def _with_invalid(sample: Sample) -> Sample:
    """The sample with what must not count counted as well, in rounds of no run."""
    together = dict(sample.valid)
    for number, value in enumerate(sample.invalid):
        together[At("", 1, -1 - number)] = value
    return Sample(together, [], [], sample.has_rounds, sample.is_maximum)


def _figure(sample: Sample, row: Series, estimator: Estimator, include_invalid: bool) -> float:
    """The figure to show: of what counts, or of what does not where there is nothing else."""
    values = list((_with_invalid(sample) if include_invalid else sample).valid.values())
    found = summary(values or sample.invalid, row.definition.better)
    return {
        "median": figure(values or sample.invalid, sample.is_maximum),
        "upper-median": found.upper_median,
        "best": found.best,
    }[estimator]


def _note(left: ComparedSide, ours: Sample, right: ComparedSide, theirs: Sample) -> str | None:
    notes = [
        f"{side.label}: {len(sample.invalid)} of {len(sample.invalid) + len(sample.valid)} "
        f"invalid, {'; '.join(sample.notes)}"
        for side, sample in ((left, ours), (right, theirs))
        if sample.invalid
    ]
    return " | ".join(notes) or None


# --- as text -----------------------------------------------------------------------------------


def number_text(value: float) -> str:
    """A figure as it was printed, without digits that only arithmetic gave it."""
    return str(rounded(value, 9))


def right_over_left(factor: float | None) -> str:
    """Right over left: 1.82x."""
    return ABSENT if factor is None else factor_text(factor)


def comparison_text(
    runs: Path,
    left: str,
    right: str,
    scenario: str | None,
    estimator: Estimator,
    include_invalid: bool,
    format_: OutputFormat,
) -> str:
    """The comparison of two implementations `[RUN/]IMPLEMENTATION` of the folder `runs`."""
    a, b = find_side(left, runs), find_side(right, runs)
    if a.run.id == b.run.id:
        b = side_of(a.run, b.implementation.id)
    pairs = pairs_of(a, b)
    chosen = matching(pairs, scenario)
    if not chosen:
        if not pairs:
            raise UserError(f"{left} and {right} have no scenario in common")
        names = "\n  ".join(pair.name for pair in pairs)
        raise UserError(f"--scenario {scenario}: none of\n  {names}")
    return text(a, b, compare(a, b, chosen, estimator, include_invalid), format_)


def text(
    left: ComparedSide, right: ComparedSide, rows: Sequence[Comparison], format_: OutputFormat
) -> str:
    """The rows as Markdown, CSV or JSON, with a line end at the end."""
    if format_ == "json":
        document = {
            "left": _described(left),
            "right": _described(right),
            "rows": [_row_object(row) for row in rows],
        }
        return json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    header = ["scenario", "unit", "left", "right", "factor", "verdict", "note"]
    if format_ == "markdown":
        header = ["Scenario", "Unit", left.label, right.label, "Factor", "Verdict", "Note"]
    unpaired = {r.estimate.note for r in rows if r.estimate and r.estimate.low is not None}
    cells = [
        [
            row.name,
            row.unit,
            number_text(row.left),
            number_text(row.right),
            right_over_left(row.factor),
            row.verdict,
            row.note or "",
        ]
        for row in rows
    ]
    if format_ == "csv":
        return csv_text([header, *cells])
    footnotes = [f"\nVerdicts are {note}.\n" for note in sorted(n for n in unpaired if n)]
    hosts = [side.run.loaded.run.host_id for side in (left, right)]
    if hosts[0] != hosts[1]:
        footnotes.append(f"\nMeasured on different hosts: {hosts[0]} and {hosts[1]}.\n")
    return markdown_text(header, cells) + "".join(footnotes)


def csv_text(rows: Iterable[Sequence[str]]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(rows)
    return buffer.getvalue()


def markdown_text(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; columns after the first that hold numbers are aligned right."""
    rows = list(rows)
    if not any(row[-1] for row in rows):  # nobody needs an empty column of notes
        header, rows = header[:-1], [row[:-1] for row in rows]
    right = [all(_NUMBER.fullmatch(row[at]) for row in rows) for at in range(len(header))]
    lines = [
        header,
        ["-:" if aligned else "-" for aligned in right],
        *([cell.replace("|", "\\|") for cell in row] for row in rows),
    ]
    return "".join("|" + "|".join(line) + "|\n" for line in lines)


def _described(side: ComparedSide) -> dict[str, str]:
    return {
        "run": side.run.id,
        "host": side.run.loaded.run.host_id,
        "implementation": side.implementation.id,
        "label": side.label,
    }


def _row_object(row: Comparison) -> dict[str, Any]:
    found: dict[str, Any] = {
        "scenario": row.name,
        "anchor": row.anchor,
        "unit": row.unit,
        "left": rounded(row.left, 9),
        "right": rounded(row.right, 9),
    }
    if row.factor is not None:
        found["factor"] = rounded(row.factor, 6)
    if row.estimate is not None:
        found["verdict"] = row.estimate.verdict
        found["paired"] = row.estimate.paired
        if row.estimate.low is not None and row.estimate.high is not None:
            found["interval"] = [rounded(row.estimate.low, 6), rounded(row.estimate.high, 6)]
    if row.note:
        found["note"] = row.note
    return found
