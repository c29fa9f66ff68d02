"""The common parts of the output of openssl-bench and rustls' bench.

make runs both tools and echoes each command before the tool's lines. Both print figures in pairs
(sender and receiver, client and server), and have the same form for several threads and for memory.
A grammar (`openssl_bench`, `rustls_bench`) adds the lines of its tool.

Fields are separated by tabs, or by spaces if the output was copied from a terminal. The last line
may be cut off if the run was interrupted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Final, NamedTuple, cast

from tlsperf.contract.errors import FormatError
from tlsperf.contract.operations import Operation
from tlsperf.contract.record import Protocol, Resumption, Scenario, Side
from tlsperf.load.rows import (
    Format,
    Parsed,
    ParsedRow,
    RawInput,
    Remark,
    each_line,
    file_by_file,
    only,
    scenario_errors,
)
from tlsperf.load.spellings import Suite

UNITS: Final = {
    "MB/s": "MiB/s",  # both tools divide by 1024 x 1024
    "handshakes/s": "handshakes/s",
    "handshake/s": "handshakes/s",  # rustls until 2023
}
RESUMPTIONS: Final = {
    "handshake": "none",
    "handshake-resume": "session-id",
    "handshake-ticket": "ticket",
}
SIDES: Final = {"transfer": ("sender", "receiver"), "handshake": ("client", "server")}
TRANSFER_SIDES: Final = {"send": "sender", "recv": "receiver"}
DEFAULT_SIZE: Final = 1 << 20
"""Bytes per write of a transfer, unless the command states another size."""

MODES: Final = ("bulk", *RESUMPTIONS, "memory")
_PROGRAM: Final = re.compile(r"(?:\S*/)?(?:rustls-)?bench(?:-[a-z-]+)?")
_BEFORE_PROGRAM: Final = re.compile(r"\$|(?:/usr/bin/)?(?:env|time)|setarch|-R|-f|%M|\w+=\S*")
_OPTIONS: Final = (
    "--key-type",
    "--threads",
    "--api",
    "--latency-prefix",
    "--multiplier",
    "--provider",
    "--plaintext-size",
    "--max-fragment-size",
)
_FLAGS: Final = ("--rsa", "--ecdsa")
_NOISE: Final = re.compile(
    r"\s*(?:"
    r"make(?:\[[0-9]+\])?: (?!\*\*\*).*"
    r"|cargo .*"
    r"|(?:g\+\+|c\+\+|clang\+\+|gcc|clang|cc)(?:-[0-9]+)? .*"
    r"|(?:Compiling|Finished|Updating|Downloading|Downloaded|Locking|Adding|Fresh|Running"
    r"|Blocking) .*"
    r")"
)
_LOOP: Final = re.compile(r"\s*(?:for \w+ in .*do ?\\?|.*; ?\\|done)\s*")
"""A loop over numbers of threads: make echoes all of it once, before its output."""
_FAILED_MAKE: Final = re.compile(r"make(?:\[[0-9]+\])?: \*\*\* .*")
_INTEGER: Final = re.compile(r"[1-9][0-9]{0,17}")
"""A number above zero that fits into 64 bits."""


class Measured(NamedTuple):
    """A scenario without its side."""

    operation: str
    protocol: str | None = None
    cipher_suite: str | None = None
    key_exchange: str | None = None
    certificate: str | None = None
    authentication: str | None = None
    resumption: str | None = None
    threads: int | None = None
    size: int | None = None
    record_size: int | None = None
    variant: str | None = None


class Figure(NamedTuple):
    line: int
    command: int
    measured: Measured
    side: str | None
    value: float
    unit: str
    note: str | None


@dataclass(frozen=True)
class Command:
    """An echoed command line of either tool."""

    mode: str
    suite: str
    numbers: tuple[int, ...]
    """The numbers after the cipher suite: bytes per write, or sessions."""
    options: Mapping[str, str]

    def option(self, name: str) -> int | None:
        """The number of an option; None if the command does not have it."""
        value = self.options.get(name)
        return int(value) if value is not None else None


class Grammar:
    """Reads the lines of one tool in one file; each file has its own instance.

    `words` maps the first word of a line to the method that reads it: (line number, all words).
    """

    words: Mapping[str, Callable[[int, list[str]], None]]
    suites: Mapping[str, Suite]

    def __init__(self, source: RawInput) -> None:
        self.source = source
        self.figures: list[Figure] = []
        self.remarks: list[Remark] = []
        self.command: Command | None = None
        self.commands: list[int] = []
        """The line number of each command."""
        self.excused = False
        """True if the tool printed that this command measures nothing."""
        self.repeats_expected: set[int] = set()
        """Commands that run once for each of up to four key types and do not print the type."""

    @property
    def library(self) -> str | None:
        """The library that run.toml names for the file."""
        known = {i.id: i.library for i in self.source.run.implementations}
        return known.get(self.source.implementation)

    def begin(self) -> None:
        """Called after each command, before the lines of its output."""

    def explain(self, number: int, line: str) -> bool:
        """Whether the line is one that the tool prints without a figure."""
        return False

    # --- for the tools' grammars -----------------------------------------------------------

    def fail(self, line: int, found: str, expected: str) -> FormatError:
        return FormatError(self.source.name, line, found, expected)

    def suite(self, line: int, name: str) -> Suite:
        """The cipher suite that the tool calls `name`. Raises FormatError."""
        found = self.suites.get(name)
        if found is None:
            raise self.fail(line, f"cipher suite {name!r}", "one of " + ", ".join(self.suites))
        return found

    def add(
        self, line: int, measured: Measured, side: str, value: float, unit: str, note: str | None
    ) -> None:
        """Adds a figure. A unit of another operation makes it invalid."""
        iana = UNITS.get(unit)
        if iana is None:
            raise self.fail(line, f"unit {unit!r}", " or ".join(UNITS))
        belongs = "MiB/s" if measured.operation == "transfer" else "handshakes/s"
        if iana != belongs:
            note = f"printed as {unit}, which is no unit of a {measured.operation}"
        self.figures.append(Figure(line, len(self.commands), measured, side, value, iana, note))

    def rate(
        self, line: int, words: Sequence[str], number: re.Pattern[str]
    ) -> tuple[float, int, str]:
        """Rate, number of threads and unit from the end of a line.

        The line ends with `RATE UNIT`, or `threads N RATE … RATE total SUM per-thread MEAN UNIT`;
        then the rate is the total.
        """
        if len(words) == 2:
            return self.number(line, words[0], number), 1, words[1]
        if len(words) < 8 or words[0] != "threads" or not _INTEGER.fullmatch(words[1]):
            raise self.fail(line, " ".join(words) or "nothing", "a rate and its unit")
        threads = int(words[1])
        rest = words[2 + threads :]
        if threads < 1 or len(rest) != 5 or rest[0] != "total" or rest[2] != "per-thread":
            expected = f"{threads} rates, their total, the rate per thread and a unit"
            raise self.fail(line, " ".join(words), expected)
        each = [self.number(line, word, number) for word in words[2 : 2 + threads]]
        total = self.number(line, rest[1], number)
        mean = self.number(line, rest[3], number)
        for name, printed, computed in (
            ("total", total, sum(each)),
            ("mean", mean, total / threads),
        ):
            # for each rate, %g prints six digits and %.2f two decimals
            if abs(printed - computed) > 2e-5 * computed + 0.01 * threads:
                raise self.fail(line, f"{name} {printed:g}", f"{computed:g}, as the rates give it")
        return total, threads, rest[4]

    def number(self, line: int, word: str, pattern: re.Pattern[str]) -> float:
        """A number in exactly the form that the tool prints. Raises FormatError."""
        if not pattern.fullmatch(word):
            raise self.fail(line, f"{word!r}", f"a number like {_EXAMPLES[pattern.pattern]}")
        return float(word)


FIXED: Final = re.compile(r"[0-9]+\.[0-9]{2}")
"""A number in the form of Rust's {:.2}."""
GENERAL: Final = re.compile(r"[0-9]+(?:\.[0-9]+)?(?:e[+-][0-9]{2,3})?")
"""A number in the form of C's %g."""
_EXAMPLES: Final = {FIXED.pattern: "6496.10", GENERAL.pattern: "6368.22 or 2.1e+06"}


def transcript(
    name: str, tool: str, line: str, grammar: type[Grammar], libraries: Sequence[str]
) -> Format:
    """The format of files in which a line matches the regular expression `line` at its start."""
    begins = re.compile(f"^(?:{line})", re.MULTILINE)
    return Format(
        name,
        tool,
        lambda text, _: begins.search(text) is not None,
        file_by_file(lambda source: parse(source, grammar)),
        libraries=only(*libraries),
    )


def parse(source: RawInput, grammar: type[Grammar]) -> Parsed:
    """The rows and remarks of one file. Raises FormatError."""
    tool = grammar(source)
    each_line(source, tool.remarks, partial(_read_line, tool))
    _end_command(tool)
    return Parsed(list(_rows(tool)), tool.remarks)


def _read_line(tool: Grammar, number: int, line: str, last: bool) -> None:
    words = line.split()
    reader = tool.words.get(words[0])
    if reader:
        reader(number, words)
    elif _LOOP.fullmatch(line):
        if words[0] == "for":
            _begin_command(tool, number, None)
    elif command := _command(tool, number, words):
        _begin_command(tool, number, command)
    elif _is_memory_figure(tool, words):
        _add_memory(tool, number, int(words[0]), last)
    elif tool.explain(number, line) or _NOISE.fullmatch(line):
        pass
    elif _FAILED_MAKE.fullmatch(line):
        tool.remarks.append(Remark(tool.source.name, number, f"make failed: {line.strip()}"))
    else:
        known = ", ".join(tool.words)
        raise tool.fail(
            number, repr(line), f"a line of the tool ({known}), a command, or make's output"
        )


def _command(tool: Grammar, line: int, words: list[str]) -> Command | None:
    """The command that make echoed; None if the line is not a command."""
    at = next((i for i, word in enumerate(words) if _PROGRAM.fullmatch(word)), None)
    if at is None or not all(_BEFORE_PROGRAM.fullmatch(w) for w in words[:at]):
        return None
    if not any(word in MODES for word in words[at + 1 :]):
        return None
    options: dict[str, str] = {}
    positional: list[str] = []
    rest = iter(words[at + 1 :])
    for word in rest:
        name, equals, value = word.partition("=")
        if name in _FLAGS:
            options[name] = ""
        elif name in _OPTIONS:
            options[name] = value if equals else next(rest, "")
        else:
            positional.append(word)
    mode, *arguments = positional
    if mode not in MODES or not arguments or not all(map(_INTEGER.fullmatch, arguments[1:])):
        expected = f"a command of the tool: {' | '.join(MODES)}, a cipher suite, numbers"
        raise tool.fail(line, " ".join(words), expected)
    for name in ("--plaintext-size", "--max-fragment-size"):
        if name in options and not _INTEGER.fullmatch(options[name]):
            raise tool.fail(line, f"{name} {options[name]}", "a number")
    return Command(mode, arguments[0], tuple(map(int, arguments[1:])), options)


def _begin_command(tool: Grammar, line: int, command: Command | None) -> None:
    _end_command(tool)
    tool.command = command
    tool.commands.append(line)
    tool.excused = False
    tool.begin()


def _end_command(tool: Grammar) -> None:
    """Adds a remark if the command printed fewer figures than it should."""
    if tool.command is None or tool.excused:
        return
    current = len(tool.commands)
    if tool.figures and tool.figures[-1].command == current:
        return
    message = f"{tool.command.mode} {tool.command.suite}: no figures follow the command"
    if tool.command.mode == "memory":
        message += " (/usr/bin/time writes them on standard error, which is not in this file)"
    tool.remarks.append(Remark(tool.source.name, tool.commands[-1], message))


def _is_memory_figure(tool: Grammar, words: list[str]) -> bool:
    return (
        tool.command is not None
        and tool.command.mode == "memory"
        and len(words) == 1
        and _INTEGER.fullmatch(words[0]) is not None
    )


def _add_memory(tool: Grammar, line: int, kibibytes: int, last: bool) -> None:
    command = cast(Command, tool.command)
    if len(command.numbers) != 1:
        raise tool.fail(line, f"memory {command.suite} {command.numbers}", "a number of sessions")
    suite = tool.suite(line, command.suite)
    measured = Measured(
        operation="memory",
        protocol=suite.protocol,
        cipher_suite=suite.iana,
        variant=f"sessions-{command.numbers[0]}",
    )
    note = "the file ends within this line, so digits may be missing" if last else None
    tool.figures.append(
        Figure(line, len(tool.commands), measured, None, kibibytes * 1024.0, "bytes", note)
    )


def _rows(tool: Grammar) -> Iterator[ParsedRow]:
    """The figures as rows: repeats get a number, and a figure without its other side is invalid."""
    source = tool.source
    seen: dict[tuple[Measured, str | None], list[Figure]] = {}
    sides: dict[tuple[int, Measured, int], set[str | None]] = {}
    numbered: list[tuple[Figure, int, str | None]] = []
    for figure in tool.figures:
        earlier = seen.setdefault((figure.measured, figure.side), [])
        note = figure.note
        if earlier:
            first = earlier[0]
            expected = (
                first.command == figure.command
                and figure.command in tool.repeats_expected
                and len(earlier) < 4
            )
            if not expected:
                note = note or f"repeats line {first.line}; one file must hold one round"
        earlier.append(figure)
        numbered.append((figure, len(earlier), note))
        sides.setdefault((figure.command, figure.measured, len(earlier)), set()).add(figure.side)
    for figure, occurrence, note in numbered:
        wanted = SIDES.get(figure.measured.operation, (None,))
        present = sides[figure.command, figure.measured, occurrence]
        missing = [side for side in wanted if side not in present]
        if missing:
            note = note or f"the output stops before the {missing[0]}'s figure"
        with scenario_errors(source.name, figure.line):
            scenario = _scenario(figure.measured, figure.side, occurrence)
        yield ParsedRow(
            file=source.name,
            line=figure.line,
            implementation=source.implementation,
            round=source.round,
            scenario=scenario,
            metric="peak-resident" if figure.measured.operation == "memory" else "rate",
            value=figure.value,
            unit=figure.unit,
            note=note,
        )


@lru_cache(maxsize=4096)
def _scenario(measured: Measured, side: str | None, occurrence: int) -> Scenario:
    m = measured
    parts = [m.variant] if m.variant else []
    if occurrence > 1:
        parts.append(f"repeat-{occurrence}")
    return Scenario(
        operation=cast(Operation, m.operation),
        protocol=cast(Protocol | None, m.protocol),
        cipher_suite=m.cipher_suite,
        key_exchange=m.key_exchange,
        certificate=m.certificate,
        authentication="mutual" if m.authentication == "mutual" else m.authentication and "server",
        resumption=cast(Resumption | None, m.resumption),
        side=cast(Side | None, side),
        threads=m.threads,
        size=m.size,
        record_size=m.record_size,
        variant="-".join(parts) or None,
    )
