"""The interval of a figure: from sessions, from rounds and a known spread, or none."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from synthetic import HANDSHAKES, SIXTEEN, TRANSFERS, loaded_run
from tlsperf.analysis.intervals import Intervals, intervals_of, note_of, source_of
from tlsperf.analysis.series import At, Sample, Series
from tlsperf.analysis.sessions import (
    NO_PRIOR,
    Prior,
    Spreads,
    another_run,
    another_run_by_spread,
    fit_prior,
    log_medians,
)
from tlsperf.analysis.statistics import summary
from tlsperf.contract.metrics import Metric, Statistic, Unit
from tlsperf.contract.record import Scenario
from tlsperf.contract.run import Run, Session

RUN = "2026-11-21-a"
SPREADS = Spreads(
    medians={"transfer": 2.0, "full-handshake": 1.0, "resumed-handshake": 1.0},
    ratios={},
    of_host=False,
)
OF_HOST = Spreads(medians=SPREADS.medians, ratios={}, of_host=True)
VALUES = list(1000 * np.exp(np.random.default_rng(8).normal(0, 0.01, 30)))


def sample(values: list[float], sessions: int = 1) -> Sample:
    each = len(values) // sessions
    return Sample({At(RUN, 1 + n // each, n + 1): v for n, v in enumerate(values)})


def row(
    *samples: Sample,
    scenario: Scenario = HANDSHAKES[0],
    metric: Metric = "rate",
    statistic: Statistic = "value",
    unit: Unit = "handshakes/s",
) -> Series:
    named = {f"openssl-{n}": s for n, s in enumerate(samples, 1)}
    return Series(scenario, "total", metric, statistic, unit, named)


def test_with_five_sessions_they_and_what_the_table_shares_make_the_interval() -> None:
    of = sample(VALUES, 5)
    prior = Prior(1e-4, 4.0)
    found = Intervals(SPREADS, prior).of(row(of), of)
    medians = log_medians(of.sessions.values())
    assert found == another_run(float(np.median(VALUES)), medians, prior)
    assert found != another_run(float(np.median(VALUES)), medians, NO_PRIOR)
    assert Intervals(SPREADS).of(row(of), of) == another_run(
        float(np.median(VALUES)), medians, NO_PRIOR
    )


@pytest.mark.parametrize("sessions", [1, 3])
def test_with_fewer_the_interval_of_the_rounds_is_widened_by_the_spread_of_their_kind(
    sessions: int,
) -> None:
    of, rounds = sample(VALUES, sessions), summary(VALUES)
    assert rounds.low is not None
    assert rounds.high is not None
    for scenario, spread in ((HANDSHAKES[0], 0.01), (TRANSFERS[0], 0.02)):
        found = Intervals(SPREADS).of(row(of, scenario=scenario), of)
        assert found == another_run_by_spread(
            rounds.median, rounds.low, rounds.high, sessions, spread
        )


def test_maxima_and_few_rounds_have_no_interval() -> None:
    few = sample(VALUES[:5])
    assert Intervals(SPREADS).of(row(few), few) is None
    nothing = Sample()
    assert Intervals(SPREADS).of(row(nothing), nothing) is None
    most = Sample(sample(VALUES).valid, statistic="max")
    assert Intervals(SPREADS).of(row(most, statistic="max"), most) is None
    single = Sample({At(RUN, 1, None): 5.0}, has_rounds=False)
    assert Intervals(SPREADS).of(row(single), single) is None
    published = Sample(sample(VALUES).valid, has_rounds=False)
    assert Intervals(SPREADS).of(row(published), published) is None


def test_counts_and_figures_that_reach_zero_keep_the_interval_of_their_rounds() -> None:
    of, rounds = sample(VALUES, 5), summary(VALUES)
    counted = row(of, metric="instructions", unit="instructions/handshake")
    assert Intervals(SPREADS).of(counted, of) == (rounds.low, rounds.high)
    zeros = sample([0.0] * 20 + [5.0] * 10)
    assert Intervals(SPREADS).of(row(zeros), zeros) == (0, 5)
    barely = sample([0.5] * 20 + [0.6] * 10)
    found = Intervals(SPREADS).of(row(barely), barely)
    assert found is not None
    assert found[0] < 0.5, "a positive one is widened, however small"


def test_the_prior_is_of_the_samples_with_sessions_enough_that_are_timed() -> None:
    random = np.random.default_rng(4)
    timed = [sample(list(1000 * np.exp(random.normal(0, 0.01 * n, 30))), 5) for n in (1, 2, 3, 4)]
    few = sample(VALUES, 3)
    zero = sample([0.0, *VALUES[1:]], 5)
    single = Sample(sample(VALUES, 5).valid, has_rounds=False)
    most = Sample(sample(VALUES, 5).valid, statistic="max")
    rows = [
        row(*timed[:2], few, zero, single),
        row(*timed[2:]),
        row(sample(VALUES, 5), metric="instructions", unit="instructions/handshake"),
        row(most, metric="duration", statistic="max", unit="µs"),
    ]
    expected = fit_prior([log_medians(s.sessions.values()) for s in timed])
    # Compared as text, because arrays have no single equality.
    assert repr(intervals_of(rows, SPREADS)) == repr(Intervals(SPREADS, expected))
    assert repr(expected) != repr(NO_PRIOR)


def test_the_source_of_a_table_is_the_weakest_way_of_any_of_its_intervals() -> None:
    many, few = sample(VALUES, 5), sample(VALUES, 3)
    counted = row(many, metric="instructions", unit="instructions/handshake")
    assert source_of([row(many), counted], SPREADS) == "sessions"
    assert source_of([row(many), row(many, few)], SPREADS) == "default"
    assert source_of([row(few)], OF_HOST) == "host"
    assert source_of([counted, row(sample(VALUES[:3]))], SPREADS) is None
    assert source_of([row(many), row(sample(VALUES[:3]))], SPREADS) == "sessions"


def of_sessions(run: str, seconds: int) -> Run:
    """A run with three sessions; the last began so many seconds after the first."""
    first = datetime(2026, 11, 21, tzinfo=UTC)
    starts = (first + timedelta(seconds=seconds * part / 3) for part in (0, 1, 3))
    sessions = [Session(number=n, started=at, seed=n) for n, at in enumerate(starts, 1)]
    return loaded_run(run, {"openssl-1": {HANDSHAKES[0]: VALUES}}).run.model_copy(
        update={"sessions": sessions}
    )


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "1 minute"),
        (60, "1 minute"),
        (61, "2 minutes"),
        (7140, "119 minutes"),
        (7141, "2 hours"),
        (10801, "4 hours"),
    ],
)
def test_the_note_names_the_time_between_the_first_session_and_the_last(
    seconds: int, text: str
) -> None:
    five = sample(VALUES, 5)
    run, other = (of_sessions(of, seconds) for of in (RUN, "2026-11-20-a"))
    assert f"of the run, which began within {text} of each other. If the host changes" in note_of(
        [row(five)], "sessions", SPREADS, [run, of_sessions("2026-11-20-a", 10**6)]
    )
    assert "of the run. If the host" in note_of([row(five)], "sessions", SPREADS, [other])


def test_the_note_names_the_sessions_or_the_spreads() -> None:
    five, six = sample(VALUES, 5), sample(VALUES, 6)
    longer = "If the host changes more over a longer time, the interval is too narrow."
    assert note_of([row(five)], "sessions", SPREADS, []) == (
        "An interval predicts another run. Its width comes from the spread between the 5 sessions "
        f"of the run. {longer}"
    )
    assert note_of([row(five, Sample()), row(six)], "sessions", SPREADS, []) == (
        "An interval predicts another run. Its width comes from the spread between the 5 to 6 "
        f"sessions of the run. {longer}"
    )
    rows = [row(five, scenario=s) for s in SIXTEEN]
    assert note_of(rows, "host", OF_HOST, []) == (
        "An interval predicts another run. It is widened by a spread between sessions of 1.00% or "
        "2.00%, which earlier runs on this host measured. If the spread is now larger, the "
        "interval is too narrow."
    )
    assert note_of(rows[:1], "default", SPREADS, []) == (
        "An interval predicts another run. No spread between sessions was measured on this host, "
        "so intervals are widened by a default of 2.00%. If the spread on this host is larger, "
        "they are too narrow."
    )


def test_an_interval_about_another_run_is_wider_than_that_of_the_rounds() -> None:
    of, rounds = sample(VALUES), summary(VALUES)
    found = Intervals(SPREADS).of(row(of), of)
    assert found is not None
    assert rounds.high is not None
    between = math.hypot(math.log(rounds.high / rounds.median), 1.96 * 0.01)
    assert math.log(found[1] / rounds.median) == pytest.approx(math.sqrt(2) * between, rel=1e-4)
