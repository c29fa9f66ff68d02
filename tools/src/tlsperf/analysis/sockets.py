"""Where a server's processor time goes, for one connection over a socket. Pure functions.

The library's part is the time of the same handshake in memory, on the server's side. The kernel's
part is the system time of the server's process. The rest of its user time is the loop of the server
or of the harness, the library's work for a byte and for the close, and what the library takes
longer with colder caches.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tlsperf.analysis.intervals import Intervals
from tlsperf.analysis.ratios import sample_ratio
from tlsperf.analysis.series import MeasuredReport, Rules, Sample, Series, rounded
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
        digits = 4 if Intervals([whole], report.series.rules.spreads).reproduces(whole) else 3
        for implementation in report.results.implementations:
            i = implementation.id
            if not all(series.counts_for(i) for series in (whole, kernel, memory)):
                continue
            rates = memory.samples[i]
            times = replace(rates, valid={at: 1e6 / rate for at, rate in rates.valid.items()})
            parts = [
                _part(part, i, whole, report.series.rules) for part in (times, kernel.samples[i])
            ]
            found.append(_shares(row, i, digits, whole.samples[i].figure, *parts))
    return found


def _part(part: Sample, implementation: Identifier, whole: Series, rules: Rules) -> float:
    """The part over the whole, of the same rounds."""
    ratio = sample_ratio(whole.samples[implementation], part, whole, rules)
    return ratio.value if ratio else part.figure / whole.samples[implementation].figure


def _in_memory(scenario: Scenario) -> Scenario:
    """The handshake that a connection begins with, in memory."""
    variant = scenario.variant
    if variant and parse_variant(variant).kind in _OF_SOCKETS:
        variant = None
    return scenario.model_copy(update={"operation": "handshake", "variant": variant})


def _shares(
    row: Row, implementation: Identifier, digits: int, whole: float, library: float, kernel: float
) -> SocketShares:
    """The printed time of the handshake is its share of the connection's."""
    parts = [round(100 * part, 9) for part in (library, kernel, 1 - library - kernel)]
    texts = [f"{round(part)}%".replace("-", "−") for part in parts]
    return SocketShares(
        anchor=row.anchor,
        name=row.name,
        implementation=implementation,
        connection=value_text(whole, "µs", digits=digits),
        handshake=value_text(library * whole, "µs", digits=digits),
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
