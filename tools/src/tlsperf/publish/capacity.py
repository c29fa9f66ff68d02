"""Computes how many cores a server's traffic takes, from the rates of one report. Pure
functions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from tlsperf.contract.questions import Question, Sheet, SheetCell, SheetRow
from tlsperf.contract.record import Identifier
from tlsperf.publish.sheets import NOTHING, Source, newest, of_days

CONNECTIONS: Final = 10_000
"""Connections per second in the examples."""
SHARES: Final = (0.0, 0.5, 0.9)
"""Shares of connections that resume a session."""
GIGABITS: Final = 10
MIB_PER_GIGABIT: Final = 1e9 / 8 / 2**20

_RESUMED: Final = "resumed-handshake-1-3-ticket-x25519-server"
_SENDING: Final = "transfer-1-3-aes-256-gcm-sending"
_KEYS: Final = {"ecdsa-p256": "ECDSA P-256", "rsa-2048": "RSA-2048"}


def cores_text(cores: float) -> str:
    """Three significant digits."""
    value = float(f"{cores:.3g}")
    return f"{value:,.{max(0, 2 - math.floor(math.log10(value)))}f}"


def cores(
    source: Source, implementation: Identifier, demand: Sequence[tuple[float, Identifier]]
) -> float | None:
    """The sum of each demand per second divided by the rate of its row; None if a rate is
    missing.
    """
    rates = [(amount, source.value(row, implementation)) for amount, row in demand]
    parts = [amount / rate for amount, rate in rates if rate]
    return sum(parts) if len(parts) == len(rates) else None


def capacity(sources: Sequence[Source]) -> Question | None:
    """The page about cores; None if no report has the rates."""
    full = {key: f"full-handshake-1-3-{key}-x25519-server" for key in _KEYS}
    rows = [*full.values(), _RESUMED, _SENDING]
    alike = [s for s in sources if any(all(s.cell(row, i) for row in rows) for i in s.alike)]
    source = newest(alike, rows)
    if source is None:
        return None
    sending = GIGABITS * MIB_PER_GIGABIT
    sheets = [
        Sheet(
            id="costs",
            caption=f"{source.place}: cores for a thousand handshakes a second, and for each Gbit/s "
            "that is sent.",
            corner="Library",
            host=source.host,
            columns=[*(f"Full, {name}" for name in _KEYS.values()), "Resumed", "1 Gbit/s sent"],
            rows=_rows(
                source,
                [
                    *([(1000.0, row)] for row in full.values()),
                    [(1000.0, _RESUMED)],
                    [(MIB_PER_GIGABIT, _SENDING)],
                ],
            ),
        )
    ]
    for key, name in _KEYS.items():
        demands = [
            [(CONNECTIONS * (1 - share), full[key]), (CONNECTIONS * share, _RESUMED),
             (sending, _SENDING)]
            for share in SHARES
        ]  # fmt: skip
        sheets.append(
            Sheet(
                id=f"example-{key}",
                caption=f"{source.place}: cores for {CONNECTIONS:,} connections a second with {name} "
                f"and {GIGABITS} Gbit/s sent.",
                corner="Library",
                host=source.host,
                columns=[f"{share:.0%} resumed" for share in SHARES],
                rows=_rows(source, demands),
            )
        )
    return Question(
        id="cores",
        title="How many cores does my traffic need?",
        description="Cores that TLS needs on a server, computed from connections a second, the "
        "share that resumes, the key of the certificate and the traffic.",
        answer=[
            f"With {CONNECTIONS:,} connections a second, half of them resumed, ECDSA P-256 and "
            f"{GIGABITS} Gbit/s sent: {_range(source, full['ecdsa-p256'], sending)}.",
        ],
        sheets=sheets,
        meaning=[
            "Cores = connections × ((1 − share) ÷ full + share ÷ resumed) + traffic ÷ sending. "
            "Full, resumed and sending are rates of one core; share is the share of connections "
            "that resume.",
            "For other traffic, use the first table: multiply the connections that do not resume "
            "by the column of their key and those that resume by the column of resumptions, and "
            "add the cores for the traffic.",
        ],
        limits=[
            "These are the cores for TLS alone. The kernel, the network card and the application "
            "need more.",
            "The calculation assumes threads that do not wait for each other, TLS 1.3 with X25519, "
            "and writes of the measured size. The page about scaling shows rates on several "
            "threads.",
            "A server that is always busy has queues, so plan for more cores.",
            *of_days([source.results]),
        ],
        host=source.host,
        reports=source.reports,
    )


def _rows(source: Source, demands: Sequence[Sequence[tuple[float, Identifier]]]) -> list[SheetRow]:
    rows = []
    for shown in source.shown.values():
        found = [cores(source, shown.id, demand) for demand in demands]
        cells = [SheetCell(text=cores_text(each)) if each else NOTHING for each in found]
        if any(found):
            rows.append(SheetRow(label=shown.label, colour=shown.colour, cells=cells))
    return rows


def _range(source: Source, full: Identifier, sending: float) -> str:
    demand = [(CONNECTIONS / 2, full), (CONNECTIONS / 2, _RESUMED), (sending, _SENDING)]
    found = [c for i in source.alike if (c := cores(source, i, demand))]
    return f"{cores_text(min(found))} to {cores_text(max(found))} cores, depending on the library"
