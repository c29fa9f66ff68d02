"""Memory by number of sessions: the slope is the cost of one more session."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import linear_regression

from tlsperf.contract.metrics import METRICS
from tlsperf.contract.names import scenario_name
from tlsperf.contract.results import Row, Table
from tlsperf.contract.variant import parse_variant
from tlsperf.report.charts.kind import Around, Drawing, drawing, groups_of
from tlsperf.report.charts.lines import Line, Point, lines
from tlsperf.report.charts.panels import dashes_of, grid, keys, titles, without_title, wrapped

KIB_PER_MIB = 1024


def applies(table: Table) -> bool:
    return METRICS[table.rows[0].metric].charts.get(table.unit) == "sessions"


def sessions_of(row: Row) -> int:
    """The number of sessions in a row's variant (`sessions-1000`). Raises ValueError
    without one.
    """
    variant = parse_variant(row.scenario.variant) if row.scenario.variant else None
    if variant is None or variant.kind != "sessions" or variant.number is None:
        raise ValueError(f"{row.anchor}: variant {row.scenario.variant!r}, not sessions-<number>")
    return variant.number


def slope(points: Sequence[Point]) -> float | None:
    """Least-squares slope: units of y for one more of x; None for fewer than two points."""
    if len({p.x for p in points}) < 2:
        return None
    return linear_regression([p.x for p in points], [p.y for p in points]).slope


def draw(table: Table, around: Around) -> Iterator[Drawing]:
    """One chart of rows in KiB: a panel for each scenario, with the slope of each line as text."""
    groups = groups_of(table, "variant")
    names = without_title([scenario_name(s) for s in groups], table.title)
    shown = around.shown(table)
    dash = dashes_of(shown)
    panels, texts = [], []
    for title, name, rows in zip(titles(names), names, groups.values(), strict=True):
        drawn, slopes = [], []
        for i in shown:
            points = [
                Point(sessions_of(row), cell.value / KIB_PER_MIB)
                for row in sorted(rows, key=sessions_of)
                for cell in row.cells
                if cell.implementation == i.id and cell.value is not None and cell.valid
            ]
            if points:
                cost = slope(points)
                costs = [] if cost is None else [f"{cost * KIB_PER_MIB:.1f} KiB a session"]
                drawn.append(Line(i.colour, points, dash[i.id]))
                slopes.append(": ".join([i.label, *costs]))
        words = [line for text in slopes for line in wrapped(text)]
        most = max(p.x for line in drawn for p in line.points)
        panels.append(
            lines(
                title,
                drawn,
                words=words,
                x_axis={"tickCount": 3, "format": ",~f"},
                x_domain=(0, most),
            )
        )
        texts.append(f"{name}: {'; '.join(slopes)}")
    note = "MiB over the sessions that a process holds, lower is better; each scale begins at zero."
    description = (
        f"Memory over the number of sessions, with the slope of each line. {'. '.join(texts)}."
    )
    yield drawing(table, grid(panels), description, note, keys(shown))
