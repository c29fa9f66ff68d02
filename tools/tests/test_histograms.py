"""Histograms of latency: every handshake is at its time, in memory and in the file of a report."""

from __future__ import annotations

import base64
import csv
import struct
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from encoded_histogram import encoded
from reports import report
from test_hdr import WRITTEN
from tlsperf.contract.errors import FormatError
from tlsperf.contract.record import Scenario
from tlsperf.load import hdr
from tlsperf.load.histograms import Bin, _edge, _number, _recorded
from tlsperf.load.tlsbench import EncodedHistogram

IMPLEMENTATION = "openssl-3.6.3"
SCENARIO = Scenario(operation="handshake", protocol="1.3", side="server")


@given(st.floats(0.01, 1e7))
def test_a_time_is_in_the_bin_whose_edges_are_around_it(time: float) -> None:
    number = _number(time)
    assert _edge(number) <= time * (1 + 1e-12)
    assert time < _edge(number + 1) * (1 + 1e-12)
    assert _edge(number + 60) == pytest.approx(10 * _edge(number))


def test_recorded_histograms_keep_every_handshake_at_its_time() -> None:
    written = EncodedHistogram(1, IMPLEMENTATION, SCENARIO, WRITTEN)
    once, twice = (_recorded([written] * n, "f")[SCENARIO, IMPLEMENTATION] for n in (1, 2))
    assert sum(of.count for of in once) == 2312
    assert twice == [Bin(of.low, of.high, 2 * of.count) for of in once]
    assert once == sorted(once)
    middle = next(of for n, of in enumerate(once) if sum(b.count for b in once[: n + 1]) >= 1156)
    assert middle.low * 0.995 <= 82.623 <= middle.high * 1.005, "the median that the record has"
    for low, high, count in hdr.decode(WRITTEN):
        [of] = [b for b in once if b.low <= (low + high) / 2000 < b.high]
        assert of.count >= count


def test_histograms_of_two_scenarios_are_kept_apart() -> None:
    client = SCENARIO.model_copy(update={"side": "client"})
    found = _recorded(
        [
            EncodedHistogram(1, IMPLEMENTATION, SCENARIO, encoded({1000: 3})),
            EncodedHistogram(2, IMPLEMENTATION, client, encoded({1500: 4})),
            EncodedHistogram(3, "rustls-1.0", client, encoded({2000: 5})),
        ],
        "f",
    )
    assert {key: [of.count for of in bins] for key, bins in found.items()} == {
        (SCENARIO, IMPLEMENTATION): [3],
        (client, IMPLEMENTATION): [4],
        (client, "rustls-1.0"): [5],
    }
    [of] = found[client, "rustls-1.0"]
    assert of.low <= 2.0005 < of.high


def test_a_file_beside_the_page_has_every_handshake_of_a_histogram(project: Path) -> None:
    (path,) = (project / "content" / "perf").glob("*/latency-histogram.csv")
    with path.open(newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    counts: Counter[tuple[str, str]] = Counter()
    for line in lines:
        assert float(line["low_us"]) < float(line["high_us"])
        counts[line["name"], line["implementation"]] += int(line["count"])
    results = report(project, path.parent.name).results
    assert {name for _, name in counts} == {it.id for it in results.implementations}
    rounds = {cell.count for table in results.tables for row in table.rows for cell in row.cells}
    assert {count / 1000 for count in counts.values()} == rounds, "1,000 handshakes a round"


def test_an_invalid_histogram_is_reported_with_its_line() -> None:
    broken = base64.b64encode(struct.pack(">i", 1)).decode()
    with pytest.raises(FormatError, match=r"records.jsonl:7: .*V2"):
        _recorded([EncodedHistogram(7, IMPLEMENTATION, SCENARIO, broken)], "records.jsonl")
