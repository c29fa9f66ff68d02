"""Instruction counts: read, compared without tests, and separate from times."""

from __future__ import annotations

import itertools
from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthetic import HANDSHAKES, TRANSFERS, counted_run, loaded_run, report_of
from test_tlsbench import block, lines, measurement
from tlsperf.analysis.changes import changes
from tlsperf.analysis.noise import alternate_rounds
from tlsperf.analysis.ratios import as_ratio, ratio_text
from tlsperf.analysis.series import MeasuredReport, measured
from tlsperf.analysis.statistics import counted_ratio
from tlsperf.contract.errors import FormatError
from tlsperf.contract.results import Results
from tlsperf.contract.run import HostFacts, Report
from tlsperf.load import tlsbench
from tlsperf.load.run import LoadedRun
from tlsperf.report.results import measured_report

OPENSSL, RUSTLS = "openssl-3.6.3", "rustls-0.23.41"


def report(run: str = "2026-11-21-a", openssl: float = 3e6, rounds: int = 2) -> MeasuredReport:
    counts = {OPENSSL: openssl, RUSTLS: 1e6}
    scenarios = [TRANSFERS[2], HANDSHAKES[0]]
    return report_of(counted_run(run, counts, scenarios, rounds), baseline=OPENSSL)


counts_of_rounds = st.lists(st.integers(1, 10**12), min_size=1, max_size=8)


@given(counts_of_rounds, counts_of_rounds)
def test_fewer_requires_more_than_1_percent_and_the_range_contains_the_ratio(
    ours: list[int], theirs: list[int]
) -> None:
    ratio = counted_ratio(ours, theirs, 1.01)
    assert ratio.low is not None
    assert ratio.high is not None
    assert ratio.low <= ratio.value * (1 + 1e-9)
    assert ratio.value <= ratio.high * (1 + 1e-9)
    assert np.isclose(ratio.value, np.median(theirs) / np.median(ours))
    other = counted_ratio(theirs, ours, 1.01)
    turned = {"faster": "slower", "slower": "faster"}
    assert other.verdict == turned.get(ratio.verdict, ratio.verdict)
    if max(ours) * 1.02 < min(theirs):
        assert ratio.verdict == "faster"
    if max(ours) >= min(theirs):
        assert ratio.verdict != "faster"


def test_counts_within_the_range_of_one_binary_show_no_difference() -> None:
    assert counted_ratio([1_000_000], [1_009_000], 1.01).verdict == "no difference shown"
    ratio = counted_ratio([1_000_000], [1_011_000], 1.01)
    assert ratio_text(ratio, "instructions") == "1.1% fewer"


def test_the_tables_are_those_of_instructions_and_less_is_better() -> None:
    results = report().results
    assert [(t.anchor, t.title, t.unit, t.better) for t in results.tables] == [
        ("instructions-per-mib", "Instructions per MiB", "instructions/MiB", "lower"),
        (
            "instructions-per-handshake",
            "Instructions per handshake",
            "instructions/handshake",
            "lower",
        ),
    ]
    for table in results.tables:
        assert "without AVX-512" in table.caption
        assert "callgrind (valgrind 3.19.0); median of 2 rounds" in table.caption
        assert "comparisons" not in table.caption
        for row in table.rows:
            openssl, rustls = row.cells
            assert rustls.best
            assert not openssl.best
            assert (openssl.text, rustls.text) == ("3,000,002", "1,000,002")
            assert rustls.ratio
            assert rustls.ratio.text == "3.00x fewer"
            assert not openssl.warnings
            assert not rustls.warnings
            assert row.anchor.endswith("-instructions")
    assert not results.warnings


def test_one_round_is_enough_for_a_count() -> None:
    cell = report(rounds=1).results.tables[0].rows[0].cells[1]
    assert cell.ratio
    assert cell.ratio.verdict == "faster"


def test_full_and_resumed_handshakes_share_the_table_of_counts() -> None:
    run = counted_run("2026-11-21-a", {RUSTLS: 1e6}, [HANDSHAKES[0], HANDSHAKES[-1]])
    (table,) = report_of(run).results.tables
    assert len(table.rows) == 2


def rates_run() -> LoadedRun:
    rounds = list(range(100, 130))
    return loaded_run(
        "2026-11-21-t", {i: {TRANSFERS[2]: [float(r) for r in rounds]} for i in (OPENSSL, RUSTLS)}
    )


def results_of(*runs: LoadedRun) -> Results:
    decided = Report.model_validate(
        {
            "id": "2026-11-21-both",
            "title": "Both",
            "date": date(2026, 11, 21),
            "runs": [run.run.id for run in runs],
            "baseline": OPENSSL,
        }
    )
    host = HostFacts(id="a-host", cpu="A CPU", architecture="x86_64")
    return measured_report(decided, [measured(run) for run in runs], {"a-host": host}).results


def test_counts_do_not_change_the_tables_of_times() -> None:
    counted = counted_run("2026-11-21-a", {OPENSSL: 3e6, RUSTLS: 1e6}, [TRANSFERS[2]])
    alone, both = results_of(rates_run()), results_of(rates_run(), counted)
    assert [t.anchor for t in both.tables] == ["transfer", "instructions-per-mib"]
    assert both.tables[0].rows[0].cells[1].ratio is not None
    cells = [table.rows[0].cells for table in (alone.tables[0], both.tables[0])]
    assert [c.value for c in cells[0]] == [c.value for c in cells[1]]
    assert alone.tables[0].caption == both.tables[0].caption


@pytest.mark.parametrize(
    ("factor", "verdict", "counted"),
    [
        (1.005, "no difference shown", "0 faster, 0 slower, 1 unchanged of 1 row"),
        (1.02, "faster", "1 faster, 0 slower, 0 unchanged of 1 row"),
        (1 / 1.02, "slower", "0 faster, 1 slower, 0 unchanged of 1 row"),
    ],
)
def test_a_change_counts_as_one_if_its_cell_shows_a_difference(
    factor: float, verdict: str, counted: str
) -> None:
    both = counted_run("2026-11-21-a", {OPENSSL: factor * 1e6, RUSTLS: 1e6}, [TRANSFERS[2]])
    cell = report_of(both, baseline=OPENSSL).results.tables[0].rows[0].cells[1]
    assert cell.ratio is not None
    assert cell.ratio.verdict == verdict
    before, after = (
        report_of(counted_run(run, {OPENSSL: count}, [TRANSFERS[2]]))
        for run, count in (("2026-11-20-a", factor * 1e6), ("2026-11-21-a", 1e6))
    )
    [library] = changes(before, after).libraries
    assert counted in library.statement
    shown = [change.ratio.verdict for change in library.changes]
    assert shown == ([] if verdict == "no difference shown" else [verdict])


def test_a_record_of_counts_has_no_time() -> None:
    record = measurement()
    del record["elapsed_seconds"]
    record["observations"] = [
        {"metric": "instructions", "value": 5067038.25, "unit": "instructions/MiB"}
    ]
    [row] = tlsbench.parse(lines(record, block()), "records.jsonl").rows
    assert (row.metric, row.value) == ("instructions", 5067038.25)


@pytest.mark.parametrize("unit", ["instructions", "instructions/handshake", "MiB/s"])
def test_counts_of_another_unit_are_rejected(unit: str) -> None:
    record = measurement()
    record["observations"] = [{"metric": "instructions", "value": 1.0, "unit": unit}]
    with pytest.raises(FormatError):
        tlsbench.parse(lines(record, block()), "records.jsonl")


def test_rounds_of_counts_against_each_other_show_no_difference() -> None:
    run = counted_run("2026-11-21-a", {OPENSSL: 3e6, RUSTLS: 1e6}, [TRANSFERS[2]], rounds=6)
    noise = alternate_rounds(measured(run))
    assert noise is not None
    assert noise.false_verdicts == 0
    assert "within 0.000% of 1" in noise.statement


def test_a_ratio_of_small_counts_agrees_with_its_text() -> None:
    for ours, theirs in itertools.permutations(range(1, 60), 2):
        ratio = as_ratio(counted_ratio([ours], [theirs], 1.005), "allocations")
        assert ratio.value == pytest.approx(theirs / ours, rel=5e-6)
