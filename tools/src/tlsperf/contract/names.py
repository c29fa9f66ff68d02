"""The vocabulary of the project, and its contract.

The classes below are what meets between programs: `tlsbench` (Rust) writes `Record` lines and
a `Run`, the tools read them, templates read `Results`. The JSON Schemas in `data/schema/` are
made from these classes (`python -m tlsperf.publish.schema`), and the Rust side is tested against
the same schemas and examples.

A field that a source does not tell is absent (None here), never guessed.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

SCHEMA_VERSION: Final = 1
"""The number in every record, run and results file; raised when their meaning changes."""

Identifier = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]*$")]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Phase = Annotated[
    str,
    StringConstraints(pattern=r"^(total|construction|flight-[1-9]|tickets|handshake|data)$"),
]
"""`total`, or a part of it. For handshakes: `construction`, `flight-1` … `flight-n` (flights as
the role itself processes or produces them, in order), `tickets`. For memory, the moment of the
measurement: `construction`, `handshake` (complete), `data` (1 KiB exchanged)."""

Operation = Literal["transfer", "handshake", "client-hello", "memory", "primitive"]
Protocol = Literal["1.2", "1.3"]
Authentication = Literal["server", "mutual"]
Resumption = Literal["none", "session-id", "ticket", "resumed"]
Side = Literal["client", "server", "sender", "receiver"]
Metric = Literal["rate", "duration", "allocated", "resident", "peak-resident", "instructions"]
Statistic = Literal["value", "p5", "p50", "p90", "p99", "p99.9", "max"]
Unit = Literal[
    "MiB/s",
    "handshakes/s",
    "handshakes/s/thread",
    "operations/s",
    "µs",
    "bytes",
    "KiB",
    "bytes/connection",
    "instructions/handshake",
    "instructions/MiB",
    "instructions/operation",
]


class Model(BaseModel):
    """Strict base: an unknown field, a NaN or a wrong type is an error, not a surprise."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True)


class Scenario(Model):
    """What is measured. All fields together are the scenario's identity.

    The readable name and the anchor are made by `scenario_name` and `scenario_anchor`.
    """

    operation: Operation
    protocol: Protocol | None = None
    cipher_suite: str | None = Field(None, description="IANA name")
    key_exchange: str | None = Field(
        None,
        description="X25519, secp256r1, secp384r1, X25519MLKEM768; absent where none takes place",
    )
    certificate: str | None = Field(
        None, description="rsa-2048, rsa-4096, ecdsa-p256, ecdsa-p384, ed25519"
    )
    authentication: Authentication | None = None
    resumption: Resumption | None = None
    side: Side | None = None
    threads: int | None = Field(None, ge=1)
    size: int | None = Field(None, ge=1, description="bytes per write")
    record_size: int | None = Field(None, ge=1, description="largest record, bytes of plaintext")
    variant: str | None = Field(
        None,
        description="what else names it: a primitive, key shares sent, hello-retry, sessions-1000",
    )


SCENARIO_FIELDS: Final = tuple(Scenario.model_fields)


class Observation(Model):
    """One measured figure of one scenario: a row of the tidy frame."""

    phase: Phase = "total"
    metric: Metric
    statistic: Statistic = "value"
    value: float = Field(ge=0)
    unit: Unit


class _Record(Model):
    schema_: Literal[1] = Field(1, alias="schema")
    time: datetime = Field(description="when it was written, UTC")
    round: int = Field(ge=1)


class Measurement(_Record):
    """One implementation in one scenario in one round."""

    kind: Literal["measurement"] = "measurement"
    implementation: Identifier
    scenario: Scenario
    observations: list[Observation] = Field(min_length=1)
    operations: int = Field(ge=1, description="handshakes or writes measured in this round")
    elapsed_seconds: float | None = Field(
        None,
        gt=0,
        description="time charged to this side, summed; absent where no time is measured",
    )
    per_thread: list[float] | None = Field(
        None, description="rate of each thread, in the unit of the total rate"
    )
    histogram: str | None = Field(
        None, description="HdrHistogram V2, base64, nanoseconds, 3 significant digits"
    )
    valid: bool = True
    note: str | None = Field(None, description="why it must not count, when valid is false")


class Block(_Record):
    """Written after all records of one block: what stands before it is complete."""

    kind: Literal["block"] = "block"
    block: int = Field(ge=0, description="index of the scenario in the suite")
    implementation: Identifier
    status: Literal["measured", "absent", "failed"]
    reason: str | None = Field(
        None, description="why the implementation cannot do it (absent), or what failed"
    )
    elapsed_seconds: float = Field(ge=0, description="wall time of the block's process")


class Overhead(_Record):
    """Cost of the harness itself: the driver run with a library that does nothing."""

    kind: Literal["overhead"] = "overhead"
    implementation: Identifier
    clock_nanoseconds: float = Field(ge=0, description="one read of the clock")
    scenario: Scenario
    nanoseconds: float | None = Field(
        None, ge=0, description="per handshake, write or operation; absent for memory"
    )
    bytes: float | None = Field(
        None,
        ge=0,
        description="for memory: by the allocator's count, per connection or in all",
    )

    @model_validator(mode="after")
    def _check_cost(self) -> Self:
        if (self.nanoseconds is None) == (self.bytes is None):
            raise ValueError("either nanoseconds or bytes")
        return self


class RoundState(_Record):
    """State of the host over one round; a disturbed round does not count and is repeated."""

    kind: Literal["round"] = "round"
    elapsed_seconds: float = Field(ge=0)
    disturbed: bool = False
    reasons: list[str] = []
    load_by_others_percent: float | None = Field(None, ge=0, description="of one core")
    steal_percent: float | None = Field(None, ge=0)
    frequency_mhz: float | None = Field(None, ge=0, description="mean over the cores")
    throttle_count: int | None = Field(None, ge=0)
    temperature_celsius: float | None = None
    involuntary_switches: int | None = Field(None, ge=0)
    runner_cpu_percent: float | None = Field(None, ge=0, description="of one core")


Record = Annotated[Measurement | Block | Overhead | RoundState, Field(discriminator="kind")]
"""One line of our raw format, JSON Lines (`tlsbench/1`)."""


class Implementation(Model):
    """One library in one build. `id` is `<library>-<version>[-<provider>][-<build>]`."""

    id: Identifier
    library: Literal[
        "rustls",
        "openssl",
        "boringssl",
        "aws-lc",
        "s2n-tls",
        "mbedtls",
        "wolfssl",
        "gnutls",
        "libressl",
        "go",
    ]
    version: str
    commit: str | None = None
    provider: str | None = Field(None, description="aws-lc-rs, ring: who does the cryptography")
    provider_version: str | None = None
    build: str | None = Field(None, description="what tells this build from another")
    rust_compiler: str | None = None
    c_compiler: str | None = None
    flags: str | None = None
    allocator: str | None = None
    cpu_mask: str | None = Field(
        None, description="what hides features of the processor from it: OPENSSL_ia32cap"
    )
    linkage: Literal["static", "shared"] | None = None
    source: str | None = Field(None, description="package or address the source came from")
    binary_sha256: Sha256 | None = None
    note: str | None = None


class HostFacts(Model):
    """What a host is and the state it was found in. What cannot be read is absent."""

    id: Identifier
    cpu: str
    architecture: str
    cores: int | None = Field(None, ge=1, description="physical cores")
    threads: int | None = Field(None, ge=1, description="logical processors")
    memory_bytes: int | None = Field(None, ge=1)
    os: str | None = None
    kernel: str | None = None
    virtual: bool | None = Field(None, description="true in a virtual machine")
    virtualization: str | None = Field(None, description="kvm, vmware, …; absent on bare metal")
    container: str | None = None
    microcode: str | None = None
    smt: bool | None = None
    governor: str | None = None
    frequency_min_mhz: float | None = None
    frequency_max_mhz: float | None = None
    turbo: bool | None = None
    aslr: int | None = None
    isolated_cpus: str | None = None
    irqbalance: bool | None = None
    numa_nodes: int | None = None
    transparent_hugepages: str | None = None
    caches: dict[str, str] = {}
    mitigations: dict[str, str] = {}
    temperature_sensors: list[str] = []
    compilers: dict[str, str] = {}
    description: str | None = None
    note: str | None = None
    url: str | None = Field(None, description="where the machine is described, if it is offered")


class Host(HostFacts):
    """`data/hosts/<id>.toml`: a known host, described once."""

    schema_: Literal[1] = Field(1, alias="schema")
    name: str = Field(description="how readers know it, e.g. Xeon E-2386G")


LOCK_FORMAT: Final = "cargo-lock"
"""Format of a raw file without figures: the Cargo.lock of a build, kept with what it measured."""


class RawFile(Model):
    """A raw file of a run; its bytes never change."""

    path: str = Field(description="relative to the run's folder, below raw/")
    sha256: Sha256
    bytes: int = Field(ge=0)
    format: str
    implementation: Identifier | None = Field(None, description="if the file holds only one")
    round: int | None = Field(None, ge=1)


class Tool(Model):
    """What measured."""

    name: str
    version: str | None = None
    commit: str | None = None
    url: str | None = None
    commands: list[str] = []


class RunWarning(Model):
    """Something a reader must know about a run."""

    code: Identifier
    message: str


class CheckResult(Model):
    """One line of `tlsbench host check` as it was when the run began."""

    check: Identifier
    status: Literal["pass", "warn", "fail"]
    found: str
    fix: str | None = None


class SuiteReference(Model):
    """The suite that was run."""

    name: Identifier
    family: Identifier = Field(description="runs of one family are comparable over time")
    sha256: Sha256 | None = None


class RunCounter(Model):
    """What counted instead of a clock. A run holds counts or times, never both."""

    name: Literal["callgrind"]
    version: str = Field(description="of valgrind")


class Source(Model):
    """Where a run was published, for runs that are not ours."""

    title: str
    url: str
    estimator: str | None = Field(None, description="one run, best of 5, upper median of 30 …")
    note: str | None = None


class Run(Model):
    """`data/runs/<id>/run.toml`."""

    schema_: Literal[1] = Field(1, alias="schema")
    id: Identifier
    date: date
    started: datetime | None = None
    finished: datetime | None = None
    complete: bool = True
    rounds: int | None = Field(None, ge=1, description="rounds that count; absent if not known")
    seed: int | None = None
    allocator: str | None = None
    host_id: Identifier
    tool: Tool
    suite: SuiteReference | None = None
    counter: RunCounter | None = Field(None, description="absent: time was measured")
    source: Source | None = None
    host: HostFacts | None = Field(None, description="as captured when the run began")
    checks: list[CheckResult] = []
    warnings: list[RunWarning] = []
    implementations: list[Implementation] = Field(min_length=1)
    files: list[RawFile] = Field(min_length=1)


class FactorRequest(Model):
    """A factor that prose quotes: one figure over another of the same report.

    What is not given of the second is as in the first.
    """

    id: Identifier
    row: Identifier = Field(description="anchor of the row")
    implementation: Identifier
    over_row: Identifier | None = None
    over_implementation: Identifier | None = None


class TrendMember(Model):
    """Which builds of a report that compares several stand in the trend of a suite."""

    suite: Identifier
    implementations: list[Identifier] = Field(min_length=1)


class Report(Model):
    """What a person decides of a report: `[extra.report]` of its `index.md`, and its head."""

    id: Identifier = Field(description="<date>-<slug>, the name of its folder")
    title: str
    date: date
    runs: list[Identifier] = Field(min_length=1)
    baseline: Identifier | None = Field(None, description="implementation that ratios refer to")
    previous: Identifier | None = Field(None, description="the report that changes refer to")
    headlines: list[Identifier] = Field(
        [], description="anchors of the rows to stand first; absent: one of each table"
    )
    factors: list[FactorRequest] = []
    trend: TrendMember | None = Field(None, description="absent: by the suite of its one run")


# --- what templates read ---------------------------------------------------------------------

Verdict = Literal["faster", "slower", "no difference shown", "too few rounds", "not tested"]


class Ratio(Model):
    """How many times better a cell is than its row's baseline.

    Cell over baseline for rates, baseline over cell for durations, bytes and instructions: above
    1 is always better. `low` to `high` is the interval the verdict rests on, corrected for the
    number of comparisons (`tlsperf.analysis.statistics`).
    """

    value: float
    low: float | None = None
    high: float | None = None
    verdict: Verdict
    paired: bool = False
    text: str = Field(description="as readers see it: 1.70x faster (1.68 to 1.72)")
    note: str | None = None


class Cell(Model):
    """One implementation in one row. `value` is absent where it was not or could not be done."""

    implementation: Identifier
    value: float | None = None
    text: str = Field(description="the value as readers see it, without the unit; – if absent")
    low: float | None = None
    high: float | None = None
    interval: str | None = Field(None, description="95 % interval as readers see it")
    count: int | None = Field(None, description="rounds behind the value")
    spread_percent: float | None = Field(None, description="relative standard deviation")
    valid: bool = True
    best: bool = False
    note: str | None = Field(None, description="why absent or invalid")
    warnings: list[str] = []
    ratio: Ratio | None = None


class Row(Model):
    """One scenario (or one phase of it) over all implementations."""

    anchor: Identifier
    name: str
    scenario: Scenario
    phase: Phase = "total"
    metric: Metric = "rate"
    statistic: Statistic = "value"
    cells: list[Cell]


class Table(Model):
    """Rows that share a unit, in the order to be shown."""

    anchor: Identifier
    title: str
    caption: str
    unit: Unit
    better: Literal["higher", "lower"]
    by_phase: bool = Field(
        False, description="its rows are the parts of what another table has as a whole"
    )
    baseline: Identifier | None = None
    implementations: list[Identifier]
    rows: list[Row]


class Chart(Model):
    """An SVG file beside the report's page."""

    anchor: Identifier
    file: str
    title: str
    description: str = Field(description="text alternative, drawn from the data")
    width: int
    height: int
    table: Identifier = Field(description="anchor of the table with the same figures")


class Bar(Model):
    """One bar of a headline figure."""

    implementation: Identifier
    label: str
    text: str
    percent: float = Field(ge=0, le=100, description="length, of the longest")


class Headline(Model):
    """One of the few figures that matter."""

    anchor: Identifier = Field(description="the row it is taken from")
    title: str
    unit: Unit
    bars: list[Bar]
    statement: str


class RunReference(Model):
    """A run that the report draws from, with what to show of it."""

    id: Identifier
    date: date
    suite: str | None = None
    family: Identifier | None = Field(None, description="of the suite")
    rounds: int | None = None
    allocator: str | None = None
    host_id: Identifier
    tool: Tool
    source: Source | None = None
    files: list[RawFile]
    warnings: list[RunWarning] = []
    overhead: str | None = Field(None, description="what the harness itself costs, in words")


class ShownImplementation(Implementation):
    """An implementation with its readable name and its fixed colour."""

    label: str = Field(description="rustls 0.23.40 (aws-lc-rs)")
    colour: Identifier = Field(description="class of the library's colour in charts and style")


class Change(Model):
    """One row of one library, now over before."""

    anchor: Identifier = Field(description="the row's, in this report")
    name: str
    unit: Unit
    before: str = Field(description="the value as readers see it")
    after: str
    ratio: Ratio


class ChangeGroup(Model):
    """Changes of one library in one direction that probably have one cause; biggest first."""

    title: str = Field(description="what they have in common: handshake 1.3")
    statement: str = Field(description="all 8 scenarios: 1.15x to 2.09x slower")
    changes: list[Change] = Field(min_length=1)


class LibraryChanges(Model):
    """What became of one library since the predecessor."""

    before: ShownImplementation
    after: ShownImplementation
    statement: str = Field(description="OpenSSL 3.3.2 to 3.5.1: 2 faster, 4 slower, 10 the same")
    details: list[str] = Field([], description="what else changed in its build")
    compared: int
    unchanged: int
    groups: list[ChangeGroup]


class Changes(Model):
    """What changed since the last comparable report."""

    predecessor: Identifier = Field(description="id of the earlier report")
    title: str
    date: date
    caveats: list[RunWarning] = Field(
        [], description="changes of host or method, to be read first; ratios are then neutral"
    )
    rule: str = Field(description="what counts as a change here")
    libraries: list[LibraryChanges]
    gone: list[str] = Field([], description="implementations and rows of the predecessor alone")
    new: list[str] = Field([], description="implementations and rows of this report alone")


class NoiseRow(Model):
    """One implementation against itself in one row: what is not 1 here is noise."""

    anchor: Identifier
    name: str
    implementation: Identifier
    ratio: Ratio


class Noise(Model):
    """How far two measurements of the same thing lie apart: below it, nothing can be said."""

    source: Literal["same binary twice", "alternate rounds", "other runs on this host"]
    run: Identifier
    others: list[Identifier] = Field([], description="the other runs, if it is from history")
    floor_percent: float = Field(ge=0, description="19 of 20 rows lie within it of no difference")
    comparisons: int
    false_verdicts: int | None = Field(None, description="faster or slower, of the comparisons")
    statement: str
    rows: list[NoiseRow]


class Efficiency(Model):
    """How near a transfer gets to the speed of the AEAD underneath."""

    anchor: Identifier = Field(description="the transfer's row")
    name: str
    implementation: Identifier
    primitive: str = Field(description="aes-256-gcm-seal-16384")
    primitive_of: Identifier = Field(description="implementation whose primitive was measured")
    rate: str = Field(description="MiB/s as readers see it")
    ceiling: str
    percent: float
    low: float | None = None
    high: float | None = None
    text: str = Field(description="81 % (80 to 82 %)")
    note: str | None = None


class Factor(Model):
    """What a report's prose quotes as a factor; its text is that of the same ratio in a table."""

    id: Identifier
    row: Identifier
    text: str


class PublishedTable(Model):
    """A table as its source printed it, made again from the data, with its errors put right."""

    anchor: Identifier
    title: str
    columns: list[str]
    rows: list[list[str]]


NoteKind = Literal["tool", "page", "setup", "reading"]


class NoteSource(Model):
    """Where a note's fact can be looked up."""

    title: str
    url: str


class Note(Model):
    """A known fact about published figures; one of `data/notes.toml`, which says what each is."""

    id: Identifier
    kind: NoteKind
    title: str
    text: str
    runs: list[Identifier] = Field(min_length=1)
    libraries: list[str] = []
    scenarios: list[dict[str, str | int]] = []
    mark: str | None = Field(None, description="a word for trends, in which it is marked")
    gap: bool = Field(False, description="figures before and after are not comparable")
    sources: list[NoteSource] = Field(min_length=1)


class RowReference(Model):
    """A row of a table of the same report."""

    anchor: Identifier
    name: str


class ShownNote(Model):
    """A note of a report's page, by its id in `data/notes.toml`, with the rows that it touches."""

    id: Identifier
    kind: NoteKind
    touched: int | None = Field(None, description="how many rows; absent: all of the report")
    rows: list[RowReference] = Field([], description="which, where they are few")


class GroupMean(Model):
    """The rows of a table together: geometric mean of one implementation's ratios."""

    table: Identifier
    title: str
    implementation: Identifier
    baseline: Identifier
    rows: int = Field(ge=2, description="that both sides have")
    ratio: Ratio


class Results(Model):
    """`content/perf/<date>-<slug>/results.json`: everything that a page shows."""

    schema_: Literal[1] = Field(1, alias="schema")
    id: Identifier = Field(description="<date>-<slug>")
    title: str
    date: date
    virtual: bool | None = Field(None, description="measured in a virtual machine")
    baseline: Identifier | None = None
    runs: list[RunReference]
    hosts: list[HostFacts]
    implementations: list[ShownImplementation]
    headlines: list[Headline]
    tables: list[Table]
    charts: list[Chart]
    warnings: list[RunWarning] = []
    changes: Changes | None = Field(None, description="since the last comparable report")
    noise: list[Noise] = []
    efficiency: list[Efficiency] = []
    means: list[GroupMean] = []
    factors: list[Factor] = []
    published: list[PublishedTable] = []
    notes: list[ShownNote] = Field([], description="what to know about these numbers")
    extra: dict[str, Any] = Field({}, description="sections that have no type of their own")


# --- what the pages over all reports read ------------------------------------------------------


class ReportReference(Model):
    """A report, to link to."""

    id: Identifier
    title: str
    date: date


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
    marks: list[TrendMark] = []


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


# --- what is read over all reports ----------------------------------------------------------------


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
    better: Literal["higher", "lower"]
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


# --- names -----------------------------------------------------------------------------------

_CIPHERS: Final = {
    "AES_128_GCM": "AES-128-GCM",
    "AES_256_GCM": "AES-256-GCM",
    "CHACHA20_POLY1305": "CHACHA20-POLY1305",
}
_CERTIFICATES: Final = {
    "rsa-2048": "RSA-2048",
    "rsa-4096": "RSA-4096",
    "ecdsa-p256": "ECDSA-P256",
    "ecdsa-p384": "ECDSA-P384",
    "ed25519": "Ed25519",
}
_SIDES: Final = {
    "client": "client",
    "server": "server",
    "sender": "sending",
    "receiver": "receiving",
}
_RESUMPTIONS: Final = {
    None: "handshake",
    "none": "full handshake",
    "resumed": "resumed handshake",
    "session-id": "resumed handshake",
    "ticket": "resumed handshake",
}


def cipher_name(cipher_suite: str) -> str:
    """The AEAD of an IANA cipher suite, e.g. AES-256-GCM; the suite itself if it is another."""
    for part, name in _CIPHERS.items():
        if f"_{part}_" in f"{cipher_suite}_":
            return name
    return cipher_suite


def size_name(size: int) -> str:
    """Bytes in the largest binary unit that divides them: 16 B, 8 KiB, 1 MiB."""
    for unit, factor in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size % factor == 0:
            return f"{size // factor} {unit}"
    return f"{size} B"


def scenario_name(scenario: Scenario) -> str:
    """The readable name of a scenario; equal names mean equal scenarios within a report.

    Left out is what is the same in every main report: the certificate and the group of a
    transfer, the certificate and AES-256-GCM of a handshake that resumes, server
    authentication, one thread, 1 MiB writes.
    """
    s = scenario
    parts: list[str] = []
    handshake = s.operation == "handshake"
    kind = _RESUMPTIONS[s.resumption] if handshake else s.operation.replace("-", " ")
    parts.append(f"{kind} {s.protocol}" if s.protocol else kind)
    if s.resumption == "session-id":
        parts.append("session id")
    elif s.resumption == "ticket":
        parts.append("ticket")
    if s.cipher_suite:
        cipher = cipher_name(s.cipher_suite)
        if s.operation == "transfer" or cipher != "AES-256-GCM":
            parts.append(cipher)
    if s.certificate and handshake and s.resumption in (None, "none"):
        parts.append(_CERTIFICATES.get(s.certificate, s.certificate))
    if s.key_exchange and s.operation != "transfer":
        parts.append(s.key_exchange)
    if s.authentication == "mutual":
        parts.append("mutual")
    if s.size and not (s.operation == "transfer" and s.size == 1 << 20):
        parts.append(
            f"{size_name(s.size)} writes" if s.operation == "transfer" else size_name(s.size)
        )
    if s.record_size:
        parts.append(f"{size_name(s.record_size)} records")
    if s.variant:
        parts.append(s.variant)
    if s.threads and s.threads != 1:
        parts.append(f"{s.threads} threads")
    if s.side:
        parts.append(_SIDES[s.side])
    return ", ".join(parts)


def scenario_anchor(scenario: Scenario) -> str:
    """The permanent anchor of a scenario: its name in lower case, words joined by hyphens."""
    name = scenario_name(scenario).lower().replace("+", "-and-")
    kept = "".join(c if c.isascii() and (c.isalnum() or c == ".") else "-" for c in name)
    return "-".join(word for word in kept.split("-") if word).replace(".", "-")
