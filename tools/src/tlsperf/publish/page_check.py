"""Checks the hand-written parts of a report before rendering.

`page_problems` needs only the page, `reference_problems` the results that it shows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from tlsperf.contract.errors import FormatError, UserError, alternatives, message_of
from tlsperf.contract.record import Identifier
from tlsperf.contract.results import Results
from tlsperf.contract.shipped import THEME
from tlsperf.contract.text import listed
from tlsperf.load.content import page_content
from tlsperf.load.page import Page, report_names
from tlsperf.load.shortcodes import Call
from tlsperf.publish.assemble import results_of
from tlsperf.publish.page_json import rows_with
from tlsperf.publish.prose import NUMBER
from tlsperf.publish.reports import same_time

SHORTCODES: Final = "templates/shortcodes/*.*"
DIAGRAMS: Final = "static/diagrams/*.svg"


def refuse(problems: Sequence[FormatError | str]) -> None:
    """Raises UserError with all problems, one line each, if there are any."""
    if problems:
        raise UserError("\n".join(dict.fromkeys(map(str, problems))))


# --- checks of the page alone --------------------------------------------------------------------


def page_problems(pages: Sequence[Page], every: Sequence[Page], root: Path) -> list[FormatError]:
    """The problems in `pages` that can be found without their figures; `every` has all pages."""
    runs = [path.parent.name for path in sorted((root / "data" / "runs").glob("*/run.toml"))]
    shortcodes = _names(root, SHORTCODES)
    doubled = same_time(page.first for page in every)
    ids = Counter(part.id for page in every for part in page.reports)
    # A report may have the name of its own first run.
    ids += Counter(page.id for page in every if page.id not in {part.id for part in page.reports})
    parts = [*dict.fromkeys([*ids, *report_names(root)])]
    found: list[FormatError] = []
    for page in pages:
        for part in (part for part in page.reports if ids[part.id] > 1):
            found.append(
                FormatError(
                    str(page.path),
                    page.line_of(part.id),
                    f"two parts {part.id}",
                    "a run as the first of only one part, and of no report of its name",
                )
            )
        if other := doubled.get(page.first.id):
            what = f"the date of {other}"
            expected = (
                "a time of its own, as date = 2026-11-21T16:02:39Z: lists and feeds follow it"
            )
            found.append(FormatError(str(page.path), page.line_of("date ="), what, expected))
        found += page_content(page.path, page.path.relative_to(root / "content"))
        found += _front_matter(page, runs, parts)
        found += _unknown_shortcodes(page, shortcodes)
    return found


def _front_matter(
    page: Page, runs: Sequence[Identifier], parts: Sequence[Identifier]
) -> Iterator[FormatError]:
    report = page.first
    for key, value in (("title", report.title), ("description", page.description)):
        if not (value or "").strip():
            expected = "a sentence that feeds, lists and link previews show"
            found = f"an empty {key}" if value is not None else f"no {key}"
            yield FormatError(str(page.path), page.line_of(key), found, expected)
    for revision in report.history:
        if typed := NUMBER.search(revision.text):
            expected = "what changed, without figures: the page has the new ones, git the old ones"
            found = f"the typed number {typed[0]!r}"
            yield FormatError(str(page.path), page.line_of(revision.text), found, expected)
    for run in page.runs:
        if run not in runs:
            expected = alternatives(run, runs, "data/runs")
            yield FormatError(str(page.path), page.line_of(run), f"the run {run!r}", expected)
    for run, count in Counter(run for part in page.reports for run in part.runs).items():
        if count > 1:
            expected = "a run in one part, as two parts of it would be two measurements"
            found = f"the run {run!r} in {count} parts"
            yield FormatError(str(page.path), page.line_of(run), found, expected)
    for part in page.reports:
        if part.previous is not None and part.previous not in parts:
            others = [name for name in parts if name != part.id]
            expected = alternatives(part.previous, others, "content/perf")
            found = f"the previous report {part.previous!r}"
            yield FormatError(str(page.path), page.line_of(part.previous), found, expected)
        if part.previous == part.id:
            found = "the report as its own predecessor"
            expected = "an earlier report, or no `previous`"
            yield FormatError(str(page.path), page.line_of("previous"), found, expected)


def _unknown_shortcodes(page: Page, known: Sequence[str]) -> Iterator[FormatError]:
    for call in page.calls:
        if known and call.name not in known:
            found = f"the shortcode {call.name}()"
            yield FormatError(call.file, call.line, found, alternatives(call.name, known))


# --- checks against the figures ------------------------------------------------------------------

_SECTIONS: Final = {
    "changes": "a `previous` report of the same processor model in [extra.report]",
    "sockets": "runs with handshakes in memory beside the connections",
    "published": "a table of data/comparisons of its runs",
}
"""Shortcodes that show a part of results.json, and what a report needs to have that part."""


def reference_problems(page: Page, parts: Sequence[Results], root: Path) -> list[FormatError]:
    """References in a page's text to tables, charts or sections that none of its parts has."""
    before = next((part.previous for part in page.reports if part.previous), None)
    return [problem for of in page.calls for problem in _references(of, parts, root, before)]


def _references(
    call: Call, parts: Sequence[Results], root: Path, before: Identifier | None
) -> Iterator[FormatError]:
    name, given = call.name, call.arguments

    def problem(found: str, expected: str) -> FormatError:
        return FormatError(call.file, call.line, found, expected)

    if name in _SECTIONS and not any(getattr(results, name) for results in parts):
        why = _damaged(root, before) if name == "changes" and before else ""
        yield problem(f"{name}()", why or f"nothing: it needs {_SECTIONS[name]}")
    if (name == "chart" and len(parts) > 1) or (name == "table" and "part" in given):
        ids = [results.id for results in parts]
        if given.get("part") not in ids:
            yield problem(f"{name}() with the part {given.get('part')!r}", f"one of {listed(ids)}")
            return
        parts = [results for results in parts if results.id == given["part"]]
    if (
        name == "table"
        and given.get("rows")
        and not rows_with(parts, given.get("id", ""), given["rows"])
    ):
        yield problem(f'table(rows="{given["rows"]}")', "words in the anchor of a row of the table")
    for argument, known in _known_names(name, parts, root).items():
        if argument not in given:
            yield problem(f"{name}() without {argument}", f'{argument}="…"')
        elif given[argument] not in known:
            found = f'{name}({argument}="{given[argument]}")'
            yield problem(found, alternatives(given[argument], known, "results.csv"))


def _damaged(root: Path, before: Identifier) -> str:
    """Why an earlier report has no figures; empty if it has."""
    try:
        results_of(root, before)
    except (UserError, OSError) as error:
        return f"a predecessor that can be read: {message_of(error)}"
    return ""


def _known_names(
    shortcode: str, parts: Sequence[Results], root: Path
) -> Mapping[str, Sequence[str]]:
    """The valid names for each argument of a shortcode."""
    match shortcode:
        case "table":
            tables = [t for of in parts for t in [*of.tables, *(of.prices or ())]]
            return {"id": list(dict.fromkeys(table.anchor for table in tables))}
        case "chart":
            return {"id": [chart.anchor for of in parts for chart in of.charts]}
        case "diagram":
            drawn = _names(root, DIAGRAMS)
            return {"name": drawn} if drawn else {}
    return {}


def _names(root: Path, pattern: str) -> list[str]:
    """The names of the files that match, in the site and in its theme."""
    folders = (root, root / THEME)
    return sorted({path.stem for folder in folders for path in folder.glob(pattern)})
