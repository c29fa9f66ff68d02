"""Set-ups: bars of time, for many implementations too.

A matrix of factors would not show whether a set-up takes a microsecond or a second.
"""

from __future__ import annotations

from collections.abc import Iterator

from tlsperf.contract.results import Table
from tlsperf.report.charts import bars
from tlsperf.report.charts.kind import Around, Drawing


def applies(table: Table) -> bool:
    """Whether a table has times of set-ups, and few enough bars."""
    is_set_up = all(row.scenario.operation == "set-up" for row in table.rows)
    return is_set_up and table.unit == "µs" and bars.applies(table)


def draw(table: Table, around: Around) -> Iterator[Drawing]:
    """One chart of the whole table."""
    yield bars.bars_of(table, around.implementations)
