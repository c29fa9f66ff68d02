"""`hyperfine --export-json` (`hyperfine`): times of whole commands, in seconds.

    {"results": [{"command": "openssl version", "mean": 0.0048, "median": 0.0035, "max": 0.0074,
      "times": [0.0070, …], "exit_codes": [0, …], "parameters": {"threads": "2"}}]}

(sharkdp/hyperfine: src/benchmark/benchmark_result.rs, to 1.20.) Mean, median and maximum become
durations in µs of a primitive with the name of the command and its parameters. The single times are
no rounds, because hyperfine runs all those of one command before the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pydantic import Field

from tlsperf.load.json_text import Content, line_of, read_json
from tlsperf.load.rows import (
    MOST_IN_NAME,
    Format,
    LeftOut,
    Parsed,
    ParsedRow,
    RawInput,
    Remark,
    UnknownLineError,
    file_by_file,
    foreign_primitive,
    row_of,
    text_of,
)
from tlsperf.load.subjects import own_rows

_METHOD: Final = "hyperfine measures a whole process, with its start and its end"


class _Result(Content):
    command: str
    mean: float
    median: float
    max: float
    exit_codes: Sequence[int | None] = ()
    parameters: dict[str, str] = Field({})


class _Results(Content):
    results: list[_Result]


def parse(source: RawInput) -> Parsed:
    """Three rows for each command: mean, median and maximum."""
    text = text_of(source)
    results = read_json(text, source.name, _Results).results
    found: list[tuple[str, ParsedRow]] = []
    left = LeftOut(source.name, "unknown command")
    for result in results:
        line = line_of(text, result.command)
        name = " ".join([result.command, *(w for of in result.parameters.items() for w in of)])
        try:
            scenario = foreign_primitive(source, line, name)
        except UnknownLineError:
            left.add(line, name)
            continue
        failed = sum(code != 0 for code in result.exit_codes)
        note = f"{failed} of {len(result.exit_codes)} commands failed" if failed else None
        for statistic, seconds in (
            ("value", result.mean),
            ("p50", result.median),
            ("max", result.max),
        ):
            of = (source, line, scenario, "duration", seconds * 1e6, "µs")
            found.append((name, row_of(*of, statistic=statistic, note=note)))
    own = own_rows(source, found)
    method = [Remark(source.name, 1, _METHOD, "method")] if own.rows else []
    hint = f"; a name has 1 to {MOST_IN_NAME} letters: hyperfine -n NAME"
    unnamed = [it._replace(message=it.message + hint) for it in left.remarks]
    return Parsed(own.rows, unnamed + own.remarks + method)


FORMATS: Final = (
    Format(
        "hyperfine",
        "hyperfine",
        lambda text, name: text.lstrip().startswith("{") and '"command":' in text,
        file_by_file(parse),
        splits=True,
    ),
)
