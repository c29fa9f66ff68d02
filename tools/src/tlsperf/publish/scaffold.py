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
from tlsperf.contract.results import Results, Table
from tlsperf.contract.run import Implementation, Report, Run
from tlsperf.contract.text import implementation_label, listed, markdown
from tlsperf.load.page import read_pages
from tlsperf.load.run import read_run, read_runs
from tlsperf.publish.assemble import assembler
from tlsperf.publish.reports import moment
from tlsperf.report.hosts import hosts_of

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
    implementations = _builds(runs)
    pages = read_pages(root)
    others = [part for page in pages for part in page.reports]
    all_runs = read_runs(root / "data" / "runs")
    head = {
        "page": name,
        "title": title or _title(implementations, runs),
        "date": when,
        "time": _time(when, runs, others),
    }
    parts = []
    for of in _parts(runs):
        part = Report(
            id=of[0].id, runs=[run.id for run in of], baseline=baseline_of(_builds(of)), **head
        )
        before = predecessor(part, others, all_runs)
        parts.append(part.model_copy(update={"previous": before.id if before else None}))
    if len(parts) == 1:
        parts = [parts[0].model_copy(update={"id": name, "page": ""})]
    assemble = assembler(root, pages, parts)
    results = [assemble(part).results for part in parts]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "index.md"
    path.write_text(report_page(parts, results), encoding="utf-8")
    return path


def _builds(runs: Sequence[Run]) -> list[Implementation]:
    return list({i.id: i for run in runs for i in run.implementations}.values())


def _parts(runs: Sequence[Run]) -> list[list[Run]]:
    """The runs of each part: those of a host, if an implementation was measured on several."""
    by_host: dict[Identifier, list[Run]] = {}
    for run in runs:
        by_host.setdefault(run.host_id, []).append(run)
    builds = [i.id for of in by_host.values() for i in _builds(of)]
    return list(by_host.values()) if len(set(builds)) < len(builds) else [list(runs)]


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


def _description(parts: Sequence[Results]) -> str:
    builds = list({i.id: i for part in parts for i in part.implementations}.values())
    labels = [implementation_label(i) for i in builds]
    if len(labels) > MOST_IN_TITLE:
        counts = Counter(NAMES[i.library] for i in builds)
        labels = [
            f"{count} builds of {name}" if count > 1 else name for name, count in counts.items()
        ]
    libraries = listed(labels)
    hosts = listed([*hosts_of(parts).values()])
    kinds = ", ".join(_within(table.title) for table in _tables(parts))
    return f"{libraries} on {hosts}: {kinds}."


def _tables(parts: Sequence[Results]) -> list[Table]:
    """The tables of all parts, each once, without those by phase."""
    tables = (table for part in parts for table in part.tables if not table.by_phase)
    return list({table.anchor: table for table in tables}.values())


def report_page(parts: Sequence[Report], results: Sequence[Results]) -> str:
    """The text of `index.md` of a new report."""
    report = parts[0]
    document = tomlkit.document()
    document.add("title", tomlkit.item(report.title))
    document.add("date", tomlkit.item(report.time or report.date))
    document.add("description", tomlkit.item(_description(results)))
    libraries = list(dict.fromkeys(i.library for of in results for i in of.implementations))
    taxonomies = tomlkit.table()
    taxonomies.add("libraries", libraries)
    document.add("taxonomies", taxonomies)
    settings = tomlkit.table()
    for line in _TO_WRITE:
        settings.add(tomlkit.comment(line))
    if len(parts) == 1:
        _add(settings, report)
    else:
        tables = tomlkit.aot()
        for part in parts:
            tables.append(_add(tomlkit.table(), part))
        settings.add("parts", tables)
    document.add("extra", tomlkit.table(is_super_table=True).add("report", settings))
    head = f"+++\n{tomlkit.dumps(document)}+++\n"
    return "\n".join([head, *(f"{part}\n" for part in _body(results))])


def _add(settings: tomlkit.items.Table, part: Report) -> tomlkit.items.Table:
    settings.add("runs", part.runs)
    if part.baseline:
        settings.add("baseline", part.baseline)
    if part.previous:
        settings.add("previous", part.previous)
    return settings


def _body(results: Sequence[Results]) -> list[str]:
    parts = ["{{ picture() }}"]
    prices = {table.anchor: table for of in results for table in of.prices or ()}
    for table in [*prices.values(), *_tables(results)]:
        parts.append(f'{{{{ table(id="{table.anchor}") }}}}')
        parts += _charts(results, table.anchor)
    if any(of.sockets for of in results):
        parts += ["## Library, kernel and the rest", "{{ sockets() }}"]
    if any(of.changes for of in results):
        parts += ["## Changes since the last comparable report", "{{ changes() }}"]
    parts += ["## How it was measured", _measured(results)]
    return [*parts, *(["{{ notes() }}"] if any(of.notes for of in results) else [])]


def _charts(parts: Sequence[Results], table: str) -> list[str]:
    """The shortcodes of a table's charts."""

    def call(part: Results, anchor: Identifier) -> str:
        named = f', part="{part.id}"' if len(parts) > 1 else ""
        return f'{{{{ chart(id="{anchor}"{named}) }}}}'

    return [call(part, of.anchor) for part in parts for of in part.charts if of.table == table]


_TO_WRITE: Final = (
    "Before the picture, write two to four sentences, the answer first: who is ahead, by about how",
    "much, for whom it matters. Each that compares needs [[extra.claims]]: publish-a-report.md of",
    "the guides of tlsperf.",
)
"""A comment of the front matter, which no page shows."""


def _within(title: str) -> str:
    """A title for use within a sentence. Only the first letter changes, because the rest may be a
    unit; an abbreviation such as TLS stays.
    """
    return title if title[1:2].isupper() else title[0].lower() + title[1:]


def _measured(parts: Sequence[Results]) -> str:
    figures = listed([_within(table.title) for table in _tables(parts)])
    runs = (run for part in parts for run in part.runs)
    tools = " and ".join(dict.fromkeys(markdown(run.tool.name) for run in runs))
    return f"{figures[0].upper()}{figures[1:]}, each side of a connection by itself, by {tools}."
