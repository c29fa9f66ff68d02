"""The interval of a figure: from sessions, from rounds and a known spread, or none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from synthetic import HANDSHAKES, TRANSFERS, sample, series_with, single, spreads
from tlsperf.analysis.intervals import Intervals
from tlsperf.analysis.series import Sample, Series
from tlsperf.analysis.sessions import (
    NO_PRIOR,
    Spreads,
    another_run,
    another_run_by_spread,
    fit_prior,
    log_medians,
)
from tlsperf.analysis.statistics import summary

SPREADS = spreads({"transfer": 0.02, "full-handshake": 0.01, "resumed-handshake": 0.01})
VALUES = list(1000 * np.exp(np.random.default_rng(8).normal(0, 0.01, 30)))


def interval(one: Sample, **more: Any) -> tuple[float, float] | None:
    row = series_with(one, **more)
    return Intervals([row], SPREADS).of(row, one)


def by_sessions(number: int, values: Sequence[float] = VALUES) -> Sample:
    return sample(*values, rounds_a_session=30 // number)


COUNTS: dict[str, Any] = {"metric": "instructions", "unit": "instructions/handshake"}


@pytest.mark.parametrize("sessions", [1, 3])
def test_with_fewer_the_interval_of_the_rounds_is_widened_by_the_spread_of_their_kind(
    sessions: int,
) -> None:
    rounds = summary(VALUES)
    assert rounds.low is not None
    assert rounds.high is not None
    ends = rounds.median, rounds.low, rounds.high
    for scenario, spread in ((HANDSHAKES[0], 0.01), (TRANSFERS[0], 0.02)):
        found = interval(by_sessions(sessions), of=scenario)
        assert found == pytest.approx(another_run_by_spread(*ends, spread))


@pytest.mark.parametrize(
    ("of", "more", "expected"),
    [
        (sample(*VALUES[:5]), {}, None),
        (Sample(), {}, None),
        (sample(*VALUES, statistic="max"), {"statistic": "max"}, None),
        (single(5.0), {}, None),
        (sample(*VALUES, has_rounds=False), {}, None),
        # counts, and what reaches zero, keep that of their rounds
        (by_sessions(5), COUNTS, (summary(VALUES).low, summary(VALUES).high)),
        (sample(*[0.0] * 20, *[5.0] * 10), {}, (0, 5)),
        (
            sample(*[0.5] * 20, *[0.6] * 10),
            {},
            (pytest.approx(0.4863, abs=1e-4), pytest.approx(0.6480, abs=1e-4)),
        ),
    ],
)
def test_only_timed_rounds_have_an_interval_about_another_run(
    of: Sample, more: dict[str, Any], expected: tuple[float, float] | None
) -> None:
    assert interval(of, **more) == expected


def test_with_five_sessions_they_and_what_the_table_shares_make_the_interval() -> None:
    random = np.random.default_rng(4)
    timed = [
        by_sessions(5, (1000 * np.exp(random.normal(0, 0.01 * n, 30))).tolist())
        for n in (1, 2, 3, 4)
    ]
    rows = [
        series_with(
            *timed[:2],
            by_sessions(3),
            by_sessions(5, [0.0, *VALUES[1:]]),
            replace(by_sessions(5), has_rounds=False),
        ),
        series_with(*timed[2:]),
        series_with(by_sessions(5), **COUNTS),
        series_with(
            replace(by_sessions(5), statistic="max"), metric="duration", statistic="max", unit="µs"
        ),
    ]
    logs = [log_medians(s.sessions.values()) for s in timed]
    found = Intervals(rows, SPREADS).of(rows[0], timed[0])
    assert found == pytest.approx(another_run(timed[0].figure, logs[0], fit_prior(logs), 0.01))
    alone = another_run(timed[0].figure, logs[0], NO_PRIOR, 0.01)
    assert interval(timed[0]) == pytest.approx(alone)
    assert found != interval(timed[0])


MEASURED = spreads({"full-handshake": 0.05}, {"full-handshake": 0.01}, pairs={"full-handshake": 3})
VIRTUAL = replace(MEASURED, virtual=True)
TIMES = [series_with(by_sessions(5))]


@pytest.mark.parametrize(
    ("rows", "of", "source", "notes"),
    [
        (TIMES, MEASURED, "measured", ["3 pairs of runs", "less than 2.8%"]),
        (TIMES, SPREADS, "assumed", ["it is assumed"]),
        (TIMES, VIRTUAL, "measured", ["runs differ by less than 15%"]),
        ([series_with(by_sessions(5), **COUNTS)], SPREADS, None, []),
        ([series_with(single(5.0))], SPREADS, None, []),
    ],
)
def test_a_table_says_what_its_ratios_and_rates_promise(
    rows: list[Series], of: Spreads, source: str | None, notes: list[str]
) -> None:
    found = Intervals(rows, of)
    assert found.source == source
    assert (found.note is None) is (source is None)
    assert all(note in (found.note or "") for note in notes)


def test_a_rate_of_a_virtual_machine_has_no_interval_and_memory_has_one() -> None:
    memory = HANDSHAKES[0].model_copy(update={"operation": "memory"})
    bytes_ = series_with(by_sessions(5), of=memory, metric="allocated", unit="bytes/connection")
    found = Intervals([*TIMES, bytes_], VIRTUAL)
    assert found.of(TIMES[0], by_sessions(5)) is None
    assert found.of(bytes_, by_sessions(5)) is not None
    assert [found.reproduces(row) for row in (*TIMES, bytes_)] == [False, True]
