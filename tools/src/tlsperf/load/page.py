"""Pages in Markdown, whose front matter is between two lines `+++`: those of reports, and others."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from tlsperf.contract.claim import Claim
from tlsperf.contract.errors import FormatError, UserError, alternatives, mismatch
from tlsperf.contract.identifier import IDENTIFIER
from tlsperf.contract.record import Identifier
from tlsperf.contract.run import Report
from tlsperf.contract.text import listed
from tlsperf.contract.toml_text import toml_table
from tlsperf.load.content import NIGHTS, page_parts
from tlsperf.load.damage import readable
from tlsperf.load.shortcodes import Call, shortcodes

FOLDER: Final = Path("content", "perf")
_CLAIM: Final = "[[extra.claims]]"


@dataclass(frozen=True)
class Document:
    """A page in Markdown: its front matter, and its text with the line +++ before it."""

    path: Path
    opening: str
    front_matter: str
    rest: str
    head: Mapping[str, Any]
    """The table in the front matter."""
    claims: Sequence[Claim]

    @property
    def description(self) -> str | None:
        """What feeds, lists and link previews show."""
        description: str | None = self.head.get("description")
        return description

    @property
    def front(self) -> str:
        return self.opening + self.front_matter

    @property
    def calls(self) -> list[Call]:
        """The shortcodes in its prose."""
        return shortcodes(self.rest, str(self.path), 1 + self.front.count("\n"))

    def line_of(self, what: str) -> int:
        """The first line of the front matter that contains a key or value, or the first one."""
        lines = self.front.splitlines()
        return next((n for n, line in enumerate(lines, start=1) if what in line), 1)


@dataclass(frozen=True)
class Page(Document):
    """The `index.md` of a report."""

    reports: Sequence[Report]
    """Its parts, at least one; what they share is that of the page."""
    generated: Mapping[str, Any]

    @property
    def id(self) -> Identifier:
        return self.path.parent.name

    @property
    def first(self) -> Report:
        """The part that stands first."""
        return self.reports[0]

    @property
    def runs(self) -> list[Identifier]:
        """The runs of all parts."""
        return list(dict.fromkeys(run for part in self.reports for run in part.runs))


def read_document(path: Path) -> Document:
    """Reads a page. Raises FormatError."""
    name = str(path)
    opening, front_matter, rest = page_parts(path)
    head = front_matter_table(front_matter, name)
    for key in ("title", "description"):
        if not isinstance(head.get(key), str | None):
            raise FormatError(name, None, f"{key} {head[key]!r}", "a text")
    return Document(
        path, opening, front_matter, rest, head, _claims(head, opening + front_matter, name)
    )


def _claims(head: Mapping[str, Any], front: str, file: str) -> list[Claim]:
    extra = head.get("extra")
    given = extra.get("claims", []) if isinstance(extra, dict) else []
    if not isinstance(given, list):
        raise FormatError(file, None, f"extra.claims {given!r}", "tables [[extra.claims]]")
    lines = [n for n, line in enumerate(front.splitlines(), 1) if line.startswith(_CLAIM)]
    found = []
    for number, claim in enumerate(given):
        try:
            found.append(Claim.model_validate(claim))
        except ValidationError as error:
            line = lines[number] if number < len(lines) else None
            raise mismatch(error, file, line, model=Claim) from None
    return found


def read_page(path: Path) -> Page:
    """Reads a report's page. Raises FormatError if its front matter does not describe a report."""
    name = str(path)
    document = read_document(path)
    extra = document.head.get("extra")
    if not isinstance(extra, dict) or not isinstance(extra.get("report"), dict):
        raise FormatError(name, None, "no [extra.report]", 'one with runs = ["<run>", …]')
    head = {k: document.head[k] for k in ("title", "date") if k in document.head}
    head |= _moment(document.head, name)
    reports = [
        _part(head, given, name) for given in _parts(extra["report"], path.parent.name, name)
    ]
    if not path.parent.name.startswith(f"{reports[0].date}-"):
        found = f"date {reports[0].date}"
        expected = f"the date that the folder {path.parent.name} begins with"
        raise FormatError(name, None, found, expected)
    return Page(**vars(document), reports=reports, generated=_generated(extra, name))


def _parts(table: Mapping[str, Any], page: Identifier, file: str) -> list[dict[str, Any]]:
    """The fields of each part: its own, and those that all parts share."""
    shared = {key: value for key, value in table.items() if key != "parts"}
    if "parts" not in table:
        return [shared | {"id": page}]
    parts = table["parts"]
    if not isinstance(parts, list) or not parts or not all(isinstance(p, dict) for p in parts):
        raise FormatError(file, None, "parts that are no tables", "[[extra.report.parts]]")
    for key in ("runs", "baseline", "previous"):
        if key in shared:
            found = f"{key} beside [[extra.report.parts]]"
            raise FormatError(file, None, found, f"{key} in each part")
    ids = [next(iter(runs), "") if isinstance(runs := p.get("runs"), list) else "" for p in parts]
    return [shared | part | {"id": id_, "page": page} for id_, part in zip(ids, parts, strict=True)]


def _part(head: Mapping[str, Any], given: Mapping[str, Any], file: str) -> Report:
    try:
        return Report.model_validate({**head, **given})
    except ValidationError as error:
        raise mismatch(error, file, model=Report) from None


def _moment(table: Mapping[str, Any], file: str) -> dict[str, Any]:
    """Day and time of a page whose date contains both; empty otherwise."""
    given = table.get("date")
    if not isinstance(given, datetime):
        return {}
    if given.utcoffset() != timedelta(0):
        found = f"date {given.isoformat()}"
        raise FormatError(file, None, found, "a time in UTC, with Z at its end")
    return {"date": given.date(), "time": given}


def _generated(extra: Mapping[str, Any], file: str) -> Mapping[str, Any]:
    """What an earlier rendering wrote: names of files in the report's folder that it may remove."""
    generated = extra.get("generated", {})
    if not isinstance(generated, dict):
        raise FormatError(file, None, f"extra.generated {generated!r}", "a table")
    files = generated.get("files", [])
    names = isinstance(files, list) and all(
        isinstance(n, str) and re.fullmatch(IDENTIFIER, n) for n in files
    )
    if not names:
        raise FormatError(file, None, f"extra.generated.files {files!r}", "a list of names")
    return generated


def front_matter_table(text: str, file: str) -> dict[str, Any]:
    """The table in a page's front matter. Raises FormatError with the line in the page."""
    return toml_table(text, file, first_line=2)


def read_pages(root: Path) -> list[Page]:
    """The pages of all reports that can be read, sorted by date."""
    return list(readable(read_page, sorted((root / FOLDER).glob("*/index.md"))))


def report_names(root: Path) -> list[Identifier]:
    """The reports that there are, also those whose page cannot be read."""
    return [path.parent.name for path in sorted((root / FOLDER).glob("*/index.md"))]


def read_report(root: Path, name: Identifier) -> Page:
    """The page of a report, also by the id of a part. Raises UserError, with similar names."""
    path = root / FOLDER / name / "index.md"
    if not path.exists():
        for page in read_pages(root):
            if any(part.id == name for part in page.reports):
                return page
        expected = alternatives(name, report_names(root), str(FOLDER))
        raise UserError(f"there is no report {name!r}: expected {expected}")
    return read_page(path)


def read_part(root: Path, name: Identifier) -> Report:
    """A part by its id, or the only one of a report. Raises UserError."""
    pages = read_pages(root)
    parts = {part.id: part for page in pages for part in page.reports}
    if name in parts:
        return parts[name]
    page = next((page for page in pages if page.id == name), None) or read_report(root, name)
    named = listed([part.id for part in page.reports])
    raise UserError(f"the report {name} has {len(page.reports)} parts: name one of {named}")


def read_documents(root: Path) -> list[Document]:
    """The pages that are written by hand besides those of reports: the home page, answers, …"""
    content = root / "content"
    patterns = ("*.md", "*/_index.md", "answers/*/index.md")
    paths = {path for pattern in patterns for path in content.glob(pattern)}
    paths |= {*version_pages(root)}
    return list(readable(read_document, sorted(paths)))


def version_pages(root: Path) -> list[Path]:
    """The pages about versions that people write: not those of nights."""
    found = sorted((root / "content" / "versions").glob("*/index.md"))
    return [path for path in found if not path.parent.name.startswith(NIGHTS)]
