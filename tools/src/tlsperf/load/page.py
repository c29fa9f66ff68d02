"""The `index.md` of a report, whose front matter stands between two lines `+++`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from tlsperf.contract.errors import FormatError, mismatch
from tlsperf.contract.run import Report

_PAGE: Final = re.compile(r"\A(\+\+\+\r?\n)(.*?^)(\+\+\+\r?\n.*)\Z", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Page:
    """The `index.md` of a report, in the three parts of its text."""

    path: Path
    opening: str
    front_matter: str
    rest: str
    report: Report
    generated: Mapping[str, Any]


def read_page(path: Path) -> Page:
    """Reads a report's page; FormatError where its front matter is not that of a report."""
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
    extra = table.get("extra", {})
    if "report" not in extra:
        raise FormatError(name, None, "no [extra.report]", 'one with runs = ["<run>", …]')
    head = {k: table[k] for k in ("title", "date") if k in table}
    try:
        report = Report.model_validate(head | extra["report"] | {"id": path.parent.name})
    except ValidationError as error:
        raise mismatch(error, name) from None
    if not report.id.startswith(f"{report.date}-"):
        raise FormatError(
            name, None, f"date {report.date}", f"the date that the folder {report.id} begins with"
        )
    return Page(path, opening, front_matter, rest, report, extra.get("generated", {}))


def front_matter_table(text: str, file: str) -> dict[str, Any]:
    """The table of a page's front matter; FormatError with the line of the page."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"at line (\d+)", str(error))
        # The front matter begins in the second line of the file.
        line = int(found.group(1)) + 1 if found else None
        raise FormatError(file, line, str(error), "TOML") from None
