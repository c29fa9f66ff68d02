"""Latency histograms. They are in no row; charts read them from the raw files."""

from __future__ import annotations

import csv
import io
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tlsperf.contract.errors import FormatError
from tlsperf.contract.record import Identifier, Scenario
from tlsperf.load import hdr, tlsbench
from tlsperf.load.run import LoadedRun, raw_bytes
from tlsperf.load.spellings import MAKEFILE_SCENARIOS

HEADER: Final = "figure,implementation,version,bin_low_ms,bin_high_ms,count"


@dataclass(frozen=True, order=True)
class Bin:
    """`count` handshakes that took from `low` to `high` µs."""

    low: float
    high: float
    count: int


Histograms = Mapping[tuple[Scenario, Identifier], list[Bin]]
"""Bins by scenario and implementation, ascending. `threads` is absent if the file does not report
it.
"""

BINS_A_DECADE: Final = 60
"""Resolution of charts: a bin is 3.9% wide. Our records have a resolution of 0.1%."""


def read_histograms(
    folder: Path, loaded: LoadedRun
) -> dict[tuple[Scenario, Identifier], list[Bin]]:
    """The histograms of the run in `folder`, from our own records and from published files.

    Raises FormatError.
    """
    run = loaded.run
    found: dict[tuple[Scenario, Identifier], list[Bin]] = {}
    for name, encoded in loaded.histograms.items():
        found |= _recorded(encoded, name)
    for file in run.files:
        if file.format != "published":
            continue
        text = raw_bytes(folder, file).decode()
        if not text.startswith(HEADER + "\n"):
            continue
        for row in csv.DictReader(io.StringIO(text)):
            figure, _, side = row["figure"].rpartition("-")
            named = (row["implementation"].lower(), row["version"])
            ids = [
                i.id
                for i in (*run.implementations, *loaded.withdrawn)
                if (i.library, i.version) == named
            ]
            if figure not in MAKEFILE_SCENARIOS or side not in ("client", "server") or not ids:
                what = f"{row['figure']} of {' '.join(named)}"
                raise FormatError(file.path, None, what, "a figure and implementation of the run")
            if ids[0] in (of.id for of in loaded.withdrawn):
                continue
            scenario = MAKEFILE_SCENARIOS[figure].model_copy(update={"side": side})
            low, high = float(row["bin_low_ms"]) * 1000, float(row["bin_high_ms"]) * 1000
            found.setdefault((scenario, ids[0]), []).append(Bin(low, high, int(row["count"])))
    return {key: sorted(bins) for key, bins in found.items()}


def _recorded(
    histograms: Iterable[tlsbench.EncodedHistogram], file: str
) -> dict[tuple[Scenario, Identifier], list[Bin]]:
    """The histograms of our own records, summed over all rounds that count."""
    found: defaultdict[tuple[Scenario, Identifier], defaultdict[int, int]]
    found = defaultdict(lambda: defaultdict(int))
    for encoded in histograms:
        counts = found[encoded.scenario, encoded.implementation]
        try:
            bins = hdr.decode(encoded.text)
        except ValueError as error:
            raise FormatError(file, encoded.line, str(error), "a histogram in V2") from None
        for low, high, count in bins:
            counts[_number((low + high) / 2000)] += count
    return {
        key: [Bin(_edge(number), _edge(number + 1), counts[number]) for number in sorted(counts)]
        for key, counts in found.items()
    }


def _number(microseconds: float) -> int:
    """The logarithmic bin of a time."""
    return math.floor(math.log10(microseconds) * BINS_A_DECADE)


def _edge(number: int) -> float:
    """The lower bound of a bin, in µs."""
    return float(10 ** (number / BINS_A_DECADE))
