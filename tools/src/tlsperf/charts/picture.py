"""What every chart module returns."""

from __future__ import annotations

from typing import Any, NamedTuple


class Picture(NamedTuple):
    """A Vega-Lite specification, and the height in pixels of what it draws."""

    specification: dict[str, Any]
    height: int
