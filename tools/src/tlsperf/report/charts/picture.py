"""The result of every chart module."""

from __future__ import annotations

from typing import Any, NamedTuple

from tlsperf.report.charts.theme import WIDTH


class Box(NamedTuple):
    """A panel's position in the file, its size, and the position of its plot, in pixels."""

    x: int
    y: int
    width: int
    height: int
    left: int
    top: int


class Picture(NamedTuple):
    """A Vega-Lite specification, and the size in pixels of what it draws.

    A picture of panels stacks them (`vconcat`); `boxes` has the position of each.
    """

    specification: dict[str, Any]
    height: int
    width: int = WIDTH
    boxes: tuple[Box, ...] = ()
