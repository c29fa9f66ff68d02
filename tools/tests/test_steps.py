"""Steps by night: found where they are, and rarely where there are none."""

from __future__ import annotations

import math

import numpy as np
import pytest

import step_rates
from step_rates import (
    HEAVY,
    HELD,
    LEVEL,
    NIGHTS,
    NORMAL,
    ROUNDS,
    SERIES,
    STAYS,
    Noise,
    alarms,
    nights,
    share_found,
)
from tlsperf.analysis import steps as module
from tlsperf.analysis.steps import (
    FEWEST,
    FEWEST_OWN,
    FLOOR,
    RATE,
    Found,
    limit,
    steps,
    usual_difference,
    usual_of_series,
)


@pytest.mark.nightly
@pytest.mark.parametrize("noise", HELD, ids=[noise.name for noise in HELD])
def test_nights_without_a_step_alarm_at_most_at_the_stated_rate(noise: Noise) -> None:
    assert alarms(noise, 60) <= RATE


@pytest.mark.nightly
def test_the_rate_holds_in_the_first_nights_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step_rates, "NIGHTS", 7)
    for noise in (STAYS, HELD[-1]):
        assert alarms(noise, 300) <= RATE


@pytest.mark.nightly
def test_the_simulation_notices_a_limit_that_is_too_low(monkeypatch: pytest.MonkeyPatch) -> None:
    """That of normal noise, where tails are heavy."""
    monkeypatch.setattr(module, "TAILS", 1000)
    assert alarms(HEAVY, 10) > RATE


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("percent", "noise", "share"), [(2, NORMAL, 0.95), (2, STAYS, 0.95), (5, HEAVY, 1.0)]
)
@pytest.mark.parametrize("sign", [1, -1])
def test_a_step_in_one_series_is_found(
    percent: float, noise: Noise, share: float, sign: int
) -> None:
    assert share_found(noise, 1 + sign * percent / 100, 40) >= share


@pytest.mark.nightly
@pytest.mark.parametrize("percent", [0.5, 1])
def test_a_small_step_is_found_where_builds_repeat_as_rounds_do(percent: float) -> None:
    assert share_found(NORMAL, 1 + percent / 100, 20, ROUNDS) >= 0.95


def flat(count: int = 20) -> list[list[float | None]]:
    return [[LEVEL] * count for _ in range(SERIES)]


def test_a_step_has_both_counts_and_its_night() -> None:
    values = flat()
    values[3][12:] = [LEVEL * 1.05] * 8
    [step] = steps(values).steps
    assert (step.series, step.night) == (3, 12)
    assert (step.before, step.after) == (LEVEL, LEVEL * 1.05)
    assert step.ratio == pytest.approx(1.05)


def test_nights_to_come_change_no_earlier_verdict() -> None:
    values = nights(5, HEAVY)
    values[1, 20:] *= 1.03
    values[4, 40:] *= 0.97
    whole = steps(values.tolist()).steps
    assert len(whole) >= 2
    for until in range(1, NIGHTS):
        assert steps(values[:, :until].tolist()).steps == [s for s in whole if s.night < until]


def test_a_night_without_a_figure_is_passed_over() -> None:
    values = flat()
    values[0] = [LEVEL] * 9 + [None, None] + [LEVEL * 1.02] * 9
    [step] = steps(values).steps
    assert (step.series, step.night, step.before) == (0, 11, LEVEL)


def test_a_series_that_differs_more_needs_a_larger_step() -> None:
    """Its differences are ten times those of the others, and one of twenty times is no step."""
    values = nights(3, NORMAL, ROUNDS)
    values[0] = nights(4, NORMAL, 10 * ROUNDS)[0]
    for at in (0, 1):
        values[at, 40:] *= 1 + 20 * ROUNDS
    found = {step.series for step in steps(values.tolist()).steps}
    assert found == {1}


def test_too_few_nights_give_no_verdict() -> None:
    quiet = FEWEST // 2 + 1
    values = [[LEVEL] * quiet + [LEVEL * 2], [LEVEL] * (quiet + 1)]
    assert (len(steps(values).steps), steps(values).judged) == (1, 1)
    assert steps([v[1:] for v in values]) == Found([], 0)
    assert steps([]) == Found([], 0)


def test_nights_with_a_verdict_are_counted() -> None:
    assert SERIES >= FEWEST, "the first differences are enough"
    assert steps(flat(20)).judged == 20 - 1 - FEWEST_OWN


def test_a_series_that_is_watched_alone_has_the_limit_of_one() -> None:
    beyond_one = math.exp(FLOOR * (limit(1) + limit(2)) / 2)
    values = [LEVEL] * 12 + [LEVEL * beyond_one]
    assert [step.night for step in steps([values]).steps] == [12]
    assert steps([values, [LEVEL] * 13]).steps == []


def test_rounds_of_one_build_differ_by_no_step() -> None:
    """Also if all nights before are equal: otherwise a change of the last digit would be a step."""
    assert usual_difference(np.zeros(50)) == FLOOR
    values = flat()
    values[0][10:] = [LEVEL * 1.0007] * 10
    assert steps(values).steps == []


def test_the_usual_difference_is_the_upper_limit_of_the_median() -> None:
    """Of 100 the 60th: the median and 1.96 standard deviations of its rank, which is 5."""
    differences = np.array([(-1) ** n * n / 1000 for n in range(1, 101)])
    assert usual_difference(differences) == pytest.approx(0.060)
    differences[-40:] *= 1000  # steps
    assert usual_difference(differences) == pytest.approx(0.060)
    assert usual_difference(np.array([0.001, -0.003])) == pytest.approx(0.003)


def test_the_usual_difference_of_a_series_is_its_median_or_of_few_the_second_largest() -> None:
    assert usual_of_series(np.array([0.001, -0.005, 9.0, 0.002, 0.0])) == 0.005
    few = np.array([0.001, -0.002, 0.003, -0.004, 0.005, 0.006, 9.0])
    assert usual_of_series(few) == 0.006
    assert usual_of_series(np.append(few, 0.002)) == pytest.approx(0.0035)


def test_more_series_need_more_evidence() -> None:
    assert limit(1) < limit(8) < limit(16)
    # Tables of t with 4 degrees of freedom: 4.604 at 0.5%, 0.741 at 25%.
    assert limit(1) == pytest.approx(4.604 / 0.741, rel=0.001)
