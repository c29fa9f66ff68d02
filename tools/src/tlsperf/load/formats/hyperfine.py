"""`hyperfine --export-json` (`hyperfine`): times of whole commands, in seconds.

    {"results": [{"command": "openssl version", "mean": 0.0048, "stddev": 0.0022,
      "median": 0.0035, "user": 0.0020, "system": 0.0005, "min": 0.0025, "max": 0.0074,
      "times": [0.0070, …], "exit_codes": [0, …]}]}

Mean, median and maximum become durations in µs of a primitive with the name of the command. The
single times are no rounds, because hyperfine runs all those of one command before the next.
"""

from __future__ import annotations

from typing import Final

from pydantic import BaseModel, ConfigDict, ValidationError

from tlsperf.contract.errors import FormatError, mismatch
from tlsperf.contract.record import Scenario
from tlsperf.load.json_text import line_of, parse_json
from tlsperf.load.rows import (
    Format,
    Parsed,
    RawInput,
    Remark,
    file_by_file,
    foreign_primitive,
    row_of,
    text_of,
)

_MICROSECONDS: Final = 1e6
_METHOD: Final = "hyperfine measures a whole process, with its start and its end"


class _Result(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore", allow_inf_nan=False)

    command: str
    mean: float
    median: float
    max: float
    exit_codes: list[int | None] = []


class _Results(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")

    results: list[_Result]


def parse(source: RawInput) -> Parsed:
    """Three rows for each command: mean, median and maximum."""
    text = text_of(source)
    content = parse_json(text, source.name)
    try:
        results = _Results.model_validate(content).results
    except ValidationError as error:
        raise mismatch(error, source.name, 1) from None
    parsed = Parsed()
    seen: set[Scenario] = set()
    for result in results:
        line = line_of(text, result.command)
        scenario = foreign_primitive(source, line, result.command)
        if scenario in seen:
            found = f"a second result of {scenario.variant}"
            raise FormatError(source.name, line, found, "commands with names that differ")
        seen.add(scenario)
        failed = sum(code != 0 for code in result.exit_codes)
        note = f"{failed} of {len(result.exit_codes)} commands failed" if failed else None
        for statistic, seconds in (
            ("value", result.mean),
            ("p50", result.median),
            ("max", result.max),
        ):
            value = seconds * _MICROSECONDS
            parsed.rows.append(
                row_of(
                    *(source, line, scenario, "duration", value, "µs"),
                    statistic=statistic,
                    note=note,
                )
            )
    if parsed.rows:
        parsed.remarks.append(Remark(source.name, 1, _METHOD, "method"))
    return parsed


FORMATS: Final = (
    Format(
        "hyperfine",
        "hyperfine",
        lambda text, name: text.lstrip().startswith("{") and '"command":' in text,
        file_by_file(parse),
    ),
)
