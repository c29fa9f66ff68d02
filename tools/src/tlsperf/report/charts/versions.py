"""History: a panel for each task, and a line for each library over its versions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from tlsperf.contract.libraries import NAMES
from tlsperf.contract.results import Row, ShownImplementation, Table
from tlsperf.report.charts.kind import Around, Drawing, drawing
from tlsperf.report.charts.lines import HEIGHT, LEFT, RIGHT, Line, Point, lines
from tlsperf.report.charts.panels import (
    LINE,
    PANEL,
    Panel,
    dashes,
    grid,
    legend,
    short_names,
    titles,
)
from tlsperf.report.charts.theme import text_width

FEWEST: Final = 4
"""With at least this many versions of a library, a line is clearer than a matrix."""

MOST_LIBRARIES: Final = 3
"""Limit of libraries side by side in a panel: each needs room for the names of two versions."""

INSET: Final = 8


def line_of(shown: ShownImplementation) -> str:
    """The common part of a line's labels: library, provider and build."""
    details = ", ".join(d for d in (shown.provider, shown.build) if d)
    return NAMES[shown.library] + (f" ({details})" if details else "")


def applies(table: Table) -> bool:
    """Whether a library has several versions. Ids start with the library and end with the build."""
    libraries = Counter(i.split("-")[0] for i in table.implementations)
    return (
        max(libraries.values()) >= FEWEST
        and len(table.implementations) > 2 * FEWEST
        and len(libraries) <= MOST_LIBRARIES
        and not any("gcc" in i or "clang" in i for i in table.implementations)
    )


def draw(table: Table, around: Around) -> Iterator[Drawing]:
    """One chart with a panel for each row."""
    groups: dict[str, list[ShownImplementation]] = {}
    for i in table.implementations:
        shown = around.implementations[i]
        groups.setdefault(line_of(shown), []).append(shown)
    names = short_names(table)
    panels = [
        _panel(title, row, groups) for title, row in zip(titles(names), table.rows, strict=True)
    ]
    named = [(name, of[0].colour) for name, of in groups.items()]
    note = (
        f"{table.unit} by version, {table.better} is better; each scale begins at zero. "
        + "; ".join(f"{name}: {', '.join(number_of(i) for i in of)}" for name, of in groups.items())
        + "."
    )
    yield drawing(table, grid(panels), _figures(table, groups), note, legend(named))


def number_of(shown: ShownImplementation) -> str:
    """The number in a version: 5.4.0 for "boring-sys 5.4.0, API 44"."""
    return shown.version.split(",")[0].split(" ")[-1]


def _panel(title: list[str], row: Row, groups: dict[str, list[ShownImplementation]]) -> Panel:
    cells = {cell.implementation: cell for cell in row.cells}
    slot = (PANEL - LEFT - RIGHT) / len(groups)
    drawn: list[Line] = []
    below: list[dict[str, Any]] = []
    widest = 0
    colours = [of[0].colour for of in groups.values()]
    for n, (of, dash) in enumerate(zip(groups.values(), dashes(colours), strict=True)):
        start, room = n * slot + INSET, slot - 2 * INSET
        points = [
            Point(
                start + room * k / max(1, len(of) - 1),
                cells[i.id].value or 0,
                cells[i.id].low,
                cells[i.id].high,
            )
            for k, i in enumerate(of)
            if cells[i.id].value
        ]
        if points:
            drawn.append(Line(of[0].colour, points, dash))
        ends = [f"{number_of(of[0])} –", number_of(of[-1])]
        widest = max(widest, *(text_width(len(text)) for text in ends))
        below += [
            {"x": round(start + room / 2), "y": HEIGHT + LINE * (k + 1), "text": text}
            for k, text in enumerate(ends)
        ]
    # If there is no room for the names, only the note below the title has them.
    shown = below if widest < slot else []
    return lines(title, drawn, x_domain=(0, PANEL - LEFT - RIGHT), below=shown)


def _figures(table: Table, groups: dict[str, list[ShownImplementation]]) -> str:
    """The text alternative: the first and last version of each library in each row."""
    texts = []
    for row in table.rows:
        cells = {cell.implementation: cell for cell in row.cells}
        ends = [
            f"{name} from {cells[known[0].id].text} in {number_of(known[0])} to "
            f"{cells[known[-1].id].text} in {number_of(known[-1])}"
            for name, of in groups.items()
            if (known := [i for i in of if cells[i.id].value])
        ]
        texts.append(f"{row.name}: {', '.join(ends)}")
    return f"Lines over the versions of each library, in {table.unit}. {'; '.join(texts)}."
