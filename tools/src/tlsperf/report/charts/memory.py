"""Memory by number of sessions: the slope is the cost of one more session."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import linear_regression

from tlsperf.contract.metrics import METRICS
from tlsperf.contract.results import Cell, Row, Table
from tlsperf.contract.variant import parse_variant
from tlsperf.report.charts.kind import Around, Drawing
from tlsperf.report.charts.lines import Point, lines_over

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
    yield lines_over(
        table,
        around,
        ("variant",),
        _point,
        _cost,
        printed=True,
        description="Memory over the number of sessions, with the slope of each line.",
        note="MiB over the sessions that a process holds, lower is better; each scale begins at "
        "zero.",
        x_axis={"tickCount": 3, "format": ",~f"},
        x_domain=(0, max(map(sessions_of, table.rows))),
    )


def _point(row: Row, cell: Cell) -> Point | None:
    if cell.value is None or not cell.valid:
        return None
    return Point(sessions_of(row), cell.value / KIB_PER_MIB)


def _cost(found: Sequence[tuple[Point, Cell]]) -> str:
    cost = slope([point for point, _ in found])
    return "" if cost is None else f": {cost * KIB_PER_MIB:.1f} KiB a session"
