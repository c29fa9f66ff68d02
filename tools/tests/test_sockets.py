"""Where a server's processor time goes: the handshake in memory, the kernel, and the rest."""

from __future__ import annotations

from typing import Any, Final

import pytest

from synthetic import implementation, report_of, run_of_rows
from tlsperf.analysis.sockets import socket_shares
from tlsperf.contract.metrics import METRICS
from tlsperf.contract.names import scenario_name
from tlsperf.contract.record import Scenario
from tlsperf.contract.sockets import SocketShares
from tlsperf.contract.text import value_text

HANDSHAKE: Final = Scenario(
    operation="handshake",
    protocol="1.3",
    cipher_suite="TLS_AES_256_GCM_SHA384",
    key_exchange="X25519",
    certificate="rsa-2048",
    authentication="server",
    resumption="none",
    side="server",
    threads=1,
)
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


def test_the_parts_are_the_handshake_in_memory_the_kernel_and_the_rest() -> None:
    [found] = shares(in_memory(2000), connection(600, 300))
    assert found.name == scenario_name(CONNECTION)
    assert (found.connection, found.handshake) == ("900.0", "500.0")
    assert found.library_percent == pytest.approx(100 * 500 / 900, rel=1e-5)
    assert found.kernel_percent == pytest.approx(100 * 300 / 900, rel=1e-5)
    assert found.rest_percent == pytest.approx(100 * 100 / 900, rel=1e-5)
    assert (found.library, found.kernel, found.rest) == ("56%", "33%", "11%")
    assert found.note is None


def test_a_handshake_that_took_longer_in_memory_is_pointed_out() -> None:
    [found] = shares(in_memory(1000), connection(900, 300))
    assert found.rest_percent < 0
    assert found.rest == "−8%"
    assert found.note == "the handshake took longer in memory than the process in its own code"
    [exact] = shares(in_memory(2000), connection(500, 300))
    assert (exact.rest_percent, exact.rest, exact.note) == (0, "0%", None)


def test_figures_have_their_unit_and_shares_six_digits() -> None:
    [found] = shares(in_memory(1.3), connection(800_000, 600_000))
    assert found.connection == value_text(1_400_000, "µs")
    assert found.handshake == value_text(1e6 / 1.3, "µs")
    parts = (found.library_percent, found.kernel_percent, found.rest_percent)
    assert parts == (54.9451, 42.8571, 2.1978)


def test_without_the_handshake_of_the_same_implementation_there_are_no_shares() -> None:
    assert shares(connection(600, 300)) == []
    assert shares(in_memory(2000, RUSTLS), connection(600, 300)) == []
    assert shares(in_memory(2000, key_exchange="secp256r1"), connection(600, 300)) == []
    assert shares(in_memory(2000, resumption="ticket"), connection(600, 300)) == []
    assert shares(in_memory(2000, side="client"), connection(600, 300)) == []


def test_clients_have_no_shares() -> None:
    client = CONNECTION.model_copy(update={"side": "client"})
    assert shares(in_memory(2000), connection(600, 300, scenario=client)) == []


def test_processes_that_wait_without_nodelay_have_no_parts() -> None:
    scenario = CONNECTION.model_copy(update={"variant": "nagle"})
    assert shares(in_memory(2000), connection(600, 300, scenario=scenario)) == []


def test_the_handshake_in_memory_is_the_same_for_each_kind_of_server() -> None:
    for variant in ("nginx", "haproxy"):
        scenario = CONNECTION.model_copy(update={"variant": variant})
        [found] = shares(in_memory(2000), connection(600, 300, scenario=scenario))
        assert found.handshake == "500.0"


def test_a_connection_that_begins_with_another_handshake_has_the_shares_of_that_one() -> None:
    retry = CONNECTION.model_copy(update={"variant": "hello-retry"})
    rows = connection(600, 300, scenario=retry)
    assert shares(in_memory(2000), rows) == []
    [found] = shares(in_memory(2000), in_memory(4000, variant="hello-retry"), rows)
    assert found.handshake == "250.0"


def test_rows_without_shares_do_not_hide_those_after_them() -> None:
    client = CONNECTION.model_copy(update={"side": "client"})
    nagle = CONNECTION.model_copy(update={"variant": "nagle"})
    other = CONNECTION.model_copy(update={"variant": "hello-retry"})
    rows = [connection(600, 300, scenario=scenario) for scenario in (client, nagle, other)]
    nginx = CONNECTION.model_copy(update={"variant": "nginx", "protocol": "1.3"})
    found = shares(in_memory(2000), *rows, connection(600, 300, scenario=nginx))
    assert [line.handshake for line in found] == ["500.0"]
    assert found[0].name == scenario_name(nginx)


def test_a_figure_that_does_not_count_gives_no_shares() -> None:
    rows = [*in_memory(2000), *connection(600, 300)]
    rows = [{**line, "note": "wrong suite" if line["metric"] == "rate" else None} for line in rows]
    assert shares(rows) == []


def test_each_implementation_has_its_own_handshake() -> None:
    rows = [connection(600, 300), connection(300, 300, RUSTLS)]
    first, second = shares(in_memory(2000), in_memory(5000, RUSTLS), *rows)
    assert (first.implementation, second.implementation) == (OPENSSL, RUSTLS)
    assert (first.library, second.library) == ("56%", "33%")


def test_processor_time_is_of_connections_alone() -> None:
    assert METRICS["processor-time"].units_of("connection") == ("µs",)
    assert METRICS["processor-time"].units_of("handshake") == ()
    assert METRICS["rate"].units_of("connection") == ("connections/s",)
