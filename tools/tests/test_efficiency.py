"""Efficiency: a transfer over the right primitive of the right library, or no figure."""

from __future__ import annotations

import numpy as np
import pytest

from synthetic import TRANSFERS, Rates, implementation, loaded_run, report_of
from tlsperf.analysis.efficiency import efficiency
from tlsperf.contract.record import Scenario
from tlsperf.contract.results import Efficiency
from tlsperf.contract.run import Implementation

SEAL = Scenario(operation="primitive", variant="aes-128-gcm-seal-16384")
OPEN = Scenario(operation="primitive", variant="aes-256-gcm-open-16384")
RUN = "2026-11-21-a"


def of(rates: Rates, implementations: list[Implementation] | None = None) -> list[Efficiency]:
    return efficiency(report_of(loaded_run(RUN, rates, implementations)))


def test_rate_over_the_primitives_rate_by_round() -> None:
    host = np.linspace(1, 1.5, 30)  # the host becomes 1.5x as fast, which a paired round cancels
    rates = {"openssl-3.6.3": {TRANSFERS[0]: list(8000 * host), SEAL: list(10000 * host)}}
    [found] = of(rates)
    assert found.percent == pytest.approx(80)
    assert found.text == "80.0% (79.7 to 80.3%)"
    assert (found.rate, found.ceiling) == ("10,000", "12,500")
    assert found.anchor == "transfer-1-2-aes-128-gcm-sending"
    assert (found.primitive, found.primitive_of, found.note) == (
        SEAL.variant,
        "openssl-3.6.3",
        None,
    )


APART = "primitive and transfer measured separately"
ABOVE = "above its ceiling, so the two were not measured in the same way"
OURS, OTHER, RUSTLS, AWS = "openssl-3.6.3", "openssl-3.1.4", "rustls-0.22.0-aws", "aws-lc-1.17.4"
SENDING = TRANSFERS[0]
SMALL = SENDING.model_copy(update={"record_size": 1024})
SEAL_SMALL = SEAL.model_copy(update={"variant": "aes-128-gcm-seal-1024"})
KNOWN = {
    RUSTLS: implementation(RUSTLS, provider="aws-lc-rs", build=None),
    AWS: implementation(AWS, library="aws-lc", version="1.17.4", build=None),
}


def on(threads: int) -> Scenario:
    return SENDING.model_copy(update={"threads": threads})


@pytest.mark.parametrize(
    ("rates", "expected"),
    [
        ({OURS: dict.fromkeys(TRANSFERS, 6000.0) | {OPEN: 10000.0}}, [(OURS, OURS, 60, APART)]),
        ({OURS: {on(1): 2000.0, SEAL: 7000.0}}, [(OURS, OURS, 28.5714, APART)]),
        ({OURS: {on(4): 7000.0, SEAL: 9000.0}}, []),
        ({OURS: {SENDING: 7000.0, OPEN: 9000.0}}, []),
        # of the provider, of the only other version, and of another library
        (
            {RUSTLS: {SENDING: 7000.0}, AWS: {SEAL: 12500.0}},
            [(RUSTLS, AWS, 56, f"primitive of AWS-LC 1.17.4; {APART}")],
        ),
        (
            {OURS: {SENDING: 4500.0}, OTHER: {SEAL: 9000.0}, "rustls-1.0": {SEAL: 5000.0}},
            [(OURS, OTHER, 50, f"primitive of OpenSSL 3.1.4; {APART}")],
        ),
        ({OURS: {SENDING: 1.0}, OTHER: {SEAL: 9.0}, "openssl-3.0.1": {SEAL: 9.0}}, []),
        ({"rustls-1.0": {SENDING: 7000.0}, OURS: {SEAL: 9000.0}}, []),
        # without a ceiling it does not hide the next one
        (
            {"rustls-1.0": {SENDING: 7000.0}, OURS: {SENDING: 1.0, SEAL: 2.0}},
            [(OURS, OURS, 50, APART)],
        ),
        ({OURS: {SENDING: 9050.0, SEAL: 9000.0}}, [(OURS, OURS, 100.556, f"{APART}; {ABOVE}")]),
        ({OURS: {SENDING: 9000.0, SEAL: 9000.0}}, [(OURS, OURS, 100, APART)]),
        # the ceiling has the size of the records
        ({OURS: {SMALL: 3000.0, SENDING: 8000.0, SEAL: 10000.0}}, [(OURS, OURS, 80, APART)]),
        ({OURS: {SMALL: 3000.0, SEAL_SMALL: 4000.0}}, [(OURS, OURS, 75, APART)]),
    ],
)
def test_a_transfer_has_the_primitive_of_its_library(
    rates: Rates, expected: list[tuple[str, str, float, str]]
) -> None:
    found = of(rates, [KNOWN.get(name) or implementation(name) for name in rates])
    assert [(f.implementation, f.primitive_of, f.percent, f.note) for f in found] == expected
    assert [f.text for f in found] == [f"{percent:.0f}%" for _, _, percent, _ in expected]


def test_the_interval_is_that_of_one_comparison() -> None:
    rows: dict[Scenario, list[float]] = {
        scenario: [8000.0 + (7 * n + at) % 11 for n in range(30)]
        for at, scenario in enumerate([*TRANSFERS, SEAL])
    }
    rates = {"openssl-3.6.3": rows, "rustls-1.0": rows}
    [alone, *_] = of(rates)
    report = report_of(loaded_run(RUN, rates), baseline="openssl-3.6.3")
    assert report.series.rules.comparisons > 1
    [found, *_] = efficiency(report)
    assert (found.low, found.high) == (alone.low, alone.high)
    for end in (found.low, found.high):
        assert end is not None
        assert end == float(f"{end:.6g}"), "six digits"


def test_the_interval_of_unpaired_rounds_is_widened_by_the_drift_of_the_host() -> None:
    drifting = np.r_[np.full(15, 1.0), np.full(15, 1.03)]
    rates = {"openssl-3.6.3": {TRANSFERS[0]: list(8000 * drifting), SEAL: list(10000 * drifting)}}
    measured_apart = report_of(loaded_run(RUN, rates, format_="openssl-bench/2024"))
    assert measured_apart.series.rules.drift == pytest.approx(1.03)
    [found] = efficiency(measured_apart)
    assert (found.low, found.high) == pytest.approx((80 / 1.03, 80 * 1.03), rel=1e-5)
