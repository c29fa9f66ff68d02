"""Where a server's processor time goes, for one connection over a socket. Pure functions.

The library's part is the time of the same handshake in memory, on the server's side. The kernel's
part is the system time of the server's process. The rest of its user time is the loop of the server
or of the harness, the library's work for a byte and for the close, and what the library takes
longer with colder caches.
"""

from __future__ import annotations

from typing import Final

from tlsperf.analysis.series import MeasuredReport, Sample, Series, rounded
from tlsperf.contract.record import Scenario
from tlsperf.contract.sockets import SocketShares
from tlsperf.contract.text import value_text
from tlsperf.contract.variant import parse_variant

_OF_SOCKETS: Final = frozenset({"server"})
"""Variants that say how connections are made, not what the library does."""


def socket_shares(report: MeasuredReport) -> list[SocketShares]:
    """The parts of each server's processor time, in the order of the tables.

    A server whose handshake in memory was not measured by the same implementation has none.
    """
    results, rows = report.results, {row.key: row for row in report.series.rows}
    found = []
    for table in results.tables:
        for row in table.rows:
            whole = rows[row.scenario, row.phase, row.metric, row.statistic, table.unit]
            if not whole.definition.of_process or whole.is_part or row.scenario.side != "server":
                continue
            if (
                row.scenario.variant == "nagle"
            ):  # its processes wait, so that ticks seldom find them
                continue
            kernel = rows.get((row.scenario, "system", row.metric, row.statistic, table.unit))
            memory = rows.get((_in_memory(row.scenario), "total", "rate", "value", "handshakes/s"))
            if kernel is None or memory is None:
                continue
            for implementation in results.implementations:
                samples = [_counting(of, implementation.id) for of in (whole, kernel, memory)]
                known = [sample.figure for sample in samples if sample is not None]
                if len(known) == len(samples):
                    found.append(_shares(row.anchor, row.name, implementation.id, *known))
    return found


def _in_memory(scenario: Scenario) -> Scenario:
    """The handshake that a connection begins with, in memory."""
    variant = scenario.variant
    if variant and parse_variant(variant).kind in _OF_SOCKETS:
        variant = None
    return scenario.model_copy(update={"operation": "handshake", "variant": variant})


def _counting(row: Series, implementation: str) -> Sample | None:
    sample = row.samples.get(implementation)
    return sample if sample is not None and sample.counts else None


def _shares(
    anchor: str, name: str, implementation: str, whole: float, kernel: float, rate: float
) -> SocketShares:
    library = 1e6 / rate
    parts = [100 * part / whole for part in (library, kernel, whole - library - kernel)]
    texts = [f"{round(part)}%".replace("-", "−") for part in parts]
    return SocketShares(
        anchor=anchor,
        name=name,
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
