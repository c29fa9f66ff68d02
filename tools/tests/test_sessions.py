"""Sessions as observations: moderated variances, intervals about another run, verdicts."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import session_simulation
from synthetic import SIXTEEN, TRANSFERS, Rates, in_sessions, loaded_run, report_of
from tlsperf.analysis.sessions import (
    MOST_DEGREES,
    NO_PRIOR,
    Prior,
    Spreads,
    another_run,
    another_run_by_spread,
    fit_prior,
    kind_of,
    session_ratio,
)
from tlsperf.analysis.statistics import Floats, paired_ratio, ratio_reach

IDS = ["openssl-3.6.3", "boringssl-1", "rustls-1"]
RUN = "2026-11-21-a"


def test_the_prior_of_rows_is_found_again() -> None:
    random = np.random.default_rng(1)
    degrees, variance = 8.0, 0.01
    true = degrees * variance / random.chisquare(degrees, 4000)
    rows = [random.normal(0, math.sqrt(v), 5) for v in true]
    prior = fit_prior(rows)
    assert prior.degrees == pytest.approx(degrees, rel=0.2)
    assert prior.variance == pytest.approx(variance, rel=0.05)
    equal = fit_prior([random.normal(0, 0.1, 5) for _ in range(400)])
    assert equal.variance == pytest.approx(0.01, rel=0.1)
    assert equal.degrees == MOST_DEGREES
    assert fit_prior(rows[:1]) == NO_PRIOR
    assert fit_prior([]) == NO_PRIOR


def test_the_spread_between_runs_widens_intervals_in_squares() -> None:
    low, high = another_run_by_spread(100, 99, 102, 0)
    assert math.log(100 / low) == pytest.approx(math.sqrt(2) * math.log(100 / 99))
    assert math.log(high / 100) == pytest.approx(math.sqrt(2) * math.log(1.02))
    low, high = another_run_by_spread(100, 100, 100, 0.01)
    assert math.log(high / 100) == pytest.approx(math.sqrt(2) * 1.96 * 0.01, rel=1e-4)
    rounds = 100 * np.exp(np.linspace(-0.01, 0.01, 30))
    one, wide = (paired_ratio(rounds, [100.0] * 30, spread=s) for s in (0, 0.02))
    assert one.high is not None
    assert wide.high is not None
    assert one.value == wide.value
    another = math.sqrt(2) * math.hypot(math.log(one.high), 1.96 * 0.02)
    assert math.log(wide.high) == pytest.approx(another, 1e-3)


@pytest.mark.parametrize(
    ("own", "single", "spread", "comparisons", "reach"),
    [
        (0.05, 0.03, 0, 100, 0.05),
        (0.00, 0.00, 0.01, 1, math.sqrt(2) * 1.959964 * 0.01),
        (0.03, 0.03, 0.01, 1, math.sqrt(2) * math.hypot(0.03, 1.959964 * 0.01)),
        (0.05, 0.01, 0.01, 1000, math.hypot(0.05, 4.055627 * 0.01)),
    ],
    ids=["the run alone", "another run", "with its error", "all comparisons"],
)
def test_the_interval_of_a_ratio_reaches_as_far_as_it_promises(
    own: float, single: float, spread: float, comparisons: int, reach: float
) -> None:
    assert ratio_reach(own, single, spread, comparisons) == pytest.approx(reach, rel=1e-5)


# --- reports -------------------------------------------------------------------------------------


def drawn(seed: int, factors: tuple[float, ...] = (1, 1, 1.3)) -> Rates:
    """Random rates of five sessions of six rounds."""
    random = np.random.default_rng(seed)

    def sessions() -> Floats:
        return np.repeat(random.normal(0, 0.003, 5), 6)

    host = sessions()
    return {
        i: {
            s: list(1000 * factor * np.exp(host + sessions() + random.normal(0, 0.003, 30)))
            for s in SIXTEEN
        }
        for i, factor in zip(IDS, factors, strict=True)
    }


def test_sessions_change_intervals_and_no_median() -> None:
    run = loaded_run(RUN, drawn(1))
    one, five = (
        report_of(of, baseline=IDS[0]).results.tables[0] for of in (run, in_sessions(run, 6))
    )
    values, intervals = (
        [[getattr(c, name) for row in table.rows for c in row.cells] for table in (one, five)]
        for name in ("value", "interval")
    )
    assert values[0] == values[1]
    assert intervals[0] != intervals[1]


def test_scenarios_have_a_kind() -> None:
    kinds = {kind_of(s) for s in SIXTEEN}
    assert kinds == {"transfer", "full-handshake", "resumed-handshake"}
    assert kind_of(SIXTEEN[0].model_copy(update={"threads": 2})) == "threads"
    assert kind_of(SIXTEEN[0].model_copy(update={"operation": "primitive"})) == "other"
    assert kind_of(SIXTEEN[0].model_copy(update={"operation": "memory"})) == "memory"
    assert kind_of(SIXTEEN[-1], "p99") == "latency"


@pytest.mark.nightly
def test_the_simulation_of_sessions_holds() -> None:
    assert session_simulation.simulate(session_simulation.SETTINGS[0], pages=60).failures() == []


# --- the arithmetic of sessions ------------------------------------------------------------------

ROW = np.array([0.1, 0.3, 0.2, 0.5, 0.4])
ROWS = np.array(
    [
        [5.03, 5.00, 4.98, 5.01, 5.00],
        [-2.98, -3.01, -3.02, -2.98, -3.00],
        [1.02, 1.01, 0.97, 1.00, 0.99],
        [0.04, -0.01, -0.02, 0.01, 0.00],
    ]
)
"""Rows on levels of their own that share the shifts of five sessions."""

SHARED = fit_prior(list(ROWS))
ALONE = replace(SHARED, shared_variance=0.0)


@pytest.mark.parametrize(
    ("spread", "variance", "degrees"),
    [(1.2, 6.812086e-5, 1.856955), (3.0, 1.177963e-6, 0.3243764), (9.0, 4.914566e-9, 0.1637089)],
)
def test_the_prior_is_that_of_smyth(spread: float, variance: float, degrees: float) -> None:
    """Section 6.2 of Smyth 2004, by the root finder of scipy."""
    random = np.random.default_rng(2)
    rows = [row[: 5 + n % 3] for n, row in enumerate(random.normal(0, 0.01, (9, 8)))]
    rows = [row * spread ** (n - 4) for n, row in enumerate(rows)]
    prior = fit_prior([*rows, np.zeros(5)])
    assert (prior.variance, prior.degrees) == pytest.approx((variance, degrees), rel=1e-6)
    assert prior.pooled == 45, "a row without a variance is none"


@pytest.mark.parametrize(
    ("rows", "shared", "shared_variance", "scale"),
    [
        (list(ROWS), [0.0255, -0.0045, -0.0245, 0.008, -0.0045], 3.225e-4, 4 / 3),
        ([ROW, -ROW], [0] * 5, 0, 2),
        ([ROW[:3], ROW[:4]], None, 0, 1),
        ([ROW, np.zeros(4)], None, 0, 1),
    ],
)
def test_rows_of_the_same_sessions_have_a_shared_shift(
    rows: list[Floats], shared: list[float] | None, shared_variance: float, scale: float
) -> None:
    prior = fit_prior(rows)
    assert prior.shared == (None if shared is None else pytest.approx(shared))
    assert (prior.shared_variance, prior.scale) == pytest.approx((shared_variance, scale))


def test_equal_variances_make_the_most_of_a_prior_and_one_row_none() -> None:
    equal = fit_prior([ROW, -ROW])
    assert (equal.degrees, equal.pooled) == (MOST_DEGREES, 8)
    assert equal.variance == pytest.approx(0.03276100)
    for rows in ([], [ROW], [ROW, np.zeros(4)]):
        assert fit_prior(rows) is NO_PRIOR


@pytest.mark.parametrize(
    ("prior", "row", "confidence", "of_shared", "half_width"),
    [
        # by Student's quantiles of 4 and 8 degrees, and the normal one: 2.776, 2.306 and 1.960
        (NO_PRIOR, ROW, 0.95, 0, 2.776445 * 0.1581139 / 5**0.5),
        (Prior(0.04, math.inf), np.full(4, 0.1), 0.95, 0, 1.959964 * 0.2 / 2),
        (Prior(0.04, math.inf, 8), ROW, 0.95, 0, 2.306004 * 0.2 / 5**0.5),
        # moderated: (3 * 0.04 + 4 * 0.025) / 7, with 7 degrees, or at most those of all rows
        (Prior(0.04, 3.0), ROW, 0.9, 0, 1.894579 * (0.22 / 7 / 5) ** 0.5),
        (Prior(0.04, 3.0, 5.0), ROW, 0.9, 0, 2.015048 * (0.22 / 7 / 5) ** 0.5),
        # the shift counts once for a table, with a confidence of its own
        (ALONE, ROWS[0], 0.99, 0, 0.003977321),
        (SHARED, ROWS[0], 0.99, 0, math.hypot(0.003977321, 4.604095 * (3.225e-4 / 5) ** 0.5)),
        (SHARED, ROWS[0], 0.99, 0.95, math.hypot(0.003977321, 2.776445 * (3.225e-4 / 5) ** 0.5)),
        (SHARED.reversed(), -ROWS[0], 0.99, 0.95, 0.02265010),
        (replace(ALONE, scale=1.0), ROWS[0], 0.99, 0, 0.003977321 / (4 / 3) ** 0.5),
        # of a row of other sessions only its own variance counts
        (SHARED, ROWS[0, :4], 0.95, 0, 0.02735357),
    ],
)
def test_half_the_width_of_an_interval(
    prior: Prior, row: Floats, confidence: float, of_shared: float, half_width: float
) -> None:
    assert prior.half_width(row, confidence, of_shared) == pytest.approx(half_width, rel=1e-6)


def test_another_run_has_the_error_of_two_medians() -> None:
    row = np.log([99.0, 101, 100, 102, 98])
    assert another_run(100, row, NO_PRIOR) == pytest.approx((96.85712, 103.24486))


def test_spreads_are_in_per_cent_by_kind() -> None:
    found = Spreads({"transfer": 5.7}, {"transfer": 2.81})
    assert found.of_median(TRANSFERS[0]) == pytest.approx(0.02, rel=1e-3)
    assert found.of_ratio(TRANSFERS[0]) == pytest.approx(0.01, rel=1e-3)


LOGS = np.array([0.009, 0.011, 0.010, 0.012, 0.008])


@pytest.mark.parametrize(
    ("logs", "prior", "more", "expected", "verdict"),
    [
        (LOGS, NO_PRIOR, {"floor": 1}, (1.008069, 1.010050, 1.012035), "faster"),
        (
            LOGS,
            NO_PRIOR,
            {"floor": 1, "better": "lower"},
            (0.988108, 0.990050, 0.991995),
            "slower",
        ),
        (
            ROWS[3],
            SHARED,
            {"comparisons": 5},
            (0.978388, 1.004008, 1.030299),
            "no difference shown",
        ),
    ],
)
def test_a_ratio_of_sessions_is_their_mean_with_its_interval(
    logs: Floats,
    prior: Prior,
    more: dict[str, Any],
    expected: tuple[float, float, float],
    verdict: str,
) -> None:
    found = session_ratio(logs, prior, 30, **more)
    assert (found.low, found.value, found.high) == pytest.approx(expected, abs=1e-6)
    assert (found.verdict, found.paired, found.rounds, found.note) == (verdict, True, 30, None)
