"""The mean of a table's ratios, by round, with a verdict from their common spread."""

from __future__ import annotations

import numpy as np
import pytest

from synthetic import HANDSHAKES, TRANSFERS, Rates, in_sessions, loaded_run, report_of
from tlsperf.analysis.means import group_means
from tlsperf.contract.record import Scenario
from tlsperf.contract.results import GroupMean

RUN = "2026-11-21-a"
ROUNDS = list(np.linspace(1000, 1100, 30))


def means(rates: Rates, format_: str = "tlsbench/1") -> list[GroupMean]:
    return group_means(report_of(loaded_run(RUN, rates, format_=format_), baseline="openssl-1"))


def scaled(*factors: float) -> Rates:
    return {
        "openssl-1": dict.fromkeys(TRANSFERS, ROUNDS),
        "rustls-1": {t: [f * r for r in ROUNDS] for t, f in zip(TRANSFERS, factors, strict=False)},
    }


def test_geometric_mean_of_the_rows_both_sides_have() -> None:
    [mean] = means(scaled(2, 8, 4))
    assert (mean.table, mean.implementation, mean.baseline) == ("transfer", "rustls-1", "openssl-1")
    assert mean.rows == 3
    assert mean.ratio.value == pytest.approx(4)
    assert (mean.ratio.verdict, mean.ratio.paired) == ("faster", True)


def test_without_pairs_it_is_unpaired_and_of_single_figures_untested() -> None:
    [mean] = means(scaled(2, 8), "openssl-bench/2024")
    assert not mean.ratio.paired
    single = {
        i: dict.fromkeys(TRANSFERS[:2], f) for i, f in (("openssl-1", 100.0), ("rustls-1", 150.0))
    }
    [mean] = means(single)
    assert (mean.ratio.verdict, mean.ratio.text) == ("not tested", "1.50x")


def test_one_row_is_not_a_group() -> None:
    assert means(scaled(2)) == []


def test_an_unpaired_mean_is_widened_by_the_drift_and_corrected_for_the_report() -> None:
    drifting = np.array(ROUNDS) * np.r_[np.full(15, 1.0), np.full(15, 1.05)]
    rates: Rates = {
        "openssl-1": dict.fromkeys(TRANSFERS[:2], drifting.tolist()),
        "rustls-1": dict.fromkeys(TRANSFERS[:2], (1.1 * drifting).tolist()),
    }
    [mean] = means(rates, "openssl-bench/2024")
    assert mean.ratio.text == "no difference shown (16% would show)"
    # The drift is 10.3%; two rows and a mean are compared: 1.103 ** (2.394 / 1.960).
    assert (mean.ratio.note or "").endswith("interval widened by 12.7% for the drift between them")


def test_sessions_of_all_means_of_a_report_moderate_each_other() -> None:
    random = np.random.default_rng(1)

    def of(scenarios: list[Scenario], spread: float) -> Rates:
        factors = np.exp(np.repeat(random.normal(0.02, spread, 6), 2))
        return {
            "openssl-1": dict.fromkeys(scenarios, [1000.0] * 12),
            "rustls-1": dict.fromkeys(scenarios, (1000 * factors).tolist()),
        }

    def mean_of_transfers(rates: Rates) -> tuple[float | None, float | None]:
        run = in_sessions(loaded_run(RUN, rates), 2)
        ratio = group_means(report_of(run, baseline="openssl-1"))[0].ratio
        return ratio.low, ratio.high

    steady, wild = of(TRANSFERS, 0.001), of(HANDSHAKES, 0.02)
    low, high = mean_of_transfers(steady)
    with_wild = mean_of_transfers({i: {**steady[i], **wild[i]} for i in steady})
    assert low is not None
    assert high is not None
    assert (with_wild[0] or 9) < low < high < (with_wild[1] or 0)
