"""`results.json`: everything that the page of a report shows. page.json is made of it."""

from __future__ import annotations

import math
import re
from typing import Final, Literal, Self, get_args

from pydantic import Field, model_validator

from tlsperf.contract.agreement import agrees
from tlsperf.contract.metric import Better
from tlsperf.contract.metrics import Metric, Statistic, Unit
from tlsperf.contract.record import Day, Identifier, Model, Moment, Phase, Scenario, Url
from tlsperf.contract.run import HostFacts, Implementation, RawFile, RunWarning, Source, Tool

Verdict = Literal["faster", "slower", "no difference shown", "too few rounds", "not tested"]

IntervalSource = Literal["measured", "assumed"]
"""Where the spread between runs comes from: runs on this processor model, or an assumption."""


_NO_DIFFERENCE: Final = re.compile(
    r"(?:the same|no difference shown)(?: within | \()?([0-9,.]+)?(%|x)?(?: would show\))?"
)


class Ratio(Model):
    """How many times better a cell is than the baseline of its row, or than itself in another row.

    It is cell over baseline for rates, and baseline over cell for durations, bytes and
    instructions: above 1 is always better. The verdict depends on the interval from `low` to
    `high`, which is corrected for the number of comparisons (`tlsperf.analysis.statistics`).
    """

    value: float = Field(gt=0)
    low: float | None = Field(None, gt=0)
    high: float | None = Field(None, gt=0)
    verdict: Verdict
    paired: bool = False
    text: str = Field(
        description="as readers see it: 1.70x faster (1.68 to 1.72), 1.2% fewer, 31.2% lost (30.8 to "
        "31.6%)"
    )
    note: str | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        _check_interval(self.low, self.high)
        if self.verdict == "no difference shown" and self.low and self.high:
            return self._check_same(self.low, self.high)
        is_loss = self.text.partition("% ")[2].startswith(("lost", "gained"))
        expected = self._lost() if is_loss else self._factors()
        # Of a small difference in %, the six digits of a ratio leave fewer.
        stored = 1e-3 if "%" in self.text and not is_loss else 5e-6
        if not agrees(self.text, *expected, stored=stored):
            numbers = ", ".join(f"{number:.6g}" for number in expected)
            raise ValueError(f"a text of {numbers}, not {self.text!r}")
        return self

    def _check_same(self, low: float, high: float) -> Self:
        """The text has at least the size within which the two are, or from which they would differ.

        It is more where a noise floor hides larger differences.
        """
        within = self.text.startswith("the same")
        least = max(high, 1 / low) if within else max(high / self.value, self.value / low)
        said = _NO_DIFFERENCE.fullmatch(self.text)
        number = float(((said and said[1]) or "0").replace(",", ""))
        size = number if said and said[2] == "x" else 1 + number / 100
        if said is None or size < least * (1 - 1e-5):
            raise ValueError(f"a text of at least {size_text(least)}, not {self.text!r}")
        return self

    def _factors(self) -> list[float]:
        """The numbers of a text of factors; a worse one is inverted, a count has no interval."""
        if self.low is None or self.high is None or "(" not in self.text:
            factor = 1 / self.value if self.verdict == "slower" else self.value
            return [100 * (factor - 1) if "%" in self.text else factor]
        if self.verdict == "slower":
            return [1 / self.value, 1 / self.high, 1 / self.low]
        return [self.value, self.low, self.high]

    def _lost(self) -> list[float]:
        """The numbers of a text of the part that is lost or gained, in %."""
        of = [self.value]
        if self.low is not None and self.high is not None:
            of += [self.low, self.high] if self.verdict == "faster" else [self.high, self.low]
        return [100 * abs(1 - ratio) for ratio in of]


def size_text(ratio: float) -> str:
    """A ratio above 1 as the size of a difference, rounded up: 7%, 2.5x."""
    if ratio < 2:
        return f"{math.ceil(round(100 * (ratio - 1), 3))}%"
    step = 10.0 ** (math.floor(math.log10(ratio)) - 1)
    return f"{math.ceil(round(ratio / step, 3)) * step:,.{1 if ratio < 10 else 0}f}x"


def _check_interval(low: float | None, high: float | None) -> None:
    if (low is None) != (high is None):
        raise ValueError("both low and high, or neither")
    if low is not None and high is not None and low > high:
        raise ValueError(f"low up to high, not {low:g} and {high:g}")


class Cell(Model):
    """One implementation in one row. `value` is absent if there is no measurement."""

    implementation: Identifier
    value: float | None = Field(None, ge=0)
    text: str = Field(description="the value as readers see it, without the unit; – if absent")
    low: float | None = Field(None, ge=0)
    high: float | None = Field(None, ge=0)
    interval: str | None = Field(
        None, description="predicts the median of another run; as readers see it"
    )
    count: int | None = Field(None, ge=1, description="rounds behind the value")
    spread_percent: float | None = Field(None, ge=0, description="relative standard deviation")
    valid: bool = True
    best: bool = Field(False, description="shown to be better than the next library in its row")
    tied: bool = Field(False, description="among the leading libraries, of which none is best")
    note: str | None = Field(None, description="why absent or invalid")
    warnings: list[str] = Field([], description="about rounds that do not count")
    ratio: Ratio | None = None
    segments: int | None = Field(None, ge=1, description="TCP segments that a flight fills")

    @model_validator(mode="after")
    def _check(self) -> Self:
        _check_interval(self.low, self.high)
        if self.value is None:
            if not agrees(self.text) or self.low is not None:
                raise ValueError(f"no figure without a value, not {self.text!r}")
            return self
        # Of a rate of a virtual machine three digits are printed.
        if not agrees(self.text, self.value, stored=1e-9 if self.low is not None else 5e-3):
            raise ValueError(f"a text of {self.value!r}, not {self.text!r}")
        bounds = [bound for bound in (self.low, self.high) if bound is not None]
        # Rounded to seven digits, and printed with the decimals of the value.
        if bounds and not agrees(self.interval or "", *bounds, stored=5e-7):
            raise ValueError(f"an interval of {bounds}, not {self.interval!r}")
        return self


class RowReference(Model):
    """A row of a table of the same report."""

    anchor: Identifier
    name: str


class OfRow(RowReference):
    """Something of one implementation in a row."""

    implementation: Identifier


class Row(RowReference):
    """One scenario, or one phase of it, for all implementations."""

    scenario: Scenario
    phase: Phase = "total"
    metric: Metric = "rate"
    statistic: Statistic = "value"
    against: Identifier | None = Field(
        None, description="in a price list: the row that each implementation is compared with"
    )
    cells: list[Cell]


class HarnessShare(OfRow):
    """Share of a transfer's time that the harness and its transport take, in per cent."""

    clock_percent: float = Field(description="reading the clock")
    calls_percent: float = Field(description="calls and bookkeeping of the driver")
    copies_percent: float = Field(description="framing and copying to or from the transport")


LayoutKind = Literal["shifted", "shuffled", "shared"]
LAYOUT_KINDS: Final[tuple[LayoutKind, ...]] = get_args(LayoutKind)
"""The kinds in the order in which pages show them."""


class LayoutEffect(OfRow):
    """Change of one row's rate by the layout of one program, against the linker's own order."""

    kind: LayoutKind = Field(description="how the layouts differ")
    percents: list[float] = Field(description="of each layout against the own order, ascending")
    same_percent: float = Field(
        ge=0, description="A/A: 95% of equal layouts are within, by the sessions of each"
    )
    beyond: int = Field(ge=0, description="layouts that differ from the own order by more than A/A")
    text: str = Field(description="lowest to highest as readers see them: −9.6 to +0.4%")
    same_text: str


class Table(Model):
    """Rows with one unit, in the order in which pages show them."""

    anchor: Identifier
    title: str
    caption: str
    unit: Unit
    better: Better
    by_phase: bool = Field(False, description="its rows are parts of the rows of another table")
    interval_source: IntervalSource | None = Field(
        None, description="of ratios and times; absent: it has no intervals, or those of counts"
    )
    interval_note: str | None = Field(None, description="what they promise, in sentences")
    dividing_percent: float | None = Field(
        None,
        ge=0,
        description="by how much at most a quotient of two printed figures differs from their "
        "ratio; absent: it has no ratios but those of counts",
    )
    warnings: list[str] = Field([], description="about its figures: a sentence each")
    harness: list[HarnessShare] | None = Field(
        None, description="shares of transfers; absent: not measured"
    )
    harness_statement: str | None = Field(None, description="the same in a sentence")
    layouts: list[LayoutEffect] | None = Field(
        None, description="effects of layouts; absent: no run repeats layouts"
    )
    baseline: Identifier | None = None
    implementations: list[Identifier]
    rows: list[Row]

    @property
    def compares_rows(self) -> bool:
        """Whether each implementation is compared with itself: pages show the rows as columns."""
        return any(row.against for row in self.rows)


class Key(Model):
    """A line of a chart's legend."""

    label: str
    colour: Identifier
    dash: str | None = Field(None, description="lengths in pixels; absent: a solid line")


class Chart(Model):
    """An SVG file beside the report's page."""

    anchor: Identifier
    file: str
    title: str
    description: str = Field(description="text alternative, drawn from the data")
    note: str | None = Field(None, description="how to read it")
    keys: list[Key] = Field([], description="the legend of its lines")
    width: int
    height: int
    table: Identifier = Field(description="anchor of the table with the same figures")


class StoredFile(RawFile):
    """A raw file of a run, with its address below the run's folder."""

    stored: str | None = Field(
        None, description="its path where it is compressed: with .gz; absent: it is not"
    )


class RunReference(Model):
    """A run of a report, with the facts that the page shows of it."""

    id: Identifier
    date: Day
    suite: str | None = None
    family: Identifier | None = Field(None, description="family of the suite")
    rounds: int | None = None
    allocator: str | None = None
    host_id: Identifier
    tool: Tool
    source: Source | None = None
    files: list[StoredFile]
    warnings: list[RunWarning] = Field([])
    overhead: str | None = Field(None, description="what the harness itself costs, in words")
    took: str | None = Field(None, description="from its start to its end: 9 minutes")


class ShownImplementation(Implementation):
    """An implementation with its readable name and its colour."""

    label: str = Field(description="rustls 0.23.40 (aws-lc-rs)")
    colour: Identifier = Field(description="class of the library's colour in charts and style")
    host: Identifier | None = Field(None, description="its host; absent: the report has only one")


class Change(RowReference):
    """The change of one row of one library: now over before."""

    against: str | None = Field(
        None, description="the library that the ratios before and after are to; absent: figures"
    )
    before: str
    after: str
    ratio: Ratio


class LibraryChanges(Model):
    """The changes of one library since the predecessor."""

    before: ShownImplementation
    after: ShownImplementation
    statement: str = Field(
        description="OpenSSL 3.3.2 to 3.5.1: 2 faster, 4 slower, 10 unchanged of 16 rows"
    )
    details: list[str] = Field([], description="what else changed in its build")
    compared: int
    unchanged: int
    changes: list[Change] = Field(description="the largest first")


class Changes(Model):
    """What changed since the last comparable report."""

    predecessor: Identifier = Field(description="id of the earlier report")
    title: str
    date: Day
    shift: str | None = Field(
        None, description="what all libraries share: All 48 rates are higher by 11 to 18%"
    )
    caveats: list[RunWarning] = Field(
        [], description="changes of host or method, to be read first; ratios are then neutral"
    )
    rule: str = Field(description="what counts as a change here")
    libraries: list[LibraryChanges]
    gone: list[str] = Field([], description="implementations and rows of the predecessor alone")
    new: list[str] = Field([], description="implementations and rows of this report alone")


class NoiseRow(OfRow):
    """One implementation compared with itself in one row: the distance from 1 is noise."""

    ratio: Ratio


NoiseSource = Literal["same binary twice", "alternate rounds", "another layout"]


class Noise(Model):
    """How far two measurements of the same thing differ; smaller differences show nothing."""

    source: NoiseSource
    run: Identifier
    floor_percent: float | None = Field(
        None, ge=0, description="95% of the comparisons are within it; absent: not measured"
    )
    ratio_percent: float | None = Field(
        None,
        ge=0,
        description="95% of ratios of two implementations, over a run's sessions, are within it",
    )
    comparisons: int
    false_verdicts: int | None = Field(None, description="faster or slower, of the comparisons")
    statement: str
    rows: list[NoiseRow]


class SocketShares(OfRow):
    """The parts of a server's processor time for one connection, as percentages."""

    connection: str = Field(description="processor time of a connection, in µs as readers see it")
    handshake: str = Field(description="the same handshake in memory, in µs")
    library_percent: float = Field(ge=0, description="the handshake in memory")
    kernel_percent: float = Field(ge=0, description="time in the kernel")
    rest_percent: float = Field(
        description="the rest of the time in the process; below 0 if the handshake in memory took "
        "longer than all of it"
    )
    library: str = Field(description="61%")
    kernel: str
    rest: str
    note: str | None = None


class Comparison(Model):
    """Two implementations in one row, neither of them the baseline, that a claim compares."""

    row: Identifier
    implementation: Identifier
    over: Identifier
    ratio: Ratio


class Quoted(Model):
    """A figure or a ratio in a report's prose."""

    key: str = Field(description="the shortcode: ratio(<row>, <implementation>)")
    text: str
    place: str = Field(description="place of the figure: #<anchor> on the page")


class PublishedTable(Model):
    """A table as its source printed it, computed from the data, with its errors corrected."""

    anchor: Identifier
    title: str
    columns: list[str]
    rows: list[list[str]]


CaveatKind = Literal["tool", "page", "setup", "reading"]


class CaveatSource(Model):
    """A source for the fact that a caveat states."""

    title: str
    url: Url


class Caveat(Model):
    """A known fact about published figures: an entry of `data/notes.toml`."""

    id: Identifier
    kind: CaveatKind
    title: str
    text: str
    warning: str | None = Field(
        None, description="a sentence for the top of the report: figures cannot be compared"
    )
    runs: list[Identifier] = Field([], description="absent: all runs of tlsbench")
    libraries: list[str] = Field([])
    withdraws: bool = Field(False, description="figures of the libraries in the runs are not shown")
    scenarios: list[dict[str, str | int]] = Field([])
    sources: list[CaveatSource] = Field(min_length=1)


class ShownCaveat(Model):
    """A caveat of a report's page, by its id in `data/notes.toml`, with the affected rows."""

    id: Identifier
    kind: CaveatKind
    touched: int | None = Field(
        None, description="number of affected rows; absent: all of the report"
    )
    rows: list[RowReference] = Field([], description="the affected rows, if they are few")


class Results(Model):
    """`content/perf/<date>-<slug>/results.json`: everything that a page shows."""

    schema_: Literal[1] = Field(1, alias="schema")
    id: Identifier = Field(description="<date>-<slug>; of a part of a report: its first run")
    page: Identifier | None = Field(None, description="the report whose part it is; absent: itself")
    title: str
    date: Day
    time: Moment | None = Field(
        None, description="on its day: what orders reports of one day; absent: midnight"
    )
    virtual: bool | None = Field(None, description="measured in a virtual machine")
    baseline: Identifier | None = None
    runs: list[RunReference]
    hosts: list[HostFacts]
    implementations: list[ShownImplementation]
    tables: list[Table]
    charts: list[Chart]
    warnings: list[RunWarning] = Field([])
    changes: Changes | None = Field(None, description="since the last comparable report")
    noise: list[Noise] = Field([])
    noise_floor_percent: float | None = Field(
        None, description="no difference of times up to it is called faster or slower"
    )
    count_floor_percent: float | None = Field(
        None, description="no difference of counts up to it is called fewer or more"
    )
    sockets: list[SocketShares] | None = Field(
        None, description="of servers whose handshakes were also measured in memory"
    )
    prices: list[Table] | None = Field(
        None,
        description="the price list: rows of the tables, as times or with the segments of their "
        "bytes; absent: certificates of ML-DSA were not measured",
    )
    comparisons: list[Comparison] = Field([])
    published: list[PublishedTable] = Field([])
    notes: list[ShownCaveat] = Field([], description="what to know about these numbers")

    @property
    def of(self) -> Identifier:
        """The id of the report whose part it is."""
        return self.page or self.id

    @model_validator(mode="after")
    def _check_implementations(self) -> Self:
        known = {implementation.id for implementation in self.implementations}
        tables = [*self.tables, *(self.prices or ())]
        named = {
            *(i for table in tables for i in table.implementations),
            *(c.implementation for t in tables for row in t.rows for c in row.cells),
            *(row.implementation for noise in self.noise for row in noise.rows),
            *(shares.implementation for shares in self.sockets or ()),
            *([self.baseline] if self.baseline else []),
            *(table.baseline for table in self.tables if table.baseline),
        }
        if unknown := sorted(named - known):
            raise ValueError(f"implementations of the report, not {', '.join(unknown)}")
        hosts = {host.id for host in self.hosts}
        if unknown := sorted({i.host for i in self.implementations if i.host} - hosts):
            raise ValueError(f"hosts of the report, not {', '.join(unknown)}")
        return self


ShortRatio = tuple[float, Verdict, str]
"""A ratio, its verdict, and the text of both."""


class Comparisons(Model):
    """`content/perf/<date>-<slug>/comparisons.json`: every ratio of two builds."""

    schema_: Literal[1] = Field(1, alias="schema")
    rows: dict[str, dict[Identifier, dict[Identifier, ShortRatio]]] = Field(
        description="by table and anchor of the row: by baseline: by implementation"
    )


class ReportReference(Model):
    """The data of a link to a report."""

    id: Identifier
    title: str
    date: Day
