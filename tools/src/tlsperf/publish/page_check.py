"""Checks the hand-written parts of a report before rendering.

`page_problems` needs only the page, `reference_problems` the results that it shows. To add a check
of the text, add a function to TEXT_CHECKS.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tlsperf.contract.errors import FormatError, UserError, alternatives
from tlsperf.contract.record import Identifier
from tlsperf.contract.results import Results
from tlsperf.load.page import Page
from tlsperf.publish.reports import same_time

SHORTCODES: Final = Path("templates", "shortcodes")
DIAGRAMS: Final = Path("static", "diagrams")

_SHORTCODE: Final = re.compile(r"\{([{%])-?\s*(\w+)\s*\((.*?)\)\s*-?[}%]\}", re.DOTALL)
_ARGUMENT: Final = re.compile(r"""(\w+)\s*=\s*(?:"([^"]*)"|'([^']*)'|`([^`]*)`|([^\s,"'`]+))""")
HIDDEN: Final = re.compile(
    r"\{\{.*?\}\}|\{%.*?%\}|\bTLS 1\.[0-3]\b|```.*?```|`[^`\n]*`|\]\([^)]*\)",
    re.DOTALL | re.MULTILINE,
)
_UNITS: Final = (
    r"%|×|x\b|MiB|KiB|GiB|MB|GB|Gbit|bytes?\b|µs|ms\b|ns\b|seconds?\b|handshakes|sessions|"
    r"resumptions|operations|times\b|fold|percent|per cent|threads|cores|rounds|runs\b|samples"
)
TYPED: Final = re.compile(rf"(?<![\w.-])\d[\d,.]*\s*(?:{_UNITS})")


@dataclass(frozen=True)
class Text:
    """The hand-written text below the front matter of a page."""

    path: Path
    whole: str
    """The text of the whole file, so that positions are those of the file."""
    prose: str
    """The same, with front matter, shortcodes, code and link targets replaced by spaces, character
    by character.
    """
    body: int
    """Position of the text after the front matter."""

    def line(self, position: int) -> int:
        return self.whole.count("\n", 0, position) + 1

    def problem(self, position: int, found: str, expected: str) -> FormatError:
        return FormatError(str(self.path), self.line(position), found, expected)


def text_of(page: Page) -> Text:
    """The text of a page, with everything except prose replaced by spaces."""
    head = page.opening + page.front_matter
    closing = page.rest.index("\n") + 1 if "\n" in page.rest else len(page.rest)
    body = page.rest[closing:]
    blank = re.sub(r"[^\n]", " ", head + page.rest[:closing])
    prose = HIDDEN.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), body)
    return Text(page.path, head + page.rest, blank + prose, len(blank))


def typed_numbers(text: Text) -> Iterator[FormatError]:
    """Numbers with a unit or a factor that a person typed."""
    for found in TYPED.finditer(text.prose):
        expected = "figure(), ratio() or factor(), which print it from results.json"
        yield text.problem(found.start(), f"the typed number {found[0]!r}", expected)


TEXT_CHECKS: Final[tuple[Callable[[Text], Iterator[FormatError]], ...]] = (typed_numbers,)
"""Functions from the text of a report to the problems in it."""


def refuse(problems: Sequence[FormatError]) -> None:
    """Raises UserError with all problems, one line each, if there are any."""
    if problems:
        raise UserError("\n".join(map(str, problems)))


# --- checks of the page alone --------------------------------------------------------------------


def page_problems(
    pages: Sequence[Page], every: Sequence[Page], runs: Mapping[Identifier, object], root: Path
) -> list[FormatError]:
    """The problems in `pages` that can be found without their figures; `every` has all pages."""
    shortcodes = sorted(path.stem for path in (root / SHORTCODES).glob("*.*"))
    reports = [page.report.id for page in every]
    doubled = same_time(page.report for page in every)
    found: list[FormatError] = []
    for page in pages:
        if other := doubled.get(page.report.id):
            what = f"the date of {other}"
            expected = (
                "a time of its own, as date = 2026-11-21T16:02:39Z: lists and feeds follow it"
            )
            found.append(FormatError(str(page.path), _line_of(page, "date ="), what, expected))
        found += _front_matter(page, runs, reports)
        text = text_of(page)
        found += _unknown_shortcodes(text, shortcodes)
        found += (problem for check in TEXT_CHECKS for problem in check(text))
    return found


def _front_matter(
    page: Page, runs: Mapping[Identifier, object], reports: Sequence[Identifier]
) -> Iterator[FormatError]:
    report = page.report
    for key, value in (("title", report.title), ("description", page.description)):
        if not (value or "").strip():
            expected = "a sentence that feeds, lists and link previews show"
            found = f"an empty {key}" if value is not None else f"no {key}"
            yield FormatError(str(page.path), _line_of(page, key), found, expected)
    for revision in report.history:
        if typed := TYPED.search(revision.text):
            expected = "what changed, without figures: the page has the new ones, git the old ones"
            found = f"the typed number {typed[0]!r}"
            yield FormatError(str(page.path), _line_of(page, revision.text), found, expected)
    for run in report.runs:
        if run not in runs:
            expected = alternatives(run, runs, "data/runs")
            yield FormatError(str(page.path), _line_of(page, run), f"the run {run!r}", expected)
    if report.previous is not None and report.previous not in reports:
        others = [r for r in reports if r != report.id]
        expected = alternatives(report.previous, others, "content/perf")
        found = f"the previous report {report.previous!r}"
        yield FormatError(str(page.path), _line_of(page, report.previous), found, expected)
    if report.previous == report.id:
        found = "the report as its own predecessor"
        expected = "an earlier report, or no `previous`"
        yield FormatError(str(page.path), _line_of(page, "previous"), found, expected)


def _line_of(page: Page, what: str) -> int | None:
    """The first line of the front matter that contains a key or value."""
    lines = f"{page.opening}{page.front_matter}".splitlines()
    return next((n for n, line in enumerate(lines, start=1) if what in line), None)


def _unknown_shortcodes(text: Text, known: Sequence[str]) -> Iterator[FormatError]:
    for found in _calls(text):
        if known and found[2] not in known:
            yield text.problem(
                found.start(), f"the shortcode {found[2]}()", alternatives(found[2], known)
            )


def _calls(text: Text) -> Iterator[re.Match[str]]:
    return _SHORTCODE.finditer(text.whole, text.body)


# --- checks against the figures ------------------------------------------------------------------

_SECTIONS: Final = {
    "changes": "a `previous` report in [extra.report]",
    "efficiency": "runs with primitives beside the transfers",
    "means": "a baseline, and tables of two rows and more",
    "noise": "a run whose noise is measured",
    "sockets": "runs with handshakes in memory beside the connections",
    "prices": "rates of full handshakes with X25519 and ECDSA P-256, and with ML-DSA",
    "published": "a table of data/comparisons of its runs",
}
"""Shortcodes that show a part of results.json, and what a report needs to have that part."""


def reference_problems(page: Page, results: Results, root: Path) -> list[FormatError]:
    """References in a page's text to figures, tables or charts that its results do not have."""
    text = text_of(page)
    return [problem for call in _calls(text) for problem in _references(text, call, results, root)]


def _references(
    text: Text, call: re.Match[str], results: Results, root: Path
) -> Iterator[FormatError]:
    name = call[2]
    given = {a[1]: next(filter(None, a.groups()[1:]), "") for a in _ARGUMENT.finditer(call[3])}
    if name in _SECTIONS and not getattr(results, name):
        yield text.problem(call.start(), f"{name}()", f"nothing: it needs {_SECTIONS[name]}")
    for argument, known in _known_names(name, results, root, given.get("row", "")).items():
        if argument not in given:
            yield text.problem(call.start(), f"{name}() without {argument}", f'{argument}="…"')
        elif given[argument] not in known:
            found = f'{name}({argument}="{given[argument]}")'
            place = f"results.csv of {results.id}"
            yield text.problem(call.start(), found, alternatives(given[argument], known, place))


def _known_names(
    shortcode: str, results: Results, root: Path, row: str
) -> Mapping[str, Sequence[str]]:
    """The valid names for each argument of a shortcode; `row` is the call's argument."""
    match shortcode:
        case "table":
            return {"id": [table.anchor for table in results.tables]}
        case "prices":
            return {"id": [table.anchor for table in results.prices or ()]}
        case "chart":
            return {"id": [chart.anchor for chart in results.charts]}
        case "factor":
            return {"id": [factor.id for factor in results.factors]}
        case "diagram":
            folder = root / DIAGRAMS
            drawn = sorted(path.stem for path in folder.glob("*.svg"))
            return {"name": drawn} if drawn else {}
        case "figure" | "ratio":
            rows = {row.anchor: row.cells for table in results.tables for row in table.rows}
            if row not in rows:
                return {"row": list(rows)}
            cells = [c for c in rows[row] if c.value is not None]
            return {"row": list(rows), "implementation": [c.implementation for c in cells]}
    return {}
