"""Two sets of results: which rows and implementations belong together, and what is neutral."""

from __future__ import annotations

from dataclasses import replace

import pytest

from synthetic import HANDSHAKES, TRANSFERS, loaded_run, report_of
from tlsperf.analysis.diff import (
    comparisons,
    difference,
    implementation_pairs,
    row_pairs,
    shift_of,
)
from tlsperf.analysis.series import Rules, Sample, Series, measured
from tlsperf.contract.record import Scenario
from tlsperf.contract.results import Results

RUN = "2026-11-21-a"
OWN, BESIDE = "openssl-1", "boringssl-1"
FULL = HANDSHAKES[2].model_copy(update={"protocol": "1.3"})
TICKET = HANDSHAKES[-1]
SENDING = TRANSFERS[0]


def of(scenario: Scenario, **fields: object) -> Scenario:
    return scenario.model_copy(update=fields)


def rows(*scenarios: Scenario, rate: float = 1000.0) -> tuple[Series, ...]:
    rates = [rate + n % 3 for n in range(30)]
    return measured(loaded_run(RUN, {"openssl-1": dict.fromkeys(scenarios, rates)})).series


@pytest.mark.parametrize(
    ("own", "other", "differ"),
    [
        (FULL, FULL, ""),
        (
            of(FULL, key_exchange="X25519"),
            of(FULL, key_exchange="X448"),
            "key exchange X25519 X448",
        ),
        (FULL, of(FULL, key_exchange="X448"), "key exchange not recorded X448"),
        (FULL, of(FULL, threads=4), "threads not recorded 4"),
        (FULL, of(FULL, certificate=None), "certificate ecdsa-p256 not recorded"),
        (FULL, of(FULL, cipher_suite=None), "cipher suite TLS_AES_256_GCM_SHA384 not recorded"),
        (FULL, of(FULL, authentication="mutual"), "authentication not recorded mutual"),
        (SENDING, of(SENDING, size=4096), "size not recorded 4096"),
        (SENDING, of(SENDING, record_size=4096), "record size not recorded 4096"),
        (of(TICKET, resumption="resumed"), TICKET, "resumption resumed ticket"),
        (of(TICKET, resumption=None), TICKET, "resumption not recorded ticket"),
        # The name of a resumed handshake leaves out the certificate.
        (of(TICKET, certificate="rsa-2048"), of(TICKET, certificate="ed25519"), "certificate rsa"),
        (FULL, of(FULL, certificate="ed25519"), None),
        (FULL, of(FULL, protocol="1.2"), None),
        (of(FULL, protocol=None), FULL, None),
        (FULL, of(FULL, side="server" if FULL.side == "client" else "client"), None),
        (FULL, of(FULL, variant="cold"), None),
        (SENDING, of(SENDING, in_flight=65536), None),
        (of(FULL, threads=2), of(FULL, threads=4), None),
        (of(TICKET, resumption="resumed"), of(TICKET, resumption="none"), None),
        (of(TICKET, resumption="session-id"), TICKET, None),
        (of(FULL, resumption=None, protocol="1.2"), FULL, None),
    ],
)
def test_a_row_is_paired_with_the_same_scenario_or_with_one_that_may_be_the_same(
    own: Scenario, other: Scenario, differ: str | None
) -> None:
    pairs = row_pairs(rows(own, TRANSFERS[-1]), rows(other, TRANSFERS[-1]))
    turned = row_pairs(rows(other, TRANSFERS[-1]), rows(own, TRANSFERS[-1]))
    assert len(pairs) == len(turned) == (1 if differ is None else 2), "and always the other row"
    if differ is not None:
        assert " ".join(text for field in pairs[0].fields for text in field).startswith(differ)
        assert [field.own for field in pairs[0].fields] == [f.other for f in turned[0].fields]
        assert bool(pairs[0].fields) == bool(differ)


def test_pairs_are_in_the_order_and_with_the_names_of_the_first_side() -> None:
    own = rows(TICKET, of(SENDING, threads=2), FULL)
    pairs = row_pairs(own, rows(FULL, SENDING, of(TICKET, key_exchange="X448")))
    assert [pair.row for pair in pairs] == list(own)
    assert [pair.anchor for pair in pairs] == [
        "resumed-handshake-1-3-ticket-server",
        "transfer-1-2-aes-128-gcm-2-threads-sending",
        "full-handshake-1-3-ecdsa-p256-client",
    ]
    assert pairs[1].name == "TLS 1.2 transfer, AES-128-GCM, 2 threads, sending"


def test_a_row_with_several_candidates_is_in_no_pair_unless_one_has_its_name() -> None:
    two, four = (of(SENDING, threads=n) for n in (2, 4))
    for own, other in (([SENDING], [two, four]), ([two, four], [SENDING])):
        assert row_pairs(rows(*own), rows(*other)) == []
    one = of(SENDING, threads=1)
    [pair] = row_pairs(rows(SENDING), rows(two, one))
    assert pair.other.scenario == one
    [pair] = row_pairs(rows(SENDING), rows(one, SENDING))
    assert (pair.other.scenario, pair.fields) == (SENDING, ())
    [pair] = row_pairs(rows(SENDING, two), rows(SENDING))
    assert (pair.row.scenario, pair.other.scenario) == (SENDING, SENDING), "it is in one pair"
    resumed, named, alike = (
        of(TICKET, certificate=certificate, key_exchange=group)
        for certificate, group in (("rsa-2048", None), ("ed25519", None), ("rsa-2048", "X448"))
    )
    [pair] = row_pairs(rows(resumed), rows(alike, named))
    assert pair.other.scenario == named, "the name decides before the fields"


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("openssl-1-gcc", "openssl-2-clang", ["openssl-1-gcc openssl-2-clang"]),
        ("openssl-1-gcc", "openssl-2-clang openssl-2-icc", []),
        ("openssl-1-clang openssl-1-icc", "openssl-2-gcc", []),
        ("openssl-1 openssl-2", "openssl-2", ["openssl-2 openssl-2"]),
        (
            "openssl-1-gcc openssl-1-clang rustls-1",
            "openssl-2-clang openssl-2-gcc rustls-2-x",
            [
                "openssl-1-clang openssl-2-clang",
                "openssl-1-gcc openssl-2-gcc",
                "rustls-1 rustls-2-x",
            ],
        ),
    ],
)
def test_an_implementation_is_paired_by_its_id_then_its_build_then_as_the_only_one(
    before: str, after: str, expected: list[str]
) -> None:
    def results(ids: str) -> Results:
        return report_of(loaded_run(RUN, {i: {SENDING: 1.0} for i in ids.split()})).results

    pairs = implementation_pairs(results(before), results(after))
    assert [f"{then.id} {now.id}" for then, now in pairs] == expected


def test_a_difference_has_no_verdict_where_something_else_differs() -> None:
    def measured_rows(*scenarios: Scenario, factor: float = 1.0) -> tuple[Series, ...]:
        rounds = {
            i: [f * (1000.0 + n % 3) for n in range(30)] for i, f in ((OWN, factor), (BESIDE, 1))
        }
        rates = {i: dict.fromkeys(scenarios, of) for i, of in rounds.items()}
        return measured(loaded_run(RUN, rates)).series

    slow = measured_rows(FULL, of(TICKET, key_exchange="X448"))
    fast, resumed = (
        measured_rows(scenario, factor=2) for scenario in (FULL, of(TICKET, key_exchange="X25519"))
    )

    def shown(own: tuple[Series, ...], neutral: str | None = None) -> tuple[str, str | None]:
        [pair] = row_pairs(own, slow)
        shift = shift_of([pair], [(BESIDE, BESIDE)])
        found = difference(pair, (OWN, OWN), shift, Rules(frozenset([RUN])), neutral)
        assert found is not None
        assert found.estimate.verdict == "faster", "what decides whether it is listed"
        assert (found.before, found.after, found.against) == (1.0, 2.0, BESIDE)
        return found.shown.verdict, found.shown.note

    assert shown(fast) == ("faster", None)
    assert shown(fast, "why not") == ("not tested", "why not")
    assert shown(resumed) == ("not tested", "measured under other conditions")


def test_figures_that_cannot_be_tested_are_not_counted_as_comparisons() -> None:
    [pair] = row_pairs(rows(FULL), rows(FULL))
    rounds = pair.row.samples[OWN]
    single = Sample(rounds.valid, has_rounds=False)
    zero = Sample(dict.fromkeys(rounds.valid, 0.0))

    def count(one: Sample, other: Sample) -> int:
        row, there = (replace(pair.row, samples={OWN: of}) for of in (one, other))
        return comparisons([pair, pair, pair._replace(row=row, other=there)], [(OWN, OWN)])

    assert count(rounds, rounds) == 3
    for other in (single, zero, Sample(), Sample(rounds.valid, statistic="max")):
        assert count(rounds, other) == count(other, rounds) == 2
    assert comparisons([], [(OWN, OWN)]) == comparisons([pair], [("none", OWN)]) == 1
