"""Bencher Metric Format: a benchmark for each implementation and row, and a measure for its unit.

Format: https://bencher.dev/docs/reference/bencher-metric-format/
"""

from __future__ import annotations

import json
import re

from tlsperf.publish.exchange.publication import Publication


def bmf(publication: Publication) -> dict[str, str]:
    """The file bmf.json. `lower_value` and `upper_value` are the interval about another run, if
    any.
    """
    benchmarks: dict[str, dict[str, dict[str, float]]] = {}
    for table, row, cell, value in publication.figures:
        metric = {"value": value}
        if cell.low is not None and cell.high is not None:
            metric |= {"lower_value": cell.low, "upper_value": cell.high}
        name = f"{cell.implementation}/{row.anchor}"
        benchmarks.setdefault(name, {})[measure(table.unit)] = metric
    return {"bmf.json": json.dumps(benchmarks, indent=1, ensure_ascii=False) + "\n"}


def measure(unit: str) -> str:
    """The slug of a measure: mib-per-second for MiB/s, handshakes-per-second for handshakes/s."""
    words = unit.lower().replace("µs", "microseconds")
    words = re.sub(r"/s\b", " per second", words).replace("/", " per ")
    return re.sub(r"[^a-z0-9]+", "-", words).strip("-")
