"""`tlsperf render`: writes the generated files of each report that git holds.

It writes these files beside `index.md`: page.json (which templates read), an SVG file for each
chart, and the picture for link previews. In `index.md` it writes the table `[extra.generated]`. It
packs large raw files of the reports' runs. For the whole site it writes the list of reports and a
picture. The same data give the same bytes. `tlsperf build` makes everything else (`publish/build.py`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from tlsperf.contract.errors import FormatError, UserError
from tlsperf.contract.record import Identifier
from tlsperf.contract.run import Report, Run
from tlsperf.contract.text import counted, host_label
from tlsperf.load.config import read_site
from tlsperf.load.notes import known_notes
from tlsperf.load.page import Page, page_of, read_documents, read_pages
from tlsperf.load.run import read_runs
from tlsperf.publish.assemble import Assembled, assembler
from tlsperf.publish.checked import Checked, report_digest, stale
from tlsperf.publish.exports import HISTOGRAM, LAYOUTS, RESULTS
from tlsperf.publish.files import differs, put_file
from tlsperf.publish.index import reports_json
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
    and are raised at the end, as are claims that do not hold.
    """
    pages, runs = read_pages(root), read_runs(root / "data" / "runs")
    chosen = _chosen(pages, names)
    refuse(page_problems(chosen, pages, runs, root))
    if check:
        return _checked(root, chosen, pages, runs, {page.report.id for page in chosen})
    for run in dict.fromkeys(run for page in chosen for run in page.report.runs):
        compress_raw(root / "data" / "runs" / run)
    problems: list[str] = []
    rendered = written = 0
    for page, made in each(rendering, root, chosen):
        if isinstance(made, str):
            problems.append(made)
            continue
        problems += made.claims
        changed = _written(root, made.files, verbose=verbose)
        written += changed
        print(f"{page.report.id}: {_counted(changed)}", flush=True)
        rendered += 1
    written += _written(root, _of_site(root, pages, runs), verbose=verbose)
    print(f"{counted(rendered, 'report')}, {counted(written, 'file')} written", file=sys.stderr)
    problems += other_claims(root, pages, [page.report.id for page in chosen])
    if problems:
        raise UserError("\n".join(problems))
    _record(root, names)
    return 0


def changed(root: Path, pages: Sequence[Page], runs: Mapping[Identifier, Run]) -> list[Identifier]:
    """The reports that differ from `data/checked.json`."""
    found = {page.report.id: report_digest(root, page, pages, runs) for page in pages}
    return stale(Checked(root, "reports"), found)


def check_changed(root: Path) -> int:
    """As `render_reports` with `check`, but only for what differs from `data/checked.json`."""
    pages, runs = read_pages(root), read_runs(root / "data" / "runs")
    names = changed(root, pages, runs)
    print(f"{counted(len(names), 'report')} of {len(pages)} changed", file=sys.stderr)
    chosen = [page for page in pages if page.report.id in names]
    refuse(page_problems(chosen, pages, runs, root))
    return _checked(root, chosen, pages, runs, None)


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
    """What pages besides those of reports claim in vain; of results, only about these `reports`.

    The blog, and pages that begin a room, report results; the others are about method, and claim
    what they say.
    """
    others = _figures(pages, assembler(root, pages))
    content = root / "content"
    found: list[FormatError] = []
    for document in read_documents(root):
        if document.path.name == "_index.md" or content / "blog" in document.path.parents:
            found += uncovered(document)
        found += broken(document, None, others, reports)
    return [str(problem) for problem in found]


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
    """The list of reports, and the picture of links to the home page."""
    site = read_site(root)
    return {
        root / REPORTS: reports_json([page.report for page in pages], runs).encode(),
        root / SITE_PREVIEW: site_preview(site.title, site.description),
    }


# --- which reports, and what became of their files -----------------------------------------------


def _chosen(pages: Sequence[Page], names: Sequence[Identifier]) -> list[Page]:
    """The pages of the reports `names`, or all pages without names."""
    return [page_of(name, pages) for name in dict.fromkeys(names)] or list(pages)


def _checked(
    root: Path,
    chosen: Sequence[Page],
    pages: Sequence[Page],
    runs: Mapping[Identifier, Run],
    about: Collection[Identifier] | None,
) -> int:
    """The exit code of a check, which prints each file that differs. Other pages' claims `about`
    these reports are evaluated, or all of them.
    """
    outputs: Outputs = {}
    problems: list[str] = []
    for _, made in each(rendering, root, chosen):
        if isinstance(made, str):
            problems.append(made)
        else:
            outputs |= made.files
            problems += made.claims
    outputs |= _of_site(root, pages, runs)
    found = [path.relative_to(root) for path, data in outputs.items() if differs(path, data)]
    for path in found:
        print(f"{path}: differs from what its data give; run `tlsperf render`")
    problems += other_claims(root, pages, about)
    if problems:
        raise UserError("\n".join(problems))
    return 1 if found else 0


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
