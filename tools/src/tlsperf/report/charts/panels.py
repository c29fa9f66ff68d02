"""Small multiples: panels as wide as a phone, in several columns on a wide screen.

The page of a report arranges the panels by the width of the screen, so that no text is scaled down.
The file has them in a grid.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from tlsperf.contract.results import Key, Table
from tlsperf.report.charts.theme import TEXT, text_width

PANEL: Final = 256
"""Width of a panel in pixels. A phone of 320 pixels has room for 288."""

BOLD: Final = 215
"""Width for bold text in a panel, in pixels of normal text."""

SINGLE: Final = 312
"""Width of a single panel: scaled to 288, its text of 12 pixels is still 11 pixels high."""

LINE: Final = 15
MARGIN: Final = 12
"""Margin of a chart's file in pixels, on all sides."""
COLUMNS: Final = 3
GAP: Final = 24
DASHES: Final = ("", "7 3", "2 3", "9 3 2 3", "12 4", "4 2 1 2", "1 2", "14 3 3 3")
"""Dash patterns that distinguish lines of one colour, in the order of their versions."""


class Panel(NamedTuple):
    """A Vega-Lite view, the panel's size and the position of its plot, in pixels."""

    view: dict[str, Any]
    width: int
    height: int
    left: int
    top: int


class Picture(NamedTuple):
    """Panels, the position of each, and the size of all together, in pixels."""

    panels: Sequence[Panel]
    places: Sequence[tuple[int, int]]
    width: int
    height: int


def panel(
    title: Sequence[str],
    layers: Iterable[Mapping[str, Any]],
    plot: tuple[int, int],
    *,
    words: Sequence[str] = (),
    left: int = 0,
    right: int = 0,
    bottom: int = 0,
) -> Panel:
    """A panel with title and `words`, one text for each line, above a plot (width, height)."""
    width, height = plot
    top = LINE * (len(title) + len(words)) + 6
    texts = [
        {"y": LINE * (n + 1) - 3 - top, "text": text} for n, text in enumerate([*title, *words])
    ]
    head = text_at(texts[: len(title)], -left, fontWeight=600)
    more = [text_at(texts[len(title) :], -left)] if words else []
    view = {"width": width, "height": height, "layer": [head, *more, *layers]}
    return Panel(view, left + width + right, top + height + bottom, left, top)


def text_at(values: Sequence[Mapping[str, Any]], x: float, **mark: Any) -> dict[str, Any]:
    """Texts at heights in pixels, all at one x position."""
    return {
        "data": {"values": list(values)},
        "mark": {"type": "text", "align": "left", "baseline": "alphabetic", "color": TEXT, **mark},
        "encoding": {"x": {"value": x}, "y": pixel("y"), "text": {"field": "text"}},
    }


def pixel(field: str) -> dict[str, Any]:
    """A channel whose values are pixels."""
    return {"field": field, "type": "quantitative", "scale": None, "axis": None}


def grid(panels: Sequence[Panel]) -> Picture:
    """The picture of panels in a grid, in the given order."""
    columns = 2 if len(panels) == 4 else min(COLUMNS, len(panels))
    width = max(p.width for p in panels)
    places, y = [], 0
    for first in range(0, len(panels), columns):
        row = panels[first : first + columns]
        places += [(n * (width + GAP), y) for n in range(len(row))]
        y += max(p.height for p in row) + GAP
    return Picture(panels, places, columns * (width + GAP) - GAP, y - GAP)


def wrapped(text: str, width: int = PANEL) -> list[str]:
    """The lines of a text in a width in pixels, broken at spaces."""
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and text_width(len(longer)) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def titles(names: Sequence[str]) -> list[list[str]]:
    """The titles of panels, all with as many lines as the longest. Bold text is wider."""
    found = [wrapped(name[:1].upper() + name[1:], BOLD) for name in names]
    most = max(map(len, found))
    return [[*lines, *[""] * (most - len(lines))] for lines in found]


_PROTOCOL: Final = re.compile(r"^TLS 1\.[0-9] ")


def short_names(table: Table) -> list[str]:
    """The names of rows without their common first words if the title has them."""
    return without_title([row.name for row in table.rows], table.title)


def without_title(names: Sequence[str], title: str) -> list[str]:
    """Names without their common words if the title has them.

    "TLS 1.3, RSA-2048" for "TLS 1.3 full handshake, RSA-2048"; "X25519" for "key agreement X25519".
    """
    kinds = {_PROTOCOL.sub("", name).split(", ")[0] for name in names}
    if len(kinds) == 1 and all(map(_PROTOCOL.match, names)):
        kind = kinds.pop()
        if title.lower().startswith(kind.lower()):
            return [name.replace(f" {kind}", "", 1) for name in names]
    words = [name.split(" ") for name in names]
    said = [
        count
        for count in range(1, min(map(len, words)))
        if len({" ".join(w[:count]) for w in words}) == 1
        and title.lower().startswith(" ".join(words[0][:count]))
    ]
    return [" ".join(w[max(said, default=0) :]) for w in words]


def legend(named: Sequence[tuple[str, str]]) -> list[Key]:
    """The legend of lines from pairs of name and colour class; a dash tells lines of one colour
    apart.
    """
    colours = [colour for _, colour in named]
    return [
        Key(label=name, colour=colour, dash=DASHES[colours[:n].count(colour) % len(DASHES)] or None)
        for n, (name, colour) in enumerate(named)
    ]
