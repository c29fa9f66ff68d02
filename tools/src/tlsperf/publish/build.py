"""`tlsperf build`: makes what a site has and git does not hold.

Beside the page of each report it writes the downloads: results.json, results.csv, comparisons.json
and others. For all reports together it writes the pages over them and the index of all results. Git
ignores these files; `build/built.json` has digests, so that only what changed is made again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from tlsperf.contract.compared import ComparedPart
from tlsperf.contract.errors import UserError
from tlsperf.contract.record import Identifier
from tlsperf.contract.run import Report, Run
from tlsperf.contract.text import counted
from tlsperf.load.config import read_site
from tlsperf.load.content import NIGHTS
from tlsperf.load.damage import damage, readable
from tlsperf.load.nights import night_folders, read_nights
from tlsperf.load.page import Page, read_pages, version_pages
from tlsperf.load.results import read_results
from tlsperf.load.run import read_runs
from tlsperf.publish.assemble import Assembled, assembler
from tlsperf.publish.checked import Checked, digest, report_digest
from tlsperf.publish.compare_page import compare_files, parts_json, read_parts
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
from tlsperf.publish.nightly import nightly, nightly_files
from tlsperf.publish.page_check import refuse
from tlsperf.publish.processes import each
from tlsperf.publish.reports import is_first_look
from tlsperf.publish.versions import read_versions

BUILT: Final = Path("build", "built.json")
JSON: Final = "results.json"
COMPARISONS: Final = "comparisons.json"
PAGE: Final = "page.json"
COMPARE: Final = "compare.json"
DOWNLOADS: Final = (JSON, RESULTS, COMPARISONS, COMPARE, HISTOGRAM, LAYOUTS)
"""The files beside a report's page that git ignores."""
LISTS: Final = ("index.json", "index.csv", "datapackage.json", "downloads.json")
"""The files of data/ that are made here."""
_SITE: Final = "site"
"""The name of the digest of what is made of all reports."""


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
    of_report = {page.id: report_digest(root, page, pages, runs) for page in pages}

    def with_downloads(page: Page) -> str:
        folders = [downloads_folder(page, part) for part in page.reports]
        beside = [folder / name for folder in folders for name in DOWNLOADS]
        return digest(root, beside, of_report[page.id])

    found = {page.id: with_downloads(page) for page in pages}
    old = [page for page in pages if not state.has(page.id, found[page.id])]
    for page in old:
        del found[page.id]
    _remove_left(root)
    problems = []
    for page, made in each(downloading, root, old):
        if isinstance(made, str):
            problems.append(made)
            continue
        _take_out(path for path in _existing_downloads(page.path.parent) if path not in made)
        for path, text in made.items():
            path.parent.mkdir(exist_ok=True)
            replace_file(path, text.encode())
        found[page.id] = with_downloads(page)
        state.record(found, all_of_them=True)
        print(f"{page.id}: downloads", flush=True)
    built = [page for page in pages if page.id in found]
    shown = list(readable(_rendered, built))
    inputs = [
        *(
            downloads_folder(page, part) / name
            for page in shown
            for part in page.reports
            for name in (JSON, COMPARE)
        ),
        *(path for page in shown for path in (page.path, page.path.with_name(PAGE))),
        *(root / "data" / "nightly").rglob("*"),
        *version_pages(root),
    ]
    found[_SITE] = digest(root, [*inputs, *_existing(root)])
    if not state.has(_SITE, found[_SITE]):
        written = _replace_all(root, _of_site(root, shown, runs))
        print(f"pages over all reports: {counted(written, 'file')} written", flush=True)
        found[_SITE] = digest(root, [*inputs, *_existing(root)])
    state.record(found, all_of_them=True)
    done = f"{counted(len(built), 'report')}, {len(built) - len(old) + len(problems)} of them"
    print(f"{done} up to date")
    return problems


def _rendered(page: Page) -> Page:
    """A page whose report is rendered, as pages over all reports link into it."""
    if not page.path.with_name(PAGE).is_file():
        missing = page.path.with_name(PAGE)
        raise UserError(f"{missing} is missing: run `tlsperf render {page.id}`")
    return page


def _remove_left(root: Path) -> None:
    """Removes the downloads of reports that are gone: git leaves what it ignores."""
    for folder in sorted((root / "content" / "perf").glob("*")):
        if folder.is_dir() and not (folder / "index.md").exists():
            _take_out(_existing_downloads(folder))
            if folder.exists() and not any(folder.iterdir()):
                folder.rmdir()


def _take_out(paths: Iterable[Path]) -> None:
    """Removes files, and the folders that are empty without them."""
    for path in paths:
        path.unlink()
        if not any(path.parent.iterdir()):
            path.parent.rmdir()


def _existing_downloads(folder: Path) -> list[Path]:
    """The downloads in the folder of a report, and in those of its parts."""
    return [path for name in DOWNLOADS for path in (*folder.glob(name), *folder.glob(f"*/{name}"))]


def downloads_folder(page: Page, part: Report) -> Path:
    """Where the downloads of a part are: of several parts, each has a folder."""
    return page.path.parent / part.id if len(page.reports) > 1 else page.path.parent


def downloading(root: Path) -> Callable[[Page], dict[Path, str]]:
    """Of the page of a report: the texts of its downloads by their paths."""
    assemble = assembler(root)

    def of_part(part: Report, folder: Path) -> dict[str, str]:
        assembled: Assembled = assemble(part)
        results = assembled.results
        files = {
            JSON: results_json(results),
            RESULTS: results_csv(results),
            COMPARISONS: comparisons_json(assembled.comparisons()),
            COMPARE: parts_json(assembled.compared(_below(root, folder))),
        }
        if assembled.histograms:
            files[HISTOGRAM] = histograms_csv(assembled.histograms)
        if layouts := layouts_csv(results):
            files[LAYOUTS] = layouts
        return files

    def downloads(page: Page) -> dict[Path, str]:
        return {
            folder / name: text
            for part in page.reports
            for folder in [downloads_folder(page, part)]
            for name, text in of_part(part, folder).items()
        }

    return downloads


def _below(root: Path, folder: Path) -> str:
    return folder.relative_to(root / "content").as_posix()


# --- over all reports ----------------------------------------------------------------------------


def _of_site(
    root: Path, pages: Sequence[Page], runs: Mapping[Identifier, Run]
) -> dict[Path, bytes]:
    """The files of the pages over all reports, and of the index."""
    covered = [
        (part, read_results(downloads_folder(page, part) / JSON))
        for page in pages
        if not is_first_look(page, runs)
        for part in page.reports
    ]
    compared = [part for page in pages if not is_first_look(page, runs) for part in _compared(page)]
    elsewhere = {of.chosen.counts for of in read_versions(root)}
    folders = [folder for folder in night_folders(root) if folder.name not in elsewhere]
    nights = readable(lambda folder: nightly(read_nights(folder)), folders)
    shown = [results for _, results in covered]
    site = read_site(root)
    files = {f"data/{name}": text for name, text in index_files(shown, site).items()}
    for page in (page for of_folder in nights for page in of_folder):
        files |= {f"content/{name}": text for name, text in nightly_files(page).items()}
    files |= {f"content/compare/{name}": text for name, text in compare_files(compared).items()}
    return {root / name: text.encode() for name, text in files.items()}


def _compared(page: Page) -> list[ComparedPart]:
    files = [downloads_folder(page, part) / COMPARE for part in page.reports]
    return [part for file in files for part in read_parts(file)]


def _existing(root: Path) -> list[Path]:
    """The existing files over all reports."""
    nights = (root / "content" / "versions").glob(f"{NIGHTS}*/*")
    lists = (root / "data" / name for name in LISTS)
    compare = (root / "content" / "compare").glob("*.json")
    return [path for path in (*nights, *compare, *lists) if path.is_file()]


def _replace_all(root: Path, made: dict[Path, bytes]) -> int:
    """Writes the files over all reports and removes older ones; returns how many that were."""
    gone = [path for path in _existing(root) if path not in made]
    _take_out(gone)
    return len(gone) + sum(put_file(path, data) for path, data in made.items())
