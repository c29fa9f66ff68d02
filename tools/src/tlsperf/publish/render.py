"""`tlsperf render`: writes the generated files of each report, and of pages that quote reports, that
git holds.

It writes these files beside `index.md`: page.json (which templates read), an SVG file for each
chart, and the picture for link previews. In `index.md` it writes the table `[extra.generated]`. It
packs large raw files of the reports' runs. For the whole site it writes the list of reports and a
picture. The same data give the same bytes. `tlsperf build` makes everything else (`publish/build.py`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from tlsperf.contract.errors import FormatError, UserError, alternatives
from tlsperf.contract.record import Identifier
from tlsperf.contract.results import Results
from tlsperf.contract.run import Report, Run
from tlsperf.contract.text import counted
from tlsperf.load.answers import FOLDER as ANSWERS
from tlsperf.load.answers import AnswerPage, read_answer, read_answers
from tlsperf.load.config import read_site
from tlsperf.load.content import content_problems
from tlsperf.load.damage import damage, readable
from tlsperf.load.nights import night_folders, read_nights
from tlsperf.load.notes import known_notes
from tlsperf.load.page import (
    Document,
    Page,
    read_documents,
    read_pages,
    read_report,
    report_names,
)
from tlsperf.load.run import read_runs
from tlsperf.publish.answers import answer_files
from tlsperf.publish.assemble import Assembled, assembler
from tlsperf.publish.checked import Checked, answer_digests, report_digest
from tlsperf.publish.exports import HISTOGRAM, LAYOUTS, RESULTS
from tlsperf.publish.files import differs, put_file
from tlsperf.publish.index import reports_json, without
from tlsperf.publish.nightly import figures_of_nights, nightly
from tlsperf.publish.page import with_generated
from tlsperf.publish.page_check import page_problems, reference_problems, refuse
from tlsperf.publish.page_json import page_json
from tlsperf.publish.processes import each
from tlsperf.publish.prose import broken, uncovered
from tlsperf.publish.runs import compress_raw
from tlsperf.publish.versions import (
    VersionsPage,
    read_versions,
    version_digests,
    version_outputs,
)
from tlsperf.report.charts.dots import Dots, picture_files
from tlsperf.report.charts.kind import Drawing
from tlsperf.report.charts.svg import draw
from tlsperf.report.claims import Figures, figures_of
from tlsperf.report.hosts import hosts_of
from tlsperf.report.picture import picture
from tlsperf.report.preview import FILE as PREVIEW
from tlsperf.report.preview import about, report_preview, site_preview

SITE_PREVIEW: Final = Path("static", "preview.png")
REPORTS: Final = Path("data", "reports.json")

Outputs = dict[Path, bytes | None]
"""The bytes that each file must have, or None for a generated file to remove."""


_Files = Iterator[tuple[Page | AnswerPage, Outputs]]


class Rendered(NamedTuple):
    """What git holds of a report, and what its page claims in vain."""

    files: Outputs
    claims: list[str]


def render_reports(
    root: Path, names: Sequence[Identifier] = (), *, check: bool, verbose: bool = False
) -> int:
    """Renders the reports `names` below `root`, and the answers that quote them, or all.

    `names` may be of answers too.

    It prints a line for each report, with `verbose` also each file, and returns the exit code. With
    `check` it writes nothing, and the exit code is 1 if a file would change. A report is written as
    soon as all of it is computed; the mistakes of some do not keep the others from being written,
    and are raised at the end, as are claims that do not hold; if all are rendered, also what could
    not be read.
    """
    with damage() as left_out:
        pages, runs = read_pages(root), read_runs(root / "data" / "runs")
        named = {name: read_answer(root, name) for name in names}
        asked = [answer for answer in named.values() if answer]
        answers = read_answers(root)
        of_reports = [name for name, answer in named.items() if not answer]
        read = [read_report(root, name) for name in of_reports]
        chosen = [*{page.id: page for page in read}.values()] if names else pages
        of_chosen = [page.id for page in chosen]
        parts = {part.id for page in chosen for part in page.reports}
        quoting = {it.id: it for it in asked}
        quoting |= {
            it.id: it for it in answers if not names or not parts.isdisjoint(it.answer.parts)
        }
        problems: list[str] = []
        made = _together(
            _made(root, chosen, pages, problems), _answered(root, [*quoting.values()], problems)
        )
        of_versions = [of for of in read_versions(root) if not names or of.chosen.report in parts]
        versions = _versions(root, pages, of_versions, problems)
        if check:
            of_site = {} if names else _of_site(root, pages, runs)
            code = _checked(root, made, of_site | versions)
        else:
            code = 0
            shown = dict.fromkeys(run for page in chosen for run in page.runs)
            folders = [root / "data" / "runs" / run for run in shown if run in runs]
            list(readable(compress_raw, folders))  # rendering says what is wrong with the others
            _write(root, made, _of_site(root, pages, runs) | versions, verbose=verbose)
        problems += other_claims(
            root, pages, {*names, *parts, *of_chosen} if names else None, asked
        )
        problems += [] if names else content_problems(root)
    refuse(problems if names else [*left_out, *problems])
    if not check:
        _record(root, [*(answer.id for answer in asked), *of_chosen] if names else ())
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


def _together(
    reports: Iterable[tuple[Page, Outputs]], answers: Iterable[tuple[AnswerPage, Outputs]]
) -> _Files:
    yield from reports
    yield from answers


def _answered(
    root: Path, answers: Sequence[AnswerPage], problems: list[str]
) -> Iterator[tuple[AnswerPage, Outputs]]:
    """The files of each answer that has no mistake; the mistakes are added to `problems`."""
    for answer, made in each(answering, root, answers):
        if isinstance(made, str):
            problems.append(made)
        else:
            yield answer, made


def answering(root: Path) -> Callable[[AnswerPage], Outputs]:
    """Of an answer: what git holds beside it."""
    pages = read_pages(root)
    assemble = assembler(root, pages)
    placed = {part.id: (page, part) for page in pages for part in page.reports}
    runs = read_runs(root / "data" / "runs")
    notes = known_notes(root / "data")

    def quoted(answer: AnswerPage, name: Identifier) -> tuple[Page, Results]:
        if name not in placed:
            expected = alternatives(name, placed)
            raise FormatError(str(answer.path), answer.line_of(name), f"part {name!r}", expected)
        page, part = placed[name]
        baseline = answer.answer.baseline
        if baseline is not None:
            of_part = [runs[run] for run in part.runs if run in runs]
            known = [of.id for run in of_part for of in run.implementations]
            if baseline not in known:
                file, line = str(answer.path), answer.line_of("baseline =")
                expected = alternatives(baseline, known)
                raise FormatError(file, line, f"the baseline {baseline!r}", expected)
        baseline = baseline or part.baseline
        return page, assemble(part.model_copy(update={"baseline": baseline})).results

    def answered(answer: AnswerPage) -> Outputs:
        files = answer_files(answer, [quoted(answer, name) for name in answer.answer.parts], notes)
        return {answer.path.with_name(name): text.encode() for name, text in files.items()}

    return answered


def check_changed(root: Path) -> int:
    """As `render_reports` with `check`, but only for what differs from `data/checked.json`."""
    with damage() as left_out:
        pages, runs = read_pages(root), read_runs(root / "data" / "runs")
        checked = Checked(root, "reports")
        digests = {page.id: report_digest(root, page, pages, runs) for page in pages}
        chosen = [it for it in pages if not checked.has(it.id, digests[it.id])]
        print(f"{counted(len(chosen), 'report')} of {len(pages)} changed")
        problems: list[str] = []
        known = Checked(root, "answers")
        found = answer_digests(root, pages, digests)
        stale = [it for it in read_answers(root) if not known.has(it.id, found[it.id])]
        made = _together(_made(root, chosen, pages, problems), _answered(root, stale, problems))
        of_versions = read_versions(root)
        expected = version_digests(root, of_versions, pages)
        changed = [of for of in of_versions if not checked.has(of.id, expected[of.id])]
        versions = _versions(root, pages, changed, problems)
        code = _checked(root, made, _of_site(root, pages, runs) | versions)
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
        assembled = [assemble(part) for part in page.reports]
        parts = [of.results for of in assembled]
        refuse(reference_problems(page, parts, root))
        drawn = _drawn(page, assembled)
        charts = {(part, drawing.chart.anchor): name for name, (part, drawing) in drawn.items()}
        dots = _dots(page, parts)
        files = {"page.json": page_json(parts, notes, page.calls, charts, dots).encode()}
        for name, text in (picture_files(dots) if dots else {}).items():
            files[name] = text.encode()
        for name, (_, drawing) in drawn.items():
            files[name] = draw(drawing.picture, drawing.chart).encode()
        generated = _generated(assembled)
        preview = report_preview(parts[0].title, about(parts), dots or picture(parts), site)
        files[PREVIEW] = preview.png
        generated["preview"] = preview.alt
        generated["files"] = list(files)
        folder = page.path.parent
        outputs: Outputs = {
            folder / name: None for name in page.generated.get("files", []) if name not in files
        }
        outputs |= {folder / name: data for name, data in files.items()}
        outputs[page.path] = with_generated(page, generated).encode()
        claims = [*uncovered(page), *broken(page, [figures_of(part) for part in parts], others)]
        return Rendered(outputs, [str(problem) for problem in claims])

    return rendered


def _dots(page: Page, parts: Sequence[Results]) -> Dots | None:
    """The picture of a page that has one; None if there is no ratio to draw. Raises UserError."""
    if not any(call.name == "picture" for call in page.calls):
        return None
    try:
        return picture(parts, page.first.headlines)
    except (UserError, ValueError) as error:
        raise UserError(f"{page.path}:{page.line_of('headlines')}: {error}") from None


def _drawn(page: Page, assembled: Sequence[Assembled]) -> dict[str, tuple[Identifier, Drawing]]:
    """The charts that a page shows, with their part, by the name of the file."""
    several = len(assembled) > 1
    called = {
        (call.arguments.get("part") if several else assembled[0].results.id, call.arguments["id"])
        for call in page.calls
        if call.name == "chart"
    }
    return {
        f"{of.results.id}-{drawing.chart.file}" if several else drawing.chart.file: (
            of.results.id,
            drawing,
        )
        for of in assembled
        for drawing in of.drawings
        if (of.results.id, drawing.chart.anchor) in called
    }


def _versions(
    root: Path, pages: Sequence[Page], chosen: Sequence[VersionsPage], problems: list[str]
) -> Outputs:
    """The files of these pages of versions; their mistakes are added to `problems`."""
    reports = {part.id: (page, part) for page in pages for part in page.reports}
    assemble = assembler(root, pages)
    found: Outputs = {}
    for page in chosen:
        try:
            found |= version_outputs(root, page, reports, assemble)
        except UserError as error:
            problems.append(str(error))
    return found


def other_claims(
    root: Path,
    pages: Sequence[Page],
    reports: Collection[Identifier] | None,
    answers: Sequence[AnswerPage] = (),
) -> list[str]:
    """What pages besides those of reports claim in vain, or only about these `reports`.

    Answers, pages of versions, and those that begin a room, report results; the others are about
    method, and claim what they say. `answers` are looked at whole.
    """
    others = claimable(root, pages)
    folders = {root / "content" / "versions", root / ANSWERS}
    whole = {answer.path for answer in answers}

    def problems(document: Document) -> list[FormatError]:
        path = document.path
        about = None if path in whole else reports
        has_results = path.name == "_index.md" or not folders.isdisjoint(path.parents)
        of_words = uncovered(document) if has_results and about is None else []
        return [*of_words, *broken(document, [], others, about)]

    # A page is left out if a report that it claims something about is damaged.
    found = readable(problems, read_documents(root))
    return [str(problem) for of_page in found for problem in of_page]


def claimable(
    root: Path, pages: Sequence[Page]
) -> dict[Identifier, Callable[[], Sequence[Figures]]]:
    """What returns the figures that claims name: of each report, each part and each folder of nights."""
    return _figures(pages, assembler(root, pages)) | _nights(root)


def _figures(
    pages: Sequence[Page], assemble: Callable[[Report], Assembled]
) -> dict[Identifier, Callable[[], Sequence[Figures]]]:
    """A function for each report, and for each part, that returns the figures of its parts."""
    parts = {part.id: part for page in pages for part in page.reports}

    @cache
    def figures(name: Identifier, baseline: Identifier | None) -> Figures:
        part = parts[name].model_copy(update={"baseline": baseline})
        to = partial(figures, name)
        return replace(figures_of(assemble(part).results), to=to)

    def of(names: Sequence[Identifier]) -> Sequence[Figures]:
        return [figures(name, parts[name].baseline) for name in names]

    groups = {name: [name] for name in parts}
    groups |= {page.id: [part.id for part in page.reports] for page in pages}
    return {name: partial(of, names) for name, names in groups.items()}


def _nights(root: Path) -> dict[Identifier, Callable[[], Sequence[Figures]]]:
    """A function for each folder of nights that returns its counts, which it computes once."""

    @cache
    def figures(folder: Path) -> Sequence[Figures]:
        nights = read_nights(folder)
        return [figures_of_nights(nightly(nights), nights)]

    return {folder.name: partial(figures, folder) for folder in night_folders(root)}


def _generated(assembled: Sequence[Assembled]) -> dict[str, Any]:
    """The data that lists of reports, feeds, previews and lists of downloads show."""
    parts = [of.results for of in assembled]
    builds = [i for part in parts for i in part.implementations]
    return {
        "versions": list(dict.fromkeys(i.label for i in builds)),
        "libraries": list(dict.fromkeys(i.library for i in builds)),
        "hosts": [*hosts_of(parts).values()],
        "downloads": [name for of in assembled for name in _downloads(of, len(parts) > 1)],
    }


def _downloads(assembled: Assembled, several: bool) -> list[str]:
    """The downloads of a part; of several parts, each has a folder."""
    layouts = any(table.layouts for table in assembled.results.tables)
    others = [*([HISTOGRAM] if assembled.histograms else []), *([LAYOUTS] if layouts else [])]
    folder = f"{assembled.results.id}/" if several else ""
    return [f"{folder}{name}" for name in (RESULTS, "results.json", *others)]


# --- the whole site ------------------------------------------------------------------------------


def _of_site(root: Path, pages: Sequence[Page], runs: Mapping[Identifier, Run]) -> Outputs:
    """The picture of links to the home page, and the list of reports if all can be read."""
    site = read_site(root)
    picture = site_preview(site.title, site.description)
    return {root / SITE_PREVIEW: picture, **of_reports(root, pages, runs)}


def of_reports(
    root: Path, pages: Sequence[Page], runs: Mapping[Identifier, Run], gone: Identifier = ""
) -> Outputs:
    """The list of reports without the one that is `gone`.

    While another report cannot be read, or a run of one, the other entries stay as they are.
    """
    others = [page for page in pages if page.id != gone]
    left = [name for name in report_names(root) if name != gone]
    path = root / REPORTS
    if len(others) == len(left) and all(run in runs for page in others for run in page.runs):
        return {path: reports_json(others, runs).encode()}
    return {path: without(path, gone).encode()} if gone and path.exists() else {}


# --- what becomes of the files -------------------------------------------------------------------


def _checked(root: Path, made: _Files, of_site: Outputs | None) -> int:
    """The exit code of a check, which prints each file that differs."""
    outputs: Outputs = {}
    for _, files in made:
        outputs |= files
    outputs |= of_site or {}
    found = [path.relative_to(root) for path, data in outputs.items() if differs(path, data)]
    for path in found:
        print(f"{path}: differs from what its data give; run `tlsperf render`", file=sys.stderr)
    return 1 if found else 0


def _write(root: Path, made: _Files, of_site: Outputs, *, verbose: bool) -> None:
    """Writes the files of reports and answers as they are made, then those of the site."""
    rendered = written = 0
    for page, files in made:
        changed = _written(root, files, verbose=verbose)
        written += changed
        print(f"{page.id}: {_counted(changed)}", flush=True)
        rendered += isinstance(page, Page)
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
    rendered = [page for page in pages if not names or page.id in names]
    digests = {page.id: report_digest(root, page, pages, runs) for page in pages}
    found = {page.id: digests[page.id] for page in rendered}
    found |= {} if names else version_digests(root, read_versions(root), pages)
    Checked(root, "reports").record(found, all_of_them=not names)
    parts = {part.id for page in rendered for part in page.reports}
    answers = answer_digests(root, pages, digests)
    for answer in read_answers(root):
        if answer.id not in names and parts.isdisjoint(answer.answer.parts):
            del answers[answer.id]
    Checked(root, "answers").record(answers, all_of_them=not names)
