"""`tlsperf render`: writes the generated files of each report.

It writes these files beside `index.md`: results.json, results.csv, comparisons.json, page.json
(which templates read), an SVG file for each chart, and the picture for link previews. In `index.md`
it writes the table `[extra.generated]`. The same data give the same bytes.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from difflib import get_close_matches
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

from tlsperf.contract.errors import FormatError, UserError
from tlsperf.contract.record import Identifier
from tlsperf.contract.results import Caveat, Comparisons, Results
from tlsperf.contract.run import Report
from tlsperf.contract.text import counted, host_label
from tlsperf.load.addresses import EarlierNames, read_addresses, with_earlier_names
from tlsperf.load.nights import night_folders, read_nights
from tlsperf.load.notes import known_notes
from tlsperf.load.page import Page, read_pages
from tlsperf.load.results import parse_results, read_results
from tlsperf.load.run import read_runs
from tlsperf.load.toml_text import read_toml
from tlsperf.publish.assemble import Assembled, assembler
from tlsperf.publish.checked import OVERVIEWS, Checked, overviews_digest, report_digest, stale
from tlsperf.publish.exports import (
    comparisons_json,
    histograms_csv,
    layouts_csv,
    results_csv,
    results_json,
)
from tlsperf.publish.files import replace_file
from tlsperf.publish.index import index_files
from tlsperf.publish.nightly import nightly, nightly_files, nightly_folder
from tlsperf.publish.overviews import overview_files, question_files, scenario_folder, trend_folder
from tlsperf.publish.page import with_generated
from tlsperf.publish.page_check import page_problems, reference_problems, refuse
from tlsperf.publish.page_json import page_json
from tlsperf.publish.prose import typed_in_pages
from tlsperf.publish.reports import history, newest_first, replacements
from tlsperf.publish.scenarios import scenarios
from tlsperf.publish.scoreboard import scoreboard
from tlsperf.publish.trends import trends
from tlsperf.report.charts.kind import Drawing
from tlsperf.report.charts.svg import draw
from tlsperf.report.preview import FILE as PREVIEW
from tlsperf.report.preview import report_preview, scoreboard_preview, site_preview

HISTOGRAM: Final = "latency-histogram.csv"
LAYOUTS: Final = "layouts.csv"
_OVER_ALL: Final = (
    *("trends", "hosts", "libraries", "scenarios", "questions", "upgrades"),
    "nightly",
)
_INDEX: Final = (
    *("index.json", "index.csv", "datapackage.json"),
    *("reports.json", "replaced.json", "scenarios.json", "questions.json", "scoreboard.json"),
)
_ADDRESSES: Final = Path("data", "addresses.toml")
_CONFIG: Final = "config.toml"
_PREVIEW: Final = "static/preview.png"
_SCOREBOARD: Final = "static/scoreboard.png"
_MANY: Final = 4
"""With at least this many reports, another process draws the charts."""

Outputs = dict[Path, bytes | None]
"""The bytes that each file must have, or None for a generated file to remove."""

Drawn = Iterable[tuple[str, str]]
"""Name and text of each SVG file."""

Drawer = Callable[[Sequence[Drawing]], Drawn]


def render_reports(root: Path, names: Sequence[Identifier] = (), *, check: bool) -> int:
    """Renders the reports `names` below `root`, or all, with the pages over all reports.

    It prints the written files and returns the exit code. With `check` it writes nothing, and the
    exit code is 1 if a file would change or prose contains a typed comparison. Everything is
    computed before anything is written, so an error leaves all files unchanged.
    """
    pages = read_pages(root)
    chosen = _chosen(pages, names)
    refuse(page_problems(chosen, pages, read_runs(root / "data" / "runs"), root))
    outputs = _render(root, pages, chosen)
    if check:
        return _compared(root, outputs)
    changed = 0
    for path, data in outputs.items():
        if _is(path, data):
            continue
        changed += 1
        shown = path.relative_to(root)
        if data is None:
            path.unlink()
            print(f"removed {shown}")
        else:
            replace_file(path, data)
            print(f"wrote {shown}")
    _record(root, names)
    written = f"{counted(len(chosen), 'report')}, {counted(changed, 'file')} written"
    print(written, file=sys.stderr)
    return 0


def check_changed(root: Path) -> int:
    """As `render_reports` with `check`, but only for what differs from `data/checked.json`."""
    pages, runs = read_pages(root), read_runs(root / "data" / "runs")
    found = {page.report.id: report_digest(root, page, pages, runs) for page in pages}
    checked = Checked(root, "reports")
    names = stale(checked, found)
    overviews = checked.has(OVERVIEWS, overviews_digest(root, pages, _overview_paths(root)))
    print(f"{counted(len(names), 'report')} of {len(pages)} changed", file=sys.stderr)
    if not names and overviews:
        return _compared(root, {})
    chosen = [page for page in pages if page.report.id in names]
    refuse(page_problems(chosen, pages, runs, root))
    return _compared(root, _render(root, pages, chosen))


def _compared(root: Path, outputs: Outputs) -> int:
    """The exit code of a check, which prints each file that differs and each typed comparison."""
    found = [path.relative_to(root) for path, data in outputs.items() if not _is(path, data)]
    for path in found:
        print(f"{path}: differs from what its data give; run `tlsperf render`")
    typed = list(typed_in_pages(root / "content"))
    for words in typed:
        print(words)
    return 1 if found or typed else 0


def _record(root: Path, names: Sequence[Identifier]) -> None:
    """Records the reports that were rendered and the pages over all of them."""
    pages, runs = read_pages(root), read_runs(root / "data" / "runs")
    rendered = [page for page in pages if not names or page.report.id in names]
    found = {page.report.id: report_digest(root, page, pages, runs) for page in rendered}
    found[OVERVIEWS] = overviews_digest(root, pages, _overview_paths(root))
    Checked(root, "reports").record(found, all_of_them=not names)


def _chosen(pages: Sequence[Page], names: Sequence[Identifier]) -> list[Page]:
    """The pages of the reports `names`, or all pages without names."""
    by_id = {page.report.id: page for page in pages}
    for name in names:
        if name not in by_id:
            near = [known for known in by_id if name in known] or get_close_matches(name, by_id)
            listed = ", ".join(near) or "none; reports are the folders of content/perf"
            raise UserError(f"there is no report {name!r}; similar: {listed}")
    return [by_id[name] for name in dict.fromkeys(names)] if names else list(pages)


@contextmanager
def _drawer(reports: int) -> Iterator[Drawer]:
    """The function that draws charts; for many reports it uses another process.

    A chart takes 40 ms, and a process that draws takes a second to start. A second one would wait
    for the computation here.
    """

    def drawn(
        each: Callable[..., Iterable[str]], drawings: Sequence[Drawing]
    ) -> Iterator[tuple[str, str]]:
        charts = [drawing.chart for drawing in drawings]
        texts = each(draw, [drawing.picture for drawing in drawings], charts)
        return zip([chart.file for chart in charts], texts, strict=True)

    if reports < _MANY:
        yield lambda drawings: drawn(map, drawings)
        return
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        with _interrupts_held_back():
            process.submit(int)  # starts the process
        try:
            yield lambda drawings: drawn(process.map, drawings)
        except BaseException:
            process.shutdown(wait=False, cancel_futures=True)
            raise


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Delays Ctrl-C until the end of the block; a process started in the block never gets it.

    The mask is for that process. It is not enough here: if a thread of numpy gets the signal,
    Python still runs the handler in the main thread.
    """
    held: list[int] = []
    handler = signal.signal(signal.SIGINT, lambda number, _: held.append(number))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, handler)
    if held and callable(handler):
        handler(signal.SIGINT, None)


def _render(root: Path, pages: Sequence[Page], chosen: Sequence[Page]) -> Outputs:
    """The files of the chosen reports, and of the pages over all reports."""
    title, description = _of_site(root / _CONFIG)
    assemble = assembler(
        root, [page.report for page in pages], {page.report.id: page.calls for page in pages}
    )
    earlier = read_addresses(root / _ADDRESSES, [page.report.id for page in pages])
    for page in _suspects(chosen, root):  # reports mistakes before the long computation
        refuse(reference_problems(page, assemble(page.report).results, root))
    with _drawer(len(chosen)) as drawer:
        made: list[tuple[Page, Assembled, Drawn]] = []
        for page in chosen:
            assembled = assemble(page.report)
            refuse(reference_problems(page, assembled.results, root))
            made.append((page, assembled, drawer(assembled.drawings)))
        results = {page.report.id: assembled.results for page, assembled, _ in made}
        every = [
            (
                page.report,
                results.get(page.report.id) or read_results(page.path.parent / "results.json"),
            )
            for page in pages
        ]
        compared = {page.report.id: assembled.comparisons for page, assembled, _ in made}
        overviews = _overviews(root, every, compared, drawer)
        outputs: Outputs = {}
        notes = known_notes(root / "data")
        by = replacements(page.report for page in pages)
        for page, assembled, charts in made:
            drawn = _at_all_addresses(root, page, charts, earlier)
            replaced_by = by.get(page.report.id)
            outputs |= _outputs(page, assembled, drawn, notes, title, replaced_by)
        overviews[root / _PREVIEW] = site_preview(title, description)
        if board := scoreboard(newest_first([results for _, results in history(every)])):
            overviews[root / _SCOREBOARD] = scoreboard_preview(board, title)
        return outputs | dict.fromkeys(set(_overview_paths(root)) - set(overviews)) | overviews


def _at_all_addresses(root: Path, page: Page, charts: Drawn, earlier: EarlierNames) -> Drawn:
    """The charts of a report under their own names and under the earlier names."""
    names = earlier.get(page.report.id, {})
    return with_earlier_names(dict(charts), names, root / _ADDRESSES).items()


def _suspects(pages: Sequence[Page], root: Path) -> list[Page]:
    """Pages with references that the existing results, which may be old, do not have."""
    found = []
    for page in pages:
        path = page.path.parent / "results.json"
        results = parse_results(path.read_bytes()) if path.exists() else None
        if results is None or reference_problems(page, results, root):
            found.append(page)
    return found


def _of_site(config: Path) -> tuple[str, str]:
    """Title and description of the site, for previews. Raises FormatError."""
    table = read_toml(config)
    found = []
    for key in ("title", "description"):
        if not isinstance(value := table.get(key), str):
            what = f"no {key}" if value is None else f"{key} {value!r}"
            raise FormatError(str(config), None, what, f"{key} with a text")
        found.append(value)
    return found[0], found[1]


def _outputs(
    page: Page,
    assembled: Assembled,
    charts: Drawn,
    notes: Sequence[Caveat],
    site: str,
    replaced_by: Report | None,
) -> Outputs:
    """The files that the folder of a report must have."""
    results = assembled.results
    files = {
        "results.json": results_json(results),
        "results.csv": results_csv(results),
        "page.json": page_json(results, notes, page.calls),
        "comparisons.json": comparisons_json(assembled.comparisons),
    }
    if assembled.histograms:
        files[HISTOGRAM] = histograms_csv(assembled.histograms)
    if layouts := layouts_csv(results):
        files[LAYOUTS] = layouts
    files.update(charts)
    made = {name: text.encode() for name, text in files.items()}
    generated = _generated(results, replaced_by)
    if preview := report_preview(results, site):
        made[PREVIEW] = preview.png
        generated["preview"] = preview.alt
    folder = page.path.parent
    outputs: Outputs = {
        folder / name: None for name in page.generated.get("files", []) if name not in made
    }
    outputs |= {folder / name: data for name, data in made.items()}
    generated["files"] = list(made)
    outputs[page.path] = with_generated(page, generated).encode()
    return outputs


def _generated(results: Results, replaced_by: Report | None) -> dict[str, Any]:
    """The data that lists of reports, feeds and previews show without opening results.json."""
    replaced = (
        {"replaced_by": replaced_by.id, "replaced_by_title": replaced_by.title}
        if replaced_by
        else {}
    )
    corrected = [f"{of.title}: {of.statement}." for of in results.corrections]
    return {
        **replaced,
        **({"corrects": corrected} if corrected else {}),
        "headlines": [f"{h.title}: {h.statement}" for h in results.headlines],
        "versions": [i.label for i in results.implementations],
        "libraries": list(dict.fromkeys(i.library for i in results.implementations)),
        "hosts": [host_label(host) for host in results.hosts],
    }


# --- over all reports ----------------------------------------------------------------------------


def _overviews(
    root: Path,
    every: Sequence[tuple[Report, Results]],
    compared: Mapping[Identifier, Comparisons],
    drawer: Drawer,
) -> Outputs:
    """The pages and the index over all reports that no other one replaces."""
    covered = history(every)
    notes = known_notes(root / "data")
    through, shared = trends(covered, notes), scenarios(covered, notes)
    drawn = [(trend_folder(trend), drawer(drawings)) for trend, drawings in through]
    drawn += [(scenario_folder(scenario), drawer(drawings)) for scenario, drawings in shared]
    by_night = [page for folder in night_folders(root) for page in nightly(read_nights(folder))]
    drawn += [(nightly_folder(page), drawer(drawings)) for page, drawings in by_night]
    shown, overviews = [results for _, results in covered], [scenario for scenario, _ in shared]
    pages = overview_files([trend for trend, _ in through], overviews, shown, notes)
    for page, _ in by_night:
        pages |= nightly_files(page)
    files = {f"content/{name}": text for name, text in pages.items()}
    gone = replacements(report for report, _ in every)
    replaced = [results for report, results in every if report.id in gone]
    lists = index_files(shown, overviews, replaced)
    files |= {f"data/{name}": text for name, text in lists.items()}
    files |= question_files(shown, lambda report: _comparisons(root, compared, report), overviews)
    for folder, charts in drawn:
        files |= {f"content/{folder}/{name}": text for name, text in charts}
    return {root / name: text.encode() for name, text in files.items()}


def _comparisons(
    root: Path, compared: Mapping[Identifier, Comparisons], report: Identifier
) -> Comparisons:
    """The comparisons of a report, from this rendering or from the file beside its page."""
    if report in compared:
        return compared[report]
    path = root / "content" / "perf" / report / "comparisons.json"
    return Comparisons.model_validate_json(path.read_bytes())


def _overview_paths(root: Path) -> list[Path]:
    """The existing generated files over all reports; a person writes `_index.md`."""
    pages = (path for name in _OVER_ALL for path in (root / "content" / name).glob("*/*"))
    index = (root / "data" / name for name in _INDEX)
    return sorted(
        path for path in (*pages, *index, root / _PREVIEW, root / _SCOREBOARD) if path.is_file()
    )


# --- files ---------------------------------------------------------------------------------------


def _is(path: Path, data: bytes | None) -> bool:
    there = path.read_bytes() if path.exists() else None
    return there == data
