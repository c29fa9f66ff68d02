"""Raw formats of other tools: every module of this package is one, and is found automatically.

A module has `FORMATS`, one entry for each version of its grammar. `load/tlsbench.py` reads our own
format, `tlsbench/1`, because it contains more than rows.
"""

from __future__ import annotations

import pkgutil
import re
from importlib import import_module
from typing import Final

from tlsperf.contract.errors import UserError
from tlsperf.load.rows import Format, refuse_long_lines, refuse_utf16

FOREIGN: Final[dict[str, Format]] = {
    format.name: format
    for module in pkgutil.iter_modules(__path__)
    for format in import_module(f"{__name__}.{module.name}").FORMATS
}
"""The formats by their name in run.toml."""

HEAD: Final = 1 << 16
"""Number of bytes at the start of a file that are enough to detect its format."""


def detect(data: bytes, name: str, shown: str) -> Format:
    """The only format that matches a file's bytes and name; `shown` names the file in errors.

    Raises UserError if no format matches, or more than one.
    """
    refuse_utf16(data, shown)
    refuse_long_lines(data, shown)
    head = data[:HEAD].decode("utf-8-sig", errors="replace").replace("\r\n", "\n")
    found = [format for format in FOREIGN.values() if format.detects(head, name)]
    if len(found) == 1:
        return found[0]
    if not found:
        missing = ""
        if re.search(r"(?m) [0-9]+\.[0-9]{2}k$", head):
            missing = "; figures of openssl speed need its line `type … bytes` before them"
        raise UserError(f"{shown}: no line of a known format of docs/import.md{missing}")
    names = ", ".join(format.name for format in found)
    raise UserError(f"{shown}: could be {names}; choose one with --from")
