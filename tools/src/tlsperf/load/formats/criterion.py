"""Criterion.rs, as of rustls' and s2n-tls' benchmarks: durations of one iteration.

`criterion/text`, what `cargo bench` prints:

    client/X25519           time:   [25.518 µs 25.529 µs 25.542 µs]
                            thrpt:  [39.151 Kelem/s 39.171 Kelem/s 39.188 Kelem/s]
    Found 8 outliers among 100 measurements (8.00%)

`criterion/estimates`, a file `target/criterion/<benchmark>/new/estimates.json`, in nanoseconds:

    {"mean": {"confidence_interval": {…}, "point_estimate": 25529.1, "standard_error": 6.1},
     "median": {…}, "median_abs_dev": {…}, "slope": null, "std_dev": {…}}

It does not say what it measured: the name of the imported file does, `client-X25519-estimates.json`
and, for rounds, `client-X25519-estimates-1.json`.

`criterion/messages`, what `cargo criterion --message-format=json` prints, an object a line:

    {"reason": "benchmark-complete", "id": "client/X25519", "unit": "ns",
     "typical": {"estimate": 25529.1, "lower_bound": …, "upper_bound": …, "unit": "ns"},
     "median": {…}, …}

The value is the one that criterion itself prints in the middle: the slope of a linear sampling,
else the mean. The median is kept too where the file has it. A benchmark is a primitive of its name.
"""

from __future__ import annotations

import re
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, ValidationError

from tlsperf.contract.errors import FormatError, mismatch
from tlsperf.contract.libraries import NAMES
from tlsperf.contract.record import Scenario
from tlsperf.load.json_text import parse_json
from tlsperf.load.rows import (
    Format,
    Parsed,
    RawInput,
    each_line,
    file_by_file,
    foreign_primitive,
    row_of,
    text_of,
)

_UNITS: Final = {"ps": 1e-6, "ns": 1e-3, "µs": 1.0, "us": 1.0, "ms": 1e3, "s": 1e6}
"""The length of each unit in microseconds."""
_NUMBER: Final = r"([0-9]+(?:\.[0-9]+)?) (ps|ns|µs|us|ms|s)"
_TIME: Final = re.compile(rf"(.*?) ?time: \[{_NUMBER} {_NUMBER} {_NUMBER}\]")
_LEAST_NAME: Final = 19
"""Criterion prints a name on its own line if it has at least this many characters."""
_PERCENT: Final = r"[+\u2212-]?[0-9.]+%"
_NOISE: Final = re.compile(
    r"thrpt: \[[^]]*\]"
    rf"|(?:change:|time:|thrpt:) ?\[{_PERCENT} {_PERCENT} {_PERCENT}\](?: \(p = [^)]*\))?"
    r"|change:"
    r"|No change in performance detected\.|Change within noise threshold\."
    r"|Performance has (?:improved|regressed)\."
    r"|Found [0-9]+ outliers? among [0-9]+ measurements \([0-9.]+%\)"
    r"|[0-9]+ \([0-9.]+%\) (?:low|high) (?:mild|severe)"
    r"|Benchmarking .+|Warning: Unable to complete .+|Gnuplot not found, .+"
    r"|(?:Running|Compiling|Finished|Downloaded|Locking|Updating) .+"
    r"|running [0-9]+ tests?|test .+ \.\.\. \w+|test result: .+"
    r"|(?:\$ )?cargo (?:\+\S+ )?(?:bench|criterion)(?: .*)?"
)


def parse_text(source: RawInput) -> Parsed:
    """One row for each benchmark."""
    parsed = Parsed()
    seen: set[Scenario] = set()
    alone: list[str] = []

    def read(number: int, line: str, last: bool) -> None:
        line = " ".join(line.split())
        if found := _TIME.fullmatch(line):
            name = found[1] or (alone.pop() if alone else "")
            scenario = _scenario(source, number, name, seen)
            value = float(found[4]) * _UNITS[found[5]]
            parsed.rows.append(row_of(source, number, scenario, "duration", value, "µs"))
        elif alone:
            expected = f"`time: [LOW ESTIMATE HIGH]` of {alone[0][:100]}"
            raise FormatError(source.name, number, repr(line), expected)
        elif not _NOISE.fullmatch(line):
            if len(line) < _LEAST_NAME:
                expected = "NAME time: [LOW ESTIMATE HIGH], or another line of criterion"
                raise FormatError(source.name, number, repr(line), expected)
            alone.append(line)

    each_line(source, parsed.remarks, read)
    if alone and parsed.rows:
        last = text_of(source).count("\n") + 1
        raise FormatError(source.name, last, "the end", f"the time of {alone[0][:100]}")
    return parsed


class _PointEstimate(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore", allow_inf_nan=False)

    point_estimate: float


class _Estimates(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")

    mean: _PointEstimate
    median: _PointEstimate
    slope: _PointEstimate | None = None


_ESTIMATES_NAME: Final = re.compile(r"(?:.*/)?(.+?)[._-]estimates(?:[._-]?[0-9]+)?\.json")


def parse_estimates(source: RawInput) -> Parsed:
    """The typical value and the median of the benchmark that the file's name states."""
    content = parse_json(text_of(source), source.name)
    try:
        estimates = _Estimates.model_validate(content)
    except ValidationError as error:
        raise mismatch(error, source.name, 1) from None
    named = _ESTIMATES_NAME.fullmatch(source.name)
    if not named:
        found = f"the file name {source.name.rpartition('/')[2]}"
        raise FormatError(source.name, None, found, "<benchmark>-estimates.json")
    scenario = _scenario(source, 1, named[1], set())
    typical = (estimates.slope or estimates.mean).point_estimate
    median = estimates.median.point_estimate
    return Parsed(_durations(source, 1, scenario, (typical, median), "ns"))


class _Estimate(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore", allow_inf_nan=False)

    estimate: float
    unit: str


class _Message(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")

    id: str
    typical: _Estimate
    median: _Estimate


def parse_messages(source: RawInput) -> Parsed:
    """Two rows for each benchmark: the typical value and the median."""
    parsed = Parsed()
    seen: set[Scenario] = set()

    def read(number: int, line: str, last: bool) -> None:
        content = parse_json(line, source.name, number)
        reason = content.get("reason") if isinstance(content, dict) else None
        if reason == "group-complete":
            return
        if reason != "benchmark-complete":
            expected = "an object with the reason benchmark-complete or group-complete"
            raise FormatError(source.name, number, repr(line), expected)
        message = _message(source, number, content)
        unit = message.typical.unit
        if unit not in _UNITS or message.median.unit != unit:
            found = f"the unit {unit!r} of {message.id!r}"
            raise FormatError(source.name, number, found, " or ".join(_UNITS))
        scenario = _scenario(source, number, message.id, seen)
        values = (message.typical.estimate, message.median.estimate)
        parsed.rows += _durations(source, number, scenario, values, unit)

    each_line(source, parsed.remarks, read)
    return parsed


def _message(source: RawInput, number: int, content: Any) -> _Message:
    try:
        return _Message.model_validate(content)
    except ValidationError as error:
        raise mismatch(error, source.name, number) from None


def _durations(
    source: RawInput, line: int, scenario: Scenario, values: tuple[float, float], unit: str
) -> list[Any]:
    """The rows of a typical value and of a median, in µs."""
    return [
        row_of(
            *(source, line, scenario, "duration", value * _UNITS[unit], "µs"), statistic=statistic
        )
        for statistic, value in zip(("value", "p50"), values, strict=True)
    ]


def _scenario(source: RawInput, line: int, name: str, seen: set[Scenario]) -> Scenario:
    """The scenario of a benchmark. It must be new in the file and not belong to another library."""
    mine = source.implementation.partition("-")[0]
    for part in re.split(r"[/ ]", name):
        if part.lower() in NAMES and not source.implementation.startswith(part.lower()):
            expected = f"only benchmarks of {mine}: the others belong to another --implementation"
            raise FormatError(source.name, line, f"the benchmark {name!r}", expected)
    scenario = foreign_primitive(source, line, name)
    if scenario in seen:
        expected = "each benchmark once: one file must hold one round"
        raise FormatError(source.name, line, f"{name!r} a second time", expected)
    seen.add(scenario)
    return scenario


FORMATS: Final = (
    Format(
        "criterion/text",
        "Criterion.rs",
        lambda text, name: re.search(r"\btime: +\[[0-9.]+ [pnµum]?s ", text) is not None,
        file_by_file(parse_text),
    ),
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
    ),
)
