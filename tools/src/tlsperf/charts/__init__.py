"""The charts of a report, each drawn from one of its tables."""

from __future__ import annotations

from collections.abc import Mapping

from tlsperf.charts.bars import MOST_BARS, bars
from tlsperf.charts.theme import WIDTH
from tlsperf.model import Chart, Results, ShownImplementation, Table


def describe_charts(results: Results) -> list[Chart]:
    """The charts that a report has, undrawn: grouped bars of each table that fits."""
    implementations = {i.id: i for i in results.implementations}
    return [
        Chart(
            anchor=f"chart-{table.anchor}",
            file=f"{table.anchor}.svg",
            title=table.title,
            description=_description(table, implementations),
            width=WIDTH,
            height=bars(table, implementations).height,
            table=table.anchor,
        )
        for table in results.tables
        if not table.by_phase and sum(len(row.cells) for row in table.rows) <= MOST_BARS
    ]


def draw_charts(results: Results) -> dict[str, str]:
    """The text of each SVG file of `results.charts`, by its name."""
    from tlsperf.charts.svg import draw

    implementations = {i.id: i for i in results.implementations}
    tables = {table.anchor: table for table in results.tables}
    return {
        chart.file: draw(bars(tables[chart.table], implementations).specification, chart)
        for chart in results.charts
    }


def _description(table: Table, implementations: Mapping[str, ShownImplementation]) -> str:
    """The text alternative: every figure that the chart shows."""
    rows = [
        f"{row.name}: "
        + ", ".join(
            f"{implementations[c.implementation].label} {c.text}"
            + ("" if c.valid else " (not counted)")
            for c in row.cells
        )
        for row in table.rows
    ]
    return f"Grouped bars in {table.unit}, {table.better} is better. {'; '.join(rows)}."
