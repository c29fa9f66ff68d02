"""Bencher Metric Format (`bmf`), the JSON of bencher.dev: a benchmark, its measures, their values.

    {"client::x25519": {"latency": {"value": 88.0, "lower_value": 87.42, "upper_value": 88.88}}}

The file has no units: those of Bencher's own measures are known (bencherdev/bencher:
lib/bencher_json/src/project/measure/built_in.rs, August 2026, of which a file has the name or the
slug). `latency` (ns), `throughput` (operations/s) and `instructions` are read. All others are left
out: the rest of Bencher's own measure something else (a file's size, misses of a cache) or count
another scope (DHAT's the whole process), and those of a project have units that it alone knows. A
benchmark is a primitive of its name. The bounds are left out: nothing says of what they are.
"""

from __future__ import annotations

import re
from typing import Final

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from tlsperf.contract.errors import mismatch
from tlsperf.load.json_text import line_of, parse_json
from tlsperf.load.rows import (
    Format,
    LeftOut,
    Parsed,
    ParsedRow,
    RawInput,
    UnknownLineError,
    file_by_file,
    foreign_primitive,
    row_of,
    text_of,
)
from tlsperf.load.subjects import own_rows

_MEASURES: Final = {
    "latency": ("duration", "µs", 1e-3),
    "throughput": ("rate", "operations/s", 1.0),
    "instructions": ("instructions", "instructions/operation", 1.0),
}
"""Metric, unit, and the value of Bencher's unit in it."""


class _Metric(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)

    value: float
    lower_value: float | None = None
    upper_value: float | None = None


_BENCHMARKS: Final = TypeAdapter(dict[str, dict[str, object]])


def parse(source: RawInput) -> Parsed:
    """One row for each measure of a benchmark."""
    text = text_of(source)
    try:
        benchmarks = _BENCHMARKS.validate_python(parse_json(text, source.name), strict=True)
    except ValidationError as error:
        raise mismatch(error, source.name, 1) from None
    found: list[tuple[str, ParsedRow]] = []
    left = LeftOut(source.name, "unknown measure")
    for name, measures in benchmarks.items():
        line = line_of(text, name)
        for measure, figure in measures.items():
            try:
                metric, unit, factor = _MEASURES[measure.lower()]
                value = _Metric.model_validate(figure).value * factor
                scenario = foreign_primitive(source, line, name)
            except (KeyError, ValidationError, UnknownLineError):
                left.add(line, f"{measure} of {name}")
            else:
                found.append((name, row_of(source, line, scenario, metric, value, unit)))
    own = own_rows(source, found)
    return Parsed(own.rows, left.remarks + own.remarks)


FORMATS: Final = (
    Format(
        "bmf",
        "Bencher",
        lambda text, name: (
            re.match(r'\s*\{\s*"[^"]*":\s*\{\s*"[^"]*":\s*\{\s*"(?:lower_|upper_)?value":', text)
            is not None
        ),
        file_by_file(parse),
        splits=True,
    ),
)
