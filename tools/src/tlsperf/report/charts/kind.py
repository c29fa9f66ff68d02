"""What a kind of chart is: which tables it serves, and what it draws of one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple, Protocol

from tlsperf.contract.names import scenario_anchor, scenario_name
from tlsperf.contract.record import Scenario
from tlsperf.contract.results import Chart, Row, ShownImplementation, Table
from tlsperf.report.charts.picture import Picture

if TYPE_CHECKING:
    from tlsperf.load.histograms import Histograms


class Around(NamedTuple):
    """What a report has besides the table that a chart is drawn of."""

    implementations: Mapping[str, ShownImplementation]
    cores: int | None
    """Of the host; None where there are several hosts."""
    histograms: Histograms


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
    table: Table, picture: Picture, description: str, scenario: Scenario | None = None
) -> Drawing:
    """A chart of a table, or of the rows of one scenario in it."""
    kind = table.anchor.rpartition("-")[2]
    name = f"{scenario_anchor(scenario)}-{kind}" if scenario else table.anchor
    chart = Chart(
        anchor=f"chart-{name}",
        file=f"{name}.svg",
        title=f"{table.title}: {scenario_name(scenario)}" if scenario else table.title,
        description=description,
        width=picture.width,
        height=picture.height,
        table=table.anchor,
    )
    return Drawing(chart, picture)


def groups_of(table: Table, *without: str) -> dict[Scenario, list[Row]]:
    """Rows of a table by scenario but for some fields, in their order."""
    groups: dict[Scenario, list[Row]] = {}
    for row in table.rows:
        rest = row.scenario.model_copy(update=dict.fromkeys(without))
        groups.setdefault(rest, []).append(row)
    return groups
