"""The price list as a picture: a panel for each side, and three bars for each library.

The bars are the time of a handshake with today's algorithms, with a hybrid key exchange, and with
certificates of ML-DSA too. Each has its figure beside it, and the handshakes that it loses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tlsperf.contract.prices import Lost, PriceCell, PriceColumn, PriceTable
from tlsperf.contract.results import Chart, Results, ShownImplementation
from tlsperf.report.charts.kind import Drawing, headed
from tlsperf.report.charts.panels import (
    LINE,
    PANEL,
    Panel,
    grid,
    panel,
    pixel,
    text_at,
    wrapped,
)
from tlsperf.report.charts.theme import TEXT, colour_channel

COLUMNS: Final[Mapping[str, str]] = {
    "x25519": "X25519",
    "x25519mlkem768": "hybrid",
    "ml-dsa-44": "ML-DSA",
}
"""The columns that are drawn, with the word before each bar."""

SHADES: Final = (0.35, 0.65, 1.0)
"""Opacity of the three bars."""

BAR: Final = 10
AFTER: Final = 8
GUTTER: Final = 52
ROOM: Final = 112
"""Width for the figure after a bar, in pixels."""

MINUS: Final = "\N{MINUS SIGN}"

NOTE: Final = (
    "µs of processor time for a handshake, less is better. X25519: with ECDSA P-256. Hybrid: "
    "X25519MLKEM768 with ECDSA P-256. ML-DSA: X25519MLKEM768 with ML-DSA-44. In %: handshakes "
    f"per second lost ({MINUS}) or gained (+) against X25519; without it, no difference is shown."
)


def price_charts(results: Results) -> list[Drawing]:
    """The picture of a report's price list; none if it has no price list."""
    tables = [table for table in results.prices or () if is_drawn(table)]
    if not tables:
        return []
    shown = {i.id: i for i in results.implementations}
    panels = [_panel(table, shown) for table in tables]
    described = "; ".join(_described(table, shown) for table in tables)
    chart = Chart(
        anchor="chart-prices",
        file="prices.svg",
        title="A handshake: today, with a hybrid key exchange, and with ML-DSA too",
        description=f"Bars in µs of a handshake, less is better. {described}.",
        note=NOTE,
        width=0,
        height=0,
        table=tables[0].anchor,
    )
    return [headed(chart, grid(panels))]


def is_drawn(table: PriceTable) -> bool:
    """Whether a table has the times of a side from today's algorithms to ML-DSA."""
    return table.anchor in ("prices-server", "prices-client")


def drawn_columns(table: PriceTable) -> list[PriceColumn]:
    """The columns of a table that pictures show."""
    return [column for column in table.columns if column.id in COLUMNS]


def signed(lost: Lost | None) -> str:
    """The handshakes lost as a change of the rate, with the digits of the table; empty without
    a difference.
    """
    if lost is None or lost.verdict not in ("faster", "slower"):
        return ""
    amount, _, _ = lost.text.partition(" ")
    return f"{'+' if lost.verdict == 'faster' else MINUS}{amount}"


def figure_text(cell: PriceCell) -> str:
    """A bar's figure and its change: `110.2 µs −25.3%`."""
    return " ".join(part for part in (f"{cell.text} µs", signed(cell.lost)) if part)


def longest(table: PriceTable) -> float:
    """The largest value that a picture of the table shows."""
    return max(c.value or 0.0 for column in drawn_columns(table) for c in column.cells) or 1.0


def _panel(table: PriceTable, implementations: Mapping[str, ShownImplementation]) -> Panel:
    columns = drawn_columns(table)
    scale = (PANEL - GUTTER - ROOM) / longest(table)
    names: list[dict[str, Any]] = []
    words: list[dict[str, Any]] = []
    bars: list[dict[str, Any]] = []
    figures: list[dict[str, Any]] = []
    y = 0
    for number, implementation in enumerate(table.implementations):
        shown = implementations[implementation]
        for text in wrapped(shown.label):
            y += LINE
            names.append({"y": y - 3, "text": text})
        for column, shade in zip(columns, SHADES, strict=False):
            cell = column.cells[number]
            y += LINE
            words.append({"y": y - 3, "text": COLUMNS[column.id]})
            if cell.value is None:
                figures.append({"x": GUTTER, "y": y - 3, "text": cell.text})
                continue
            end = GUTTER + scale * cell.value
            bars.append(
                {
                    "colour": shown.colour,
                    "shade": shade,
                    "x": GUTTER,
                    "end": end,
                    "y": y - 2 - BAR,
                    "low": y - 2,
                }
            )
            figures.append({"x": end + 4, "y": y - 3, "text": figure_text(cell)})
        y += AFTER
    layers = [
        _bars(bars),
        text_at(names, 0, fontWeight=600),
        text_at(words, 0),
        {
            "data": {"values": figures},
            "mark": {"type": "text", "align": "left", "baseline": "alphabetic", "color": TEXT},
            "encoding": {"x": pixel("x"), "y": pixel("y"), "text": {"field": "text"}},
        },
    ]
    return panel([table.side.capitalize()], layers, (PANEL, y))


def _bars(bars: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        "data": {"values": sorted(bars, key=lambda bar: (str(bar["colour"]), bar["shade"]))},
        "mark": "rect",
        "encoding": {
            "x": pixel("x"),
            "x2": {"field": "end"},
            "y": pixel("y"),
            "y2": {"field": "low"},
            "color": colour_channel(sorted({str(bar["colour"]) for bar in bars})),
            "fillOpacity": {"field": "shade", "type": "quantitative", "scale": None},
        },
    }


def described_bars(table: PriceTable, number: int) -> str:
    """The bars of one library in words: `X25519 82.13 µs, hybrid 110.2 µs, 25.3% lost`."""
    parts = []
    for column in drawn_columns(table):
        cell = column.cells[number]
        lost = cell.lost.text.partition(" (")[0] if cell.lost else ""
        figure = cell.text if cell.value is None else f"{cell.text} µs"
        parts += [f"{COLUMNS[column.id]} {figure}", *([lost] if lost else [])]
    return ", ".join(parts)


def _described(table: PriceTable, implementations: Mapping[str, ShownImplementation]) -> str:
    libraries = [
        f"{implementations[i].label}: {described_bars(table, number)}"
        for number, i in enumerate(table.implementations)
    ]
    return f"{table.side.capitalize()}: {'; '.join(libraries)}"
