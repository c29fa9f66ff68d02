"""Rate over the number of threads, with a panel for each scenario and the cores marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from tlsperf.contract.results import Cell, Table
from tlsperf.contract.text import counted
from tlsperf.report.charts.kind import Around, Drawing
from tlsperf.report.charts.lines import Point, lines_over, point_of

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
    most = max(row.scenario.threads or 0 for row in table.rows)
    cores = [around.cores] if around.cores and around.cores <= most else []
    ticks = {"values": list(range(1, most + 1))} if most <= _FEW else {"tickCount": 5}
    note = f"{table.unit} over the number of threads; each scale begins at zero."
    yield lines_over(
        table,
        around,
        ("threads",),
        lambda row, cell: point_of(row.scenario.threads, cell),
        _ends,
        description=f"Lines over the number of threads, in {table.unit}.",
        note=note + "".join(f" Dashed: the {counted(n, 'core')} of the host." for n in cores),
        x_axis={"format": "d", **ticks},
        x_domain=(0, most),
        marks=cores,
    )


def _ends(found: Sequence[tuple[Point, Cell]]) -> str:
    (fewest, first), (most, last) = found[0], found[-1]
    return (
        f" from {first.text} with {counted(int(fewest.x), 'thread')} "
        f"to {last.text} with {most.x:.0f}"
    )
