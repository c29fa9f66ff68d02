"""The committed table of the A/A test follows from the rates beside it."""

from __future__ import annotations

import tomllib

import numpy as np
import pytest

import aa
from fixture_run import ROOT
from synthetic import SIXTEEN, implementation, loaded_run
from tlsperf.contract.record import Scenario
from tlsperf.contract.run import HostFacts

MEASURED = aa.from_json(aa.MEASURED.read_text(encoding="utf-8"))


def test_committed_table_is_reproduced() -> None:
    assert aa.table(MEASURED) == aa.TABLE.read_text(encoding="utf-8")
    assert aa.to_json(MEASURED) == aa.MEASURED.read_text(encoding="utf-8")


def test_every_scenario_was_measured_for_each_program() -> None:
    sides = sum(1 if s.operation == "client-hello" else 2 for s in aa.scenarios())
    assert len(MEASURED.pairs) == sides * len(aa.PROGRAMS)
    assert {len(rates) for p in MEASURED.pairs for rates in (p.left, p.right)} == {aa.ROUNDS}


def test_the_suite_names_each_program_twice_and_each_scenario_once() -> None:
    suite = tomllib.loads(aa.suite())
    assert sorted(suite["implementations"]) == sorted([*aa.PROGRAMS] * 2)
    scenarios = [Scenario.model_validate(s) for s in suite["scenarios"]]
    assert scenarios == list(aa.scenarios())
    assert len(set(scenarios)) == len(scenarios)


@pytest.mark.parametrize(("factor", "expected"), [(1.0, "0 of 1, 0.0%"), (1.05, "1 of 1, 100.0%")])
def test_a_difference_is_counted(factor: float, expected: str) -> None:
    left = list(1000 * np.exp(np.random.default_rng(1).normal(0, 0.01, 15)))
    right = [factor * rate for rate in np.random.default_rng(2).permutation(left)]
    pair = aa.Pair("transfer", "OpenSSL", left, right)
    text = aa.table(aa.Measured("a host", "2026-11-21", "15 rounds", [], [pair]))
    assert f"**Intervals that exclude 1**: {expected}" in text


def test_the_duplicates_of_a_run_are_kept() -> None:
    ids = ["openssl-3.6.3", "openssl-3.6.3-repeat-2", "rustls-1.0"]
    duplicates = [implementation(i, binary_sha256="a" * 64) for i in ids[:2]]
    rates = {i: {SIXTEEN[0]: [100.0, 101.0, 102.0]} for i in ids}
    host = HostFacts(id="a-host", cpu="A CPU", architecture="x86_64", virtual=True)
    run = loaded_run("2026-11-21-aa", rates, [*duplicates, implementation(ids[2])], host=host)
    kept = aa.kept(run)
    assert [(p.implementation, p.left) for p in kept.pairs] == [
        ("OpenSSL 3.6.3", [100.0, 101.0, 102.0])
    ]
    assert "a virtual machine" in kept.host


def test_the_guide_has_the_figures_of_the_table() -> None:
    outside = [p for p in MEASURED.pairs if aa.excludes_1(p.ratio())]
    said = f"{len(outside)} of {len(MEASURED.pairs)} exclude 1"
    assert said in (ROOT / "docs" / "statistics.md").read_text(encoding="utf-8")
