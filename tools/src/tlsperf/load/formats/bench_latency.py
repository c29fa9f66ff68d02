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
from tlsperf.load.rows import Format, Parsed, ParsedRow, RawInput, Remark, scenario_errors, text_of
from tlsperf.load.spellings import MAKEFILE_SCENARIOS

_NAME: Final = re.compile(r"(.+)-(client|server)-(?:[0-9]+|ThreadId\([0-9]+\))-latency\.tsv")
_LINE: Final = re.compile(r"[0-9]+\.[0-9]+[\t ]+([0-9]+(?:\.[0-9]+)?)\s*")
_WHOLE_LINE: Final = re.compile(r"[0-9]{9,}\.[0-9]+[\t ]+[0-9]+(?:\.[0-9]+)?\s*\n")
PERCENTILES: Final = {"p5": 0.05, "p50": 0.5, "p90": 0.9, "p99": 0.99, "p99.9": 0.999, "max": 1.0}


def _detects(text: str, name: str) -> bool:
    return _NAME.fullmatch(name) is not None and _WHOLE_LINE.match(text) is not None


def parse(sources: Sequence[RawInput]) -> Parsed:
    """Percentiles over all files of each implementation, prefix and side."""
    parsed = Parsed()
    groups: dict[tuple[str, int | None, str, str], list[RawInput]] = {}
    for source in sources:
        name = _NAME.fullmatch(PurePosixPath(source.name).name)
        if not name:
            expected = "PREFIX-(client|server)-THREAD-latency.tsv, which states what was measured"
            raise FormatError(source.name, None, "this file name", expected)
        key = (source.implementation, source.round, name[1], name[2])
        groups.setdefault(key, []).append(source)
    for (implementation, round_, prefix, side), files in groups.items():
        latencies = np.sort(np.concatenate([_latencies(file, parsed) for file in files]))
        with scenario_errors(files[0].name, 1):
            scenario = MAKEFILE_SCENARIOS.get(prefix) or Scenario(
                operation="handshake", variant=prefix
            )
        update = {"side": cast(Side, side), "threads": len(files)}
        scenario = scenario.model_copy(update=update)
        for statistic, share in PERCENTILES.items():
            rank = max(0, int(np.ceil(share * len(latencies))) - 1)
            parsed.rows.append(
                ParsedRow(
                    file=files[0].name,
                    line=1,
                    implementation=implementation,
                    round=round_,
                    scenario=scenario,
                    metric="duration",
                    statistic=statistic,
                    value=float(latencies[rank]),
                    unit="µs",
                )
            )
    return parsed


def _latencies(source: RawInput, parsed: Parsed) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The latencies of one file in µs, in the order of the file."""
    lines = text_of(source).split("\n")
    last = lines.pop()
    if last.strip():
        message = f"the output was interrupted at {last.strip()[:100]!r}"
        parsed.remarks.append(Remark(source.name, len(lines) + 1, message))
    values = []
    for number, line in enumerate(lines, start=1):
        found = _LINE.fullmatch(line)
        if not found:
            expected = "seconds, a tab, microseconds"
            raise FormatError(source.name, number, repr(line), expected)
        values.append(float(found[1]))
    if not values:
        raise FormatError(source.name, 1, "no latency", "one handshake on each line")
    return np.asarray(values, dtype=np.float64)


FORMATS: Final = (
    Format("bench-latency", "openssl-bench or rustls' bench", _detects, parse, has_rounds=False),
)
