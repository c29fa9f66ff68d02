"""The JSON of github-action-benchmark's custom tools.

Format: https://github.com/benchmark-action/github-action-benchmark, `customBiggerIsBetter` and
`customSmallerIsBetter`. One file holds one direction.
"""

from __future__ import annotations

import json
from typing import Any, Final

from tlsperf.publish.exchange.publication import Publication
from tlsperf.publish.exchange.series import HostSeries, series_of, version_of

FILES: Final = {"higher": "bigger-is-better.json", "lower": "smaller-is-better.json"}


def github_action(publication: Publication) -> dict[str, str]:
    """The files of each host, one for each direction."""
    return {
        f"{of.folder}{FILES[better]}": json.dumps(listed, indent=1, ensure_ascii=False) + "\n"
        for of in series_of(publication)
        for better, listed in entries(publication.results.id, of).items()
    }


def entries(report: str, of: HostSeries) -> dict[str, list[dict[str, Any]]]:
    """The entries of a host by direction, `higher` or `lower`.

    `range` is half the width of the interval; `extra` is what the name leaves out.
    """
    found: dict[str, list[dict[str, Any]]] = {}
    for name, shown, (table, row, cell, value) in of.points:
        entry: dict[str, Any] = {"name": name, "unit": table.unit, "value": value}
        if cell.low is not None and cell.high is not None:
            entry["range"] = f"± {(cell.high - cell.low) / 2:.4g}"
        facts = {
            "version": version_of(shown),
            "commit": shown.commit,
            "host": f"{of.key}, {of.name}",
            "report": f"{report}#{row.anchor}",
        }
        entry["extra"] = "\n".join(f"{fact}: {said}" for fact, said in facts.items() if said)
        found.setdefault(table.better, []).append(entry)
    return found
