"""Calls that are counted: a count may be zero."""

from __future__ import annotations

from typing import Any

import pytest

from synthetic import HANDSHAKES, TRANSFERS, implementation, report_of, run_of_rows
from tlsperf.contract.metrics import METRICS
from tlsperf.contract.record import Scenario
from tlsperf.contract.results import Results
from tlsperf.contract.run import RunCounter
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


def report(counts: dict[str, dict[Scenario, float]], metric: str = "mutex-locks") -> Results:
    """One round of each."""
    rows: list[dict[str, Any]] = [
        {
            "implementation": name,
            **scenario.model_dump(),
            "metric": metric,
            "unit": METRICS[metric].units_of(scenario.operation)[0],
            "round": 1,
            "value": value,
        }
        for name, values in counts.items()
        for scenario, value in values.items()
    ]
    counter = RunCounter(name="calls", version="valgrind 3.19.0, strace 6.1")
    implementations = [implementation(name) for name in counts]
    loaded = run_of_rows("2026-11-23-calls", rows, implementations, counter=counter)
    return report_of(loaded, baseline=OPENSSL).results


def in_one_row(counts: dict[str, float]) -> Results:
    return report({name: {HANDSHAKES[0]: value} for name, value in counts.items()})


@pytest.mark.parametrize("metric", CALLS)
def test_each_count_has_a_unit_for_handshakes_and_for_transfers(metric: str) -> None:
    counts = {name: {HANDSHAKES[0]: 4.0, TRANSFERS[0]: 2.0} for name in (OPENSSL, RUSTLS)}
    tables = report(counts, metric).tables
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
    (row,) = in_one_row(counts).tables[0].rows
    assert [c.implementation for c in row.cells if c.best] == best
    assert [c.implementation for c in row.cells if c.tied] == tied
    for cell in row.cells:
        has_zero = 0 in (counts[cell.implementation], counts.get(OPENSSL))
        assert not (has_zero and cell.ratio)


def test_zero_is_best_in_a_claim() -> None:
    counts = {name: {HANDSHAKES[0]: value} for name, value in ((OPENSSL, 9.0), (RUSTLS, 0.0))}
    assert (
        failing(
            "mutex-locks: best is rustls and rustls in 0 and openssl in 9",
            figures_of(report(counts)),
        )
        is None
    )
