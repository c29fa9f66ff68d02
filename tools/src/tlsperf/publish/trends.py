"""Trends: every scenario of a suite over the reports of one host.

A report on several hosts or without a suite belongs to no trend, and a scenario without two versions
of a library has no chart. A report that compares builds of a library contributes the builds that its
`[extra.report.trend]` names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tlsperf.contract.host import one_host
from tlsperf.contract.index import Trend, TrendCell, TrendLine, TrendMark, TrendRow
from tlsperf.contract.libraries import NAMES
from tlsperf.contract.metrics import METRICS
from tlsperf.contract.record import Identifier
from tlsperf.contract.results import Caveat, Results, Row, ShownImplementation, Table
from tlsperf.contract.run import Report
from tlsperf.contract.text import ABSENT
from tlsperf.publish.reports import reference
from tlsperf.report.charts.kind import Drawing
from tlsperf.report.charts.trend import trend as trend_chart
from tlsperf.report.notes import touches

FEWEST: Final = 2
"""A trend needs at least this many reports."""


@dataclass(frozen=True)
class Member:
    """A report in a trend, with the implementation that represents each library."""

    results: Results
    implementations: Mapping[str, ShownImplementation]


def trends(
    reports: Sequence[tuple[Report, Results]], notes: Sequence[Caveat]
) -> list[tuple[Trend, list[Drawing]]]:
    """Each trend with its charts. Reports without a metric that has a trend have no page."""
    groups: dict[tuple[str, str], list[Member]] = {}
    for report, results in sorted(reports, key=lambda pair: (pair[1].date, pair[1].id)):
        place = _place(report, results)
        if place:
            suite, member = place
            groups.setdefault((results.hosts[0].id, suite), []).append(member)
    found = []
    for (host, suite), group in sorted(groups.items()):
        newest = group[-1].results.hosts[0]
        members = [m for m in group if one_host(m.results.hosts[0], newest)]
        if len(members) >= FEWEST:
            found.append(_trend(host, suite, members, notes))
    return [(trend, drawings) for trend, drawings in found if trend.rows]


def versions_change(lines: Sequence[TrendLine], members: Sequence[Member]) -> bool:
    """Whether a line has two versions of its library; otherwise it only shows how two days differ."""
    return any(
        len({m.implementations[line.library].version for m, c in points if c.value is not None}) > 1
        for line in lines
        for points in [list(zip(members, line.cells, strict=True))]
    )


def _place(report: Report, results: Results) -> tuple[Identifier, Member] | None:
    if len(results.hosts) != 1:
        return None
    suites = {run.suite for run in results.runs}
    suite = report.trend.suite if report.trend else (suites.pop() if len(suites) == 1 else None)
    if suite is None:
        return None
    member = represented(report, results)
    shown = [i for i in results.implementations if _is_wanted(report, i)]
    if {i.library for i in shown} != set(member.implementations):
        return None  # no single build represents the library
    return suite, member


def represented(report: Report, results: Results) -> Member:
    """A report with one build for each library: the only one, or the one that the report names."""
    builds: dict[str, list[ShownImplementation]] = {}
    for implementation in results.implementations:
        if _is_wanted(report, implementation):
            builds.setdefault(implementation.library, []).append(implementation)
    return Member(results, {library: of[0] for library, of in builds.items() if len(of) == 1})


def _is_wanted(report: Report, implementation: ShownImplementation) -> bool:
    return report.trend is None or implementation.id in report.trend.implementations


def _trend(
    host: Identifier, suite: Identifier, members: Sequence[Member], notes: Sequence[Caveat]
) -> tuple[Trend, list[Drawing]]:
    newest = members[-1].results
    rows, drawings = [], []
    for table in newest.tables:
        for row in table.rows:
            if not METRICS[row.metric].trend or row.scenario.operation == "primitive":
                continue
            lines = lines_of(row, members)
            if not versions_change(lines, members):
                continue
            marks = marks_of(row, members, notes)
            dates = [m.results.date for m in members]
            drawings.append(
                trend_chart(
                    row.anchor,
                    row.name,
                    description_of(table, lines, members, marks),
                    lines,
                    dates,
                    marks,
                    table.unit,
                    table.better,
                )
            )
            rows.append(
                TrendRow(
                    anchor=row.anchor,
                    name=row.name,
                    table=table.title,
                    unit=table.unit,
                    chart=drawings[-1].chart,
                    lines=lines,
                    marks=marks,
                )
            )
    found = Trend(
        id=f"{host}-{suite}",
        host=newest.hosts[0],
        suite=suite,
        reports=[reference(m.results) for m in members],
        tools=list(dict.fromkeys(run.tool.name for m in members for run in m.results.runs)),
        rows=rows,
    )
    return found, drawings


def lines_of(row: Row, members: Sequence[Member]) -> list[TrendLine]:
    libraries = list(dict.fromkeys(name for m in members for name in m.implementations))
    lines = []
    for library in sorted(libraries):
        cells = [_trend_cell(row, member, library) for member in members]
        if any(cell.value is not None for cell in cells):
            colours = [
                m.implementations[library].colour for m in members if library in m.implementations
            ]
            lines.append(
                TrendLine(
                    library=library,
                    name=NAMES[library],
                    colour=colours[-1],
                    cells=cells,
                )
            )
    return lines


def _trend_cell(row: Row, member: Member, library: str) -> TrendCell:
    implementation = member.implementations.get(library)
    for theirs in (r for table in member.results.tables for r in table.rows):
        if theirs.anchor != row.anchor or implementation is None:
            continue
        for cell in theirs.cells:
            if cell.implementation == implementation.id and cell.value is not None and cell.valid:
                return TrendCell(
                    report=member.results.id,
                    label=implementation.label,
                    text=cell.text,
                    value=cell.value,
                )
    return TrendCell(report=member.results.id, label="", text=ABSENT)


def marks_of(row: Row, members: Sequence[Member], notes: Sequence[Caveat]) -> list[TrendMark]:
    marks = []
    for member in members[1:]:
        runs = {run.id for run in member.results.runs}
        libraries = {i.id: i.library for i in member.results.implementations}
        theirs = [r for t in member.results.tables for r in t.rows if r.anchor == row.anchor]
        marks += [
            TrendMark(report=member.results.id, text=note.mark, note=note.id, gap=note.gap)
            for note in notes
            if note.mark
            and runs & set(note.runs)
            and any(touches(note, r, libraries) for r in theirs)
        ]
    return marks


def description_of(
    table: Table, lines: Sequence[TrendLine], members: Sequence[Member], marks: Sequence[TrendMark]
) -> str:
    dates = {m.results.id: f"{m.results.date:%B %Y}" for m in members}
    figures = "; ".join(
        f"{line.name}: "
        + ", ".join(f"{dates[c.report]} {c.text}" for c in line.cells if c.value is not None)
        for line in lines
    )
    changed = "".join(f" Before {dates[m.report]}: {m.text}." for m in marks)
    return f"Lines over time in {table.unit}. {figures}.{changed}"
