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

FIGURE_SIZE: Final = 16
"""Size of all text of a figure in two drawings: that of prose."""

FIGURE_CONFIG: Final[Mapping[str, Any]] = {
    **CONFIG,
    "text": {**CONFIG["text"], "fontSize": FIGURE_SIZE},
    "axis": {**CONFIG["axis"], "labelFontSize": FIGURE_SIZE},
}


def figure_text_width(text: str, weight: str = "normal") -> float:
    """The width of a text of a figure in pixels, enough for the widest common sans-serif."""
    parts = sum(
        0.38 if c in _SLIM else 0.97 if c in _BROAD else 0.7 if c.isupper() else 0.61 for c in text
    )
    return parts * FIGURE_SIZE * (1.12 if weight == "bold" else 1)


_SLIM: Final = frozenset(" ijlI.,:;|'()[]ftr!/-")
_BROAD: Final = frozenset("mwMW@%→←—×")


def text_width(characters: int) -> int:
    """The width of a text in pixels, enough for the widest common sans-serif (Verdana)."""
    return round(characters * FONT_SIZE * 0.6)


COLOUR: Final[Mapping[str, Any]] = {
    "field": "colour",
    "type": "nominal",
    "legend": None,
    "scale": {
        "domain": [*LIGHT, *HEAT, "text", "paper"],
        "range": [*LIGHT.values(), *HEAT.values(), TEXT, PAPER],
    },
}
"""The Vega-Lite channel from a library's colour class, a name of HEAT, text or paper to its colour.
"""
