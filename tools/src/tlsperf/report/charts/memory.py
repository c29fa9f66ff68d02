"""Memory by the number of sessions held: the slope is what one session more costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import linear_regression

from tlsperf.contract.metrics import METRICS
from tlsperf.contract.results import Row, ShownImplementation, Table
from tlsperf.contract.variant import parse_variant
from tlsperf.report.charts.kind import Around, Drawing, drawing, groups_of
from tlsperf.report.charts.lines import Line, Point, dashes, end_label, lines
from tlsperf.report.charts.picture import Picture

KIB_PER_MIB = 1024


def applies(table: Table) -> bool:
    return METRICS[table.rows[0].metric].charts.get(table.unit) == "sessions"


def draw(table: Table, around: Around) -> Iterator[Drawing]:
    """A chart for each scenario."""
    for scenario, rows in groups_of(table, "variant").items():
        picture, slopes = memory(rows, around.implementations)
        description = (
            f"Memory over the number of sessions, with the slope of each line. {'; '.join(slopes)}."
        )
        yield drawing(table, picture, description, scenario)


def sessions_of(row: Row) -> int:
    """The number of sessions that a row's variant names (`sessions-1000`)."""
    variant = parse_variant(row.scenario.variant) if row.scenario.variant else None
    if variant is None or variant.kind != "sessions" or variant.number is None:
        raise ValueError(f"{row.anchor}: variant {row.scenario.variant!r}, not sessions-<number>")
    return variant.number


def slope(points: Sequence[Point]) -> float | None:
    """Least-squares slope: unit of y for one more of x; None below two points."""
    if len({p.x for p in points}) < 2:
        return None
    return linear_regression([p.x for p in points], [p.y for p in points]).slope


def memory(
    rows: Sequence[Row], implementations: Mapping[str, ShownImplementation]
) -> tuple[Picture, list[str]]:
    """The chart of rows in KiB that differ in sessions alone, and the slopes in
    words, one for each line."""
    ordered = sorted(rows, key=sessions_of)
    found = []
    for i in implementations.values():
        points = [
            Point(sessions_of(row), cell.value / KIB_PER_MIB)
            for row in ordered
            for cell in row.cells
            if cell.implementation == i.id and cell.value is not None and cell.valid
        ]
        if points:
            found.append((i, points))
    drawn, slopes = [], []
    for (i, points), dash in zip(found, dashes([i.colour for i, _ in found]), strict=True):
        cost = slope(points)
        costs = [] if cost is None else [f"{cost * KIB_PER_MIB:.1f} KiB a session"]
        drawn.append(Line(end_label(i.label, *costs), i.colour, points, dash))
        slopes.append(": ".join([i.label, *costs]))
    picture = lines(
        drawn,
        x_title="sessions held by the process",
        y_title="MiB, lower is better",
        x_axis={"tickCount": 5, "format": ",~f"},
        x_domain=(0, max(p.x for line in drawn for p in line.points)),
    )
    return picture, slopes
