"""The index of all results for machines, and what the pages over all reports are built from.

Pure functions of the reports' results.json. The index is published as `/data/index.json` and
`/data/index.csv`, with a data package of its columns. The list of reports and the figures of
Explore's table are apart, since no template can load all results of all reports in the time that a
site may take.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from typing import Final

from tlsperf.contract.index import (
    Explore,
    ExploredFigure,
    ExploredReport,
    ExploredScenario,
    ExploredTable,
    Index,
    IndexedResult,
    ListedReport,
    ListedRun,
)
from tlsperf.contract.results import Cell, Results, Row, ShownImplementation, Table
from tlsperf.contract.text import host_label
from tlsperf.publish.datapackage import datapackage_json
from tlsperf.publish.reports import newest_first

MOST_FIGURES: Final = 6_000
"""In Explore's table, which is one page: about 270 bytes each. Older reports are links alone."""


def index_files(reports: Sequence[Results]) -> dict[str, str]:
    """The text of each file below data/, by its name there; newest report first."""
    ordered = newest_first(reports)
    results = [result for report in ordered for result in indexed(report)]
    return {
        "index.json": _index_json(results),
        "index.csv": _index_csv(results),
        "datapackage.json": datapackage_json(),
        "reports.json": _reports_json(ordered),
        "explore.json": _explore_json(explored(ordered)),
    }


def explored(ordered: Sequence[Results], most: int = MOST_FIGURES) -> Explore:
    """The figures of whole reports, the first of `ordered` first, as long as they are `most`."""
    tables: dict[str, ExploredTable] = {}
    count, whole = 0, 0
    for report in ordered:
        values = list(_values(report))
        if count + len(values) > most:
            break
        count, whole = count + len(values), whole + 1
        for table, row, cell, shown in values:
            known = tables.setdefault(
                table.anchor,
                ExploredTable(
                    anchor=table.anchor,
                    title=table.title,
                    unit=table.unit,
                    better=table.better,
                    scenarios=[],
                ),
            )
            scenario = next((s for s in known.scenarios if s.name == row.name), None)
            if scenario is None:
                scenario = ExploredScenario(name=row.name, figures=[])
                known.scenarios.append(scenario)
            scenario.figures.append(
                ExploredFigure(
                    report=report.id,
                    anchor=None if table.by_phase else row.anchor,
                    label=shown.label,
                    colour=shown.colour,
                    text=cell.text,
                    interval=cell.interval,
                    valid=cell.valid,
                    note=cell.note,
                )
            )
    return Explore(
        figures=count,
        reports={report.id: _place(report) for report in ordered},
        tables=list(tables.values()),
        older=[report.id for report in ordered[whole:]],
    )


def _place(report: Results) -> ExploredReport:
    return ExploredReport(date=report.date, host=", ".join(map(host_label, report.hosts)))


def _values(report: Results) -> Iterator[tuple[Table, Row, Cell, ShownImplementation]]:
    """Each value of a report, in the order of its page."""
    shown = {i.id: i for i in report.implementations}
    for table in report.tables:
        for row in table.rows:
            for cell in row.cells:
                if cell.value is not None:
                    yield table, row, cell, shown[cell.implementation]


def indexed(report: Results) -> Iterator[IndexedResult]:
    """A result for each value of each table of a report, in the order of its page."""
    hosts = [host.id for host in report.hosts]
    for table, row, cell, implementation in _values(report):
        assert cell.value is not None
        yield IndexedResult(
            report=report.id,
            date=report.date,
            hosts=hosts,
            implementation=implementation.id,
            library=implementation.library,
            version=implementation.version,
            label=implementation.label,
            anchor=row.anchor,
            name=row.name,
            phase=row.phase,
            metric=row.metric,
            statistic=row.statistic,
            value=cell.value,
            unit=table.unit,
            low=cell.low,
            high=cell.high,
            rounds=cell.count,
            valid=cell.valid,
            note=cell.note,
        )


def _explore_json(explore: Explore) -> str:
    """A scenario a line; only a figure that is not valid says so."""
    text = explore.model_dump_json(exclude_defaults=True)
    return text.replace('{"name":', '\n{"name":') + "\n"


def _index_json(results: Sequence[IndexedResult]) -> str:
    """A result a line: small, and a difference shows what changed."""
    lines = ",\n".join(
        json.dumps(r.model_dump(mode="json", exclude_none=True), ensure_ascii=False)
        for r in results
    )
    version = Index.model_fields["schema_"].default
    return f'{{"schema": {version}, "results": [\n{lines}\n]}}\n'


def _index_csv(results: Sequence[IndexedResult]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(IndexedResult.model_fields), lineterminator="\n")
    writer.writeheader()
    for result in results:
        row = result.model_dump(mode="json")
        row["hosts"] = " ".join(result.hosts)
        row["valid"] = "true" if result.valid else "false"
        writer.writerow(row)
    return text.getvalue()


def _reports_json(ordered: Sequence[Results]) -> str:
    listed = [
        ListedReport(
            id=report.id,
            title=report.title,
            date=report.date,
            runs=[ListedRun(id=run.id, files=run.files) for run in report.runs],
        )
        for report in ordered
    ]
    table = [report.model_dump(mode="json", exclude_none=True) for report in listed]
    return json.dumps(table, indent=1, ensure_ascii=False) + "\n"
