"""The common parts of the output of openssl-bench and rustls' bench.

make runs both tools and echoes each command before the tool's lines. Both print figures in pairs
(sender and receiver, client and server), and have the same form for several threads and for memory.
A grammar (`openssl_bench`, `rustls_bench`) adds the lines of its tool.

Fields are separated by tabs, or by spaces if the output was copied from a terminal.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, NamedTuple

from tlsperf.contract.record import Scenario
from tlsperf.load import rows
from tlsperf.load.spellings import CARGO_LINE, PREFIX, Suite
from tlsperf.load.subjects import check_named

RESUMPTIONS: Final = {
    "handshake": "none",
    "handshake-resume": "session-id",
    "handshake-ticket": "ticket",
}
_SIDES: Final = {"transfer": ("sender", "receiver"), "handshake": ("client", "server")}
SIDES: Final = {"send": "sender", "recv": "receiver", "client": "client", "server": "server"}

_NUMBER: Final = r"[0-9]{1,18}(?:\.[0-9]{1,18})?(?:e[+-][0-9]{2,3})?"
"""A number in the form of Rust's {:.2} or of C's %g."""
RATE: Final = (
    rf"(?:threads (?P<threads>[1-9][0-9]{{0,4}})(?P<each>(?: {_NUMBER})+) total )?(?P<rate>{_NUMBER})"
    rf"(?: per-thread (?P<mean>{_NUMBER}))?"
)
"""The end of a line without its unit: one rate, or those of the threads, their total and mean."""
PER_SECOND: Final = "handshakes?/s"
"""rustls' bench printed handshake/s until 2023."""

_INTEGER: Final = "[1-9][0-9]{0,17}"
"""A number above zero that fits into 64 bits."""
_OPTIONS: Final = (
    r"(?: --(?:rsa|ecdsa)| --(?:key-type|threads|api|latency-prefix|multiplier|provider)[ =]\S+)*"
)
_PROGRAM: Final = r"(?:\S*[/\\])?(?:rustls-)?bench(?:-[a-z-]+)?(?:\.exe)?"
_COMMAND: Final = re.compile(
    rf"{PREFIX}{_PROGRAM}(?P<before>{_OPTIONS})"
    rf"(?: (?P<mode>bulk|{'|'.join(RESUMPTIONS)}|memory) (?P<suite>\w\S*)"
    rf"(?P<numbers>(?: {_INTEGER})*)(?P<after>{_OPTIONS})| all-tests|)(?: [12]?[>|].*)?"
)
_BY_CARGO: Final = re.compile(
    rf"Running `({PREFIX}{_PROGRAM}(?: .*)?)`"
    rf"|{PREFIX}cargo (?:\+\S+ )?run(?:(?: (?!-- )\S+)*? --( .*)|(?: .*)?)"
)
"""A command that cargo prints or that runs cargo: the first group, or `bench` and the second."""
_RUNS: Final = re.compile(rf"\$ .*|\w+=.*|\S*/.*|(?:.* )?{_PROGRAM}(?: .*)?")
"""A line that runs a program: what follows is not of the command before it."""
_NOISE: Final = re.compile(
    r"make(?:\[[0-9]+\])?: (?!\*\*\*).*"
    r"|(?:g\+\+|c\+\+|clang\+\+|gcc|clang|cc)(?:-[0-9]+)? .*"
)
_LOOP: Final = re.compile(r"for \w+ in .*do ?\\?|.*; ?\\|done")
"""A loop over numbers of threads: make echoes all of it once, before its output."""
_FAILED_MAKE: Final = re.compile(r"make(?:\[[0-9]+\])?: \*\*\* .*")


class Figure(NamedTuple):
    line: int
    command: int
    scenario: Scenario
    value: float
    unit: str
    note: str | None


@dataclass(frozen=True)
class Command:
    """An echoed command line of either tool."""

    mode: str = ""
    suite: str = ""
    numbers: tuple[int, ...] = ()
    """The numbers after the cipher suite: bytes per write, or sessions."""
    options: Mapping[str, str] = field(default_factory=dict)


class Grammar:
    """Reads the lines of one tool in one file; each file has its own instance."""

    suites: Mapping[str, Suite]
    stateful = re.compile("(?!)")
    """Lines that later lines depend on: one that is not understood ends its command."""

    def __init__(self, source: rows.RawInput) -> None:
        self.source = source
        self.figures: list[Figure] = []
        self.remarks: list[rows.Remark] = []
        self.command: Command | None = None
        """None: no line says what was run, as after a loop."""
        self.lost = False
        """True if a command was not understood: figures after it are left out."""
        self.commands: list[int] = []
        """The line number of each command."""
        self.excused = False
        """True if the tool printed that this command measures nothing."""
        self.repeats_expected: set[int] = set()
        """Commands that run once for each of up to four key types and do not print the type."""

    def begin(self) -> None:
        """Called after each command, before the lines of its output."""

    def understands(self, number: int, line: str) -> bool:
        """Reads a line of the tool, with single spaces. False if it is not one."""
        return False

    # --- for the tools' grammars -----------------------------------------------------------

    def add(
        self, line: int, found: re.Match[str], scenario: Mapping[str, object], note: str | None
    ) -> bool:
        """Adds the figure of a line that ends with RATE. False if it has no sound one."""
        rate, each = float(found["rate"]), [float(word) for word in (found["each"] or "").split()]
        threads = int(found["threads"] or 1)
        if len(each) != (threads if found["threads"] else 0) or bool(each) != bool(found["mean"]):
            return False
        for printed, computed in ((found["rate"], sum(each)), (found["mean"], sum(each) / threads)):
            # for each rate, %g prints six digits and %.2f two decimals
            if each and abs(float(printed) - computed) > 2e-5 * computed + 0.01 * threads:
                note = note or f"{printed} where the rates of its threads give {computed:g}"
        with rows.scenario_errors(self.source.name, line):
            what = Scenario.model_validate(
                {**scenario, "side": SIDES[found["side"]], "threads": threads}
            )
        # both tools divide by 1024 x 1024
        unit = "MiB/s" if what.operation == "transfer" else "handshakes/s"
        self.figures.append(Figure(line, len(self.commands), what, rate, unit, note))
        return True


def transcript(
    name: str, tool: str, line: str, grammar: type[Grammar], libraries: Sequence[str]
) -> rows.Format:
    """The format of files in which a line matches the regular expression `line` at its start."""
    begins = re.compile(f"^(?:{line})", re.MULTILINE)
    return rows.Format(
        name,
        tool,
        lambda text, _: begins.search(text) is not None,
        rows.file_by_file(lambda source: parse(source, grammar)),
        libraries=rows.only(*libraries),
    )


def parse(source: rows.RawInput, grammar: type[Grammar]) -> rows.Parsed:
    """The rows and remarks of one file. Raises FormatError."""
    tool = grammar(source)
    rows.each_line(source, tool.remarks, partial(_read_line, tool))
    _end_command(tool)
    return rows.Parsed(list(_rows(tool)), tool.remarks)


def _read_line(tool: Grammar, number: int, line: str, last: bool) -> None:
    line = " ".join(line.split())
    if cargo := _BY_CARGO.fullmatch(line):
        line = cargo[1] or f"bench{cargo[2] or ''}"
    if _LOOP.fullmatch(line):
        if line.startswith("for "):
            _begin_command(tool, number, None)
    elif found := _COMMAND.fullmatch(line):
        # openssl-bench expects every library in the folder ../openssl
        check_named(tool.source, number, re.sub(r"\.\./openssl(?![\w.-])", "", line))
        words = found["before"] + (found["after"] or "")
        options = dict(re.findall(r"--([\w-]+)(?:[ =](?!--)(\S+))?", words))
        numbers = tuple(map(int, (found["numbers"] or "").split()))
        command = Command(found["mode"] or "", found["suite"] or "", numbers, options)
        if not (cargo and command == tool.command and not _has_figures(tool)):  # printed twice
            _begin_command(tool, number, command)
    elif _FAILED_MAKE.fullmatch(line):
        tool.remarks.append(rows.Remark(tool.source.name, number, f"make failed: {line}"))
    elif _NOISE.fullmatch(line) or CARGO_LINE.match(line):
        pass
    elif tool.lost or not (
        tool.understands(number, line) or _understands_memory(tool, number, line, last)
    ):
        tool.lost |= bool(_RUNS.fullmatch(line) or tool.stateful.match(line))
        expected = "a line of the tool, a command, or make's output"
        raise rows.UnknownLineError(tool.source.name, number, repr(line), expected)


def _begin_command(tool: Grammar, line: int, command: Command | None) -> None:
    _end_command(tool)
    tool.command = command
    tool.commands.append(line)
    tool.excused = tool.lost = False
    tool.begin()


def _has_figures(tool: Grammar) -> bool:
    return bool(tool.figures) and tool.figures[-1].command == len(tool.commands)


def _end_command(tool: Grammar) -> None:
    """Adds a remark if the command printed fewer figures than it should."""
    if tool.command is None or tool.excused or _has_figures(tool):
        return
    work = f"{tool.command.mode} {tool.command.suite}".strip() or "all tests"
    message = f"{work}: no figures follow the command"
    if tool.command.mode == "memory":
        message += " (/usr/bin/time writes them on standard error, which is not in this file)"
    tool.remarks.append(rows.Remark(tool.source.name, tool.commands[-1], message))


def _understands_memory(tool: Grammar, number: int, line: str, last: bool) -> bool:
    """Reads the KiB of a process that /usr/bin/time prints."""
    command = tool.command or Command()
    suite = tool.suites.get(command.suite)
    known = command.mode == "memory" and len(command.numbers) == 1
    if not suite or not known or not re.fullmatch(_INTEGER, line):
        return False
    scenario = Scenario.model_validate(
        {
            "operation": "memory",
            "protocol": suite.protocol,
            "cipher_suite": suite.iana,
            "variant": f"sessions-{command.numbers[0]}",
        }
    )
    note = "the file ends within this line, so digits may be missing" if last else None
    figure = (number, len(tool.commands), scenario, int(line) * 1024.0, "bytes", note)
    tool.figures.append(Figure(*figure))
    return True


def _rows(tool: Grammar) -> Iterator[rows.ParsedRow]:
    """The figures as rows: repeats get a number, and a figure without its other side is invalid."""
    seen: dict[Scenario, list[Figure]] = {}
    sides: dict[tuple[int, Scenario, int], set[str | None]] = {}
    numbered: list[tuple[Figure, tuple[int, Scenario, int], str | None]] = []
    for figure in tool.figures:
        earlier = seen.setdefault(figure.scenario, [])
        note = figure.note
        if earlier:
            first = earlier[0]
            expected = first.command == figure.command and figure.command in tool.repeats_expected
            if not expected or len(earlier) >= 4:
                note = note or f"repeats line {first.line}; one file must hold one round"
        earlier.append(figure)
        both = figure.scenario.model_copy(update={"side": None})
        numbered.append((figure, (figure.command, both, len(earlier)), note))
        sides.setdefault(numbered[-1][1], set()).add(figure.scenario.side)
    for figure, pair, note in numbered:
        scenario, occurrence = figure.scenario, pair[2]
        wanted = _SIDES.get(scenario.operation, (None,))
        if missing := [side for side in wanted if side not in sides[pair]]:
            note = note or f"the output stops before the {missing[0]}'s figure"
        if occurrence > 1:
            parts = [scenario.variant] if scenario.variant else []
            variant = "-".join([*parts, f"repeat-{occurrence}"])
            scenario = scenario.model_copy(update={"variant": variant})
        metric = "peak-resident" if scenario.operation == "memory" else "rate"
        yield rows.row_of(
            *(tool.source, figure.line, scenario, metric, figure.value, figure.unit), note=note
        )
