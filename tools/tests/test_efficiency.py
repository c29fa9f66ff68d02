"""Efficiency: a transfer over the right primitive of the right library, or no figure."""

from __future__ import annotations

import numpy as np
import pytest

from synthetic import TRANSFERS, Rates, implementation, loaded_run, report_of
from tlsperf.analysis.efficiency import efficiency
from tlsperf.analysis.statistics import unpaired_ratio
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


def test_receiving_opens_and_the_suite_chooses_the_cipher() -> None:
    rates = {"openssl-3.6.3": dict.fromkeys(TRANSFERS, 6000.0) | {OPEN: 10000.0}}
    [found] = of(rates)
    assert found.anchor == "transfer-1-3-aes-256-gcm-receiving"
    assert found.text == "60%"
    assert found.note == "primitive and transfer measured separately"


def test_rustls_has_the_ceiling_of_its_provider() -> None:
    rustls = implementation("rustls-0.22.0-aws", provider="aws-lc-rs", build=None)
    rates = {rustls.id: {TRANSFERS[0]: 7000.0}, "aws-lc-1.17.4": {SEAL: 12500.0}}
    [found] = of(
        rates,
        [rustls, implementation("aws-lc-1.17.4", library="aws-lc", version="1.17.4", build=None)],
    )
    assert found.primitive_of == "aws-lc-1.17.4"
    assert found.note == ("primitive of AWS-LC 1.17.4; primitive and transfer measured separately")


def test_the_only_other_version_of_a_library_is_its_ceiling() -> None:
    others: Rates = {"openssl-3.1.4": {SEAL: 9000.0}, "rustls-1.0": {SEAL: 5000.0}}
    [found] = of({"openssl-3.6.3": {TRANSFERS[0]: 4500.0}, **others})
    assert (found.percent, found.primitive_of) == (50, "openssl-3.1.4")
    assert found.note == "primitive of OpenSSL 3.1.4; primitive and transfer measured separately"


def test_an_implementation_without_a_ceiling_does_not_hide_the_next_one() -> None:
    rates = {"rustls-1.0": {TRANSFERS[0]: 7000.0}, "openssl-3.6.3": {TRANSFERS[0]: 1.0, SEAL: 2.0}}
    assert [found.implementation for found in of(rates)] == ["openssl-3.6.3"]


def test_one_thread_is_a_whole_transfer() -> None:
    alone = TRANSFERS[0].model_copy(update={"threads": 1})
    [found] = of({"openssl-3.6.3": {alone: 2000.0, SEAL: 7000.0}})
    assert found.percent == 28.5714


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


def test_without_a_ceiling_there_is_no_efficiency() -> None:
    assert of({"openssl-3.6.3": {TRANSFERS[0]: 7000.0, OPEN: 9000.0}}) == []
    assert of({"rustls-1.0": {TRANSFERS[0]: 7000.0}, "openssl-3.6.3": {SEAL: 9000.0}}) == []
    two = {"openssl-3.1.4": {SEAL: 9000.0}, "openssl-3.0.1": {SEAL: 9000.0}}
    assert of({"openssl-3.6.3": {TRANSFERS[0]: 7000.0}, **two}) == []
    threads = TRANSFERS[0].model_copy(update={"threads": 4})
    assert of({"openssl-3.6.3": {threads: 7000.0, SEAL: 9000.0}}) == []


def test_more_than_the_ceiling_is_pointed_out() -> None:
    [found] = of({"openssl-3.6.3": {TRANSFERS[0]: 9900.0, SEAL: 9000.0}})
    above = "above its ceiling, so the two were not measured in the same way"
    apart = "primitive and transfer measured separately"
    assert found.note == f"{apart}; {above}"
    [found] = of({"openssl-3.6.3": {TRANSFERS[0]: 9050.0, SEAL: 9000.0}})
    assert found.note == f"{apart}; {above}"
    [found] = of({"openssl-3.6.3": {TRANSFERS[0]: 9000.0, SEAL: 9000.0}})
    assert found.note == apart


def test_the_interval_of_unpaired_rounds_is_widened_by_the_drift_of_the_host() -> None:
    drifting = np.r_[np.full(15, 1.0), np.full(15, 1.03)]
    rates = {"openssl-3.6.3": {TRANSFERS[0]: list(8000 * drifting), SEAL: list(10000 * drifting)}}
    measured_apart = report_of(loaded_run(RUN, rates, format_="openssl-bench/2024"))
    assert measured_apart.series.rules.drift == pytest.approx(1.03)
    [found] = efficiency(measured_apart)
    alone = unpaired_ratio(rates["openssl-3.6.3"][TRANSFERS[0]], rates["openssl-3.6.3"][SEAL])
    assert alone.low is not None
    assert alone.high is not None
    assert found.low == pytest.approx(100 * alone.low / 1.03, rel=1e-5)
    assert found.high == pytest.approx(100 * alone.high * 1.03, rel=1e-5)


def test_the_ceiling_has_the_size_of_the_transfers_records() -> None:
    small = TRANSFERS[0].model_copy(update={"record_size": 1024})
    seal = SEAL.model_copy(update={"variant": "aes-128-gcm-seal-1024"})
    rates: Rates = {"openssl-3.6.3": {small: 3000.0, TRANSFERS[0]: 8000.0, SEAL: 10000.0}}
    assert [found.primitive for found in of(rates)] == [SEAL.variant], "no primitive of 1024 bytes"
    rates = {"openssl-3.6.3": {**rates["openssl-3.6.3"], seal: 4000.0}}
    assert {found.primitive: found.percent for found in of(rates)} == {
        seal.variant: 75,
        SEAL.variant: 80,
    }
