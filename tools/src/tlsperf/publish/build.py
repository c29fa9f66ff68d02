"""`tlsperf build`: makes what a site has and git does not hold.

Beside the page of each report it writes the downloads: results.json, results.csv, comparisons.json
and others. For all reports together it writes the pages over them and the index of all results. Git
ignores these files; `build/built.json` has digests, so that only what changed is made again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from tlsperf.contract.errors import UserError
from tlsperf.contract.index import ScenarioOverview, ScenarioReport
from tlsperf.contract.record import Identifier
from tlsperf.contract.results import Comparisons
from tlsperf.contract.run import Run
from tlsperf.contract.text import counted
from tlsperf.load.config import read_site
from tlsperf.load.content import SECTIONS
from tlsperf.load.damage import damage, readable
from tlsperf.load.nights import night_folders, read_nights
from tlsperf.load.notes import known_notes
from tlsperf.load.page import Page, read_pages
from tlsperf.load.results import read_results
from tlsperf.load.run import read_runs
from tlsperf.publish.assemble import Assembled, assembler
from tlsperf.publish.checked import Checked, digest, report_digest
from tlsperf.publish.exports import (
    HISTOGRAM,
    LAYOUTS,
    RESULTS,
    comparisons_json,
    histograms_csv,
    layouts_csv,
    results_csv,
    results_json,
)
from tlsperf.publish.files import put_file, replace_file
from tlsperf.publish.index import index_files
from tlsperf.publish.nightly import nightly, nightly_files, nightly_folder
from tlsperf.publish.once import contradictions
from tlsperf.publish.overviews import overview_files, question_files, scenario_folder, trend_folder
from tlsperf.publish.page_check import refuse
from tlsperf.publish.processes import each
from tlsperf.publish.reports import newest_first
from tlsperf.publish.scenarios import scenarios
from tlsperf.publish.scoreboard import scoreboard
from tlsperf.publish.trends import trends
from tlsperf.report.charts.kind import Drawing
from tlsperf.report.charts.svg import draw
from tlsperf.report.preview import scoreboard_preview

BUILT: Final = Path("build", "built.json")
JSON: Final = "results.json"
COMPARISONS: Final = "comparisons.json"
PAGE: Final = "page.json"
DOWNLOADS: Final = (JSON, RESULTS, COMPARISONS, HISTOGRAM, LAYOUTS)
"""The files beside a report's page that git ignores."""
LISTS: Final = (
    *("index.json", "index.csv", "datapackage.json", "downloads.json"),
    *("scenarios.json", "questions.json", "scoreboard.json"),
)
"""The files of data/ that are made here."""
SCOREBOARD: Final = Path("static", "scoreboard.png")
_OVERVIEWS: Final = "overviews"
_ANCHOR: Final = re.compile(r'"(?:anchor|id)":"([^"]+)"')


def build(root: Path) -> None:
    """Makes what is missing or out of date, and prints what was made.

    Each report is recorded as it is made, so a build that was interrupted goes on from there.
    Raises UserError with the mistakes of all reports and with what could not be read, after
    everything else was made.
    """
    with damage() as left_out:
        problems = _built(root)
    refuse([*left_out, *problems])


def _built(root: Path) -> list[str]:
    """Makes everything; returns the mistakes of reports."""
    pages, runs = read_pages(root), read_runs(root / "data" / "runs")
    state = Checked(root, "downloads", BUILT)
    of_report = {page.report.id: report_digest(root, page, pages, runs) for page in pages}

    def with_downloads(page: Page) -> str:
        beside = [page.path.with_name(name) for name in DOWNLOADS]
        return digest(root, beside, of_report[page.report.id])

    found = {page.report.id: with_downloads(page) for page in pages}
    old = [page for page in pages if not state.has(page.report.id, found[page.report.id])]
    for page in old:
        del found[page.report.id]
    _remove_left(root)
    problems = []
    for page, made in each(downloading, root, old):
        if isinstance(made, str):
            problems.append(made)
            continue
        folder = page.path.parent
        for name in DOWNLOADS:
            if name in made:
                replace_file(folder / name, made[name].encode())
            else:
                (folder / name).unlink(missing_ok=True)
        found[page.report.id] = with_downloads(page)
        state.record(found, all_of_them=True)
        print(f"{page.report.id}: downloads", flush=True)
    built = [page for page in pages if page.report.id in found]
    shown = list(readable(_rendered, built))
    inputs = [
        *(page.path.with_name(name) for page in shown for name in (JSON, COMPARISONS, PAGE)),
        *(page.path for page in shown),
        *(root / "data" / "nightly").rglob("*"),
        root / "data" / "notes.toml",
    ]
    found[_OVERVIEWS] = digest(root, [*inputs, *_existing(root)])
    if not state.has(_OVERVIEWS, found[_OVERVIEWS]):
        written = _replace_all(root, _overviews(root, shown, runs))
        print(f"pages over all reports: {counted(written, 'file')} written", flush=True)
        found[_OVERVIEWS] = digest(root, [*inputs, *_existing(root)])
    state.record(found, all_of_them=True)
    done = f"{counted(len(built), 'report')}, {len(built) - len(old) + len(problems)} of them"
    print(f"{done} up to date")
    return [*problems, *contradictions(root)]


def _rendered(page: Page) -> Page:
    """A page whose report is rendered, as pages over all reports link into it."""
    if not page.path.with_name(PAGE).is_file():
        missing = page.path.with_name(PAGE)
        raise UserError(f"{missing} is missing: run `tlsperf render {page.report.id}`")
    return page


def _remove_left(root: Path) -> None:
    """Removes the downloads of reports that are gone: git leaves what it ignores."""
    for folder in sorted((root / "content" / "perf").glob("*")):
        if folder.is_dir() and not (folder / "index.md").exists():
            for name in DOWNLOADS:
                (folder / name).unlink(missing_ok=True)
            if not any(folder.iterdir()):
                folder.rmdir()


def downloading(root: Path) -> Callable[[Page], dict[str, str]]:
    """Of the page of a report: the texts of its downloads by their names."""
    assemble = assembler(root)

    def downloads(page: Page) -> dict[str, str]:
        assembled: Assembled = assemble(page.report)
        results = assembled.results
        files = {
            JSON: results_json(results),
            RESULTS: results_csv(results),
            COMPARISONS: comparisons_json(assembled.comparisons()),
        }
        if assembled.histograms:
            files[HISTOGRAM] = histograms_csv(assembled.histograms)
        if layouts := layouts_csv(results):
            files[LAYOUTS] = layouts
        return files

    return downloads


# --- over all reports ----------------------------------------------------------------------------


def _overviews(
    root: Path, pages: Sequence[Page], runs: Mapping[Identifier, Run]
) -> dict[Path, bytes]:
    """The files of the pages over all reports, and of the index."""
    covered = [
        (page.report, read_results(page.path.with_name(JSON)))
        for page in pages
        if not page.report.is_first_look(runs)
    ]
    notes = known_notes(root / "data")
    through, shared = trends(covered, notes), scenarios(covered, notes)
    drawn = [(trend_folder(trend), drawings) for trend, drawings in through]
    drawn += [(scenario_folder(scenario), drawings) for scenario, drawings in shared]
    nights = readable(lambda folder: nightly(read_nights(folder)), night_folders(root))
    by_night = [page for pages in nights for page in pages]
    drawn += [(nightly_folder(page), drawings) for page, drawings in by_night]
    shown, overviews = [results for _, results in covered], _linked(root, shared)
    texts = overview_files([trend for trend, _ in through], overviews, shown, notes)
    for page, _ in by_night:
        texts |= nightly_files(page)
    files = {f"content/{name}": text for name, text in texts.items()}
    site = read_site(root)
    files |= {f"data/{name}": text for name, text in index_files(shown, overviews, site).items()}
    files |= question_files(shown, _comparisons(root), overviews)
    for folder, drawings in drawn:
        files |= {f"content/{folder}/{it.chart.file}": _drawn(it) for it in drawings}
    made = {root / name: text.encode() for name, text in files.items()}
    if board := scoreboard(newest_first(shown)):
        made[root / SCOREBOARD] = scoreboard_preview(board, site.title)
    return made


def _linked(
    root: Path, shared: Sequence[tuple[ScenarioOverview, Sequence[Drawing]]]
) -> list[ScenarioOverview]:
    """The scenarios, with links to whole pages where a report's page does not show the row."""

    @cache
    def anchors(report: Identifier) -> frozenset[str]:
        text = (root / "content" / "perf" / report / PAGE).read_text("utf-8", errors="replace")
        return frozenset(_ANCHOR.findall(text))

    def linked(report: ScenarioReport) -> ScenarioReport:
        page, _, anchor = report.link.partition("#")
        return report if anchor in anchors(report.id) else report.model_copy(update={"link": page})

    return [
        scenario.model_copy(update={"reports": [linked(report) for report in scenario.reports]})
        for scenario, _ in shared
    ]


def _drawn(drawing: Drawing) -> str:
    return draw(drawing.picture, drawing.chart)


def _comparisons(root: Path) -> Callable[[Identifier], Comparisons]:
    """Reads the comparisons of a report."""
    folder = root / "content" / "perf"
    return lambda report: Comparisons.model_validate_json(
        (folder / report / COMPARISONS).read_bytes()
    )


def _existing(root: Path) -> list[Path]:
    """The existing files over all reports."""
    pages = (path for name in SECTIONS for path in (root / "content" / name).glob("*/*"))
    lists = (root / "data" / name for name in LISTS)
    return [path for path in (*pages, *lists, root / SCOREBOARD) if path.is_file()]


def _replace_all(root: Path, made: dict[Path, bytes]) -> int:
    """Writes the files over all reports and removes older ones; returns how many that were."""
    gone = [path for path in _existing(root) if path not in made]
    for path in gone:
        path.unlink()
        if not any(path.parent.iterdir()):
            path.parent.rmdir()
    return len(gone) + sum(put_file(path, data) for path, data in made.items())
