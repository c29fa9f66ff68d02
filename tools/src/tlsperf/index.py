"""The index of all results for machines, and the list of reports that the data page shows.

Pure functions of the reports' results.json. The index is published as `/data/index.json` and
`/data/index.csv`; the list is apart, since no template can load all results of all reports in the
time that a site may take.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence

from tlsperf.model import Index, IndexedResult, ListedReport, ListedRun, Results


def index_files(reports: Sequence[Results]) -> dict[str, str]:
    """The text of each file below data/, by its name there; newest report first."""
    ordered = sorted(reports, key=lambda r: (r.date, r.id), reverse=True)
    results = [result for report in ordered for result in indexed(report)]
    return {
        "index.json": _index_json(results),
        "index.csv": _index_csv(results),
        "reports.json": _reports_json(ordered),
    }


def indexed(report: Results) -> Iterator[IndexedResult]:
    """A result for each value of each table of a report, in the order of its page."""
    shown = {i.id: i for i in report.implementations}
    hosts = [host.id for host in report.hosts]
    for table in report.tables:
        for row in table.rows:
            for cell in row.cells:
                if cell.value is None:
                    continue
                implementation = shown[cell.implementation]
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
    listed = {
        report.id: ListedReport(runs=[ListedRun(id=run.id, files=run.files) for run in report.runs])
        for report in ordered
    }
    table = {name: one.model_dump(mode="json", exclude_none=True) for name, one in listed.items()}
    return json.dumps(table, indent=1, ensure_ascii=False) + "\n"
