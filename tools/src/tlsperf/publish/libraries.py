"""Libraries over all reports: their versions, and where each leads and trails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tlsperf.analysis.ratios import factor_text
from tlsperf.contract.index import LibraryOverview, LibraryStandings, MeasuredVersion, Standing
from tlsperf.contract.libraries import NAMES
from tlsperf.contract.metrics import METRICS
from tlsperf.contract.record import Identifier
from tlsperf.contract.results import Cell, Results, Row, ShownImplementation
from tlsperf.contract.text import host_label
from tlsperf.publish.reports import newest_first, reference


def libraries(results: Sequence[Results]) -> list[LibraryOverview]:
    """Each library of a report: its versions, newest first, and where it leads and trails in the
    newest report of a suite on each host that compares it with another one."""
    ordered = newest_first(results)
    names = sorted({i.library for r in ordered for i in r.implementations})
    return [
        LibraryOverview(
            library=name,
            name=NAMES[name],
            versions=[
                MeasuredVersion(
                    label=i.label, report=reference(r), host=", ".join(map(host_label, r.hosts))
                )
                for r in ordered
                for i in r.implementations
                if i.library == name
            ],
            standings=_standings(name, ordered),
        )
        for name in names
    ]


def _standings(library: str, ordered: Sequence[Results]) -> list[LibraryStandings]:
    found: dict[Identifier, LibraryStandings] = {}
    for results in ordered:
        compares = len(results.hosts) == 1 and all(run.suite for run in results.runs)
        if not compares or results.hosts[0].id in found:
            continue
        standing = _standing(library, results)
        if standing:
            found[results.hosts[0].id] = standing
    return list(found.values())


def _standing(library: str, results: Results) -> LibraryStandings | None:
    shown = {i.id: i for i in results.implementations}
    leads, trails, between = [], [], 0
    for table in results.tables:
        for row in table.rows:
            if (
                table.by_phase
                or row.scenario.operation == "primitive"
                or not METRICS[row.metric].primary
            ):
                continue
            best = _best_of_each(row, shown)
            if library not in best or len(best) < 2:
                continue
            ranked = sorted(best.values(), key=lambda c: c.value or 0, reverse=True)
            own = best[library]
            if _is_tied(row, own, shown):
                between += 1
            elif ranked[0] is own:
                leads.append(_against(row, own, ranked[1], shown))
            elif ranked[-1] is own:
                trails.append(_against(row, own, ranked[0], shown))
            else:
                between += 1
    if not (leads or trails or between):
        return None
    labels = [i.label for i in results.implementations if i.library == library]
    return LibraryStandings(
        report=reference(results),
        host=host_label(results.hosts[0]),
        label=labels[0] if len(labels) == 1 else f"{NAMES[library]}, best of its builds",
        leads=leads,
        trails=trails,
        between=between,
    )


def _is_tied(row: Row, own: Cell, shown: Mapping[str, ShownImplementation]) -> bool:
    """Whether it is a leader together with another library."""
    leaders = {shown[cell.implementation].library for cell in row.cells if cell.tied}
    return own.tied and len(leaders) > 1


def _best_of_each(row: Row, shown: Mapping[str, ShownImplementation]) -> dict[str, Cell]:
    best: dict[str, Cell] = {}
    for cell in row.cells:
        library = shown[cell.implementation].library
        if cell.valid and cell.value:
            known = best.get(library)
            if known is None or (known.value or 0) < cell.value:
                best[library] = cell
    return best


def _against(
    row: Row, own: Cell, other: Cell, shown: Mapping[str, ShownImplementation]
) -> Standing:
    return Standing(
        anchor=row.anchor,
        name=row.name,
        text=factor_text((own.value or 0) / (other.value or 1)),
        other=shown[other.implementation].label,
    )
