"""The pairs of a table: tested ones, ratios to the baseline, and one prior for a pair."""

from __future__ import annotations

from dataclasses import replace

import pytest

from synthetic import sample, series, single
from test_tables import (
    FAST,
    FULL,
    OURS,
    PAIRS,
    SLOW,
    THEIRS,
    THIRD,
    by_sessions,
)
from tlsperf.analysis.ratios import as_ratio, prior_of_ratios, sample_ratio, session_logs
from tlsperf.analysis.series import Sample, Series
from tlsperf.analysis.sessions import NO_PRIOR
from tlsperf.report import pairs
from tlsperf.report.pairs import PairPriors, prior_to, ratios_to


def test_only_rounds_are_tested_and_neither_parts_nor_counts_nor_maxima() -> None:
    samples = {OURS: FAST, THEIRS: single(1), THIRD: Sample()}
    assert pairs.tested_in(series(FULL, samples=samples)) == [OURS]
    for row in (
        series(FULL, "µs", "duration", phase="flight-1", samples=samples),
        series(FULL, "instructions/handshake", "instructions", samples=samples),
        series(FULL, "µs", "duration", "max", samples={OURS: Sample(FAST.valid, statistic="max")}),
    ):
        assert pairs.tested_in(row) == []


def test_a_row_has_the_ratio_of_each_other_implementation_to_its_baseline() -> None:
    row = series(FULL, samples={OURS: FAST, THEIRS: SLOW, THIRD: Sample()})
    found = ratios_to(row, THEIRS, PAIRS, NO_PRIOR)
    estimate = sample_ratio(FAST, SLOW, row, PAIRS, NO_PRIOR)
    assert estimate is not None
    assert found == {OURS: as_ratio(estimate, "rate")}
    assert found[OURS].verdict == "faster"
    assert ratios_to(row, None, PAIRS, NO_PRIOR) == {}
    assert ratios_to(row, "gnutls-3", PAIRS, NO_PRIOR) == {}
    slower = ratios_to(replace(row, metric="duration", unit="µs"), THEIRS, PAIRS, NO_PRIOR)
    assert slower[OURS].verdict == "slower"


def test_maxima_have_no_ratio_and_single_figures_one_with_a_note() -> None:
    most = {i: Sample(s.valid, statistic="max") for i, s in ((OURS, FAST), (THEIRS, SLOW))}
    row = series(FULL, "µs", "duration", "max", samples=most)
    assert ratios_to(row, THEIRS, PAIRS, NO_PRIOR) == {}
    one = series(FULL, samples={OURS: single(4), THEIRS: single(2)})
    [ratio] = ratios_to(one, THEIRS, PAIRS, NO_PRIOR).values()
    assert ratio.note == "single figures, without rounds to test"


def sessions(n: int, spread: float = 0.003) -> Sample:
    """Six sessions of two rounds, whose spread grows with `n`."""
    values = [2 * (1 + spread * n * ((i // 2) % 3)) for i in range(12)]
    return sample(*values, rounds_a_session=2)


def test_the_prior_of_a_table_is_of_its_ratios_to_the_baseline() -> None:
    def rows(count: int) -> list[Series]:
        return [
            series(FULL, samples={OURS: sessions(n), THEIRS: by_sessions(1.0)})
            for n in range(1, count + 1)
        ]

    found = prior_to(rows(6), THEIRS, PAIRS)
    logs = (session_logs(sessions(n), by_sessions(1.0), PAIRS.pairs) for n in range(1, 7))
    expected = prior_of_ratios(logs)
    assert (found.variance, found.degrees) == (expected.variance, expected.degrees)
    assert expected.variance != NO_PRIOR.variance
    assert prior_to(rows(6), None, PAIRS) == NO_PRIOR
    assert prior_to(rows(6), THIRD, PAIRS) == NO_PRIOR
    single_figures = [series(FULL, samples={OURS: single(2), THEIRS: single(1)})] * 6
    assert prior_to(single_figures, THEIRS, PAIRS) == NO_PRIOR


def test_a_pair_has_one_prior_in_both_directions() -> None:
    rows = [
        series(
            FULL,
            samples={
                OURS: sessions(n, 0.003),
                THEIRS: by_sessions(1.0),
                THIRD: sessions(7 - n, 0.009),
            },
        )
        for n in range(1, 7)
    ]
    priors = PairPriors(rows, THEIRS, PAIRS)
    to_theirs, to_third = (prior_to(rows, i, PAIRS) for i in (THEIRS, THIRD))
    assert to_theirs.variance != to_third.variance
    for one, other, expected in (
        (OURS, THEIRS, to_theirs),
        (THIRD, THEIRS, to_theirs),
        (OURS, THIRD, to_third),
    ):
        for pair in ((one, other), (other, one)):
            found = priors.of(*pair)
            assert (found.variance, found.degrees) == (expected.variance, expected.degrees)


@pytest.mark.parametrize("pair", [(OURS, THEIRS), (THIRD, THEIRS), (OURS, THIRD)])
def test_a_pair_and_its_inverse_have_one_interval(pair: tuple[str, str]) -> None:
    one, other = pair
    rows = [
        series(FULL, samples={OURS: sessions(n), THEIRS: by_sessions(1.0), THIRD: sessions(9 - n)})
        for n in range(1, 7)
    ]
    priors = PairPriors(rows, THEIRS, PAIRS)
    for row in rows:
        left, right = row.samples[one], row.samples[other]
        there = sample_ratio(left, right, row, PAIRS, priors.of(one, other))
        back = sample_ratio(right, left, row, PAIRS, priors.of(other, one))
        assert there is not None
        assert back is not None
        assert there.low is not None
        assert back.high is not None
        assert there.low == pytest.approx(1 / back.high)
