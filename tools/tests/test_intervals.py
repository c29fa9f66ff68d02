"""The interval of a figure: from sessions, from rounds and a known spread, or none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from synthetic import HANDSHAKES, RUN, SIXTEEN, TRANSFERS, loaded_run, sample, series_with, single
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
from tlsperf.contract.run import Run, Session

SPREADS = Spreads(
    medians={"transfer": 2.0, "full-handshake": 1.0, "resumed-handshake": 1.0},
    ratios={},
    of_host=False,
)
OF_HOST = Spreads(medians=SPREADS.medians, ratios={}, of_host=True)
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
        assert found == another_run_by_spread(*ends, sessions, spread)


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
    assert found == another_run(timed[0].figure, logs[0], fit_prior(logs))
    assert interval(timed[0]) == another_run(timed[0].figure, logs[0], NO_PRIOR)
    assert found != interval(timed[0])


@pytest.mark.parametrize(
    ("rows", "spreads", "source"),
    [
        ([series_with(by_sessions(5)), series_with(by_sessions(5), **COUNTS)], SPREADS, "sessions"),
        ([series_with(by_sessions(5)), series_with(sample(*VALUES[:3]))], SPREADS, "sessions"),
        (
            [series_with(by_sessions(5)), series_with(by_sessions(5), by_sessions(3))],
            SPREADS,
            "default",
        ),
        ([series_with(by_sessions(3))], OF_HOST, "host"),
        ([series_with(by_sessions(5), **COUNTS), series_with(sample(*VALUES[:3]))], SPREADS, None),
    ],
)
def test_the_source_of_a_table_is_the_weakest_way_of_any_of_its_intervals(
    rows: list[Series], spreads: Spreads, source: str | None
) -> None:
    found = Intervals(rows, spreads)
    assert found.source == source
    assert (found.note([]) is None) is (source is None)


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
    rows = [series_with(by_sessions(5))]
    run, other = (of_sessions(of, seconds) for of in (RUN, "2026-11-20-a"))
    note = Intervals(rows, SPREADS).note([run, of_sessions("2026-11-20-a", 10**6)]) or ""
    assert f"of the run, which began within {text} of each other. If the host changes" in note
    assert "of the run. If the host" in (Intervals(rows, SPREADS).note([other]) or "")


LONGER = "If the host changes more over a longer time, the interval is too narrow."


@pytest.mark.parametrize(
    ("rows", "spreads", "note"),
    [
        (
            [series_with(by_sessions(5))],
            SPREADS,
            "Its width comes from the spread between the 5 sessions of the run. " + LONGER,
        ),
        (
            [series_with(by_sessions(5), Sample()), series_with(by_sessions(6))],
            SPREADS,
            "Its width comes from the spread between the 5 to 6 sessions of the run. " + LONGER,
        ),
        (
            [series_with(by_sessions(3), of=s) for s in SIXTEEN],
            OF_HOST,
            "It is widened by a spread between sessions of 1.00% or 2.00%, which earlier runs on "
            "this host measured. If the spread is now larger, the interval is too narrow.",
        ),
        (
            [series_with(by_sessions(3), of=SIXTEEN[0])],
            SPREADS,
            "No spread between sessions was measured on this host, so intervals are widened by a "
            "default of 2.00%. If the spread on this host is larger, they are too narrow.",
        ),
    ],
)
def test_the_note_names_the_sessions_or_the_spreads(
    rows: list[Series], spreads: Spreads, note: str
) -> None:
    assert Intervals(rows, spreads).note([]) == f"An interval predicts another run. {note}"
