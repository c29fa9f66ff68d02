"""Latency histograms. They are in no row; charts read them from the raw files."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tlsperf.contract.errors import FormatError
from tlsperf.contract.record import Identifier, Scenario
from tlsperf.load import hdr, tlsbench
from tlsperf.load.formats import published
from tlsperf.load.run import LoadedRun, raw_bytes
from tlsperf.load.spellings import MAKEFILE_SCENARIOS


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
    found: dict[tuple[Scenario, Identifier], list[Bin]] = {}
    for name, encoded in loaded.histograms.items():
        found |= _recorded(encoded, name)
    for file in loaded.run.files:
        if file.format == "published":
            for key, bin_ in _published(raw_bytes(folder, file), file.path, loaded):
                found.setdefault(key, []).append(bin_)
    return {key: sorted(bins) for key, bins in found.items()}


def _published(
    data: bytes, file: str, loaded: LoadedRun
) -> Iterator[tuple[tuple[Scenario, Identifier], Bin]]:
    """The bins in a published table, if it has any."""
    for number, line in published.table(data, file):
        if "bin_low_ms" not in line:
            return
        figure, _, side = line["figure"].rpartition("-")
        named = (line["implementation"].lower(), line["version"])
        run, withdrawn = loaded.run, loaded.withdrawn
        ids = [
            of.id for of in (*run.implementations, *withdrawn) if (of.library, of.version) == named
        ]
        if figure not in MAKEFILE_SCENARIOS or side not in ("client", "server") or not ids:
            what = f"{line['figure']} of {' '.join(named)}"
            raise FormatError(file, number, what, "a figure and implementation of the run")
        if ids[0] not in (of.id for of in withdrawn):
            scenario = MAKEFILE_SCENARIOS[figure].model_copy(update={"side": side})
            low, high = float(line["bin_low_ms"]) * 1000, float(line["bin_high_ms"]) * 1000
            yield (scenario, ids[0]), Bin(low, high, int(line["count"]))


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
