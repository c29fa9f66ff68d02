"""`run.toml`, `host.toml` and the head of a report: what was measured where, and what is shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Final, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from tlsperf.contract.libraries import NAMES
from tlsperf.contract.record import Day, Identifier, Model, Moment, Sha256, Url
from tlsperf.contract.warnings import WarningCode

if TYPE_CHECKING:
    LibraryId = str
else:
    LibraryId = Literal[tuple(NAMES)]

FigureKind = Literal[
    "transfer",
    "full-handshake",
    "resumed-handshake",
    "threads",
    "latency",
    "memory",
    "client-hello",
    "other",
    "key-exchange",
]
"""The kinds of figures that have a spread of their own between two runs. The last one is the ratio of
two key exchanges of one build.
"""

MOST_IMPLEMENTATIONS: Final = 100
"""The limit for one run: each implementation has a column or line in every table of its report."""

LabelPart = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9 ,.+_()@:/~-]*$", max_length=100)
]
"""Part of an implementation's label, which titles, charts, pictures and feeds show."""

RawPath = Annotated[
    str,
    StringConstraints(
        pattern=r"^raw(/[A-Za-z0-9_@+()-]+(\.[0-9][A-Za-z0-9_+-]*)*(\.(csv|json|jsonl|lock|log|tsv|txt))?)+$",
        max_length=500,
    ),
]
"""A path below raw/. Raw files are published unchanged, so a browser must not execute them: a part
after a dot is part of a version, or the suffix is one of these.
"""


class Implementation(Model):
    """One library in one build. `id` is `<library>-<version>[-<provider>][-<build>]`."""

    id: Identifier
    library: LibraryId
    version: LabelPart
    commit: str | None = None
    provider: LabelPart | None = Field(
        None, description="aws-lc-rs, ring: who does the cryptography"
    )
    provider_version: str | None = None
    build: LabelPart | None = Field(None, description="what distinguishes this build from another")
    rust_compiler: str | None = None
    c_compiler: str | None = None
    configure: str | None = Field(
        None, description="what the library was configured with, as its own build was told"
    )
    flags: str | None = None
    allocator: str | None = None
    cpu_mask: str | None = Field(
        None, description="what hides features of the processor from it: OPENSSL_ia32cap"
    )
    linkage: Literal["static", "shared"] | None = None
    source: str | None = Field(None, description="package or address the source came from")
    binary_sha256: Sha256 | None = None
    note: str | None = None
    deviations: list[str] | None = Field(
        None, description="what its library.toml named as other than the default, and why"
    )

    def runs_as(self, other: Implementation) -> bool:
        """Whether both are one binary with the same settings and processor features."""
        if self.binary_sha256 is None or self.binary_sha256 != other.binary_sha256:
            return False
        return self.cpu_mask == other.cpu_mask and self.is_tuned == other.is_tuned

    @property
    def is_tuned(self) -> bool:
        """Whether it has the settings that the library's documentation recommends."""
        return "tuned" in (self.build or "").split("-")


ShortHash = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{16}$")]
"""The start of a SHA-256, long enough to compare two machines or boots."""


class HostFacts(Model):
    """A host and its state when it was read. A field that cannot be read is absent."""

    id: Identifier
    name: str | None = Field(
        None, description="what people call it, from data/hosts: AMD Zen 4 VM; not in a run"
    )
    cpu: str
    cpu_model: str | None = Field(
        None,
        description="as the processor reports it: family 6, model 207, stepping 2; of a host that "
        "did not record it, from the source that its note names",
    )
    features: list[str] | None = Field(
        None,
        description="of the processor, those by which libraries choose their code, by the kernel's "
        "words: aes, vaes, avx512ifma",
    )
    architecture: str
    machine: ShortHash | None = Field(
        None, description="one-way hash of the machine's id, so that it is anonymous"
    )
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
    caches: dict[str, str] = Field({})
    mitigations: dict[str, str] = Field({})
    temperature_sensors: list[str] = Field([])
    compilers: dict[str, str] = Field({})
    description: str | None = None
    note: str | None = None
    url: Url | None = Field(None, description="where the machine is described, if it is offered")


class Host(HostFacts):
    """The content of `data/hosts/<id>.toml`: a known host."""

    schema_: Literal[1] = Field(1, alias="schema")
    name: str = Field(description="what people call it: AMD Zen 4 VM")


LOCK_FORMAT: Final = "cargo-lock"
"""Format of a raw file without figures: the Cargo.lock of a build, stored with its records."""


MOST_RAW_BYTES: Final = 256 * 1024 * 1024
"""Limit of a raw file in bytes; the largest so far has 5 MiB."""


class RawFile(Model):
    """A raw file of a run; its bytes never change."""

    path: RawPath = Field(description="relative to the run's folder, below raw/")
    sha256: Sha256
    bytes: int = Field(ge=0, le=MOST_RAW_BYTES)
    format: str
    implementation: Identifier | None = Field(None, description="if the file holds only one")
    round: int | None = Field(None, ge=1)


class Tool(Model):
    """The program that measured."""

    name: str
    version: str | None = None
    commit: str | None = None
    sha256: Sha256 | None = None
    url: Url | None = None
    commands: list[str] = Field([])


class RunWarning(Model):
    """A fact about a run that a reader must know."""

    code: WarningCode
    message: str


class CheckResult(Model):
    """One line of `tlsbench host check` from the start of the run."""

    check: Identifier
    status: Literal["pass", "warn", "fail"]
    found: str
    fix: str | None = None


class SuiteReference(Model):
    """The suite of a run."""

    name: Identifier
    family: Identifier = Field(description="runs of one family are comparable over time")
    sha256: Sha256 | None = None


class Session(Model):
    """One session of a run: some rounds, with the state of the host before them."""

    number: int = Field(ge=1)
    started: Moment
    finished: Moment | None = Field(None, description="absent: it was stopped, or is under way")
    rounds: int | None = Field(None, ge=0, description="rounds of it that count")
    seed: int = Field(description="seed of the order of its blocks")
    layout: int = Field(0, ge=0, description="number of the layout that its programs have")
    boot: ShortHash | None = Field(
        None, description="which boot of the machine: a one-way hash of its id"
    )
    frequency_mhz: float | None = Field(None, ge=0, description="mean over the cores")
    temperature_celsius: float | None = None
    load_average: float | None = Field(None, ge=0, description="of the minute before")
    host: HostFacts | None = Field(None, description="absent: as it is in the run")
    checks: list[CheckResult] = Field([], description="checks of the host when the session began")


class Layout(Model):
    """One way in which the programs of a run were linked. Layout 0 has the linker's own order."""

    number: int = Field(ge=0)
    kind: Literal["own", "shifted", "shuffled", "shared"] = Field(
        description="the linker's own order; that, behind padding; all sections in a random order; "
        "the library's objects in a shared library, behind padding"
    )
    seed: int | None = Field(None, ge=0, description="decides padding or order; absent: own")
    programs: dict[Identifier, Sha256] = Field(description="by implementation")


class RunCounter(Model):
    """The counter that replaced the clock. A run has counts or times, never both."""

    name: Literal["callgrind", "calls", "wire"]
    version: str = Field(
        description="version of Valgrind; for calls, of Valgrind and strace; for wire, of tlsbench"
    )
    processor: str | None = Field(
        None,
        description="processor that Valgrind emulates, after the host's: amd64-cx16-avx-avx2-…",
    )


class Source(Model):
    """Where a run was published, for runs of other people."""

    title: str
    url: Url
    estimator: str | None = Field(None, description="one run, best of 5, upper median of 30 …")
    note: str | None = None


class Run(Model):
    """The content of `data/runs/<id>/run.toml`."""

    schema_: Literal[1] = Field(1, alias="schema")
    id: Identifier
    date: Day
    started: Moment | None = None
    finished: Moment | None = None
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
    checks: list[CheckResult] = Field([])
    warnings: list[RunWarning] = Field([])
    sessions: list[Session] = Field([], description="absent: one, without a record of its own")
    layouts: list[Layout] = Field([], description="absent: one, in the linker's own order")
    implementations: list[Implementation] = Field(min_length=1, max_length=MOST_IMPLEMENTATIONS)
    files: list[RawFile] = Field(min_length=1)

    @model_validator(mode="after")
    def _check_implementations(self) -> Self:
        known = [implementation.id for implementation in self.implementations]
        named = {
            *(file.implementation for file in self.files if file.implementation),
            *(identifier for layout in self.layouts for identifier in layout.programs),
        }
        if unknown := sorted(named - set(known)):
            raise ValueError(f"implementations of the run, not {', '.join(unknown)}")
        return self

    @property
    def when(self) -> tuple[str, str, str]:
        """The order of runs: by date, and on one day by when measuring began."""
        return self.date.isoformat(), self.started.isoformat() if self.started else "", self.id


class BegunRun(Run):
    """The content of `run.partial.toml`: a run that is under way, or was interrupted."""

    files: list[RawFile] = Field([])


class Revision(Model):
    """A change of a published report; its figures before are in git."""

    date: Day
    text: str = Field(min_length=1, description="a sentence: what was measured again, or corrected")


class Report(Model):
    """A part of a report: runs of one host that are one comparable set, with one baseline.

    Most reports have one part, which `[extra.report]` of `index.md` describes; others have a table
    `[[extra.report.parts]]` for each. Title, date and history are those of the page.
    """

    id: Identifier = Field(
        description="the name of the page's folder, <date>-<slug>; of several parts: the first run"
    )
    page: Identifier = Field("", description="the report whose part it is; empty: itself")
    title: str
    date: Day
    time: Moment | None = Field(
        None, description="on its day, in UTC: what orders reports of one day; absent: midnight"
    )
    runs: list[Identifier] = Field(min_length=1)
    baseline: Identifier | None = Field(None, description="implementation that ratios refer to")
    across_hosts: bool = Field(
        False, description="figures of different hosts have ratios as well, and the page says so"
    )
    previous: Identifier | None = Field(None, description="the report that changes refer to")
    history: list[Revision] = Field(
        [], description="what changed in the report since it was first published, newest first"
    )
    headlines: list[str] = Field(
        [],
        description="anchors of the rows, or tables, that the picture shows, each with a name of its "
        "own after a colon, if it needs one; absent: rows of the first tables",
    )

    @model_validator(mode="after")
    def _check_runs(self) -> Self:
        if doubled := sorted({run for run in self.runs if self.runs.count(run) > 1}):
            raise ValueError(f"each run once, not {', '.join(doubled)} twice")
        return self

    @property
    def of(self) -> Identifier:
        """The id of the report whose part it is."""
        return self.page or self.id

    def is_first_look(self, runs: Mapping[Identifier, Run]) -> bool:
        """Whether all its runs are of the quick suite, as `make report` makes them.

        It is not part of the history, so measuring one's own host changes no other page.
        """
        suites = (runs[run].suite for run in self.runs)
        return all(suite is not None and suite.name == "quick" for suite in suites)
