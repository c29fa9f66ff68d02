"""Reads `data/notes.toml`: caveats about published figures."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from tlsperf.contract.errors import FormatError
from tlsperf.contract.record import SCENARIO_FIELDS
from tlsperf.contract.results import Caveat
from tlsperf.load.run import read_toml

_FIELDS = (*SCENARIO_FIELDS, "metric")


def read_caveats(path: Path) -> list[Caveat]:
    """The checked caveats of a file, in its order.

    Raises FormatError for a wrong field or a repeated id.
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
        if any(note.id == earlier.id for earlier in notes):
            raise FormatError(str(path), None, f"{where} twice", "each id once")
        notes.append(note)
    return notes
