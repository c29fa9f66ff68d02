"""The mean of a table's ratios, by round, with the verdict that their common spread allows."""

from __future__ import annotations

import numpy as np
import pytest

from synthetic import TRANSFERS, Rates, loaded_run, report_of
from tlsperf.analysis.means import group_means
from tlsperf.analysis.statistics import unpaired_ratio
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


def test_one_row_is_no_group() -> None:
    assert means(scaled(2)) == []


def test_an_unpaired_mean_is_widened_by_the_drift_and_corrected_for_the_report() -> None:
    drifting = np.r_[np.full(15, 1.0), np.full(15, 1.05)]
    rates: Rates = {
        "openssl-1": {t: list(ROUNDS * drifting) for t in TRANSFERS[:2]},
        "rustls-1": {t: list(1.1 * np.array(ROUNDS) * drifting) for t in TRANSFERS[:2]},
    }
    apart = report_of(loaded_run(RUN, rates, format_="openssl-bench/2024"), baseline="openssl-1")
    drift = apart.series.rules.drift
    assert drift > 1.05
    [mean] = group_means(apart)
    ours, theirs = rates["rustls-1"][TRANSFERS[0]], rates["openssl-1"][TRANSFERS[0]]
    expected = unpaired_ratio(ours, theirs, comparisons=3, drift=drift)
    assert (mean.ratio.low, mean.ratio.high) == pytest.approx(
        (expected.low, expected.high), rel=1e-5
    ), "two rows and a mean are compared"
    bare = unpaired_ratio(ours, theirs)
    assert bare.low is not None
    assert mean.ratio.low is not None
    assert mean.ratio.low < bare.low / 1.05
    assert (bare.verdict, mean.ratio.verdict) == ("faster", "no difference shown")
