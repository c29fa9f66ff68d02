"""`tlsperf compare`: any two implementations of any runs, scenario by scenario.

The factor is the right figure over the left one, for every metric. The verdict beside it says
whether the right side is better, from all rounds (`statistics`).
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

from tlsperf.analysis.diff import RowPair, comparisons, differences, row_pairs
from tlsperf.analysis.ratios import factor_text, ratio_text
from tlsperf.analysis.series import (
    At,
    MeasuredRun,
    Rules,
    Sample,
    Series,
    figure,
    hosts_of,
    measured,
    rounded,
    row_names,
    widening,
)
from tlsperf.analysis.sessions import DEFAULT_SPREADS
from tlsperf.analysis.statistics import RatioEstimate, summary
from tlsperf.contract.comparisons import Estimator
from tlsperf.contract.errors import UserError, alternatives
from tlsperf.contract.run import Implementation
from tlsperf.contract.text import ABSENT, implementation_label
from tlsperf.load.root import run_id
from tlsperf.load.run import load_run, read_run, read_runs, withdrawal

TextFormat = Literal["markdown", "csv", "json"]

_PART: Final = "each a phase of another row"
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
class Comparison:
    """A row of the result. `factor` is None if a figure does not count."""

    pair: RowPair
    left: float
    right: float
    factor: float | None
    estimate: RatioEstimate | None
    note: str | None

    @property
    def verdict(self) -> str:
        if self.estimate is None:
            return ABSENT
        if self.estimate.low is None or self.estimate.verdict == "not tested":
            return f"{self.estimate.verdict}: {self.estimate.note}"
        return ratio_text(self.estimate, self.pair.row.metric)


@dataclass(frozen=True)
class LeftOut:
    """A row that is not compared, and the reason."""

    name: str
    anchor: str
    unit: str
    why: str


# --- choice of the two sides -------------------------------------------------------------------


def find_side(reference: str, runs: Path) -> ComparedSide:
    """The implementation `[RUN/]IMPLEMENTATION` of the folder `runs`, loaded with its run.

    RUN may be omitted if only one run has an implementation with that id. Raises UserError.
    """
    run, _, identifier = reference.rpartition("/")
    named = {run_id(run): read_run(runs / run_id(run))} if run else read_runs(runs)
    folders = {runs / name: [i.id for i in of.implementations] for name, of in named.items()}
    found = [folder for folder, ids in folders.items() if identifier in ids]
    if not found:
        if note := next(filter(None, (withdrawal(of, identifier) for of in folders)), None):
            raise UserError(f"{reference!r} has no figures: {note.text}")
        known = sorted({identifier for ids in folders.values() for identifier in ids})
        where = run or f"any run in {runs}"
        raise UserError(
            f"{identifier!r} is not in {where}: expected {alternatives(identifier, known)}"
        )
    if len(found) > 1:
        choices = ", ".join(f"{folder.name}/{identifier}" for folder in found)
        raise UserError(f"{identifier} is in several runs: give one of {choices}")
    return side_of(measured(load_run(found[0])), identifier)


def side_of(run: MeasuredRun, identifier: str) -> ComparedSide:
    """One implementation of a measured run, with its rows."""
    implementation = next(i for i in run.loaded.run.implementations if i.id == identifier)
    return ComparedSide(
        run, implementation, tuple(row for row in run.series if identifier in row.samples)
    )


# --- row by row --------------------------------------------------------------------------------


def left_out(left: ComparedSide, right: ComparedSide, pairs: Iterable[RowPair]) -> list[LeftOut]:
    """The rows of both sides that are in no pair, with the reasons; parts of rows come last."""
    paired = {row.key for pair in pairs for row in (pair.row, pair.other)}
    found: dict[tuple[str, str], LeftOut] = {}
    for is_part in (False, True):
        for side, other in ((left, right), (right, left)):
            names, reasons = row_names(side.rows), _reasons(other)
            for row in side.rows:
                if row.is_part is not is_part or row.key in paired:
                    continue
                name, anchor = names[row.key]
                why = _PART if is_part else reasons(row, anchor)
                found.setdefault((anchor, row.unit), LeftOut(name, anchor, row.unit, why))
    return list(found.values())


def _reasons(side: ComparedSide) -> Callable[[Series, str], str]:
    """A function that says why a side has no counterpart of a row with an anchor."""
    names = row_names(side.rows)
    units = {names[row.key][1]: row.unit for row in side.rows if not row.is_part}
    gaps = {
        gap.scenario: gap.reason
        for gap in side.run.loaded.gaps
        if gap.implementation == side.implementation.id
    }

    def reason(row: Series, anchor: str) -> str:
        if row.scenario in gaps:
            return f"{side.label}: {gaps[row.scenario]}"
        if anchor in units:
            return f"{side.label} has it in {units[anchor]}"
        return f"{side.label} has no figure of it"

    return reason


_Named = TypeVar("_Named", RowPair, LeftOut)


def matching(pairs: Iterable[_Named], pattern: str | None) -> list[_Named]:
    """The entries with the pattern in their name or anchor; * and ? are wildcards."""
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
    across_hosts: bool = False,
) -> list[Comparison]:
    """Figures, factor and verdict of each pair; verdicts are corrected for the number of pairs.

    Figures of two hosts have neither factor nor verdict unless `across_hosts` is set.
    """
    samples = [
        (
            pair,
            _counting(right.sample(pair.other), include_invalid),
            _counting(left.sample(pair.row), include_invalid),
        )
        for pair in pairs
    ]
    are_paired = left.run is right.run and left.run.loaded.rounds_are_pairs
    rules = Rules(
        pairs=frozenset([left.run.id] if are_paired else []),
        comparisons=comparisons(samples),
        drift=max(widening(side.rows, DEFAULT_SPREADS) for side in (left, right)),
    )
    has_factors = across_hosts or len(set(_hosts(left, right))) == 1
    shown = {
        found.pair.row.key: found.shown
        for found in (differences(samples, rules) if has_factors else [])
    }
    rows = []
    for pair, over, under in samples:
        figures = [_figure(sample, pair.row, estimator) for sample in (under, over)]
        estimate = shown.get(pair.row.key)
        rows.append(
            Comparison(
                pair=pair,
                left=figures[0],
                right=figures[1],
                factor=figures[1] / figures[0] if estimate else None,
                estimate=estimate,
                note=_note(left, right, pair),
            )
        )
    return rows


def is_slower(rows: Sequence[Comparison]) -> bool:
    """Whether right is slower in any row, or worse where the figure is no speed."""
    return any(row.estimate is not None and row.estimate.verdict == "slower" for row in rows)


def apart(rows: Iterable[Comparison], least: float) -> tuple[list[Comparison], list[LeftOut]]:
    """The rows whose figures differ by at least this share, and the others as left out.

    Verdicts exist before this filter, so omitted rows count as comparisons. Rows without a factor
    stay.
    """
    kept, near = [], []
    for row in rows:
        factor = row.factor
        if factor is None or factor >= 1 + least or factor * (1 + least) <= 1:
            kept.append(row)
        else:
            why = f"their figures differ by less than {100 * least:g}%"
            near.append(LeftOut(row.pair.name, row.pair.anchor, row.pair.row.unit, why))
    return kept, near


def _counting(sample: Sample, include_invalid: bool) -> Sample:
    """The sample with its invalid values among those that count, if they are to."""
    if not include_invalid:
        return sample
    together = dict(sample.valid)
    for number, value in enumerate(sample.invalid):
        together[At("", 1, -1 - number)] = value
    return Sample(together, has_rounds=sample.has_rounds, statistic=sample.statistic)


def _figure(sample: Sample, row: Series, estimator: Estimator) -> float:
    """The figure to show: of the values that count, or of all if none does."""
    values = list(sample.valid.values()) or sample.invalid
    found = summary(values, row.definition.better)
    return {
        "median": figure(values, sample.statistic),
        "upper-median": found.upper_median,
        "best": found.best,
    }[estimator]


def _note(left: ComparedSide, right: ComparedSide, pair: RowPair) -> str | None:
    notes = [f"{field.name} {field.own} and {field.other}" for field in pair.fields]
    for side, row in ((left, pair.row), (right, pair.other)):
        sample = side.sample(row)
        if sample.invalid:
            of_all = f"{len(sample.invalid)} of {len(sample.invalid) + len(sample.valid)}"
            notes.append(f"{side.label}: {of_all} invalid, {'; '.join(sample.notes)}")
    return " | ".join(notes) or None


# --- as text -----------------------------------------------------------------------------------


def number_text(value: float) -> str:
    """A figure as it was printed, without digits that only result from arithmetic."""
    return str(rounded(value, 9))


def right_over_left(factor: float | None) -> str:
    """The factor as text: 1.82x."""
    return ABSENT if factor is None else factor_text(factor)


def sides(
    runs: Path, left: str, right: str, scenario: str | None
) -> tuple[ComparedSide, ComparedSide, list[RowPair], list[LeftOut]]:
    """Two implementations `[RUN/]IMPLEMENTATION` of the folder `runs`, their common rows, and the
    rows that only one has. Raises UserError.
    """
    a, b = find_side(left, runs), find_side(right, runs)
    if a.run.id == b.run.id:
        b = side_of(a.run, b.implementation.id)
    pairs = row_pairs(a.rows, b.rows)
    chosen = matching(pairs, scenario)
    if not chosen:
        if not pairs:
            raise UserError(
                f"{left} and {right} have no scenario in common; tlsperf show prints those of a run"
            )
        names = "\n  ".join(pair.name for pair in pairs)
        raise UserError(f"--scenario {scenario}: none of\n  {names}")
    return a, b, chosen, matching(left_out(a, b, pairs), scenario)


def text(
    left: ComparedSide,
    right: ComparedSide,
    rows: Sequence[Comparison],
    format_: TextFormat,
    without: Sequence[LeftOut] = (),
) -> str:
    """The rows and those left out as Markdown, CSV or JSON, with a newline at the end."""
    if format_ == "json":
        document = {
            "left": _described(left),
            "right": _described(right),
            "rows": [_row_object(row) for row in rows],
            "left_out": [
                {"scenario": row.name, "anchor": row.anchor, "unit": row.unit, "why": row.why}
                for row in without
            ],
        }
        return json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    header = ["scenario", "unit", "left", "right", "factor", "verdict", "note"]
    if format_ == "markdown":
        header = ["Scenario", "Unit", left.label, right.label, "Factor", "Verdict", "Note"]
    cells = [
        [
            row.pair.name,
            row.pair.row.unit,
            number_text(row.left),
            number_text(row.right),
            right_over_left(row.factor),
            row.verdict,
            row.note or "",
        ]
        for row in rows
    ]
    if format_ == "csv":
        absent = [[row.name, row.unit, *[ABSENT] * 4, f"left out: {row.why}"] for row in without]
        return csv_text([header, *cells, *absent])
    if not any(row.note for row in rows):
        header, cells = header[:-1], [line[:-1] for line in cells]
    notes = [f"\n{note}\n" for note in footnotes(left, right, rows)]
    return markdown_text(header, cells) + "".join([*notes, *left_out_text(without)])


def footnotes(left: ComparedSide, right: ComparedSide, rows: Sequence[Comparison]) -> list[str]:
    """Remarks about all rows, one sentence each."""
    tested = [r.estimate for r in rows if r.estimate and r.estimate.verdict != "not tested"]
    unpaired = {of.note for of in tested if of.note and of.low is not None}
    found = [f"Verdicts are {note}." for note in sorted(unpaired)]
    hosts = _hosts(left, right)
    if hosts[0] != hosts[1]:
        rule = (
            "factors compare the hosts as well"
            if any(row.factor for row in rows)
            else "no factor and no verdict; --across-hosts prints them"
        )
        found.append(f"Measured on different hosts ({hosts[0]} and {hosts[1]}): {rule}.")
    return found


def _hosts(left: ComparedSide, right: ComparedSide) -> list[str]:
    runs = [side.run.loaded.run for side in (left, right)]
    known = hosts_of(runs)
    return [known[run.id] for run in runs]


def left_out_text(without: Sequence[LeftOut]) -> list[str]:
    """A Markdown list for each reason; phases of a row share an entry."""
    lists = []
    for why in dict.fromkeys(row.why for row in without):
        lines: dict[str, list[str]] = {}
        for row in without:
            if row.why == why:
                name, phase = row.name.rsplit(", ", 1) if why == _PART else (row.name, "")
                lines.setdefault(f"{name} ({row.unit})", []).append(phase)
        listed = (
            f"- {name}{': ' * bool(phases[0])}{', '.join(phases)}\n"
            for name, phases in lines.items()
        )
        lists.append(f"\nLeft out, {why}:\n\n{''.join(listed)}")
    return lists


def csv_text(rows: Iterable[Sequence[str]]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(rows)
    return buffer.getvalue()


def markdown_text(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; columns of numbers, except the first, are right-aligned."""
    rows = list(rows)
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
        "scenario": row.pair.name,
        "anchor": row.pair.anchor,
        "unit": row.pair.row.unit,
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
