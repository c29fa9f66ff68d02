"""Latency histograms of published charts: kept out of the tidy frame, drawn from their raw file."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tlsperf.errors import FormatError
from tlsperf.formats.bench_latency import MAKEFILE_SCENARIOS
from tlsperf.model import Identifier, Run, Scenario, scenario_name
from tlsperf.run import raw_bytes

HEADER: Final = "figure,implementation,version,bin_low_ms,bin_high_ms,count"
FILE: Final = "latency-histogram.csv"


@dataclass(frozen=True, order=True)
class Bin:
    """`count` handshakes that took between `low` and `high`, in µs."""

    low: float
    high: float
    count: int


Histograms = Mapping[tuple[Scenario, Identifier], list[Bin]]
"""Ascending bins of an implementation in a scenario, which has no threads: the files tell none."""


def read_histograms(folder: Path, run: Run) -> dict[tuple[Scenario, Identifier], list[Bin]]:
    """The histograms among the raw files of a run, which `load_run` has checked line by line."""
    found: dict[tuple[Scenario, Identifier], list[Bin]] = {}
    for file in run.files:
        if file.format != "published":
            continue
        text = raw_bytes(folder, file).decode()
        if not text.startswith(HEADER + "\n"):
            continue
        for row in csv.DictReader(io.StringIO(text)):
            figure, _, side = row["figure"].rpartition("-")
            named = (row["implementation"].lower(), row["version"])
            ids = [i.id for i in run.implementations if (i.library, i.version) == named]
            if figure not in MAKEFILE_SCENARIOS or side not in ("client", "server") or not ids:
                what = f"{row['figure']} of {' '.join(named)}"
                raise FormatError(file.path, None, what, "a figure and implementation of the run")
            scenario = MAKEFILE_SCENARIOS[figure].model_copy(update={"side": side})
            low, high = float(row["bin_low_ms"]) * 1000, float(row["bin_high_ms"]) * 1000
            found.setdefault((scenario, ids[0]), []).append(Bin(low, high, int(row["count"])))
    return {key: sorted(bins) for key, bins in found.items()}


def histograms_csv(histograms: Histograms) -> str:
    """The text of latency-histogram.csv: a line for each bin."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["name", "implementation", "low_us", "high_us", "count"])
    for (scenario, implementation), bins in histograms.items():
        for b in bins:
            line = [scenario_name(scenario), implementation, f"{b.low:.6g}", f"{b.high:.6g}"]
            writer.writerow([*line, b.count])
    return text.getvalue()
