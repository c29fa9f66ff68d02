"""Where a server's processor time goes: the handshake in memory, the kernel, and the rest."""

from __future__ import annotations

from typing import Any, Final

import pytest

from synthetic import OF_SERVER as HANDSHAKE
from synthetic import implementation, report_of, run_of_rows
from tlsperf.analysis.sockets import socket_shares
from tlsperf.contract.metrics import METRICS
from tlsperf.contract.names import scenario_name
from tlsperf.contract.record import Scenario
from tlsperf.contract.results import SocketShares

CONNECTION: Final = HANDSHAKE.model_copy(update={"operation": "connection"})
OPENSSL: Final = "openssl-3.6.3"
RUSTLS: Final = "rustls-0.23.46"


def row(
    name: str, scenario: Scenario, metric: str, phase: str, value: float, unit: str
) -> dict[str, Any]:
    of = {"implementation": name, **scenario.model_dump()}
    return of | {"metric": metric, "phase": phase, "value": value, "unit": unit}


def in_memory(rate: float, name: str = OPENSSL, **more: Any) -> list[dict[str, Any]]:
    scenario = HANDSHAKE.model_copy(update=more)
    return [row(name, scenario, "rate", "total", rate, "handshakes/s")]


def connection(
    user: float, system: float, name: str = OPENSSL, scenario: Scenario = CONNECTION
) -> list[dict[str, Any]]:
    phases = {"total": user + system, "user": user, "system": system}
    return [
        row(name, scenario, "processor-time", phase, value, "µs") for phase, value in phases.items()
    ]


def shares(*rows: list[dict[str, Any]]) -> list[SocketShares]:
    flat = [line for group in rows for line in group]
    names = dict.fromkeys(line["implementation"] for line in flat)
    run = run_of_rows("2026-11-23-a", flat, [implementation(name) for name in names])
    return socket_shares(report_of(run))


@pytest.mark.parametrize(
    ("rate", "user", "percents", "texts", "note"),
    [
        (2000, 600, (55.5556, 33.3333, 11.1111), ("56%", "33%", "11%"), None),
        (2000, 500, (62.5, 37.5, 0), ("62%", "38%", "0%"), None),
        (
            *(1000, 900, (83.3333, 25, -8.33333), ("83%", "25%", "−8%")),
            "the handshake took longer in memory than the process in its own code",
        ),
    ],
)
def test_the_parts_are_the_handshake_in_memory_the_kernel_and_the_rest(
    rate: float,
    user: float,
    percents: tuple[float, float, float],
    texts: tuple[str, str, str],
    note: str | None,
) -> None:
    [found] = shares(in_memory(rate), connection(user, 300))
    assert (found.library_percent, found.kernel_percent, found.rest_percent) == percents
    assert (found.library, found.kernel, found.rest) == texts
    assert (found.name, found.note) == (scenario_name(CONNECTION), note)


def test_parts_are_of_the_same_rounds() -> None:
    """The host halves its speed after a round, and one part is of fewer rounds."""
    rounds = [
        {**line, "round": n, "value": line["value"] * (slow if "µs" in line["unit"] else 1 / slow)}
        for n, slow in enumerate((1, 2, 2), 1)
        for line in (*in_memory(2000), *connection(600, 300))
        if n < 3 or line["phase"] != "system"
    ]
    [found] = shares(rounds)
    assert (found.library, found.kernel, found.rest) == ("56%", "33%", "11%")
    assert (found.connection, found.handshake) == ("1,800", "1,000")


def test_figures_have_their_unit() -> None:
    [found] = shares(in_memory(1.3), connection(800_000, 600_000))
    assert (found.connection, found.handshake) == ("1,400,000", "769,231")


def of(**changes: Any) -> list[dict[str, Any]]:
    """A connection of another scenario."""
    return connection(600, 300, scenario=CONNECTION.model_copy(update=changes))


@pytest.mark.parametrize(
    ("rows", "handshakes"),
    [
        ([of()], []),
        ([in_memory(2000, RUSTLS), of()], []),
        ([in_memory(2000, key_exchange="secp256r1"), of()], []),
        ([in_memory(2000, resumption="ticket"), of()], []),
        ([in_memory(2000, side="client"), of()], []),
        # a client has none, and processes that wait without TCP_NODELAY
        ([in_memory(2000), of(side="client")], []),
        ([in_memory(2000), of(variant="nagle")], []),
        # kinds of servers share the handshake in memory, kinds of handshakes have their own
        ([in_memory(2000), of(variant="nginx")], ["500.0"]),
        ([in_memory(2000), of(variant="haproxy")], ["500.0"]),
        ([in_memory(2000), of(variant="hello-retry")], []),
        (
            [in_memory(2000), in_memory(4000, variant="hello-retry"), of(variant="hello-retry")],
            ["250.0"],
        ),
        # rows without shares do not hide those after them
        (
            [
                *(in_memory(2000), of(side="client"), of(variant="nagle")),
                *(of(variant="hello-retry"), of(variant="nginx")),
            ],
            ["500.0"],
        ),
        # a figure that does not count
        ([[{**line, "note": "wrong suite"} for line in in_memory(2000)], of()], []),
        # each implementation has its own
        (
            [in_memory(2000), in_memory(5000, RUSTLS), of(), connection(300, 300, RUSTLS)],
            ["500.0", "200.0"],
        ),
    ],
)
def test_a_server_has_shares_by_the_handshake_of_the_same_implementation(
    rows: list[list[dict[str, Any]]], handshakes: list[str]
) -> None:
    assert [found.handshake for found in shares(*rows)] == handshakes


def test_processor_time_is_of_connections_alone() -> None:
    assert METRICS["processor-time"].units_of("connection") == ("µs",)
    assert METRICS["processor-time"].units_of("handshake") == ()
    assert METRICS["rate"].units_of("connection") == ("connections/s",)
