"""The shortcodes in the Markdown of a report's page: `{{ ratio(row="…", implementation="…") }}`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

_CALL: Final = re.compile(r"\{\{\s*(?P<name>\w+)\((?P<arguments>[^{}]*)\)\s*\}\}")
_ARGUMENT: Final = re.compile(r"""\s*(\w+)\s*=\s*("[^"]*"|'[^']*'|`[^`]*`|[^\s,"'`]+)\s*(?:,|\Z)""")


@dataclass(frozen=True)
class Call:
    """A shortcode with its arguments, as the author wrote it."""

    name: str
    arguments: Mapping[str, str]
    file: str
    line: int


def shortcodes(text: str, file: str, first_line: int = 1) -> list[Call]:
    """The shortcodes in a text, in order. The text starts at line `first_line` of `file`."""
    return [
        Call(
            found["name"],
            {key: value.strip("\"'`") for key, value in _ARGUMENT.findall(found["arguments"])},
            file,
            first_line + text.count("\n", 0, found.start()),
        )
        for found in _CALL.finditer(text)
    ]


def unreadable(text: str) -> Iterator[tuple[int, str, str]]:
    """Line, what was found and what was expected of shortcodes that `shortcodes` does not see."""
    arguments = re.compile(rf"(?:{_ARGUMENT.pattern})*\s*")
    others = re.compile(r"\{[{%].*")
    expected = '{{ name(argument="…") }}, without braces in it'
    for found in _CALL.finditer(text):
        if not arguments.fullmatch(found["arguments"]):
            yield text.count("\n", 0, found.start()), found[0], expected
    rest = _CALL.sub(lambda found: "\n" * found[0].count("\n"), text)
    for left in others.finditer(rest):
        yield rest.count("\n", 0, left.start()), left[0], expected
