"""Lines over a numeric axis, each named at its end, with marks of what matters on the way."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tlsperf.report.charts.picture import Picture
from tlsperf.report.charts.theme import FONT_SIZE, GRID, TEXT, WIDTH, colour_channel, text_width

HEIGHT: Final = 320
TOP: Final = 22
AXIS: Final = 46
LEFT: Final = 72
LABEL_STEP: Final = FONT_SIZE + 5
DASHES: Final[tuple[tuple[int, ...], ...]] = ((), (7, 3), (2, 3), (9, 3, 2, 3))
"""Lines of one colour are distinguished by these, in the order of their versions."""


@dataclass(frozen=True)
class Point:
    """One measured point, with its interval where one is known."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Line:
    """Points in the order of x; `colour` is the name of a library's colour.

    `label` is the text at the end, by lines; without one, another line continues it.
    """

    label: Sequence[str]
    colour: str
    points: Sequence[Point]
    dash: tuple[int, ...] = ()


@dataclass(frozen=True)
class Mark:
    """A vertical rule with words at its top, a text a line."""

    x: float
    label: Sequence[str]


def dashes(colours: Sequence[str]) -> list[tuple[int, ...]]:
    """A dash for each line, so that no two of one colour look alike."""
    return [DASHES[list(colours[:i]).count(c) % len(DASHES)] for i, c in enumerate(colours)]


def lines(
    drawn: Sequence[Line],
    *,
    x_title: str,
    y_title: str,
    x_axis: Mapping[str, Any] | None = None,
    x_domain: tuple[float, float] | None = None,
    marks: Sequence[Mark] = (),
    height: int = HEIGHT,
) -> Picture:
    """The Vega-Lite specification of lines from zero upwards, and its height in pixels."""
    ends = [len(line.label) for line in drawn if line.label]
    height = max(height, LABEL_STEP * max(ends) * len(ends))
    right = text_width(max(len(text) for line in drawn for text in line.label)) + 30
    width = WIDTH - LEFT - right
    points = [p for line in drawn for p in line.points]
    top = max(max(p.y, p.high or 0) for p in points) * 1.04
    first, last = x_domain or (min(p.x for p in points), max(p.x for p in points))
    colours = sorted({line.colour for line in drawn})
    colour = colour_channel(colours)
    x = {
        "field": "x",
        "type": "quantitative",
        "axis": {"title": x_title, "grid": False, **(x_axis or {})},
        "scale": {"domain": [first, last], "nice": False, "zero": False},
    }
    y = {
        "field": "y",
        "type": "quantitative",
        "axis": {"title": y_title, "format": ",~f", "tickCount": 5, "grid": True},
        "scale": {"domain": [0, top], "nice": False},
    }
    layers: list[dict[str, Any]] = [_rules(marks)] if marks else []
    above = TOP + LABEL_STEP * (max((len(mark.label) for mark in marks), default=1) - 1)
    for line in drawn:
        values = [
            {"x": p.x, "y": p.y, "low": p.low, "high": p.high, "colour": line.colour}
            for p in line.points
        ]
        mark: dict[str, Any] = {"strokeWidth": 2}
        if line.dash:
            mark["strokeDash"] = list(line.dash)
        encoding = {"x": x, "y": y, "color": colour}
        if len(values) > 1:
            layers.append(
                {"data": {"values": values}, "mark": {"type": "line", **mark}, "encoding": encoding}
            )
        if any(p.low is not None for p in line.points):
            layers.append(
                {
                    "data": {"values": [v for v in values if v["low"] is not None]},
                    "mark": {"type": "rule", "strokeWidth": 2},
                    "encoding": {
                        "x": x,
                        "y": {"field": "low", "type": "quantitative"},
                        "y2": {"field": "high"},
                        "color": colour,
                    },
                }
            )
        if len(values) <= 10:
            layers.append(
                {
                    "data": {"values": values},
                    "mark": {"type": "point", "filled": True, "size": 30, "opacity": 1},
                    "encoding": encoding,
                }
            )
    layers += _ends(drawn, lambda p: height * (1 - p.y / top), (width, height), (first, last))
    specification = {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "autosize": "none",
        "padding": {"left": LEFT, "right": right, "top": above, "bottom": AXIS},
        "width": width,
        "height": height,
        "layer": layers,
    }
    return Picture(specification, above + height + AXIS)


def _rules(marks: Sequence[Mark]) -> dict[str, Any]:
    texts = [
        {"x": mark.x, "y": -5 - LABEL_STEP * up, "label": text}
        for mark in marks
        for up, text in enumerate(reversed(mark.label))
    ]
    return {
        "data": {"values": [{"x": m.x} for m in marks]},
        "encoding": {"x": {"field": "x", "type": "quantitative"}},
        "layer": [
            {"mark": {"type": "rule", "strokeDash": [3, 3], "color": TEXT}},
            {
                "data": {"values": texts},
                "mark": {"type": "text", "align": "center", "baseline": "bottom"},
                "encoding": {
                    "y": {"field": "y", "type": "quantitative", "scale": None, "axis": None},
                    "text": {"field": "label"},
                },
            },
        ],
    }


def _ends(
    drawn: Sequence[Line],
    pixel: Callable[[Point], float],
    size: tuple[int, int],
    domain: tuple[float, float],
) -> list[dict[str, Any]]:
    """The name of each line beside its last point, moved apart where ends lie close."""
    width, height = size
    order = sorted((line for line in drawn if line.label), key=lambda line: pixel(line.points[-1]))
    step = LABEL_STEP * max(len(line.label) for line in order)
    at = apart([pixel(line.points[-1]) for line in order], step, height)
    span = domain[1] - domain[0] or 1
    guides = [
        {
            "from": (line.points[-1].x - domain[0]) / span * width + 4,
            "y": pixel(line.points[-1]),
            "label_y": y,
            "to": width + 18,
        }
        for line, y in zip(order, at, strict=True)
    ]
    texts = [
        {"x": width + 22, "y": y + number * LABEL_STEP, "text": text}
        for line, y in zip(order, at, strict=True)
        for number, text in enumerate(line.label)
    ]

    def plain(field: str) -> dict[str, Any]:
        return {"field": field, "type": "quantitative", "scale": None, "axis": None}

    return [
        {
            "data": {"values": guides},
            "mark": {"type": "rule", "strokeWidth": 1, "color": GRID},
            "encoding": {
                "x": plain("from"),
                "x2": {"field": "to"},
                "y": plain("y"),
                "y2": {"field": "label_y"},
            },
        },
        {
            "data": {"values": texts},
            "mark": {"type": "text", "align": "left", "baseline": "middle"},
            "encoding": {"x": plain("x"), "y": plain("y"), "text": {"field": "text"}},
        },
    ]


def end_label(label: str, *more: str) -> list[str]:
    """A label in lines that need little room: name, then what is in brackets."""
    name, _, details = label.partition(" (")
    return [name, *([details.removesuffix(")")] if details else []), *more]


def apart(positions: Sequence[float], step: float, bottom: float) -> list[float]:
    """Ascending positions, moved where they are less than `step` from each other."""
    moved: list[float] = []
    for position in positions:
        moved.append(position if not moved else max(position, moved[-1] + step))
    limit = bottom
    for i in range(len(moved) - 1, -1, -1):
        moved[i] = min(moved[i], limit)
        limit = moved[i] - step
    return moved
