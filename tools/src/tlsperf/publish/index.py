"""The index of all results for machines, and the lists that pages about all reports load.

Pure functions of the reports' results.json. The index is published as `/data/index.json` and
`/data/index.csv`, with a data package for its columns. The list of reports is a separate file,
because no template can load all results of all reports fast enough.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence

from tlsperf.contract.index import (
    Index,
    IndexedResult,
    ListedReport,
    ListedRun,
    ScenarioOverview,
)
from tlsperf.contract.results import Cell, Results, Row, ShownImplementation, Table
from tlsperf.publish.datapackage import datapackage_json
from tlsperf.publish.reports import by_time, featured
from tlsperf.publish.scenarios import scenario_list


def index_files(
    reports: Sequence[Results],
    scenarios: Sequence[ScenarioOverview],
    replaced: Sequence[Results] = (),
) -> dict[str, str]:
    """The text of each file below data/, by its name; the newest report is first. The replaced
    reports have a list of their own and no results in the index.
    """
    ordered = by_time(reports)
    results = [result for report in ordered for result in indexed(report)]
    return {
        "index.json": _index_json(results),
        "index.csv": index_csv(results),
        "datapackage.json": datapackage_json(
            "tls-performance-reports", "Results of all TLS performance reports"
        ),
        "reports.json": _reports_json(ordered, featured(ordered)),
        "replaced.json": _reports_json(by_time(replaced)),
        "scenarios.json": scenario_list(scenarios).model_dump_json(indent=1) + "\n",
    }


def _values(report: Results) -> Iterator[tuple[Table, Row, Cell, ShownImplementation]]:
    """Each value of a report, in the order of its page."""
    shown = {i.id: i for i in report.implementations}
    for table in report.tables:
        for row in table.rows:
            for cell in row.cells:
                if cell.value is not None:
                    yield table, row, cell, shown[cell.implementation]


def indexed(report: Results) -> Iterator[IndexedResult]:
    """A result for each value of a report's tables, in the order of its page."""
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


def _index_json(results: Sequence[IndexedResult]) -> str:
    """One result for each line, which is small and makes differences readable."""
    lines = ",\n".join(
        json.dumps(r.model_dump(mode="json", exclude_none=True), ensure_ascii=False)
        for r in results
    )
    version = Index.model_fields["schema_"].default
    return f'{{"schema": {version}, "results": [\n{lines}\n]}}\n'


def index_csv(results: Iterable[IndexedResult]) -> str:
    """A line for each value, with the columns that the data package describes."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(IndexedResult.model_fields), lineterminator="\n")
    writer.writeheader()
    for result in results:
        row = result.model_dump(mode="json")
        row["hosts"] = " ".join(result.hosts)
        row["valid"] = "true" if result.valid else "false"
        writer.writerow(row)
    return text.getvalue()


def _reports_json(ordered: Sequence[Results], shown: str | None = None) -> str:
    listed = [
        ListedReport(
            id=report.id,
            title=report.title,
            date=report.date,
            runs=[ListedRun(id=run.id, files=run.files) for run in report.runs],
            featured=report.id == shown,
        )
        for report in ordered
    ]
    table = [report.model_dump(mode="json", exclude_none=True) for report in listed]
    return json.dumps(table, indent=1, ensure_ascii=False) + "\n"
