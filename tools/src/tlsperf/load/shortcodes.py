"""The shortcodes in the Markdown of a report's page: `{{ ratio(row="…", implementation="…") }}`."""

from __future__ import annotations

import re
from collections.abc import Mapping
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
