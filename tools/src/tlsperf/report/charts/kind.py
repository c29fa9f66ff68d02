"""What a kind of chart is: which tables it serves, and what it draws of one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from tlsperf.contract.record import Scenario
from tlsperf.contract.results import Chart, Key, Row, ShownImplementation, Table
from tlsperf.report.charts.head import MARGIN, head_of
from tlsperf.report.charts.picture import Picture


class Around(NamedTuple):
    """What a report has besides the table that a chart is drawn of."""

    implementations: Mapping[str, ShownImplementation]
    cores: int | None
    """Of the host; None where there are several hosts."""

    def shown(self, table: Table) -> list[ShownImplementation]:
        """The implementations of a table, in the order of the report."""
        return [i for i in self.implementations.values() if i.id in table.implementations]


class Drawing(NamedTuple):
    """A chart as results.json lists it, and what is drawn."""

    chart: Chart
    picture: Picture


class Kind(Protocol):
    """A module of this package that draws charts of a report's tables."""

    def applies(self, table: Table) -> bool:
        """Whether it serves a table."""

    def draw(self, table: Table, around: Around) -> Iterator[Drawing]:
        """The charts of a table that it serves."""


def draw_first(kinds: Iterable[Kind], table: Table, around: Around) -> Iterator[Drawing]:
    """The charts of a table by the first kind that serves it; none where no kind does."""
    for kind in kinds:
        if kind.applies(table):
            yield from kind.draw(table, around)
            return


def drawing(
    table: Table, picture: Picture, description: str, note: str = "", legend: Sequence[Key] = ()
) -> Drawing:
    """The chart of a table. `note` says how to read it, and `legend` what its lines are."""
    chart = Chart(
        anchor=f"chart-{table.anchor}",
        file=f"{table.anchor}.svg",
        title=table.title,
        description=description,
        note=note or None,
        keys=list(legend),
        width=picture.width,
        height=picture.height,
        table=table.anchor,
    )
    return headed(chart, picture)


def headed(chart: Chart, picture: Picture) -> Drawing:
    """A chart as large as its picture with title, note and legend above it, and its margins."""
    chart = chart.model_copy(update={"width": picture.width + 2 * MARGIN})
    height = head_of(chart).height + picture.height + MARGIN
    return Drawing(chart.model_copy(update={"height": height}), picture)


def groups_of(table: Table, *without: str) -> dict[Scenario, list[Row]]:
    """Rows of a table by scenario but for some fields, in their order."""
    groups: dict[Scenario, list[Row]] = {}
    for row in table.rows:
        rest = row.scenario.model_copy(update=dict.fromkeys(without))
        groups.setdefault(rest, []).append(row)
    return groups
