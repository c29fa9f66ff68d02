"""`tlsperf render`: writes into each report what is drawn from data.

Beside `index.md` stand results.json, results.csv, an SVG file a chart and the picture that link
previews show; in it the table `[extra.generated]`. The same data give the same bytes. A report
whose inputs (its page, the run.toml of its runs with the checksums of their raw files, hosts, these
tools) and outputs are as the last rendering left them is not rendered again; what that was is noted
in build/, not in git.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import cache
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tlsperf.contract.errors import UserError
from tlsperf.contract.record import SCENARIO_FIELDS, Identifier
from tlsperf.contract.results import Results
from tlsperf.contract.run import Report, Run
from tlsperf.contract.text import host_label
from tlsperf.report.page import Page, read_page, with_generated

if TYPE_CHECKING:
    from tlsperf.load.histograms import Histograms
    from tlsperf.load.run import LoadedRun
    from tlsperf.report.charts import Each

_PACKAGES: Final = (
    *("numpy", "pandas", "pillow", "pydantic", "pyoxipng", "scipy", "tomlkit"),
    "vl-convert-python",
)
_OVER_ALL: Final = ("trends", "hosts", "libraries")
_INDEX: Final = ("index.json", "index.csv", "reports.json", "explore.json")
_CONFIG: Final = "config.toml"
_PREVIEW: Final = "static/preview.png"
_MANY: Final = 4
"""Reports from which charts are drawn in another process."""

_OVERVIEWS: Final = "pages over all reports"


def render_reports(root: Path, *, check: bool) -> int:
    """Renders all reports below `root` and prints what was written; the exit code.

    With `check` nothing is written, nothing is taken from the note of the last rendering, and the
    exit code is 1 if a file would change.
    """
    pages = [read_page(path) for path in sorted((root / "content" / "perf").glob("*/index.md"))]
    note = root / "build" / "render.json"
    known: dict[str, str] = {} if check else _read_note(note)
    around = _surroundings(root, pages)
    stale = [page for page in pages if known.get(page.report.id) != _state(root, page, around)]
    changed = 0
    over_all = bool(stale) or known.get(_OVERVIEWS) != _overview_state(root, pages)
    with _drawer(len(stale)) as each:
        outputs = _render(root, stale, [page.report for page in pages], each)
        if over_all:
            outputs |= _overviews(root, pages, outputs, each)
    for path, data in outputs.items():
        if _is(path, data):
            continue
        changed += 1
        shown = path.relative_to(root)
        if check:
            print(f"{shown}: differs from what its data give; run `tlsperf render`")
        elif data is None:
            path.unlink()
            print(f"removed {shown}")
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            _replace(path, data)
            print(f"wrote {shown}")
    if check:
        return 1 if changed else 0
    if over_all:
        states = {p.report.id: _state(root, read_page(p.path), around) for p in stale}
        states[_OVERVIEWS] = _overview_state(root, pages)
        kept = {p.report.id: known[p.report.id] for p in pages if p.report.id in known}
        note.parent.mkdir(exist_ok=True)
        _replace(note, (json.dumps(kept | states, indent=1, sort_keys=True) + "\n").encode())
    print(f"{len(pages)} reports, {changed} files written", file=sys.stderr)
    return 0


@contextmanager
def _drawer(reports: int) -> Iterator[Each]:
    """What draws the charts of so many reports: beside this process where they are many.

    A chart takes 40 ms, a process that draws a second to start; two would wait for what is
    computed here.
    """
    if reports < _MANY:
        yield map
        return
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        yield process.map


def _render(
    root: Path, pages: Sequence[Page], reports: Sequence[Report], each: Each
) -> dict[Path, bytes | None]:
    """What the folders of pages must hold: bytes, or None for a file of ours that has no place now.

    Everything is drawn before anything is written, so that an error leaves all as it was.
    """
    if not pages:
        return {}
    from tlsperf.load.histograms import read_histograms
    from tlsperf.load.run import loader, read_runs, read_toml
    from tlsperf.report.charts import draw_charts

    folder = root / "data" / "runs"
    load = loader(folder)
    complete = completer(root, reports, read_runs(folder), load)
    made = []
    for page in pages:
        results = complete(page.report)
        histograms = {
            key: bins
            for run in page.report.runs
            for key, bins in read_histograms(folder / run, load(run)).items()
        }
        made.append((page, results, histograms, draw_charts(results, histograms, each)))
    outputs: dict[Path, bytes | None] = {}
    site = read_toml(root / _CONFIG)["title"]
    for page, results, histograms, charts in made:
        outputs |= _outputs(page, results, histograms, charts, site)
    return outputs


def completer(
    root: Path,
    reports: Sequence[Report],
    all_runs: Mapping[Identifier, Run],
    load: Callable[[Identifier], LoadedRun],
) -> Callable[[Report], Results]:
    """A function that makes all that a report shows, of what lies below `root`.

    `reports` and `all_runs` are all there are: a report is compared with an earlier one. `load`
    gives a run's figures by its id.
    """
    from tlsperf.analysis.factors import quoted_factors
    from tlsperf.analysis.series import MeasuredReport, MeasuredRun, measured
    from tlsperf.load.notes import notes_for, read_notes
    from tlsperf.load.run import read_hosts
    from tlsperf.published.as_published import as_published, read_definitions
    from tlsperf.report.charts import describe_charts
    from tlsperf.report.results import measured_report
    from tlsperf.report.sections import sections

    known = root / "data" / "notes.toml"
    notes = read_notes(known) if known.exists() else []
    definitions = read_definitions(root / "data" / "comparisons")
    hosts = read_hosts(root / "data" / "hosts")
    by_id = {report.id: report for report in reports}

    @cache
    def run_of(run_id: Identifier) -> MeasuredRun:
        return measured(load(run_id))

    @cache
    def report_of(report_id: Identifier) -> MeasuredReport:
        report = by_id[report_id]
        return measured_report(report, [run_of(run) for run in report.runs], hosts)

    def complete(report: Report) -> Results:
        runs = [run_of(run) for run in report.runs]
        results = report_of(report.id).results
        found = sections(report, reports, all_runs, run_of, report_of) | {
            "notes": notes_for(results, notes),
            "factors": quoted_factors(report, results),
            "published": as_published(definitions, runs),
            "charts": describe_charts(results),
        }
        return results.model_copy(update=found)

    return complete


def _outputs(
    page: Page,
    results: Results,
    histograms: Histograms,
    charts: Iterable[tuple[str, str]],
    site: str,
) -> dict[Path, bytes | None]:
    from tlsperf.load.histograms import FILE, histograms_csv
    from tlsperf.report.preview import FILE as PREVIEW
    from tlsperf.report.preview import report_preview

    files = {"results.json": results_json(results), "results.csv": results_csv(results)}
    if histograms:
        files[FILE] = histograms_csv(histograms)
    files.update(charts)
    made = {name: text.encode() for name, text in files.items()}
    generated = _generated(results)
    if preview := report_preview(results, site):
        made[PREVIEW] = preview.png
        generated["preview"] = preview.alt
    folder = page.path.parent
    outputs: dict[Path, bytes | None] = {
        folder / name: None for name in page.generated.get("files", []) if name not in made
    }
    outputs |= {folder / name: data for name, data in made.items()}
    generated["files"] = list(made)
    outputs[page.path] = with_generated(page, generated).encode()
    return outputs


def _overviews(
    root: Path, pages: Sequence[Page], outputs: Mapping[Path, bytes | None], each: Each
) -> dict[Path, bytes | None]:
    """The pages, index and picture over all reports, of the results there are or in `outputs`."""
    from tlsperf.load.notes import read_notes
    from tlsperf.load.run import is_first_look, read_toml
    from tlsperf.publish.index import index_files
    from tlsperf.publish.overviews import overview_files
    from tlsperf.report.preview import site_preview

    reports = []
    for page in pages:
        path = page.path.parent / "results.json"
        text = outputs.get(path) or path.read_bytes()
        results = Results.model_validate_json(text)
        if not is_first_look(run.suite for run in results.runs):
            reports.append((page.report, results))
    known = root / "data" / "notes.toml"
    files = overview_files(reports, read_notes(known) if known.exists() else [], each)
    made = {root / "content" / name: text.encode() for name, text in files.items()}
    made |= {
        root / "data" / name: text.encode()
        for name, text in index_files([results for _, results in reports]).items()
    }
    site = read_toml(root / _CONFIG)
    made[root / _PREVIEW] = site_preview(site["title"], site["description"])
    return dict.fromkeys(set(_overview_paths(root)) - set(made), None) | made


def _overview_paths(root: Path) -> list[Path]:
    """The files that are there over all reports; `_index.md` is a person's."""
    pages = (path for name in _OVER_ALL for path in (root / "content" / name).glob("*/*"))
    index = (root / "data" / name for name in _INDEX)
    return sorted(path for path in (*pages, *index, root / _PREVIEW) if path.is_file())


def results_json(results: Results) -> str:
    """The text of results.json: fields that are absent are left out."""
    table = results.model_dump(mode="json", by_alias=True, exclude_none=True)
    return json.dumps(table, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def results_csv(results: Results) -> str:
    """The text of results.csv: a line for each cell of each table."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    cell_fields = ("value", "low", "high", "count", "spread_percent", "valid", "note")
    ratio_fields = ("value", "low", "high", "verdict", "paired")
    writer.writerow(
        [
            *("table", "anchor", "name", *SCENARIO_FIELDS, "phase", "metric", "statistic"),
            *("implementation", "unit", *cell_fields),
            *("baseline", *(f"ratio_{field}" for field in ratio_fields)),
        ]
    )
    for table in results.tables:
        for row in table.rows:
            scenario = [getattr(row.scenario, field) for field in SCENARIO_FIELDS]
            for cell in row.cells:
                ratio = cell.ratio
                writer.writerow(
                    [
                        *(table.anchor, row.anchor, row.name, *scenario),
                        *(row.phase, row.metric, row.statistic, cell.implementation, table.unit),
                        *(_csv(getattr(cell, field)) for field in cell_fields),
                        table.baseline if ratio else None,
                        *(_csv(getattr(ratio, f)) if ratio else None for f in ratio_fields),
                    ]
                )
    return text.getvalue()


def _csv(value: object) -> object:
    return str(value).lower() if isinstance(value, bool) else value


def _generated(results: Results) -> dict[str, Any]:
    """What lists of reports, feeds and previews show without opening results.json."""
    return {
        "headlines": [f"{h.title}: {h.statement}" for h in results.headlines],
        "versions": [i.label for i in results.implementations],
        "libraries": list(dict.fromkeys(i.library for i in results.implementations)),
        "hosts": [host_label(host) for host in results.hosts],
    }


# --- what is there already -----------------------------------------------------------------------


def _surroundings(root: Path, pages: Sequence[Page]) -> bytes:
    """A checksum over what any report may be compared with: all reports and all runs."""
    digest = hashlib.sha256()
    for page in pages:
        digest.update(page.report.model_dump_json().encode())
    for path in sorted((root / "data" / "runs").glob("*/run.toml")):
        digest.update(path.read_bytes())
    return digest.digest()


def _state(root: Path, page: Page, around: bytes) -> str:
    """A checksum over all that a report is made of, and over what was made of it."""
    digest = hashlib.sha256(_tools().encode() + around)
    paths = [page.path, root / _CONFIG]
    paths += sorted((root / "data" / "comparisons").glob("*.toml"))
    paths += [root / "data" / "notes.toml", *sorted((root / "data" / "hosts").glob("*.toml"))]
    paths += [page.path.parent / name for name in page.generated.get("files", [])]
    for path in paths:
        data = path.read_bytes() if path.exists() else b""
        digest.update(f"{path.relative_to(root)} {len(data)}\n".encode())
        digest.update(data)
    return digest.hexdigest()


def _overview_state(root: Path, pages: Sequence[Page]) -> str:
    """A checksum over all that the pages over all reports are made of, and over them."""
    digest = hashlib.sha256(_tools().encode())
    paths = [p for page in pages for p in (page.path, page.path.parent / "results.json")]
    paths += [root / "data" / "notes.toml", root / _CONFIG, *_overview_paths(root)]
    for path in paths:
        data = path.read_bytes() if path.exists() else b""
        digest.update(f"{path.relative_to(root)} {len(data)}\n".encode())
        digest.update(data)
    return digest.hexdigest()


@cache
def _tools() -> str:
    """A checksum over these tools and the packages whose results are in what is written."""
    digest = hashlib.sha256()
    folder = Path(__file__).parents[1]
    for path in sorted(folder.rglob("*.py")):
        digest.update(path.relative_to(folder).as_posix().encode())
        digest.update(path.read_bytes())
    for package in _PACKAGES:
        digest.update(f"{package} {version(package)}\n".encode())
    return digest.hexdigest()


def _read_note(path: Path) -> dict[str, str]:
    try:
        note: Mapping[str, str] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise UserError(f"{path}: {error}; remove it, it is made again") from None
    return dict(note)


def _is(path: Path, data: bytes | None) -> bool:
    there = path.read_bytes() if path.exists() else None
    return there == data


def _replace(path: Path, data: bytes) -> None:
    beside = path.with_name(f".{path.name}.new")
    beside.write_bytes(data)
    beside.replace(path)
