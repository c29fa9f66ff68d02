"""What a user of `tlsperf` can have got wrong; the command line prints it and exits with 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import ValidationError


class UserError(Exception):
    """A message that says what was found and what to do about it."""


class FormatError(UserError):
    """A file does not hold what its format promises; nothing of it may be used."""

    def __init__(self, file: str, line: int | None, found: str, expected: str) -> None:
        self.file = file
        self.line = line
        self.found = found
        self.expected = expected
        place = file if line is None else f"{file}:{line}"
        super().__init__(f"{place}: found {found}, expected {expected}")


def mismatch(error: ValidationError, file: str, line: int | None = None) -> FormatError:
    """The first way in which a file's content is not what the model says."""
    first = error.errors(include_url=False)[0]
    key = ".".join(str(part) for part in first["loc"])
    value = repr(first["input"])
    short = value if len(value) <= 60 else f"{value[:57]}..."
    found = "nothing" if first["type"] == "missing" else short
    expected = first["msg"].removeprefix("Input should be ").removeprefix("Value error, ")
    return FormatError(file, line, f"{key} {found}".strip(), expected)
