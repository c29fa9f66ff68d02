"""Selects the caveats about published figures that a report must show."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Set
from types import MappingProxyType
from typing import Final

from tlsperf.contract.record import Identifier
from tlsperf.contract.results import Caveat, Results, Row, RowReference, ShownCaveat
from tlsperf.contract.run import RunWarning

FEW: Final = 8
"""A caveat names its rows up to this number."""

_OURS: Final = "tlsbench"


def caveats_for(
    results: Results,
    notes: Sequence[Caveat],
    withdrawn: Mapping[Identifier, Set[Identifier]] = MappingProxyType({}),
) -> list[ShownCaveat]:
    """The caveats that affect a report, errors of the source first.

    `withdrawn` are the libraries that each run would show without a note.
    """
    shown = [s for note in notes if (s := _shown(results, note, withdrawn)) is not None]
    return sorted(shown, key=lambda note: ("page", "setup", "tool", "reading").index(note.kind))


def warnings_for(shown: Sequence[ShownCaveat], notes: Sequence[Caveat]) -> list[RunWarning]:
    """The warnings of the caveats that withdraw figures or state that they cannot be compared."""
    by_id = {note.id: note for note in notes}
    known = [by_id[note.id] for note in shown]
    return [
        *(RunWarning(code="withdrawn", message=note.text) for note in known if note.withdraws),
        *(RunWarning(code="incomparable", message=note.warning) for note in known if note.warning),
    ]


def _shown(
    results: Results, note: Caveat, withdrawn: Mapping[Identifier, Set[Identifier]]
) -> ShownCaveat | None:
    runs = {
        run.id
        for run in results.runs
        if (run.id in note.runs if note.runs else run.tool.name == _OURS)
    }
    if note.withdraws:
        is_shown = any(set(note.libraries) & withdrawn.get(run, set()) for run in runs)
        return ShownCaveat(id=note.id, kind=note.kind) if is_shown else None
    if not runs:
        return None
    libraries = {i.id: i.library for i in results.implementations}
    rows = [row for table in results.tables for row in table.rows if touches(note, row, libraries)]
    if not rows:
        return None
    if len(rows) == sum(len(table.rows) for table in results.tables):
        return ShownCaveat(id=note.id, kind=note.kind)
    few = rows if len(rows) <= FEW else []
    return ShownCaveat(
        id=note.id,
        kind=note.kind,
        touched=len(rows),
        rows=[RowReference(anchor=row.anchor, name=row.name) for row in few],
    )


def touches(note: Caveat, row: Row, libraries: Mapping[str, str]) -> bool:
    shown = {libraries[cell.implementation] for cell in row.cells if cell.value is not None}
    if note.libraries and not shown & set(note.libraries):
        return False
    fields = {**row.scenario.model_dump(), "metric": row.metric}
    return not note.scenarios or any(
        all(fields[field] == (value or None) for field, value in match.items())
        for match in note.scenarios
    )


def below_table(
    notes: Sequence[Caveat], parts: Sequence[Results], anchors: Collection[Identifier]
) -> list[str]:
    """The texts of the caveats about every run of ours that touch one of these rows."""
    everywhere = [note for note in notes if not note.runs]
    return [
        note.text
        for note in everywhere
        if any(
            touches(note, row, {i.id: i.library for i in part.implementations})
            for part in parts
            if note.id in {shown.id for shown in part.notes}
            for table in part.tables
            for row in table.rows
            if row.anchor in anchors
        )
    ]
