"""The committed table of the simulation is what the present statistics give, and it holds."""

from dataclasses import replace

import pytest

import simulation
from simulation import Rate


@pytest.mark.parametrize("noise", ["bimodal", "random walk"])
def test_committed_table_is_reproduced_and_its_promises_hold(noise: str) -> None:
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
