"""Rate over the number of threads, with a panel for each scenario and the cores marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from tlsperf.contract.names import scenario_name
from tlsperf.contract.results import Table
from tlsperf.contract.text import counted
from tlsperf.report.charts.kind import Around, Drawing, drawing, groups_of
from tlsperf.report.charts.lines import lines, lines_of
from tlsperf.report.charts.panels import grid, keys, titles, without_title

_FEW: Final = 8
"""Up to this number of threads, each number has a tick, because fewer ticks would be fractions."""


def applies(table: Table) -> bool:
    return table.anchor.endswith(("-threads", "-per-thread"))


def doubled(table: Table, tables: Sequence[Table]) -> bool:
    """Whether a table is of the median thread, and another one has all threads together."""
    whole = table.anchor.replace("-per-thread", "-both-sides-threads")
    return whole != table.anchor and any(other.anchor == whole for other in tables)


def draw(table: Table, around: Around) -> Iterator[Drawing]:
    """One chart with a panel for each scenario."""
    groups = groups_of(table, "threads")
    shown = around.shown(table)
    labels = {i.id: i.label for i in shown}
    most = max(row.scenario.threads or 0 for row in table.rows)
    marks = [around.cores] if around.cores and around.cores <= most else []
    axis = {"values": list(range(1, most + 1))} if most <= _FEW else {"tickCount": 5}
    names = without_title([scenario_name(s) for s in groups], table.title)
    panels, ends = [], []
    for title, name, rows in zip(titles(names), names, groups.values(), strict=True):
        cells = {
            i.id: [
                (row.scenario.threads, cell)
                for row in rows
                for cell in row.cells
                if cell.implementation == i.id and cell.value is not None and row.scenario.threads
            ]
            for i in shown
        }
        ends.append(
            f"{name}: "
            + "; ".join(
                f"{labels[first.implementation]} from {first.text} with "
                f"{counted(rows[0].scenario.threads or 0, 'thread')} to {last.text} with "
                f"{rows[-1].scenario.threads}"
                for first, last in zip(rows[0].cells, rows[-1].cells, strict=True)
                if first.value is not None and last.value is not None
            )
        )
        panels.append(
            lines(
                title,
                lines_of(shown, cells),
                x_axis={"format": "d", **axis},
                x_domain=(0, most),
                marks=marks,
            )
        )
    note = f"{table.unit} over the number of threads; each scale begins at zero."
    if marks:
        note += f" Dashed: the {counted(around.cores or 0, 'core')} of the host."
    description = f"Lines over the number of threads, in {table.unit}. {'. '.join(ends)}."
    yield drawing(table, grid(panels), description, note, keys(shown))
