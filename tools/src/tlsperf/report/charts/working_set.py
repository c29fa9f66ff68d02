"""Rate of a transfer over the bytes in flight, in powers of two."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from tlsperf.contract.names import size_name
from tlsperf.contract.results import Table
from tlsperf.report.charts.kind import Around, Drawing, drawing, groups_of
from tlsperf.report.charts.lines import Line, Point, dashes, end_label, lines

FEWEST: Final = 4
"""Working sets of a scenario from which a line says more than bars."""

_LABEL: Final = (
    "datum.value < 20 ? format(pow(2, datum.value - 10), 'd') + ' KiB' : "
    "format(pow(2, datum.value - 20), 'd') + ' MiB'"
)
"""Of a tick, whose value is the binary logarithm of the bytes."""


def applies(table: Table) -> bool:
    groups = groups_of(table, "in_flight").values()
    sets = [{row.scenario.in_flight for row in rows} for rows in groups]
    return table.anchor == "transfer" and all(None not in s and len(s) >= FEWEST for s in sets)


def draw(table: Table, around: Around) -> Iterator[Drawing]:
    """A chart for each scenario, with a line for each implementation."""
    for scenario, rows in groups_of(table, "in_flight").items():
        points = {
            i: [
                (math.log2(row.scenario.in_flight), cell)
                for row in rows
                for cell in row.cells
                if cell.implementation == i
                and cell.value is not None
                and row.scenario.in_flight is not None
            ]
            for i in around.implementations
        }
        shown = [i for i in around.implementations.values() if points[i.id]]
        drawn = [
            Line(
                end_label(i.label),
                i.colour,
                [Point(x, cell.value or 0, cell.low, cell.high) for x, cell in points[i.id]],
                dash,
            )
            for i, dash in zip(shown, dashes([i.colour for i in shown]), strict=True)
        ]
        powers = {round(x) for line in points.values() for x, _ in line}
        ticks = list(range(min(powers), max(powers) + 1, 2))
        picture = lines(
            drawn,
            x_title="bytes in flight",
            y_title=f"{table.unit}, {table.better} is better",
            x_axis={"values": ticks, "labelExpr": _LABEL},
        )
        texts = [
            f"{i.label} "
            + ", ".join(f"{cell.text} with {size_name(round(2**x))}" for x, cell in points[i.id])
            for i in shown
        ]
        description = f"Lines over the bytes in flight, in {table.unit}: {'; '.join(texts)}."
        yield drawing(table, picture, description, scenario)
