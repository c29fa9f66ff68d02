"""Counts of the wire: flights have their own table, and a range is from minimum to maximum."""

from __future__ import annotations

from typing import Any

from synthetic import HANDSHAKES, implementation, report_of, run_of_rows
from tlsperf.contract.metrics import METRICS
from tlsperf.contract.results import Results
from tlsperf.contract.run import RunCounter

NAME = "openssl-3.6.3"
ROUNDS = ({"value": 1301, "min": 1300, "max": 1302}, {"value": 1301, "min": 1299, "max": 1301})


def report(phases: tuple[str, ...] = ("total", "flight-1")) -> Results:
    """Two rounds of a handshake."""
    rows: list[dict[str, Any]] = [
        {
            "implementation": NAME,
            **HANDSHAKES[0].model_dump(),
            "phase": phase,
            "metric": "wire-bytes",
            "statistic": statistic,
            "unit": "bytes/handshake",
            "round": number,
            "value": float(value),
        }
        for phase in phases
        for number, values in enumerate(ROUNDS, start=1)
        for statistic, value in values.items()
        if phase == "total" or statistic == "value"
    ]
    counter = RunCounter(name="wire", version="tlsbench 0.1.0")
    loaded = run_of_rows("2026-11-23-wire", rows, [implementation(NAME)], counter=counter)
    return report_of(loaded).results


def test_a_range_has_the_least_and_the_largest_of_all_rounds() -> None:
    table, limits = report(("total",)).tables
    assert [row.cells[0].text for row in table.rows] == ["1,301"]
    assert limits.anchor == "wire-bytes-per-handshake-range"
    assert limits.by_phase, "no page shows it unless the report names it"
    assert limits.title == "Bytes on the wire per handshake, smallest and largest"
    found = [(row.statistic, row.cells[0].text) for row in limits.rows]
    assert found == [("min", "1,299"), ("max", "1,302")]


def test_flights_have_a_table_of_their_own() -> None:
    tables = {table.anchor: table for table in report().tables}
    assert set(tables) == {
        "wire-bytes-per-handshake",
        "wire-bytes-per-handshake-phases",
        "wire-bytes-per-handshake-range",
    }
    flights = tables["wire-bytes-per-handshake-phases"]
    assert flights.title == "Bytes on the wire per handshake by phase"
    assert [(row.phase, row.cells[0].text) for row in flights.rows] == [("flight-1", "1,301")]
    assert "varies in length; median of 2 rounds. The harness' own transport" in flights.caption


def test_only_connections_have_counts_of_the_wire() -> None:
    for metric in ("wire-bytes", "wire-records", "transport-reads", "read-size", "round-trips"):
        assert METRICS[metric].is_count
        assert METRICS[metric].units_of("handshake")
        assert not METRICS[metric].units_of("primitive")
    assert METRICS["wire-overhead"].units_of("transfer") == ("bytes/MiB",)
    assert not METRICS["wire-overhead"].units_of("handshake")
