"""TOML files: their content, and the line numbers for errors."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from tlsperf.contract.errors import FormatError, TomlError, UserError


def read_toml(path: Path) -> dict[str, Any]:
    """The table in a TOML file. Raises FormatError with the line of a syntax error."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UserError(f"{path}: there is no such file") from None
    except UnicodeDecodeError as error:
        raise FormatError(str(path), None, f"{error.reason}", "text in UTF-8") from None
    return toml_table(text, str(path))


def toml_table(text: str, file: str, first_line: int = 1) -> dict[str, Any]:
    """The table in a text, which begins in line `first_line` of a file. Raises FormatError."""
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise FormatError(file, None, "values too deep in each other", "TOML") from None
    except ValueError as error:  # also for a number of thousands of digits
        found = re.search(r"at line (\d+)", str(error))
        line = int(found.group(1)) + first_line - 1 if found else None
        raise TomlError(error, file, line) from None
