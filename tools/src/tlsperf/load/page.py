"""The `index.md` of a report, whose front matter is between two lines `+++`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from tlsperf.contract.errors import FormatError, TomlError, UserError, mismatch
from tlsperf.contract.record import Identifier
from tlsperf.contract.run import Report
from tlsperf.load.shortcodes import Call, shortcodes

_PAGE: Final = re.compile(r"\A(\+\+\+\r?\n)(.*?^)(\+\+\+\r?\n.*)\Z", re.DOTALL | re.MULTILINE)
_NAME: Final = re.compile(r"\A[a-z0-9][a-z0-9._-]*\Z")


@dataclass(frozen=True)
class Page:
    """The `index.md` of a report, with its text in three parts."""

    path: Path
    opening: str
    front_matter: str
    rest: str
    report: Report
    description: str | None
    generated: Mapping[str, Any]

    @property
    def calls(self) -> list[Call]:
        """The shortcodes in the report's prose."""
        first_line = 1 + (self.opening + self.front_matter).count("\n")
        return shortcodes(self.rest, str(self.path), first_line)


def read_page(path: Path) -> Page:
    """Reads a report's page. Raises FormatError if its front matter does not describe a report."""
    name = str(path)
    try:
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(name, None, error.reason, "text in UTF-8") from None
    parts = _PAGE.match(text)
    if parts is None:
        raise FormatError(name, 1, "no front matter", "a line +++, TOML, and another line +++")
    opening, front_matter, rest = parts.groups()
    table = front_matter_table(front_matter, name)
    extra = table.get("extra")
    if not isinstance(extra, dict) or not isinstance(extra.get("report"), dict):
        raise FormatError(name, None, "no [extra.report]", 'one with runs = ["<run>", …]')
    head = {k: table[k] for k in ("title", "date") if k in table} | _moment(table, name)
    try:
        report = Report.model_validate(head | extra["report"] | {"id": path.parent.name})
    except ValidationError as error:
        raise mismatch(error, name, model=Report) from None
    if not report.id.startswith(f"{report.date}-"):
        raise FormatError(
            name, None, f"date {report.date}", f"the date that the folder {report.id} begins with"
        )
    description = table.get("description")
    if not isinstance(description, str | None):
        raise FormatError(name, None, f"description {description!r}", "a text")
    return Page(path, opening, front_matter, rest, report, description, _generated(extra, name))


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
    names = isinstance(files, list) and all(isinstance(n, str) and _NAME.match(n) for n in files)
    if not names:
        raise FormatError(file, None, f"extra.generated.files {files!r}", "a list of names")
    return generated


def front_matter_table(text: str, file: str) -> dict[str, Any]:
    """The table in a page's front matter. Raises FormatError with the line in the page."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"at line (\d+)", str(error))
        # The front matter starts in line 2 of the file.
        line = int(found.group(1)) + 1 if found else None
        raise TomlError(error, file, line) from None


def read_pages(root: Path) -> list[Page]:
    """The pages of all reports, sorted by date."""
    return [read_page(path) for path in sorted((root / "content" / "perf").glob("*/index.md"))]


def page_of(report: Identifier, pages: Sequence[Page]) -> Page:
    """The page of a report. Raises UserError with similar names if there is none."""
    by_id = {page.report.id: page for page in pages}
    if report not in by_id:
        near = [it for it in by_id if report in it] or get_close_matches(report, by_id)
        similar = ", ".join(near) or "none; reports are the folders of content/perf"
        raise UserError(f"there is no report {report!r}; similar: {similar}")
    return by_id[report]
