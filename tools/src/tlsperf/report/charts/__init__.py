"""The charts of a report: one module for each kind, listed here."""

from __future__ import annotations

from typing import Final

from tlsperf.contract.results import Results
from tlsperf.report.charts import (
    bars,
    heatmap,
    key_exchange,
    latency,
    layouts,
    memory,
    set_up,
    threads,
    versions,
    working_set,
)
from tlsperf.report.charts.kind import Around, Drawing, Kind, draw_first
from tlsperf.report.prices import drawn_prices

KINDS: Final[tuple[Kind, ...]] = (
    layouts,
    threads,
    latency,
    memory,
    set_up,
    versions,
    key_exchange,
    working_set,
    heatmap,
    bars,
)
"""The first kind that applies to a table draws it."""


def charts_of(results: Results) -> list[Drawing]:
    """The charts of a report in the order of its tables, after those of its price list.

    `svg.draw` makes each file.
    """
    cores = {host.cores for host in results.hosts}
    around = Around(
        implementations={i.id: i for i in results.implementations},
        cores=cores.pop() if len(cores) == 1 else None,
    )
    of_prices = [
        drawing
        for table in drawn_prices(results.prices or ())
        for drawing in draw_first([bars], table, around)
    ]
    of_tables = [
        drawing
        for table in results.tables
        if not table.by_phase and not threads.doubled(table, results.tables)
        for drawing in draw_first(KINDS, table, around)
    ]
    return [*of_prices, *of_tables]
