"""The colours and fonts of all charts; each library has one fixed colour.

These are the colours for a light page, safe for colour-blind readers. Each has a class, so that the
site's style sheet can replace it on a dark page.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tlsperf.contract.libraries import LIGHT

HEAT: Final[Mapping[str, str]] = {
    "worse-3": "#c9aed6",
    "worse-2": "#dcc9e5",
    "worse-1": "#ece3f1",
    "same": "#eef0f2",
    "better-1": "#e0f0dc",
    "better-2": "#bfe2b9",
    "better-3": "#93cf90",
}
"""Colours from much worse to much better, safe for colour-blind readers, with dark text on each."""

PAPER: Final = "#ffffff"
"""The background of a chart's file, which makes it readable in a dark feed reader."""

TEXT: Final = "#1f2328"
GRID: Final = "#d0d7de"

CLASSES: Final[Mapping[str, str]] = {
    **{colour: f"library-{name}" for name, colour in LIGHT.items()},
    **{colour: f"heat-{name}" for name, colour in HEAT.items()},
    TEXT: "chart-text",
    GRID: "chart-grid",
    PAPER: "chart-background",
}
"""The class of each colour; a chart has no other colours."""

FONT: Final = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
FONT_SIZE: Final = 12

CONFIG: Final[Mapping[str, Any]] = {
    "font": "sans-serif",
    "background": None,
    "view": {"stroke": None},
    "text": {"fontSize": FONT_SIZE, "color": TEXT},
    "rule": {"color": TEXT},
    "axis": {
        "domain": False,
        "ticks": False,
        "gridColor": GRID,
        "labelColor": TEXT,
        "labelFontSize": FONT_SIZE,
        "labelPadding": 6,
        "labelOverlap": False,
        "titleColor": TEXT,
        "titleFontSize": FONT_SIZE,
        "titleFontWeight": "normal",
        "titlePadding": 8,
    },
}


def text_width(characters: int) -> int:
    """The width of a text in pixels, enough for the widest common sans-serif (Verdana)."""
    return round(characters * FONT_SIZE * 0.6)


COLOUR: Final[Mapping[str, Any]] = {
    "field": "colour",
    "type": "nominal",
    "legend": None,
    "scale": {"domain": [*LIGHT, *HEAT], "range": [*LIGHT.values(), *HEAT.values()]},
}
"""The Vega-Lite channel from a library's colour class, or a name of HEAT, to its colour."""
