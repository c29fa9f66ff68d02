"""The harness' cost is reported for each kind of figure, as its largest share."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from project import write_run
from synthetic import SIXTEEN, loaded_run, report_of, row
from tlsperf.analysis.overhead import overhead_text
from tlsperf.analysis.series import measured
from tlsperf.contract.record import Overhead, Scenario
from tlsperf.contract.results import Table
from tlsperf.load.run import LoadedRun, load_run


def test_the_largest_share_of_each_kind(tmp_path: Path) -> None:
    text = overhead_text(measured(load_run(write_run(tmp_path))))
    # 100 ns of a write of 64 KiB at 12 GiB a second, and of a resumed handshake of 42 µs
    assert text is not None
    assert re.fullmatch(
        r"The harness itself, driving a library that does nothing, takes at most 1\.\d% of a "
        r"transfer and 0\.2[345]% of a handshake; one read of the clock takes 25 ns\.",
        text,
    ), text


def test_a_run_without_overheads_has_no_statement_about_them() -> None:
    run = measured(loaded_run("2026-11-21-run", {"openssl-3": {SIXTEEN[0]: 1.0}}))
    assert overhead_text(run) is None


def run_of(scenario: dict[str, Any], figure: dict[str, Any], cost: dict[str, float]) -> LoadedRun:
    """A run with one figure and the harness' cost in it."""
    run = loaded_run("2026-11-21-run", {"openssl-3": {SIXTEEN[0]: 1.0}})
    overhead = Overhead(
        time=datetime(2026, 11, 21, tzinfo=UTC),
        round=1,
        implementation="openssl-3",
        clock_nanoseconds=25,
        scenario=Scenario.model_validate(scenario),
        **cost,
    )
    made = row(implementation="openssl-3", round=1, **scenario, **figure)
    return LoadedRun(run.run, [made], overheads=[overhead])


RATE = {"metric": "rate", "unit": "operations/s"}
HANDSHAKES = {"metric": "rate", "unit": "handshakes/s"}


@pytest.mark.parametrize(
    ("scenario", "figure", "cost", "expected"),
    [
        (
            {"operation": "transfer", "size": 1024},
            {"metric": "rate", "value": 1000.0, "unit": "MiB/s"},  # 977 ns a write
            {"nanoseconds": 97.7},
            "10.0% of a transfer;",
        ),
        (
            {"operation": "handshake", "threads": 2},
            {**HANDSHAKES, "value": 2000.0},  # 1 ms each
            {"nanoseconds": 1000},
            "0.10% of a handshake on several threads;",
        ),
        (
            {"operation": "handshake"},
            {"metric": "duration", "statistic": "p5", "value": 10.0, "unit": "µs"},
            {"nanoseconds": 100},
            "1.0% of a handshake's latency;",
        ),
        (
            {"operation": "client-hello"},
            {**RATE, "value": 10000.0},
            {"nanoseconds": 100},
            "0.10% of a ClientHello;",
        ),
        (
            {"operation": "primitive", "variant": "x25519-agree"},
            {**RATE, "value": 10000.0},
            {"nanoseconds": 100},
            "0.10% of a primitive;",
        ),
        (
            {"operation": "primitive", "variant": "aes-256-gcm-seal-1024"},
            {"metric": "rate", "value": 1000.0, "unit": "MiB/s"},
            {"nanoseconds": 9.77},
            "1.0% of a primitive;",
        ),
        (
            {"operation": "memory"},
            {
                "metric": "allocated",
                "phase": "handshake",
                "value": 8000.0,
                "unit": "bytes/connection",
            },
            {"bytes": 16},
            "0.20% of a connection's memory;",
        ),
        (
            {"operation": "memory", "variant": "sessions-100"},
            {"metric": "allocated", "phase": "data", "value": 100 * 1024.0, "unit": "bytes"},
            {"bytes": 1024},
            "1.0% of a connection's memory;",
        ),
    ],
)
def test_every_kind_of_figure_has_its_share(
    scenario: dict[str, Any], figure: dict[str, Any], cost: dict[str, float], expected: str
) -> None:
    text = overhead_text(measured(run_of(scenario, figure, cost)))
    assert text is not None
    assert f"takes at most {expected}" in text


SENDING = {"operation": "transfer", "size": 16384, "in_flight": 65536, "side": "sender"}


def shared_table(cost: dict[str, float], scenario: dict[str, Any] = SENDING) -> Table:
    """The table of a transfer whose writes take 1,000 ns each."""
    rate = scenario["size"] * 1e9 / 1000 / (1 << 20)
    run = run_of(scenario, {"metric": "rate", "value": rate, "unit": "MiB/s"}, cost)
    return report_of(run).results.tables[0]


def test_copies_calls_and_clock_of_a_transfer_are_reported_apart() -> None:
    table = shared_table({"nanoseconds": 10.0, "copies_nanoseconds": 213.0})
    # One read of the clock, 25 ns, for the four writes in flight.
    (share,) = table.harness or []
    assert (share.copies_percent, share.calls_percent, share.clock_percent) == (21.3, 0.375, 0.625)
    assert table.harness_statement == (
        "Of these times, copies to and from the transport take 21.3%; the calls and the clock of "
        "the harness take at most 1.0% together."
    )


def test_shares_have_three_digits_and_their_sum_is_rounded_up() -> None:
    """The bytes in flight are three writes and a part of one, which has no read of its own."""
    cost = {"nanoseconds": 10.5124, "copies_nanoseconds": 213.1234}
    table = shared_table(cost, {**SENDING, "in_flight": 60_000})
    (share,) = table.harness or []
    assert (share.copies_percent, share.calls_percent, share.clock_percent) == (21.3, 0.218, 0.833)
    assert (table.harness_statement or "").endswith("take at most 1.1% together.")
    small = shared_table({"nanoseconds": 7.0004, "copies_nanoseconds": 213.0})
    assert (small.harness_statement or "").endswith("take at most 0.71% together.")


def test_a_transfer_without_in_flight_reads_the_clock_once_a_mebibyte() -> None:
    scenario = {key: SENDING[key] for key in ("operation", "size", "side")}
    table = shared_table({"nanoseconds": 10.0, "copies_nanoseconds": 213.0}, scenario)
    (share,) = table.harness or []
    assert share.clock_percent == pytest.approx(100 * 25 / 64 / 1000, rel=1e-2)


def test_a_table_of_a_run_that_did_not_record_copies_has_no_shares() -> None:
    table = shared_table({"nanoseconds": 10.0})
    assert (table.harness, table.harness_statement) == (None, None)


def test_a_cost_is_time_or_memory() -> None:
    for cost in ({}, {"nanoseconds": 1.0, "bytes": 1.0}):
        with pytest.raises(ValueError, match="either nanoseconds or bytes"):
            run_of({"operation": "memory"}, {**RATE, "value": 1.0}, cost)
