"""Files that a command can do without: one that cannot be read is left out, with a line of why."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from tlsperf.contract.errors import UserError, message_of

Place = TypeVar("Place")
Content = TypeVar("Content")

_listening: list[list[str]] = []
"""The lists of the blocks that are under way, the innermost last."""


@contextmanager
def damage() -> Iterator[list[str]]:
    """Lists, while the block is under way, what is left out: why, once each."""
    lines: list[str] = []
    _listening.append(lines)
    try:
        yield lines
    finally:
        _listening.pop()


def leave_out(line: str) -> None:
    """Records that something is left out, and why."""
    for lines in _listening:
        if line not in lines:
            lines.append(line)


def readable(read: Callable[[Place], Content], places: Iterable[Place]) -> Iterator[Content]:
    """The content of each place that can be read; the others are left out."""
    for place in places:
        try:
            content = read(place)
        except (UserError, OSError) as error:
            leave_out(message_of(error))
        else:
            yield content
