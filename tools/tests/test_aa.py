"""The table of the A/A test follows from the rates beside it."""

from __future__ import annotations

import tomllib

import numpy as np
import pytest

import aa
from fixture_run import ROOT
from synthetic import SIXTEEN, implementation, loaded_run
from tlsperf.contract.record import Scenario
from tlsperf.contract.run import HostFacts


@pytest.mark.nightly
def test_the_committed_table_and_the_guide_follow_from_the_rates() -> None:
    text = aa.MEASURED.read_text(encoding="utf-8")
    measured = aa.from_json(text)
    assert aa.to_json(measured) == text
    assert aa.table(measured) == aa.TABLE.read_text(encoding="utf-8")
    sides = sum(1 if s.operation == "client-hello" else 2 for s in aa.scenarios())
    assert len(measured.pairs) == sides * len(aa.PROGRAMS)
    assert {len(rates) for p in measured.pairs for rates in (p.left, p.right)} == {aa.ROUNDS}
    outside = [p for p in measured.pairs if aa.excludes_1(p.ratio())]
    stated = f"{len(outside)} of {len(measured.pairs)} exclude 1"
    assert stated in (ROOT / "docs" / "statistics.md").read_text(encoding="utf-8")


def test_the_suite_names_each_program_twice_and_each_scenario_once() -> None:
    suite = tomllib.loads(aa.suite())
    assert sorted(suite["implementations"]) == sorted([*aa.PROGRAMS] * 2)
    scenarios = [Scenario.model_validate(s) for s in suite["scenarios"]]
    assert scenarios == list(aa.scenarios())
    assert len(set(scenarios)) == len(scenarios)


def test_a_table_is_made_of_what_was_kept() -> None:
    pair = aa.Pair("transfer", "OpenSSL", [1.0, 2.0, 3.0], [1.0, 2.0, 3.5])
    kept = aa.Measured("a host", "2026-11-21", "3 rounds", [], [pair])
    assert aa.from_json(aa.to_json(kept)) == kept


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
