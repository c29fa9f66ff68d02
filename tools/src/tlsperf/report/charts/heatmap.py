"""A matrix of factors: rows of a table by implementations, coloured by distance to the baseline.

Each cell has the same number as the table, how many times better or worse, with a triangle up or
down. So the colour is never the only sign.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from tlsperf.analysis.ratios import shown_from
from tlsperf.contract.results import Cell, Ratio, ShownImplementation, Table
from tlsperf.report.charts import bars
from tlsperf.report.charts.kind import Around, Drawing, drawing
from tlsperf.report.charts.panels import (
    LINE,
    PANEL,
    Panel,
    grid,
    panel,
    pixel,
    short_names,
    text_at,
    wrapped,
)
from tlsperf.report.charts.theme import COLOUR, HEAT, TEXT, text_width

MOST_COLUMNS: Final = 5
"""A table with ratios and more implementations than this is drawn as a matrix, not as bars."""

COLUMNS: Final = 6
"""Limit of the columns in a panel."""

ROWS: Final = 12
"""Limit of the rows in a panel."""

STEPS: Final = (0.625, 0.8, 0.9, 1.1, 1.25, 1.6)
"""Factors at which the colour changes; they are symmetrical, because 0.8 and 1.25 are one
difference.
"""

SHORT: Final = 15
"""A label with more characters than this is split in the head of a column."""

CELL: Final = 20
AFTER: Final = 5
UP: Final = "\u25b2"
DOWN: Final = "\u25bc"


def applies(table: Table) -> bool:
    """Whether a table has ratios, and more figures than bars can show."""
    many = len(table.implementations) > MOST_COLUMNS or not bars.fits(table)
    return table.baseline is not None and many


def draw(table: Table, around: Around) -> Iterator[Drawing]:
    """One chart of the whole table: the factors of all implementations except the baseline."""
    shown = [around.implementations[i] for i in table.implementations if i != table.baseline]
    names = short_names(table)
    cells = [{c.implementation: c for c in row.cells} for row in table.rows]
    size = -(-len(shown) // -(-len(shown) // COLUMNS))
    panels = [
        _panel(list(zip(names, cells, strict=True))[n : n + ROWS], shown[m : m + size])
        for n in range(0, len(names), ROWS)
        for m in range(0, len(shown), size)
    ]
    baseline = around.implementations[table.baseline].label if table.baseline else ""
    ratios = [c.ratio for row in table.rows for c in row.cells if c.ratio]
    least = shown_from(ratio.text for ratio in ratios if ratio.verdict == "no difference shown")
    note = (
        f"Times better ({UP}, green) or worse ({DOWN}, violet) than {baseline}; empty: no "
        f"difference shown{f' ({least})' if least else ''}; grey: within 10%; the colour deepens at "
        "1.1, 1.25 and 1.6."
    )
    yield drawing(table, grid(panels), _factors(table, shown, baseline), note)


def heat(factor: float) -> str:
    """The colour class of a factor, from `worse-3` to `better-3`; `same` near 1."""
    return tuple(HEAT)[sum(factor >= step for step in STEPS)]


def _panel(
    rows: Sequence[tuple[str, dict[str, Cell]]], shown: Sequence[ShownImplementation]
) -> Panel:
    """Some rows, each with its name above its cells, and some implementations as columns."""
    step = PANEL // COLUMNS
    names: list[dict[str, Any]] = []
    boxes: list[dict[str, Any]] = []
    y = 0
    for name, cells in rows:
        for text in wrapped(name[:1].upper() + name[1:]):
            y += LINE
            names.append({"y": y - 3, "text": text})
        for n, i in enumerate(shown):
            text, colour = _shown(cells.get(i.id))
            place = {"x": n * step, "end": (n + 1) * step - 2, "middle": (n + 0.5) * step - 1}
            boxes.append({**place, "y": y, "low": y + CELL, "text": text, "colour": colour})
        y += CELL + AFTER
    heads: list[dict[str, Any]] = [
        {"x": (n + 0.5) * step + 13 * k - 6.5 * (len(lines) - 1), "y": -6, "text": text}
        for n, i in enumerate(shown)
        for lines in [_head(i)]
        for k, text in enumerate(lines)
    ]
    room = max(text_width(len(head["text"])) for head in heads) + 6
    layers: list[dict[str, Any]] = [
        {
            "data": {"values": heads},
            "mark": {"type": "text", "align": "left", "baseline": "middle", "angle": 270},
            "encoding": {"x": pixel("x"), "y": pixel("y"), "text": {"field": "text"}},
        },
        {
            "data": {"values": sorted(boxes, key=lambda b: str(b["colour"]))},
            "mark": "rect",
            "encoding": {
                "x": pixel("x"),
                "x2": {"field": "end"},
                "y": pixel("y"),
                "y2": {"field": "low"},
                "color": COLOUR,
            },
        },
        {
            "data": {"values": [{**b, "y": b["y"] + CELL / 2 + 1} for b in boxes if b["text"]]},
            "mark": {"type": "text", "align": "center", "baseline": "middle", "color": TEXT},
            "encoding": {"x": pixel("middle"), "y": pixel("y"), "text": {"field": "text"}},
        },
        text_at(names, 0),
    ]
    drawn = panel([], layers, (PANEL, y))
    return drawn._replace(top=room, height=y + room)


def _head(shown: ShownImplementation) -> list[str]:
    """Name and version, then provider and build, in a few short lines."""
    label, _, details = shown.label.partition(" (")
    names = [label] if len(label) <= SHORT else label.split(" ", 1)
    return [*names, *([details.removesuffix(")")] if details else [])]


def _shown(cell: Cell | None) -> tuple[str, str]:
    """The text of a cell, and its colour class."""
    if cell is None or cell.value is None:
        return "–", "same"
    if not cell.valid:
        return "×", "same"
    if cell.ratio is None:
        return "–", "same"
    text = sign(cell.ratio)
    return text, heat(cell.ratio.value) if text else "same"


def sign(ratio: Ratio) -> str:
    """How many times better or worse, with the number of the table; empty without a difference."""
    if ratio.verdict == "no difference shown":
        return ""
    up = ratio.value >= 1
    return f"{UP}{ratio.value:.2f}" if up else f"{DOWN}{1 / ratio.value:.2f}"


def _factors(table: Table, shown: Sequence[ShownImplementation], baseline: str) -> str:
    """The text alternative of a matrix: the lowest and highest factor of each implementation.

    A screen reader would read all figures for minutes; the table has them.
    """
    ranges = []
    for i in shown:
        cells = [c for row in table.rows for c in row.cells if c.implementation == i.id]
        found = sorted((c.ratio for c in cells if c.ratio), key=lambda ratio: ratio.value)
        if found:
            ranges.append(f"{i.label} {_words(found[0])} to {_words(found[-1])}")
    return f"Matrix of {len(table.rows)} scenarios against {baseline}. {'; '.join(ranges)}."


def _words(ratio: Ratio) -> str:
    return ratio.text.split(" (")[0]
