"""TOML files: their content, and the line numbers for errors. All TOML is opened here.

Files come from strangers: in an archive, or in a pull request. What no honest file has is refused
before `tomllib` reads it, which takes hours and gigabytes for some of it.
"""

from __future__ import annotations

import math
import re
import tomllib
from pathlib import Path
from typing import Any, Final

from tlsperf.contract.errors import FormatError, TomlError, UserError

MOST_BYTES: Final = 4 * 1024 * 1024
"""Limit of a file; a run of as many raw files as an archive may have takes 3 MiB."""
MOST_NESTED: Final = 10
"""Limit of values in each other, and of the parts of a dotted key; ours have at most 3."""
MOST_BITS: Final = 64
"""Limit of a number, without its sign."""

_TOKEN: Final = re.compile(
    r"""
      "{3}(?:[^"\\]|\\.|"(?!""))*+"{3,5} | '{3}(?:[^']|'(?!''))*+'{3,5}
    | "(?:[^"\\\n]|\\.)*+"               | '[^'\n]*+'
    | \#[^\n]*+
    | (?P<end>["'])
    | (?P<opens>[\[{])  | (?P<closes>[\]}])
    | (?P<dot>\.)       | (?P<parts>[=,\n]+)
    | (?<![0-9_])(?P<long>[0-9][0-9_]{4300,}+)
    """,
    re.VERBOSE | re.DOTALL,
)
"""What decides how deep values are in each other, and a number of more digits than Python reads;
strings and comments are passed over.
"""


def read_toml(path: Path) -> dict[str, Any]:
    """The table in a TOML file. Raises FormatError with the line of a syntax error."""
    try:
        with path.open("rb") as file:
            text = file.read(MOST_BYTES + 1).decode("utf-8")
    except FileNotFoundError:
        raise UserError(f"{path}: there is no such file") from None
    except UnicodeDecodeError as error:
        raise FormatError(str(path), None, f"{error.reason}", "text in UTF-8") from None
    return toml_table(text, str(path))


def toml_table(text: str, file: str, first_line: int = 1) -> dict[str, Any]:
    """The table in a text, which begins in line `first_line` of a file. Raises FormatError."""
    if len(text) > MOST_BYTES:
        most = f"at most {MOST_BYTES:,}"
        raise FormatError(file, None, f"more than {MOST_BYTES:,} characters", most)
    _refuse_hostile(text, file, first_line)
    try:
        table = tomllib.loads(text)
    except ValueError as error:
        found = re.search(r"at line (\d+)", str(error))
        line = int(found.group(1)) + first_line - 1 if found else None
        raise TomlError(error, file, line) from None
    _refuse_large(table, file)
    return table


def _refuse_hostile(text: str, file: str, first_line: int) -> None:
    """Raises FormatError for values too deep in each other, and for integers of too many digits."""
    depth = parts = 0
    for token in _TOKEN.finditer(text):
        kind = token.lastgroup
        if kind is None:
            continue
        if kind == "end":  # of what is TOML: a string that does not end
            return
        depth += {"opens": 1, "closes": -1}.get(kind, 0)
        parts = parts + 1 if kind == "dot" else 0
        if kind == "long" or max(depth, parts) > MOST_NESTED:
            found, expected = f"values more than {MOST_NESTED} deep", "fewer"
            if kind == "long":
                found, expected = (
                    f"a number of {len(token[0]):,} digits",
                    f"one of {MOST_BITS} bits",
                )
            line = first_line + text.count("\n", 0, token.start())
            raise FormatError(file, line, found, expected)


def _refuse_large(value: Any, file: str, *path: object) -> None:
    """Raises FormatError with the key of a number that is none, or has more than 64 bits."""
    found = None
    if isinstance(value, dict | list):
        inner = value.items() if isinstance(value, dict) else enumerate(value)
        for part, of in inner:
            _refuse_large(of, file, *path, part)
    elif isinstance(value, int) and value.bit_length() > MOST_BITS:
        found = f"of {value.bit_length():,} bits"
    elif isinstance(value, float) and not math.isfinite(value):
        found = str(value)
    if found:
        key = ".".join(map(str, path))
        raise FormatError(file, None, f"{key} {found}", f"a number of {MOST_BITS} bits")
