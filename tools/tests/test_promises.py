"""What the page Method promises about figures and verdicts holds for every report."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from reports import reports
from synthetic import (
    HANDSHAKES,
    SIXTEEN,
    Rates,
    counted_run,
    implementation,
    in_sessions,
    loaded_run,
    report_of,
    run_of_rows,
)
from test_counts import OPENSSL, RUSTLS
from tlsperf.analysis.noise import verdict_floor
from tlsperf.analysis.series import measured
from tlsperf.contract.metrics import METRICS
from tlsperf.contract.results import Ratio, Results, Row, Table
from tlsperf.contract.run import HostFacts, Report
from tlsperf.report.results import measured_report

TESTED = frozenset({"faster", "slower", "no difference shown", "too few rounds"})

# --- figures -------------------------------------------------------------------------------------


def made_rates() -> Rates:
    random = np.random.default_rng(3)
    return {
        i: {s: list(f * np.exp(random.normal(0, 0.01, 30))) for s in SIXTEEN}
        for i, f in (("openssl-1", 1000.0), ("rustls-2", 1100.0))
    }


def hodges_lehmann(logs: list[float]) -> float:
    """By definition: the median of the means of all pairs, including each value with itself."""
    pairs = itertools.combinations_with_replacement(logs, 2)
    return float(np.median([(a + b) / 2 for a, b in pairs]))


@pytest.mark.parametrize("sessions", [1, 5])
def test_a_ratio_is_hodges_and_lehmanns_averaged_over_sessions(sessions: int) -> None:
    rates = made_rates()
    run = in_sessions(loaded_run("2026-11-21-a", rates), 30 // sessions)
    results = report_of(run, baseline="openssl-1").results
    row = results.tables[0].rows[0]
    ours, theirs = (np.array(rates[i][row.scenario]) for i in ("rustls-2", "openssl-1"))
    logs = np.log(ours / theirs).reshape(sessions, -1)
    expected = np.exp(np.mean([hodges_lehmann(part.tolist()) for part in logs]))
    (ratio,) = [cell.ratio for cell in row.cells if cell.ratio]
    assert ratio.value == pytest.approx(expected, rel=1e-5)
    medians = np.median(ours) / np.median(theirs)
    assert ratio.value != pytest.approx(medians, rel=1e-5), "not the ratio of the medians"
    assert ratio.value != pytest.approx(np.exp(np.median(logs)), rel=1e-5), "nor their median"


def test_a_value_is_the_median_and_a_maximum_that_of_all_rounds() -> None:
    rates = made_rates()
    for table in report_of(loaded_run("2026-11-21-a", rates)).results.tables:
        for row in table.rows:
            for cell in row.cells:
                rounds = np.array(rates[cell.implementation][row.scenario])
                assert cell.value == pytest.approx(np.median(rounds), rel=1e-6)
    of = {"implementation": "openssl-1", **HANDSHAKES[0].model_dump(), "metric": "duration"}
    times = [
        {**of, "statistic": statistic, "unit": "µs", "round": number, "value": value}
        for statistic in ("p50", "max")
        for number, value in enumerate((10.0, 70.0, 20.0), 1)
    ]
    run = run_of_rows("2026-11-21-a", times, [implementation("openssl-1")])
    (table,) = report_of(run).results.tables
    found = {row.statistic: [cell.value for cell in row.cells] for row in table.rows}
    assert found == {"p50": [20], "max": [70]}


@pytest.mark.parametrize(
    ("floor", "count_floor", "verdict"),
    [(9.0, 1.0, "faster"), (1.0, 9.0, "no difference shown")],
)
def test_counts_are_held_to_the_floor_of_counts(
    floor: float, count_floor: float, verdict: str
) -> None:
    run = counted_run("2026-11-21-a", {OPENSSL: 3e6, RUSTLS: 1e6}, [HANDSHAKES[0]])
    asked = Report(id=run.run.id, title="", date=run.run.date, runs=[run.run.id], baseline=OPENSSL)
    host = HostFacts(id="a-host", cpu="A CPU", architecture="x86_64")
    made = measured_report(
        asked, [measured(run)], {host.id: host}, floor, count_floor=count_floor
    ).results
    (ratio,) = [cell.ratio for cell in made.tables[0].rows[0].cells if cell.ratio]
    assert ratio.verdict == verdict


# --- every report --------------------------------------------------------------------------------


def rows(results: Results) -> Iterator[tuple[Table, Row]]:
    for table in results.tables:
        for row in table.rows:
            yield table, row


def ratios(root: Path) -> Iterator[tuple[Results, Ratio, bool]]:
    """All ratios of tables and prose, and whether they are of counts."""
    for _, results, _ in reports(root):
        metrics = {row.anchor: row.metric for _, row in rows(results)}
        metrics |= {table.anchor: table.rows[0].metric for table in results.tables}
        found = [(row.anchor, cell.ratio) for _, row in rows(results) for cell in row.cells]
        found += [(compared.row, compared.ratio) for compared in results.comparisons]
        for anchor, ratio in found:
            if ratio:
                yield results, ratio, METRICS[metrics[anchor]].is_count


def away(ratio: Ratio) -> float:
    """How far a ratio is from 1, in per cent."""
    return 100 * (max(ratio.value, 1 / ratio.value) - 1)


@pytest.mark.any_site
def test_nothing_within_the_noise_floor_is_called_faster(root: Path) -> None:
    found = 0
    for results, ratio, of_counts in ratios(root):
        floor = results.count_floor_percent if of_counts else results.noise_floor_percent
        if ratio.verdict in ("faster", "slower") and floor:
            assert away(ratio) > floor, (results.id, ratio)
            found += 1
    assert found


@pytest.mark.any_site
def test_the_noise_floor_of_times_comes_from_runs_that_measure_time(root: Path) -> None:
    of_both = 0
    for _, results, _ in reports(root):
        counted = {
            run.id
            for run in results.runs
            if "[counter]" in (root / "data" / "runs" / run.id / "run.toml").read_text("utf-8")
        }
        for printed, is_count in (
            (results.noise_floor_percent, False),
            (results.count_floor_percent, True),
        ):
            floor = verdict_floor(n for n in results.noise if (n.run in counted) is is_count)
            assert 1 + (printed or 0) / 100 == pytest.approx(floor, abs=1e-4), results.id
        of_both += bool(counted) and counted != {run.id for run in results.runs}
    assert of_both


@pytest.mark.any_site
def test_one_rule_gives_every_verdict(root: Path) -> None:
    found = set()
    for results, ratio, of_counts in ratios(root):
        found.add(ratio.verdict)
        if ratio.low is None or ratio.high is None or of_counts:
            assert of_counts or ratio.verdict in ("not tested", "too few rounds")
            continue
        if ratio.verdict in ("faster", "slower"):
            low, high = sorted((ratio.low - 1, ratio.high - 1))
            assert (low > 0) if ratio.verdict == "faster" else (high < 0), (results.id, ratio)
        elif ratio.verdict == "no difference shown" and not ratio.low <= 1 <= ratio.high:
            assert away(ratio) <= (results.noise_floor_percent or 0), (results.id, ratio)
    assert found >= {"faster", "slower", "no difference shown"}


@pytest.mark.any_site
def test_the_best_is_shown_to_be_better(root: Path) -> None:
    best = tied = 0
    for results, table, row in ((r, *of) for _, r, _ in reports(root) for of in rows(r)):
        leaders = [cell for cell in row.cells if cell.best]
        assert len(leaders) <= 1
        together = [cell for cell in row.cells if cell.tied]
        assert not (leaders and together), (results.id, row.anchor)
        assert len(together) != 1, (results.id, row.anchor)
        tied += len(together) > 1
        counted = [cell for cell in row.cells if cell.valid and cell.value is not None]
        first = max if table.better == "higher" else min
        for cell in leaders:
            best += 1
            assert cell is first(counted, key=lambda c: c.value or 0), (results.id, row.anchor)
            if cell.ratio:
                assert cell.ratio.verdict == "faster", (results.id, row.anchor)
            elif cell.implementation == table.baseline:
                verdicts = {c.ratio.verdict for c in counted if c.ratio}
                assert "no difference shown" not in verdicts, (results.id, row.anchor)
    assert best
    assert tied


def losses_with_a_verdict(results: Results) -> set[tuple[str, str, str]]:
    """The losses of a price list with a verdict; what several tables have is one comparison."""
    return {
        (row.against, row.anchor, cell.implementation)
        for table in results.prices or ()
        for row in table.rows
        for cell in row.cells
        if row.against and cell.ratio and cell.ratio.verdict in TESTED
    }


@pytest.mark.any_site
def test_all_comparisons_of_a_page_are_one_family(root: Path) -> None:
    kinds = {"comparisons": 0, "prices": 0}
    for _, results, _ in reports(root):
        captions = " ".join(table.caption for table in results.tables)
        stated = set(re.findall(r"corrected for (\d+) comparisons", captions))
        if not stated:
            continue
        counts = [t.anchor for t in results.tables if METRICS[t.rows[0].metric].is_count]
        timed = [(table, row) for table, row in rows(results) if table.anchor not in counts]
        anchors = {row.anchor for _, row in timed}
        family = [cell.ratio for _, row in timed for cell in row.cells if cell.ratio]
        family += [of.ratio for of in results.comparisons if of.row in anchors]
        tested = sum(ratio.verdict in TESTED for ratio in family)
        tested += len(losses_with_a_verdict(results))
        tested += sum(compares_leaders_alone(table, row) for table, row in timed)
        assert stated == {str(tested)}, results.id
        for kind in kinds:
            kinds[kind] += bool(getattr(results, kind))
    assert all(kinds.values()), kinds


def compares_leaders_alone(table: Table, row: Row) -> bool:
    """Whether a row has no ratio to a baseline, so that its leader's comparison counts."""
    with_rounds = [cell for cell in row.cells if cell.valid and cell.spread_percent is not None]
    has_ratio = any(cell.ratio for cell in row.cells)
    return not (table.by_phase or row.statistic == "max" or has_ratio) and len(with_rounds) > 1


@pytest.mark.any_site
def test_a_table_has_one_metric(root: Path) -> None:
    for _, results, _ in reports(root):
        for table in results.tables:
            assert len({row.metric for row in table.rows}) == 1, (results.id, table.anchor)
