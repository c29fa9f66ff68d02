"""Pages over all reports: trends, hosts, libraries. Pure functions of results.json and notes.

A trend has the reports of one suite on one host. A report on several hosts, or without a suite,
stands in none; one that compares builds of a library stands in a trend with the builds that its
`[extra.report.trend]` names.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tlsperf.analysis.ratios import factor_text
from tlsperf.contract.index import (
    HostOverview,
    LibraryOverview,
    LibraryStandings,
    MeasuredVersion,
    Standing,
    Trend,
    TrendCell,
    TrendLine,
    TrendMark,
    TrendRow,
)
from tlsperf.contract.metrics import METRICS
from tlsperf.contract.record import Identifier, Model
from tlsperf.contract.results import (
    Cell,
    Chart,
    Note,
    ReportReference,
    Results,
    Row,
    ShownImplementation,
    Table,
)
from tlsperf.contract.run import HostFacts, Report
from tlsperf.contract.text import ABSENT, LIBRARY_NAMES, host_label
from tlsperf.load.notes import touches
from tlsperf.report.charts import Each
from tlsperf.report.charts.theme import WIDTH
from tlsperf.report.charts.trend import trend as trend_picture

FEWEST = 2
"""Reports from which there is a trend."""


@dataclass(frozen=True)
class Member:
    """A report in a trend, with the one implementation of each library that stands for it."""

    results: Results
    implementations: Mapping[str, ShownImplementation]


def newest_first(reports: Iterable[Results]) -> list[Results]:
    """The newest report first; of one day the one of the main series, the others by their ids."""

    def place(report: Results) -> tuple[int, bool, str]:
        main = {run.family for run in report.runs} == {"main"}
        return -report.date.toordinal(), not main, report.id

    return sorted(reports, key=place)


def reference(results: Results) -> ReportReference:
    return ReportReference(id=results.id, title=results.title, date=results.date)


# --- trends --------------------------------------------------------------------------------------


def trends(
    reports: Sequence[tuple[Report, Results]], notes: Sequence[Note], each: Each = map
) -> list[tuple[Trend, dict[str, str]]]:
    """Each trend with the text of its charts, by file name."""
    groups: dict[tuple[str, str], list[Member]] = {}
    for report, results in sorted(reports, key=lambda pair: (pair[1].date, pair[1].id)):
        place = _place(report, results)
        if place:
            suite, member = place
            groups.setdefault((results.hosts[0].id, suite), []).append(member)
    return [
        _trend(host, suite, members, notes, each)
        for (host, suite), members in sorted(groups.items())
        if len(members) >= FEWEST
    ]


def _place(report: Report, results: Results) -> tuple[Identifier, Member] | None:
    if len(results.hosts) != 1:
        return None
    wanted = report.trend.implementations if report.trend else None
    suites = {run.suite for run in results.runs}
    suite = report.trend.suite if report.trend else (suites.pop() if len(suites) == 1 else None)
    if suite is None:
        return None
    chosen: dict[str, ShownImplementation] = {}
    for implementation in results.implementations:
        if wanted is not None and implementation.id not in wanted:
            continue
        if implementation.library in chosen:
            return None  # nobody has said which of its builds stands for the library
        chosen[implementation.library] = implementation
    return suite, Member(results, chosen)


def _trend(
    host: Identifier,
    suite: Identifier,
    members: Sequence[Member],
    notes: Sequence[Note],
    each: Each,
) -> tuple[Trend, dict[str, str]]:
    from tlsperf.report.charts.svg import draw

    newest = members[-1].results
    rows, specifications = [], []
    for table in newest.tables:
        for row in table.rows:
            if not METRICS[row.metric].trend or row.scenario.operation == "primitive":
                continue
            lines = _lines(row, members)
            marks = _marks(row, members, notes)
            dates = [m.results.date for m in members]
            picture = trend_picture(lines, dates, marks, table.unit, table.better)
            chart = Chart(
                anchor=f"chart-{row.anchor}",
                file=f"{row.anchor}.svg",
                title=row.name,
                description=_description(table, lines, members, marks),
                width=WIDTH,
                height=picture.height,
                table=row.anchor,
            )
            specifications.append(picture.specification)
            rows.append(
                TrendRow(
                    anchor=row.anchor,
                    name=row.name,
                    table=table.title,
                    unit=table.unit,
                    chart=chart,
                    lines=lines,
                    marks=marks,
                )
            )
    found = Trend(
        id=f"{host}-{suite}",
        host=newest.hosts[0],
        suite=suite,
        reports=[reference(m.results) for m in members],
        rows=rows,
    )
    charts = [row.chart for row in rows]
    drawn = each(draw, specifications, charts)
    return found, dict(zip((chart.file for chart in charts), drawn, strict=True))


def _lines(row: Row, members: Sequence[Member]) -> list[TrendLine]:
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
                    name=LIBRARY_NAMES[library],
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


def _marks(row: Row, members: Sequence[Member], notes: Sequence[Note]) -> list[TrendMark]:
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


def _description(
    table: Table, lines: Sequence[TrendLine], members: Sequence[Member], marks: Sequence[TrendMark]
) -> str:
    dates = {m.results.id: f"{m.results.date:%B %Y}" for m in members}
    told = "; ".join(
        f"{line.name}: "
        + ", ".join(f"{dates[c.report]} {c.text}" for c in line.cells if c.value is not None)
        for line in lines
    )
    changed = "".join(f" Before {dates[m.report]}: {m.text}." for m in marks)
    return f"Lines over time in {table.unit}. {told}.{changed}"


# --- hosts ---------------------------------------------------------------------------------------


def hosts(results: Sequence[Results], trend_list: Sequence[Trend]) -> list[HostOverview]:
    """Each host of a report, with its reports, newest first."""
    facts: dict[Identifier, HostFacts] = {}
    reports: dict[Identifier, list[Results]] = {}
    for report in newest_first(results):
        for host in report.hosts:
            facts.setdefault(host.id, host)
            reports.setdefault(host.id, []).append(report)
    return [
        HostOverview(
            host=host,
            reports=[reference(r) for r in reports[host.id]],
            trends=[t.id for t in trend_list if t.host.id == host.id],
        )
        for host in facts.values()
    ]


# --- libraries -----------------------------------------------------------------------------------


def libraries(results: Sequence[Results]) -> list[LibraryOverview]:
    """Each library of a report: its versions, newest first, and where it leads and trails in the
    newest report of a suite on each host that compares it with another one."""
    ordered = newest_first(results)
    names = sorted({i.library for r in ordered for i in r.implementations})
    return [
        LibraryOverview(
            library=name,
            name=LIBRARY_NAMES[name],
            versions=[
                MeasuredVersion(
                    label=i.label, report=reference(r), host=", ".join(map(host_label, r.hosts))
                )
                for r in ordered
                for i in r.implementations
                if i.library == name
            ],
            standings=_standings(name, ordered),
        )
        for name in names
    ]


def _standings(library: str, ordered: Sequence[Results]) -> list[LibraryStandings]:
    found: dict[Identifier, LibraryStandings] = {}
    for results in ordered:
        compares = len(results.hosts) == 1 and all(run.suite for run in results.runs)
        if not compares or results.hosts[0].id in found:
            continue
        standing = _standing(library, results)
        if standing:
            found[results.hosts[0].id] = standing
    return list(found.values())


def _standing(library: str, results: Results) -> LibraryStandings | None:
    shown = {i.id: i for i in results.implementations}
    leads, trails, between = [], [], 0
    for table in results.tables:
        for row in table.rows:
            if (
                table.by_phase
                or row.scenario.operation == "primitive"
                or not METRICS[row.metric].primary
            ):
                continue
            best = _best_of_each(row, shown)
            if library not in best or len(best) < 2:
                continue
            ranked = sorted(best.values(), key=lambda c: c.value or 0, reverse=True)
            own = best[library]
            if ranked[0] is own:
                leads.append(_against(row, own, ranked[1], shown))
            elif ranked[-1] is own:
                trails.append(_against(row, own, ranked[0], shown))
            else:
                between += 1
    if not (leads or trails or between):
        return None
    labels = [i.label for i in results.implementations if i.library == library]
    return LibraryStandings(
        report=reference(results),
        host=host_label(results.hosts[0]),
        label=labels[0] if len(labels) == 1 else f"{LIBRARY_NAMES[library]}, best of its builds",
        leads=leads,
        trails=trails,
        between=between,
    )


def _best_of_each(row: Row, shown: Mapping[str, ShownImplementation]) -> dict[str, Cell]:
    best: dict[str, Cell] = {}
    for cell in row.cells:
        library = shown[cell.implementation].library
        if cell.valid and cell.value:
            known = best.get(library)
            if known is None or (known.value or 0) < cell.value:
                best[library] = cell
    return best


def _against(
    row: Row, own: Cell, other: Cell, shown: Mapping[str, ShownImplementation]
) -> Standing:
    return Standing(
        anchor=row.anchor,
        name=row.name,
        text=factor_text((own.value or 0) / (other.value or 1)),
        other=shown[other.implementation].label,
    )


# --- files -------------------------------------------------------------------------------------


def overview_files(
    reports: Sequence[tuple[Report, Results]], notes: Sequence[Note], each: Each = map
) -> dict[str, str]:
    """The text of each file below content/, by its path there."""
    files: dict[str, str] = {}
    found = trends(reports, notes, each)
    for trend, drawings in found:
        folder = f"trends/{trend.id}"
        title = f"{trend.host.cpu}, suite {trend.suite}"
        first, last = trend.reports[0].date, trend.reports[-1].date
        about = f"Every scenario of the suite {trend.suite} from {first} to {last}."
        files[f"{folder}/index.md"] = _page(title, about, "trend.html")
        files[f"{folder}/trend.json"] = _json(trend)
        files |= {f"{folder}/{name}": text for name, text in drawings.items()}
    every = [results for _, results in reports]
    for host in hosts(every, [trend for trend, _ in found]):
        folder = f"hosts/{host.host.id}"
        name = host_label(host.host)
        about = host.host.description or f"Reports measured on {name}."
        files[f"{folder}/index.md"] = _page(name, about, "host.html")
        files[f"{folder}/host.json"] = _json(host)
    for library in libraries(every):
        folder = f"libraries/{library.library}"
        about = f"The versions of {library.name} in the reports, and where it leads and trails."
        files[f"{folder}/index.md"] = _page(library.name, about, "library.html")
        files[f"{folder}/library.json"] = _json(library)
    return files


def _page(title: str, description: str, template: str) -> str:
    head = "".join(
        f"{key} = {json.dumps(value, ensure_ascii=False)}\n"
        for key, value in (("title", title), ("description", description), ("template", template))
    )
    return f"+++\n# written by `tlsperf render`: changes are lost\n{head}+++\n"


def _json(model: Model) -> str:
    table = model.model_dump(mode="json", exclude_none=True)
    return json.dumps(table, indent=1, ensure_ascii=False) + "\n"
