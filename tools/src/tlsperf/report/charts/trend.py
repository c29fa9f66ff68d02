"""One scenario over the reports of a host: a line for each library, broken at
incomparable reports.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from tlsperf.contract.index import TrendLine, TrendMark
from tlsperf.contract.metrics import Unit
from tlsperf.contract.results import Key
from tlsperf.report.charts.kind import Drawing, titled
from tlsperf.report.charts.lines import AS_MANY_AS_FIT, Point, broken, lines
from tlsperf.report.charts.panels import SINGLE, grid

HEIGHT = 170


def trend(
    anchor: str,
    title: str,
    description: str,
    drawn: Sequence[TrendLine],
    dates: Sequence[date],
    marks: Sequence[TrendMark],
    unit: Unit,
    better: str,
    table: str | None = None,
) -> Drawing:
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
        points: list[Point | None] = []
        for i, cell in enumerate(line.cells):
            if i in gaps:
                points.append(None)
            if cell.value is not None:
                points.append(Point(days[i], cell.value))
        pieces += broken(line.colour, points)
    span = max(days[-1] - days[0], 1)
    plot = lines(
        [],
        pieces,
        names={d: [f"{day:%b %Y}"] for d, day in zip(days, dates, strict=True)},
        x_axis=AS_MANY_AS_FIT,
        x_domain=(days[0] - 0.1 * span, days[-1] + 0.1 * span),
        marks=[at[report] for report in texts],
        width=SINGLE,
        height=HEIGHT,
    )
    note = f"{unit} by date of the report, {better} is better; the scale begins at zero."
    if texts:
        note += " Dashed, from left: " + "; ".join(", ".join(t) for t in texts.values()) + "."
    keys = [Key(label=line.name, colour=line.colour) for line in drawn]
    return titled(anchor, title, grid([plot]), description, note, keys, table)
