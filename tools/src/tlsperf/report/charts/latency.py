"""Latency: a panel for each scenario, with percentiles and the true maximum as columns.

All panels of a chart share one logarithmic scale.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from tlsperf.contract.results import Cell, Row, Table
from tlsperf.report.charts.kind import Around, Drawing
from tlsperf.report.charts.lines import Point, lines_over, point_of

PERCENTILES: Final = ("p5", "p50", "p90", "p99", "p99.9", "max")
MARGIN: Final = 0.4
"""Space before the first column and after the last, in columns."""


def applies(table: Table) -> bool:
    return table.anchor.endswith("-latency")


def draw(table: Table, around: Around) -> Iterator[Drawing]:
    """One chart with a panel for each scenario, and percentiles as columns."""
    every = [c.value for row in table.rows for c in row.cells if c.value]
    low, high = min(every) * 0.8, max(every) * 1.25
    columns = [p for p in PERCENTILES if any(row.statistic == p for row in table.rows)]

    def point(row: Row, cell: Cell) -> Point | None:
        known = cell.value and row.statistic in columns
        return point_of(columns.index(row.statistic), cell) if known else None

    yield lines_over(
        table,
        around,
        (),
        point,
        lambda found: ": " + ", ".join(f"{columns[int(p.x)]} {c.text}" for p, c in found),
        description=f"Percentiles in {table.unit} on a logarithmic axis.",
        note=f"{table.unit} by percentile, lower is better; max is the longest of all. One "
        "logarithmic scale for all panels.",
        x_domain=(-MARGIN, len(columns) - 1 + MARGIN),
        y_axis={"values": ticks(low, high), "tickCount": 99},
        y_scale={"type": "log", "domain": [low, high], "nice": False},
        names={n: [percentile] for n, percentile in enumerate(columns)},
    )


def ticks(low: float, high: float) -> list[float]:
    """1, 2 and 5 of each decade between the ends; if those are too many, 1 and 3, or only 1."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1, 2, 5), (1, 3), (1,)):
        found = [s * 10.0**d for d in decades for s in steps if low <= s * 10.0**d <= high]
        if len(found) <= 6:
            break
    return found
