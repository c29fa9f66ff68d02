"""Bencher Metric Format: a benchmark for each series, and a measure for its unit.

Format: https://bencher.dev/docs/reference/bencher-metric-format/. It has no place for a version, a
commit or a host: host and commit are options of `bencher run`.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from tlsperf.publish.exchange.publication import Publication
from tlsperf.publish.exchange.series import Point, measured_at, series_of

BMF: Final = "bmf.json"


def bmf(publication: Publication) -> dict[str, str]:
    """The file of each host. `lower_value` and `upper_value` are the interval about another run,
    if any.
    """
    return {f"{of.folder}{BMF}": _text(of.points) for of in series_of(publication)}


def _text(points: Iterable[Point]) -> str:
    benchmarks: dict[str, dict[str, dict[str, float]]] = {}
    for name, _, (table, _, cell, value) in points:
        metric = {"value": value}
        if cell.low is not None and cell.high is not None:
            metric |= {"lower_value": cell.low, "upper_value": cell.high}
        benchmarks.setdefault(name, {})[measure(table.unit)] = metric
    return json.dumps(benchmarks, indent=1, ensure_ascii=False) + "\n"


def measure(unit: str) -> str:
    """The slug of a measure: mib-per-second for MiB/s, handshakes-per-second for handshakes/s."""
    words = unit.lower().replace("µs", "microseconds")
    words = re.sub(r"/s\b", " per second", words).replace("/", " per ")
    return re.sub(r"[^a-z0-9]+", "-", words).strip("-")


def bencher_run(publication: Publication, out: Path) -> Iterator[str]:
    """The command that sends each file in `out`, with host, day and commit.

    Bencher has one full commit for all of a file; without the option it is that of the checkout,
    which has the report with its versions.
    """
    seconds = round(measured_at(publication.results).timestamp())
    for of in series_of(publication):
        commits = {point.implementation.commit for point in of.points}
        commit = commits.pop() if len(commits) == 1 else None
        yield shlex.join(
            [
                *("bencher", "run", "--adapter", "json", "--file", str(out / of.folder / BMF)),
                *("--testbed", of.key, "--branch", "main", "--backdate", str(seconds)),
                *(("--hash", commit) if commit and re.fullmatch("[0-9a-f]{40}", commit) else ()),
            ]
        )
