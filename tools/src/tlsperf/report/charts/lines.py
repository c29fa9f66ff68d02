"""Panels with lines over a numeric axis, and vertical rules at changes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from tlsperf.contract.libraries import LIGHT
from tlsperf.contract.names import scenario_name
from tlsperf.contract.results import Cell, Row, Table
from tlsperf.report.charts.kind import Around, Drawing, drawing, groups_of
from tlsperf.report.charts.panels import (
    LINE,
    PANEL,
    Panel,
    grid,
    legend,
    panel,
    titles,
    without_title,
    wrapped,
)
from tlsperf.report.charts.theme import TEXT

HEIGHT: Final = 120
LEFT: Final = 56
RIGHT: Final = 16
AXIS: Final = 20
MILLION: Final = 1e6
"""From this value on, an axis prints 2M: its numbers have room for seven characters."""
MOST_DOTS: Final = 10
"""A line with up to this number of points has a dot for each; others show corners and intervals."""


class Point(NamedTuple):
    """One measured point, with its interval if it has one."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None


class Line(NamedTuple):
    """Points in the order of x; colour and dash are those of its key in the legend."""

    colour: str
    points: Sequence[Point]
    dash: str | None = None


def lines_over(
    table: Table,
    around: Around,
    without: Sequence[str],
    point: Callable[[Row, Cell], Point | None],
    said: Callable[[Sequence[tuple[Point, Cell]]], str],
    *,
    description: str,
    note: str,
    printed: bool = False,
    **axes: Any,
) -> Drawing:
    """A panel for each scenario of a table, with a line for each implementation.

    Rows that differ only in the fields `without` are of one scenario. `point` is where a cell is
    drawn; None leaves it out. `said` is what the text alternative says of a line; if `printed`, it
    stands in the panel too. `axes` are those of `lines`, the same for all panels.
    """
    shown = around.shown(table)
    keys = legend([(i.label, i.colour) for i in shown])
    groups = groups_of(table, *without)
    names = without_title([scenario_name(s) for s in groups], table.title)
    panels, texts = [], []
    for title, name, rows in zip(titles(names), names, groups.values(), strict=True):
        drawn, words = [], []
        for i, key in zip(shown, keys, strict=True):
            cells = [(row, c) for row in rows for c in row.cells if c.implementation == i.id]
            found = [(at, cell) for row, cell in cells if (at := point(row, cell))]
            if found:
                drawn.append(Line(key.colour, [at for at, _ in found], key.dash))
                words.append(f"{key.label}{said(found)}")
        text = [line for of in words for line in wrapped(of)] if printed else []
        panels.append(lines(title, drawn, words=text, **axes))
        texts.append(f"{name}: {'; '.join(words)}")
    return drawing(table, grid(panels), f"{description} {'. '.join(texts)}.", note, keys)


def point_of(x: float | None, cell: Cell) -> Point | None:
    """The point of a figure and its interval; None without a figure or a position."""
    return None if x is None or cell.value is None else Point(x, cell.value, cell.low, cell.high)


def lines(
    title: Sequence[str],
    drawn: Sequence[Line],
    *,
    words: Sequence[str] = (),
    names: Mapping[float, Sequence[str]] | None = None,
    x_axis: Mapping[str, Any] = MappingProxyType({}),
    x_domain: tuple[float, float],
    y_axis: Mapping[str, Any] = MappingProxyType({}),
    y_scale: Mapping[str, Any] | None = None,
    marks: Sequence[float] = (),
    width: int = PANEL,
    height: int = HEIGHT,
) -> Panel:
    """A panel of lines; the y axis starts at zero unless `y_scale` is given.

    `words` are lines of text below the title. `names` are the lines of text below a position on the
    x axis; without them, the axis has numbers.
    """
    top = max(max(p.y, p.high or 0) for line in drawn for p in line.points) * 1.04
    axis = {"title": None, "grid": False, **x_axis}
    if names is not None:
        axis |= {"values": list(names), "labelExpr": f"{json.dumps(names)}[datum.value]"}
    x = {
        "field": "x",
        "type": "quantitative",
        "axis": axis,
        "scale": {"domain": x_domain, "nice": False, "zero": False},
    }
    y = {
        "field": "y",
        "type": "quantitative",
        "axis": {**figures_axis(top), **y_axis},
        "scale": y_scale or {"domain": [0, top], "nice": False},
    }
    rules = {
        "data": {"values": [{"x": mark} for mark in marks]},
        "mark": {"type": "rule", "strokeDash": [3, 3], "color": TEXT},
        "encoding": {"x": x},
    }
    return panel(
        title,
        [*([rules] if marks else []), *(_line(line, x, y) for line in drawn)],
        (width - LEFT - RIGHT, height),
        words=words,
        left=LEFT,
        right=RIGHT,
        bottom=AXIS + LINE * (max(map(len, (names or {}).values()), default=1) - 1),
    )


def figures_axis(top: float) -> dict[str, Any]:
    """The axis for figures up to `top`: few numbers, without a title."""
    form = "~s" if top >= MILLION else ",~f"
    return {"title": None, "format": form, "tickCount": 3, "grid": True}


def _line(line: Line, x: Mapping[str, Any], y: Mapping[str, Any]) -> dict[str, Any]:
    colour = LIGHT[line.colour]
    joined = {
        "mark": {
            "type": "line",
            "strokeWidth": 2,
            "strokeDash": list(map(int, (line.dash or "").split())),
            "color": colour,
        }
    }
    intervals = {
        "transform": [{"filter": "datum.low !== null"}],
        "mark": {"type": "rule", "strokeWidth": 2, "color": colour},
        "encoding": {"y": {**y, "field": "low"}, "y2": {"field": "high"}},
    }
    dots = {"mark": {"type": "point", "filled": True, "size": 26, "opacity": 1, "color": colour}}
    return {
        "data": {"values": [point._asdict() for point in line.points]},
        "encoding": {"x": x, "y": y},
        "layer": [
            *([joined] if len(line.points) > 1 else []),
            intervals,
            *([dots] if len(line.points) <= MOST_DOTS else []),
        ],
    }
