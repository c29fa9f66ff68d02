"""Reads `data/comparisons`: definitions of published tables, and the CSV of the printed figures."""

from __future__ import annotations

import csv
from pathlib import Path

from pydantic import ValidationError

from tlsperf.contract.comparisons import Definition
from tlsperf.contract.errors import FormatError, UserError, mismatch
from tlsperf.contract.toml_text import read_toml
from tlsperf.load.damage import readable


def read_definition(path: Path) -> Definition:
    """The checked definition in a file. Raises FormatError."""
    try:
        return Definition.model_validate(read_toml(path))
    except ValidationError as error:
        raise mismatch(error, str(path), model=Definition) from None


def read_definitions(folder: Path) -> list[Definition]:
    """The definitions of a folder that can be read, sorted by file name."""
    return list(readable(read_definition, sorted(folder.glob("*.toml"))))


def read_printed(path: Path, definition: Definition) -> list[list[str]]:
    """The lines of the CSV that the definition in `path` names, header first. Raises UserError."""
    place = path.parent / definition.published
    try:
        with place.open(encoding="utf-8", newline="") as file:
            return list(csv.reader(file))
    except FileNotFoundError:
        raise UserError(f"{place}: there is no such file") from None
    except UnicodeDecodeError as error:
        raise FormatError(str(place), None, error.reason, "text in UTF-8") from None
