"""History: a panel for each task, and a line for each library over its versions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from tlsperf.contract.libraries import NAMES
from tlsperf.contract.results import Key, Row, ShownImplementation, Table
from tlsperf.report.charts.kind import Around, Drawing, drawing
from tlsperf.report.charts.lines import LEFT, RIGHT, Line, lines, point_of
from tlsperf.report.charts.panels import (
    PANEL,
    Panel,
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

INSET: Final = 0.1
"""Space before the first version of a library and after the last, in parts of its place."""


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
    keys = legend([(name, of[0].colour) for name, of in groups.items()])
    panels = [
        _panel(title, row, list(zip(keys, groups.values(), strict=True)))
        for title, row in zip(titles(names), table.rows, strict=True)
    ]
    note = (
        f"{table.unit} by version, {table.better} is better; each scale begins at zero. "
        + "; ".join(f"{name}: {', '.join(number_of(i) for i in of)}" for name, of in groups.items())
        + "."
    )
    yield drawing(table, grid(panels), _figures(table, groups), note, keys)


def number_of(shown: ShownImplementation) -> str:
    """The number in a version: 5.4.0 for "boring-sys 5.4.0, API 44"."""
    return shown.version.split(",")[0].split(" ")[-1]


def _panel(
    title: list[str], row: Row, groups: Sequence[tuple[Key, list[ShownImplementation]]]
) -> Panel:
    cells = {cell.implementation: cell for cell in row.cells}
    drawn: list[Line] = []
    for n, (key, of) in enumerate(groups):
        points = [
            point_of(n + INSET + (1 - 2 * INSET) * k / max(1, len(of) - 1), cells[i.id])
            for k, i in enumerate(of)
        ]
        if known := [point for point in points if point]:
            drawn.append(Line(key.colour, known, key.dash))
    names = {
        n + 0.5: [f"{number_of(of[0])} –", number_of(of[-1])] for n, (_, of) in enumerate(groups)
    }
    widest = max(text_width(len(text)) for ends in names.values() for text in ends)
    # If there is no room for the names, only the note below the title has them.
    shown = names if widest < (PANEL - LEFT - RIGHT) / len(groups) else {}
    return lines(title, drawn, x_domain=(0, len(groups)), names=shown)


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
