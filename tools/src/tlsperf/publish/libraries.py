"""Libraries over all reports: their versions."""

from __future__ import annotations

from collections.abc import Sequence

from tlsperf.contract.index import LibraryOverview, MeasuredVersion
from tlsperf.contract.libraries import NAMES
from tlsperf.contract.results import Caveat, Results
from tlsperf.contract.text import host_label
from tlsperf.publish.reports import host_of, newest_first, reference


def libraries(results: Sequence[Results], notes: Sequence[Caveat] = ()) -> list[LibraryOverview]:
    """Each library of a report: its versions, newest first.

    A library whose figures notes withdraw from all of the reports has only the newest of the notes.
    """
    ordered = newest_first(results)
    measured = {i.library for r in ordered for i in r.implementations}
    shown = {note.id for r in ordered for note in r.notes}
    withdrawn = {
        library: note
        for note in notes
        if note.withdraws and note.id in shown
        for library in note.libraries
        if library not in measured
    }
    return [
        LibraryOverview(
            library=name,
            name=NAMES[name],
            versions=[
                MeasuredVersion(label=i.label, report=reference(r), host=host_label(host_of(r, i)))
                for r in ordered
                for i in r.implementations
                if i.library == name
            ],
            withdrawn=withdrawn.get(name),
        )
        for name in sorted(measured | withdrawn.keys())
    ]
