"""Finds figures that pages over several reports show differently: a quantity has one newest figure.

A quantity is the figure, or the ratio to a baseline, of a build in a row on a host. A page that
lists reports with their dates shows the older ones too: they do not count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tlsperf.contract.errors import FormatError
from tlsperf.load.json_text import parse_json
from tlsperf.publish.sheets import ratio_parts


class _Quoted(NamedTuple):
    host: str
    label: str
    row: str
    baseline: str | None
    text: str
    report: str


def contradictions(root: Path) -> list[str]:
    """What two of the existing pages show differently, with the newer report's figure expected."""
    found: list[str] = []
    quoted: dict[tuple[str, str, str, str | None], list[tuple[_Quoted, Path]]] = {}
    for path in _pages(root):
        try:
            page = parse_json(path.read_text("utf-8", errors="replace"), str(path))
        except FormatError as error:
            found.append(str(error))
            continue
        for of in _of_sheets(page) if "board" in page or "sheets" in page else _of_scenario(page):
            quoted.setdefault(of[:4], []).append((of, path))
    for several in quoted.values():
        newest, place = max(several, key=lambda of: of[0].report)
        for of, path in several:
            if of.text != newest.text:
                what = f"{of.text} for {of.label}, {of.row} on {of.host}"
                found.append(f"{path}: found {what}, expected {newest.text} ({place})")
    return list(dict.fromkeys(found))


def _pages(root: Path) -> Iterator[Path]:
    content = root / "content"
    yield from sorted(content.glob("questions/*/question.json"))
    yield from sorted(content.glob("scenarios/*/page.json"))
    yield from root.glob("data/scoreboard.json")


def _of_sheets(page: Mapping[str, Any]) -> Iterator[_Quoted]:
    """The cells of questions and of the scoreboard that repeat those of a report."""
    for sheet in [page["board"]] if "board" in page else page["sheets"]:
        for row in sheet["rows"]:
            for cell in row["cells"]:
                if kind := cell.get("quotes"):
                    report, _, anchor = cell["href"].removeprefix("perf/").partition("/#")
                    baseline = page["baseline"] if kind == "ratio" else None
                    about = sheet["host"], row["label"], anchor
                    yield _Quoted(*about, baseline, cell["text"], report)


def _of_scenario(page: Mapping[str, Any]) -> Iterator[_Quoted]:
    """The figures of the newest report."""
    reports = page.get("reports", [])[:1]
    for report in reports:
        for of in report["figures"]:
            about = of["host"], of["label"], page["id"]
            yield _Quoted(*about, None, of["text"], report["id"])
            if "ratio" in of:
                text, _ = ratio_parts(of["ratio"])
                yield _Quoted(*about, report["baseline"], text, report["id"])
