"""The input of every export: the results of a report and their rounds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from tlsperf.analysis.series import MeasuredRun, ReportSeries, measured, report_series
from tlsperf.contract.errors import UserError
from tlsperf.contract.results import Cell, Results, Row, Table
from tlsperf.load.results import read_results
from tlsperf.load.run import load_run

REPORTS = Path("content", "perf")
RUNS = Path("data", "runs")


class Figure(NamedTuple):
    table: Table
    row: Row
    cell: Cell
    value: float


@dataclass(frozen=True)
class Publication:
    """A published report; the rounds are read when a format needs them."""

    root: Path
    results: Results

    @property
    def figures(self) -> Iterator[Figure]:
        """All valid values, in the order of the page, without phases."""
        for table in self.results.tables:
            if table.by_phase:
                continue
            for row in table.rows:
                for cell in row.cells:
                    if cell.value is not None and cell.valid:
                        yield Figure(table, row, cell, cell.value)

    @cached_property
    def runs(self) -> list[MeasuredRun]:
        return [
            measured(load_run(self.root / RUNS / reference.id)) for reference in self.results.runs
        ]

    @cached_property
    def series(self) -> ReportSeries:
        """The values of each round."""
        return report_series(self.runs)


def read_publication(root: Path, report: str) -> Publication:
    """The report with an id. Raises UserError, with similar names, if there is none."""
    folder = root / REPORTS
    if not (folder / report / "results.json").is_file():
        known = sorted(path.parent.name for path in folder.glob("*/results.json"))
        near = get_close_matches(report, known, n=3) or known[-3:]
        raise UserError(
            f"found no report {report!r} with a results.json in {REPORTS}, expected one such as "
            f"{', '.join(near) or 'those that `tlsperf new` makes'}"
        )
    return Publication(root, read_results(folder / report / "results.json"))
