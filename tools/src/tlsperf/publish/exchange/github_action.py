"""The JSON of github-action-benchmark's custom tools.

Format: https://github.com/benchmark-action/github-action-benchmark, `customBiggerIsBetter` and
`customSmallerIsBetter`. One file holds one direction.
"""

from __future__ import annotations

import json
from typing import Final

from tlsperf.contract.metrics import METRICS
from tlsperf.publish.exchange.publication import Publication

_FILES: Final = {"higher": "bigger-is-better.json", "lower": "smaller-is-better.json"}


def github_action(publication: Publication) -> dict[str, str]:
    """The files, one for each direction. `range` is half the width of the interval; `extra` names
    the report and the row.
    """
    entries: dict[str, list[dict[str, object]]] = {}
    for table, row, cell, value in publication.figures:
        # Times, bytes and calls of one scenario are rows of one name, and charts of their own.
        of = "" if METRICS[row.metric].primary else f", {row.metric.replace('-', ' ')}"
        entry: dict[str, object] = {
            "name": f"{row.name}{of} ({cell.implementation})",
            "unit": table.unit,
            "value": value,
        }
        if cell.low is not None and cell.high is not None:
            entry["range"] = f"± {(cell.high - cell.low) / 2:.4g}"
        entry["extra"] = f"{publication.results.id}#{row.anchor}"
        entries.setdefault(_FILES[table.better], []).append(entry)
    return {
        name: json.dumps(listed, indent=1, ensure_ascii=False) + "\n"
        for name, listed in entries.items()
    }
