"""Rate of a transfer over the bytes in flight, in powers of two."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from tlsperf.contract.names import size_name
from tlsperf.contract.results import Table
from tlsperf.report.charts.kind import Around, Drawing, groups_of
from tlsperf.report.charts.lines import lines_over, point_of

FEWEST: Final = 4
"""With at least this many working sets of a scenario, a line is clearer than bars."""


def applies(table: Table) -> bool:
    groups = groups_of(table, "in_flight").values()
    sets = [{row.scenario.in_flight for row in rows} for rows in groups]
    return table.anchor == "transfer" and all(None not in s and len(s) >= FEWEST for s in sets)


def draw(table: Table, around: Around) -> Iterator[Drawing]:
    """One chart with a panel for each scenario and a line for each implementation."""
    sizes = [math.log2(row.scenario.in_flight or 1) for row in table.rows]
    first, last = min(sizes), max(sizes)
    yield lines_over(
        table,
        around,
        ("in_flight",),
        lambda row, cell: point_of(math.log2(row.scenario.in_flight or 1), cell),
        lambda found: (
            " " + ", ".join(f"{c.text} with {size_name(round(2**p.x))}" for p, c in found)
        ),
        description=f"Lines over the bytes in flight, in {table.unit}.",
        note=f"{table.unit} over the bytes in flight, {table.better} is better; scales from zero.",
        names={n: [size_name(2**n)] for n in range(round(first), round(last) + 1, 4)},
        x_domain=(first, last),
    )
