"""Bencher Metric Format (`bmf`), the JSON of bencher.dev: a benchmark, its measures, their values.

    {"client::x25519": {"latency": {"value": 88.0, "lower_value": 87.42, "upper_value": 88.88}}}

The file has no units. Those of Bencher's own measures are known: `latency` is in nanoseconds,
`throughput` in operations per second. A file with another measure is rejected. A benchmark is a
primitive of its name. The bounds are left out: nothing says what they are bounds of.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from tlsperf.contract.errors import FormatError, mismatch
from tlsperf.contract.record import Scenario
from tlsperf.load.json_text import line_of, parse_json
from tlsperf.load.rows import (
    Format,
    Parsed,
    RawInput,
    file_by_file,
    foreign_primitive,
    row_of,
    text_of,
)


class _Measure(NamedTuple):
    metric: str
    unit: str
    factor: float


_MEASURES: Final = {
    "latency": _Measure("duration", "µs", 1e-3),
    "throughput": _Measure("rate", "operations/s", 1.0),
}


class _Metric(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)

    value: float
    lower_value: float | None = None
    upper_value: float | None = None


_BENCHMARKS: Final = TypeAdapter(dict[str, dict[str, _Metric]])


def parse(source: RawInput) -> Parsed:
    """One row for each measure of a benchmark."""
    text = text_of(source)
    content = parse_json(text, source.name)
    try:
        benchmarks = _BENCHMARKS.validate_python(content, strict=True)
    except ValidationError as error:
        place = error.errors()[0]["loc"]
        line = line_of(text, str(place[0])) if place else 1
        raise mismatch(error, source.name, line) from None
    parsed = Parsed()
    seen: dict[Scenario, str] = {}
    for name, measures in benchmarks.items():
        line = line_of(text, name)
        scenario = foreign_primitive(source, line, name)
        if (other := seen.setdefault(scenario, name)) != name:
            expected = f"a name that differs from {other!r} in letters or digits"
            raise FormatError(source.name, line, repr(name), expected)
        for slug, figure in measures.items():
            if slug not in _MEASURES:
                expected = f"{' or '.join(_MEASURES)}, whose units are known"
                raise FormatError(source.name, line, f"the measure {slug!r} of {name!r}", expected)
            metric, unit, factor = _MEASURES[slug]
            value = figure.value * factor
            parsed.rows.append(row_of(source, line, scenario, metric, value, unit))
    return parsed


FORMATS: Final = (
    Format(
        "bmf",
        "Bencher",
        lambda text, name: (
            re.match(r'\s*\{\s*"[^"]*":\s*\{\s*"[^"]*":\s*\{\s*"(?:lower_|upper_)?value":', text)
            is not None
        ),
        file_by_file(parse),
    ),
)
