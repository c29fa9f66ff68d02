"""What figures in two drawings share: sizes, texts, and the log scale of their ratios.

One drawing is as wide as the text of a page of 1280 pixels, the other as that of a phone. The style
sheet shows one of them, so no text is scaled down.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, NamedTuple

from tlsperf.report.charts.panels import Panel, Picture, pixel
from tlsperf.report.charts.svg import draw_figure
from tlsperf.report.charts.theme import GRID, PAPER, TEXT, figure_text_width

WIDE: Final = 1120
NARROW: Final = 358
LINE: Final = 20
"""Height of a line of text in pixels."""
SIDE: Final = 18
"""Room at both ends of a plot, for half of a number of its axis."""
TICK: Final = 26
"""Height of the numbers below a plot."""

LEAST_DOMAIN: Final = (0.8, 1.25)
"""A scale has at least these ratios, so that a difference of 1% looks small."""
_PADDING: Final = 1.05
_TICKS: Final = (
    (1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 2, 3, 4, 5, 6, 7, 8, 9),
    (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8),
    (1, 1.5, 2, 3, 5, 7),
    (1, 2, 5),
    (1, 3),
    (1,),
)
"""Numbers of an axis in each power of ten, from the densest to the sparsest choice."""


class Text(NamedTuple):
    """A line of text; (x, y) is its baseline at its left, middle or right end."""

    x: float
    y: float
    text: str
    align: str = "left"
    weight: str = "normal"


def texts(lines: Iterable[Text]) -> dict[str, Any]:
    """The layer of lines of text, in pixels from the corner of the plot."""
    return {
        "data": {"values": [line._asdict() for line in lines]},
        "mark": {
            "type": "text",
            "baseline": "alphabetic",
            "color": TEXT,
            "align": {"expr": "datum.align"},
            "fontWeight": {"expr": "datum.weight"},
        },
        "encoding": {"x": pixel("x"), "y": pixel("y"), "text": {"field": "text"}},
    }


def lines_of(text: str, width: float, weight: str = "normal") -> list[str]:
    """The lines of a text in a width in pixels, broken at spaces."""
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and figure_text_width(longer, weight) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def widest(lines: Iterable[str]) -> int:
    """The width in pixels that all lines fit into."""
    return math.ceil(max(map(figure_text_width, lines), default=0))


@dataclass(frozen=True)
class Scale:
    """A log scale of ratios, which all panels of a figure share."""

    low: float
    high: float

    @classmethod
    def of(cls, ratios: Iterable[float]) -> Scale:
        """The scale that has the ratios, and 1."""
        found = list(ratios)
        low, high = LEAST_DOMAIN
        return cls(
            min(low, *(ratio / _PADDING for ratio in found)),
            max(high, *(ratio * _PADDING for ratio in found)),
        )

    def at(self, ratio: float, length: float) -> float:
        """The place of a ratio in pixels on an axis of a length."""
        return length * math.log(ratio / self.low) / math.log(self.high / self.low)

    def ticks(self, length: float, room: float | None = None) -> list[float]:
        """As many ratios as an axis has room to name, 1 among them.

        `room` is what a name needs in pixels; absent: the width of each, of which half may be
        outside by `SIDE` at the ends.
        """
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        for numbers in _TICKS:
            every = sorted({round(n * 10.0**p, 6) for p in powers for n in numbers})
            ends = {
                tick: (at - half, at + half)
                for tick in every
                if self.low <= tick <= self.high
                for at in [self.at(tick, length)]
                for half in [(room or figure_text_width(times(tick)) + 10) / 2]
                if room or tick == 1 or -SIDE - 5 <= at - half <= at + half <= length + SIDE + 5
            }
            if all(right <= left for (_, right), (left, _) in pairwise(ends.values())):
                break
        return list(ends)

    def channel(self, field: str, ticks: Sequence[float], **axis: Any) -> dict[str, Any]:
        """The Vega-Lite channel of a field with ratios."""
        names = json.dumps({f"{tick:g}": times(tick) for tick in ticks})
        return {
            "field": field,
            "type": "quantitative",
            "scale": {"type": "log", "domain": [self.low, self.high], "nice": False},
            "axis": {
                "values": list(ticks),
                "labelExpr": f"{names}[format(datum.value, '~g')]",
                "title": None,
                "labelFlush": False,
                **axis,
            },
        }


def times(ratio: float) -> str:
    """A number of an axis: 0.5×, 1×, 2×."""
    return f"{ratio:,g}×"


def ratio_words(ratio: float) -> str:
    """A ratio in a text alternative and in a cell: 1.25, 13.0, 270."""
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:.1f}" if ratio < 100 else f"{ratio:,.0f}"


def paper(lines: Iterable[Text]) -> dict[str, Any]:
    """The layer that hides what is behind lines of text which begin at their left."""
    boxes = [
        {
            "x": line.x,
            "x2": line.x + figure_text_width(line.text, line.weight),
            "y": line.y - 15,
            "y2": line.y + 4,
        }
        for line in lines
    ]
    return {
        "data": {"values": boxes},
        "mark": {"type": "rect", "color": PAPER},
        "encoding": {
            "x": pixel("x"),
            "x2": {"field": "x2"},
            "y": pixel("y"),
            "y2": {"field": "y2"},
        },
    }


def rules(values: Sequence[Mapping[str, float]], *, strong: bool = False) -> dict[str, Any]:
    """The layer of straight lines from (x, y) to (x2, y2), in pixels."""
    return {
        "data": {"values": list(values)},
        "mark": {
            "type": "rule",
            "color": TEXT if strong else GRID,
            "strokeWidth": 2 if strong else 1,
        },
        "encoding": {
            "x": pixel("x"),
            "x2": {"field": "x2"},
            "y": pixel("y"),
            "y2": {"field": "y2"},
        },
    }


def stacked(panels: Sequence[Panel], gap: int, width: int) -> Picture:
    """Panels one above the other."""
    return in_rows([[panel] for panel in panels], gap, width)


def in_rows(rows: Sequence[Sequence[Panel]], gap: int, width: int) -> Picture:
    """Rows of panels side by side, each panel next to the one before it."""
    places: list[tuple[int, int]] = []
    y = 0
    for row in rows:
        x = 0
        for panel in row:
            places.append((x, y))
            x += panel.width
        y += max(panel.height for panel in row) + gap
    return Picture([panel for row in rows for panel in row], places, width, y - gap)


def figure_files(
    anchor: str, title: str, description: str, wide: Picture, narrow: Picture
) -> dict[str, str]:
    """Both drawings by the names of their files."""
    return {
        f"{anchor}.svg": draw_figure(wide, anchor, title, description),
        f"{anchor}-narrow.svg": draw_figure(narrow, f"{anchor}-narrow", title, description),
    }
