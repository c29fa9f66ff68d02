"""The primitive ceiling: what a side must do, its share of the time, and when there is none."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

import pytest

from tlsperf.analysis.ceilings import Rate, primitives_of, share
from tlsperf.contract.index import PrimitiveCeiling
from tlsperf.contract.names import scenario_anchor, scenario_name
from tlsperf.contract.record import Scenario
from tlsperf.contract.results import Cell, Results, Row, RunReference, Table
from tlsperf.contract.run import HostFacts, Implementation, Tool
from tlsperf.contract.text import shown, value_text
from tlsperf.contract.variant import parse_variant
from tlsperf.publish.shares import ceiling, primitives_by_build

SERVER = Scenario(
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
CLIENT = SERVER.model_copy(update={"side": "client"})
SENDER = Scenario(
    operation="transfer",
    protocol="1.3",
    cipher_suite="TLS_AES_256_GCM_SHA384",
    side="sender",
    size=65536,
    in_flight=65536,
)

OPERATIONS = {
    "x25519-generate": 20000.0,  # 50 µs
    "x25519-agree": 10000.0,  # 100 µs
    "rsa-2048-sign": 2000.0,  # 500 µs
    "rsa-2048-verify": 40000.0,  # 25 µs
}
BYTES = {"aes-256-gcm-seal-16384": 10000.0}


def needed(scenario: Scenario, **changes: object) -> dict[str, int] | None:
    found = primitives_of(scenario.model_copy(update=changes))
    return None if found is None else dict(found)


def test_a_server_makes_a_key_agrees_and_signs() -> None:
    assert needed(SERVER) == {"x25519-generate": 1, "x25519-agree": 1, "rsa-2048-sign": 1}
    assert needed(SERVER, protocol="1.2") == needed(SERVER)


def test_a_client_verifies_the_handshake_and_two_certificates() -> None:
    expected = {"x25519-generate": 1, "x25519-agree": 1, "rsa-2048-verify": 3}
    assert needed(CLIENT) == expected
    assert needed(CLIENT, variant="chain-1") == {**expected, "rsa-2048-verify": 2}
    assert needed(CLIENT, variant="chain-3") == {**expected, "rsa-2048-verify": 4}
    issued = {"certificate": "ml-dsa-44", "variant": "issuer-ecdsa-p256"}
    assert needed(CLIENT, **issued) == {
        "x25519-generate": 1,
        "x25519-agree": 1,
        "ml-dsa-44-verify": 1,
        "ecdsa-p256-verify": 2,
    }


def test_with_certificates_on_both_sides_each_signs_and_verifies() -> None:
    both = {"x25519-generate": 1, "x25519-agree": 1, "rsa-2048-sign": 1, "rsa-2048-verify": 3}
    assert needed(SERVER, authentication="mutual") == both
    assert needed(CLIENT, authentication="mutual") == both


def test_a_hybrid_group_needs_both_key_exchanges() -> None:
    resumed = {"resumption": "ticket", "key_exchange": "X25519MLKEM768"}
    curve = {"x25519-generate": 1, "x25519-agree": 1}
    assert needed(SERVER, **resumed) == {**curve, "ml-kem-768-encapsulate": 1}
    client = {"ml-kem-768-generate": 1, "ml-kem-768-decapsulate": 1}
    assert needed(CLIENT, **resumed) == {**curve, **client}
    assert needed(CLIENT, **{**resumed, "key_exchange": "MLKEM768"}) == client


@pytest.mark.parametrize(
    "changes",
    [
        {"key_exchange": None},
        {"certificate": None},
        {"authentication": None},
        {"side": None},
        {"threads": 2},
        {"variant": "hello-retry"},
        {"resumption": None},
        {"resumption": "ticket", "variant": "hello-retry"},
        {"protocol": "1.2", "resumption": "ticket", "key_exchange": None},
    ],
)
def test_what_is_not_known_has_no_list(changes: Mapping[str, object]) -> None:
    assert primitives_of(SERVER.model_copy(update=changes)) is None


def test_a_transfer_has_the_primitive_of_its_records() -> None:
    assert needed(SENDER) == {"aes-256-gcm-seal-16384": 1}
    assert needed(SENDER, side="receiver") == {"aes-256-gcm-open-16384": 1}
    assert needed(SENDER, record_size=1024) == {"aes-256-gcm-seal-1024": 1}
    assert needed(SENDER, size=1000) == {"aes-256-gcm-seal-1000": 1}
    assert needed(SENDER, threads=2) is None


def test_every_primitive_of_a_list_is_one() -> None:
    for scenario in (SERVER, CLIENT):
        for group in ("X25519", "secp256r1", "secp384r1", "X25519MLKEM768", "SecP256r1MLKEM768"):
            for certificate in ("rsa-2048", "ecdsa-p256", "ecdsa-p384", "ed25519", "ml-dsa-65"):
                names = needed(scenario, key_exchange=group, certificate=certificate)
                assert names
                assert {parse_variant(name).kind for name in names} == {"primitive"}


def test_the_share_is_computed_from_times_by_hand() -> None:
    rates = {name: Rate(rate) for name, rate in OPERATIONS.items()}
    # 50 + 100 + 500 µs of 1,000 µs.
    server = share(needed(SERVER) or {}, rates, Rate(1000.0))
    assert server is not None
    assert server.value == pytest.approx(0.65)
    assert (server.low, server.high) == (None, None)
    # 50 + 100 + 3 * 25 µs of 500 µs.
    client = share(needed(CLIENT) or {}, rates, Rate(2000.0))
    assert client is not None
    assert client.value == pytest.approx(0.45)
    assert share(needed(SERVER) or {}, {"rsa-2048-sign": Rate(2000.0)}, Rate(1000.0)) is None


def test_the_interval_joins_the_worst_ends() -> None:
    found = share({"a": 2}, {"a": Rate(100.0, 80.0, 125.0)}, Rate(25.0, 20.0, 30.0))
    assert found is not None
    # 2 * 8 ms of 50 ms, 2 * 10 of 40, 2 * 12.5 of 33.3.
    assert found.low == pytest.approx(0.32)
    assert found.value == pytest.approx(0.5)
    assert found.high == pytest.approx(0.75)


def row(scenario: Scenario, rate: float, implementation: str, unit: str) -> Row:
    cell = Cell(implementation=implementation, value=rate, text=value_text(rate, unit))
    return Row(
        anchor=scenario_anchor(scenario),
        name=scenario_name(scenario),
        scenario=scenario,
        cells=[cell],
    )


def results(
    day: str,
    rows: Mapping[str, list[tuple[Scenario, float]]],
    host: str = "a",
    implementation: str = "openssl-1",
    machine: str | None = None,
) -> Results:
    """A report of one implementation, with a table for each unit."""
    library, _, version = implementation.partition("-")
    built = Implementation.model_validate(
        {"id": implementation, "library": library, "version": version}
    )
    run = RunReference(
        id=day, date=date.fromisoformat(day), suite="s", host_id=host, tool=Tool(name="t"), files=[]
    )
    return Results.model_validate(
        {
            "schema": 1,
            "id": f"{day}-x",
            "title": day,
            "date": day,
            "runs": [run],
            "hosts": [HostFacts(id=host, cpu="CPU", architecture="x86_64", machine=machine)],
            "implementations": [shown(built)],
            "headlines": [],
            "tables": [
                Table(
                    anchor=f"table-{number}",
                    title="Example",
                    caption="Example.",
                    unit=unit,
                    better="higher",
                    implementations=[implementation],
                    rows=[row(scenario, rate, implementation, unit) for scenario, rate in of],
                )
                for number, (unit, of) in enumerate(rows.items())
            ],
            "charts": [],
        }
    )


def primitives(
    day: str = "2026-02-01", operations: Mapping[str, float] = OPERATIONS, **of: str
) -> Results:
    def named(rates: Mapping[str, float]) -> list[tuple[Scenario, float]]:
        return [(Scenario(operation="primitive", variant=it), rate) for it, rate in rates.items()]

    return results(day, {"operations/s": named(operations), "MiB/s": named(BYTES)}, **of)


def reached(figure: Results, *measured: Results) -> PrimitiveCeiling | None:
    return ceiling([(figure, figure.tables[0])], primitives_by_build([figure, *measured]))


HANDSHAKES = results("2026-01-01", {"handshakes/s": [(SERVER, 1000.0)]})


def test_a_scenario_states_its_primitives_its_ceiling_and_its_share() -> None:
    found = reached(HANDSHAKES, primitives())
    assert found is not None
    assert found.needs == "x25519-generate, x25519-agree and rsa-2048-sign"
    [of] = found.shares
    # The primitives take 650 µs, so no more than 1,538 handshakes fit into a second.
    assert (of.figure, of.ceiling, of.text, of.percent) == ("1,000", "1,538", "65%", 65)
    assert of.note is None
    assert (of.report.id, of.primitives.id) == ("2026-01-01-x", "2026-02-01-x")


def test_a_transfer_is_compared_with_bytes() -> None:
    found = reached(results("2026-01-01", {"MiB/s": [(SENDER, 6000.0)]}), primitives())
    assert found is not None
    assert (found.shares[0].ceiling, found.shares[0].text) == ("10,000", "60%")


def test_a_missing_primitive_another_host_machine_or_build_gives_no_share() -> None:
    without = {name: rate for name, rate in OPERATIONS.items() if name != "rsa-2048-sign"}
    assert reached(HANDSHAKES, primitives(operations=without)) is None
    assert reached(HANDSHAKES, primitives(host="b")) is None
    assert reached(HANDSHAKES, primitives(machine="0123456789abcdef")) is None
    assert reached(HANDSHAKES, primitives(implementation="openssl-2")) is None


def test_the_newest_report_with_all_primitives_counts() -> None:
    half = {name: rate / 2 for name, rate in OPERATIONS.items()}
    newer = primitives("2026-03-01", operations=half)
    part = primitives("2026-04-01", operations={"rsa-2048-sign": 1.0})
    found = reached(HANDSHAKES, primitives(), newer, part)
    assert found is not None
    [of] = found.shares
    assert (of.primitives.id, of.text) == ("2026-03-01-x", "130%")
    assert "above its ceiling" in (of.note or "")


def test_an_older_figure_does_not_stand_in_for_the_newest() -> None:
    older = HANDSHAKES
    newest = results("2026-01-02", {"handshakes/s": [(SERVER, 500.0)]})
    built = primitives_by_build([primitives()])
    found = ceiling([(newest, newest.tables[0]), (older, older.tables[0])], built)
    assert found is not None
    assert [(of.report.id, of.percent) for of in found.shares] == [("2026-01-02-x", 32.5)]
