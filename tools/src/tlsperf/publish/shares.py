"""The share of its primitive ceiling that each implementation reaches in a scenario.

The figures are those that the scenario's page shows of each host; the primitives are of the same
build on the same machine, of the newest report that has them. Without one of them there is no share.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tlsperf.analysis.ceilings import ABOVE, Estimate, primitives_of, share
from tlsperf.analysis.series import rounded
from tlsperf.contract.index import PrimitiveCeiling, PrimitiveShare
from tlsperf.contract.metrics import Unit
from tlsperf.contract.record import Identifier
from tlsperf.contract.results import Cell, Results, Row, ShownImplementation, Table
from tlsperf.contract.text import host_label, listed, value_text
from tlsperf.publish.reports import host_of, newest_first, reference

_Build = tuple[Identifier, str | None, str | None, Identifier]
"""A host, its processor model and machine, and a build on it."""

_UNITS: Final = {"handshake": "operations/s", "transfer": "MiB/s"}
"""The unit of the primitives that an operation needs."""


@dataclass(frozen=True)
class Primitives:
    """The primitives of one build in one report."""

    results: Results
    rates: dict[Unit, dict[str, Estimate]]


def primitives_by_build(reports: Iterable[Results]) -> dict[_Build, list[Primitives]]:
    """The primitives of each build on each machine, newest report first."""
    found: dict[_Build, list[Primitives]] = {}
    for results in newest_first(reports):
        rates: dict[_Build, dict[Unit, dict[str, Estimate]]] = {}
        for table in results.tables:
            for row in table.rows:
                name = row.scenario.variant
                if row.scenario.operation != "primitive" or not name or not _is_rate(row):
                    continue
                for build, _, _, rate in _rates(results, row):
                    rates.setdefault(build, {}).setdefault(table.unit, {})[name] = rate
        for build, measured in rates.items():
            found.setdefault(build, []).append(Primitives(results, measured))
    return found


def ceiling(
    places: Sequence[tuple[Results, Table]], primitives: dict[_Build, list[Primitives]]
) -> PrimitiveCeiling | None:
    """The shares of one scenario in reports of different hosts, each with the table of its row
    alone; None if no build has one.
    """
    shares: list[PrimitiveShare] = []
    needs: Counter[str] = Counter()
    for results, table in places:
        row = table.rows[0]
        needed, unit = primitives_of(row.scenario), _UNITS.get(row.scenario.operation)
        if not needed or not _is_rate(row):
            continue
        for build, implementation, text, rate in _rates(results, row):
            for measured in primitives.get(build, []):
                of = share(needed, measured.rates.get(unit or "", {}), rate)
                if of is not None:
                    needs = needs or needed
                    percent, low, high = (_percent(end) for end in (of.value, of.low, of.high))
                    assert percent is not None
                    shares.append(
                        PrimitiveShare(
                            implementation=implementation.id,
                            label=implementation.label,
                            colour=implementation.colour,
                            host=host_label(host_of(results, implementation)),
                            figure=text,
                            ceiling=value_text(rate.value / of.value, table.unit, digits=3),
                            percent=percent,
                            low=low,
                            high=high,
                            text=_text(percent, low, high),
                            note=ABOVE if percent > 100 else None,
                            report=reference(results),
                            primitives=reference(measured.results),
                        )
                    )
                    break
    if not shares:
        return None
    return PrimitiveCeiling(needs=_needs(needs), shares=shares)


def _is_rate(row: Row) -> bool:
    return (row.metric, row.statistic, row.phase) == ("rate", "value", "total")


def _rates(
    results: Results, row: Row
) -> Iterator[tuple[_Build, ShownImplementation, str, Estimate]]:
    """The valid figures of a row, each with its build and its text."""
    shown = {i.id: i for i in results.implementations}
    for cell in row.cells:
        rate = _rate(cell)
        if rate is not None:
            implementation = shown[cell.implementation]
            host = host_of(results, implementation)
            build = (host.id, host.cpu_model, host.machine, implementation.id)
            yield build, implementation, cell.text, rate


def _rate(cell: Cell) -> Estimate | None:
    return Estimate(cell.value, cell.low, cell.high) if cell.valid and cell.value else None


def _needs(needed: Counter[str]) -> str:
    """The primitives as readers see them: `x25519-agree and 3 of ecdsa-p256-verify`."""
    return listed([name if times == 1 else f"{times} of {name}" for name, times in needed.items()])


def _percent(part: float | None) -> float | None:
    return None if part is None else rounded(100 * part, 6)


def _text(percent: float, low: float | None, high: float | None) -> str:
    """`61%`, or `61% (55 to 70%)`."""
    ends = "" if low is None or high is None else f" ({low:.0f} to {high:.0f}%)"
    return f"{percent:.0f}%{ends}"
