"""What a report corrects: ratios outside the old interval, opposite verdicts, and why."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from synthetic import HANDSHAKES, SIXTEEN, TRANSFERS, Rates, loaded_run, report_of
from tlsperf.analysis.corrections import MOST_ROWS, corrections
from tlsperf.contract.corrections import Corrections
from tlsperf.contract.record import Scenario
from tlsperf.contract.results import Results, Row
from tlsperf.contract.run import HostFacts, Report, Run
from tlsperf.publish.reports import replacements

OLD, NEW = "2026-01-01-old", "2026-06-01-new"
BASE = "openssl-1"


def rates(factors: dict[str, float], special: dict[Scenario, float], seed: int) -> Rates:
    """Thirty rounds of each implementation; `special` is the factor of the last one by scenario."""
    random = np.random.default_rng(seed)
    last = [*factors][-1]
    return {
        name: {
            s: list(
                1000
                * factor
                * (special.get(s, 1.0) if name == last else 1.0)
                * np.exp(random.normal(0, 0.002, 30))
            )
            for s in SIXTEEN
        }
        for name, factor in factors.items()
    }


def corrected(before: Rates, after: Rates) -> Corrections:
    old = loaded_run(OLD, before)
    new = loaded_run(NEW, after)
    then = report_of(old, baseline=BASE).results
    now = report_of(new, baseline=BASE).results
    return corrections(then, now, [old.run], [new.run])


SAME = {BASE: 1.0, "rustls-1": 1.5}


def numbers(statement: str) -> list[str]:
    """The numbers of a sentence in their order."""
    return re.findall(r"\b(?:\d+|none)\b", statement)


def test_the_same_ratios_correct_nothing() -> None:
    found = corrected(rates(SAME, {}, 1), rates(SAME, {}, 2))
    assert (found.compared, found.opposite, found.lost) == (16, 0, 0)
    assert found.outside == 0
    assert numbers(found.statement) == ["16", "none", "none"]
    assert found.groups == []


def test_opposite_verdicts_come_first_then_the_largest_changes() -> None:
    turned, lost, grown = HANDSHAKES[0], HANDSHAKES[1], HANDSHAKES[2]
    special = {turned: 0.6, lost: 1 / 1.5, grown: 2.0}
    found = corrected(rates(SAME, {}, 1), rates(SAME, special, 2))
    assert (found.compared, found.outside, found.opposite, found.lost) == (16, 3, 1, 1)
    assert numbers(found.statement) == ["16", "3", "1", "1"]
    assert re.search("1 .*opposite.*; 1 lost .*faster or slower", found.statement)
    [group] = found.groups
    assert [row.opposite for row in group.rows] == [True, False, False]
    assert "faster" in group.rows[0].before
    assert "slower" in group.rows[0].after
    assert "2.9" in group.rows[1].after or "3.0" in group.rows[1].after
    assert "no difference shown" in group.rows[2].after
    assert found.report == OLD


def test_a_transfer_is_matched_whatever_it_has_in_flight() -> None:
    before = rates(SAME, {}, 1)
    after = rates(SAME, dict.fromkeys(TRANSFERS, 0.5), 2)
    renamed = {
        name: {
            s.model_copy(update={"size": 65536, "in_flight": 65536}) if s in TRANSFERS else s: of
            for s, of in scenarios.items()
        }
        for name, scenarios in after.items()
    }
    found = corrected(before, renamed)
    assert (found.compared, found.outside) == (16, 4)
    [group] = found.groups
    assert re.search("64 KiB in flight instead of .*1 MiB in flight", group.reason)
    assert numbers(found.statement)[:3] == ["16", "4", "4"]
    assert all("64-kib-in-flight" in row.anchor for row in group.rows)


def test_reports_with_other_baselines_have_no_ratio_in_common() -> None:
    old, new = loaded_run(OLD, rates(SAME, {}, 1)), loaded_run(NEW, rates(SAME, {}, 2))
    then = report_of(old, baseline="rustls-1").results
    now = report_of(new, baseline=BASE).results
    found = corrections(then, now, [old.run], [new.run])
    assert found.compared == 0
    assert found.statement.startswith("No ")


def in_sessions(run: Run, count: int, boot: str | None, layouts: int = 1) -> Run:
    """The run with this number of sessions in one boot of its machine, and of layouts."""
    sessions = [
        {"number": n, "started": "2026-01-01T00:00:00Z", "seed": n, "layout": 0, "boot": boot}
        for n in range(1, count + 1)
    ]
    kinds = [{"number": n, "kind": "own", "programs": {}} for n in range(layouts)]
    fields = {"sessions": sessions, "layouts": kinds if layouts > 1 else []}
    return Run.model_validate(run.model_dump(by_alias=True) | fields)


@functools.cache
def before_and_after(factor: float = 2.0) -> tuple[Results, Results]:
    """Two reports, of which the later one has another rate in one scenario."""
    then, now = (
        report_of(loaded_run(name, rates(SAME, special, seed)), baseline=BASE).results
        for name, special, seed in ((OLD, {}, 1), (NEW, {HANDSHAKES[0]: factor}, 2))
    )
    return then, now


@functools.cache
def first_run() -> Run:
    return loaded_run(OLD, rates(SAME, {}, 1)).run


def as_counts(results: Results) -> Results:
    return edited(results, lambda row: row.model_copy(update={"metric": "instructions"}))


BOOT, LATER = "0" * 16, "1" * 16
ANOTHER = "perhaps another machine .*"


@pytest.mark.parametrize(
    ("sessions", "boot", "layouts", "hosts", "expected"),
    [
        (
            1,
            BOOT,
            1,
            "a",
            "no difference in .*sessions, layouts, programs or hosts",
        ),
        (5, BOOT, 2, "a", "5 sessions instead of 1; 2 layouts instead of 1"),
        (1, LATER, 1, "a", ANOTHER),
        (1, None, 1, "a", ANOTHER),
        (1, LATER, 1, "b", "CPU b instead of CPU a"),
        (1, LATER, 1, "ab", "CPU a and CPU b instead of CPU a"),
    ],
)
def test_the_reason_is_what_the_runs_record(
    sessions: int, boot: str | None, layouts: int, hosts: str, expected: str
) -> None:
    run = first_run()
    then, now = before_and_after()
    of = {h: HostFacts(id=h, cpu=f"CPU {h}", architecture="x86_64") for h in "ab"}
    then = then.model_copy(update={"hosts": [of["a"]]})
    now = now.model_copy(update={"hosts": [of[h] for h in hosts]})
    sides = [in_sessions(run, 1, BOOT)], [in_sessions(run, sessions, boot, layouts)]
    [group] = corrections(then, now, *sides).groups
    assert re.fullmatch(expected, group.reason)


def test_the_reason_for_a_count_has_no_sessions_and_layouts() -> None:
    run = first_run()
    then, now = before_and_after()
    sides = [in_sessions(run, 1, BOOT)], [in_sessions(run, 5, LATER, 2)]
    [group] = corrections(as_counts(then), as_counts(now), *sides).groups
    assert re.fullmatch(ANOTHER, group.reason)


def test_another_build_of_the_program_that_measures_is_a_reason() -> None:
    run = first_run()
    then, now = before_and_after()
    tool = run.tool.model_copy(update={"sha256": "1" * 64})
    later = in_sessions(run.model_copy(update={"tool": tool}), 1, BOOT)
    [group] = corrections(then, now, [in_sessions(run, 1, BOOT)], [later]).groups
    assert group.reason == f"another build of {run.tool.name}"


def test_counts_have_a_sentence_of_their_own() -> None:
    def of(special: dict[Scenario, float], seed: int) -> Results:
        made = report_of(loaded_run(OLD, rates(SAME, special, seed)), baseline=BASE).results
        return edited(made, lambda row: counted_if(row, row.scenario in HANDSHAKES))

    def counted_if(row: Row, counts: bool) -> Row:
        return row.model_copy(update={"metric": "instructions"}) if counts else row

    run = first_run()
    found = corrections(of({}, 1), of({HANDSHAKES[0]: 2.0, TRANSFERS[0]: 2.0}, 2), [run], [run])
    assert (found.compared, found.outside) == (16, 2)
    times, counts = found.statement.split(". ")
    assert (numbers(times), numbers(counts)) == (["4", "1", "none"], ["12", "1"])
    assert "counts" in counts


@pytest.mark.parametrize(
    ("before", "after", "outside"),
    [
        ((1.5, 1.496, 1.504), 1.5049, False),
        ((1.5, 1.496, 1.504), 1.5051, True),
        ((0.8, 0.796, 0.804), 0.7937, False),
        ((0.8, 0.796, 0.804), 0.79, True),
        ((1.0, 0.996, 1.004), 0.9952, False),
        ((1.0, 0.996, 1.004), 1.006, True),
    ],
)
def test_a_ratio_is_outside_if_a_reader_sees_that(
    before: tuple[float, float, float], after: float, *, outside: bool
) -> None:
    then, now = before_and_after(1.0)
    value, low, high = before
    changes = {"value": value, "low": low, "high": high}, {"value": after}
    ones = [
        edited(results, partial(with_ratio, new))
        for results, new in zip((then, now), changes, strict=True)
    ]
    run = first_run()
    assert corrections(ones[0], ones[1], [run], [run]).outside == (16 if outside else 0)


def edited(results: Results, edit: Callable[[Row], Row]) -> Results:
    """The results with each row changed by a function, without validation."""
    tables = [
        table.model_copy(update={"rows": [edit(row) for row in table.rows]})
        for table in results.tables
    ]
    return results.model_copy(update={"tables": tables})


def with_ratio(new: dict[str, float], row: Row) -> Row:
    """The row with other numbers in each ratio."""
    cells = [
        cell.model_copy(update={"ratio": cell.ratio and cell.ratio.model_copy(update=new)})
        for cell in row.cells
    ]
    return row.model_copy(update={"cells": cells})


def test_a_verdict_that_was_gained_counts() -> None:
    known = {BASE: 1.0, "rustls-1": 1.0}
    found = corrected(rates(known, {}, 1), rates(known, {HANDSHAKES[0]: 1.5}, 2))
    assert (found.gained, found.lost) == (1, 0)
    assert re.search("1 gained .*faster or slower", found.statement)
    run = loaded_run(OLD, rates(known, {}, 1)).run
    then, now = (
        report_of(loaded_run(OLD, rates(known, special, seed)), baseline=BASE).results
        for special, seed in (({}, 1), ({HANDSHAKES[0]: 1.5}, 2))
    )
    found = corrections(as_counts(then), as_counts(now), [run], [run])
    assert re.search("1 gained .*fewer or more", found.statement)


def test_another_version_is_no_correction() -> None:
    newer = {BASE: 1.0, "rustls-2": 3.0}
    assert corrected(rates(SAME, {}, 1), rates(newer, {}, 2)).compared == 0


def test_rows_that_differ_only_in_the_bytes_of_a_transfer_are_left_out() -> None:
    both = {
        name: {
            **rows,
            **{
                s.model_copy(update={"size": 16384}): of for s, of in rows.items() if s in TRANSFERS
            },
        }
        for name, rows in rates(SAME, {}, 1).items()
    }
    assert corrected(both, both).compared == len(HANDSHAKES)


def test_a_long_table_says_how_many_it_leaves_out() -> None:
    names = {BASE: 1.0} | {f"{library}-1": 1.5 for library in ("rustls", "boringssl", "gnutls")}
    moved = {BASE: 1.0} | {name: 2.0 for name in names if name != BASE}
    found = corrected(rates(names, {}, 1), rates(moved, {}, 2))
    assert found.outside == 48
    assert sum(len(group.rows) for group in found.groups) == MOST_ROWS
    assert found.left_out == 48 - MOST_ROWS


def test_ratios_without_a_test_are_left_out() -> None:
    untested: Rates = {name: dict.fromkeys(SIXTEEN, 1000.0) for name in SAME}
    assert corrected(untested, rates(SAME, {}, 2)).compared == 0


def test_replacements_name_the_new_report() -> None:
    fields = {"title": "A report", "date": "2026-06-01", "runs": ["a"]}
    new = Report.model_validate(fields | {"id": NEW, "replaces": [OLD]})
    old = Report.model_validate(fields | {"id": OLD, "date": "2026-01-01"})
    assert replacements([old, new]) == {OLD: new}


def test_results_without_a_baseline_have_no_ratio_in_common() -> None:
    run = loaded_run(OLD, rates(SAME, {}, 1))
    results: Results = report_of(run).results
    assert corrections(results, results, [run.run], [run.run]).compared == 0


@pytest.mark.parametrize("number", [0, 1, 2])
def test_the_statement_agrees_in_number(number: int) -> None:
    special = dict.fromkeys(HANDSHAKES[:number], 2.0)
    found = corrected(rates(SAME, {}, 1), rates(SAME, special, 2))
    words = {0: "none is outside", 1: "1 is outside", 2: "2 are outside"}
    assert words[number] in found.statement
