"""data.js of github-action-benchmark: the history that its page draws, with a set for each host.

Format: https://github.com/benchmark-action/github-action-benchmark, `DataJson` in src/write.ts and
the page in src/default_index_html.ts. A report is one commit, whose id is that of the report, with an
entry for each direction. What others wrote into the file is kept.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, ValidationError

from tlsperf.contract.errors import FormatError, mismatch
from tlsperf.load.config import read_site
from tlsperf.load.json_text import line_of, parse_json
from tlsperf.load.rows import decode
from tlsperf.publish.exchange.github_action import entries
from tlsperf.publish.exchange.publication import Publication
from tlsperf.publish.exchange.series import measured_at, series_of

_BEFORE: Final = "window.BENCHMARK_DATA = "
_HALF: Final = re.compile("[\ud800-\udfff]")
_TOOLS: Final = {"higher": "customBiggerIsBetter", "lower": "customSmallerIsBetter"}


class _Read(BaseModel):
    """What the page and the action need; there may be more."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False)


class _Commit(_Read):
    id: str


class _Bench(_Read):
    name: str
    unit: str
    value: float


class _Entry(_Read):
    commit: _Commit
    date: float
    tool: str
    benches: list[_Bench]


class DataJson(_Read):
    repoUrl: str  # noqa: N815
    entries: dict[str, list[_Entry]]


def data_js(publication: Publication) -> dict[str, str]:
    """A file with the report alone."""
    empty = {"lastUpdate": 0, "repoUrl": "", "entries": {}}
    return {"data.js": _text(publication, empty)} if series_of(publication) else {}


def appended(file: Path, publication: Publication) -> str:
    """The text of a file with a report, in place of what it had of it. Raises FormatError."""
    return _text(publication, _read(file)) if file.exists() else data_js(publication)["data.js"]


def _text(publication: Publication, data: dict[str, Any]) -> str:
    """The same for any order in which reports are added, and at any time."""
    report = publication.results
    sets = {
        name: [entry for entry in of if entry["commit"]["id"] != report.id]
        for name, of in data["entries"].items()
    }
    site = read_site(publication.root)
    day = measured_at(report)
    published = next((run.source.url for run in report.runs if run.source and run.source.url), "")
    head = {
        "commit": {
            "id": report.id,
            "message": report.title,
            "timestamp": day.isoformat(),
            "url": f"{site.address}/perf/{report.of}/" if site.address else published,
            # Without a committer, the page shows nothing of a point.
            "committer": {"username": "tlsperf"},
        },
        "date": round(1000 * day.timestamp()),
    }
    for series in series_of(publication):
        for better, benches in entries(report.id, series).items():
            entry = {**head, "tool": _TOOLS[better], "benches": benches}
            sets.setdefault(series.key, []).append(entry)
    kept = {
        name: sorted(of, key=lambda it: (it["date"], it["commit"]["id"], it["tool"]))
        for name, of in sorted(sets.items())
        if of
    }
    newest = max((entry["date"] for of in kept.values() for entry in of), default=0)
    link = data["repoUrl"] or site.extra.repository or site.address or ""
    table = {**data, "lastUpdate": newest, "repoUrl": link, "entries": kept}
    text = json.dumps(table, indent=2, ensure_ascii=False)
    # Half a surrogate pair is JSON as an escape, and no text.
    text = _HALF.sub(lambda half: f"\\u{ord(half[0]):04x}", text)
    return f"{_BEFORE}{text}\n"


def _read(file: Path) -> dict[str, Any]:
    name = str(file)
    text = decode(file.read_bytes(), name)
    if not text.startswith(_BEFORE):
        raise FormatError(name, 1, repr(text[: len(_BEFORE)]), repr(_BEFORE))
    data = parse_json(text.removeprefix(_BEFORE), name)
    try:
        DataJson.model_validate(data)
    except ValidationError as error:
        place = error.errors()[0]["loc"]
        line = line_of(text, str(place[min(1, len(place) - 1)])) if place else 1
        raise mismatch(error, name, line) from None
    found: dict[str, Any] = data
    return found
