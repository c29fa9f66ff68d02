"""Claims: what holds is found to hold, what does not is named, and nothing else is accepted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from synthetic import (
    OF_SERVER,
    SIXTEEN,
    TRANSFERS,
    Rates,
    implementation,
    loaded_run,
    report_of,
    run_of_rows,
)
from tlsperf.contract.claim import Claim
from tlsperf.contract.results import Cell, Noise, Ratio, Results
from tlsperf.load.page import read_documents, read_pages
from tlsperf.publish.render import claimable
from tlsperf.report.claims import (
    AbsentError,
    ClaimError,
    Figures,
    failing,
    figures_of,
    parsed,
)

RUN = "2026-11-21-a"
FACTORS = {"openssl-1": 1.0, "rustls-2": 1.3, "boringssl-3": 1.0, "gnutls-4": 1.3}


def rates(factors: Mapping[str, float]) -> Rates:
    """Thirty rounds of sixteen scenarios; in the first one, rustls is half as fast."""
    random = np.random.default_rng(1)
    return {
        i: {
            s: list(1000 * f * (0.5 if (at, i) == (0, "rustls-2") else 1) * noise(random))
            for at, s in enumerate(SIXTEEN)
        }
        for i, f in factors.items()
    }


def noise(random: np.random.Generator) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.exp(random.normal(0, 0.002, 30))


@cache
def results(claimed: str = "", baseline: str | None = "openssl-1") -> Results:
    claims = [Claim(text="x", holds=claimed)] if claimed else []
    return report_of(loaded_run(RUN, rates(FACTORS)), claims=claims, baseline=baseline).results


HOLD = [
    "full-handshake-1-3-rsa-2048-server: rustls / openssl in 1.28..1.32",
    "handshake full 1.3 ecdsa-p256 server: rustls, gnutls / openssl in 1.28..1.32",
    "handshake: rustls / openssl in 1.2.. and transfer 1.3: rustls / openssl in ..1.4",
    "handshake: rustls better than openssl and openssl worse than gnutls-*",
    "handshake: boringssl no difference from openssl",
    "handshake: openssl / rustls in 0.75..0.79",
    "transfer 1.2 sending: rustls / openssl in 0.64..0.66 and best is gnutls",
    "transfer (3 of 4): rustls better than openssl",
    "transfer (most): rustls better than openssl",
    "transfer (some): rustls worse than openssl",
    "transfer !1.2: rustls better than openssl",
    "handshake: rustls, gnutls better than boringssl",
    "handshake: best is rustls, gnutls",
    "transfer 1.3 sending: openssl in 990..1010",
    "transfer 1.3 sending: rustls / rustls [transfer 1.2 sending] in 1.9..2.1",
    "transfer 1.3 sending: rustls / openssl [transfer 1.2 sending] in 1.2..1.4",
    "transfer 1.3 sending: openssl, boringssl / itself [transfer 1.2 sending] in 0.99..1.01",
    "* server: * / boringssl in 0.9..1.4",
]


@pytest.mark.parametrize("holds", HOLD)
def test_a_claim_that_the_data_support_holds(holds: str) -> None:
    assert failing(holds, [figures_of(results(holds))]) is None


FAIL = [
    ("handshake: rustls / openssl in 1.4..1.5", "rustls-2 / openssl-1 = 1.301 in full-handshake"),
    (
        "transfer: rustls better than openssl",
        "holds in 3 of 4 rows: rustls-2 against openssl-1: 1.5",
    ),
    ("transfer (4 of 4): rustls better than openssl", "holds in 3 of 4 rows"),
    ("transfer (3 of 5): rustls better than openssl", "holds in 3 of 4 rows"),
    ("transfer (most): rustls worse than openssl", "holds in 1 of 4 rows"),
    ("handshake: boringssl better than openssl", "within"),
    ("handshake: boringssl / openssl in 1.0001..1.01", "holds in 0 of 12 rows"),
    (
        "handshake: best is rustls",
        "best in full-handshake-1-2-rsa-2048-client: gnutls-4, rustls-2",
    ),
    (
        "transfer 1.3 sending: openssl in 900..950",
        "openssl-1 has 1000.248 in transfer-1-3-aes-256-gcm-sending",
    ),
    ("transfer 1.3 sending: rustls / rustls [transfer 1.2] in 1..2", "2 rows of [transfer 1.2]"),
    ("transfer: wolfssl / openssl in 1..2", "the implementation 'wolfssl', expected"),
    ("transfers: rustls better than openssl", "no row of 'transfers', expected"),
    ("transfer 1.4: rustls better than openssl", "no row of 'transfer 1.4', expected"),
    ("copies-share of transfer: rustls in 10..20%", "no row of 'transfer', expected"),
    ("transfer 1.3 sending: rustls / itself [transfer 1.2 sending] in 0..1", "rustls-2 = 2 in"),
    ("transfer: floor in 1", "no row with the figures of 'transfer: floor in 1'"),
]


@pytest.mark.parametrize(("holds", "message"), FAIL)
def test_a_claim_that_the_data_contradict_is_named_with_what_was_found(
    holds: str, message: str
) -> None:
    error = failing(holds, [figures_of(results(holds))])
    assert error is not None
    assert message in str(error)


@pytest.mark.parametrize(
    "holds",
    [
        *(
            "rustls better than openssl",
            "transfer: rustls",
            "transfer: rustls in",
            "transfer: in 1",
        ),
        *("transfer: rustls / openssl in fast", "transfer: rustls / openssl in ..", ""),
        *("transfer: rustls / openssl in 3-4", "transfer: rustls in 3-"),
        *("speed of transfer: rustls in 1", "transfer (all but one): rustls in 1"),
        *("transfer: rustls or openssl", "transfer: rustls [x / openssl in 1", "transfer: "),
        *("noise of alternate-rounds: best is floor", "transfer: rustls / itself in 0.5..2"),
        *(
            "copies-share of transfer: rustls better than openssl",
            "transfer: rustls [a (some)] in 1",
        ),
    ],
)
def test_other_text_is_not_a_claim(holds: str) -> None:
    with pytest.raises(ClaimError):
        parsed(holds)


@given(st.text(st.sampled_from("rustls openssl:/.,[]()in 123!*%and-best than better")))
@example("a: b / c in 1..2 and ")
def test_any_text_is_a_claim_or_an_error_that_says_what_is_expected(holds: str) -> None:
    try:
        found = [test.text for test in parsed(holds)]
    except ClaimError as error:
        found = [error.expected]
    assert all(found)


@pytest.mark.parametrize(
    "holds", [h for h in HOLD if not any(of in h for of in ("some", " in 990", " [transfer 1.2"))]
)
def test_libraries_that_change_places_break_a_claim(holds: str) -> None:
    """Not those about one library; rustls becomes slow, and BoringSSL fast."""
    moved = {"rustls-2": 0.3, "gnutls-4": 0.3, "boringssl-3": 2.0, "openssl-1": 1.0}
    run = loaded_run(RUN, rates(moved))
    claims = [Claim(text="x", holds=holds)]
    changed = report_of(run, claims=claims, baseline="openssl-1").results
    assert failing(holds, [figures_of(changed)]) is not None


def test_a_pair_without_the_baseline_is_tested_where_it_is_claimed() -> None:
    claimed = "handshake: rustls better than boringssl"
    assert len(results(claimed).comparisons) == 12
    assert not results().comparisons
    assert not results("handshake: rustls / boringssl in 0.9..1.4").comparisons
    assert "no tested ratio" in str(failing(claimed, [figures_of(results())]))


OF_PRICE: Final = [
    OF_SERVER.model_copy(update={"certificate": certificate, "key_exchange": group})
    for certificate, group in (
        ("ecdsa-p256", "X25519"),
        ("ecdsa-p256", "X25519MLKEM768"),
        ("ml-dsa-44", "X25519MLKEM768"),
    )
]


@pytest.mark.parametrize(
    "quotient",
    [
        "full-handshake-1-3-ecdsa-p256-x25519-server: rustls / boringssl",
        "full-handshake-1-3-ecdsa-p256-x25519mlkem768-server: rustls / itself "
        "[full-handshake-1-3-ecdsa-p256-x25519-server]",
        "full-handshake-1-3-ecdsa-p256-x25519-server: rustls / rustls "
        "[full-handshake-1-3-ecdsa-p256-x25519mlkem768-server]",
    ],
)
def test_a_quotient_is_the_ratio_of_the_rounds_not_of_the_medians(quotient: str) -> None:
    random = np.random.default_rng(1)
    builds = ("openssl-1", "rustls-2", "boringssl-3")
    noisy: Rates = {
        i: {s: list(rate * np.exp(random.normal(0, 0.2, 15))) for s in OF_PRICE}
        for i, rate in zip(builds, (1e3, 2e3, 1e3), strict=True)
    }
    claims = [Claim(text="x", holds=f"{quotient} in 1.1..9")]
    made = report_of(loaded_run(RUN, noisy), claims=claims, baseline="openssl-1").results
    one, other, i, over = (0, 0, 1, 2) if "boringssl" in quotient else (1, 0, 1, 1)
    ours, theirs = (np.array(noisy[builds[b]][OF_PRICE[s]]) for s, b in ((one, i), (other, over)))
    logs = np.log(ours) - np.log(theirs)
    of_rounds = np.exp(np.median((logs[:, None] + logs)[np.triu_indices(15)] / 2))
    of_medians = np.median(ours) / np.median(theirs)
    if "server: rustls / rustls" in quotient:
        of_rounds, of_medians = 1 / of_rounds, 1 / of_medians
    assert abs(of_medians / of_rounds - 1) > 0.01
    for value, holds in ((of_rounds, True), (of_medians, False)):
        claim = f"{quotient} in {value - 0.002:.4f}..{value + 0.002:.4f}"
        assert (failing(claim, [figures_of(made)]) is None) is holds, failing(
            claim, [figures_of(made)]
        )


def test_without_a_baseline_a_claimed_pair_is_tested() -> None:
    claimed = "handshake: rustls better than openssl"
    assert failing(claimed, [figures_of(results(claimed, None))]) is None


def test_the_figures_of_another_measure() -> None:
    noise = Noise(
        source="another layout",
        run=RUN,
        floor_percent=1.8,
        ratio_percent=0.9,
        comparisons=3,
        statement="",
        rows=[],
    )
    made = results().model_copy(update={"noise": [noise]})
    assert (
        failing("noise of another-layout: floor in ..2% and ratios in 0.9", [figures_of(made)])
        is None
    )
    assert "floor has 1.8 in another-layout" in str(
        failing("noise of *: floor in ..1.7", [figures_of(made)])
    )


def test_a_single_figure_has_a_quotient_and_no_verdict() -> None:
    single: Rates = {i: dict.fromkeys(TRANSFERS, 1000.0 * f) for i, f in FACTORS.items()}
    made = report_of(loaded_run(RUN, single), baseline="openssl-1").results
    assert failing("transfer: rustls / openssl in 1.3", [figures_of(made)]) is None
    assert failing("transfer: rustls better than openssl", [figures_of(made)]) is not None
    assert failing("transfer: best is rustls", [figures_of(made)]) is not None


def test_fewer_bytes_are_a_smaller_quotient_and_better() -> None:
    scenario = SIXTEEN[4]
    rows = [
        {"implementation": i, **scenario.model_dump(), "metric": "wire-bytes", "round": n}
        | {"value": value, "unit": "bytes/handshake"}
        for i, value in (("openssl-1", 1000.0), ("rustls-2", 500.0))
        for n in (1, 2, 3)
    ]
    run = run_of_rows(RUN, rows, [implementation(i) for i in ("openssl-1", "rustls-2")])
    made = report_of(run, baseline="openssl-1").results
    assert (
        failing("full*: rustls / openssl in 0.5 and rustls better than openssl", [figures_of(made)])
        is None
    )
    assert figures_of(made).baseline == "openssl-1"


def contradicted(figures: Figures, *, alike: bool) -> Figures:
    """The figures of a report in which everything is otherwise: each in another proportion to the
    others, or all alike, each verdict another one, and no implementation best that was.
    """
    verdicts = {"faster": "slower", "slower": "faster", "no difference shown": "faster"}

    def turned(ratio: Ratio | None) -> Ratio | None:
        if ratio is None:
            return None
        value = 1 / (7 * ratio.value) if alike else 7 / ratio.value
        low = None if ratio.low is None else value
        verdict = verdicts.get(ratio.verdict, ratio.verdict)
        other = {"value": value, "low": low, "high": low, "verdict": verdict}
        return ratio.model_copy(update=other)

    def times(factor: float, *span: float) -> tuple[float, float]:
        return factor * min(span), factor * max(span)

    def cell(of: Cell) -> Cell:
        best = not (of.best or of.tied)
        return of.model_copy(update={"best": best, "tied": False, "ratio": turned(of.ratio)})

    def of(measure: str) -> dict[str, dict[str, tuple[float, float]]]:
        return {
            row: {
                i: (1e3, 1e3) if alike else times(5.0 ** ((3 * at + n) % 7), low, high)
                for n, (i, (low, high)) in enumerate(found.items())
            }
            for at, (row, found) in enumerate(figures.of(measure).items())
        }

    rows = {
        a: r.model_copy(update={"cells": list(map(cell, r.cells))}) for a, r in figures.rows.items()
    }
    asked = {pair: ratio for pair, of_pair in figures.asked.items() if (ratio := turned(of_pair))}
    priced = {of: ratio for of, was in figures.priced.items() if (ratio := turned(was))}
    another = figures.to
    to = another and (lambda baseline: contradicted(another(baseline), alike=alike))
    return replace(figures, of=of, rows=rows, asked=asked, priced=priced, to=to)


@pytest.mark.any_site
def test_no_claim_of_a_page_holds_whatever_the_data_are(root: Path) -> None:
    pages = read_pages(root)
    known = claimable(root, pages)
    claims = [(page.path, page.id, claim) for page in pages for claim in page.claims]
    claims += [(of.path, "", claim) for of in read_documents(root) for claim in of.claims]
    assert claims
    for path, own, claim in claims:
        for name in claim.reports or [own]:
            if claim.holds is None:
                continue
            others = [
                [contradicted(figures, alike=alike) for figures in known[name]()]
                for alike in (True, False)
            ]
            found = [failing(claim.holds, other) for other in others]
            wrong = [it for it in found if it and not isinstance(it, AbsentError)]
            assert wrong, f"{path}: {claim.text}"
