"""The input of every export: the results of a report and their rounds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from tlsperf.analysis.series import MeasuredRun, ReportSeries, measured, report_series
from tlsperf.contract.results import Cell, Results, Row, Table
from tlsperf.contract.text import listed
from tlsperf.load.config import read_site
from tlsperf.load.run import load_run
from tlsperf.publish.assemble import results_of

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


def no_address(publication: Publication, _: Path) -> Iterator[str]:
    """A line about links that an export leaves out."""
    known = read_site(publication.root)
    keys = {"base_url": known.address, "extra.repository": known.extra.repository}
    if missing := [key for key, address in keys.items() if not address]:
        yield f"config.toml: no public address in {listed(missing)}: nothing links there"


def read_publication(root: Path, report: str) -> Publication:
    """The report with an id. Raises UserError, with similar names, if there is none."""
    return Publication(root, results_of(root, report))
