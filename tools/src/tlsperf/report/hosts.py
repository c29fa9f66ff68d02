"""The hosts of parts, and which figure stands for one on a host. Pure functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from tlsperf.contract.record import Identifier
from tlsperf.contract.results import Cell, Results, Row, Table
from tlsperf.contract.text import hosts_text

HostKey = tuple[Identifier, ...]
"""The ids of the hosts of a part: two hosts may have one name."""

Place = tuple[Table, Row, Cell]


def host_of_part(part: Results) -> HostKey:
    return tuple(host.id for host in part.hosts)


def hosts_of(parts: Iterable[Results]) -> dict[HostKey, str]:
    """What people call the hosts of the parts, in their order; of equal names each has its id too."""
    names: dict[HostKey, str] = {}
    for part in parts:
        names.setdefault(host_of_part(part), hosts_text(part.hosts))
    count = Counter(names.values())
    return {
        key: name if count[name] == 1 else f"{name} ({', '.join(key)})"
        for key, name in names.items()
    }


def first_cell(places: Iterable[tuple[Table, Row]], implementation: Identifier) -> Place | None:
    """The first cell with a figure, or else the first that says why there is none."""
    found = [
        (table, row, cell)
        for table, row in places
        for cell in row.cells
        if cell.implementation == implementation
    ]
    return next((it for it in found if it[2].value is not None), next(iter(found), None))
