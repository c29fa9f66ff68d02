"""The mean of a table's ratios, by round, with a verdict from their common spread."""

from __future__ import annotations

import numpy as np
import pytest

from synthetic import HANDSHAKES, TRANSFERS, Rates, in_sessions, loaded_run, report_of
from tlsperf.analysis.means import _mean, group_means
from tlsperf.analysis.ratios import as_ratio
from tlsperf.analysis.series import At, Sample
from tlsperf.analysis.sessions import fit_prior, session_ratio
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


def test_one_row_is_not_a_group() -> None:
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


def test_sessions_of_all_means_of_a_report_moderate_each_other() -> None:
    random = np.random.default_rng(1)
    effects = {
        group[0].operation: random.normal(0.02, spread, 6)
        for group, spread in ((TRANSFERS, 0.001), (HANDSHAKES, 0.02))
    }
    rates: Rates = {
        "openssl-1": {s: [1000.0] * 12 for s in (*TRANSFERS, *HANDSHAKES)},
        "rustls-1": {
            s: list(1000 * np.exp(np.repeat(effects[s.operation], 2)))
            for s in (*TRANSFERS, *HANDSHAKES)
        },
    }
    report = report_of(in_sessions(loaded_run(RUN, rates), 2), baseline="openssl-1")
    found = group_means(report)
    logs = {"transfer": effects["transfer"]}
    for mean in found[1:]:
        logs[mean.table] = effects["handshake"]
    prior = fit_prior(list(logs.values()))
    rules = report.series.rules
    for mean in found:
        expected = session_ratio(
            logs[mean.table], prior, 12, rules.comparisons, "higher", rules.floor
        )
        alone = session_ratio(logs[mean.table], fit_prior([]), 12, rules.comparisons)
        assert mean.ratio.low == pytest.approx(expected.low, rel=1e-5)
        assert mean.ratio.low != pytest.approx(alone.low, rel=1e-5)
        assert mean.ratio.text == as_ratio(expected, "rate").text


def test_a_mean_is_of_the_rounds_that_all_rows_have_and_a_mean_of_maxima_is_one_of_maxima() -> None:
    first, second, third = (At(RUN, 1, n) for n in (1, 2, 3))
    rows = [Sample({first: 2.0, second: 8.0}), Sample({third: 3.0, second: 2.0})]
    assert _mean(rows).valid == {second: pytest.approx(4)}
    assert _mean(rows).statistic == "value"
    assert _mean([Sample(statistic="max"), Sample(statistic="max")]).statistic == "max"
