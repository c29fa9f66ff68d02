"""What every chart module returns."""

from __future__ import annotations

from typing import Any, NamedTuple

from tlsperf.report.charts.theme import WIDTH


class Picture(NamedTuple):
    """A Vega-Lite specification, and the size in pixels of what it draws."""

    specification: dict[str, Any]
    height: int
    width: int = WIDTH
