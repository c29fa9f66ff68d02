"""One scenario through the reports of a host: a line a library, broken where not comparable."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from tlsperf.contract.index import TrendLine, TrendMark
from tlsperf.contract.metrics import Unit
from tlsperf.report.charts.lines import Line, Mark, Point, lines
from tlsperf.report.charts.picture import Picture

HEIGHT = 220


def trend(
    drawn: Sequence[TrendLine],
    dates: Sequence[date],
    marks: Sequence[TrendMark],
    unit: Unit,
    better: str,
) -> Picture:
    """The chart of lines whose cells are at `dates`; a mark lies between its report and the one
    before it, as nobody knows when it came."""
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
        runs = [points for points in runs if points]
        pieces += [Line((), line.colour, points) for points in runs[:-1]]
        pieces.append(Line([line.name], line.colour, runs[-1]))
    span = max(days[-1] - days[0], 1)
    months = {d: f"{day:%b %Y}" for d, day in zip(days, dates, strict=True)}
    names = ",".join(f"{d}:'{month}'" for d, month in months.items())
    return lines(
        pieces,
        x_title="date of the report",
        y_title=f"{unit}, {better} is better",
        x_axis={"values": list(months), "labelExpr": f"{{{names}}}[datum.value]"},
        x_domain=(days[0] - 0.06 * span, days[-1] + 0.06 * span),
        marks=[Mark(at[report], words) for report, words in texts.items()],
        height=HEIGHT,
    )
