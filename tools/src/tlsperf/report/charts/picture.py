"""What every chart module returns."""

from __future__ import annotations

from typing import Any, NamedTuple

from tlsperf.report.charts.theme import WIDTH


class Box(NamedTuple):
    """A panel: where it stands in the file, its size, and how far in its plot begins."""

    x: int
    y: int
    width: int
    height: int
    left: int
    top: int


class Picture(NamedTuple):
    """A Vega-Lite specification, and the size in pixels of what it draws.

    One of panels draws them below each other (`vconcat`), and `boxes` say where each goes.
    """

    specification: dict[str, Any]
    height: int
    width: int = WIDTH
    boxes: tuple[Box, ...] = ()
