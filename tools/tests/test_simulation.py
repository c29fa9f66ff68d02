"""The table of the simulation follows from the current statistics, and its promises are kept."""

from dataclasses import replace

import numpy as np
import pytest

import simulation
from simulation import Rate
from tlsperf.analysis import statistics


@pytest.mark.nightly
@pytest.mark.parametrize("noise", ["bimodal", "random walk"])
def test_the_committed_table_is_reproduced_and_its_promises_hold(noise: str) -> None:
    outcome = simulation.simulate(noise, seed=1)
    assert outcome.failures() == []
    assert simulation.row(outcome) in simulation.TABLE.read_text(encoding="utf-8").splitlines()


def test_a_broken_promise_is_named() -> None:
    good = simulation.Outcome(
        noise="normal",
        seed=1,
        false_per_scenario=Rate(100, 2000),
        false_per_report=Rate(100, 2000),
        coverage=Rate(1900, 2000),
        found=(Rate(2000, 2000), Rate(1800, 2000), Rate(0, 2000)),
    )
    assert good.failures() == []
    for broken in (
        replace(good, false_per_scenario=Rate(140, 2000)),
        replace(good, false_per_report=Rate(140, 2000)),
        replace(good, coverage=Rate(1860, 2000)),
        replace(good, coverage=Rate(1940, 2000)),
        replace(good, found=(Rate(2000, 2000), Rate(1799, 2000), Rate(0, 2000))),
    ):
        assert len(broken.failures()) == 1


def test_binomial_bounds_are_clopper_and_pearsons() -> None:
    low, high = Rate(0, 2000).bounds
    assert low == 0
    assert high == pytest.approx(1 - 0.005 ** (1 / 2000))


@pytest.mark.nightly
def test_the_spreads_are_those_of_real_runs() -> None:
    figures = np.vstack(list(simulation.real_rounds().values()))
    spreads = 100 * figures.std(axis=1, ddof=1) / figures.mean(axis=1)
    assert tuple(np.percentile(spreads, range(5, 100, 10)).round(2)) == simulation.SPREADS_PERCENT


@pytest.mark.nightly
def test_random_halves_of_real_runs_differ_as_often_as_claimed() -> None:
    rates = dict(simulation.real_halves(seed=2, splits=60))
    random = [rate for case, rate in rates.items() if case.startswith("random")]
    assert len(random) == 4
    for rate in [*random, rates["alternate runs, paired: each figure once"]]:
        assert rate.bounds[0] <= statistics.ALPHA
    by_chance = rates["random halves, unpaired: one figure"]
    assert by_chance.bounds[1] >= statistics.ALPHA / 2, "a test that never claims is no test"
