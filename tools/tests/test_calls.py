"""Calls that are counted: a count may be zero."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from synthetic import HANDSHAKES, TRANSFERS, counted_run, report_of
from tlsperf.contract.metrics import METRICS
from tlsperf.contract.record import Scenario
from tlsperf.contract.results import Results
from tlsperf.contract.text import value_text
from tlsperf.report.claims import failing, figures_of

OPENSSL, RUSTLS, BORINGSSL = "openssl-3.6.3", "rustls-0.23.41", "boringssl-1"
CALLS = (
    "allocations",
    "allocated-in-all",
    "peak-allocated",
    "frees",
    "mutex-locks",
    "read-locks",
    "write-locks",
    "locked-instructions",
    "kernel-calls",
)


def report(
    counts: dict[str, float],
    metric: str = "mutex-locks",
    scenarios: Sequence[Scenario] = HANDSHAKES[:1],
) -> Results:
    """One round of each."""
    run = "2026-11-23-calls"
    made = counted_run(run, counts, scenarios, rounds=1, metric=metric, more_a_round=0)
    return report_of(made, baseline=OPENSSL).results


@pytest.mark.parametrize("metric", CALLS)
def test_each_count_has_a_unit_for_handshakes_and_for_transfers(metric: str) -> None:
    scenarios = [HANDSHAKES[0], TRANSFERS[0]]
    tables = report({OPENSSL: 4.0, RUSTLS: 4.0}, metric, scenarios).tables
    units = {table.unit.partition("/")[2] for table in tables}
    assert units == ({""} if metric == "peak-allocated" else {"handshake", "MiB"})
    assert METRICS[metric].is_count
    assert not METRICS[metric].units_of("primitive")
    assert all("; median of 1 round. " in table.caption for table in tables)


def test_a_part_of_a_call_per_mebibyte_is_not_printed_as_none() -> None:
    assert value_text(0.0625, "calls/MiB") == "0.062"
    assert value_text(12, "allocations") == "12"


@pytest.mark.parametrize(
    ("counts", "best", "tied"),
    [
        ({OPENSSL: 9, RUSTLS: 0}, [RUSTLS], []),
        ({OPENSSL: 9, RUSTLS: 0, BORINGSSL: 0}, [], [RUSTLS, BORINGSSL]),
        ({OPENSSL: 0, RUSTLS: 3, BORINGSSL: 2}, [OPENSSL], []),
        ({OPENSSL: 9, RUSTLS: 3}, [RUSTLS], []),
        ({OPENSSL: 0}, [], []),
    ],
)
def test_zero_is_fewest_and_has_no_ratio(
    counts: dict[str, float], best: list[str], tied: list[str]
) -> None:
    (row,) = report(counts).tables[0].rows
    assert [c.implementation for c in row.cells if c.best] == best
    assert [c.implementation for c in row.cells if c.tied] == tied
    for cell in row.cells:
        has_zero = 0 in (counts[cell.implementation], counts.get(OPENSSL))
        assert not (has_zero and cell.ratio)


def test_zero_is_best_in_a_claim() -> None:
    claim = "mutex-locks: best is rustls and rustls in 0 and openssl in 9"
    assert failing(claim, [figures_of(report({OPENSSL: 9.0, RUSTLS: 0.0}))]) is None
