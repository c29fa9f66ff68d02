"""One scenario over the reports of a host: a line for each library, broken at
incomparable reports.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

from tlsperf.contract.index import TrendLine, TrendMark
from tlsperf.contract.metrics import Unit
from tlsperf.contract.results import Key
from tlsperf.report.charts.lines import Line, Point, lines
from tlsperf.report.charts.panels import SINGLE, grid
from tlsperf.report.charts.picture import Picture

HEIGHT = 170


class Trend(NamedTuple):
    """The picture of a trend, how to read it, and its legend."""

    picture: Picture
    note: str
    keys: list[Key]


def trend(
    drawn: Sequence[TrendLine],
    dates: Sequence[date],
    marks: Sequence[TrendMark],
    unit: Unit,
    better: str,
) -> Trend:
    """The chart of lines with cells at `dates`.

    A mark is drawn between its report and the one before it, because the day of the change is
    unknown.
    """
    days = [day.toordinal() for day in dates]
    order = [cell.report for cell in drawn[0].cells]
    at = {report: (days[i - 1] + days[i]) / 2 for i, report in enumerate(order) if i}
    gaps = {order.index(mark.report) for mark in marks if mark.gap and mark.report in at}
    texts: dict[str, list[str]] = {}
    for mark in marks:
        if mark.report in at:
            texts.setdefault(mark.report, []).append(mark.text)
    pieces = []
    for line in drawn:
        runs: list[list[Point]] = [[]]
        for i, cell in enumerate(line.cells):
            if i in gaps and runs[-1]:
                runs.append([])
            if cell.value is not None:
                runs[-1].append(Point(days[i], cell.value))
        pieces += [Line(line.colour, points) for points in runs if points]
    span = max(days[-1] - days[0], 1)
    months = {d: f"{day:%b %Y}" for d, day in zip(days, dates, strict=True)}
    names = ",".join(f"{d}:'{month}'" for d, month in months.items())
    plot = lines(
        [],
        pieces,
        x_axis={
            "values": list(months),
            "labelExpr": f"{{{names}}}[datum.value]",
            "labelOverlap": "parity",
            "labelSeparation": 8,
        },
        x_domain=(days[0] - 0.1 * span, days[-1] + 0.1 * span),
        marks=[at[report] for report in texts],
        width=SINGLE,
        height=HEIGHT,
    )
    note = f"{unit} by date of the report, {better} is better; the scale begins at zero."
    if texts:
        note += " Dashed, from left: " + "; ".join(", ".join(t) for t in texts.values()) + "."
    keys = [Key(label=line.name, colour=line.colour) for line in drawn]
    return Trend(grid([plot]), note, keys)
