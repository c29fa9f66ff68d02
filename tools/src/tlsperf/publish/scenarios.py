"""Scenarios over all reports: each one that at least two reports share, with all its figures.

Pure functions of results.json and caveats. A row by phase is a part of a scenario and has no page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tlsperf.contract.host import one_host
from tlsperf.contract.index import (
    ListedScenario,
    ScenarioFigure,
    ScenarioKind,
    ScenarioLines,
    ScenarioList,
    ScenarioOverview,
    ScenarioReport,
)
from tlsperf.contract.metrics import METRICS, UNITS, Unit
from tlsperf.contract.record import Identifier
from tlsperf.contract.results import Caveat, Results, Row, Table
from tlsperf.contract.run import HostFacts, Report
from tlsperf.contract.text import csv_text, host_label
from tlsperf.publish.descriptions import done, facts, why
from tlsperf.publish.reports import by_time, host_of, newest_first
from tlsperf.publish.sheets import Source, by_host, is_own, newest, of_days, of_pairs
from tlsperf.publish.trends import (
    FEWEST,
    Member,
    description_of,
    lines_of,
    marks_of,
    represented,
    versions_change,
)
from tlsperf.report.charts.bars import bars_of
from tlsperf.report.charts.kind import Drawing, titled
from tlsperf.report.charts.trend import trend as trend_chart

MOST_FIGURES: Final = 400
"""Limit of figures on a page. It has whole reports, the newest first; files beside it have all."""


@dataclass(frozen=True)
class Place:
    """A scenario in one report, with the results reduced to its row."""

    report: Report
    results: Results

    @property
    def table(self) -> Table:
        return self.results.tables[0]

    @property
    def row(self) -> Row:
        return self.table.rows[0]


def scenarios(
    reports: Sequence[tuple[Report, Results]], notes: Sequence[Caveat]
) -> list[tuple[ScenarioOverview, list[Drawing]]]:
    """Each scenario with its charts, in the order in which the newest reports show them."""
    shared = [places for places in _places(reports).values() if len(places) >= FEWEST]
    return [_scenario(places, notes) for places in shared]


def _places(reports: Sequence[tuple[Report, Results]]) -> dict[Identifier, list[Place]]:
    """The places of each scenario by its anchor, newest first.

    An anchor may occur in tables of two units: the page is about the first unit that reports share.
    """
    found: dict[tuple[Identifier, Unit], list[Place]] = {}
    decided = {results.id: report for report, results in reports}
    for results in newest_first(results for _, results in reports):
        for table in results.tables:
            if table.by_phase or METRICS[table.rows[0].metric].supporting:
                continue
            for row in table.rows:
                if any(cell.value is not None for cell in row.cells):
                    cut = results.model_copy(
                        update={"tables": [table.model_copy(update={"rows": [row]})]}
                    )
                    place = Place(decided[results.id], cut)
                    found.setdefault((row.anchor, table.unit), []).append(place)
    chosen: dict[Identifier, tuple[Unit, list[Place]]] = {}
    for (anchor, unit), places in found.items():
        if len(places) < FEWEST:
            continue
        known = chosen.get(anchor)
        if known is None or UNITS.index(unit) < UNITS.index(known[0]):
            chosen[anchor] = unit, places
    return {anchor: places for anchor, (_, places) in chosen.items()}


def _scenario(
    places: Sequence[Place], notes: Sequence[Caveat]
) -> tuple[ScenarioOverview, list[Drawing]]:
    first = _newest(places)
    bars = _bars(first)
    lines = [drawn for of in _by_host(places) if (drawn := _lines(of, notes)) is not None]
    overview = ScenarioOverview(
        id=first.row.anchor,
        name=first.row.name,
        table=first.table.anchor,
        kind=first.table.title,
        unit=first.table.unit,
        better=first.table.better,
        done=done(first.row.scenario),
        why=why(first.row.scenario),
        facts=facts(place.row.scenario for place in places),
        newest=bars.chart,
        lines=[of_host for of_host, _ in lines],
        reports=[_report(first), *(_report(p) for p in _by_time(places) if p is not first)],
        notes=_notes(places),
    )
    return overview, [bars, *(drawing for _, drawing in lines)]


def _notes(places: Sequence[Place]) -> list[str]:
    is_time = METRICS[places[0].row.metric].is_time
    days = of_days(place.results for place in places) if is_time else []
    return [*of_pairs(place.table for place in places), *days]


def _by_time(places: Sequence[Place]) -> list[Place]:
    of = {place.results.id: place for place in places}
    return [of[results.id] for results in by_time(place.results for place in places)]


def _libraries(place: Place) -> set[Identifier]:
    return {i.library for i in place.results.implementations}


def _comparing(places: Sequence[Place]) -> Sequence[Place]:
    """The places that compare libraries, or all if none does."""
    return [place for place in places if len(_libraries(place)) > 1] or places


def _newest(places: Sequence[Place]) -> Place:
    """The newest of the places that compare the most libraries on each host; one of a single
    library counts only if no host has another.

    Reports of our harness alone count on a host that has one.
    """
    row = [places[0].row.anchor]
    own = {place.results.id for place in places if is_own(place.results)}
    parts = [_on(place, host).results for place in places for host in place.results.hosts]
    measured = [
        Source(part)
        for part in parts
        if any(c.value is not None for c in part.tables[0].rows[0].cells)
    ]
    found = []
    for of in by_host(measured):
        chosen = newest([s for s in of if s.results.id in own] or of, row, least=0)
        found += [chosen] if chosen else []
    comparing = [of for of in found if len(of.libraries(row)) > 1] or found
    first, *_ = newest_first(of.results for of in comparing)
    return next(place for place in places if place.results.id == first.id)


def _bars(place: Place) -> Drawing:
    shown = {i.id: i for i in place.results.implementations}
    ids = [cell.implementation for cell in place.row.cells]
    drawing = bars_of(place.table.model_copy(update={"implementations": ids}), shown)
    title = f"{place.row.name}, {place.results.date:%-d %B %Y}"
    of = drawing.chart
    return titled("newest", title, drawing.picture, of.description, of.note, table=of.table)


def _by_host(places: Sequence[Place]) -> list[list[Place]]:
    """The places of each host, one report a day, in the order of time."""
    found: dict[Identifier, list[Place]] = {}
    for place in places:
        for host in place.results.hosts:
            on_host = _on(place, host)
            if any(cell.value is not None for cell in on_host.row.cells):
                found.setdefault(host.id, []).append(on_host)
    newest_last = ({p.results.date: p for p in reversed(_comparing(of))} for of in found.values())
    by_time = (sorted(of.values(), key=lambda p: p.results.date) for of in newest_last)
    return [
        [p for p in of if one_host(p.results.hosts[0], of[-1].results.hosts[0])] for of in by_time
    ]


def _on(place: Place, host: HostFacts) -> Place:
    """The part of a place that was measured on one of its report's hosts."""
    results = place.results
    if len(results.hosts) == 1:
        return place
    there = [i for i in results.implementations if host_of(results, i) == host]
    ids = {i.id for i in there}
    cells = [cell for cell in place.row.cells if cell.implementation in ids]
    row = place.row.model_copy(update={"cells": cells})
    table = place.table.model_copy(update={"rows": [row]})
    cut = {"hosts": [host], "implementations": there, "tables": [table]}
    return Place(place.report, results.model_copy(update=cut))


def _lines(
    places: Sequence[Place], notes: Sequence[Caveat]
) -> tuple[ScenarioLines, Drawing] | None:
    """The lines of a host; None without two reports of different days and versions."""
    members: list[Member] = [represented(place.report, place.results) for place in places]
    newest = places[-1]
    lines = lines_of(newest.row, members)
    if len(members) < FEWEST or not versions_change(lines, members):
        return None
    marks = marks_of(newest.row, members, notes)
    dates = [member.results.date for member in members]
    host: HostFacts = newest.results.hosts[0]
    drawing = trend_chart(
        host.id,
        f"{newest.row.name} on {host_label(host)}",
        description_of(newest.table, lines, members, marks),
        lines,
        dates,
        marks,
        newest.table.unit,
        newest.table.better,
        table="figures",
    )
    return ScenarioLines(host=host, chart=drawing.chart, marks=marks), drawing


def _report(place: Place) -> ScenarioReport:
    results, table = place.results, place.table
    shown = {i.id: i for i in results.implementations}
    baseline = shown.get(table.baseline) if table.baseline else None
    figures = [
        ScenarioFigure(
            implementation=cell.implementation,
            library=shown[cell.implementation].library,
            version=shown[cell.implementation].version,
            label=shown[cell.implementation].label,
            colour=shown[cell.implementation].colour,
            host=host_label(host_of(results, shown[cell.implementation])),
            value=cell.value,
            text=cell.text,
            low=cell.low,
            high=cell.high,
            interval=cell.interval,
            valid=cell.valid,
            note=cell.note,
            ratio=cell.ratio.text if cell.ratio else None,
        )
        for cell in place.row.cells
        if cell.value is not None
    ]
    hosts = {figure.host for figure in figures}
    return ScenarioReport(
        id=results.id,
        title=results.title,
        date=results.date,
        link=f"perf/{results.id}/#{place.row.anchor}",
        host=hosts.pop() if len(hosts) == 1 else None,
        baseline=baseline.label if baseline and any(f.ratio for f in figures) else None,
        figures=figures,
    )


def shortened(scenario: ScenarioOverview, most: int = MOST_FIGURES) -> ScenarioOverview:
    """A scenario with only as many reports as a page can show."""
    kept: list[ScenarioReport] = []
    count = 0
    for report in scenario.reports:
        count += len(report.figures)
        if kept and count > most:
            break
        kept.append(report)
    return scenario.model_copy(update={"reports": kept, "older": len(scenario.reports) - len(kept)})


def scenario_list(found: Sequence[ScenarioOverview]) -> ScenarioList:
    """The scenarios that have pages, by kind."""
    kinds: dict[str, list[ScenarioOverview]] = {}
    for scenario in found:
        kinds.setdefault(scenario.table, []).append(scenario)
    return ScenarioList(
        kinds=[
            ScenarioKind(
                title=of[0].kind,
                unit=of[0].unit,
                scenarios=[
                    ListedScenario(id=s.id, name=s.name, reports=len(s.reports)) for s in of
                ],
            )
            for of in kinds.values()
        ],
        rows=[f"{s.id} {s.unit}" for s in found],
    )


def scenario_csv(scenario: ScenarioOverview) -> str:
    """The text of scenario.csv, with a line for each figure."""
    fields = (
        *("host", "implementation", "library", "version", "label", "value", "low", "high"),
        *("valid", "note", "ratio"),
    )
    lines: list[list[object]] = [["report", "date", "link", "unit", *fields, "baseline"]]
    for report in scenario.reports:
        for figure in report.figures:
            values: Mapping[str, object] = figure.model_dump()
            lines.append(
                [
                    *(report.id, report.date, report.link, scenario.unit),
                    *(
                        "true" if v is True else "false" if v is False else v
                        for v in (values[name] for name in fields)
                    ),
                    report.baseline if figure.ratio else None,
                ]
            )
    return csv_text(lines)
