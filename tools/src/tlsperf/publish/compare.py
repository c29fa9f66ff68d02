"""`tlsperf compare`: any two implementations of any runs, in the tables of a report on the two.

A row of the left side and its counterpart on the right are one row of that report, and the left
side is its baseline. So figures, ratios and verdicts follow the rules of all reports.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from tlsperf.analysis.conditions import is_same_program, is_unchanged
from tlsperf.analysis.diff import (
    OTHER_CONDITIONS,
    SAME_PROGRAM,
    Field,
    RowPair,
    difference,
    row_pairs,
    shift_of,
)
from tlsperf.analysis.ratios import as_ratio, untested
from tlsperf.analysis.series import (
    At,
    Key,
    MeasuredRun,
    Rules,
    Sample,
    Series,
    key_of,
    measured,
    row_names,
)
from tlsperf.analysis.statistics import summary
from tlsperf.contract.comparisons import Estimator
from tlsperf.contract.errors import UserError, alternatives
from tlsperf.contract.host import one_model
from tlsperf.contract.record import Identifier
from tlsperf.contract.results import Cell, Noise, Results, Row, Table
from tlsperf.contract.run import Host, Implementation, Report, Run, RunWarning
from tlsperf.contract.spreads import ModelSpreads
from tlsperf.contract.text import implementation_label, listed
from tlsperf.load.damage import readable
from tlsperf.load.notes import known_notes
from tlsperf.load.root import run_id
from tlsperf.load.run import LoadedRun, loader, read_hosts, read_run, read_runs, withdrawal
from tlsperf.load.spreads import read_spreads
from tlsperf.publish.assemble import with_floors
from tlsperf.report.notes import caveats_for, warnings_for
from tlsperf.report.sections import report_noise
from tlsperf.report.tables import without_dividing


@dataclass(frozen=True)
class Side:
    """One implementation of one run."""

    run: MeasuredRun
    id: Identifier
    implementation: Implementation
    """As the report names it: the right side with its run if both have one id."""

    @property
    def label(self) -> str:
        return implementation_label(self.implementation)

    @property
    def rows(self) -> list[Series]:
        """The rows that it has, without parts of other rows."""
        return [row for row in self.run.series if self.id in row.samples and not row.is_part]

    def of(self, row: Series, place: Series) -> Series:
        """Its figures of a row alone, in the place of another row."""
        return replace(place, samples={self.implementation.id: row.samples[self.id]})


def side_of(run: MeasuredRun, id_: Identifier) -> Side:
    """The implementation with an id in a run that has it."""
    return Side(run, id_, next(of for of in run.loaded.run.implementations if of.id == id_))


def compared(
    root: Path,
    left: str,
    right: str,
    estimator: Estimator = "median",
    include_invalid: bool = False,
    across_hosts: bool = False,
    scenario: str | None = None,
) -> Results:
    """Two implementations, each `[RUN/]IMPLEMENTATION`, with ratios to the left one.

    Only rows with `scenario` in their name or anchor are shown, but intervals are corrected for all
    rows that both have. Raises UserError.
    """
    folder = root / "data" / "runs"
    load, runs = loader(folder), read_runs(folder)
    run_of = cache(lambda id_: measured(load(id_)))

    def side(place: Place) -> Side:
        whole = measured(all_valid(load(place.run))) if include_invalid else run_of(place.run)
        return side_of(single_figures(whole, estimator), place.id)

    a, b = map(side, places(left, right, folder, load))
    noise = report_noise(dict.fromkeys([a.run.id, b.run.id]), run_of)
    hosts = read_hosts(root / "data" / "hosts", [runs[a.run.id], runs[b.run.id]])
    notes = known_notes(root / "data")
    results = beside(a, b, noise, hosts, read_spreads(root), across_hosts, scenario)
    warnings = [*warnings_for(caveats_for(results, notes), notes), *results.warnings]
    return results.model_copy(update={"warnings": warnings})


def is_slower(results: Results) -> bool:
    """Whether right is slower in any row, or worse where the figure is no speed."""
    cells = (cell for table in results.tables for row in table.rows for cell in row.cells)
    return any(cell.ratio is not None and cell.ratio.verdict == "slower" for cell in cells)


# --- choice of the two sides -------------------------------------------------------------------


MOST_PLACES: Final = 8


class Place(NamedTuple):
    """Where an implementation was measured."""

    run: Identifier
    id: Identifier

    def __str__(self) -> str:
        return f"{self.run}/{self.id}"


def places(
    left: str, right: str, folder: Path, load: Callable[[Identifier], LoadedRun]
) -> tuple[Place, Place]:
    """Run and id of two implementations of the runs in `folder`, each `[RUN/]IMPLEMENTATION`.

    A side without RUN is of the newest run that has both and that `load` can read, and a line says
    which of several that is; if none has both, it must be in one run only. Raises UserError.
    """
    runs = read_runs(folder)
    found = [_places(reference, folder, runs) for reference in (left, right)]
    both = [of.run for of in found[0] if of.run in {other.run for other in found[1]}]
    newest = next((of.run.id for of in readable(load, both)), both[0] if both else None)
    chosen = [[of for of in side if of.run == newest] or side for side in found]
    if len(both) > 1:
        which = "the newest" if newest == both[0] else "the newest that can be read"
        said = f"{left} and {right}: of run {newest}, {which} of {len(both)} that have both"
        print(said, file=sys.stderr)
    for reference, side in zip((left, right), chosen, strict=True):
        if len(side) > 1:
            some = ", ".join(map(str, side[:MOST_PLACES]))
            raise UserError(
                f"{reference} is in {len(side)} runs, of which none has the other: give one, such "
                f"as {some}"
            )
    return chosen[0][0], chosen[1][0]


def _places(reference: str, folder: Path, runs: Mapping[Identifier, Run]) -> list[Place]:
    """Where the implementation `[RUN/]IMPLEMENTATION` is, the newest run first. Raises UserError if
    it is nowhere.
    """
    run, _, identifier = reference.rpartition("/")
    named = {run_id(run): read_run(folder / run_id(run))} if run else runs
    ids = {of.id: {i.id for i in of.implementations} for of in named.values()}
    newest_first = sorted(named.values(), key=lambda of: of.when, reverse=True)
    if found := [Place(of.id, identifier) for of in newest_first if identifier in ids[of.id]]:
        return found
    if note := next(filter(None, (withdrawal(folder / of, identifier) for of in ids)), None):
        raise UserError(f"{reference!r} has no figures: {note.text}")
    known = sorted({id_ for of in ids.values() for id_ in of})
    where = run or f"any run in {folder}"
    raise UserError(f"{identifier!r} is not in {where}: expected {alternatives(identifier, known)}")


def all_valid(loaded: LoadedRun) -> LoadedRun:
    """The run with the figures that do not count among those that do, and a warning of that."""
    notes = dict.fromkeys(row.note for row in loaded.rows if row.note)
    if not notes:
        return loaded
    message = f"Run {loaded.run.id}: figures that do not count are included ({'; '.join(notes)})."
    others = [
        of for of in loaded.warnings if of.code not in ("disturbed-rounds-excluded", "invalid")
    ]
    return replace(
        loaded,
        rows=[row._replace(note=None) for row in loaded.rows],
        warnings=[*others, RunWarning(code="invalid", message=message)],
    )


def single_figures(whole: MeasuredRun, estimator: Estimator) -> MeasuredRun:
    """The run with the figure of an estimator in place of rounds; that of medians as it is."""
    if estimator == "median":
        return whole

    def single(row: Series, sample: Sample) -> Sample:
        if not sample.valid:
            return sample
        found = summary(list(sample.valid.values()), row.definition.better).by(estimator)
        return replace(sample, valid={At(whole.id, 1, None): found}, has_rounds=False)

    source = {"source": None}  # its estimator is another one
    warning = RunWarning(code="method", message=f"Run {whole.id}: figures are {_NAMES[estimator]}.")
    loaded = replace(
        whole.loaded,
        run=whole.loaded.run.model_copy(update=source),
        warnings=[*whole.loaded.warnings, warning],
    )
    series = (
        replace(row, samples={i: single(row, sample) for i, sample in row.samples.items()})
        for row in whole.series
    )
    return MeasuredRun(loaded, tuple(series))


_NAMES: Final = {"upper-median": "upper medians", "best": "those of the best round"}


# --- the two sides in one report -----------------------------------------------------------------


def beside(
    left: Side,
    right: Side,
    noise: Sequence[Noise],
    hosts: Mapping[Identifier, Host],
    spreads: Sequence[ModelSpreads],
    across_hosts: bool = False,
    scenario: str | None = None,
) -> Results:
    """The results of a report on two sides, with warnings for the rows that only one has.

    `noise` is that of their runs; `hosts` and `spreads` are all that are known. Raises UserError if
    there is no row to show.
    """
    pairs = row_pairs(left.rows, right.rows)
    if not pairs:
        sides = " and ".join(f"{side.run.id}/{side.id}" for side in (left, right))
        raise UserError(f"{sides} have no scenario in common; tlsperf show prints those of a run")
    if left.id == right.id:
        right = _with_run(right)
    parts = together(left, right, pairs)
    report = Report(
        id=f"{left.implementation.id}-and-{right.implementation.id}",
        title=f"{right.label} against {left.label}",
        date=max(part.loaded.run.date for part in parts),
        runs=[part.id for part in parts],
        baseline=left.implementation.id,
        across_hosts=across_hosts,
        previous=None,
    )
    measured_parts = with_floors(report, parts, noise, hosts, spreads)
    results = measured_parts.results
    if left.run.id != right.run.id:
        results = _beyond_shift(results, measured_parts.series.rules, left, right, pairs)
    shown = _with_rows(
        _without_verdicts(results, pairs), lambda row: is_named(row.name, row.anchor, scenario)
    )
    if not shown.tables:
        names = "\n  ".join(pair.name for pair in pairs)
        raise UserError(f"--scenario {scenario}: none of\n  {names}")
    without = [*left_out(left, right, pairs, scenario), *left_out(right, left, pairs, scenario)]
    said = [_with_option(warning) for warning in results.warnings]
    changed = {"warnings": [*said, *without], "prices": None}
    return shown.model_copy(update=changed)


def _with_option(warning: RunWarning) -> RunWarning:
    """The warning that hosts differ names the option that gives ratios nevertheless."""
    without = "have no ratio and no verdict"
    message = warning.message.replace(without, f"{without}; --across-hosts prints them")
    return warning.model_copy(update={"message": message}) if warning.code == "host" else warning


def _with_run(side: Side) -> Side:
    """The side with its run in its id and label."""
    own, run = side.implementation, side.run.id
    build = ", ".join(filter(None, [own.build, run]))
    named = own.model_copy(update={"id": f"{own.id}-{run}", "build": build})
    return replace(side, implementation=named)


def together(left: Side, right: Side, pairs: Sequence[RowPair]) -> list[MeasuredRun]:
    """The runs of two sides with their common rows alone; one run if both are of it."""
    own, theirs = left.implementation, right.implementation
    of_left = [left.of(pair.row, pair.row) for pair in pairs]
    of_right = [right.of(pair.other, pair.row) for pair in pairs]
    if left.run.id == right.run.id:
        return [_part(left.run, [own, theirs], [*of_left, *of_right])]
    return [_part(left.run, [own], of_left), _part(right.run, [theirs], of_right)]


def _part(
    whole: MeasuredRun, implementations: list[Implementation], series: Sequence[Series]
) -> MeasuredRun:
    changed = {"implementations": implementations, "layouts": []}
    run = whole.loaded.run.model_copy(update=changed)
    return MeasuredRun(replace(whole.loaded, run=run, gaps=[], overheads=[]), tuple(series))


def _beyond_shift(
    results: Results, rules: Rules, left: Side, right: Side, pairs: Sequence[RowPair]
) -> Results:
    """The results with what the right side differs beyond the shift of the builds of both runs."""
    there = {of.id: of for of in right.run.loaded.run.implementations}
    shared = [
        of
        for of in left.run.loaded.run.implementations
        if of.id in there and is_unchanged(of, there[of.id]) and not of.id == left.id == right.id
    ]
    turned = {pair.row.key: pair._replace(row=pair.other, other=pair.row) for pair in pairs}
    shift = shift_of(turned.values(), [(of.id, of.id) for of in shared])
    neutral = None
    if is_same_program(left.implementation, right.implementation):
        neutral = SAME_PROGRAM
    if not one_model(left.run.loaded.run.host, right.run.loaded.run.host):
        neutral = _TWO_PROCESSORS
    paired = frozenset(s.run.id for s in (left, right) if s.run.loaded.rounds_are_pairs)
    rules = replace(rules, pairs=paired)

    def cell(of: Cell, row: Row, place: Key) -> Cell:
        of = of.model_copy(update={"best": False, "tied": False})
        pair = turned[place]
        if of.ratio is None or not pair.row.definition.is_time:
            return of
        found = difference(pair, (left.id, right.id), shift, rules, neutral)
        if found is None:
            ratio = untested(of.ratio, row.metric, _ALONE)
        else:
            shown = found.shown
            note = "; ".join(filter(None, [_BEYOND, shown.note]))
            ratio = as_ratio(replace(shown, note=note), row.metric)
        return of.model_copy(update={"ratio": ratio})

    def changed(table: Table, row: Row) -> Row:
        cells = [cell(of, row, key_of(table, row)) for of in row.cells]
        return row.model_copy(update={"cells": cells})

    said = []
    if any(pair.row.definition.is_time for pair in pairs):
        names = listed([implementation_label(of) for of in shared])
        message = (
            f"Of what both runs have ({names}): {shift.text} in {right.run.id}. A ratio is of "
            "what differs beyond that."
            if shift.own
            else f"{left.run.id} and {right.run.id} share no other build, so a change of the machine "
            "and one of the library cannot be told apart: no verdict."
        )
        said = [RunWarning(code="common-cause", message=message)]
    made = _with_each_row(results, changed)
    tables = [without_dividing(table) for table in made.tables]
    return made.model_copy(update={"warnings": [*said, *results.warnings], "tables": tables})


_BEYOND: Final = "beyond what the builds of both runs share"
_ALONE: Final = "of two runs that share no other build"
_TWO_PROCESSORS: Final = "of two processors"


def _without_verdicts(results: Results, pairs: Sequence[RowPair]) -> Results:
    """The results without the verdicts of rows whose scenarios differ; those rows say in what."""
    fields = {pair.row.key: pair.fields for pair in pairs if pair.fields}

    def row(table: Table, of: Row) -> Row:
        differing = fields.get(key_of(table, of))
        return _without_verdict(of, differing) if differing else of

    return _with_each_row(results, row)


def _with_each_row(results: Results, changed: Callable[[Table, Row], Row]) -> Results:
    tables = [
        table.model_copy(update={"rows": [changed(table, of) for of in table.rows]})
        for table in results.tables
    ]
    return results.model_copy(update={"tables": tables})


def _without_verdict(row: Row, fields: Sequence[Field]) -> Row:
    left, right = (of.model_copy(update={"best": False, "tied": False}) for of in row.cells)
    said = [f"{field.name} {field.own} and {field.other}" for field in fields]
    changed = {
        "ratio": right.ratio and untested(right.ratio, row.metric, OTHER_CONDITIONS),
        "warnings": [*right.warnings, *said],
    }
    return row.model_copy(update={"cells": [left, right.model_copy(update=changed)]})


# --- which rows are shown ------------------------------------------------------------------------


def is_named(name: str, anchor: str, pattern: str | None) -> bool:
    """Whether a pattern is in a name or an anchor; * and ? are wildcards."""
    wanted = f"*{(pattern or '').lower()}*"
    return fnmatchcase(name.lower(), wanted) or fnmatchcase(anchor, wanted)


def _with_rows(results: Results, keep: Callable[[Row], bool]) -> Results:
    kept = [
        table.model_copy(update={"rows": rows})
        for table in results.tables
        if (rows := [row for row in table.rows if keep(row)])
    ]
    return results.model_copy(update={"tables": kept})


def left_out(
    side: Side, other: Side, pairs: Sequence[RowPair], scenario: str | None = None
) -> list[RunWarning]:
    """The rows of a side that the other side does not have: a warning for each reason."""
    paired = {row.key for pair in pairs for row in (pair.row, pair.other)}
    gaps = {
        gap.scenario: f"{other.label}: {gap.reason}"
        for gap in other.run.loaded.gaps
        if gap.implementation == other.id
    }
    found: dict[str, list[str]] = {}
    names = row_names(side.rows)
    for row in side.rows:
        name, anchor = names[row.key]
        if row.key not in paired and is_named(name, anchor, scenario):
            why = gaps.get(row.scenario, f"{other.label} has no figure of it")
            found.setdefault(why, []).append(f"{name} ({row.unit})")
    return [_left_out(why, rows) for why, rows in found.items()]


def _left_out(why: str, rows: Sequence[str]) -> RunWarning:
    return RunWarning(code="left-out", message=f"Left out, {why}: {'; '.join(rows)}.")


def apart(results: Results, least: float) -> Results:
    """The rows whose ratio is at least this share from 1; a warning names the others.

    Rows without a ratio stay.
    """

    def is_apart(row: Row) -> bool:
        ratios = [cell.ratio.value for cell in row.cells if cell.ratio]
        return all(max(ratio, 1 / ratio) >= 1 + least for ratio in ratios)

    near = [
        f"{row.name} ({table.unit})"
        for table in results.tables
        for row in table.rows
        if not is_apart(row)
    ]
    why = f"the figures differ by less than {100 * least:g}%"
    warnings = [*results.warnings, *([_left_out(why, near)] if near else [])]
    return _with_rows(results, is_apart).model_copy(update={"warnings": warnings})
