"""Calls that are counted: a count may be zero, and counts are compared with what threads lost."""

from __future__ import annotations

import re
from typing import Any

import pytest

from synthetic import HANDSHAKES, TRANSFERS, implementation, report_of, run_of_rows
from tlsperf.contract.errors import FormatError
from tlsperf.contract.metrics import METRICS
from tlsperf.contract.record import Scenario
from tlsperf.contract.results import Results
from tlsperf.contract.run import RunCounter
from tlsperf.contract.text import value_text
from tlsperf.load.shortcodes import shortcodes
from tlsperf.report.statements import statements

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
    counts: dict[str, dict[Scenario, float]], metric: str = "mutex-locks", prose: str = ""
) -> Results:
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
    calls = shortcodes(prose, "index.md")
    return report_of(loaded, calls=calls, baseline=OPENSSL).results


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


def test_zero_has_its_place_in_a_rank() -> None:
    prose = '{{ rank(row="full-handshake-1-2-rsa-2048-client-mutex-locks") }}'
    counts = {name: {HANDSHAKES[0]: value} for name, value in ((OPENSSL, 9.0), (RUSTLS, 0.0))}
    (found,) = statements(report(counts), shortcodes(prose, "index.md"))
    assert re.search(r"best is rustls 0.23.41 \(0 .*OpenSSL 3.6.3 \(9 ", found.text)


EARLIER, LATER, COUNT = HANDSHAKES[0], HANDSHAKES[1], HANDSHAKES[2]


def predicted(counts: dict[str, tuple[float, float, float]], builds: str) -> str:
    """Of builds with a count, and their rates before and after."""
    rows = {name: dict(zip((COUNT, EARLIER, LATER), v, strict=True)) for name, v in counts.items()}
    prose = (
        '{{ predicts(row="full-handshake-1-2-ecdsa-p256-client-mutex-locks", report="rates", '
        'later="full-handshake-1-2-rsa-2048-server-mutex-locks", '
        f'earlier="full-handshake-1-2-rsa-2048-client-mutex-locks", builds="{builds}") }}}}'
    )
    results = report(rows)
    (found,) = statements(
        results, shortcodes(prose, "index.md"), lambda name: results if name == "rates" else None
    )
    return found.text


SAME = f"{OPENSSL}={OPENSSL} {RUSTLS}={RUSTLS} {BORINGSSL}={BORINGSSL}"


def test_counts_predict_where_fewer_go_with_more_that_is_kept() -> None:
    counts = {OPENSSL: (9.0, 100.0, 20.0), RUSTLS: (2.0, 400.0, 360.0), BORINGSSL: (3.0, 4.0, 2.0)}
    text = predicted(counts, SAME)
    in_order = (r"rustls 0.23.41 \({}\).*BoringSSL 1 \({}\).*OpenSSL 3.6.3 \({}\)",) * 2
    for order, figures in zip(in_order, ((2, 3, 9), ("0.90x", "0.50x", "0.20x")), strict=True):
        assert re.search(order.format(*figures), text)
    assert text.endswith("all 3 pairs have the same order")


def test_a_pair_in_another_order_is_named() -> None:
    counts = {OPENSSL: (9.0, 100.0, 20.0), RUSTLS: (4.0, 4.0, 4.0), BORINGSSL: (3.0, 4.0, 2.0)}
    text = predicted(counts, SAME)
    assert re.search("2 of 3 pairs .*: rustls 0.23.41 with BoringSSL 1$", text)


def test_equal_counts_predict_no_order() -> None:
    counts = {OPENSSL: (9.0, 100.0, 20.0), RUSTLS: (9.0, 4.0, 4.0)}
    assert "0 of 1 pairs" in predicted(counts, f"{OPENSSL}={OPENSSL} {RUSTLS}={RUSTLS}")


@pytest.mark.parametrize("builds", ["", f"{OPENSSL}={OPENSSL}", f"{OPENSSL} {RUSTLS}"])
def test_builds_are_pairs(builds: str) -> None:
    counts = {OPENSSL: (9.0, 100.0, 20.0), RUSTLS: (4.0, 4.0, 4.0)}
    with pytest.raises(FormatError, match="two pairs COUNTED=RATED and more"):
        predicted(counts, builds)


def test_rates_of_a_report_that_does_not_exist_are_an_error() -> None:
    prose = (
        '{{ predicts(row="full-handshake-1-2-ecdsa-p256-client-mutex-locks", '
        'report="2020-01-01-x", later="a", earlier="b", builds="a=b c=d") }}'
    )
    rows = {OPENSSL: dict.fromkeys((COUNT, EARLIER, LATER), 1.0)}
    with pytest.raises(FormatError, match="report '2020-01-01-x'"):
        statements(report(rows), shortcodes(prose, "index.md"))
