"""JSON files of other tools: their content, and the line numbers for errors."""

from __future__ import annotations

import json
import re
from typing import Any, Final, NoReturn

from tlsperf.contract.errors import FormatError

MOST_NESTED: Final = 50
"""Limit of values in each other; what is read here has at most 9."""

_NESTED: Final = re.compile(r'"(?:[^"\\]|\\.)*+"?+|([\[{])|([\]}])', re.DOTALL)


def parse_json(text: str, file: str, first_line: int = 1) -> Any:
    """The content of a JSON text that starts at line `first_line` of a file.

    Raises FormatError for text that is cut off or not JSON, for a repeated key in an object, for
    NaN, Infinity and numbers with thousands of digits, which JSON does not allow, and for values
    too deep in each other.
    """
    depth = 0
    for token in _NESTED.finditer(text):
        depth += bool(token[1]) - bool(token[2])
        if depth > MOST_NESTED:
            line = first_line + text.count("\n", 0, token.start())
            raise FormatError(file, line, f"values more than {MOST_NESTED} deep", "fewer")
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        found = repr(text[error.pos : error.pos + 40]) if text[error.pos :] else "the end"
        line = first_line + error.lineno - 1
        raise FormatError(file, line, found, f"JSON ({error.msg})") from None
    except _NoJsonError as error:
        line = first_line + line_of(text, error.name) - 1
        raise FormatError(file, line, error.found, "JSON with each key once") from None
    except ValueError as error:
        raise FormatError(file, first_line, str(error), "JSON") from None


def line_of(text: str, name: str) -> int:
    """The line with the first occurrence of a string; 1 if it is written with other escapes."""
    at = text.find(json.dumps(name))
    if at < 0:
        at = text.find(json.dumps(name, ensure_ascii=False))
    return text.count("\n", 0, max(at, 0)) + 1


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
