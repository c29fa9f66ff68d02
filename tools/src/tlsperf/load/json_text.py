"""JSON files of other tools: their content, and the line numbers for errors."""

from __future__ import annotations

import json
import re
from typing import Any, Final, NoReturn, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from tlsperf.contract.errors import FormatError, mismatch


class Content(BaseModel):
    """Base class of what other tools write: what is read must be right, other keys are ignored."""

    model_config = ConfigDict(strict=True, extra="ignore", allow_inf_nan=False)


_C = TypeVar("_C", bound=Content)

MOST_NESTED: Final = 50
"""Limit of values in each other; what is read here has at most 9."""

_NESTED: Final = re.compile(r'"(?:[^"\\]|\\.)*+"?+|([\[{])|([\]}])', re.DOTALL)


def parse_json(text: str, file: str, first_line: int = 1, *, nan: bool = False) -> Any:
    """The content of a JSON text that starts at line `first_line` of a file.

    Raises FormatError for text that is cut off or not JSON, for a repeated key in an object, for
    numbers with thousands of digits, and for values too deep in each other; without `nan` also for
    NaN and Infinity, which JSON does not allow.
    """
    depth = 0
    for token in _NESTED.finditer(text):
        depth += bool(token[1]) - bool(token[2])
        if depth > MOST_NESTED:
            line = first_line + text.count("\n", 0, token.start())
            raise FormatError(file, line, f"values more than {MOST_NESTED} deep", "fewer")
    try:
        return json.loads(
            text, object_pairs_hook=_object, parse_constant=float if nan else _no_constant
        )
    except json.JSONDecodeError as error:
        found = repr(text[error.pos : error.pos + 40]) if text[error.pos :] else "the end"
        line = first_line + error.lineno - 1
        raise FormatError(file, line, found, f"JSON ({error.msg})") from None
    except _NoJsonError as error:
        line = first_line + line_of(text, error.name) - 1
        raise FormatError(file, line, error.found, "JSON with each key once") from None
    except ValueError as error:
        raise FormatError(file, first_line, str(error), "JSON") from None


def read_json(text: str, file: str, model: type[_C]) -> _C:
    """The content of a JSON text, which may have NaN. Raises FormatError."""
    try:
        return model.model_validate(parse_json(text, file, nan=True))
    except ValidationError as error:
        raise mismatch(error, file, 1) from None


def line_of(text: str, name: str) -> int:
    """The line with the first occurrence of a string; 1 if it is written with other escapes."""
    at = text.find(json.dumps(name))
    if at < 0:
        at = text.find(json.dumps(name, ensure_ascii=False))
    return text.count("\n", 0, max(at, 0)) + 1


class Places:
    """The lines of strings in a JSON text, asked for in the order of the text."""

    def __init__(self, text: str) -> None:
        self._text, self._at, self._line = text, 0, 1
        self._colon = ": " if '": ' in text else ":"

    def line_of(self, key: str, value: str) -> int:
        """The line of the next pair of this key and value; if there is none, of the last found."""
        pair = f'"{key}"{self._colon}{json.dumps(value, ensure_ascii=False)}'
        at = self._text.find(pair, self._at)
        if at >= 0:
            self._line += self._text.count("\n", self._at, at)
        # Without a pair it is written with other escapes: a search for each would take hours.
        self._at = at + 1 if at >= 0 else len(self._text)
        return self._line


class _NoJsonError(Exception):
    def __init__(self, name: str, found: str) -> None:
        super().__init__(found)
        self.name = name
        self.found = found


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise _NoJsonError(key, f"the key {key!r} a second time")
        found[key] = value
    return found


def _no_constant(name: str) -> NoReturn:
    raise _NoJsonError(name, name)
