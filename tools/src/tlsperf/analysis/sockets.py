"""Where a server's processor time goes, for one connection over a socket. Pure functions.

The library's part is the time of the same handshake in memory, on the server's side. The kernel's
part is the system time of the server's process. The rest of its user time is the loop of the server
or of the harness, the library's work for a byte and for the close, and what the library takes
longer with colder caches.
"""

from __future__ import annotations

from typing import Final

from tlsperf.analysis.series import MeasuredReport, rounded
from tlsperf.contract.record import Identifier, Scenario
from tlsperf.contract.results import Row, SocketShares
from tlsperf.contract.text import value_text
from tlsperf.contract.variant import parse_variant

_OF_SOCKETS: Final = frozenset({"server"})
"""Variants that say how connections are made, not what the library does."""


def socket_shares(report: MeasuredReport) -> list[SocketShares]:
    """The parts of each server's processor time, in the order of the tables.

    A server whose handshake in memory was not measured by the same implementation has none.
    """
    rows = report.series.by_key
    found = []
    for row, whole in (of for table in report.results.tables for of in report.rows(table)):
        s = whole.scenario
        if not whole.definition.of_process or whole.is_part or s.side != "server":
            continue
        if s.variant == "nagle":  # its processes wait, so that ticks seldom find them
            continue
        kernel = rows.get((s, "system", whole.metric, whole.statistic, whole.unit))
        memory = rows.get((_in_memory(s), "total", "rate", "value", "handshakes/s"))
        if kernel is None or memory is None:
            continue
        for implementation in report.results.implementations:
            of_all = (whole, kernel, memory)
            if all(series.counts_for(implementation.id) for series in of_all):
                figures = (series.samples[implementation.id].figure for series in of_all)
                found.append(_shares(row, implementation.id, *figures))
    return found


def _in_memory(scenario: Scenario) -> Scenario:
    """The handshake that a connection begins with, in memory."""
    variant = scenario.variant
    if variant and parse_variant(variant).kind in _OF_SOCKETS:
        variant = None
    return scenario.model_copy(update={"operation": "handshake", "variant": variant})


def _shares(
    row: Row, implementation: Identifier, whole: float, kernel: float, rate: float
) -> SocketShares:
    library = 1e6 / rate
    parts = [100 * part / whole for part in (library, kernel, whole - library - kernel)]
    texts = [f"{round(part)}%".replace("-", "−") for part in parts]
    return SocketShares(
        anchor=row.anchor,
        name=row.name,
        implementation=implementation,
        connection=value_text(whole, "µs"),
        handshake=value_text(library, "µs"),
        library_percent=rounded(parts[0], 6),
        kernel_percent=rounded(parts[1], 6),
        rest_percent=rounded(parts[2], 6),
        library=texts[0],
        kernel=texts[1],
        rest=texts[2],
        note=None
        if parts[2] >= 0
        else "the handshake took longer in memory than the process in its own code",
    )
