"""Rate of a scenario over the number of threads, with the number of cores marked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from tlsperf.contract.metrics import Unit
from tlsperf.contract.results import Row, ShownImplementation, Table
from tlsperf.report.charts.kind import Around, Drawing, drawing, groups_of
from tlsperf.report.charts.lines import Line, Mark, Point, dashes, end_label, lines
from tlsperf.report.charts.picture import Picture

_FEW: Final = 8
"""Threads up to which each number has its tick: fewer ticks than six would fall between them."""


def applies(table: Table) -> bool:
    return table.anchor.endswith(("-threads", "-per-thread"))


def draw(table: Table, around: Around) -> Iterator[Drawing]:
    """A chart for each scenario."""
    labels = {i.id: i.label for i in around.implementations.values()}
    for scenario, rows in groups_of(table, "threads").items():
        ends = [
            f"{labels[first.implementation]} from {first.text} with "
            f"{rows[0].scenario.threads} threads to {last.text} with {rows[-1].scenario.threads}"
            for first, last in zip(rows[0].cells, rows[-1].cells, strict=True)
            if first.value is not None and last.value is not None
        ]
        picture = threads(rows, around.implementations, table.unit, around.cores)
        description = f"Lines over the number of threads, in {table.unit}: {'; '.join(ends)}."
        yield drawing(table, picture, description, scenario)


def threads(
    rows: Sequence[Row],
    implementations: Mapping[str, ShownImplementation],
    unit: Unit,
    cores: int | None,
) -> Picture:
    """Specification and height for the rows of one scenario, which differ in threads alone.

    A flat line is an implementation whose threads do not hinder each other; beyond the cores of
    the host they must share them.
    """
    present = [
        i
        for i in implementations.values()
        if any(c.implementation == i.id and c.value is not None for r in rows for c in r.cells)
    ]
    drawn = [
        Line(
            end_label(i.label),
            i.colour,
            [
                Point(row.scenario.threads, cell.value, cell.low, cell.high)
                for row in rows
                for cell in row.cells
                if cell.implementation == i.id and cell.value is not None and row.scenario.threads
            ],
            dash,
        )
        for i, dash in zip(present, dashes([i.colour for i in present]), strict=True)
    ]
    most = round(max(p.x for line in drawn for p in line.points))
    marks = [Mark(cores, [f"{cores} cores"])] if cores and cores <= most else []
    return lines(
        drawn,
        x_title="threads",
        y_title=f"{unit}, higher is better",
        x_axis={
            "format": "d",
            **({"values": list(range(most + 1))} if most <= _FEW else {"tickCount": 6}),
        },
        x_domain=(0, most),
        marks=marks,
    )
