"""The table of the spread of counts follows from the run it names."""

from __future__ import annotations

import pytest

import callgrind
from synthetic import TRANSFERS
from test_counts import OPENSSL, RUSTLS, counted_run
from tlsperf.load.run import LoadedRun, load_run


def run(difference: float, rounds: int = 5) -> LoadedRun:
    """Counts of each library that increase by `difference` per cent over the rounds."""
    one = 100 * (rounds - 1) / difference
    return counted_run("2026-11-21-a", {OPENSSL: one, RUSTLS: one}, [TRANSFERS[2]], rounds)


@pytest.mark.nightly
def test_the_committed_table_is_that_of_its_run() -> None:
    counted = load_run(callgrind.RUN)
    assert callgrind.failures(counted) == []
    assert callgrind.table(counted) == callgrind.TABLE.read_text(encoding="utf-8")
    implementations = {i.id for i in counted.run.implementations}
    for kind in ("transfer", "full handshake", "resumed handshake"):
        of_kind = [key for key in callgrind.spreads(counted) if kind in key[0]]
        assert {implementation for _, implementation in of_kind} == implementations
        assert any(name.startswith(f"TLS 1.3 {kind}") for name, _ in of_kind)


@pytest.mark.parametrize(
    ("percent", "broken"), [(0.05, []), (0.5, [OPENSSL]), (1.5, [OPENSSL, RUSTLS])]
)
def test_a_spread_above_the_limit_of_its_library_is_reported(
    percent: float, broken: list[str]
) -> None:
    found = callgrind.failures(run(percent))
    assert [
        implementation
        for implementation in (OPENSSL, RUSTLS)
        if any(implementation in f for f in found)
    ] == broken


def test_four_rounds_are_too_few() -> None:
    failures = callgrind.failures(run(0.05, 4))
    assert len(failures) == 2
    assert all("4 rounds, at least 5" in failure for failure in failures)
