"""Data of the pages about several reports, and of the index."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from tlsperf.contract.metrics import Metric, Statistic, Unit
from tlsperf.contract.record import Day, Identifier, Model, Phase
from tlsperf.contract.results import ReportReference, StoredFile


class IndexedResult(Model):
    """One value of one report, with the columns of `data/index.csv`."""

    report: Identifier = Field(description="its page is /perf/<report>/")
    date: Day
    hosts: list[Identifier] = Field(description="hosts of the report; separated by spaces in CSV")
    implementation: Identifier
    library: str
    version: str
    label: str = Field(description="the implementation as readers see it")
    anchor: Identifier = Field(description="anchor of the row on the report's page")
    name: str = Field(description="the scenario as readers see it")
    phase: Phase
    metric: Metric
    statistic: Statistic
    value: float
    unit: Unit
    low: float | None = Field(None, description="lower end of the 95% interval")
    high: float | None = None
    rounds: int | None = Field(None, description="number of rounds behind the value")
    valid: bool
    note: str | None = Field(None, description="why invalid")


class Index(Model):
    """`data/index.json`: all results of all reports, newest report first."""

    schema_: Literal[1] = Field(1, alias="schema")
    results: list[IndexedResult]


class ListedRun(Model):
    """A run of a report with its raw files."""

    id: Identifier
    files: list[StoredFile]


class ReportDownloads(ReportReference):
    """An entry of `data/downloads.json`: the raw files of a report. The newest is first."""

    files: list[str] = Field(
        description="beside its page: results.json and results.csv of each part"
    )
    runs: list[ListedRun]


class ListedReport(ReportReference):
    """An entry of `data/reports.json`: what lists show of a report. The newest is first."""

    featured: bool = Field(
        description="shown where a page shows one report: the newest of the main series, or "
        "else the newest"
    )
    hosts: list[Identifier] = Field(description="on which it was measured")
    others: bool = Field(description="whether another program than tlsbench measured it")
