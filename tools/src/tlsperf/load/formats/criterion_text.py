"""Text of Criterion.rs 0.3 to 0.8 and of cargo-criterion (`criterion/text`), as `cargo bench` prints:

    client/X25519           time:   [25.518 µs 25.529 µs 25.542 µs]
                            thrpt:  [39.151 Kelem/s 39.171 Kelem/s 39.188 Kelem/s]
    Found 8 outliers among 100 measurements (8.00%)

A name of 24 bytes or more has a line of its own before that of its time (src/report.rs, CliReport).
The value is the estimate between the bounds: the slope of a linear sampling, else the mean. It is of
one iteration of what the author timed, and the benchmark is a primitive of its name. Throughputs,
changes and outliers are left out; so is a time in another unit, of a custom measurement. Colours,
and what a terminal has overwritten, do not count.
"""

from __future__ import annotations

import re
from typing import Final

from tlsperf.contract.errors import FormatError
from tlsperf.load.rows import (
    MOST_IN_NAME,
    Format,
    LeftOut,
    Parsed,
    ParsedRow,
    RawInput,
    UnknownLineError,
    each_line,
    file_by_file,
    foreign_primitive,
    row_of,
)
from tlsperf.load.spellings import CARGO_LINE
from tlsperf.load.subjects import own_rows
from tlsperf.load.units import MICROSECONDS

_COLOUR: Final = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_FIGURE: Final = rf"([0-9]+(?:\.[0-9]+)?) ({'|'.join(MICROSECONDS)})"
_TIME: Final = re.compile(rf"(.*?) ?time: \[{_FIGURE} {_FIGURE} {_FIGURE}\]")
_LEAST_ALONE: Final = 24
"""Bytes of the shortest name that is printed on a line of its own."""
_NOISE: Final = re.compile(
    r"thrpt: \[.*\]"
    r"|(?:change:|time:) ?\[\S+% \S+% \S+%\](?: \(p = .*\))?"
    r"|change:"
    r"|No change in performance detected\.|Change within noise threshold\."
    r"|Performance has (?:improved|regressed)\."
    r"|Found [0-9]+ outliers? among .*"
    r"|[0-9]+ \([0-9.]+%\) (?:low|high) (?:mild|severe)"
    r"|(?:slope|mean|median) \[.*\]"
    r"|(?:Benchmarking|Testing|Warning:) .+|Success|Gnuplot not found, .+"
    r"|(?:WARNING:|This feature is|The statistical analysis and reporting is) .+"
    r"|running [0-9]+ tests?|test .+ \.\.\. (?:ok|ignored)|test result: .+"
)


def parse(source: RawInput) -> Parsed:
    """One row for each benchmark."""
    found: list[tuple[str, ParsedRow]] = []
    left = LeftOut(source.name)
    alone: list[tuple[int, str]] = []
    """Lines that can be names, since the last line that cannot be between a name and its time."""
    parsed = Parsed()

    def end_names() -> None:
        for unused in alone:
            left.add(*unused)
        alone.clear()

    def read(number: int, line: str, last: bool) -> None:
        text = " ".join(_COLOUR.sub("", line.rstrip("\r").rpartition("\r")[2]).split())
        time = _TIME.fullmatch(text)
        known = time or _NOISE.fullmatch(text) or CARGO_LINE.match(text)
        if last and not known:
            raise FormatError(source.name, number, repr(text), "a line of criterion that ends")
        if not known and "time: [" not in text:  # that of a custom measurement
            if len(text.encode()) >= _LEAST_ALONE and len(text) <= MOST_IN_NAME:
                alone.append((number, text))
            else:
                left.add(number, text)
            return
        name = alone.pop()[1] if time and not time[1] and len(alone) == 1 else ""
        end_names()
        try:
            if time:
                add(number, time, time[1] or name)
            elif not known:
                raise UnknownLineError(source.name, number, text, "a unit of time")
        except UnknownLineError:
            left.add(number, text)

    def add(number: int, time: re.Match[str], name: str) -> None:
        scenario = foreign_primitive(source, number, name)
        low, value, high = (float(time[i]) * MICROSECONDS[time[i + 1]] for i in (2, 4, 6))
        note = None if low <= value <= high else "the estimate is not between its bounds"
        row = row_of(source, number, scenario, "duration", value, "µs", note=note)
        found.append((name, row))

    each_line(source, parsed.remarks, read)
    end_names()
    own = own_rows(source, found)
    return Parsed(own.rows, [*parsed.remarks, *left.remarks, *own.remarks])


FORMATS: Final = (
    Format(
        "criterion/text",
        "Criterion.rs",
        lambda text, name: (
            re.search(r"\btime: +\[[0-9.]+ [pnµμum]?s ", _COLOUR.sub("", text)) is not None
        ),
        file_by_file(parse),
        splits=True,
    ),
)
