"""Libraries over all reports: their versions, and the verdicts on each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tlsperf.contract.index import LibraryOverview, LibraryStandings, MeasuredVersion, Standing
from tlsperf.contract.libraries import NAMES
from tlsperf.contract.metrics import METRICS
from tlsperf.contract.record import Identifier
from tlsperf.contract.results import Caveat, Cell, Results, Row, ShownImplementation, Table
from tlsperf.contract.text import host_label
from tlsperf.publish.reports import host_of, newest_first, reference


def libraries(results: Sequence[Results], notes: Sequence[Caveat] = ()) -> list[LibraryOverview]:
    """Each library of a report: its versions, newest first, and the verdicts on it.

    A library whose figures notes withdraw from all of the reports has only the newest of the notes.

    The verdicts come from the newest report of a suite on each host that compares the library with
    another one. A report with a price list compares each library with itself.
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
            standings=_standings(name, ordered),
            withdrawn=withdrawn.get(name),
        )
        for name in sorted(measured | withdrawn.keys())
    ]


def _standings(library: str, ordered: Sequence[Results]) -> list[LibraryStandings]:
    found: dict[Identifier, LibraryStandings] = {}
    for results in ordered:
        compares = len(results.hosts) == 1 and all(run.suite for run in results.runs)
        if not compares or results.prices or results.hosts[0].id in found:
            continue
        standing = _standing(library, results)
        if standing:
            found[results.hosts[0].id] = standing
    return list(found.values())


def _standing(library: str, results: Results) -> LibraryStandings | None:
    """The library's rows by verdict, as `Cell.best` and `Cell.tied` have them; None
    without rows.
    """
    shown = {i.id: i for i in results.implementations}
    best, tied, behind, untested = [], [], 0, 0
    for table in results.tables:
        for row in table.rows:
            if (
                table.by_phase
                or row.scenario.operation == "primitive"
                or not METRICS[row.metric].primary
            ):
                continue
            ranked = _best_of_each(row, shown)
            own = ranked.get(library)
            if own is None or len(ranked) < 2:
                continue
            leaders = {shown[c.implementation].library for c in row.cells if c.best or c.tied}
            others = [cell for name, cell in ranked.items() if name != library]
            if not leaders:
                untested += 1
            elif leaders == {library}:
                best.append(_against(table, row, own, others[:1], shown))
            elif library in leaders:
                rivals = [c for c in others if shown[c.implementation].library in leaders]
                tied.append(_against(table, row, own, rivals, shown))
            else:
                behind += 1
    if not (best or tied or behind or untested):
        return None
    labels = [i.label for i in results.implementations if i.library == library]
    return LibraryStandings(
        report=reference(results),
        host=host_label(results.hosts[0]),
        label=labels[0] if len(labels) == 1 else f"{NAMES[library]}, best of its builds",
        best=best,
        tied=tied,
        behind=behind,
        untested=untested,
    )


def _best_of_each(row: Row, shown: Mapping[str, ShownImplementation]) -> dict[str, Cell]:
    """The highest figure of each library, highest first."""
    counted = [cell for cell in row.cells if cell.valid and cell.value]
    found: dict[str, Cell] = {}
    for cell in sorted(counted, key=lambda c: c.value or 0, reverse=True):
        found.setdefault(shown[cell.implementation].library, cell)
    return found


def _against(
    table: Table,
    row: Row,
    own: Cell,
    others: Sequence[Cell],
    shown: Mapping[str, ShownImplementation],
) -> Standing:
    named = [f"{shown[c.implementation].label}, {c.text} {table.unit}" for c in others]
    return Standing(
        anchor=row.anchor,
        name=row.name,
        figure=f"{own.text} {table.unit}",
        other="; ".join(named),
    )
