"""The ratio of two samples: its direction, its pairs, and what widens it."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pytest

from synthetic import HANDSHAKES, NO_SPREAD, RUN, TRANSFERS, series, single, spreads
from tlsperf.analysis.ratios import (
    against_text,
    as_loss,
    as_ratio,
    common_rounds,
    direction,
    inverted,
    logs_by_session,
    paired_rounds_ratio,
    prior_of_ratios,
    ratio_text,
    sample_ratio,
    session_logs,
    shown_from,
)
from tlsperf.analysis.series import At, Rules, Sample, Series
from tlsperf.analysis.sessions import NO_PRIOR, Prior, fit_prior, session_ratio
from tlsperf.analysis.statistics import (
    RatioEstimate,
    counted_ratio,
    paired_ratio,
    unpaired_ratio,
    untested_ratio,
)
from tlsperf.contract.metric import Better
from tlsperf.contract.metrics import Metric, Statistic, Unit
from tlsperf.contract.results import Ratio, Verdict

PAIRS = Rules(pairs=frozenset([RUN]))
UNITS: dict[Metric, Unit] = {
    "rate": "handshakes/s",
    "duration": "µs",
    "instructions": "instructions/handshake",
}


def row(metric: Metric = "rate", statistic: Statistic = "value") -> Series:
    return series(HANDSHAKES[0], UNITS[metric], metric, statistic)


def sample(values: dict[int, float], rounds_a_session: int = 1000, run: str = RUN) -> Sample:
    """By round; `rounds_a_session` of them in each session."""
    at = {At(run, 1 + (n - 1) // rounds_a_session, n): value for n, value in values.items()}
    return Sample(valid=at)


def numbered(values: list[float] | np.ndarray) -> dict[int, float]:
    return {n: float(v) for n, v in enumerate(values, 1)}


def ratio_of(
    left: Sample,
    right: Sample,
    of: Series | None = None,
    rules: Rules = PAIRS,
    prior: Prior = NO_PRIOR,
) -> RatioEstimate:
    found = sample_ratio(left, right, of or row(), rules, prior)
    assert found is not None
    return found


SLOW = np.linspace(100, 104, 12)
FAST = SLOW / 2


@pytest.mark.parametrize("run", [RUN, "2026-11-20-b"], ids=["paired", "unpaired"])
def test_a_shorter_time_is_faster_and_a_lower_rate_is_slower(run: str) -> None:
    of_half = sample(numbered(FAST)), sample(numbered(SLOW), run=run)
    time = ratio_of(*of_half, row("duration"))
    rate = ratio_of(*of_half, row("rate"))
    assert (time.verdict, rate.verdict) == ("faster", "slower")
    assert time.paired is rate.paired is (run == RUN)
    assert time.value == pytest.approx(2, rel=0.02)
    assert rate.value == pytest.approx(0.5, rel=0.02)
    figures = single(5.0), single(10.0)
    assert ratio_of(*figures, row("duration")).value == pytest.approx(2)
    assert ratio_of(*figures, row("rate")).value == pytest.approx(0.5)


HOST = {n: 2.0 ** (n % 5) for n in range(1, 21)}
"""What the host does to each round: far more than the libraries differ by."""


def test_rounds_are_paired_by_their_number_and_not_by_their_position() -> None:
    left = {n: 1.1 * 1000 * f for n, f in HOST.items() if n != 1}
    right = {n: 1000 * f for n, f in HOST.items() if n != 20}
    found = ratio_of(sample(left), sample(right))
    assert found.rounds == 18
    assert found.value == pytest.approx(1.1)
    assert found.verdict == "faster"
    assert found.paired


def test_only_rounds_that_both_sides_have_in_a_run_of_pairs_are_common() -> None:
    left = sample({1: 1.0, 3: 1.0, 2: 1.0})
    left.merge(sample({1: 1.0, 2: 1.0}, run="2026-11-20-b"))
    right = sample({3: 1.0, 1: 1.0, 4: 1.0})
    right.merge(sample({1: 1.0}, run="2026-11-20-b"))
    assert common_rounds(left, right, PAIRS.pairs) == [At(RUN, 1, 1), At(RUN, 1, 3)]
    assert common_rounds(left, right, frozenset()) == []


def test_a_session_has_a_ratio_only_of_its_own_common_rounds() -> None:
    left, right = (
        sample({1: 2.0, 2: 8.0, 3: 3.0, 6: 5.0}, 2),
        sample({1: 1.0, 2: 2.0, 4: 1.0, 6: 1.0}, 2),
    )
    logs = {(RUN, 1): math.log(8) / 2, (RUN, 3): math.log(5)}
    assert logs_by_session(left, right, PAIRS.pairs) == pytest.approx(logs)
    assert session_logs(left, right, PAIRS.pairs) == pytest.approx(list(logs.values()))
    assert logs_by_session(left, right, frozenset()) == {}


@pytest.mark.parametrize("values", [{}, {1: 0.0, 2: 5.0}], ids=["nothing valid", "a zero"])
def test_without_something_that_counts_on_both_sides_there_is_no_ratio(
    values: dict[int, float],
) -> None:
    good = sample({1: 1.0, 2: 1.0})
    assert sample_ratio(sample(values), good, row(), PAIRS) is None
    assert sample_ratio(good, sample(values), row(), PAIRS) is None


def test_counts_are_compared_by_their_range_whether_or_not_rounds_are_common() -> None:
    of = row("instructions")
    left, right = sample({1: 100.0, 2: 101.0}), sample({3: 201.0, 4: 202.0})
    found = ratio_of(left, right, of)
    assert found == counted_ratio([100, 101], [201, 202], 1.01)
    assert found.verdict == "faster"
    assert ratio_text(found, "instructions") == "2.00x fewer (1.99 to 2.02)"
    assert paired_rounds_ratio([100, 101], [201, 202], "instructions") == found


def test_single_figures_have_a_ratio_and_no_test() -> None:
    rounds = sample(numbered(SLOW))
    one = single(50.0)
    for pair in ((one, rounds), (rounds, one)):
        found = ratio_of(*pair)
        assert found.verdict == "not tested"
        assert found.note == "single figures, without rounds to test"
        assert found.value == pytest.approx(pair[0].figure / pair[1].figure)
    named = sample_ratio(one, rounds, row(), PAIRS, untested="why not")
    assert named is not None
    assert named.note == "why not"


NOISE = np.exp(np.random.default_rng(3).normal(0, 0.002, (2, 30)))
OURS, THEIRS = 1015 * NOISE[0], 1000 * NOISE[1]


def test_an_unpaired_ratio_is_widened_by_the_drift_and_corrected() -> None:
    rules = Rules(drift=1.01, comparisons=20, floor=1.001)
    found = ratio_of(sample(numbered(OURS)), sample(numbered(THEIRS)), rules=rules)
    assert found == unpaired_ratio(OURS, THEIRS, 20, drift=1.01, floor=1.001)
    assert found.verdict == "no difference shown"
    alone = ratio_of(sample(numbered(OURS)), sample(numbered(THEIRS)), rules=Rules(floor=1))
    assert alone.verdict == "faster"
    near = replace(rules, drift=1.0, floor=1.1)
    found = ratio_of(sample(numbered(OURS)), sample(numbered(THEIRS)), rules=near)
    assert (found.note or "").endswith("; within the noise floor of 10%")


def test_a_ratio_of_figures_of_two_days_is_a_verdict_only_beyond_what_days_differ() -> None:
    rules = Rules(drift=1.001, spreads=spreads({"full-handshake": 0.1}))
    for factor, run, verdict in (
        (1.3, RUN, "faster"),
        (1.3, "2026-11-20-b", "no difference shown"),
        (1.4, "2026-11-20-b", "faster"),
    ):
        other = sample(numbered(THEIRS), run=run)
        assert ratio_of(sample(numbered(factor * OURS)), other, rules=rules).verdict == verdict


@pytest.mark.parametrize("rounds", [1000, 8])
def test_a_paired_ratio_is_widened_by_the_spread_between_runs_and_corrected(rounds: int) -> None:
    of_kind = spreads(ratios={"full-handshake": 0.01})
    rules = replace(PAIRS, comparisons=20, spreads=of_kind, floor=1.001, drift=9.0)
    ours, theirs = sample(numbered(OURS), rounds), sample(numbered(THEIRS), rounds)
    found = ratio_of(ours, theirs, rules=rules)
    expected = paired_ratio(OURS, THEIRS, 20, "higher", 0.01, 1.001)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert paired_ratio(OURS, THEIRS, 20).low != found.low, "the spread is in it"
    near = ratio_of(ours, theirs, rules=replace(PAIRS, spreads=NO_SPREAD, floor=1.1))
    assert near.note == "within the noise floor of 10%"


def test_from_five_sessions_on_they_are_the_observations() -> None:
    ours, theirs = sample(numbered(OURS), 6), sample(numbered(THEIRS), 6)
    logs = session_logs(ours, theirs, PAIRS.pairs)
    assert len(logs) == 5
    prior = Prior(1e-4, 3.0)
    rules = replace(PAIRS, comparisons=20, floor=1.001, drift=9.0)
    found = ratio_of(ours, theirs, rules=rules, prior=prior)
    spread = rules.spreads.of_ratio(HANDSHAKES[0])
    assert found == session_ratio(logs, prior, 30, 20, "higher", 1.001, spread)
    assert found.rounds == 30
    near = ratio_of(ours, theirs, rules=replace(rules, floor=1.1), prior=prior)
    assert near == session_ratio(logs, prior, 30, 20, "higher", 1.1, spread)
    assert near.verdict == "no difference shown"
    faster = ratio_of(ours, theirs, row("duration"), prior=prior)
    assert faster.value == pytest.approx(1 / found.value)


def test_the_prior_is_of_the_ratios_with_sessions_enough() -> None:
    random = np.random.default_rng(5)
    rows = [random.normal(0, 0.01 * n, 5) for n in range(1, 7)]
    found = prior_of_ratios([*rows, np.array([0.0, 5.0, 9.0, 1.0])])
    assert repr(found) == repr(fit_prior(rows)), "by their texts: arrays have no equality"
    assert repr(prior_of_ratios([])) == repr(NO_PRIOR)


def test_rounds_of_pairs_are_corrected_and_have_the_direction_of_their_metric() -> None:
    directions: dict[Metric, Better] = {"rate": "higher", "duration": "lower"}
    for metric, better in directions.items():
        for comparisons in (1, 20):
            found = paired_rounds_ratio(OURS.tolist(), THEIRS.tolist(), metric, comparisons)
            assert found == paired_ratio(OURS, THEIRS, comparisons, better, floor=1)


@pytest.mark.parametrize(
    ("verdict", "value", "expected"),
    [
        ("faster", 1.001, 1),
        ("slower", 0.999, -1),
        ("no difference shown", 9.0, 0),
        ("not tested", 1.05, 1),
        ("not tested", 1.049, 0),
        ("not tested", 1 / 1.05, -1),
        ("not tested", 0.96, 0),
        ("too few rounds", 2.0, 1),
    ],
)
def test_a_direction_is_the_verdict_or_where_there_is_none_the_size(
    verdict: Verdict, value: float, expected: int
) -> None:
    assert direction(RatioEstimate(value, None, None, verdict, True, 9), 1.05) == expected


def test_a_ratio_is_written_with_six_digits() -> None:
    found = as_ratio(RatioEstimate(1.23456789, 1.1111111, 1.3333333, "faster", True, 9), "rate")
    assert (found.value, found.low, found.high) == (1.23457, 1.11111, 1.33333)
    assert (found.verdict, found.paired, found.note) == ("faster", True, None)
    bare = as_ratio(untested_ratio(3, 2, "published"), "rate")
    assert (bare.low, bare.high, bare.note, bare.paired) == (None, None, "published", False)


Interval = tuple[float, float | None, float | None]
UP, DOWN, NONE = (1.2, 1.1, 1.3), (0.8, 0.5, 0.9), (1.2, None, None)


@pytest.mark.parametrize(
    ("verdict", "metric", "interval", "alone", "sentence"),
    [
        ("faster", "rate", UP, "1.20x faster (1.10 to 1.30)", "1.20x faster than B (1.10 to 1.30)"),
        (
            *("faster", "instructions", UP, "1.20x fewer (1.10 to 1.30)"),
            "1.20x fewer instructions than B (1.10 to 1.30)",
        ),
        (
            *("faster", "rate", (1.0002, 1.0001, 1.5), "1.0002x faster (1.0001 to 1.50)"),
            "1.0002x faster than B (1.0001 to 1.50)",
        ),
        (
            *("faster", "rate", (1.0002, 1 + 4e-16, 1.5)),
            *("1.0002x faster (1.000000000000000 to 1.50)",),
            "1.0002x faster than B (1.000000000000000 to 1.50)",
        ),
        (
            *("slower", "duration", DOWN, "1.25x slower (1.11 to 2.00)"),
            "1.25x slower than B (1.11 to 2.00)",
        ),
        (
            *("slower", "allocated", DOWN, "1.25x more (1.11 to 2.00)"),
            "1.25x more memory than B (1.11 to 2.00)",
        ),
        (
            *("no difference shown", "rate", UP, "no difference shown (10% would show)"),
            "no difference shown from B (10% would show)",
        ),
        (
            *("no difference shown", "rate", (0.99, 0.985, 1.01), "the same within 2%"),
            "the same as B within 2%",
        ),
        (
            *("no difference shown", "rate", (1.02, 0.98, 1.07)),
            *("no difference shown (5% would show)", "no difference shown from B (5% would show)"),
        ),
        (*("no difference shown", "instructions", (1.0, 1.0, 1.0)), "the same", "the same as B"),
        (
            "faster",
            "instructions",
            (13.0, 13.0, 13.0),
            "13.00x fewer",
            "13.00x fewer instructions than B",
        ),
        ("slower", "instructions", (0.5, 0.5, 0.5), "2.00x more", "2.00x more instructions than B"),
        (
            *("faster", "instructions", (1.0131, 1.0131, 1.0131)),
            *("1.3% fewer", "1.3% fewer instructions than B"),
        ),
        (
            *("slower", "instructions", (0.986923, 0.986923, 0.986923)),
            *("1.3% more", "1.3% more instructions than B"),
        ),
        ("not tested", "rate", UP, "1.20x (1.10 to 1.30)", "1.20x as fast as B (1.10 to 1.30)"),
        ("not tested", "stall", UP, "1.20x (1.10 to 1.30)", "1.20x as good as B (1.10 to 1.30)"),
        ("not tested", "rate", NONE, "1.20x", "1.20x as fast as B"),
        ("not tested", "allocated", NONE, "1.20x", "1.20x as good as B"),
        (
            *("too few rounds", "rate", NONE, "1.20x, too few rounds"),
            "1.20x as fast as B, too few rounds to test",
        ),
        (
            *("too few rounds", "instructions", NONE, "1.20x, too few rounds"),
            "1.20x as good as B, too few rounds to test",
        ),
    ],
)
def test_a_text_states_only_what_the_verdict_allows(
    verdict: Verdict, metric: Metric, interval: Interval, alone: str, sentence: str
) -> None:
    of = RatioEstimate(*interval, verdict, True, 9)
    assert ratio_text(of, metric) == alone
    assert against_text(as_ratio(of, metric), metric, "B") == sentence


@pytest.mark.parametrize(
    ("of", "text"),
    [
        (RatioEstimate(0.688, 0.684, 0.692, "slower", True, 9), "31.2% lost (30.8 to 31.6%)"),
        (RatioEstimate(1.03, 1.027, 1.033, "faster", True, 9), "3.0% gained (2.7 to 3.3%)"),
        (
            RatioEstimate(0.999, 0.98, 1.01, "no difference shown", True, 9),
            "no difference shown (2% would show)",
        ),
        (RatioEstimate(0.688, None, None, "too few rounds", True, 2), "31.2% lost, too few rounds"),
        (RatioEstimate(0.688, None, None, "not tested", False, 0), "31.2% lost, not tested"),
    ],
)
def test_a_loss_is_one_minus_the_ratio_and_no_other_text_is_accepted(
    of: RatioEstimate, text: str
) -> None:
    found = as_loss(of)
    assert found.text == text
    for number in re.findall(r"\d+\.\d", text):
        with pytest.raises(ValueError, match="a text of"):
            Ratio(**{**dict(found), "text": text.replace(number, f"{float(number) + 0.2:.1f}", 1)})


def test_transfers_and_handshakes_use_the_spread_of_their_kind() -> None:
    rules = replace(PAIRS, spreads=spreads(ratios={"transfer": 0.05}))
    transfer = replace(row(), scenario=TRANSFERS[0], unit="MiB/s")
    both = sample(numbered(OURS)), sample(numbered(THEIRS))
    narrow, wide = ratio_of(*both, rules=rules), ratio_of(*both, transfer, rules)
    assert narrow.high is not None
    assert wide.high is not None
    assert wide.high > 1.05 > narrow.high


def test_a_percentile_and_two_key_exchanges_have_the_spread_of_their_kind() -> None:
    rules = replace(PAIRS, spreads=spreads(ratios={"latency": 0.05, "key-exchange": 0.03}))
    both = sample(numbered(OURS)), sample(numbered(THEIRS))
    hybrid = row().scenario.model_copy(update={"key_exchange": "X25519MLKEM768"})
    other = replace(row(), scenario=hybrid)
    reach = [
        of.high / of.value
        for of in (
            sample_ratio(*both, row(), rules),
            sample_ratio(*both, row(), rules, against=other),
            sample_ratio(*both, row("duration", "p99"), rules),
        )
        if of and of.high
    ]
    assert reach == [pytest.approx(1, abs=0.01), *map(pytest.approx, sorted(reach)[1:])]
    assert 1.08 < reach[1] < reach[2]


def test_samples_of_two_hosts_have_no_ratio() -> None:
    other = "2026-11-20-b"
    both = sample(numbered(SLOW)), sample(numbered(FAST), run=other)
    rules = replace(PAIRS, hosts={RUN: "a", other: "b"})
    assert sample_ratio(*both, row(), rules) is None
    assert sample_ratio(*both, row(), replace(rules, hosts={RUN: "a", other: "a"})) is not None


def test_a_comparison_is_inverted_with_its_interval_its_verdict_and_its_note() -> None:
    found = inverted(as_ratio(RatioEstimate(*UP, "faster", True, 9, "why"), "rate"), "rate")
    assert (found.value, found.verdict, found.note) == (0.833333, "slower", "why")
    assert (found.low, found.high) == (0.769231, 0.909091)
    bare = inverted(as_ratio(untested_ratio(3, 2, "published"), "rate"), "rate")
    assert (bare.low, bare.high, bare.verdict) == (None, None, "not tested")
    assert bare.text == "0.67x"


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["no difference shown (7% would show)", "no difference shown (5% would show)"], "5 to 7%"),
        (["no difference shown (7% would show)"], "7%"),
        (["the same within 2%", "the same", "no difference shown (12% would show)"], "2 to 12%"),
    ],
)
def test_texts_of_no_difference_say_from_what_size_one_would_show(
    texts: list[str], said: str
) -> None:
    assert shown_from(texts) == f"{said} would show"
    assert shown_from(["the same"]) == ""


def test_no_difference_is_said_against_a_baseline() -> None:
    """A ratio within 2% is the same as the baseline, not the same from it."""
    for low, said in ((0.995, "the same as B within 2%"), (0.9, "no difference shown from B (")):
        ratio = as_ratio(RatioEstimate(1.0, low, 1.005, "no difference shown", True, 9), "rate")
        assert against_text(ratio, "rate", "B").startswith(said)


def test_a_size_of_many_times_is_accepted_as_it_was_rounded() -> None:
    estimate = RatioEstimate(
        2.890167437418293, 0.1525956710463127, 9.169090292731736, "no difference shown", True, 9
    )
    assert as_ratio(estimate, "rate").text == "no difference shown (19x would show)"
