"""Rate of a transfer over the bytes in flight, in powers of two."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from tlsperf.contract.names import scenario_name, size_name
from tlsperf.contract.results import Table
from tlsperf.report.charts.kind import Around, Drawing, drawing, groups_of
from tlsperf.report.charts.lines import lines, lines_of
from tlsperf.report.charts.panels import grid, keys, titles, without_title

FEWEST: Final = 4
"""With at least this many working sets of a scenario, a line is clearer than bars."""

_LABEL: Final = (
    "datum.value < 20 ? format(pow(2, datum.value - 10), 'd') + ' KiB' : "
    "format(pow(2, datum.value - 20), 'd') + ' MiB'"
)
"""Vega expression for a tick's label; its value is the binary logarithm of the bytes."""


def applies(table: Table) -> bool:
    groups = groups_of(table, "in_flight").values()
    sets = [{row.scenario.in_flight for row in rows} for rows in groups]
    return table.anchor == "transfer" and all(None not in s and len(s) >= FEWEST for s in sets)


def draw(table: Table, around: Around) -> Iterator[Drawing]:
    """One chart with a panel for each scenario and a line for each implementation."""
    shown = around.shown(table)
    groups = groups_of(table, "in_flight")
    names = without_title([scenario_name(s) for s in groups], table.title)
    sizes = [math.log2(row.scenario.in_flight) for row in table.rows if row.scenario.in_flight]
    axis = {
        "values": list(range(round(min(sizes)), round(max(sizes)) + 1, 4)),
        "labelExpr": _LABEL,
    }
    panels, texts = [], []
    for title, name, rows in zip(titles(names), names, groups.values(), strict=True):
        points = {
            i.id: [
                (math.log2(row.scenario.in_flight), cell)
                for row in rows
                for cell in row.cells
                if cell.implementation == i.id
                and cell.value is not None
                and row.scenario.in_flight is not None
            ]
            for i in shown
        }
        drawn = lines_of(shown, points)
        panels.append(lines(title, drawn, x_axis=axis, x_domain=(min(sizes), max(sizes))))
        texts.append(
            f"{name}: "
            + "; ".join(
                f"{i.label} "
                + ", ".join(
                    f"{cell.text} with {size_name(round(2**x))}" for x, cell in points[i.id]
                )
                for i in shown
                if points[i.id]
            )
        )
    note = f"{table.unit} over the bytes in flight, {table.better} is better; scales from zero."
    description = f"Lines over the bytes in flight, in {table.unit}. {'. '.join(texts)}."
    yield drawing(table, grid(panels), description, note, keys(shown))
