"""What connections cost a server, and how many cores so many of them take. Pure functions.

    cores = connections per second × ((1 − share) × full + share × resumed)

`full` and `resumed` are seconds of one core for a connection; `share` is the part that resumes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from tlsperf.contract.answer import Cores, Costs
from tlsperf.contract.errors import UserError, alternatives
from tlsperf.contract.record import Identifier
from tlsperf.contract.results import Results
from tlsperf.report.hosts import host_of_part, hosts_of

CONNECTIONS: Final = 20_000
"""Connections per second in the table."""
SHARES: Final = (0, 70, 100)
"""Per cent of them that resume, in the columns of the table."""
WAYS: Final = ("alone", "socket")
_MICROSECONDS: Final = {"µs": 1.0, "ms": 1e3, "s": 1e6}


def cores_of(
    parts: Sequence[Results], rows: Cores, implementations: Sequence[Identifier] = ()
) -> dict[str, Any]:
    """What a page about cores shows: each host, and there each library with all figures.

    A library has `costs` in µs of a core for a connection, which the script of the page reads, and
    the texts of the table: for each way and share the cores for `CONNECTIONS` with ECDSA.
    Of several parts of a host the first with a figure counts. Raises UserError for a row that a
    host does not have, and for one that is neither a rate nor a time.
    """
    names = hosts_of(parts)
    by_host = {host: [p for p in parts if host_of_part(p) == host] for host in names}
    return {
        "connections": f"{CONNECTIONS:,}",
        "shares": list(SHARES),
        "hosts": [
            {
                "name": names[host],
                "libraries": [
                    {
                        "id": shown.id,
                        "label": shown.label,
                        "colour": shown.colour,
                        "costs": costs,
                        "cores": {way: _texts(costs[way]) for way in WAYS},
                    }
                    for shown in {i.id: i for p in reversed(of) for i in p.implementations}.values()
                    if (not implementations or shown.id in implementations)
                    and (costs := _costs(of, rows, shown.id))
                ],
            }
            for host, of in by_host.items()
        ],
    }


def _costs(
    parts: Sequence[Results], rows: Cores, implementation: Identifier
) -> dict[str, dict[str, float]] | None:
    """Microseconds of a core, of each way by kind of connection; None if one was not measured."""
    found: dict[str, dict[str, float]] = {}
    for way in WAYS:
        of: Costs = getattr(rows, way)
        for kind, row in of:
            time = _time(parts, row, implementation)
            if time is None:
                return None
            found.setdefault(way, {})[kind] = float(f"{time:.4g}")
    return found


def _time(parts: Sequence[Results], anchor: Identifier, implementation: Identifier) -> float | None:
    """Microseconds of a connection: a time as it is, or what a rate of one core leaves for it."""
    tables = [table for results in parts for table in results.tables]
    places = [(t, row) for t in tables for row in t.rows if row.anchor == anchor]
    if not places:
        known = alternatives(anchor, [row.anchor for table in tables for row in table.rows])
        raise UserError(f"found no row {anchor!r} of {parts[0].id}, expected {known}")
    for table, row in places:
        scale = _MICROSECONDS.get(table.unit)
        if scale is None and not table.unit.endswith("/s"):
            raise UserError(f"found {anchor!r} in {table.unit}, expected a rate or a time")
        for cell in row.cells:
            if cell.implementation == implementation and cell.valid and cell.value:
                return cell.value * scale if scale else 1e6 / cell.value
    return None


def _texts(costs: dict[str, float]) -> list[str]:
    return [cores_text(cores(CONNECTIONS, share / 100, costs, "ecdsa")) for share in SHARES]


def cores(connections: float, share: float, costs: dict[str, float], key: str) -> float:
    """The cores for so many connections per second, `share` of which resume."""
    return connections * ((1 - share) * costs[key] + share * costs["resumed"]) / 1e6


def cores_text(number: float) -> str:
    """Two significant digits, as more do not reproduce: 0.072, 1.4, 14, 140."""
    rounded = float(f"{number:.2g}")
    return f"{rounded:,.0f}" if rounded >= 10 else f"{rounded:#.2g}"
