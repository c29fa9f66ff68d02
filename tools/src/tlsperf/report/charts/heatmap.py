"""A matrix of factors: rows of a table by implementations, coloured by how far from the baseline.

The colour repeats what each cell says in figures; it is never the only sign.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from tlsperf.analysis.ratios import factor_text
from tlsperf.contract.results import Cell, ShownImplementation, Table
from tlsperf.report.charts import bars
from tlsperf.report.charts.kind import Around, Drawing, drawing
from tlsperf.report.charts.picture import Picture
from tlsperf.report.charts.theme import HEAT, TEXT, WIDTH, text_width

MOST_COLUMNS: Final = 5
"""A table with ratios and more implementations is drawn as a matrix, not as bars."""

STEPS: Final = (0.625, 0.8, 0.9, 1.1, 1.25, 1.6)
"""Factors at which the colour changes: symmetrical, as 0.8 and 1.25 are one difference."""

CELL: Final = 26
LINE: Final = 15


def applies(table: Table) -> bool:
    """Whether a table has ratios, and more figures than bars can show."""
    many = len(table.implementations) > MOST_COLUMNS or not bars.applies(table)
    return table.baseline is not None and many


def draw(table: Table, around: Around) -> Iterator[Drawing]:
    """One chart of the whole table."""
    implementations = around.implementations
    yield drawing(table, heatmap(table, implementations), _factors(table, implementations))


def heat(factor: float) -> str:
    """The name of the colour of a factor, `worse-3` to `better-3`, `same` near 1."""
    return tuple(HEAT)[sum(factor >= step for step in STEPS)]


def heatmap(table: Table, implementations: Mapping[str, ShownImplementation]) -> Picture:
    """The Vega-Lite specification of a table with ratios, and its size in pixels.

    Implementations are its columns, or its rows where they are more than the scenarios and too many
    to stand beside each other.
    """
    names, columns = _names(table), [_head(implementations[i]) for i in table.implementations]
    turned = len(names) < len(columns) and _left(names) + _across(columns) > WIDTH
    if turned:
        columns = [name.split(", ") for name in names]
        names = [implementations[i].label for i in table.implementations]
    left = _left(names)
    cells = [
        {
            "row": str(position if turned else number),
            "column": str(number if turned else position),
            "text": _text(cell, table.baseline),
            "heat": _heat(cell, table.baseline),
        }
        for number, row in enumerate(table.rows)
        for position, cell in enumerate(row.cells)
    ]
    widest = max(len(cell["text"]) for cell in cells)
    width = max(WIDTH - left, _across(columns), text_width(widest) * len(columns))
    height = CELL * len(names)
    x = {
        "field": "column",
        "type": "nominal",
        "axis": None,
        "scale": {"domain": [str(n) for n in range(len(columns))], "padding": 0},
    }
    y = {
        "field": "row",
        "type": "nominal",
        "axis": None,
        "scale": {"domain": [str(n) for n in range(len(names))], "padding": 0},
    }
    head = LINE * max(map(len, columns)) + 6
    heads = [
        {"column": str(n), "at": -LINE * up - 6, "head": text}
        for n, texts in enumerate(columns)
        for up, text in enumerate(reversed(texts))
    ]
    specification = {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "autosize": "none",
        "padding": {"left": left, "right": 0, "top": head, "bottom": 4},
        "width": width,
        "height": height,
        "layer": [
            {
                # Neighbours of one colour are written together.
                "data": {"values": sorted(cells, key=lambda cell: cell["heat"])},
                "mark": {
                    "type": "rect",
                    "width": round(width / len(columns)) - 2,
                    "height": CELL - 2,
                },
                "encoding": {
                    "x": x,
                    "y": y,
                    "color": {
                        "field": "heat",
                        "type": "nominal",
                        "legend": None,
                        "scale": {"domain": list(HEAT), "range": list(HEAT.values())},
                    },
                },
            },
            {
                "data": {"values": cells},
                "mark": {"type": "text", "align": "center", "baseline": "middle", "color": TEXT},
                "encoding": {"x": x, "y": y, "text": {"field": "text"}},
            },
            {
                "data": {"values": [{"row": str(n), "name": name} for n, name in enumerate(names)]},
                "mark": {"type": "text", "align": "left", "baseline": "middle", "color": TEXT},
                "encoding": {"x": {"value": -left}, "y": y, "text": {"field": "name"}},
            },
            {
                "data": {"values": heads},
                "mark": {"type": "text", "align": "center", "baseline": "bottom", "color": TEXT},
                "encoding": {
                    "x": x,
                    "y": {"field": "at", "type": "quantitative", "scale": None, "axis": None},
                    "text": {"field": "head"},
                },
            },
        ],
    }
    return Picture(specification, head + height + 4, left + width)


def _left(names: list[str]) -> int:
    """Room for the names of the rows, in pixels."""
    return text_width(max(map(len, names))) + 6


def _across(columns: list[list[str]]) -> int:
    """Room for the columns with their heads, in pixels."""
    return text_width(max(len(text) for texts in columns for text in texts)) * len(columns)


def _names(table: Table) -> list[str]:
    """The names of the rows without the words that all of them begin with and the title says."""
    names = [row.name for row in table.rows]
    words = [name.split(" ") for name in names]
    said = [
        count
        for count in range(1, min(map(len, words)))
        if len({" ".join(w[:count]) for w in words}) == 1
        and table.title.lower().startswith(" ".join(words[0][:count]))
    ]
    return [" ".join(w[max(said, default=0) :]) for w in words]


def _head(shown: ShownImplementation) -> list[str]:
    """Name, version, provider and build, a line each."""
    label, _, details = shown.label.partition(" (")
    return [*label.split(" ", 1), *(details.removesuffix(")").split(", ") if details else [])]


def _text(cell: Cell, baseline: str | None) -> str:
    if cell.implementation == baseline:
        return cell.text if cell.valid else "not counted"
    if cell.ratio is not None:
        return factor_text(cell.ratio.value)
    return "–" if cell.value is None or cell.valid else "not counted"


def _heat(cell: Cell, baseline: str | None) -> str:
    if cell.implementation == baseline or cell.ratio is None:
        return "same"
    return heat(cell.ratio.value)


def _factors(table: Table, implementations: Mapping[str, ShownImplementation]) -> str:
    """The text alternative of a matrix: the lowest and highest factor of each implementation.

    Every figure would be minutes of listening; the table has them all.
    """
    ranges = []
    for i in table.implementations:
        cells = [c for row in table.rows for c in row.cells if c.implementation == i]
        factors = [cell.ratio.value for cell in cells if cell.ratio]
        if factors:
            ends = f"{factor_text(min(factors))} to {factor_text(max(factors))}"
            ranges.append(f"{implementations[i].label} {ends}")
    baseline = implementations[table.baseline].label if table.baseline else ""
    return (
        f"Matrix of the factors of {len(table.rows)} scenarios against {baseline}; above 1 is "
        f"better. {'; '.join(ranges)}."
    )
