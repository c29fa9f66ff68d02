"""The promises of the methodology page about figures and verdicts: each sentence has a test, and
the committed reports satisfy it.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
import pytest

from pages.fixture import ROOT
from synthetic import SIXTEEN, Rates, in_sessions, loaded_run, report_of
from tlsperf.analysis.noise import verdict_floor
from tlsperf.contract.metrics import METRICS
from tlsperf.contract.results import Ratio, Results, Row, Table
from tlsperf.load.results import read_results

METHODOLOGY = (ROOT / "content" / "methodology.md").read_text(encoding="utf-8")
REPORTS = sorted((ROOT / "content" / "perf").glob("*/results.json"))
TESTED = frozenset({"faster", "slower", "no difference shown", "too few rounds"})

PROMISES: Final = {
    "The value in a table is the median of the rounds; a maximum is the maximum of all rounds.": (
        "tools/tests/test_promises.py::test_a_value_is_the_median_and_a_maximum_that_of_all_rounds"
    ),
    "If another run differs no more than these sessions do, the interval contains its median in "
    "95 of 100 cases.": ("tools/tests/test_sessions.py::test_two_runs_of_the_same_programs_agree"),
    "Each table states which of the three methods made its intervals.": (
        "tools/tests/test_sessions.py::test_a_table_states_once_how_its_intervals_were_made"
    ),
    "The ratio is the Hodges-Lehmann estimate over the rounds' ratios (the median of the means of "
    "all pairs of them), averaged over sessions.": (
        "tools/tests/test_promises.py::test_a_ratio_is_hodges_and_lehmanns_averaged_over_sessions"
    ),
    "those of the rows, of the means and of the prose are one family.": (
        "tools/tests/test_promises.py::test_all_comparisons_of_a_page_are_one_family"
    ),
    "If that interval excludes 1 and the ratio is beyond the noise floor, the verdict is *faster* "
    "or *slower*; if not, it is *no difference shown*.": (
        "tools/tests/test_promises.py::test_one_rule_gives_every_verdict"
    ),
    "the leader of a row is best only if it is shown to be better than the baseline and than the "
    "next; otherwise the leaders are tied.": (
        "tools/tests/test_promises.py::test_the_best_is_shown_to_be_better"
    ),
    "A single figure is never best.": (
        "tools/tests/test_sessions.py::test_single_figures_are_never_best_or_tied"
    ),
    "A difference up to that floor is never called faster or slower.": (
        "tools/tests/test_promises.py::test_nothing_within_the_noise_floor_is_called_faster"
    ),
    "The tools compute every comparison in a report's prose from these verdicts; nobody types "
    "one.": ("tools/tests/test_prose.py::test_no_comparison_is_typed_into_a_page"),
    "Disturbed rounds beyond that bound count, and the run carries a warning.": (
        "bench/runner/tests/runner/runs.rs::"
        "disturbed_rounds_are_repeated_up_to_a_bound_and_then_count_with_a_warning"
    ),
    "Counts have tables and trends of their own and are never mixed with time.": (
        "tools/tests/test_promises.py::test_a_table_has_one_metric"
    ),
}
"""A sentence of the page, and the test that fails when it is no longer true."""


@pytest.mark.parametrize("sentence", PROMISES, ids=lambda text: text[:40])
def test_a_promise_is_on_the_page_and_has_a_test(sentence: str) -> None:
    assert sentence in METHODOLOGY
    file, _, name = PROMISES[sentence].partition("::")
    source = (ROOT / file).read_text(encoding="utf-8")
    assert re.search(rf"^\s*(?:def|fn) {name}\(", source, re.MULTILINE), PROMISES[sentence]


def test_every_sentence_about_verdicts_has_a_test() -> None:
    section = METHODOLOGY.split("## How figures are made")[1].split("\n## ")[0]
    words = re.compile(r"\b(?:never|none|best|tied|median of the rounds|family|Hodges-Lehmann)\b")
    sentences = [s for s in re.split(r"(?<=[.;]) |\n+", section) if words.search(s)]
    assert len(sentences) > 5
    promised = " ".join(PROMISES)
    without = [s for s in sentences if not any(part in promised for part in halves(s))]
    assert without == []


def halves(sentence: str) -> list[str]:
    """The sentence, and its parts before and after a comma or colon."""
    return [sentence, *re.split(r", (?=otherwise)|: ", sentence)]


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
    latency = read_results(ROOT / "content/perf/2026-11-21-latency-vm/results.json")
    maxima = [row for table in latency.tables for row in table.rows if row.statistic == "max"]
    assert maxima
    for row in maxima:
        (p999,) = (
            other
            for table in latency.tables
            for other in table.rows
            if other.anchor == row.anchor.removesuffix("max") + "p99-9"
        )
        for cell, lower in zip(row.cells, p999.cells, strict=True):
            assert (cell.value or 0) >= (lower.value or 0)


# --- committed reports ---------------------------------------------------------------------------


@cache
def committed() -> list[Results]:
    return [read_results(path) for path in REPORTS]


def rows() -> Iterator[tuple[Results, Table, Row]]:
    for results in committed():
        for table in results.tables:
            for row in table.rows:
                yield results, table, row


def ratios() -> Iterator[tuple[Results, Ratio, bool]]:
    """All ratios of tables, means and prose, and whether they are of counts."""
    metrics = {
        (results.id, row.anchor): row.metric for results in committed() for _, row in of(results)
    }
    for results, _, row in rows():
        for cell in row.cells:
            if cell.ratio:
                yield results, cell.ratio, METRICS[row.metric].is_count
    for results in committed():
        tables = {table.anchor: table.rows[0].metric for table in results.tables}
        for mean in results.means:
            yield results, mean.ratio, METRICS[tables[mean.table]].is_count
        for comparison in results.comparisons:
            metric = metrics[results.id, comparison.row]
            yield results, comparison.ratio, METRICS[metric].is_count


def of(results: Results) -> Iterator[tuple[Table, Row]]:
    for table in results.tables:
        for row in table.rows:
            yield table, row


@pytest.mark.parametrize(("of_counts", "at_least"), [(False, 500), (True, 100)])
def test_nothing_within_the_noise_floor_is_called_faster(of_counts: bool, at_least: int) -> None:
    looked_at = 0
    for results, ratio, counts in ratios():
        floor = results.count_floor_percent if of_counts else results.noise_floor_percent
        if ratio.verdict in ("faster", "slower") and floor and counts is of_counts:
            looked_at += 1
            away = 100 * (max(ratio.value, 1 / ratio.value) - 1)
            assert away > floor, (results.id, ratio)
    assert looked_at > at_least


def test_the_noise_floor_of_times_comes_from_runs_that_measure_time() -> None:
    of_both = 0
    for results in committed():
        counted = {
            run.id
            for run in results.runs
            if "[counter]" in (ROOT / "data" / "runs" / run.id / "run.toml").read_text("utf-8")
        }
        for printed, is_count in (
            (results.noise_floor_percent, False),
            (results.count_floor_percent, True),
        ):
            floor = verdict_floor(n for n in results.noise if (n.run in counted) is is_count)
            assert printed is None or 1 + printed / 100 == pytest.approx(floor, abs=1e-4)
        of_both += bool(counted) and counted != {run.id for run in results.runs}
    assert of_both >= 5


def test_one_rule_gives_every_verdict() -> None:
    for results, ratio, counts in ratios():
        if ratio.low is None or ratio.high is None or counts:
            assert counts or ratio.verdict in ("not tested", "too few rounds")
            continue
        if ratio.verdict in ("faster", "slower"):
            low, high = sorted((ratio.low - 1, ratio.high - 1))
            assert (low > 0) if ratio.verdict == "faster" else (high < 0), (results.id, ratio)
        elif ratio.verdict == "no difference shown" and not ratio.low <= 1 <= ratio.high:
            away = 100 * (max(ratio.value, 1 / ratio.value) - 1)
            assert away <= (results.noise_floor_percent or 0), (results.id, ratio)


def test_the_best_is_shown_to_be_better() -> None:
    best = tied = 0
    for results, table, row in rows():
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
    assert best > 100
    assert tied > 50


def test_no_two_library_pages_claim_a_row() -> None:
    best: dict[tuple[str, str], str] = {}
    tied: set[tuple[str, str]] = set()
    for path in sorted((ROOT / "content" / "libraries").glob("*/library.json")):
        library = json.loads(path.read_text(encoding="utf-8"))
        for standing in library["standings"]:
            for row in standing["best"]:
                key = standing["report"]["id"], row["anchor"]
                assert key not in best, f"{library['name']} and {best[key]} claim {key}"
                best[key] = library["name"]
            tied |= {(standing["report"]["id"], row["anchor"]) for row in standing["tied"]}
    assert best
    assert tied
    assert not set(best) & tied


def losses_with_a_verdict(results: Results) -> set[tuple[str, str, str]]:
    """The losses of a price list with a verdict; what several tables have is one comparison."""
    return {
        (table.columns[0].row, column.row, cell.implementation)
        for table in results.prices or ()
        for column in table.columns
        for cell in column.cells
        if cell.lost and cell.lost.verdict in TESTED
    }


def test_all_comparisons_of_a_page_are_one_family() -> None:
    counted = 0
    for results in committed():
        captions = " ".join(table.caption for table in results.tables)
        stated = set(re.findall(r"corrected for (\d+) comparisons", captions))
        if not stated:
            continue
        counts = [t for t in results.tables if METRICS[t.rows[0].metric].is_count]
        of_counts = {row.anchor for table in counts for row in table.rows}
        family = [
            cell.ratio
            for _, row in of(results)
            for cell in row.cells
            if cell.ratio and row.anchor not in of_counts
        ]
        family += [m.ratio for m in results.means if m.table not in {t.anchor for t in counts}]
        family += [c.ratio for c in results.comparisons if c.row not in of_counts]
        tested = sum(ratio.verdict in TESTED for ratio in family)
        tested += len(losses_with_a_verdict(results))
        tested += sum(compares_leaders_alone(t, row) for t, row in of(results) if t not in counts)
        assert stated == {str(tested)}, results.id
        counted += 1
    assert counted > 7


def compares_leaders_alone(table: Table, row: Row) -> bool:
    """Whether a row has no ratio to a baseline, so that its leader's comparison counts."""
    with_rounds = [cell for cell in row.cells if cell.valid and cell.spread_percent is not None]
    has_ratio = any(cell.ratio for cell in row.cells)
    return not (table.by_phase or row.statistic == "max" or has_ratio) and len(with_rounds) > 1


def test_a_table_has_one_metric() -> None:
    for results in committed():
        for table in results.tables:
            assert len({row.metric for row in table.rows}) == 1, (results.id, table.anchor)


def test_there_are_committed_reports() -> None:
    assert len(REPORTS) >= 19
    assert all(isinstance(path, Path) for path in REPORTS)
