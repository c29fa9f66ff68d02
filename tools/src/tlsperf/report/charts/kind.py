"""The interface of a kind of chart: which tables it applies to, and what it draws."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from tlsperf.contract.record import Scenario
from tlsperf.contract.results import Chart, Key, Row, ShownImplementation, Table
from tlsperf.report.charts.panels import MARGIN, Picture


class Around(NamedTuple):
    """Facts about the report that a chart's table does not contain."""

    implementations: Mapping[str, ShownImplementation]
    cores: int | None
    """Number of cores of the host; None if there are several hosts."""

    def shown(self, table: Table) -> list[ShownImplementation]:
        """The implementations of a table, in the order of the report."""
        return [i for i in self.implementations.values() if i.id in table.implementations]


class Drawing(NamedTuple):
    """A chart as results.json lists it, and the picture to draw."""

    chart: Chart
    picture: Picture


class Kind(Protocol):
    """A module of this package that draws charts of a report's tables."""

    def applies(self, table: Table) -> bool:
        """Whether this kind draws the table."""

    def draw(self, table: Table, around: Around) -> Iterator[Drawing]:
        """The charts of a table to which this kind applies."""


def draw_first(kinds: Iterable[Kind], table: Table, around: Around) -> Iterator[Drawing]:
    """The charts of a table by the first kind that applies to it; none if no kind does."""
    for kind in kinds:
        if kind.applies(table):
            yield from kind.draw(table, around)
            return


def drawing(
    table: Table, picture: Picture, description: str, note: str = "", legend: Sequence[Key] = ()
) -> Drawing:
    """The chart of a table. `note` explains how to read it; `legend` names its lines."""
    return titled(table.anchor, table.title, picture, description, note, legend)


def titled(
    anchor: str,
    title: str,
    picture: Picture,
    description: str,
    note: str | None,
    legend: Sequence[Key] = (),
    table: str | None = None,
) -> Drawing:
    """A chart by the name of its file, of the table at `anchor` unless `table` is given.

    Its size is that of the picture with margins.
    """
    chart = Chart(
        anchor=f"chart-{anchor}",
        file=f"{anchor}.svg",
        title=title,
        description=description,
        note=note or None,
        keys=list(legend),
        width=picture.width + 2 * MARGIN,
        height=picture.height + 2 * MARGIN,
        table=table or anchor,
    )
    return Drawing(chart, picture)


def groups_of(table: Table, *without: str) -> dict[Scenario, list[Row]]:
    """The rows of a table by their scenario with the fields `without` removed."""
    groups: dict[Scenario, list[Row]] = {}
    for row in table.rows:
        rest = row.scenario.model_copy(update=dict.fromkeys(without))
        groups.setdefault(rest, []).append(row)
    return groups
