"""Sessions as observations: moderated variances, intervals about another run, verdicts."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.random import Generator
from scipy import optimize, special, stats

import between_sessions
import session_simulation
import two_runs
from fixture_run import ROOT
from synthetic import SIXTEEN, TRANSFERS, Rates, implementation, in_sessions, loaded_run, report_of
from tlsperf.analysis.conditions import hosts_of
from tlsperf.analysis.series import MeasuredRun, measured
from tlsperf.analysis.sessions import (
    DEFAULT_SPREADS,
    MOST_DEGREES,
    NO_PRIOR,
    Prior,
    another_run,
    another_run_by_spread,
    fit_prior,
    kind_of,
    session_ratio,
    spreads_of,
)
from tlsperf.analysis.statistics import paired_ratio, unpaired_ratio
from tlsperf.contract.errors import UserError
from tlsperf.contract.results import Cell, Results, Table
from tlsperf.contract.run import Host, Run
from tlsperf.load.run import load_run, read_hosts

IDS = ["openssl-3.6.3", "boringssl-1", "rustls-1"]
RUN = "2026-11-21-a"


def test_without_a_prior_it_is_the_t_interval_of_the_row() -> None:
    row = np.array([0.1, 0.3, 0.2, 0.5, 0.4])
    expected = stats.t.ppf(0.975, 4) * row.std(ddof=1) / math.sqrt(5)
    assert NO_PRIOR.half_width(row, 0.95) == pytest.approx(expected)


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


def test_a_shared_shift_has_the_degrees_of_the_sessions() -> None:
    random = np.random.default_rng(2)
    host = np.array([0.02, 0.01, 0.0, -0.01, -0.02])
    rows = [host + random.normal(0, 0.001, 5) for _ in range(40)]
    prior = fit_prior(rows)
    assert prior.shared == pytest.approx(host, abs=0.001)
    assert prior.shared_variance == pytest.approx(host.var(ddof=1), rel=0.1)
    # 2.78 is Student's quantile of four degrees of freedom, 3.75 that of 98%.
    expected = host.std(ddof=1) / math.sqrt(5)
    assert prior.half_width(rows[0], 0.95) == pytest.approx(2.776 * expected, rel=0.1)
    assert prior.half_width(rows[0], 0.95, 0.98) == pytest.approx(3.747 * expected, rel=0.1)
    # A row of another table has other sessions, so only its own variance counts.
    assert prior.half_width(np.array([0.0, 0.002]), 0.95) < expected


def test_independent_rows_have_almost_no_shared_shift() -> None:
    random = np.random.default_rng(3)
    rows = [random.normal(0, 0.01, 5) for _ in range(400)]
    prior = fit_prior(rows)
    assert math.sqrt(prior.shared_variance) < 0.001
    assert prior.scale * prior.variance == pytest.approx(0.01**2, rel=0.1)


def test_rows_of_different_sessions_have_no_shared_shift() -> None:
    prior = fit_prior([np.array([0.1, 0.2, 0.3]), np.array([0.1, 0.2, 0.3, 0.2])])
    assert (prior.shared, prior.shared_variance) == (None, 0.0)


def test_a_known_spread_widens_the_interval_in_squares() -> None:
    low, high = another_run_by_spread(100, 99, 102, 1, 0)
    assert math.log(100 / low) == pytest.approx(math.sqrt(2) * math.log(100 / 99))
    assert math.log(high / 100) == pytest.approx(math.sqrt(2) * math.log(1.02))
    low, high = another_run_by_spread(100, 100, 100, 4, 0.01)
    assert math.log(high / 100) == pytest.approx(math.sqrt(2) * 1.96 * 0.01 / 2, rel=1e-4)
    rounds = 100 * np.exp(np.linspace(-0.01, 0.01, 30))
    one, wide = (paired_ratio(rounds, [100.0] * 30, spread=s) for s in (0, 0.02))
    assert one.high is not None
    assert wide.high is not None
    assert one.value == wide.value
    assert math.log(wide.high) == pytest.approx(math.hypot(math.log(one.high), 1.96 * 0.02), 1e-3)


def test_nothing_below_the_noise_floor_is_called_faster() -> None:
    rounds = np.linspace(100, 110, 30)
    for estimate in (
        paired_ratio(rounds * 1.01, rounds, floor=1.011),
        paired_ratio(rounds, rounds * 1.01, floor=1.011),
        unpaired_ratio(np.full(30, 101.0), np.full(30, 100.0), floor=1.011),
        session_ratio(np.full(5, 0.01), Prior(1e-8, math.inf), 30, floor=1.011),
    ):
        assert estimate.verdict == "no difference shown"
        assert "within the noise floor of 1.1%" in (estimate.note or "")
    assert paired_ratio(rounds * 1.012, rounds, floor=1.011).verdict == "faster"


# --- reports -------------------------------------------------------------------------------------


def drawn(random: Generator, factors: tuple[float, ...], effect: float = 0.003) -> Rates:
    """Random rates of five sessions of six rounds."""
    host = np.repeat(random.normal(0, effect, 5), 6)
    return {
        i: {
            s: list(
                1000
                * factor
                * np.exp(
                    host + np.repeat(random.normal(0, effect, 5), 6) + random.normal(0, 0.003, 30)
                )
            )
            for s in SIXTEEN
        }
        for i, factor in zip(IDS, factors, strict=False)
    }


def report(rates: Rates, sessions: bool = True, floor: float | None = None) -> Results:
    run = loaded_run(RUN, rates)
    return report_of(in_sessions(run, 6) if sessions else run, baseline=IDS[0], floor=floor).results


def first(table: Table) -> dict[str, Cell]:
    return {c.implementation: c for c in table.rows[0].cells}


def test_a_table_states_once_how_its_intervals_were_made() -> None:
    rates = drawn(np.random.default_rng(1), (1, 1, 1.3))
    table = report(rates).tables[0]
    assert table.interval_source == "sessions"
    assert "between the 5 sessions of the run" in (table.interval_note or "")
    one = report(rates, sessions=False).tables[0]
    assert one.interval_source == "default"
    assert "widened by a default of 0.48%" in (one.interval_note or "")
    values = [[c.value for row in t.rows for c in row.cells] for t in (table, one)]
    assert values[0] == values[1], "sessions change intervals, and no median"
    known = {
        "id": "a-host",
        "name": "A host",
        "cpu": "A CPU",
        "architecture": "x86_64",
        "between_sessions": {"runs": [RUN], "medians": {"transfer": 0.1}, "ratios": {}},
    }
    host = Host.model_validate(known)
    table = report_of(loaded_run(RUN, rates), [host], baseline=IDS[0]).results.tables[0]
    assert table.interval_source == "host"
    assert "0.10%, which earlier runs on this host" in (table.interval_note or "")
    assert spreads_of(host).medians["threads"] == DEFAULT_SPREADS.medians["threads"]


def test_a_spread_holds_for_the_machine_that_it_was_measured_on() -> None:
    facts = {"id": "a-host", "cpu": "A CPU", "architecture": "x86_64", "kernel": "6.1"}
    rates: Rates = {i: {TRANSFERS[0]: [1.0]} for i in IDS}

    def run_on(id_: str, **more: object) -> Run:
        return loaded_run(id_, rates, host=facts | more).run

    known = {"runs": [RUN, "2026-11-20-gone"], "medians": {"transfer": 0.1}, "ratios": {}}
    spread_of = Host.model_validate(facts | {"name": "A host", "between_sessions": known})
    hosts = {"a-host": spread_of}
    runs = {RUN: run_on(RUN, machine="a" * 16)}
    later = "2026-11-22-a"
    for run, holds in (
        (run_on(later, machine="a" * 16), True),
        (run_on(later, machine="b" * 16), False),
        (run_on(later, machine="a" * 16, kernel="6.2"), False),
        (run_on(later), False),
    ):
        found = spreads_of(hosts_of(run, hosts, runs)["a-host"])
        assert found.of_host is holds, run.host
        assert spreads_of(hosts_of(run, hosts, {})["a-host"]).of_host is False


def test_each_session_of_a_run_is_one_for_the_spread() -> None:
    rates = drawn(np.random.default_rng(4), (1, 1, 1.3))
    for rounds, expected in ((6, 5), (10, 0)):
        run = measured(in_sessions(loaded_run(RUN, rates), rounds))
        medians, ratios = between_sessions.spreads([run])
        for same in (medians, ratios):
            assert {len(of) for kind in same.values() for of in kind} == {expected} - {0}


def test_ratios_of_sessions_have_the_comparisons_of_rows_and_means() -> None:
    results = report(drawn(np.random.default_rng(1), (1, 1, 1.3)))
    assert "corrected for 38 comparisons" in results.tables[0].caption, "32 rows and 6 means"
    cells = first(results.tables[0])
    assert cells["rustls-1"].ratio is not None
    assert cells["rustls-1"].ratio.verdict == "faster"
    assert cells["boringssl-1"].ratio is not None
    assert cells["boringssl-1"].ratio.verdict == "no difference shown"


def test_best_is_a_verdict_and_leaders_are_tied_without_one() -> None:
    cells = first(report(drawn(np.random.default_rng(1), (1, 1, 1.3))).tables[0])
    assert [(c.best, c.tied) for c in cells.values()] == [(False, False)] * 2 + [(True, False)]
    cells = first(report(drawn(np.random.default_rng(1), (1, 1.3, 1.3))).tables[0])
    assert [(c.best, c.tied) for c in cells.values()] == [(False, False)] + [(False, True)] * 2


def test_single_figures_are_never_best_or_tied() -> None:
    single: Rates = {i: {TRANSFERS[0]: 1000.0 + n} for n, i in enumerate(IDS)}
    cells = first(report(single, sessions=False).tables[0])
    assert not any(c.best or c.tied for c in cells.values())


def test_the_floor_of_a_report_holds_for_its_verdicts() -> None:
    results = report(drawn(np.random.default_rng(1), (1, 1, 1.3)), floor=1.5)
    assert results.noise_floor_percent == 50
    verdicts = {c.ratio.verdict for t in results.tables for r in t.rows for c in r.cells if c.ratio}
    assert verdicts == {"no difference shown"}


def test_scenarios_have_a_kind() -> None:
    kinds = {kind_of(s) for s in SIXTEEN}
    assert kinds == {"transfer", "full-handshake", "resumed-handshake"}
    assert kind_of(SIXTEEN[0].model_copy(update={"threads": 2})) == "threads"
    assert kind_of(SIXTEEN[0].model_copy(update={"operation": "primitive"})) == "other"


def two(random: Generator, factors: tuple[float, ...], id_: str, sha: str = "a") -> MeasuredRun:
    programs = [implementation(i, binary_sha256=sha * 64) for i in IDS]
    return measured(in_sessions(loaded_run(id_, drawn(random, factors), programs), 6))


def test_two_runs_of_the_same_programs_agree() -> None:
    random = np.random.default_rng(3)
    now, then = two(random, (1, 1, 1.3), RUN), two(random, (1, 1, 1.3), "2026-11-20-a")
    found = two_runs.agreement(now, then, DEFAULT_SPREADS)
    assert found.medians == 2 * 3 * 16
    assert found.holds
    assert found.verdicts >= 32
    turned = two_runs.agreement(now, two(random, (1.3, 1, 1), "2026-11-20-a"), DEFAULT_SPREADS)
    assert not turned.holds
    assert len(turned.contradictions) == 16
    assert "verdicts contradict" in turned.text()
    with pytest.raises(UserError, match="no program"):
        two_runs.agreement(now, two(random, (1, 1, 1), "2026-11-20-a", sha="b"), DEFAULT_SPREADS)


# --- the texts of the benchmarks, and the runs that they name -------------------------------------


@pytest.mark.nightly
def test_spreads_of_known_hosts_are_those_of_their_runs() -> None:
    known = [host.between_sessions for host in read_hosts(ROOT / "data" / "hosts").values()]
    spreads = [of for of in known if of is not None]
    assert spreads
    for of in spreads:
        runs = [measured(load_run(between_sessions.RUNS / id_)) for id_ in of.runs]
        found = map(percents, between_sessions.spreads(runs))
        assert list(found) == [of.medians, of.ratios]


@pytest.mark.nightly
def test_default_spreads_are_those_of_their_runs_and_of_the_guide() -> None:
    folders = [between_sessions.RUNS / name for name in between_sessions.OF_ONE_DAY]
    medians, ratios = between_sessions.spreads([measured(load_run(f)) for f in folders])
    assert percents(medians) == DEFAULT_SPREADS.medians
    assert percents(ratios) == DEFAULT_SPREADS.ratios
    guide = (ROOT / "docs" / "statistics.md").read_text(encoding="utf-8")
    for kind, percent in DEFAULT_SPREADS.medians.items():
        assert f"{percent:.2f}%" in guide, kind


def percents(same: between_sessions.Same) -> dict[str, float]:
    return {k: round(between_sessions.spread_percent(of), 2) for k, of in same.items()}


@pytest.mark.nightly
def test_the_text_about_two_runs_is_the_output_of_the_program(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = (ROOT / "tools" / "benchmarks" / "two_runs.md").read_text(encoding="utf-8")
    command = (
        r"^    python tools/benchmarks/two_runs.py (\S+) (\S+)\n\nResult, with exit code (\d):$"
    )
    commands = re.findall(command, text, re.M)
    assert commands
    assert len(commands) == text.count("tools/benchmarks/two_runs.py")
    for run, other, code in commands:
        assert two_runs.main([run, other]) == int(code)
        assert capsys.readouterr().out in text, (run, other)


@pytest.mark.nightly
def test_the_simulation_of_sessions_holds() -> None:
    assert session_simulation.simulate(session_simulation.SETTINGS[0], pages=60).failures() == []


# --- the arithmetic of sessions, computed independently ------------------------------------------


def fitted(variances: list[float], degrees: list[int]) -> tuple[float, float]:
    """Variance and degrees of the prior by Smyth 2004, section 6.2, with scipy's root finder."""
    half = np.array(degrees) / 2
    e = np.log(variances) - special.digamma(half) + np.log(half)
    excess = float(e.var(ddof=1) - special.polygamma(1, half).mean())
    d = 2 * optimize.brentq(lambda x: special.polygamma(1, x) - excess, 1e-3, 1e6, xtol=1e-12)
    return float(np.exp(e.mean() + special.digamma(d / 2) - np.log(d / 2))), d


@pytest.mark.parametrize("spread", [1.2, 3.0, 9.0])
def test_the_prior_is_the_one_of_its_definition(spread: float) -> None:
    random = np.random.default_rng(2)
    rows = [row[: 5 + n % 3] for n, row in enumerate(random.normal(0, 0.01, (9, 8)))]
    rows = [row * spread ** (n - 4) for n, row in enumerate(rows)]
    prior = fit_prior([*rows, np.zeros(5)])
    variance, degrees = fitted([row.var(ddof=1) for row in rows], [len(row) - 1 for row in rows])
    assert (prior.variance, prior.degrees) == pytest.approx((variance, degrees), rel=1e-6)
    assert prior.pooled == sum(len(row) - 1 for row in rows), "a row without a variance is none"


def shifted_rows() -> np.ndarray[Any, np.dtype[np.float64]]:
    """Rows on levels of their own that share the shifts of five sessions."""
    random = np.random.default_rng(6)
    levels, shifts = np.array([[5.0], [-3.0], [1.0], [0.0]]), random.normal(0, 0.03, 5)
    return levels + shifts + random.normal(0, 0.01, (4, 5))


def test_the_shift_that_rows_share_is_the_one_of_its_definition() -> None:
    rows = shifted_rows()
    prior = fit_prior(list(rows))
    alone = [row - row.mean() for row in rows]
    shift = [float(np.mean([row[n] for row in alone])) for n in range(5)]
    rest = sum((row[n] - shift[n]) ** 2 for row in alone for n in range(5)) / (3 * 4)
    assert prior.shared == pytest.approx(shift)
    assert prior.shared_variance == pytest.approx(np.var(shift, ddof=1) - rest / 4)
    assert prior.scale == pytest.approx(4 / 3)


def test_the_shift_counts_once_for_a_table_and_turns_with_its_ratios() -> None:
    rows = shifted_rows()
    prior = fit_prior(list(rows))
    own = replace(prior, shared_variance=0.0).half_width(rows[0], 0.99)
    assert prior.shared is not None
    together = float(stats.t.ppf(0.975, 4)) * math.sqrt(prior.shared_variance / 5)
    assert prior.half_width(rows[0], 0.99, of_shared=0.95) == pytest.approx(
        math.hypot(own, together)
    )
    found = session_ratio(rows[3], prior, 30, comparisons=5)
    half = prior.half_width(rows[3], 0.99, of_shared=0.95)
    assert found.high == pytest.approx(math.exp(rows[3].mean() + half))
    turned = prior.reversed()
    assert turned.shared == pytest.approx(-prior.shared)
    assert turned.half_width(-rows[0], 0.95) == pytest.approx(prior.half_width(rows[0], 0.95))
    assert NO_PRIOR.reversed() == NO_PRIOR


def test_the_variance_of_a_row_is_scaled_for_the_shift_that_was_taken_away() -> None:
    rows = list(shifted_rows())
    prior = fit_prior(rows)
    bare = replace(prior, shared_variance=0.0)
    assert bare.half_width(rows[0], 0.95) == pytest.approx(
        math.sqrt(4 / 3) * replace(bare, scale=1.0).half_width(rows[0], 0.95)
    )


def test_two_rows_make_a_prior_and_equal_variances_the_most_of_one() -> None:
    row = np.array([0.1, 0.3, 0.2, 0.5, 0.4])
    equal = fit_prior([row, -row])
    assert (equal.degrees, equal.pooled) == (MOST_DEGREES, 8)
    assert (equal.shared_variance, equal.scale) == (0, 2)
    half = 4 / 2
    expected = float(row.var(ddof=1)) * half / math.exp(special.digamma(half))
    assert equal.variance == pytest.approx(expected)
    assert fit_prior([row, np.zeros(4)]) is NO_PRIOR


def test_an_infinite_prior_has_the_degrees_of_all_rows_which_limit_each_row() -> None:
    same, row = np.array([0.1] * 4), np.array([0.1, 0.3, 0.2, 0.5, 0.4])
    expected = stats.norm.ppf(0.975) * 0.2 / 2
    assert Prior(0.04, math.inf).half_width(same, 0.95) == pytest.approx(expected)
    width = float(stats.t.ppf(0.975, 8)) * math.sqrt(0.04 / 5)
    assert Prior(0.04, math.inf, 8).half_width(row, 0.95) == pytest.approx(width)
    moderated = (3 * 0.04 + 4 * row.var(ddof=1)) / 7
    for pooled, degrees in ((math.inf, 7), (5.0, 5)):
        width = float(stats.t.ppf(0.95, degrees)) * math.sqrt(moderated / 5)
        assert Prior(0.04, 3.0, pooled).half_width(row, 0.9) == pytest.approx(width)


def test_another_run_has_the_error_of_two_medians() -> None:
    row = np.log([99.0, 101, 100, 102, 98])
    half = math.sqrt(2) * 1.15 * NO_PRIOR.half_width(row, 0.95)
    expected = (100 * math.exp(-half), 100 * math.exp(half))
    assert another_run(100, row, NO_PRIOR) == pytest.approx(expected)


def test_spreads_are_in_per_cent_by_kind() -> None:
    assert DEFAULT_SPREADS.of_median(TRANSFERS[0]) == pytest.approx(0.0048)
    assert DEFAULT_SPREADS.of_ratio(TRANSFERS[0]) == pytest.approx(0.0022)


def test_a_ratio_of_sessions_is_their_mean_with_its_interval() -> None:
    logs = np.array([0.009, 0.011, 0.010, 0.012, 0.008])
    half = NO_PRIOR.half_width(logs, 0.95)
    found = session_ratio(logs, NO_PRIOR, 30)
    assert (found.low, found.value, found.high) == pytest.approx(
        [math.exp(0.01 + sign * half) for sign in (-1, 0, 1)]
    )
    assert (found.verdict, found.paired, found.rounds, found.note) == ("faster", True, 30, None)
    fewer = session_ratio(logs, NO_PRIOR, 30, 1, "lower")
    assert fewer.verdict == "slower"
    assert fewer.value == pytest.approx(1 / found.value)
