"""How far two runs differ: which runs are a pair, and what intervals come of it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from commands import tlsperf
from project import NEW, ROOT
from synthetic import SIXTEEN, Rates, implementation, in_sessions, loaded_run
from tlsperf.analysis.series import MeasuredRun, measured
from tlsperf.analysis.sessions import DEFAULT_SPREADS, VIRTUAL_SPREADS, spreads_of
from tlsperf.analysis.spreads import (
    PairOfRuns,
    agreement,
    foretold,
    is_repeatable,
    pairs_of,
    spreads_of_models,
)
from tlsperf.contract.record import Scenario
from tlsperf.contract.run import HostFacts, Source
from tlsperf.contract.spreads import ModelSpreads
from tlsperf.load.run import loader, read_runs
from tlsperf.load.spreads import read_spreads

ONE, TWO, THREE = "openssl-3.6.3", "boringssl-1", "rustls-1"
MODEL = "family 25, model 17, stepping 1"


def host(**facts: Any) -> HostFacts:
    fields = {"id": "a-host", "cpu": "A CPU", "architecture": "x86_64", "cpu_model": MODEL}
    return HostFacts(**{**fields, "virtual": True, **facts})


def run_of(
    day: int,
    factors: tuple[float, ...] = (1, 1, 1),
    only: Sequence[Scenario] = SIXTEEN,
    **more: Any,
) -> MeasuredRun:
    """A run of that day in November; each implementation is faster by a factor in some scenarios."""
    random = np.random.default_rng(day)
    rates: Rates = {
        i: {
            s: list(1000 * (factor if s in only else 1) * np.exp(random.normal(0, 0.002, 30)))
            for s in SIXTEEN
        }
        for i, factor in zip((ONE, TWO, THREE), factors, strict=True)
    }
    known = more.pop("known", [implementation(i) for i in rates])
    run = loaded_run(f"2026-11-{day}-a", rates, known, **{"host": host(), **more})
    return measured(in_sessions(run, 6))


def only_pair(*runs: MeasuredRun) -> PairOfRuns:
    [pair] = pairs_of(runs)
    return pair


def model(*runs: MeasuredRun) -> ModelSpreads:
    [found] = spreads_of_models(pairs_of(runs))
    return found


# --- which runs are a pair -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pairs", "more"),
    [
        (1, {}),
        (1, {"host": host(machine="a" * 16, kernel="6.2", id="another-name")}),
        (1, {"host": host(cpu_model=None)}),
        (0, {"host": host(cpu_model="family 26, model 2, stepping 1")}),
        (0, {"host": host(cpu_model="family 25, model 17, stepping 2")}),
        (0, {"host": host(cpu="Another CPU")}),
        (0, {"host": host(threads=4)}),
        (0, {"host": None}),
        (0, {"known": [implementation(i, commit="c" * 40) for i in (ONE, TWO, THREE)]}),
    ],
)
def test_two_runs_are_a_pair_if_builds_and_processor_model_are_the_same(
    pairs: int, more: dict[str, Any]
) -> None:
    first = run_of(20, host=host(threads=2))
    assert len(pairs_of([run_of(21, **more), first])) == pairs


@pytest.mark.parametrize(
    ("is_one", "changes"),
    [
        (True, {}),
        (False, {"source": Source(title="A page", url="https://example.org/")}),
        (False, {"host": None}),
    ],
)
def test_figures_of_others_are_not_repeated(is_one: bool, changes: dict[str, Any]) -> None:
    assert is_repeatable(run_of(20).loaded.run.model_copy(update=changes)) is is_one


def test_figures_are_those_that_a_reader_sees() -> None:
    pair = only_pair(run_of(20), run_of(21, (1.2, 1.2, 1.2)))
    assert len(pair.rates) == 3 * 16
    assert len(pair.ratios) == 3 * 16
    assert {round(of.log, 1) for of in pair.rates} == {round(np.log(1.2), 1)}
    assert max(abs(of.log) for of in pair.ratios) < 0.01


# --- spreads and agreement -----------------------------------------------------------------------


def test_a_spread_has_rates_and_ratios_and_is_made_of_all_pairs() -> None:
    found = model(run_of(20), run_of(21, (1.2, 1.2, 1.2)), run_of(22, (1.1, 1.1, 1.1)))
    assert (found.runs, found.days, found.pairs) == (3, 3, 3)
    of = found.kinds["transfer"]
    assert of.pairs == 3
    assert of.rates == pytest.approx(20, abs=1)
    assert of.ratios == pytest.approx(0.5, abs=0.3)


def test_a_host_that_changes_for_all_libraries_keeps_every_promise_about_ratios() -> None:
    runs = [run_of(20), run_of(21, (1.25, 1.24, 1.26)), run_of(22, (0.8, 0.82, 0.8))]
    known = spreads_of_models(pairs_of(runs))
    for pair in pairs_of(runs):
        found = agreement(pair, known)
        assert found.holds, found
        assert found.ratios == found.rates == 2 * 3 * 16


def test_two_runs_that_contradict_each_other_are_counted_and_then_prevented() -> None:
    pair = only_pair(run_of(20, (1, 1, 1.3)), run_of(21, (1.3, 1, 1)))
    without = agreement(pair, [])
    assert without.contradictions == 16
    assert not without.holds
    [known] = spreads_of_models([pair])
    assert agreement(pair, [known]).contradictions == 0


def test_a_run_on_a_changing_host_widens_what_all_promise() -> None:
    calm = [run_of(day) for day in range(10, 18)]
    some = (SIXTEEN[0], SIXTEEN[5], SIXTEEN[13])
    odd = run_of(20, (1, 1, 1.2), some)
    narrow = spreads_of_models(pairs_of(calm))[0].kinds["transfer"]
    pairs = pairs_of([*calm, odd])
    [known] = spreads_of_models(pairs)
    assert (known.kinds["transfer"].ratios or 0) > 4 * (narrow.ratios or 0)
    assert all(agreement(pair, [known]).holds for pair in pairs)


def test_a_rate_beyond_what_a_page_says_is_counted() -> None:
    known = model(run_of(20), run_of(21, (1.1, 1.1, 1.1)))
    far = only_pair(run_of(20), run_of(21, (1.3, 1.3, 1.3)))
    found = agreement(far, [known])
    assert (found.rates_within, found.ratios_hold, found.holds) == (0, True, False)


def test_a_day_is_foretold_by_the_others() -> None:
    calm = [run_of(day) for day in (20, 21)]
    assert all(of.ratios_hold for of in foretold(pairs_of(calm)))
    odd = [*calm, run_of(22, (1.5, 1, 1))]
    assert not all(of.ratios_hold for of in foretold(pairs_of(odd))), "no other day was like it"


def test_what_no_two_runs_of_a_model_have_is_assumed() -> None:
    known = [model(run_of(20), run_of(21, (1.2, 1.2, 1.3)))]
    own = spreads_of(host(), known)
    assert own.pairs["transfer"] == 1
    assert own.ratios["transfer"] > 5
    assert own.ratios["threads"] == VIRTUAL_SPREADS.ratios["threads"], "no pair has it"
    assert spreads_of(host(cpu="Another CPU"), known) == VIRTUAL_SPREADS
    assert spreads_of(host(cpu="Another CPU", virtual=False), known) == DEFAULT_SPREADS


@pytest.mark.nightly
def test_the_spreads_in_git_are_those_of_all_runs() -> None:
    runs = [run for run in read_runs(ROOT / "data" / "runs").values() if is_repeatable(run)]
    load = loader(ROOT / "data" / "runs")
    assert read_spreads(ROOT) == spreads_of_models(pairs_of(measured(load(it.id)) for it in runs))


# --- the command ---------------------------------------------------------------------------------


@pytest.fixture
def site(project: Path, tmp_path: Path) -> Path:
    """A copy of the project's runs."""
    shutil.copytree(project / "data", tmp_path / "data")
    shutil.copy(project / "config.toml", tmp_path)
    return tmp_path


def test_all_runs_make_the_file_and_two_runs_are_compared_with_it(site: Path) -> None:
    file = site / "data" / "spreads.json"
    every = tlsperf(site, "spreads")
    assert every.code == 0, every.errors
    known = json.loads(file.read_text(encoding="utf-8"))["models"]
    assert any(of["days"] > 1 for of in known)
    made = file.read_bytes()
    both = tlsperf(site, "spreads", "2026-11-07-versions", NEW)
    assert both.code == 0, both.errors
    assert "100.0% of" in both.out
    assert file.read_bytes() == made


def test_runs_that_nothing_repeats_are_named(site: Path) -> None:
    alone = tlsperf(site, "spreads", NEW)
    assert (alone.code, "expected two runs" in alone.errors) == (1, True)
    unknown = tlsperf(site, "spreads", NEW, "2026-11-22-nothing")
    assert unknown.code == 1
    assert "2026-11-22-nothing: found no such run" in unknown.errors
    for run in (site / "data" / "runs").iterdir():
        if run.name != NEW:
            shutil.rmtree(run)
    file = site / "data" / "spreads.json"
    file.write_text('{"schema": 1, "models": [}', encoding="utf-8")
    damaged = tlsperf(site, "validate")
    assert damaged.code == 1
    assert "data/spreads.json:1: found '}'" in damaged.errors
    single = tlsperf(site, "spreads")
    assert (single.code, "measure a suite again" in single.out) == (0, True)
    assert json.loads(file.read_bytes())["models"] == [], "what it had is no longer true"
