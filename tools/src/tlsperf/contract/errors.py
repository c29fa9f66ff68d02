"""Errors of `tlsperf`: the command line prints the message and exits with 1, or with 2 if no project
could carry out what was given (`exits.py`).
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final, get_args

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError

MOST_FOUND: Final = 200
"""A message shows at most this many characters of what was found: a line may have thousands."""
MOST_NAMES: Final = 24
"""A message with more known names than this lists only the similar ones."""


class UserError(Exception):
    """An error with a message for the user: what was found, and what to do about it."""


class UsageError(UserError):
    """A command line that no project could carry out."""


class FormatError(UserError):
    """A file does not follow its format; none of its content is used.

    The message names the file, the line (counted from 1, None if unknown), what was found and what
    was expected.
    """

    def __init__(self, file: str, line: int | None, found: str, expected: str) -> None:
        self.file = file
        self.line = line
        self.found = found if len(found) <= MOST_FOUND else f"{found[:MOST_FOUND]}…"
        self.expected = expected
        place = file if line is None else f"{file}:{line}"
        super().__init__(f"{place}: found {self.found}, expected {expected}")


def message_of(error: UserError | OSError) -> str:
    """What is wrong, in a line that names the file."""
    if isinstance(error, shutil.Error) and isinstance(error.args[0], list):
        _, _, why = error.args[0][0]
        return re.sub(r"^\[Errno \d+\] ", "", str(why))
    if isinstance(error, OSError):
        place = f"{error.filename}: " if error.filename else ""
        return f"{place}{error.strerror or error}"
    return str(error)


def near(name: str, known: Iterable[str]) -> list[str]:
    """At most five known names that are similar to `name`, the most similar first."""
    names = list(dict.fromkeys(known))
    parts = [k for k in names if name and (name in k or k in name)]
    return list(dict.fromkeys([*get_close_matches(name, names, 3, 0.6), *parts]))[:5]


def alternatives(name: str, known: Iterable[str], place: str = "") -> str:
    """Suggestions for an unknown name: similar names, then all known names if they are few.

    `place` says where the names are defined, for a list that is too long to print.
    """
    names = list(dict.fromkeys(known))
    likely = near(name, names)
    where = f" in {place}" if place else ""
    if not names:
        return f"a name, but there is none{where}"
    if len(names) > MOST_NAMES:
        return f"{' or '.join(likely) or 'another name'} ({len(names)} names{where})"
    if not likely:
        return f"one of {', '.join(names)}"
    others = [k for k in names if k not in likely]
    return " or ".join(likely) + (f" (there are also {', '.join(others)})" if others else "")


class TomlError(FormatError):
    """A file is not valid TOML; `error` is the parser's."""

    def __init__(self, error: ValueError, file: str, line: int | None) -> None:
        what = str(error).partition(" (at ")[0]
        super().__init__(file, line, what, "TOML")
        place = file if line is None else f"{file}:{line}"
        self.args = (f"{place}: this is not TOML: {what[:1].lower()}{what[1:]}",)


def mismatch(
    error: ValidationError, file: str, line: int | None = None, model: Any = None
) -> FormatError:
    """The first validation error of a file's content, as a FormatError.

    `model` is the class that was expected; its keys are the suggestions for an unknown one.
    """
    first = error.errors(include_url=False)[0]
    key = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        known = _fields(model, first["loc"][:-1])
        expected = alternatives(str(first["loc"][-1]), known) if known else "no such key"
        return FormatError(file, line, f"the unknown key {key}", expected)
    # The content of a whole table would not help.
    value = repr(first["input"]) if key or not isinstance(first["input"], dict) else "a table"
    short = value if len(value) <= 60 else f"{value[:57]}..."
    found = "nothing" if first["type"] == "missing" else short
    expected = first["msg"].removeprefix("Input should be ").removeprefix("Value error, ")
    if first["type"] == "missing":
        expected = "a value"
    if first["type"] == "string_pattern_mismatch":
        expected = f"text that matches {first['ctx']['pattern']}"
    return FormatError(file, line, f"{key} {found}".strip(), expected)


def _fields(model: type[BaseModel] | None, path: Iterable[int | str]) -> list[str]:
    """The keys of the table at a path in a model; empty if the path leads to no model."""
    for part in path:
        if isinstance(part, int) or model is None:
            continue
        by_key = {field.alias or name: field for name, field in model.model_fields.items()}
        model = _model_in(by_key[part].annotation) if part in by_key else None
    return [f.alias or name for name, f in model.model_fields.items()] if model else []


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """The model in an annotation, also inside a list or a union; None if there is none."""
    if hasattr(annotation, "model_fields"):
        found: type[BaseModel] = annotation
        return found
    return next((m for inner in get_args(annotation) if (m := _model_in(inner))), None)
