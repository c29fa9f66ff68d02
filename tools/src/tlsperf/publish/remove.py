"""`tlsperf remove`: takes a report out of the site, with the runs that nothing else uses."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from tlsperf.contract.errors import UserError
from tlsperf.contract.record import Identifier
from tlsperf.contract.run import Run
from tlsperf.load.content import NIGHTS
from tlsperf.load.page import read_pages, read_report
from tlsperf.load.run import read_runs
from tlsperf.publish.files import put_file
from tlsperf.publish.render import of_reports

_TEXTS: Final = (
    *("content/perf/*/index.md", "content/perf/*/page.json", "content/*.md"),
    *("content/*/_index.md", "content/answers/*/index.md", "content/versions/*/index.md", "*.md"),
    *(
        "data/hosts/*.toml",
        "data/comparisons/*.toml",
        "docs/*.md",
        "tools/benchmarks/*",
        "tools/automation/*",
        "scripts/*",
    ),
)
"""Where a run or a report is used or named, besides data/notes.toml."""

_KEYS: Final = "previous|report|reports|parts"
"""What names a report, or a part, in the front matter of a page."""


def remove_report(root: Path, name: Identifier) -> list[str]:
    """Removes a report; returns a line for each thing that went, stayed, or has to be changed.

    A run stays if a report, a host or a guide names it, if the noise of a later run may rest on it,
    or if git could not restore it. Raises UserError if there is no such report, or if another page
    names it, and then removes nothing.
    """
    page = read_report(root, name)
    if page.id != name:
        raise UserError(
            f"{name} is a part of {page.id}: name the report, or take the part out of it"
        )
    texts = {
        path: path.read_text(encoding="utf-8", errors="replace")
        for pattern in _TEXTS
        for path in sorted(root.glob(pattern))
        if path.is_file() and path.parent != page.path.parent
        if not path.parent.name.startswith(NIGHTS)
    }
    ids = "|".join(re.escape(id_) for id_ in dict.fromkeys([name, *(p.id for p in page.reports)]))
    named = rf"(?m:^)\s*(?:{_KEYS})\s*=\s*(?:\[[^\]]*)?[\"'](?:{ids})[\"']"
    needed = rf"perf/{re.escape(name)}|{named}"
    if links := _naming(needed, texts, root):
        raise UserError(f"{name} is linked from {', '.join(links)}: take the links out first")
    others = [other for other in read_pages(root) if other.id != name]
    runs = read_runs(root / "data" / "runs")
    kept = {run: _why_kept(run, runs, texts, root) for run in page.runs}
    taken = [run for run in page.runs if run in runs and not kept[run]]
    lines = [f"removed content/perf/{name}", *(f"removed data/runs/{run}" for run in taken)]
    lines += [f"kept data/runs/{run}: {why}" for run, why in kept.items() if why]
    lines += _notes(root, taken)
    lines.append("next: tlsperf render, if other reports were compared with it; git restores it")
    of_site = of_reports(root, others, {id_: runs[id_] for id_ in runs if id_ not in taken}, name)
    shutil.rmtree(page.path.parent)
    for run in taken:
        shutil.rmtree(root / "data" / "runs" / run)
    for path, text in of_site.items():
        put_file(path, text)
    return lines


def _why_kept(
    name: Identifier,
    runs: Mapping[Identifier, Run],
    texts: Mapping[Path, str],
    root: Path,
) -> str:
    """Why a run must stay; empty if nothing needs it and git can restore it."""
    if name not in runs:
        return ""
    if named := _naming(re.escape(name), texts, root):
        return f"named in {', '.join(named)}"
    command = ["git", "status", "--porcelain", "--", f"data/runs/{name}"]
    state = subprocess.run(command, cwd=root, capture_output=True, text=True)
    return "git does not have it as it is" if state.returncode or state.stdout else ""


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
