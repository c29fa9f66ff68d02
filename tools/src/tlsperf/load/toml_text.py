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
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{path}: there is no such file") from None
    except UnicodeDecodeError as error:
        raise FormatError(str(path), None, f"{error.reason}", "text in UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"at line (\d+)", str(error))
        number = int(line.group(1)) if line else None
        raise TomlError(error, str(path), number) from None
