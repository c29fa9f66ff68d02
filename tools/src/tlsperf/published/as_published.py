"""The comparison tables of a source, for the report that shows its data."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tlsperf.analysis.series import MeasuredRun
from tlsperf.contract.comparisons import Definition
from tlsperf.contract.results import PublishedTable
from tlsperf.published.published_tables import lines_of


def as_published(
    definitions: Sequence[Definition], runs: Sequence[MeasuredRun]
) -> list[PublishedTable]:
    """The tables that were published of these runs, computed from the data."""
    by_id = {run.id: run for run in runs}
    shown = []
    for definition in definitions:
        if definition.run not in by_id:
            continue
        header, *lines = lines_of(definition, by_id[definition.run])
        if definition.layout == "memory":
            title = definition.table[0].title
            shown.append(_table(title, ["Cipher suite", "TLS", "Sessions", *header[3:]], lines))
            continue
        for table in definition.table:
            rows = [
                [label, *figures] for title, label, _, _, *figures in lines if title == table.title
            ]
            columns = ["Scenario", table.left_label, table.right_label, "Factor"]
            shown.append(_table(table.title, columns, rows))
    return shown


def _table(title: str, columns: list[str], rows: list[list[str]]) -> PublishedTable:
    anchor = "-".join(re.findall(r"[a-z0-9]+", f"published {title}".lower()))
    return PublishedTable(anchor=anchor, title=title, columns=columns, rows=rows)
