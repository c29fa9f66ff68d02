"""What to know about published numbers: `data/notes.toml`, and which of it a report must show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import ValidationError

from tlsperf.contract.errors import FormatError
from tlsperf.contract.record import SCENARIO_FIELDS
from tlsperf.contract.results import Note, Results, Row, RowReference, ShownNote
from tlsperf.load.run import read_toml

FEW = 8
"""Rows up to which a note names them."""

_FIELDS = (*SCENARIO_FIELDS, "metric")


def read_notes(path: Path) -> list[Note]:
    """The checked notes of a file, in its order.

    Raises FormatError at a note with a wrong field, or an id that an earlier one has.
    """
    table = read_toml(path)
    if set(table) != {"note"}:
        found = ", ".join(sorted(set(table) - {"note"})) or "no [[note]]"
        raise FormatError(str(path), None, found, "[[note]] alone")
    notes: list[Note] = []
    for number, entry in enumerate(table["note"], start=1):
        where = f"note {entry.get('id', number)!r}"
        try:
            note = Note.model_validate(entry)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            key = ".".join(str(part) for part in first["loc"])
            raise FormatError(str(path), None, f"{where}: {key}", first["msg"]) from None
        unknown = {field for match in note.scenarios for field in match} - set(_FIELDS)
        if unknown:
            found = f"{where}: {', '.join(sorted(unknown))}"
            raise FormatError(str(path), None, found, f"fields of {', '.join(_FIELDS)}")
        if any(note.id == earlier.id for earlier in notes):
            raise FormatError(str(path), None, f"{where} twice", "each id once")
        notes.append(note)
    return notes


def notes_for(results: Results, notes: Sequence[Note]) -> list[ShownNote]:
    """The notes that touch a report, those of errors of the source first."""
    shown = [s for note in notes if (s := _shown(results, note)) is not None]
    return sorted(shown, key=lambda note: ("page", "setup", "tool", "reading").index(note.kind))


def _shown(results: Results, note: Note) -> ShownNote | None:
    if not {run.id for run in results.runs} & set(note.runs):
        return None
    libraries = {i.id: i.library for i in results.implementations}
    rows = [row for table in results.tables for row in table.rows if touches(note, row, libraries)]
    if not rows:
        return None
    if len(rows) == sum(len(table.rows) for table in results.tables):
        return ShownNote(id=note.id, kind=note.kind)
    few = rows if len(rows) <= FEW else []
    return ShownNote(
        id=note.id,
        kind=note.kind,
        touched=len(rows),
        rows=[RowReference(anchor=row.anchor, name=row.name) for row in few],
    )


def touches(note: Note, row: Row, libraries: Mapping[str, str]) -> bool:
    shown = {libraries[cell.implementation] for cell in row.cells if cell.value is not None}
    if note.libraries and not shown & set(note.libraries):
        return False
    fields = {**row.scenario.model_dump(), "metric": row.metric}
    return not note.scenarios or any(
        all(fields[field] == value for field, value in match.items()) for match in note.scenarios
    )
