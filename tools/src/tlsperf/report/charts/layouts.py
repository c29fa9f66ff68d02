"""Layouts: a dot for each layout of a program, by its difference from the linker's own order.

The grey bar behind the dots is A/A: 95% of equal layouts would be within it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from tlsperf.contract.results import LAYOUT_KINDS, LayoutEffect, Table
from tlsperf.report.charts.kind import Around, Drawing, drawing
from tlsperf.report.charts.panels import (
    LINE,
    PANEL,
    Panel,
    grid,
    panel,
    pixel,
    text_at,
    titles,
    without_title,
    wrapped,
)
from tlsperf.report.charts.theme import COLOUR, GRID

STEP: Final = 16
AXIS: Final = 18
EDGE: Final = 10


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
    names = list(dict.fromkeys(e.name for e in effects))
    ends = [x for e in effects for x in (*e.percents, -e.same_percent, e.same_percent)]
    panels = [
        _panel(title, [e for e in effects if e.name == name], around, (min(ends), max(ends)))
        for title, name in zip(titles(without_title(names, table.title)), names, strict=True)
    ]
    note = "One dot for each layout, in % against the linker's own order; grey: A/A. One scale."
    yield drawing(table, grid(panels), description, note)


def _panel(
    title: list[str], effects: list[LayoutEffect], around: Around, ends: tuple[float, float]
) -> Panel:
    """The dots of one row: the name of each kind, then a line for each program below its name."""
    bars: list[dict[str, Any]] = []
    dots: list[dict[str, Any]] = []
    labels: list[dict[str, Any]] = []
    heads: list[dict[str, Any]] = []
    y = 0.0
    for effect in sorted(
        effects,
        key=lambda e: (
            LAYOUT_KINDS.index(e.kind),
            list(around.implementations).index(e.implementation),
        ),
    ):
        shown = around.implementations[effect.implementation]
        if effect.kind not in {head["kind"] for head in heads}:
            y += LINE
            heads.append({"y": y - 3, "text": effect.kind.capitalize(), "kind": effect.kind})
        for text in wrapped(shown.label, PANEL - EDGE):
            y += LINE
            labels.append({"y": y - 3, "text": text})
        middle = y + STEP / 2 - 1
        bars.append({"y": middle, "low": -effect.same_percent, "high": effect.same_percent})
        dots += [{"y": middle, "x": x, "colour": shown.colour} for x in effect.percents]
        y += STEP + 2
    axis = {"title": None, "format": "+,d", "tickCount": 5, "grid": True}
    room = (ends[1] - ends[0]) * 0.04
    scale = {"domain": [ends[0] - room, ends[1] + room], "nice": False, "zero": False}
    x = {"field": "x", "type": "quantitative", "axis": axis, "scale": scale}
    layers = [
        {
            "data": {"values": bars},
            "mark": {"type": "rule", "strokeWidth": 10, "color": GRID},
            "encoding": {"x": {**x, "field": "low"}, "x2": {"field": "high"}, "y": pixel("y")},
        },
        {
            # Dots of one colour are adjacent, so that the file draws them as one path.
            "data": {"values": sorted(dots, key=lambda dot: dot["colour"])},
            "mark": {"type": "point", "filled": True, "size": 30, "opacity": 1},
            "encoding": {
                "x": x,
                "y": pixel("y"),
                "color": COLOUR,
            },
        },
        text_at(heads, -EDGE, fontWeight=600),
        text_at(labels, 0),
    ]
    return panel(title, layers, (PANEL - 2 * EDGE, round(y)), left=EDGE, right=EDGE, bottom=AXIS)
