"""Series and samples: the kept observations, and the values computed from them."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from synthetic import (
    HANDSHAKES,
    NO_SPREAD,
    RUN,
    TRANSFERS,
    Rates,
    implementation,
    in_sessions,
    loaded_run,
    rounds_of,
    run_of_rows,
    sample,
    series_with,
    spreads,
    with_rows,
)
from tlsperf.analysis.series import (
    At,
    Rules,
    Sample,
    drift_of,
    figure,
    measured,
    report_series,
    rounded,
    row_names,
)
from tlsperf.analysis.sessions import DEFAULT_SPREADS
from tlsperf.analysis.statistics import drift
from tlsperf.contract.record import Scenario
from tlsperf.load.run import LoadedRun

ONE = "openssl-3.6.3"
DRIFTING = [*([1000.0] * 15), *([1050.0] * 15)]


def test_a_sample_counts_if_something_is_valid_and_nothing_is_zero() -> None:
    assert sample(1.0, 2.0).counts
    assert sample(0.5).counts
    assert not sample(0.0, 2.0).counts
    assert not Sample(invalid=[1.0]).counts


def test_rounds_and_sessions_are_in_the_order_of_time() -> None:
    made = Sample()
    for run, session, in_round, value in (
        ("2026-11-22-b", 1, 1, 5.0),
        (RUN, 2, 4, 4.0),
        (RUN, 1, 2, 2.0),
        (RUN, 2, 3, 3.0),
        (RUN, 1, 1, 1.0),
    ):
        made.add(At(run, session, in_round), value, None)
    assert made.rounds == [1, 2, 3, 4, 5]
    assert made.sessions == {(RUN, 1): [1, 2], (RUN, 2): [3, 4], ("2026-11-22-b", 1): [5]}
    assert made.figure == 3
    assert made.has_rounds


def test_a_figure_is_the_median_or_of_extremes_the_extreme() -> None:
    assert figure([2, 1, 9], statistic="min") == 1
    assert sample(2, 1, 9, statistic="min").figure == 1
    assert figure([1, 2, 9], statistic="value") == 2
    assert figure([1, 2, 9], statistic="max") == 9
    assert sample(1, 9, 2, statistic="max").figure == 9
    assert sample(1, 9, 2).figure == 2


def test_added_values_are_valid_or_have_a_note_listed_once() -> None:
    made = Sample()
    made.add(At(RUN, 1, 1), 5.0, None)
    for note in ("wrong suite", "wrong suite", "resumed"):
        made.add(At(RUN, 1, 2), 6.0, note)
    assert made.valid == {At(RUN, 1, 1): 5.0}
    assert (made.invalid, made.notes) == ([6, 6, 6], ["wrong suite", "resumed"])
    assert made.has_rounds
    made.add(At(RUN, 1, None), 7.0, None)
    assert not made.has_rounds
    made.add(At(RUN, 1, 3), 7.0, None)
    assert not made.has_rounds, "one figure without a round is enough"


def test_merged_samples_have_all_observations_of_both() -> None:
    one = Sample({At(RUN, 1, 1): 1.0}, [8.0], ["a"])
    other = Sample({At("r", 1, 1): 2.0}, [9.0], ["a", "b"], has_rounds=True, statistic="max")
    one.merge(other)
    assert one == Sample(
        {At(RUN, 1, 1): 1.0, At("r", 1, 1): 2.0}, [8, 9], ["a", "b"], True, statistic="max"
    )
    one.merge(Sample(has_rounds=False))
    assert not one.has_rounds
    one.merge(Sample(has_rounds=True))
    assert not one.has_rounds


def test_phases_are_parts_of_a_handshake_and_not_of_memory() -> None:
    memory = Scenario(operation="memory", protocol="1.3", side="client")
    assert series_with(phase="flight-1").is_part
    assert not series_with().is_part
    assert not series_with(of=memory, phase="handshake").is_part
    assert series_with().key == (HANDSHAKES[0], "total", "rate", "value", "handshakes/s")
    assert series_with(metric="duration").definition.better == "lower"


def test_a_measured_run_has_a_series_of_each_scenario_phase_metric_statistic_and_unit() -> None:
    of = {"implementation": ONE, "metric": "duration", "unit": "µs"}
    client = HANDSHAKES[0]
    run = measured(
        with_rows(
            loaded_run(RUN, {ONE: {TRANSFERS[0]: [1.0, 2.0]}}),
            rounds_of([3.0, 4.0], client, statistic="p50", **of),
            rounds_of([5.0, 6.0], client, statistic="max", **of),
            rounds_of([7.0], client, phase="flight-1", **of),
            [it._replace(round=None) for it in rounds_of([8.0], client, statistic="p99", **of)],
            rounds_of([9.0], client, statistic="p99", note="why", **of),
        )
    )
    assert run.id == RUN
    found = {(s.scenario.operation, s.phase, s.statistic): s.samples[ONE] for s in run.series}
    assert [(*key, s.rounds) for key, s in found.items()] == [
        ("transfer", "total", "value", [1, 2]),
        ("handshake", "total", "p50", [3, 4]),
        ("handshake", "total", "max", [5, 6]),
        ("handshake", "flight-1", "value", [7]),
        ("handshake", "total", "p99", [8]),
    ], "in the order of their first observation"
    assert [key for key, s in found.items() if s.is_extreme] == [("handshake", "total", "max")]
    alone = found["handshake", "total", "p99"]
    assert (alone.has_rounds, alone.invalid, alone.notes) == (False, [9], ["why"])
    assert list(alone.valid) == [At(RUN, 1, None)]
    assert found["transfer", "total", "value"].has_rounds
    assert [s.scenario.operation for s in run.series] == ["transfer", *["handshake"] * 4]


def test_an_observation_keeps_the_number_of_its_session() -> None:
    run = measured(in_sessions(loaded_run(RUN, {ONE: {TRANSFERS[0]: [1.0, 2.0, 3.0, 4.0]}}), 2))
    [row] = run.series
    assert list(row.samples[ONE].valid) == [
        At(RUN, 1, 1),
        At(RUN, 1, 2),
        At(RUN, 2, 3),
        At(RUN, 2, 4),
    ]


def two_runs(format_: str = "tlsbench/1") -> list[LoadedRun]:
    rates: Rates = {ONE: {TRANSFERS[0]: DRIFTING}}
    other: Rates = {ONE: {TRANSFERS[0]: [5.0]}, "rustls-1": {TRANSFERS[1]: [6.0, 7.0]}}
    return [loaded_run(RUN, rates), loaded_run("2026-11-22-b", other, format_=format_)]


def test_the_series_of_a_report_are_those_of_all_its_runs() -> None:
    runs = [measured(run) for run in two_runs("openssl-bench/2024")]
    found = report_series(runs, NO_SPREAD, 1.2)
    assert [(row.scenario, list(row.samples)) for row in found.rows] == [
        (TRANSFERS[0], [ONE]),
        (TRANSFERS[1], ["rustls-1"]),
    ]
    assert found.rows[0].samples[ONE].rounds == [*DRIFTING, 5]
    assert found.rules.pairs == {RUN}
    assert (found.rules.floor, found.rules.spreads) == (1.2, NO_SPREAD)
    assert found.rules.drift == drift([[*DRIFTING, 5.0]])
    assert runs[0].series[0].samples[ONE].rounds == DRIFTING, "a run keeps its own"


def test_only_the_rounds_of_a_single_run_need_no_drift() -> None:
    one, two = (measured(run) for run in two_runs())
    assert report_series([one], NO_SPREAD).rules.drift == 1
    assert report_series([one, two], NO_SPREAD).rules.drift > 1.04
    foreign = measured(
        loaded_run(RUN, {ONE: {TRANSFERS[0]: DRIFTING}}, format_="openssl-bench/2024")
    )
    assert report_series([foreign], NO_SPREAD).rules.drift == pytest.approx(1.05)
    assert report_series([one]).rules.spreads == DEFAULT_SPREADS
    assert report_series([one]).rules.floor == 1.02


def test_drift_uses_times_in_rounds() -> None:
    moved = sample(*DRIFTING)
    assert drift_of([series_with(moved)]) == pytest.approx(1.05)
    for row in (
        series_with(moved, phase="flight-1"),
        series_with(moved, metric="instructions", unit="instructions/handshake"),
        series_with(sample(*DRIFTING, has_rounds=False)),
        series_with(sample(0.0, *DRIFTING[1:])),
    ):
        assert drift_of([row]) == 1
    assert drift_of([series_with(sample(*[1.0] * 30), moved)]) == pytest.approx(1.05)


def test_a_ratio_of_two_runs_is_widened_by_the_spread_between_them() -> None:
    rules = Rules(drift=1.05, spreads=spreads({"full-handshake": 0.1}))
    one, again, other = sample(1.0), sample(2.0), sample(1.0, run="2026-11-22-b")
    assert rules.widening(HANDSHAKES[0], one, again) == 1.05
    expected = math.exp(1.959964 * math.sqrt(2) * 0.1)
    assert rules.widening(HANDSHAKES[0], one, other) == pytest.approx(expected)
    assert replace(rules, drift=2.0).widening(HANDSHAKES[0], one, other) == 2


def test_numbers_are_rounded_to_significant_digits() -> None:
    assert rounded(1234567.89) == 1234568
    assert rounded(0.00012345678) == 0.0001234568
    assert rounded(2 / 3, 2) == 0.67
    assert isinstance(rounded(float(np.float64(1.5))), float)


def test_names_of_rows_are_unique_and_state_what_they_measure() -> None:
    rows = [
        series_with(),
        series_with(phase="flight-1", metric="duration", unit="µs"),
        series_with(statistic="p99.9", metric="duration", unit="µs"),
        series_with(statistic="p50", unit="handshakes/s/thread"),
        series_with(metric="instructions", unit="instructions/handshake"),
        series_with(of=HANDSHAKES[1]),
    ]
    base, client = "full-handshake-1-2-rsa-2048", "TLS 1.2 full handshake, RSA-2048, client"
    assert list(row_names(rows).values()) == [
        (client, f"{base}-client"),
        (f"{client}, flight 1", f"{base}-client-flight-1"),
        (f"{client}, p99.9", f"{base}-client-p99-9"),
        (f"{client}, median thread", f"{base}-client-median-thread"),
        (client, f"{base}-client-instructions"),
        ("TLS 1.2 full handshake, RSA-2048, server", f"{base}-server"),
    ]
    group = TRANSFERS[0].model_copy(update={"key_exchange": "X25519"})
    two = row_names(
        [series_with(of=group, unit="MiB/s"), series_with(of=TRANSFERS[0], unit="MiB/s")]
    )
    base, name = "transfer-1-2-aes-128-gcm-sending", "TLS 1.2 transfer, AES-128-GCM, sending"
    assert list(two.values()) == [
        (f"{name}, X25519", f"{base}-x25519"),
        (f"{name}, key_exchange not recorded", f"{base}-key-exchange-not-recorded"),
    ]
    memory = Scenario(operation="memory", protocol="1.3", side="client")
    kept = series_with(of=memory, metric="allocated", unit="bytes/connection", phase="handshake")
    [(name, anchor)] = row_names([kept]).values()
    assert name.endswith("client, handshake")
    assert anchor.endswith("client-handshake-allocated")


def test_a_value_is_kept_in_the_unit_that_readers_see() -> None:
    of = {"implementation": ONE, "operation": "memory", "metric": "resident"}
    run = run_of_rows(RUN, [{**of, "unit": "bytes", "value": 2.0**21}], [implementation(ONE)])
    [series] = measured(run).series
    assert (series.unit, series.samples[ONE].rounds) == ("KiB", [2048])
