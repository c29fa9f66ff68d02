"""Writes `[extra.generated]`, the only part of a report's `index.md` that the tools write.

A person writes `[extra.report]`. `[extra.generated]` is the last table and is replaced as text, so
that all other bytes stay the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import tomlkit

from tlsperf.contract.errors import UserError
from tlsperf.load.page import Page, front_matter_table

_GENERATED: Final = re.compile(
    r"^\[extra\.generated\][^\n]*\n.*?(?=^\[|\Z)", re.DOTALL | re.MULTILINE
)
_REMARK: Final = "written by `tlsperf render`: changes to this table are lost"


def with_generated(page: Page, generated: Mapping[str, Any]) -> str:
    """The text of the page with `[extra.generated]` replaced. Raises UserError if anything else
    would change.
    """
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
    before = front_matter_table(page.front_matter, str(page.path))
    after = front_matter_table(front_matter, str(page.path))
    for table in (before, after):
        table["extra"].pop("generated", None)
    if before != after:
        raise UserError(
            f"{page.path}: [extra.generated] must be a table of its own, after everything else in "
            "the front matter"
        )
    return page.opening + front_matter + page.rest
