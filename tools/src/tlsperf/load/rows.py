"""The result of a format module: rows, and remarks."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from pydantic import ValidationError

from tlsperf.contract.errors import FormatError, mismatch
from tlsperf.contract.record import Scenario
from tlsperf.contract.run import Implementation, Run
from tlsperf.contract.text import counted
from tlsperf.contract.warnings import WarningCode


class RawInput(NamedTuple):
    """A raw file to read, with the facts that its run records about it."""

    data: bytes
    name: str
    """The path in error messages; its last part is the file's name."""
    run: Run
    """The run of the file; a file with several implementations names those of the run."""
    implementation: str = ""
    """Empty if the file itself names its implementations."""
    round: int | None = None
    """Of the file. A file that holds rounds itself numbers them (`with_rounds`)."""


class ParsedRow(NamedTuple):
    """One observation, with the file and line it comes from."""

    file: str
    line: int
    implementation: str
    round: int | None
    scenario: Scenario
    metric: str
    value: float
    unit: str
    statistic: str = "value"
    note: str | None = None
    """Why it must not count; None if it counts."""
    phase: str = "total"
    session: int = 1

    @property
    def valid(self) -> bool:
        return self.note is None


class Remark(NamedTuple):
    """A fact for readers of the run that no row contains, such as a missing figure."""

    file: str
    line: int
    message: str
    code: WarningCode = "missing-figure"


@dataclass
class Parsed:
    """Rows and remarks, in the order of the file."""

    rows: list[ParsedRow] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)
    first: dict[tuple[object, ...], int] = field(default_factory=dict)
    """The line that had each observation first, of rows that `add_once` added."""

    def add_once(self, row: ParsedRow) -> None:
        """Adds a row of a file in which nothing repeats: a scenario again is kept and does not count."""
        observed = (row.scenario, row.metric, row.statistic, row.round)
        first = self.first.get(observed)
        if first is None:
            self.first[observed] = row.line
        else:
            variant = f"{(row.scenario.variant or '')[:80]}-line-{row.line}".lstrip("-")
            scenario = row.scenario.model_copy(update={"variant": variant})
            note = row.note or f"repeats line {first}; one file must hold one round"
            row = row._replace(scenario=scenario, note=note)
        self.rows.append(row)


@dataclass(frozen=True)
class Format:
    """One raw format.

    `detects` gets the first 64 KiB of a file and its name. `parse` gets all files of the format in
    a run; most formats read each file alone.
    """

    name: str
    tool: str
    """The readable name of the tool that writes it."""
    detects: Callable[[str, str], bool]
    parse: Callable[[Sequence[RawInput]], Parsed]
    has_rounds: bool = True
    """True: several files of one implementation are rounds. False: they are parts of one
    measurement.
    """
    implementations: Callable[[bytes, str], list[Implementation]] | None = None
    """Finds the implementations that a file itself names, from its bytes and name."""
    libraries: Callable[[str], frozenset[str]] | None = None
    """Finds the libraries that the tool can measure, from the first 64 KiB of a file. None: any."""
    splits: bool = False
    """Whether one file can have figures of several implementations, each of which gets its own."""


def only(*libraries: str) -> Callable[[str], frozenset[str]]:
    """The field `libraries` for a tool that always measures these libraries."""
    return lambda text: frozenset(libraries)


def file_by_file(parse: Callable[[RawInput], Parsed]) -> Callable[[Sequence[RawInput]], Parsed]:
    """Makes a parser of several files from a parser of one file."""

    def parse_all(sources: Sequence[RawInput]) -> Parsed:
        together = Parsed()
        for source in sources:
            parsed = parse(source)
            together.rows += parsed.rows
            together.remarks += parsed.remarks
        return together

    return parse_all


def with_rounds(parse: Callable[[RawInput], Parsed]) -> Callable[[Sequence[RawInput]], Parsed]:
    """Makes a parser of several files from that of one, whose rows can have rounds, from 1: they are
    numbered on from those of the implementation's files before. Other rows have the file's round.
    """

    def parse_all(sources: Sequence[RawInput]) -> Parsed:
        read = [(source, parse(source._replace(round=None))) for source in sources]
        most: defaultdict[str, Counter[int]] = defaultdict(Counter)
        for source, parsed in read:
            rounds, own = most[source.implementation], source.round or 1
            rounds[own] = max(rounds[own], *(row.round or 0 for row in parsed.rows), 0)
        together = Parsed()
        for source, parsed in read:
            rounds = most[source.implementation]
            before = sum(of for round, of in rounds.items() if round < (source.round or 1))
            several = max(rounds.values()) > 1
            together.rows += [
                row._replace(round=before + row.round if row.round and several else source.round)
                for row in parsed.rows
            ]
            together.remarks += parsed.remarks
        return together

    return parse_all


class UnknownLineError(FormatError):
    """A line, or an entry of a JSON file, that its format does not know.

    It is left out and listed; the rest of the file is read. Any other FormatError refuses the file.
    """


class RefusedError(FormatError):
    """Refuses the file, even if it is about a last line that an interrupted run may have cut off."""


@dataclass
class LeftOut:
    """What a format does not know in one file."""

    file: str
    what: str = "unknown line"
    number: int = 0
    first: tuple[int, str] | None = None
    """Line number and text of the first, or of the first with a digit: it may be a figure."""
    with_digit: int = 0
    """Which of all had a digit first; 0 if none had."""

    def add(self, line: int, text: str) -> None:
        self.number += 1
        is_figure = not self.with_digit and re.search("[0-9]", text)
        if is_figure:
            self.with_digit = self.number
        if is_figure or self.first is None:
            self.first = (line, text.strip()[:100])

    @property
    def remarks(self) -> list[Remark]:
        """One remark, with the number and an example; none if nothing was left out."""
        if self.first is None:
            return []
        line, text = self.first
        which = ", the first" if self.number > 1 else ""
        which += " with a digit" if self.with_digit > 1 else ""
        message = f"{counted(self.number, self.what)} left out{which}: {text!r}"
        return [Remark(self.file, line, message, "left-out")]


def each_line(
    source: RawInput, remarks: list[Remark], read: Callable[[int, str, bool], None]
) -> None:
    """Calls `read` with number and text of each line that is not blank, and whether it is the last.

    An UnknownLineError of `read` becomes a part of one remark. Any other FormatError is raised, except,
    if it is no RefusedError, for the last line: an interrupted run may have cut it off.
    """
    lines = text_of(source).split("\n")
    left_out = LeftOut(source.name)
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        last = number == len(lines)
        try:
            read(number, line, last)
        except FormatError as error:
            if last and not isinstance(error, RefusedError):
                message = f"the output was interrupted at {line.strip()[:100]!r}"
                remarks.append(Remark(source.name, number, message))
            elif isinstance(error, UnknownLineError):
                left_out.add(number, line)
            else:
                raise
    remarks += left_out.remarks


@contextmanager
def scenario_errors(file: str, line: int) -> Iterator[None]:
    """Adds file and line to an error of a scenario that is made in the block."""
    try:
        yield
    except ValidationError as error:
        raise mismatch(error, file, line) from None


def primitive_row(
    source: RawInput,
    line: int,
    name: str,
    rate: float,
    unit: str,
    note: str | None,
    threads: int | None = None,
) -> ParsedRow:
    """The rate of the primitive `name`. A note makes the row invalid."""
    with scenario_errors(source.name, line):
        scenario = Scenario(operation="primitive", threads=threads, variant=name)
    return row_of(source, line, scenario, "rate", rate, unit, note=note)


def row_of(
    source: RawInput,
    line: int,
    scenario: Scenario,
    metric: str,
    value: float,
    unit: str,
    *,
    statistic: str = "value",
    note: str | None = None,
    round: int | None = None,
) -> ParsedRow:
    """One observation of the file. A note makes it invalid; `round` is the file's if not given."""
    return ParsedRow(
        file=source.name,
        line=line,
        implementation=source.implementation,
        round=source.round if round is None else round,
        scenario=scenario,
        metric=metric,
        value=value,
        unit=unit,
        statistic=statistic,
        note=note,
    )


def foreign_primitive(source: RawInput, line: int, printed: str) -> Scenario:
    """The scenario of a benchmark from another project: a primitive with its name.

    Characters that a variant cannot have become a hyphen: `client/X25519` becomes client-X25519. A
    plus, which joins key shares, becomes `and`. Raises UnknownLineError.
    """
    name = re.sub(r"[^A-Za-z0-9._]+", "-", printed.replace("+", "-and-")).strip("-._")
    try:
        if 0 < len(name) <= MOST_IN_NAME:
            return Scenario(operation="primitive", variant=name)
    except ValidationError:
        pass  # it resembles a name of ours, such as sessions-1000
    expected = f"a name of 1 to {MOST_IN_NAME} letters, digits and . _ -"
    raise UnknownLineError(source.name, line, repr(printed), expected)


MOST_IN_NAME: Final = 100
"""Limit of a variant's length in characters."""


def text_of(source: RawInput) -> str:
    """The text of a file, as `decode` returns it."""
    return decode(source.data, source.name)


def decode(data: bytes, name: str) -> str:
    """The text of UTF-8 bytes, without a byte-order mark and with \n as line end.

    Raises FormatError for other encodings, such as UTF-16 from an editor, and for long lines.
    """
    refuse_utf16(data, name)
    refuse_long_lines(data, name)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        found = f"byte 0x{data[error.start]:02x}"
        raise FormatError(name, line, found, _AS_WRITTEN) from None
    return text.replace("\r\n", "\n")


def refuse_utf16(data: bytes, name: str) -> None:
    """Raises FormatError for a UTF-16 byte-order mark, which editors on Windows write."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise FormatError(name, 1, "UTF-16 text", _AS_WRITTEN)


MOST_IN_LINE: Final = 1 << 14
"""Limit of a line's length in bytes; the rates of a thousand threads fit into one line."""


def refuse_long_lines(data: bytes, name: str) -> None:
    """Raises FormatError for a line longer than any tool prints, before patterns are applied."""
    start = 0
    while len(data) - start > MOST_IN_LINE:
        end = data.rfind(b"\n", start, start + MOST_IN_LINE + 1)
        if end < 0:
            line = data.count(b"\n", 0, start) + 1
            found = f"a line of more than {MOST_IN_LINE:,} bytes"
            raise FormatError(name, line, found, _AS_WRITTEN)
        start = end + 1


_AS_WRITTEN: Final = "UTF-8 text as the tool wrote it"
