"""The charts of a report: one module for each kind, listed here."""

from __future__ import annotations

from typing import Final

from tlsperf.contract.results import Results
from tlsperf.report.charts import (
    bars,
    heatmap,
    latency,
    layouts,
    memory,
    threads,
    working_set,
)
from tlsperf.report.charts.kind import Around, Drawing, Kind, draw_first

KINDS: Final[tuple[Kind, ...]] = (
    layouts,
    threads,
    latency,
    memory,
    working_set,
    heatmap,
    bars,
)
"""The first kind that applies to a table draws it."""


def charts_of(results: Results) -> list[Drawing]:
    """The charts of a report in the order of its tables; `svg.draw` makes each file.

    Ratios of rates are dots of the picture instead (`report/picture.py`).
    """
    cores = {host.cores for host in results.hosts}
    around = Around(
        implementations={i.id: i for i in results.implementations},
        cores=cores.pop() if len(cores) == 1 else None,
    )
    return [
        drawing
        for table in results.tables
        if not table.by_phase and not threads.doubled(table, results.tables)
        for drawing in draw_first(KINDS, table, around)
    ]
