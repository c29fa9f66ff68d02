"""Bar charts: a panel for each row of a table, and a bar for each implementation.

Each bar has its name above it. The figures are in the table. A line across the end of a bar is its
95% interval; a pale bar does not count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from tlsperf.contract.metrics import METRICS
from tlsperf.contract.results import Cell, Row, ShownImplementation, Table
from tlsperf.report.charts.kind import Around, Drawing, drawing
from tlsperf.report.charts.lines import MILLION, figures_axis
from tlsperf.report.charts.panels import (
    LINE,
    PANEL,
    SINGLE,
    Panel,
    grid,
    panel,
    pixel,
    short_names,
    text_at,
    titles,
    wrapped,
)
from tlsperf.report.charts.theme import COLOUR, text_width

MOST_BARS: Final = 48
"""A table with more cells has no chart of this kind."""

BAR: Final = 9
AFTER: Final = 7
LEFT: Final = 4
RIGHT: Final = 14
AXIS: Final = 18
NOT_COUNTED: Final = " (not counted)"


def applies(table: Table) -> bool:
    """Whether a table has few enough bars, and no ratios of rates: those are dots of the picture."""
    is_count = all(METRICS[row.metric].is_count for row in table.rows)
    return fits(table) and (is_count or table.baseline is None)


def fits(table: Table) -> bool:
    """Whether a table has few enough bars to be readable."""
    return sum(len(row.cells) for row in table.rows) <= MOST_BARS


def draw(table: Table, around: Around) -> Iterator[Drawing]:
    """One chart of the whole table."""
    yield bars_of(table, around.implementations)


def bars_of(table: Table, implementations: Mapping[str, ShownImplementation]) -> Drawing:
    """The chart of a table, with a panel for each row. Resumptions of one protocol share
    a scale.
    """
    groups: dict[str, list[Row]] = {}
    for row in table.rows:
        resumed = row.scenario.resumption not in (None, "none")
        groups.setdefault((row.scenario.protocol or "") if resumed else "", []).append(row)
    tops = {
        row.anchor: max(
            (max(c.value or 0, c.high or 0) for of in rows for c in of.cells), default=0
        )
        for rows in groups.values()
        for row in rows
    }
    heads = titles(short_names(table))
    width = PANEL if len(table.rows) > 1 else SINGLE
    panels = [
        _panel(head, row.cells, implementations, (tops[row.anchor] or 1, width))
        for head, row in zip(heads, table.rows, strict=True)
    ]
    note = f"{table.unit}, {table.better} is better."
    if len(groups) > 1:
        note += " Each protocol has a scale of its own."
    if any(c.low is not None for row in table.rows for c in row.cells):
        note += " The line at the end of a bar is its 95% interval."
    description = f"Bars in {table.unit}, {table.better} is better. "
    return drawing(table, grid(panels), description + _figures(table, implementations), note)


def _panel(
    head: Sequence[str],
    cells: Sequence[Cell],
    implementations: Mapping[str, ShownImplementation],
    size: tuple[float, int],
) -> Panel:
    """The bars of one row; `size` is the end of the scale and the width in pixels."""
    top, width = size
    names: list[dict[str, Any]] = []
    values: list[dict[str, Any]] = []
    y = 0
    for cell in cells:
        shown = implementations[cell.implementation]
        after = ": –" if cell.value is None else "" if cell.valid else NOT_COUNTED
        weight = "bold" if cell.best else "normal"
        for text in wrapped(shown.label + after, width - 4):
            names.append({"y": y + LINE - 3, "text": text, "weight": weight})
            y += LINE
        if cell.value is None:
            y += AFTER
            continue
        values.append(
            {
                "colour": shown.colour,
                "valid": cell.valid,
                "zero": 0,
                "value": cell.value,
                "low": cell.low,
                "high": cell.high,
                "y": y + 1,
                "middle": y + 1 + BAR / 2,
                "end": y + 1 + BAR,
            }
        )
        y += BAR + AFTER
    x = {
        "field": "value",
        "type": "quantitative",
        "axis": {**figures_axis(top), "labelFlush": _flush(top)},
        "scale": {"domain": [0, top], "nice": False},
    }
    bars: dict[str, Any] = {
        "data": {"values": sorted(values, key=lambda v: str(v["colour"]))},
        "mark": "rect",
        "encoding": {
            "x": x,
            "x2": {"field": "zero"},
            "y": pixel("y"),
            "y2": {"field": "end"},
            "color": COLOUR,
            "fillOpacity": {"condition": {"test": "datum.valid", "value": 1}, "value": 0.3},
        },
    }
    intervals: dict[str, Any] = {
        "data": {"values": [v for v in values if v["low"] is not None]},
        "mark": {"type": "rule", "strokeWidth": 2},
        "encoding": {
            "x": {**x, "field": "low"},
            "x2": {"field": "high"},
            "y": pixel("middle"),
        },
    }
    words = text_at(names, 0)
    words["mark"]["fontWeight"] = {"expr": "datum.weight"}
    layers = [bars, intervals, words] if values else [words]
    return panel(head, layers, (width - LEFT - RIGHT, y), left=LEFT, right=RIGHT, bottom=AXIS)


def _flush(top: float) -> float:
    """Within this many pixels of an axis's end, a number is right-aligned.

    Centred on its tick, the number would leave the panel.
    """
    widest = f"{top:,.0f}" if top < MILLION else ""
    return max(1, text_width(len(widest)) / 2 - RIGHT)


def _text(cell: Cell) -> str:
    return cell.text if cell.valid else f"{cell.text}{NOT_COUNTED}"


def _figures(table: Table, implementations: Mapping[str, ShownImplementation]) -> str:
    """The text alternative of a table: every figure in its chart."""
    rows = [
        f"{row.name}: "
        + ", ".join(f"{implementations[c.implementation].label} {_text(c)}" for c in row.cells)
        for row in table.rows
    ]
    return f"{'; '.join(rows)}."
