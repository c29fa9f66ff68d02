"""The index of all results for machines, and the lists that pages about all reports load.

Pure functions of the reports' results. The index is published as `/data/index.json` and
`/data/index.csv`, with a data package for its columns. Lists are separate files, because no template
can load all results of all reports fast enough.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter, ValidationError

from tlsperf.contract.errors import mismatch
from tlsperf.contract.index import (
    Index,
    IndexedResult,
    ListedReport,
    ListedRun,
    ReportDownloads,
)
from tlsperf.contract.record import Identifier, Model
from tlsperf.contract.results import Cell, Results, Row, ShownImplementation, Table
from tlsperf.contract.run import Run
from tlsperf.contract.text import csv_text
from tlsperf.load.config import Site
from tlsperf.load.page import Page
from tlsperf.publish.datapackage import datapackage_json
from tlsperf.publish.reports import by_time, featured, is_first_look

_LISTED: Final = TypeAdapter(list[ListedReport])


def index_files(reports: Sequence[Results], site: Site) -> dict[str, str]:
    """The text of each file below data/, by its name; the newest report is first."""
    ordered = by_time(reports)
    results = [result for report in ordered for result in indexed(report)]
    return {
        "index.json": _index_json(results),
        "index.csv": index_csv(results),
        "datapackage.json": datapackage_json(
            "tls-performance-reports", f"{site.title}: all results", site.licences
        ),
        "downloads.json": _downloads_json(ordered),
    }


def _values(
    report: Results, phases: bool
) -> Iterator[tuple[Table, Row, Cell, ShownImplementation]]:
    """Each value of a report, in the order of its page."""
    shown = {i.id: i for i in report.implementations}
    for table in report.tables:
        if table.by_phase and not phases:
            continue
        for row in table.rows:
            for cell in row.cells:
                if cell.value is not None:
                    yield table, row, cell, shown[cell.implementation]


def indexed(report: Results, *, phases: bool = False) -> Iterator[IndexedResult]:
    """A result for each value of a report's tables, in the order of its page."""
    hosts = [host.id for host in report.hosts]
    for table, row, cell, implementation in _values(report, phases):
        assert cell.value is not None
        yield IndexedResult(
            report=report.of,
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
    rows = [list(IndexedResult.model_fields)]
    for result in results:
        row = result.model_dump(mode="json")
        row["hosts"] = " ".join(result.hosts)
        row["valid"] = "true" if result.valid else "false"
        rows.append([row[field] for field in IndexedResult.model_fields])
    return csv_text(rows)


def _downloads_json(ordered: Sequence[Results]) -> str:
    parts: dict[Identifier, list[Results]] = {}
    for part in ordered:
        parts.setdefault(part.of, []).append(part)
    listed = [
        ReportDownloads(
            id=report,
            title=of[0].title,
            date=of[0].date,
            files=[
                f"{part.id}/{name}" if len(of) > 1 else name
                for part in of
                for name in ("results.json", "results.csv")
            ],
            runs=[ListedRun(id=run.id, files=run.files) for part in of for run in part.runs],
        )
        for report, of in parts.items()
    ]
    return _json(listed)


def reports_json(pages: Sequence[Page], runs: Mapping[Identifier, Run]) -> str:
    """The text of `data/reports.json`: what lists show of the reports, the newest first."""
    listing = [page for page in pages if not is_first_look(page, runs)]
    measured = {
        page.id: [runs[run] for part in page.reports for run in part.runs] for page in listing
    }
    covered = [page.first for page in listing]
    shown = featured(covered, runs)
    listed = [
        ListedReport(
            id=report.of,
            title=report.title,
            date=report.date,
            featured=report.id == shown,
            hosts=list(dict.fromkeys(run.host_id for run in measured[report.of])),
            others=all(run.tool.name != "tlsbench" for run in measured[report.of]),
        )
        for report in by_time(covered)
    ]
    return _json(listed)


def without(path: Path, gone: Identifier) -> str:
    """The text of `data/reports.json` without a report. Raises FormatError."""
    try:
        entries = _LISTED.validate_json(path.read_bytes())
    except ValidationError as error:
        raise mismatch(error, str(path)) from None
    left = [of for of in entries if of.id != gone]
    if left and not any(of.featured for of in left):
        left[0] = left[0].model_copy(update={"featured": True})
    return _json(left)


def _json(entries: Sequence[Model]) -> str:
    """A line for each entry."""
    lines = (json.dumps(e.model_dump(mode="json"), ensure_ascii=False) for e in entries)
    return "[\n" + ",\n".join(lines) + "\n]\n"
