"""Groups the rows of a table that differ in one field, for a page.

Percentiles or threads become columns; working sets are rows below one name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tlsperf.contract.names import scenario_name, size_name
from tlsperf.contract.record import Scenario
from tlsperf.contract.results import Row, Table
from tlsperf.contract.text import counted
from tlsperf.report.charts import working_set
from tlsperf.report.charts.panels import without_title

MOST_COLUMNS: Final = 6
"""Limit of columns that fit into the width of a page."""


@dataclass(frozen=True, slots=True)
class Group:
    """Rows of a table in one group: their indices in the table, and their names in the group."""

    name: str
    rows: list[int]
    heads: list[str]


def pivot(table: Table) -> list[Group] | None:
    """The groups of a table's rows.

    None unless the rows of each group differ only in their percentile, or only in their threads.
    """
    latency = table.anchor.endswith("-latency")
    if not latency and not table.anchor.endswith(("-threads", "-per-thread")):
        return None
    groups: dict[Scenario, list[tuple[int, Row]]] = {}
    for at, row in enumerate(table.rows):
        same = row.scenario if latency else row.scenario.model_copy(update={"threads": None})
        groups.setdefault(same, []).append((at, row))
    if any(not 2 <= len(rows) <= MOST_COLUMNS for rows in groups.values()):
        return None
    names = without_title([scenario_name(scenario) for scenario in groups], table.title)
    return [
        Group(name, [at for at, _ in rows], [_head(row, latency) for _, row in rows])
        for name, rows in zip(names, groups.values(), strict=True)
    ]


def working_sets(table: Table) -> list[Group] | None:
    """The groups of a table whose rows differ in their bytes in flight alone; None of others."""
    if not working_set.applies(table) or table.by_phase:
        return None
    groups: dict[Scenario, list[int]] = {}
    for at, row in enumerate(table.rows):
        groups.setdefault(row.scenario.model_copy(update={"in_flight": None}), []).append(at)
    names = without_title([scenario_name(scenario) for scenario in groups], table.title)
    return [
        Group(
            name,
            rows,
            [f"{size_name(table.rows[at].scenario.in_flight or 0)} in flight" for at in rows],
        )
        for name, rows in zip(names, groups.values(), strict=True)
    ]


def _head(row: Row, latency: bool) -> str:
    if latency:
        return row.statistic
    return counted(row.scenario.threads, "thread") if row.scenario.threads else "threads"
