"""Tables of percentiles or of threads, turned for a page: what rows differ in becomes columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tlsperf.contract.names import scenario_name
from tlsperf.contract.record import Scenario
from tlsperf.contract.results import Row, Table
from tlsperf.contract.text import counted
from tlsperf.report.charts.panels import without_title

MOST_COLUMNS: Final = 6
"""That a page is wide enough for."""


@dataclass(frozen=True, slots=True)
class Group:
    """Rows of a table that become columns: their places in the table, and their heads."""

    name: str
    rows: list[int]
    heads: list[str]


def pivot(table: Table) -> list[Group] | None:
    """The groups of a table's rows.

    None where rows do not differ in their percentile alone, or in their threads alone.
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


def _head(row: Row, latency: bool) -> str:
    if latency:
        return row.statistic
    return counted(row.scenario.threads, "thread") if row.scenario.threads else "threads"
