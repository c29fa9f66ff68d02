"""JSON of Criterion.rs: durations of one iteration, the typical one and the median.

`criterion/estimates`, a file `target/criterion/<benchmark>/new/estimates.json` since 0.3.3, in the
nanoseconds of criterion's own measurement (src/estimate.rs):

    {"mean": {"confidence_interval": {…}, "point_estimate": 25529.1, "standard_error": 6.1},
     "median": {…}, "median_abs_dev": {…}, "slope": null, "std_dev": {…}}

It does not say what it measured: the name of the imported file does, `client-X25519-estimates.json`
and, for rounds, `client-X25519-estimates-1.json`. `change/estimates.json`, which has no deviation,
has ratios and is refused.

`criterion/messages`, what `cargo criterion --message-format=json` prints, an object a line
(cargo-criterion 1.0 and 1.1, src/message_formats/json.rs):

    {"reason": "benchmark-complete", "id": "client/X25519", "unit": "ns",
     "typical": {"estimate": 25529.1, "lower_bound": …, "upper_bound": …, "unit": "ns"},
     "median": {…}, …}

The typical value is the one that criterion itself prints: the slope of a linear sampling, else the
mean. A benchmark is a primitive of its name.
"""

from __future__ import annotations

import re
from typing import Final

from pydantic import ValidationError

from tlsperf.contract.errors import FormatError
from tlsperf.load.json_text import Content, parse_json, read_json
from tlsperf.load.rows import (
    Format,
    Parsed,
    ParsedRow,
    RawInput,
    UnknownLineError,
    each_line,
    file_by_file,
    foreign_primitive,
    row_of,
    text_of,
)
from tlsperf.load.subjects import check_named, own_rows
from tlsperf.load.units import MICROSECONDS


class _PointEstimate(Content):
    point_estimate: float


class _Estimates(Content):
    mean: _PointEstimate
    median: _PointEstimate
    std_dev: _PointEstimate
    slope: _PointEstimate | None = None


_ESTIMATES_NAME: Final = re.compile(r"(?:.*/)?(.+?)[._-]estimates(?:[._-]?[0-9]+)?\.json")


def parse_estimates(source: RawInput) -> Parsed:
    """The typical value and the median of the benchmark that the file's name states."""
    estimates = read_json(text_of(source), source.name, _Estimates)
    named = _ESTIMATES_NAME.fullmatch(source.name)
    if not named:
        found = f"the file name {source.name.rpartition('/')[2]}"
        raise FormatError(source.name, None, found, "<benchmark>-estimates.json")
    check_named(source, 1, named[1])
    typical = (estimates.slope or estimates.mean).point_estimate
    return Parsed(_durations(source, 1, named[1], typical, estimates.median.point_estimate, "ns"))


class _Estimate(Content):
    estimate: float
    unit: str


class _Message(Content):
    id: str
    typical: _Estimate
    median: _Estimate


def parse_messages(source: RawInput) -> Parsed:
    """Two rows for each benchmark: the typical value and the median."""
    parsed = Parsed()
    found: list[tuple[str, ParsedRow]] = []

    def read(number: int, line: str, last: bool) -> None:
        try:
            content = parse_json(line, source.name, number)
            if isinstance(content, dict) and content.get("reason") == "group-complete":
                return
            message = _Message.model_validate(content)
        except (FormatError, ValidationError):
            expected = "a message of cargo-criterion with id, typical and median"
            raise UnknownLineError(source.name, number, repr(line), expected) from None
        typical, median = message.typical, message.median
        if typical.unit not in MICROSECONDS or median.unit != typical.unit:
            raise UnknownLineError(source.name, number, repr(line), "a unit of time")
        values = (typical.estimate, median.estimate, typical.unit)
        found.extend((message.id, row) for row in _durations(source, number, message.id, *values))

    each_line(source, parsed.remarks, read)
    own = own_rows(source, found)
    return Parsed(own.rows, parsed.remarks + own.remarks)


def _durations(
    source: RawInput, line: int, name: str, typical: float, median: float, unit: str
) -> list[ParsedRow]:
    """The rows of a benchmark, in µs."""
    of = (source, line, foreign_primitive(source, line, name), "duration")
    return [
        row_of(*of, typical * MICROSECONDS[unit], "µs"),
        row_of(*of, median * MICROSECONDS[unit], "µs", statistic="p50"),
    ]


FORMATS: Final = (
    Format(
        "criterion/estimates",
        "Criterion.rs",
        lambda text, name: text.lstrip().startswith("{") and '"point_estimate":' in text,
        file_by_file(parse_estimates),
    ),
    Format(
        "criterion/messages",
        "cargo-criterion",
        lambda text, name: (
            re.match(r'\s*\{[^\n]*"reason": ?"(?:benchmark|group)-complete"', text) is not None
        ),
        file_by_file(parse_messages),
        splits=True,
    ),
)
