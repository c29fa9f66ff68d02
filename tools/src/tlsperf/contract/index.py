"""What the pages over all reports read: trends, hosts, libraries, the index, Explore."""

from __future__ import annotations

from datetime import date
from typing import Literal

from pydantic import Field

from tlsperf.contract.metrics import Better, Metric, Statistic, Unit
from tlsperf.contract.record import Identifier, Model, Phase
from tlsperf.contract.results import Chart, ReportReference
from tlsperf.contract.run import HostFacts, RawFile


class TrendCell(Model):
    """One library in one report; `text` is – where the report has no such figure."""

    report: Identifier
    label: str = Field(description="implementation; empty where there is none")
    text: str
    value: float | None = None


class TrendLine(Model):
    """One library through the reports of a trend, in their order."""

    library: str
    name: str
    colour: Identifier
    cells: list[TrendCell]


class TrendMark(Model):
    """What changed between a report and the one before it."""

    report: Identifier
    text: str
    note: Identifier
    gap: bool


class TrendRow(Model):
    """One scenario through time."""

    anchor: Identifier
    name: str
    table: str
    unit: Unit
    chart: Chart
    lines: list[TrendLine]
    marks: list[TrendMark] = Field([])


class Trend(Model):
    """All scenarios of one suite on one host: `content/trends/<host>-<suite>/trend.json`."""

    id: Identifier
    host: HostFacts
    suite: Identifier
    reports: list[ReportReference]
    rows: list[TrendRow]


class HostOverview(Model):
    """`content/hosts/<host>/host.json`."""

    host: HostFacts
    reports: list[ReportReference]
    trends: list[Identifier]


class MeasuredVersion(Model):
    """A version of a library in a report."""

    label: str
    report: ReportReference
    host: str


class Standing(Model):
    """A row in which a library leads or trails, and by how much."""

    anchor: Identifier
    name: str
    text: str
    other: str


class LibraryStandings(Model):
    """Where a library stands in the newest comparison on one host."""

    report: ReportReference
    host: str
    label: str
    leads: list[Standing]
    trails: list[Standing]
    between: int


class LibraryOverview(Model):
    """`content/libraries/<library>/library.json`."""

    library: str
    name: str
    versions: list[MeasuredVersion]
    standings: list[LibraryStandings]


class IndexedResult(Model):
    """One value of one report; what stands in the columns of `data/index.csv`."""

    report: Identifier = Field(description="its page is /perf/<report>/")
    date: date
    hosts: list[Identifier] = Field(description="of the report; in CSV separated by spaces")
    implementation: Identifier
    library: str
    version: str
    label: str = Field(description="the implementation as readers see it")
    anchor: Identifier = Field(description="the row's, on the page of the report")
    name: str = Field(description="the scenario as readers see it")
    phase: Phase
    metric: Metric
    statistic: Statistic
    value: float
    unit: Unit
    low: float | None = Field(None, description="lower end of the 95 % interval")
    high: float | None = None
    rounds: int | None = Field(None, description="behind the value")
    valid: bool
    note: str | None = Field(None, description="why invalid")


class Index(Model):
    """`data/index.json`: all results of all reports, newest report first."""

    schema_: Literal[1] = Field(1, alias="schema")
    results: list[IndexedResult]


class ListedRun(Model):
    """A run of a report with its raw files."""

    id: Identifier
    files: list[RawFile]


class ListedReport(ReportReference):
    """An entry of `data/reports.json`, newest first: what a page of a list shows of a report."""

    runs: list[ListedRun]


class ExploredFigure(Model):
    """A figure of Explore's table, without JavaScript."""

    report: Identifier
    anchor: Identifier | None = Field(
        None, description="the row's, on the page of the report; absent where only files have it"
    )
    label: str
    colour: Identifier
    text: str
    interval: str | None = None
    valid: bool = True
    note: str | None = None


class ExploredScenario(Model):
    """A scenario with all its figures, of the newest report first."""

    name: str
    figures: list[ExploredFigure]


class ExploredTable(Model):
    """What can be compared: tables of one anchor and unit, of several reports."""

    anchor: Identifier
    title: str
    unit: Unit
    better: Better
    scenarios: list[ExploredScenario]


class ExploredReport(Model):
    """Where and when a report's figures were measured."""

    date: date
    host: str


class Explore(Model):
    """`data/explore.json`: all figures of the newest reports, and which reports are older."""

    figures: int = Field(ge=0)
    reports: dict[Identifier, ExploredReport]
    tables: list[ExploredTable]
    older: list[Identifier] = Field(description="of these the table holds nothing")
