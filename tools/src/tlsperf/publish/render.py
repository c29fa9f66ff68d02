"""`tlsperf render`: writes the generated files of each report that git holds.

It writes these files beside `index.md`: page.json (which templates read), an SVG file for each
chart, and the picture for link previews. In `index.md` it writes the table `[extra.generated]`. It
packs large raw files of the reports' runs. For the whole site it writes the list of reports and a
picture. The same data give the same bytes. `tlsperf build` makes everything else (`publish/build.py`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from tlsperf.contract.errors import FormatError
from tlsperf.contract.record import Identifier
from tlsperf.contract.run import Report, Run
from tlsperf.contract.text import counted, host_label
from tlsperf.load.config import read_site
from tlsperf.load.content import content_problems
from tlsperf.load.damage import damage, readable
from tlsperf.load.notes import known_notes
from tlsperf.load.page import Document, Page, read_documents, read_pages, read_report, report_names
from tlsperf.load.run import read_runs
from tlsperf.publish.assemble import Assembled, assembler
from tlsperf.publish.checked import Checked, report_digest
from tlsperf.publish.exports import HISTOGRAM, LAYOUTS, RESULTS
from tlsperf.publish.files import differs, put_file
from tlsperf.publish.index import reports_json, without
from tlsperf.publish.page import with_generated
from tlsperf.publish.page_check import page_problems, reference_problems, refuse
from tlsperf.publish.page_json import page_json
from tlsperf.publish.processes import each
from tlsperf.publish.prose import broken, uncovered
from tlsperf.publish.runs import compress_raw
from tlsperf.report.charts.svg import draw
from tlsperf.report.claims import Figures, figures_of
from tlsperf.report.preview import FILE as PREVIEW
from tlsperf.report.preview import report_preview, site_preview

SITE_PREVIEW: Final = Path("static", "preview.png")
REPORTS: Final = Path("data", "reports.json")

Outputs = dict[Path, bytes | None]
"""The bytes that each file must have, or None for a generated file to remove."""


class Rendered(NamedTuple):
    """What git holds of a report, and what its page claims in vain."""

    files: Outputs
    claims: list[str]


def render_reports(
    root: Path, names: Sequence[Identifier] = (), *, check: bool, verbose: bool = False
) -> int:
    """Renders the reports `names` below `root`, or all.

    It prints a line for each report, with `verbose` also each file, and returns the exit code. With
    `check` it writes nothing, and the exit code is 1 if a file would change. A report is written as
    soon as all of it is computed; the mistakes of some do not keep the others from being written,
    and are raised at the end, as are claims that do not hold; if all are rendered, also what could
    not be read.
    """
    with damage() as left_out:
        pages, runs = read_pages(root), read_runs(root / "data" / "runs")
        chosen = [read_report(root, name) for name in dict.fromkeys(names)] if names else pages
        problems: list[str] = []
        made = _made(root, chosen, pages, problems)
        if check:
            code = _checked(root, made, None if names else _of_site(root, pages, runs))
        else:
            code = 0
            of_chosen = dict.fromkeys(run for page in chosen for run in page.report.runs)
            folders = [root / "data" / "runs" / run for run in of_chosen if run in runs]
            list(readable(compress_raw, folders))  # rendering says what is wrong with the others
            _write(root, made, _of_site(root, pages, runs), verbose=verbose)
        problems += other_claims(root, pages, names or None)
        problems += [] if names else content_problems(root)
    refuse(problems if names else [*left_out, *problems])
    if not check:
        _record(root, names)
    return code


def _made(
    root: Path, chosen: Sequence[Page], pages: Sequence[Page], problems: list[str]
) -> Iterator[tuple[Page, Outputs]]:
    """The files of each page that has no mistake; the mistakes are added to `problems`."""
    wrong = page_problems(chosen, pages, root)
    problems += map(str, wrong)
    files = {problem.file for problem in wrong}
    for page, made in each(rendering, root, [it for it in chosen if str(it.path) not in files]):
        if isinstance(made, str):
            problems.append(made)
        else:
            problems += made.claims
            yield page, made.files


def check_changed(root: Path) -> int:
    """As `render_reports` with `check`, but only for what differs from `data/checked.json`."""
    with damage() as left_out:
        pages, runs = read_pages(root), read_runs(root / "data" / "runs")
        checked = Checked(root, "reports")
        digests = {page.report.id: report_digest(root, page, pages, runs) for page in pages}
        chosen = [it for it in pages if not checked.has(it.report.id, digests[it.report.id])]
        print(f"{counted(len(chosen), 'report')} of {len(pages)} changed")
        problems: list[str] = []
        made = _made(root, chosen, pages, problems)
        code = _checked(root, made, _of_site(root, pages, runs))
        problems += [*other_claims(root, pages, None), *content_problems(root)]
    refuse([*left_out, *problems])
    return code


def rendering(root: Path) -> Callable[[Page], Rendered]:
    """Of the page of a report: what git holds of it."""
    pages = read_pages(root)
    assemble = assembler(root, pages)
    site = read_site(root).title
    notes = known_notes(root / "data")
    others = _figures(pages, assemble)

    def rendered(page: Page) -> Rendered:
        assembled = assemble(page.report)
        refuse(reference_problems(page, assembled.results, root))
        files = {"page.json": page_json(assembled.results, notes, page.calls).encode()}
        for drawing in assembled.drawings:
            files[drawing.chart.file] = draw(drawing.picture, drawing.chart).encode()
        generated = _generated(assembled)
        if preview := report_preview(assembled.results, site):
            files[PREVIEW] = preview.png
            generated["preview"] = preview.alt
        generated["files"] = list(files)
        folder = page.path.parent
        outputs: Outputs = {
            folder / name: None for name in page.generated.get("files", []) if name not in files
        }
        outputs |= {folder / name: data for name, data in files.items()}
        outputs[page.path] = with_generated(page, generated).encode()
        claims = [*uncovered(page), *broken(page, figures_of(assembled.results), others)]
        return Rendered(outputs, [str(problem) for problem in claims])

    return rendered


def other_claims(
    root: Path, pages: Sequence[Page], reports: Collection[Identifier] | None
) -> list[str]:
    """What pages besides those of reports claim in vain, or only about these `reports`.

    The blog, and pages that begin a room, report results; the others are about method, and claim
    what they say.
    """
    others = _figures(pages, assembler(root, pages))
    blog = root / "content" / "blog"

    def problems(document: Document) -> list[FormatError]:
        has_results = document.path.name == "_index.md" or blog in document.path.parents
        of_words = uncovered(document) if has_results and reports is None else []
        return [*of_words, *broken(document, None, others, reports)]

    # A page is left out if a report that it claims something about is damaged.
    found = readable(problems, read_documents(root))
    return [str(problem) for of_page in found for problem in of_page]


def _figures(
    pages: Sequence[Page], assemble: Callable[[Report], Assembled]
) -> dict[Identifier, Callable[[], Figures]]:
    """A function for each report that returns its figures, which it computes once."""
    reports = {page.report.id: page.report for page in pages}

    @cache
    def figures(name: Identifier) -> Figures:
        return figures_of(assemble(reports[name]).results)

    return {name: partial(figures, name) for name in reports}


def _generated(assembled: Assembled) -> dict[str, Any]:
    """The data that lists of reports, feeds, previews and lists of downloads show."""
    results = assembled.results
    layouts = any(table.layouts for table in results.tables)
    others = [*([HISTOGRAM] if assembled.histograms else []), *([LAYOUTS] if layouts else [])]
    return {
        "headlines": [f"{h.title}: {h.statement}" for h in results.headlines],
        "versions": [i.label for i in results.implementations],
        "libraries": list(dict.fromkeys(i.library for i in results.implementations)),
        "hosts": [host_label(host) for host in results.hosts],
        "downloads": [RESULTS, *others],
    }


# --- the whole site ------------------------------------------------------------------------------


def _of_site(root: Path, pages: Sequence[Page], runs: Mapping[Identifier, Run]) -> Outputs:
    """The picture of links to the home page, and the list of reports if all can be read."""
    site = read_site(root)
    picture = site_preview(site.title, site.description)
    return {root / SITE_PREVIEW: picture, **of_reports(root, [page.report for page in pages], runs)}


def of_reports(
    root: Path, reports: Sequence[Report], runs: Mapping[Identifier, Run], gone: Identifier = ""
) -> Outputs:
    """The list of reports without the one that is `gone`.

    While another report cannot be read, or a run of one, the other entries stay as they are.
    """
    others = [report for report in reports if report.id != gone]
    left = [name for name in report_names(root) if name != gone]
    path = root / REPORTS
    if len(others) == len(left) and all(run in runs for report in others for run in report.runs):
        return {path: reports_json(others, runs).encode()}
    return {path: without(path, gone).encode()} if gone and path.exists() else {}


# --- what becomes of the files -------------------------------------------------------------------


def _checked(root: Path, made: Iterable[tuple[Page, Outputs]], of_site: Outputs | None) -> int:
    """The exit code of a check, which prints each file that differs."""
    outputs: Outputs = {}
    for _, files in made:
        outputs |= files
    outputs |= of_site or {}
    found = [path.relative_to(root) for path, data in outputs.items() if differs(path, data)]
    for path in found:
        print(f"{path}: differs from what its data give; run `tlsperf render`", file=sys.stderr)
    return 1 if found else 0


def _write(
    root: Path, made: Iterable[tuple[Page, Outputs]], of_site: Outputs, *, verbose: bool
) -> None:
    """Writes the files of reports as they are made, then those of the site."""
    rendered = written = 0
    for page, files in made:
        changed = _written(root, files, verbose=verbose)
        written += changed
        print(f"{page.report.id}: {_counted(changed)}", flush=True)
        rendered += 1
    written += _written(root, of_site, verbose=verbose)
    if rendered or written:
        print(f"{counted(rendered, 'report')}, {counted(written, 'file')} written")


def _written(root: Path, outputs: Outputs, *, verbose: bool) -> int:
    """Writes or removes what differs; returns how many files that were."""
    changed = {path: data for path, data in outputs.items() if put_file(path, data)}
    for path, data in changed.items() if verbose else ():
        print(f"  {'removed' if data is None else 'wrote'} {path.relative_to(root)}")
    return len(changed)


def _counted(changed: int) -> str:
    return f"{counted(changed, 'file')} written" if changed else "unchanged"


def _record(root: Path, names: Sequence[Identifier]) -> None:
    """Records the reports that were rendered."""
    pages, runs = read_pages(root), read_runs(root / "data" / "runs")
    rendered = [page for page in pages if not names or page.report.id in names]
    found = {page.report.id: report_digest(root, page, pages, runs) for page in rendered}
    Checked(root, "reports").record(found, all_of_them=not names)
