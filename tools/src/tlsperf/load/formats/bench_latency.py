"""Handshake latencies of openssl-bench and rustls' bench (`bench-latency`).

Files `PREFIX-(client|server)-THREAD-latency.tsv`, one a thread (a number, or `ThreadId(2)`), one
handshake a line: time of day in seconds, latency in microseconds:

    1795230099.38374996\\t928.87878418

The files of one prefix and side are one distribution over all threads. Its percentiles are
latencies that were measured (inverted distribution function; no interpolation). The prefixes of
both tools' own makefiles say what was measured; another prefix names the variant.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Final, cast

import numpy as np

from tlsperf.contract.errors import FormatError
from tlsperf.contract.record import Scenario, Side
from tlsperf.load.rows import (
    Format,
    Parsed,
    RawInput,
    Remark,
    UnknownLineError,
    each_line,
    row_of,
    scenario_errors,
)
from tlsperf.load.spellings import MAKEFILE_SCENARIOS

_NAME: Final = re.compile(r"(.+)-(client|server)-(?:[0-9]+|ThreadId\([0-9]+\))-latency\.tsv")
_LINE: Final = re.compile(r"[0-9]+\.[0-9]+[\t ]+([0-9]+(?:\.[0-9]+)?)\s*")
_DETECTED: Final = re.compile(r"(?:.+-)?latency(?:-.+)?\.tsv")
PERCENTILES: Final = {"p5": 0.05, "p50": 0.5, "p90": 0.9, "p99": 0.99, "p99.9": 0.999, "max": 1.0}


def parse(sources: Sequence[RawInput]) -> Parsed:
    """Percentiles over all files of each implementation, prefix and side."""
    parsed = Parsed()
    groups: dict[tuple[str, int | None, str, str], list[RawInput]] = {}
    for source in sources:
        name = _NAME.fullmatch(PurePosixPath(source.name).name)
        if not name:
            message = (
                "this file is left out: its name is not PREFIX-(client|server)-THREAD-latency.tsv"
            )
            parsed.remarks.append(Remark(source.name, 1, message, "left-out"))
            continue
        key = (source.implementation, source.round, name[1], name[2])
        groups.setdefault(key, []).append(source)
    for (_, _, prefix, side), files in groups.items():
        latencies = np.sort(np.concatenate([_latencies(file, parsed) for file in files]))
        with scenario_errors(files[0].name, 1):
            scenario = MAKEFILE_SCENARIOS.get(prefix) or Scenario(
                operation="handshake", variant=prefix
            )
        update = {"side": cast(Side, side), "threads": len(files)}
        scenario = scenario.model_copy(update=update)
        for statistic, share in PERCENTILES.items():
            rank = max(0, int(np.ceil(share * len(latencies))) - 1)
            value = float(latencies[rank])
            row = row_of(files[0], 1, scenario, "duration", value, "µs", statistic=statistic)
            parsed.rows.append(row)
    return parsed


def _latencies(source: RawInput, parsed: Parsed) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The latencies of one file in µs, in the order of the file."""
    values: list[float] = []

    def read(number: int, line: str, last: bool) -> None:
        found = _LINE.fullmatch(line)
        if last or not found:
            # Only the line end shows that the last number is whole.
            expected = "seconds, a tab, microseconds, and a line end"
            raise UnknownLineError(source.name, number, repr(line), expected)
        values.append(float(found[1]))

    each_line(source, parsed.remarks, read)
    if not values:
        raise FormatError(source.name, 1, "no latency", "one handshake on each line")
    return np.asarray(values, dtype=np.float64)


FORMATS: Final = (
    Format(
        "bench-latency",
        "openssl-bench or rustls' bench",
        lambda text, name: _DETECTED.fullmatch(name) is not None,
        parse,
        has_rounds=False,
    ),
)
