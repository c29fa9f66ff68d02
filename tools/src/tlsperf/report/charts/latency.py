"""Latency: a panel for each scenario, with percentiles and the true maximum as columns.

All panels of a chart share one logarithmic scale.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from tlsperf.contract.names import scenario_name
from tlsperf.contract.results import Table
from tlsperf.report.charts.kind import Around, Drawing, drawing, groups_of
from tlsperf.report.charts.lines import HEIGHT, LEFT, RIGHT, lines, lines_of
from tlsperf.report.charts.panels import PANEL, grid, keys, titles, without_title

PERCENTILES: Final = ("p5", "p50", "p90", "p99", "p99.9", "max")
MARGIN: Final = 0.4
"""Space before the first column and after the last, in columns."""


def applies(table: Table) -> bool:
    return table.anchor.endswith("-latency")


def draw(table: Table, around: Around) -> Iterator[Drawing]:
    """One chart with a panel for each scenario, and percentiles as columns."""
    shown = around.shown(table)
    groups = groups_of(table)
    every = [c.value for row in table.rows for c in row.cells if c.value]
    low, high = min(every) * 0.8, max(every) * 1.25
    columns = [p for p in PERCENTILES if any(row.statistic == p for row in table.rows)]
    step = (PANEL - LEFT - RIGHT) / (len(columns) - 1 + 2 * MARGIN)
    heads = [
        {"x": round(step * (n + MARGIN)), "y": HEIGHT + 16, "text": p}
        for n, p in enumerate(columns)
    ]
    names = without_title([scenario_name(s) for s in groups], table.title)
    panels, texts = [], []
    for title, name, rows in zip(titles(names), names, groups.values(), strict=True):
        found = {
            i.id: [
                (columns.index(row.statistic), cell)
                for row in rows
                for cell in row.cells
                if cell.implementation == i.id and cell.value and row.statistic in columns
            ]
            for i in shown
        }
        panels.append(
            lines(
                title,
                lines_of(shown, found),
                x_domain=(-MARGIN, len(columns) - 1 + MARGIN),
                y_axis={"values": ticks(low, high), "tickCount": 99},
                y_scale={"type": "log", "domain": [low, high], "nice": False},
                below=heads,
            )
        )
        texts.append(
            f"{name}: "
            + "; ".join(
                f"{i.label}: " + ", ".join(f"{columns[n]} {cell.text}" for n, cell in found[i.id])
                for i in shown
                if found[i.id]
            )
        )
    note = (
        f"{table.unit} by percentile, lower is better; max is the longest of all. One logarithmic "
        "scale for all panels."
    )
    description = f"Percentiles in {table.unit} on a logarithmic axis. {'. '.join(texts)}."
    yield drawing(table, grid(panels), description, note, keys(shown))


def ticks(low: float, high: float) -> list[float]:
    """1, 2 and 5 of each decade between the ends; if those are too many, 1 and 3, or only 1."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1, 2, 5), (1, 3), (1,)):
        found = [s * 10.0**d for d in decades for s in steps if low <= s * 10.0**d <= high]
        if len(found) <= 6:
            break
    return found
