"""What a user of `tlsperf` can have got wrong; the command line prints it and exits with 1."""

from __future__ import annotations


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
