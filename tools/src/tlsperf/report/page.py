"""The `index.md` of a report: what a person wrote, and the one table that the tools write.

Front matter stands between two lines `+++`. `[extra.report]` is a person's; `[extra.generated]` is
the tools', stands last, and is replaced as text, so that every other byte stays as it is.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import tomlkit
from pydantic import ValidationError

from tlsperf.contract.errors import FormatError, UserError, mismatch
from tlsperf.contract.run import Report

_PAGE: Final = re.compile(r"\A(\+\+\+\r?\n)(.*?^)(\+\+\+\r?\n.*)\Z", re.DOTALL | re.MULTILINE)
_GENERATED: Final = re.compile(
    r"^\[extra\.generated\][^\n]*\n.*?(?=^\[|\Z)", re.DOTALL | re.MULTILINE
)
_REMARK: Final = "written by `tlsperf render`: changes to this table are lost"


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
    table = _toml(front_matter, name)
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


def with_generated(page: Page, generated: Mapping[str, Any]) -> str:
    """The text of the page with `[extra.generated]` replaced; nothing else changes."""
    inner = tomlkit.table()
    inner.comment(_REMARK)
    for key, value in generated.items():
        inner.add(key, value)
    document = tomlkit.document()
    document.add("extra", tomlkit.table(is_super_table=True).add("generated", inner))
    newline = "\r\n" if page.opening.endswith("\r\n") else "\n"
    written = tomlkit.dumps(document).replace("\n", newline)
    without = _GENERATED.sub("", page.front_matter)
    front_matter = without + ("" if without.endswith(newline * 2) else newline) + written
    before = _toml(page.front_matter, str(page.path))
    after = _toml(front_matter, str(page.path))
    for table in (before, after):
        table["extra"].pop("generated", None)
    if before != after:
        raise UserError(
            f"{page.path}: [extra.generated] must be a table of its own, after everything else in "
            "the front matter"
        )
    return page.opening + front_matter + page.rest


def _toml(text: str, file: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"at line (\d+)", str(error))
        # The front matter begins in the second line of the file.
        line = int(found.group(1)) + 1 if found else None
        raise FormatError(file, line, str(error), "TOML") from None
