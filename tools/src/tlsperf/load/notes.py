"""Reads `data/notes.toml`: caveats about published figures."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from pydantic import ValidationError

from tlsperf.contract.errors import FormatError
from tlsperf.contract.libraries import NAMES
from tlsperf.contract.record import SCENARIO_FIELDS
from tlsperf.contract.results import Caveat
from tlsperf.contract.toml_text import read_toml

_FIELDS: Final = (*SCENARIO_FIELDS, "metric")


def known_notes(data: Path) -> list[Caveat]:
    """The caveats of the folder `data`; empty without notes.toml."""
    path = data / "notes.toml"
    return read_caveats(path) if path.exists() else []


def read_caveats(path: Path) -> list[Caveat]:
    """The checked caveats of a file, in its order.

    Raises FormatError for a wrong field, an unknown library or a repeated id.
    """
    table = read_toml(path)
    if set(table) != {"note"}:
        found = ", ".join(sorted(set(table) - {"note"})) or "no [[note]]"
        raise FormatError(str(path), None, found, "[[note]] alone")
    entries = table["note"] if isinstance(table["note"], list) else [table["note"]]
    wrong = [entry for entry in entries if not isinstance(entry, dict)]
    if wrong or entries is not table["note"]:
        raise FormatError(str(path), None, f"note {(wrong or entries)[0]!r}", "[[note]] alone")
    notes: list[Caveat] = []
    for number, entry in enumerate(entries, start=1):
        where = f"note {entry.get('id', number)!r}"
        try:
            note = Caveat.model_validate(entry)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            key = ".".join(str(part) for part in first["loc"])
            raise FormatError(str(path), None, f"{where}: {key}", first["msg"]) from None
        unknown = {field for match in note.scenarios for field in match} - set(_FIELDS)
        if unknown:
            found = f"{where}: {', '.join(sorted(unknown))}"
            raise FormatError(str(path), None, found, f"fields of {', '.join(_FIELDS)}")
        if missing := sorted(set(note.libraries) - set(NAMES)):
            found = f"{where}: {', '.join(missing)}"
            raise FormatError(str(path), None, found, f"libraries of {', '.join(NAMES)}")
        if note.withdraws and not (note.runs and note.libraries and not note.scenarios):
            expected = "runs and libraries, all of whose figures it withdraws, and no scenarios"
            raise FormatError(str(path), None, f"{where}: withdraws", expected)
        if any(note.id == earlier.id for earlier in notes):
            raise FormatError(str(path), None, f"{where} twice", "each id once")
        notes.append(note)
    return notes
