"""A panel with lines over a numeric axis, and vertical rules at changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tlsperf.contract.results import Cell, ShownImplementation
from tlsperf.report.charts.panels import PANEL, Panel, dashes_of, panel, pixel, text_at
from tlsperf.report.charts.theme import TEXT, colour_channel

HEIGHT: Final = 120
LEFT: Final = 56
RIGHT: Final = 16
AXIS: Final = 20
MILLION: Final = 1e6
"""From this value on, an axis prints 2M: its numbers have room for seven characters."""
MOST_DOTS: Final = 10
"""A line with up to this number of points has a dot for each; others show corners and intervals."""


@dataclass(frozen=True)
class Point:
    """One measured point, with its interval if it has one."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Line:
    """Points in the order of x; `colour` is a library's colour class."""

    colour: str
    points: Sequence[Point]
    dash: tuple[int, ...] = ()


def lines_of(
    shown: Sequence[ShownImplementation], cells: Mapping[str, Sequence[tuple[float, Cell]]]
) -> list[Line]:
    """A line for each implementation that has figures.

    `cells` has the cells of an implementation by its id, each with its position on the axis.
    """
    dash = dashes_of(shown)
    return [
        Line(
            i.colour,
            [Point(x, cell.value or 0, cell.low, cell.high) for x, cell in cells[i.id]],
            dash[i.id],
        )
        for i in shown
        if cells[i.id]
    ]


def lines(
    title: Sequence[str],
    drawn: Sequence[Line],
    *,
    words: Sequence[str] = (),
    x_axis: Mapping[str, Any] | None = None,
    x_domain: tuple[float, float] | None = None,
    y_axis: Mapping[str, Any] | None = None,
    y_scale: Mapping[str, Any] | None = None,
    marks: Sequence[float] = (),
    width: int = PANEL,
    height: int = HEIGHT,
    below: Sequence[Mapping[str, Any]] = (),
) -> Panel:
    """A panel of lines; the y axis starts at zero unless `y_scale` is given.

    `words` are lines of text below the title. `below` are texts under the axis, each with its `x`
    and `y` in pixels of the plot.
    """
    points = [p for line in drawn for p in line.points]
    top = max(max(p.y, p.high or 0) for p in points) * 1.04
    first, last = x_domain or (min(p.x for p in points), max(p.x for p in points))
    axis = {"title": None, "grid": False, **(x_axis or {})}
    x = {
        "field": "x",
        "type": "quantitative",
        "axis": None if below else axis,
        "scale": {"domain": [first, last], "nice": False, "zero": False},
    }
    y = {
        "field": "y",
        "type": "quantitative",
        "axis": {**figures_axis(top), **(y_axis or {})},
        "scale": y_scale or {"domain": [0, top], "nice": False},
    }
    layers: list[dict[str, Any]] = []
    if marks:
        layers.append(
            {
                "data": {"values": [{"x": mark} for mark in marks]},
                "mark": {"type": "rule", "strokeDash": [3, 3], "color": TEXT},
                "encoding": {"x": x},
            }
        )
    colour = colour_channel(sorted({line.colour for line in drawn}))
    for line in drawn:
        layers += _line(line, x, y, colour)
    if below:
        places = [{"x": text["x"], "y": text["y"], "text": text["text"]} for text in below]
        under = text_at(places, 0, align="center")
        under["encoding"]["x"] = pixel("x")
        layers.append(under)
    lowest = max((text["y"] for text in below), default=height) - height
    return panel(
        title,
        layers,
        (width - LEFT - RIGHT, height),
        words=words,
        left=LEFT,
        right=RIGHT,
        bottom=max(AXIS, round(lowest) + 6),
    )


def figures_axis(top: float) -> dict[str, Any]:
    """The axis for figures up to `top`: few numbers, without a title."""
    form = "~s" if top >= MILLION else ",~f"
    return {"title": None, "format": form, "tickCount": 3, "grid": True}


def _line(
    line: Line, x: dict[str, Any], y: dict[str, Any], colour: dict[str, Any]
) -> list[dict[str, Any]]:
    values = [
        {"x": p.x, "y": p.y, "low": p.low, "high": p.high, "colour": line.colour}
        for p in line.points
    ]
    layers: list[dict[str, Any]] = []
    if len(values) > 1:
        mark: dict[str, Any] = {"type": "line", "strokeWidth": 2}
        if line.dash:
            mark["strokeDash"] = list(line.dash)
        encoding = {"x": x, "y": y, "color": colour}
        layers.append({"data": {"values": values}, "mark": mark, "encoding": encoding})
    known = [v for v in values if v["low"] is not None]
    if known:
        layers.append(
            {
                "data": {"values": known},
                "mark": {"type": "rule", "strokeWidth": 2},
                "encoding": {
                    "x": x,
                    "y": {**y, "field": "low"},
                    "y2": {"field": "high"},
                    "color": colour,
                },
            }
        )
    if len(values) <= MOST_DOTS:
        layers.append(
            {
                "data": {"values": values},
                "mark": {"type": "point", "filled": True, "size": 26, "opacity": 1},
                "encoding": {"x": x, "y": y, "color": colour},
            }
        )
    return layers
