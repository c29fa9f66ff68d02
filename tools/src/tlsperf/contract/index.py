"""Data of the pages about several reports: trends, hosts, libraries, scenarios, the index."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from tlsperf.contract.metric import Better
from tlsperf.contract.metrics import Metric, Statistic, Unit
from tlsperf.contract.record import Day, Identifier, Model, Phase
from tlsperf.contract.results import Caveat, Chart, ReportReference, RowReference, StoredFile
from tlsperf.contract.run import HostFacts


class TrendCell(Model):
    """The figure of one library in one report; `text` is – if the report has none."""

    report: Identifier
    label: str = Field(description="implementation; empty if there is none")
    text: str
    value: float | None = None


class TrendLine(Model):
    """The figures of one library in the reports of a trend, in the order of the reports."""

    library: str
    name: str
    colour: Identifier
    cells: list[TrendCell]


class TrendMark(Model):
    """A change between a report and the one before it that affects a trend."""

    report: Identifier
    text: str
    note: Identifier
    gap: bool


class TrendRow(RowReference):
    """The figures of one scenario over time."""

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
    tools: list[str] = Field(description="the programs that measured its figures")
    rows: list[TrendRow]


class HostOverview(Model):
    """The reports of one host: `content/hosts/<host>/host.json`."""

    host: HostFacts
    reports: list[ReportReference]
    trends: list[Identifier]


class MeasuredVersion(Model):
    """A version of a library in a report."""

    label: str
    report: ReportReference
    host: str


class LibraryOverview(Model):
    """The versions of one library: `content/libraries/<library>/library.json`."""

    library: str
    name: str
    versions: list[MeasuredVersion]
    withdrawn: Caveat | None = Field(None, description="why no report shows figures of it")


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

    runs: list[ListedRun]


class ListedReport(ReportReference):
    """An entry of `data/reports.json`: what lists show of a report. The newest is first."""

    featured: bool = Field(
        description="shown where a page shows one report: the newest of the main series, or "
        "else the newest"
    )


class ScenarioFigure(Model):
    """A value of a report in one scenario, as the report's page shows it."""

    implementation: Identifier
    library: str
    version: str
    label: str
    colour: Identifier
    host: str
    value: float
    text: str
    low: float | None = None
    high: float | None = None
    interval: str | None = None
    valid: bool = True
    note: str | None = None
    ratio: str | None = Field(None, description="to the baseline of its report")


class ScenarioReport(ReportReference):
    """The figures of one report in a scenario."""

    link: str = Field(description="to the row on its page, below the address of the site")
    host: str | None = Field(None, description="of all its figures; absent: they are of several")
    baseline: str | None = Field(None, description="what its ratios refer to")
    figures: list[ScenarioFigure]


class ScenarioFact(Model):
    """A field of a scenario as readers see it."""

    name: str
    value: str


class ScenarioLines(Model):
    """The chart of a scenario over the reports of one host."""

    host: HostFacts
    chart: Chart
    marks: list[TrendMark]


class ScenarioOverview(Model):
    """`content/scenarios/<anchor>/scenario.json`: a scenario in all reports, newest first.

    Templates read `page.json` beside it, which has only the newest reports if there are many.
    """

    id: Identifier = Field(description="the anchor of its rows")
    name: str
    table: Identifier = Field(description="anchor of the table that it stands in")
    kind: str = Field(description="title of that table")
    unit: Unit
    better: Better
    done: str = Field(description="what is done, in a sentence")
    why: str = Field(description="who does it, in a sentence")
    facts: list[ScenarioFact]
    newest: Chart = Field(description="the figures of the first report")
    lines: list[ScenarioLines]
    reports: list[ScenarioReport]
    notes: list[str] = Field([], description="what its figures do not say, in sentences")
    older: int = Field(0, ge=0, description="reports that are left out")


class ListedScenario(Model):
    """A scenario that has a page, with the number of its reports."""

    id: Identifier
    name: str
    reports: int


class ScenarioKind(Model):
    """The scenarios of one table."""

    title: str
    unit: Unit
    scenarios: list[ListedScenario]


class ScenarioList(Model):
    """`data/scenarios.json`: the scenarios that have a page."""

    kinds: list[ScenarioKind]
    rows: list[str] = Field(description="anchor and unit of each row that has a page")
