"""Grouped bars: a group for each row of a table, a bar for each implementation.

Every bar has its implementation's name before it and its value behind it, so that colour
alone says nothing. A rule across the end of a bar is its 95% interval; a pale bar must not count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from tlsperf.contract.libraries import LIGHT
from tlsperf.contract.record import Scenario
from tlsperf.contract.results import Cell, ShownImplementation, Table
from tlsperf.report.charts.kind import Around, Drawing, drawing
from tlsperf.report.charts.picture import Picture
from tlsperf.report.charts.theme import TEXT, WIDTH, text_width

MOST_BARS: Final = 48
"""A table with more cells has no chart of this kind: nobody could read it."""

BAR: Final = 18
ROW_TITLE: Final = 22
GAP: Final = 14
AXIS: Final = 44
NOT_COUNTED: Final = " (not counted)"


def applies(table: Table) -> bool:
    """Whether the bars of a table are few enough."""
    return sum(len(row.cells) for row in table.rows) <= MOST_BARS


def draw(table: Table, around: Around) -> Iterator[Drawing]:
    """One chart of the whole table."""
    yield bars_of(table, around.implementations)


def bars_of(
    table: Table,
    implementations: Mapping[str, ShownImplementation],
    scenario: Scenario | None = None,
) -> Drawing:
    """The chart of a table, or of a part of one that is about a scenario."""
    description = f"Grouped bars in {table.unit}, {table.better} is better. "
    picture = bars(table, implementations)
    return drawing(table, picture, description + _figures(table, implementations), scenario)


def bars(table: Table, implementations: Mapping[str, ShownImplementation]) -> Picture:
    """The chart of a table."""
    present = [implementations[i] for i in table.implementations]
    left = text_width(max(len(i.label) for i in present))
    right = text_width(max(len(_text(c)) for row in table.rows for c in row.cells)) + 10
    step = ROW_TITLE + BAR * len(present) + GAP
    height = step * len(table.rows)
    rows = [str(number) for number in range(len(table.rows))]
    values = [
        {
            "row": number,
            "implementation": cell.implementation,
            "label": implementations[cell.implementation].label,
            "colour": implementations[cell.implementation].colour,
            "text": _text(cell),
            "weight": "bold" if cell.best else "normal",
            "valid": cell.valid,
            "value": cell.value,
            "low": cell.low,
            "high": cell.high,
            "end": max(cell.value or 0, cell.high or 0),
        }
        for column in range(len(present))  # neighbours of one colour are written together
        for number, row in zip(rows, table.rows, strict=True)
        for cell in row.cells[column : column + 1]
    ]
    # A band is a group of bars; what is between bands has room for the title of the next.
    between = (ROW_TITLE + GAP) / step
    y = {
        "field": "row",
        "type": "nominal",
        "axis": None,
        "scale": {"domain": rows, "paddingInner": between, "paddingOuter": between / 2},
    }
    offset = {
        "field": "implementation",
        "type": "nominal",
        "scale": {"domain": [i.id for i in present], "paddingInner": 0, "paddingOuter": 0},
    }
    axis = {
        "title": f"{table.unit}, {table.better} is better",
        "format": ",~f",
        "tickCount": 5,
        "labelOverlap": "parity",
        "labelSeparation": 12,
        "grid": True,
    }
    scale = {"domainMin": 0, "nice": False}
    x = {"field": "value", "type": "quantitative", "axis": axis, "scale": scale}
    colours = sorted({i.colour for i in present})
    colour_scale = {"domain": colours, "range": [LIGHT[c] for c in colours]}
    specification = {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "autosize": "none",
        "padding": {"left": left, "right": right, "top": 0, "bottom": AXIS},
        "width": WIDTH - left - right,
        "height": height,
        "data": {"values": values},
        "encoding": {"y": y},
        "layer": [
            {
                "transform": [{"filter": "isValid(datum.value)"}],
                "mark": {"type": "bar", "height": BAR - 3},
                "encoding": {
                    "x": x,
                    "yOffset": offset,
                    "color": {
                        "field": "colour",
                        "type": "nominal",
                        "legend": None,
                        "scale": colour_scale,
                    },
                    "fillOpacity": {"condition": {"test": "datum.valid", "value": 1}, "value": 0.3},
                },
            },
            {
                "transform": [{"filter": "isValid(datum.low)"}],
                "mark": {"type": "rule", "strokeWidth": 2},
                "encoding": {
                    "x": {"field": "low", "type": "quantitative"},
                    "x2": {"field": "high"},
                    "yOffset": offset,
                },
            },
            {
                "mark": {"type": "text", "align": "right", "baseline": "middle", "dx": -6},
                "encoding": {
                    "x": {"value": 0},
                    "yOffset": offset,
                    "text": {"field": "label"},
                },
            },
            {
                "mark": {
                    "type": "text",
                    "align": "left",
                    "baseline": "middle",
                    "dx": 6,
                    "fontWeight": {"expr": "datum.weight"},
                },
                "encoding": {
                    "x": {"field": "end", "type": "quantitative"},
                    "yOffset": offset,
                    "text": {"field": "text"},
                },
            },
            {
                "data": {
                    "values": [
                        {"row": number, "name": row.name}
                        for number, row in zip(rows, table.rows, strict=True)
                    ]
                },
                "mark": {
                    "type": "text",
                    "align": "left",
                    "baseline": "bottom",
                    "dy": -4,
                    "fontWeight": 600,
                    "color": TEXT,
                },
                "encoding": {
                    "x": {"value": -left},
                    "y": {**y, "bandPosition": 0},
                    "text": {"field": "name"},
                },
            },
        ],
    }
    return Picture(specification, height + AXIS)


def _text(cell: Cell) -> str:
    return cell.text if cell.valid else f"{cell.text}{NOT_COUNTED}"


def _figures(table: Table, implementations: Mapping[str, ShownImplementation]) -> str:
    """The text alternative of a table: every figure that its chart shows."""
    rows = [
        f"{row.name}: "
        + ", ".join(f"{implementations[c.implementation].label} {_text(c)}" for c in row.cells)
        for row in table.rows
    ]
    return f"{'; '.join(rows)}."
