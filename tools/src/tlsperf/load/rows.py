"""What a format module gives back: rows for the tidy frame, and what it noticed beside them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import pandas as pd
from pydantic import ValidationError

from tlsperf.contract.errors import FormatError, mismatch
from tlsperf.contract.record import SCENARIO_FIELDS, Scenario
from tlsperf.contract.run import Implementation, Run
from tlsperf.contract.warnings import WarningCode
from tlsperf.load.frame import tidy_frame


class RawInput(NamedTuple):
    """A raw file to be read, with what its run knows about it."""

    data: bytes
    name: str
    """As errors name it; its last part is the file's name."""
    run: Run
    """The run it belongs to, whose implementations a file with several of them names."""
    implementation: str | None = None
    round: int | None = None


class ParsedRow(NamedTuple):
    """One observation; `file` and `line` say where it was read."""

    file: str
    line: int
    implementation: str | None
    round: int | None
    scenario: Scenario
    metric: str
    value: float
    unit: str
    statistic: str = "value"
    valid: bool = True
    note: str | None = None


class Remark(NamedTuple):
    """What a reader of the run must know and no row contains, such as a missing figure."""

    file: str
    line: int
    message: str
    code: WarningCode = "missing-figure"


@dataclass
class Parsed:
    """Rows and remarks, in the order of the file."""

    rows: list[ParsedRow] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)


@dataclass(frozen=True)
class Format:
    """One raw format.

    `detects` looks at the first 64 KiB of a file and its name. `parse` reads files that belong
    together (all of the format in a run); most formats know nothing beyond a single file.
    """

    name: str
    tool: str
    """What writes it, as readers see it."""
    detects: Callable[[str, str], bool]
    parse: Callable[[Sequence[RawInput]], Parsed]
    has_rounds: bool = True
    """Several files of one implementation are its rounds; else they are parts of one measurement.
    """
    implementations: Callable[[bytes, str], list[Implementation]] | None = None
    """Given bytes and name of a file: what was measured, where the file itself names it."""
    libraries: Callable[[str], frozenset[str]] | None = None
    """Given the first 64 KiB of a file: the libraries that its tool can measure. None: any."""


def only(*libraries: str) -> Callable[[str], frozenset[str]]:
    """`libraries` of a tool that measures these, whatever is in the file."""
    return lambda text: frozenset(libraries)


def file_by_file(parse: Callable[[RawInput], Parsed]) -> Callable[[Sequence[RawInput]], Parsed]:
    """The parser of several files from the parser of one."""

    def parse_all(sources: Sequence[RawInput]) -> Parsed:
        together = Parsed()
        for source in sources:
            parsed = parse(source)
            together.rows += parsed.rows
            together.remarks += parsed.remarks
        return together

    return parse_all


def each_line(
    source: RawInput, remarks: list[Remark], read: Callable[[int, str, bool], None]
) -> None:
    """Calls `read` with number and text of each line that is not blank, and whether it is the last.

    What `read` rejects (a FormatError) is an error, but for the last line: that one may be cut off
    where the run was interrupted, which becomes a remark.
    """
    lines = text_of(source).split("\n")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        last = number == len(lines)
        try:
            read(number, line, last)
        except FormatError:
            if not last:
                raise
            message = f"the output was interrupted at {line.strip()[:100]!r}"
            remarks.append(Remark(source.name, number, message))


@contextmanager
def scenario_errors(file: str, line: int) -> Iterator[None]:
    """Adds the place to an error of a scenario that is made in the block."""
    try:
        yield
    except ValidationError as error:
        raise mismatch(error, file, line) from None


def primitive_row(
    source: RawInput, line: int, name: str, rate: float, unit: str, note: str | None
) -> ParsedRow:
    """The rate of a primitive called `name`; a note makes it invalid."""
    with scenario_errors(source.name, line):
        scenario = Scenario(operation="primitive", variant=name)
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
) -> ParsedRow:
    """One observation of the file; a note makes it invalid."""
    return ParsedRow(
        file=source.name,
        line=line,
        implementation=source.implementation,
        round=source.round,
        scenario=scenario,
        metric=metric,
        value=value,
        unit=unit,
        statistic=statistic,
        valid=note is None,
        note=note,
    )


def foreign_primitive(source: RawInput, line: int, printed: str) -> Scenario:
    """The scenario of a benchmark that somebody else named: a primitive with that name.

    What a variant cannot have becomes a hyphen: `client/X25519` is client-X25519. A plus, which
    joins the key shares of a client, becomes `and`.
    """
    name = re.sub(r"[^A-Za-z0-9._]+", "-", printed.replace("+", "-and-")).strip("-._")
    if not name or len(name) > MOST_IN_NAME:
        expected = f"a name of 1 to {MOST_IN_NAME} letters, digits and . _ -"
        raise FormatError(source.name, line, repr(printed[:200]), expected)
    with scenario_errors(source.name, line):
        return Scenario(operation="primitive", variant=name)


MOST_IN_NAME: Final = 100
"""Characters of a variant."""


def frame_of(rows: Iterable[ParsedRow]) -> pd.DataFrame:
    """The checked tidy frame of rows; FormatError names the file and line of a wrong one."""
    rows = list(rows)
    columns: dict[str, list[object]] = {
        "file": [r.file for r in rows],
        "line": [r.line for r in rows],
        "implementation": [r.implementation for r in rows],
        "round": [r.round for r in rows],
        "metric": [r.metric for r in rows],
        "value": [r.value for r in rows],
        "unit": [r.unit for r in rows],
        "statistic": [r.statistic for r in rows],
        "valid": [r.valid for r in rows],
        "note": [r.note for r in rows],
    }
    for name in SCENARIO_FIELDS:
        columns[name] = [getattr(r.scenario, name) for r in rows]
    return tidy_frame(columns)


def text_of(source: RawInput) -> str:
    """The text of a file; see `decode`."""
    return decode(source.data, source.name)


def decode(data: bytes, name: str) -> str:
    """The text of bytes: UTF-8, with or without a byte-order mark, line ends made \\n.

    Raises FormatError for anything but UTF-8 (a file saved as UTF-16 by an editor, say).
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
    """Raises FormatError for the byte-order marks that editors on Windows begin UTF-16 with."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise FormatError(name, 1, "UTF-16 text", _AS_WRITTEN)


MOST_IN_LINE: Final = 1 << 14
"""Bytes of a line: a thousand threads have theirs in one."""


def refuse_long_lines(data: bytes, name: str) -> None:
    """Raises FormatError at a line that no tool prints, before an expression is matched with it."""
    start = 0
    while len(data) - start > MOST_IN_LINE:
        end = data.rfind(b"\n", start, start + MOST_IN_LINE + 1)
        if end < 0:
            line = data.count(b"\n", 0, start) + 1
            found = f"a line of more than {MOST_IN_LINE:,} bytes"
            raise FormatError(name, line, found, _AS_WRITTEN)
        start = end + 1


_AS_WRITTEN: Final = "UTF-8 text as the tool wrote it"
