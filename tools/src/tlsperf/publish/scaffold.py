"""`tlsperf new`: makes the folder of a report, with prose for a person to complete."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Final

import tomlkit

from tlsperf.analysis.changes import predecessor
from tlsperf.contract.errors import UserError
from tlsperf.contract.libraries import NAMES
from tlsperf.contract.record import Identifier
from tlsperf.contract.results import Results
from tlsperf.contract.run import Implementation, Report, Run
from tlsperf.contract.text import host_label, implementation_label, listed, markdown
from tlsperf.load.page import read_pages
from tlsperf.load.run import read_run, read_runs
from tlsperf.publish.assemble import assembler
from tlsperf.publish.reports import moment

MOST_IN_TITLE: Final = 4


def new_report(
    root: Path,
    run_ids: Sequence[Identifier],
    slug: str | None = None,
    title: str | None = None,
    on: date | None = None,
) -> Path:
    """Writes `index.md` of a new report on runs and returns its path.

    By default, its name comes from the first run and its date is that of the last run. Raises
    UserError if a run cannot be read or the report exists.
    """
    runs = [read_run(root / "data" / "runs" / run_id) for run_id in run_ids]
    when = on or max(run.date for run in runs)
    if slug is None:
        slug = run_ids[0].removeprefix(f"{runs[0].date}-")
    name = f"{when}-{slug}"
    folder = root / "content" / "perf" / name
    if (folder / "index.md").exists():
        raise UserError(f"{folder}: this report exists; choose another name with --slug")
    implementations = list({i.id: i for run in runs for i in run.implementations}.values())
    pages = read_pages(root)
    others = [page.report for page in pages]
    all_runs = read_runs(root / "data" / "runs")
    report = Report(
        id=name,
        title=title or _title(implementations, runs),
        date=when,
        time=_time(when, runs, others),
        runs=list(run_ids),
        baseline=baseline_of(implementations),
        previous=None,
    )
    before = predecessor(report, others, all_runs)
    report = report.model_copy(update={"previous": before.id if before else None})
    results = assembler(root, pages, [report])(report).results
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "index.md"
    path.write_text(report_page(report, results), encoding="utf-8")
    return path


def _time(day: date, runs: Sequence[Run], others: Sequence[Report]) -> datetime | None:
    """When the last run finished, if on that day; one second later for each report with
    that time.
    """
    finished = [run.finished.astimezone(UTC) for run in runs if run.finished]
    last = max(finished).replace(microsecond=0) if finished else None
    at = moment(day, last if last and last.date() == day else None)
    taken = {moment(other.date, other.time) for other in others}
    while at in taken:
        at += timedelta(seconds=1)
    return None if at == moment(day, None) else at


def _title(implementations: Sequence[Implementation], runs: Sequence[Run]) -> str:
    """The title in the style of rustls.dev: rustls 0.23.40 vs OpenSSL 3.6.3, suite standard.

    A suite named as a unit, such as `threads`, would otherwise read as a figure.
    """
    names = [f"{NAMES[i.library]} {i.version}" for i in sorted(implementations, key=_order)]
    distinct = list(dict.fromkeys(names))
    if len(distinct) > MOST_IN_TITLE:
        libraries = dict.fromkeys(NAMES[i.library] for i in implementations)
        distinct = [f"{len(implementations)} builds of {', '.join(libraries)}"]
    suites = list(dict.fromkeys(run.suite.name for run in runs if run.suite))
    named = f", suite{'s' if len(suites) > 1 else ''} {' and '.join(suites)}" if suites else ""
    return " vs ".join(distinct) + named


def _order(implementation: Implementation) -> int:
    return list(NAMES).index(implementation.library)


def baseline_of(implementations: Sequence[Implementation]) -> Identifier | None:
    """OpenSSL if it was measured, because most readers use it; else the first of several."""
    if len(implementations) < 2:
        return None
    openssl = [i.id for i in implementations if i.library == "openssl"]
    return openssl[0] if openssl else implementations[0].id


def _description(results: Results) -> str:
    labels = [implementation_label(i) for i in results.implementations]
    if len(labels) > MOST_IN_TITLE:
        counts = Counter(NAMES[i.library] for i in results.implementations)
        labels = [
            f"{count} builds of {name}" if count > 1 else name for name, count in counts.items()
        ]
    libraries = listed(labels)
    hosts = ", ".join(map(host_label, results.hosts))
    kinds = ", ".join(_within(t.title) for t in results.tables if not t.by_phase)
    return f"{libraries} on {hosts}: {kinds}."


def report_page(report: Report, results: Results) -> str:
    """The text of `index.md` of a new report."""
    document = tomlkit.document()
    document.add("title", tomlkit.item(report.title))
    document.add("date", tomlkit.item(report.time or report.date))
    document.add("description", tomlkit.item(_description(results)))
    libraries = list(dict.fromkeys(i.library for i in results.implementations))
    taxonomies = tomlkit.table()
    taxonomies.add("feeds", ["performance"])
    taxonomies.add("tags", libraries)
    document.add("taxonomies", taxonomies)
    settings = tomlkit.table()
    settings.add("runs", report.runs)
    if report.baseline:
        settings.add("baseline", report.baseline)
    if report.previous:
        settings.add("previous", report.previous)
    for line in _TO_WRITE:
        settings.add(tomlkit.comment(line))
    document.add("extra", tomlkit.table(is_super_table=True).add("report", settings))
    head = f"+++\n{tomlkit.dumps(document)}+++\n"
    return "\n".join([head, *(f"{part}\n" for part in _body(results))])


def _body(results: Results) -> list[str]:
    parts = ["## In short", "{{ headline() }}", "{{ warnings() }}"]
    parts += ["## Observations", _HOW_TO_READ]
    if results.prices:
        parts.append("## The price list")
        for prices in results.prices:
            parts += _charts(results, prices.anchor)
            parts.append(f'{{{{ table(id="{prices.anchor}") }}}}')
    parts.append("## Results")
    for table in results.tables:
        if table.by_phase:
            continue
        parts.append(f'{{{{ table(id="{table.anchor}") }}}}')
        parts += _charts(results, table.anchor)
    if results.sockets:
        parts += ["## Library, kernel and the rest", "{{ sockets() }}"]
    if results.changes:
        parts += ["## Changes since the last comparable report", "{{ changes() }}"]
    parts += ["## What was measured", _measured(results)]
    parts += ["## System configuration", "{{ host() }}"]
    parts += ["## Versions and builds", "{{ versions() }}"]
    parts += ["## How it was measured", "{{ commands() }}"]
    if any(table.by_phase for table in results.tables):
        parts.append(_PHASES)
    if results.noise:
        parts += ["### Noise floor", "{{ noise() }}"]
    if results.notes:
        parts += ["## What to know about these numbers", "{{ notes() }}"]
    return [*parts, "## Raw data", "{{ raw() }}"]


def _charts(results: Results, table: str) -> list[str]:
    """The shortcodes of a table's charts."""
    charts = [chart for chart in results.charts if chart.table == table]
    return [f'{{{{ chart(id="{chart.anchor}") }}}}' for chart in charts]


_TO_WRITE: Final = (
    'Under "In short", write two to four sentences, the answer first: who is ahead, by about how',
    "much, for whom it matters. Each that compares needs [[extra.claims]]: publish-a-report.md of",
    "the guides of tlsperf.",
)
"""A comment of the front matter, which no page shows."""
_HOW_TO_READ: Final = (
    "Each row compares the implementations in one scenario. Its ratio has an interval; the verdict "
    "follows from that interval and the noise floor."
)
# Tables of phases would be half of the page; an author can add one.
_PHASES: Final = (
    "A handshake's cost is the sum of the phases of its side: construction of the connection, each "
    "flight that the side reads or writes, and the tickets. `results.csv` has the phases of every "
    "scenario."
)


def _within(title: str) -> str:
    """A title for use within a sentence. Only the first letter changes, because the rest may be a
    unit; an abbreviation such as TLS stays.
    """
    return title if title[1:2].isupper() else title[0].lower() + title[1:]


def _measured(results: Results) -> str:
    kinds = [_within(t.title) for t in results.tables if not t.by_phase]
    figures = listed(kinds)
    tools = " and ".join(dict.fromkeys(markdown(run.tool.name) for run in results.runs))
    return f"{figures[0].upper()}{figures[1:]}, each side of a connection by itself, by {tools}."
