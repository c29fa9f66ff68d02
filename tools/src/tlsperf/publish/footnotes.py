"""Notes of several cells of a table: each cell gets a mark, and the caption explains it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

_OFTEN: Final = 3
"""A note of this number of cells or more is printed once, below the title of the table."""

_MARKS: Final = "*†‡§¶‖#abcdefghijklmnopqrstuvwxyz"
"""Marks of cells with such a note."""


def footnotes(cells: Sequence[Sequence[dict[str, Any]]], often: int = _OFTEN) -> list[str]:
    """Notes of at least `often` cells: each cell gets a mark; returns the lines that explain the
    marks.
    """
    noted = [c for row in cells for c in row if "invalid" not in c]
    count = Counter(note for cell in noted for note in _notes_of(cell))
    marked = [note for note, of in count.items() if of >= often]
    marks = dict(zip(marked, _MARKS, strict=False))
    for cell in noted:
        if "note" in cell:
            cell["note"] = marks.get(cell["note"], cell["note"])
        if "warnings" in cell:
            cell["warnings"] = [marks.get(text, text) for text in cell["warnings"]]
    return [f"{mark} {note}." for note, mark in marks.items()]


def _notes_of(cell: dict[str, Any]) -> list[str]:
    own = [cell["note"]] if "note" in cell else []
    return [*own, *cell.get("warnings", [])]
