"""`tlsperf remove`: takes a report out of the site, with the runs that nothing else uses."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from tlsperf.contract.errors import UserError
from tlsperf.contract.record import Identifier
from tlsperf.contract.run import Report
from tlsperf.load.page import read_pages
from tlsperf.load.run import read_runs
from tlsperf.publish.assemble import unknown_report
from tlsperf.publish.files import replace_file
from tlsperf.publish.index import reports_json
from tlsperf.publish.render import REPORTS

_TEXTS: Final = (
    *("content/perf/*/index.md", "content/perf/*/page.json", "content/*.md", "content/blog/*"),
    *("content/*/_index.md", "*.md"),
    *(
        "data/hosts/*.toml",
        "data/comparisons/*.toml",
        "docs/*.md",
        "tools/benchmarks/*",
        "scripts/*",
    ),
)
"""Where a run or a report is used or named, besides data/notes.toml."""


def remove_report(root: Path, name: Identifier) -> list[str]:
    """Removes a report; returns a line for each thing that went, stayed, or has to be changed.

    A run stays if a report, a noise floor, a host or a guide names it. Raises UserError if there is
    no such report, or if another page names it, and then removes nothing.
    """
    pages = read_pages(root)
    page = next((page for page in pages if page.report.id == name), None)
    if page is None:
        raise UserError(unknown_report(name, [page.report.id for page in pages]))
    texts = {
        path: path.read_text(encoding="utf-8", errors="replace")
        for pattern in _TEXTS
        for path in sorted(root.glob(pattern))
        if path.is_file() and path.parent != page.path.parent
    }
    others = [other.report for other in pages if other is not page]
    used = {run: _naming(re.escape(run), texts, root) for run in page.report.runs}
    needed = rf"perf/{re.escape(name)}|\b(?:report|previous)\s*=\s*[\"']{re.escape(name)}"
    if links := _naming(needed, texts, root):
        raise UserError(f"{name} is linked from {', '.join(links)}: take the links out first")
    taken = [run for run in page.report.runs if not used[run]]
    lines = [f"removed content/perf/{name}"]
    shutil.rmtree(page.path.parent)
    for run in page.report.runs:
        if used[run]:
            lines.append(f"kept data/runs/{run}: {', '.join(used[run])} names it")
            continue
        shutil.rmtree(root / "data" / "runs" / run)
        lines.append(f"removed data/runs/{run}")
    lines += _notes(root, taken)
    _list(root, others)
    return lines


def _naming(pattern: str, texts: Mapping[Path, str], root: Path) -> list[str]:
    """The files with a text in which something is named, as a whole word."""
    named = re.compile(rf"(?:{pattern})(?![\w-])")
    return [path.relative_to(root).as_posix() for path, text in texts.items() if named.search(text)]


def _notes(root: Path, runs: list[Identifier]) -> Iterator[str]:
    """The lines of data/notes.toml with a run that is gone: a person changes them."""
    notes = root / "data" / "notes.toml"
    lines = notes.read_text(encoding="utf-8").splitlines() if notes.exists() else []
    for number, line in enumerate(lines, start=1):
        for run in runs:
            if f'"{run}"' in line:
                yield f"data/notes.toml:{number}: names {run}, which is gone: take it out"


def _list(root: Path, reports: list[Report]) -> None:
    """Writes the list of reports again."""
    runs = read_runs(root / "data" / "runs")
    replace_file(root / REPORTS, reports_json(reports, runs).encode())
