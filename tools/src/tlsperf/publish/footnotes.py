"""Notes of several cells of a table: each cell gets a mark, and the caption explains it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

_MARKS: Final = "*†‡§¶‖#abcdefghijklmnopqrstuvwxyz"
"""Marks of cells with such a note."""


def footnotes(cells: Iterable[dict[str, Any]]) -> list[str]:
    """Gives each note of cells a mark, which replaces it there; returns the lines that explain the
    marks.
    """
    noted = [cell for cell in cells if "invalid" not in cell]
    notes = dict.fromkeys(note for cell in noted for note in _notes_of(cell))
    marks = dict(zip(notes, _MARKS, strict=False))
    for cell in noted:
        if "note" in cell:
            cell["note"] = marks.get(cell["note"], cell["note"])
        if "warnings" in cell:
            cell["warnings"] = [marks.get(text, text) for text in cell["warnings"]]
    return [f"{mark} {note}." for note, mark in marks.items()]


def _notes_of(cell: dict[str, Any]) -> list[str]:
    own = [cell["note"]] if "note" in cell else []
    return [*own, *cell.get("warnings", [])]
