"""Layouts: a dot for each layout of a program, by how far it lies from the linker's own order.

The grey bar behind the dots is A/A: 95% of equal layouts would be within.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, get_args

from tlsperf.contract.results import LayoutEffect, LayoutKind, ShownImplementation, Table
from tlsperf.report.charts.kind import Around, Drawing, drawing
from tlsperf.report.charts.picture import Picture
from tlsperf.report.charts.theme import GRID, TEXT, WIDTH, colour_channel, text_width

KINDS: Final = get_args(LayoutKind)
STEP: Final = 20
ROW_TITLE: Final = 26
AXIS: Final = 46
RIGHT: Final = 24


def applies(table: Table) -> bool:
    return bool(table.layouts)


def draw(table: Table, around: Around) -> Iterator[Drawing]:
    """One chart of the whole table: a line for each implementation and kind of layout."""
    effects = table.layouts or []
    texts = [
        f"{e.name}, {around.implementations[e.implementation].label}, {e.kind}: {e.text} "
        f"(A/A: within {e.same_text})"
        for e in effects
    ]
    description = (
        "Dots: rates of the layouts of a program, in % of that in the linker's own order. "
        f"{'; '.join(texts)}."
    )
    yield drawing(table, layouts(effects, around.implementations), description)


def layouts(
    effects: list[LayoutEffect], implementations: Mapping[str, ShownImplementation]
) -> Picture:
    """The chart of effects: under the name of each row, a line for each program and kind."""
    names: list[dict[str, Any]] = []
    bars: list[dict[str, Any]] = []
    dots: list[dict[str, Any]] = []
    labels: list[dict[str, Any]] = []
    at = 0
    for name in dict.fromkeys(e.name for e in effects):
        names.append({"y": at + ROW_TITLE - 8, "text": name})
        at += ROW_TITLE
        for effect in sorted(
            (e for e in effects if e.name == name),
            key=lambda e: (KINDS.index(e.kind), list(implementations).index(e.implementation)),
        ):
            shown = implementations[effect.implementation]
            middle = at + STEP / 2
            labels.append({"y": middle, "text": f"{shown.label}, {effect.kind}"})
            bars.append({"y": middle, "low": -effect.same_percent, "high": effect.same_percent})
            dots += [{"y": middle, "x": x, "colour": shown.colour} for x in effect.percents]
            at += STEP
    left = text_width(max(len(label["text"]) for label in labels))
    y = {"field": "y", "type": "quantitative", "axis": None, "scale": {"domain": [at, 0]}}
    axis = {
        "title": "% against the linker's own order; grey: A/A",
        "format": "+,d",
        "tickCount": 7,
        "grid": True,
    }
    x = {"field": "x", "type": "quantitative", "axis": axis, "scale": {"zero": True}}

    def text(values: list[dict[str, Any]], x_at: int, **mark: Any) -> dict[str, Any]:
        return {
            "data": {"values": values},
            "mark": {"type": "text", "baseline": "middle", "color": TEXT, **mark},
            "encoding": {"x": {"value": x_at}, "y": y, "text": {"field": "text"}},
        }

    specification = {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "autosize": "none",
        "padding": {"left": left, "right": RIGHT, "top": 0, "bottom": AXIS},
        "width": WIDTH - left - RIGHT,
        "height": at,
        "layer": [
            {
                "data": {"values": bars},
                "mark": {"type": "rule", "strokeWidth": 10, "color": GRID},
                "encoding": {
                    "x": {**x, "field": "low"},
                    "x2": {"field": "high"},
                    "y": y,
                },
            },
            {
                "data": {"values": dots},
                "mark": {"type": "point", "filled": True, "size": 34, "opacity": 1},
                "encoding": {"x": x, "y": y, "color": colour_channel(_colours(dots))},
            },
            text(labels, -6, align="right"),
            text(names, -left, align="left", fontWeight=600),
        ],
    }
    return Picture(specification, at + AXIS)


def _colours(dots: list[dict[str, Any]]) -> list[str]:
    return sorted({dot["colour"] for dot in dots})
