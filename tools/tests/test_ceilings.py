"""The primitive ceiling: what a side must do, its share of the time, and when there is none."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from synthetic import OF_SERVER as SERVER
from synthetic import implementation, report_of, run_of_rows
from tlsperf.analysis.ceilings import Estimate, primitives_of, share
from tlsperf.contract.index import PrimitiveShare
from tlsperf.contract.record import Scenario
from tlsperf.contract.results import Results
from tlsperf.contract.run import HostFacts
from tlsperf.contract.variant import parse_variant
from tlsperf.publish.shares import ceiling, primitives_by_build

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


CURVE = {"x25519-generate": 1, "x25519-agree": 1}
ML_KEM = {"ml-kem-768-generate": 1, "ml-kem-768-decapsulate": 1}
BOTH = {**CURVE, "rsa-2048-sign": 1, "rsa-2048-verify": 3}
HYBRID = {"resumption": "ticket", "key_exchange": "X25519MLKEM768"}


@pytest.mark.parametrize(
    ("scenario", "changes", "needed"),
    [
        (SERVER, {}, {**CURVE, "rsa-2048-sign": 1}),
        (SERVER, {"protocol": "1.2"}, {**CURVE, "rsa-2048-sign": 1}),
        (CLIENT, {}, {**CURVE, "rsa-2048-verify": 3}),
        (CLIENT, {"variant": "chain-1"}, {**CURVE, "rsa-2048-verify": 2}),
        (CLIENT, {"variant": "chain-3"}, {**CURVE, "rsa-2048-verify": 4}),
        (
            CLIENT,
            {"certificate": "ml-dsa-44", "variant": "issuer-ecdsa-p256"},
            {**CURVE, "ml-dsa-44-verify": 1, "ecdsa-p256-verify": 2},
        ),
        (SERVER, {"authentication": "mutual"}, BOTH),
        (CLIENT, {"authentication": "mutual"}, BOTH),
        (SERVER, HYBRID, {**CURVE, "ml-kem-768-encapsulate": 1}),
        (CLIENT, HYBRID, {**CURVE, **ML_KEM}),
        (CLIENT, {**HYBRID, "key_exchange": "MLKEM768"}, ML_KEM),
        (SENDER, {}, {"aes-256-gcm-seal-16384": 1}),
        (SENDER, {"side": "receiver"}, {"aes-256-gcm-open-16384": 1}),
        (SENDER, {"record_size": 1024}, {"aes-256-gcm-seal-1024": 1}),
        (SENDER, {"size": 1000}, {"aes-256-gcm-seal-1000": 1}),
        (SENDER, {"threads": 2}, None),
        (SENDER, {"side": None}, None),
        (SERVER, {"key_exchange": None}, None),
        (SERVER, {"certificate": None}, None),
        (SERVER, {"authentication": None}, None),
        (SERVER, {"side": None}, None),
        (SERVER, {"threads": 2}, None),
        (SERVER, {"variant": "hello-retry"}, None),
        (SERVER, {"resumption": None}, None),
        (SERVER, {"resumption": "ticket", "variant": "hello-retry"}, None),
        (SERVER, {"protocol": "1.2", "resumption": "ticket", "key_exchange": None}, None),
    ],
)
def test_a_side_needs_these_primitives(
    scenario: Scenario, changes: Mapping[str, object], needed: Mapping[str, int] | None
) -> None:
    assert primitives_of(scenario.model_copy(update=changes)) == needed


def test_every_primitive_of_a_list_is_one() -> None:
    for scenario in (SERVER, CLIENT):
        for group in ("X25519", "secp256r1", "secp384r1", "X25519MLKEM768", "SecP256r1MLKEM768"):
            for certificate in ("rsa-2048", "ecdsa-p256", "ecdsa-p384", "ed25519", "ml-dsa-65"):
                of = {"key_exchange": group, "certificate": certificate}
                names = primitives_of(scenario.model_copy(update=of))
                assert names
                assert {parse_variant(name).kind for name in names} == {"primitive"}


MICROSECONDS = {name: Estimate(rate) for name, rate in OPERATIONS.items()}


@pytest.mark.parametrize(
    ("needed", "rates", "side", "expected"),
    [
        # 50 + 100 + 500 µs of 1,000 µs, and 50 + 100 + 3 * 25 of 500.
        ({**CURVE, "rsa-2048-sign": 1}, MICROSECONDS, Estimate(1000.0), (0.65, None, None)),
        ({**CURVE, "rsa-2048-verify": 3}, MICROSECONDS, Estimate(2000.0), (0.45, None, None)),
        # The worst ends: 2 * 8 ms of 50 ms, 2 * 10 of 40, 2 * 12.5 of 33.3.
        (
            {"a": 2},
            {"a": Estimate(100.0, 80.0, 125.0)},
            Estimate(25.0, 20.0, 30.0),
            (0.5, 0.32, 0.75),
        ),
        ({"a": 1}, {"a": Estimate(100.0)}, Estimate(25.0, 20.0, 30.0), (0.25, None, None)),
        ({"a": 1, "b": 1}, {"b": Estimate(100.0)}, Estimate(25.0), None),
        ({}, MICROSECONDS, Estimate(25.0), None),
    ],
)
def test_the_share_joins_times_and_the_worst_ends(
    needed: Mapping[str, int],
    rates: Mapping[str, Estimate],
    side: Estimate,
    expected: tuple[float, float | None, float | None] | None,
) -> None:
    assert share(needed, rates, side) == (expected and pytest.approx(expected))


def results(
    day: str,
    rates: Mapping[Scenario, float],
    host: str = "a",
    build: str = "openssl-1",
    machine: str | None = None,
) -> Results:
    """A report of one implementation."""
    units = {SERVER: "handshakes/s", SENDER: "MiB/s"}
    rows = [
        {"implementation": build, "metric": "rate", "value": rate, **scenario.model_dump()}
        | {"unit": units.get(scenario, "MiB/s" if scenario.variant in BYTES else "operations/s")}
        for scenario, rate in rates.items()
    ]
    facts = HostFacts(id=host, cpu="CPU", architecture="x86_64", machine=machine)
    run = run_of_rows(f"{day}-x", rows, [implementation(build)], host_id=host, host=facts)
    return report_of(run, [facts]).results


def primitives(
    day: str = "2026-02-01", operations: Mapping[str, float] = OPERATIONS, **of: str
) -> Results:
    rates = {**operations, **BYTES}
    return results(
        day, {Scenario(operation="primitive", variant=it): rates[it] for it in rates}, **of
    )


SIDE = results("2026-01-01", {SERVER: 1000.0})


def shares_of(figure: Results, *others: Results) -> list[PrimitiveShare]:
    found = ceiling([(figure, figure.tables[0])], primitives_by_build([figure, *others]))
    return found.shares if found else []


@pytest.mark.parametrize(
    ("figure", "others", "texts"),
    [
        # The primitives take 650 µs, so no more than 1,538 handshakes fit into a second.
        (SIDE, [primitives()], ("1,000", "1,540", "65%", 65, "2026-02-01-x")),
        (
            results("2026-01-01", {SENDER: 6000.0}),
            [primitives()],
            ("6,000", "10,000", "60%", 60, "2026-02-01-x"),
        ),
        # the newest report with all primitives counts
        (
            SIDE,
            [
                primitives(),
                primitives("2026-03-01", {name: 2 * rate for name, rate in OPERATIONS.items()}),
                primitives("2026-04-01", {"rsa-2048-sign": 1.0}),
            ],
            ("1,000", "3,080", "32%", 32.5, "2026-03-01-x"),
        ),
        # another host, machine or build has another ceiling
        (SIDE, [primitives(operations={"rsa-2048-sign": 1.0})], None),
        (SIDE, [primitives(host="b")], None),
        (SIDE, [primitives(machine="0123456789abcdef")], None),
        (SIDE, [primitives(build="openssl-2")], None),
    ],
)
def test_a_build_has_a_share_by_its_newest_primitives(
    figure: Results, others: list[Results], texts: tuple[str, str, str, float, str] | None
) -> None:
    found = [
        (of.figure, of.ceiling, of.text, of.percent, of.primitives.id)
        for of in shares_of(figure, *others)
    ]
    assert found == ([texts] if texts else [])


def test_a_scenario_states_its_primitives() -> None:
    found = ceiling([(SIDE, SIDE.tables[0])], primitives_by_build([primitives()]))
    assert found is not None
    assert found.needs == "x25519-generate, x25519-agree and rsa-2048-sign"
    assert found.shares[0].report.id == SIDE.id
    assert found.shares[0].note is None


def test_more_than_the_ceiling_is_pointed_out() -> None:
    slow = primitives(operations={name: rate / 2 for name, rate in OPERATIONS.items()})
    [of] = shares_of(SIDE, slow)
    assert of.text == "130%"
    assert of.note == "above its ceiling, so the two were not measured in the same way"
