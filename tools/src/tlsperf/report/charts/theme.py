"""How every chart looks: one fixed colour per library, and the colours of all else.

These are the colours for a light page, safe for colour-blind readers. Each has a class, so that
the site's style sheet can give it another value where the page is dark.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
"""Steps from much worse to much better, safe for colour-blind readers, with dark text on each."""

PAPER: Final = "#ffffff"
"""Behind a chart that stands alone, so that it reads in a dark feed reader too."""

TEXT: Final = "#1f2328"
GRID: Final = "#d0d7de"

CLASSES: Final[Mapping[str, str]] = {
    **{colour: f"library-{name}" for name, colour in LIGHT.items()},
    **{colour: f"heat-{name}" for name, colour in HEAT.items()},
    TEXT: "chart-text",
    GRID: "chart-grid",
    PAPER: "chart-background",
}
"""Class of each colour; a chart has no others."""

FONT: Final = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
FONT_SIZE: Final = 12
WIDTH: Final = 720

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
    """Room for a text in pixels, wide enough for the widest common sans-serif (Verdana)."""
    return round(characters * FONT_SIZE * 0.6)


def colour_channel(colours: Sequence[str]) -> dict[str, Any]:
    """The Vega-Lite channel that gives each of these colour classes its fixed colour."""
    return {
        "field": "colour",
        "type": "nominal",
        "legend": None,
        "scale": {"domain": colours, "range": [LIGHT[c] for c in colours]},
    }
