"""`tlsperf compare` prints two implementations; tables that a source published are made again.

test_diff.py has the pairs of rows.
"""

from __future__ import annotations

import csv
import json
import shutil
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import synthetic
from fixture_run import RUN as EXAMPLE_RUN
from fixture_run import write_run
from project import ARM, NEW, OPENSSL, RUSTLS
from synthetic import (
    HANDSHAKES,
    SIXTEEN,
    TRANSFERS,
    Rates,
    implementation,
    loaded_run,
    rounds_of,
    run_of_rows,
    with_each,
)
from tlsperf.analysis.compare import (
    ComparedSide,
    Comparison,
    LeftOut,
    apart,
    compare,
    find_side,
    footnotes,
    left_out,
    matching,
    number_text,
    side_of,
    sides,
    text,
)
from tlsperf.analysis.diff import row_pairs
from tlsperf.analysis.series import MeasuredRun, measured
from tlsperf.analysis.statistics import drift, paired_ratio, unpaired_ratio
from tlsperf.cli import app, main
from tlsperf.contract.comparisons import Definition
from tlsperf.contract.errors import UserError
from tlsperf.contract.record import Scenario
from tlsperf.load.rows import ParsedRow
from tlsperf.load.run import LoadedRun
from tlsperf.load.tlsbench import Gap
from tlsperf.published.published_tables import differences, lines_of

RUN, OTHER_RUN = "2026-11-21-a", "2026-11-20-b"
LEFT, RIGHT = "openssl-3.6.3", "rustls-1.0"
NOISE = np.exp(np.random.default_rng(3).normal(0, 0.002, (2, 30)))
SLOW, FAST = list(1000 * NOISE[0]), list(1015 * NOISE[1])
SENDING = TRANSFERS[0]


def run_with(left: Any = SLOW, right: Any = FAST, **more: Any) -> LoadedRun:
    return loaded_run(RUN, {LEFT: {SENDING: left}, RIGHT: {SENDING: right}}, **more)


def side(run: LoadedRun, identifier: str) -> ComparedSide:
    return side_of(measured(run), identifier)


def sides_of(run: LoadedRun) -> tuple[ComparedSide, ComparedSide]:
    both = measured(run)
    return side_of(both, LEFT), side_of(both, RIGHT)


def of_two_runs(left: Any = SLOW, right: Any = FAST, **of_right: Any) -> tuple[ComparedSide, ...]:
    return (
        side(loaded_run(RUN, {LEFT: {SENDING: left}}), LEFT),
        side(loaded_run(OTHER_RUN, {RIGHT: {SENDING: right}}, **of_right), RIGHT),
    )


def rows_of(left: ComparedSide, right: ComparedSide, **how: Any) -> list[Comparison]:
    return compare(left, right, row_pairs(left.rows, right.rows), **how)


def compared(run: LoadedRun, **how: Any) -> list[Comparison]:
    return rows_of(*sides_of(run), **how)


def marked(run: LoadedRun, rounds: Mapping[tuple[str, int], str]) -> LoadedRun:
    """The run with these rounds of an implementation marked invalid, each with its note."""

    def with_note(row: ParsedRow) -> ParsedRow:
        return row._replace(note=rounds.get((row.implementation, row.round or 0)))

    return with_each(run, with_note)


def with_invalid(rounds: int = 6, identifier: str = RIGHT, **more: Any) -> LoadedRun:
    """A run in which the first rounds of a side are ten times as fast and invalid."""
    figures = {LEFT: SLOW, RIGHT: FAST}
    figures[identifier] = [10 * r for r in figures[identifier][:rounds]] + figures[identifier][
        rounds:
    ]
    run = run_with(figures[LEFT], figures[RIGHT], **more)
    return marked(run, {(identifier, n): "wrong suite" for n in range(1, rounds + 1)})


def with_rows(run: LoadedRun, *ids: str, factor: float = 0.5, **fields: Any) -> LoadedRun:
    """The run with twelve rounds of another row; the second implementation's are `factor` of it."""
    scenario = Scenario(operation="handshake", protocol="1.3", side="client")
    of = {"metric": "duration", "unit": "µs", "statistic": "p50", **fields}
    return synthetic.with_rows(
        run,
        *(
            rounds_of([by * (100.0 + n) for n in range(12)], scenario, implementation=i, **of)
            for i, by in zip(ids, (1.0, factor), strict=False)
        ),
    )


# --- figures, factors and verdicts ---------------------------------------------------------------


COUNTS: dict[str, Any] = {
    "metric": "instructions",
    "unit": "instructions/handshake",
    "statistic": "value",
}
DRIFTING = np.r_[np.full(15, 1.0), np.full(15, 1.05)]


@pytest.mark.parametrize(
    ("left", "right"), [(list(SLOW * DRIFTING), FAST), (SLOW, list(FAST * DRIFTING))]
)
def test_an_unpaired_comparison_is_widened_by_the_drift_of_either_side(
    left: list[float], right: list[float]
) -> None:
    [row] = rows_of(*of_two_runs(left, right))
    expected = drift([left, right])
    assert expected == pytest.approx(1.05, abs=0.01)
    assert row.estimate == unpaired_ratio(right, left, drift=expected)
    assert row.verdict.startswith("no difference shown (")


def test_verdicts_are_corrected_for_the_rows_that_are_compared() -> None:
    rates: Rates = {LEFT: dict.fromkeys(SIXTEEN, SLOW), RIGHT: dict.fromkeys(SIXTEEN, FAST)}
    rates[LEFT][SENDING] = 1000.0  # type: ignore[index]
    run = with_rows(with_rows(loaded_run(RUN, rates), LEFT, RIGHT, statistic="max"), LEFT, RIGHT)
    left, right = sides_of(with_rows(run, LEFT, RIGHT, **COUNTS))
    pairs = row_pairs(left.rows, right.rows)
    rows = compare(left, right, pairs)
    assert len(rows) == 19
    assert rows[0].verdict == "not tested: no rounds to test on both sides"
    for row in rows[1:4]:
        assert row.estimate == paired_ratio(FAST, SLOW, 16, spread=0.0022), (
            "a single figure, a maximum and a count are not tested, and are not counted"
        )
    [alone] = compare(left, right, pairs[1:2])
    assert alone.estimate == paired_ratio(FAST, SLOW, 1, spread=0.0022)


@pytest.mark.parametrize(
    ("how", "counting"),
    [({}, FAST[6:]), ({"include_invalid": True}, [*(10 * r for r in FAST[:6]), *FAST[6:]])],
)
def test_invalid_rounds_are_in_no_figure_factor_or_verdict(
    how: dict[str, bool], counting: list[float]
) -> None:
    """Unless they are to count: but their numbers are not known, so they are in no pair."""
    [row] = compared(with_invalid(), **how)
    assert row.left == pytest.approx(float(np.median(SLOW)))
    assert row.right == pytest.approx(float(np.median(counting)))
    assert row.factor == pytest.approx(row.right / row.left)
    assert row.estimate == paired_ratio(FAST[6:], SLOW[6:], spread=0.0022)
    assert row.note == "rustls 1.0: 6 of 30 invalid, wrong suite"
    [best] = compared(with_invalid(), estimator="best", **how)
    assert best.right == max(counting)
    [upper] = compared(with_invalid(), estimator="upper-median", **how)
    assert upper.right == sorted(counting)[len(counting) // 2]


@pytest.mark.parametrize("identifier", [LEFT, RIGHT])
def test_a_side_without_a_round_that_counts_has_a_factor_only_on_request(identifier: str) -> None:
    run = with_invalid(30, identifier)
    [row] = compared(run)
    assert (row.factor, row.estimate, row.verdict) == (None, None, "–")
    figures = sorted([row.left, row.right])
    assert figures[1] > 9 * figures[0], "what must not count is shown where there is nothing else"
    [row] = compared(run, include_invalid=True)
    assert row.estimate is not None
    assert (row.estimate.paired, row.estimate.rounds) == (False, 30)
    assert row.factor == pytest.approx(row.right / row.left)


@pytest.mark.parametrize("identifier", [LEFT, RIGHT])
def test_an_unpaired_comparison_leaves_out_invalid_rounds_too(identifier: str) -> None:
    run = with_invalid(20, identifier, format_="openssl-bench/2024")
    [row] = compared(run)
    assert row.estimate is not None
    assert not row.estimate.paired
    assert row.estimate.value == pytest.approx(1.015, abs=0.003)
    [row] = compared(run, include_invalid=True)
    assert row.estimate is not None
    assert row.estimate.rounds == 30
    assert abs(np.log(row.estimate.value)) > 1


def test_a_note_has_the_reasons_of_both_sides() -> None:
    wrong = {(LEFT, 1): "wrong suite", (LEFT, 2): "stopped", (RIGHT, 3): "stopped"}
    [row] = compared(marked(run_with(), wrong))
    assert row.note == (
        "OpenSSL 3.6.3: 2 of 30 invalid, wrong suite; stopped | "
        "rustls 1.0: 1 of 30 invalid, stopped"
    )


def test_rows_of_other_scenarios_say_what_differs_and_are_not_tested() -> None:
    keyed = SENDING.model_copy(update={"key_exchange": "X25519"})
    left, _ = of_two_runs()
    right = side(loaded_run(OTHER_RUN, {RIGHT: {keyed: [2 * r for r in FAST]}}), RIGHT)
    [row] = rows_of(left, right)
    assert row.factor == pytest.approx(2.03, abs=0.01)
    assert (row.verdict, row.note) == (
        "not tested: measured under other conditions",
        "key exchange not recorded and X25519",
    )
    assert footnotes(left, right, [row]) == []


@pytest.mark.parametrize(
    ("both", "paired"),
    [
        (sides_of(run_with()), True),
        (sides_of(run_with(format_="openssl-bench/2024")), False),
        (of_two_runs(), False),
    ],
    ids=["rounds of one run", "programs one after the other", "two runs"],
)
def test_only_rounds_that_measured_both_sides_are_pairs(
    both: tuple[ComparedSide, ComparedSide], paired: bool
) -> None:
    [row] = rows_of(*both)
    assert row.estimate is not None
    assert row.estimate.paired is paired
    notes = [] if paired else [f"Verdicts are {row.estimate.note}."]
    assert footnotes(*both, [row]) == notes


def test_figures_of_two_hosts_have_a_footnote_and_factors_only_if_requested() -> None:
    left, right = of_two_runs(host_id="b-host")
    [row] = rows_of(left, right)
    assert (row.factor, row.estimate, row.verdict) == (None, None, "–")
    hosts = "Measured on different hosts (a-host and b-host): "
    assert footnotes(left, right, [row]) == [
        f"{hosts}no factor and no verdict; --across-hosts prints them."
    ]
    [row] = rows_of(left, right, across_hosts=True)
    assert row.factor == pytest.approx(float(np.median(FAST) / np.median(SLOW)))
    assert row.estimate is not None
    assert footnotes(left, right, [row]) == [
        f"Verdicts are {row.estimate.note}.",
        f"{hosts}factors compare the hosts as well.",
    ]


@pytest.mark.parametrize(
    ("fields", "left", "best", "verdict"),
    [
        ({}, 105.5, 100, "2.00x faster ("),
        (COUNTS, 105.5, 100, "2.00x fewer ("),
        ({"statistic": "max"}, 111, 100, "not tested: of maxima, which are not tested"),
    ],
)
def test_other_metrics_are_compared_in_their_own_words(
    fields: dict[str, Any], left: float, best: float, verdict: str
) -> None:
    run = with_rows(run_with(), LEFT, RIGHT, **fields)
    for include_invalid in (False, True):
        _, row = compared(run, include_invalid=include_invalid)
        assert (row.left, row.right, row.factor) == (left, left / 2, 0.5)
        assert row.verdict.startswith(verdict)
    _, row = compared(run, estimator="best")
    assert (row.left, row.right) == (best, best / 2)


# --- what is shown -------------------------------------------------------------------------------


def test_rows_below_the_requested_difference_are_listed_and_count_as_comparisons() -> None:
    faster = [1.031 * rate for rate in SLOW]
    same = dict.fromkeys(SIXTEEN, SLOW)
    rates: Rates = {LEFT: {**same, SIXTEEN[1]: faster}, RIGHT: {**same, SIXTEEN[0]: faster}}
    rows = compared(loaded_run(RUN, rates))
    kept, near = apart(rows, 0.03)
    assert kept == rows[:2], "faster and slower alike"
    why = "their figures differ by less than 3%"
    assert near == [
        LeftOut(row.pair.name, row.pair.anchor, "handshakes/s" if n > 1 else "MiB/s", why)
        for n, row in enumerate(rows[2:])
    ]
    assert apart(rows, 0.032)[0] == []
    assert apart(rows, 0.0) == (rows, [])
    at_the_limit = [replace(rows[0], factor=factor) for factor in (1.25, 0.8, 1.2, 0.81)]
    assert apart(at_the_limit, 0.25)[0] == at_the_limit[:2]
    stay = [replace(rows[0], factor=factor) for factor in (None, 0.0)]
    assert apart(stay, 0.5) == (stay, [])


def test_rows_are_chosen_by_their_name_or_their_anchor() -> None:
    left, right = sides_of(
        loaded_run(RUN, {i: dict.fromkeys(TRANSFERS, 1.0) for i in (LEFT, RIGHT)})
    )
    pairs = row_pairs(left.rows, right.rows)
    assert matching(pairs, "1.3*SENDING") == pairs[2:3]
    assert matching(pairs, "1-2-aes") == pairs[:2]
    assert matching(pairs, "handshake") == []
    assert matching(pairs, None) == pairs


def test_rows_that_are_in_no_pair_are_listed_with_their_reason() -> None:
    lone, gone, last = TRANSFERS[1:]
    run = loaded_run(
        RUN, {LEFT: {SENDING: SLOW, lone: SLOW, gone: SLOW, last: SLOW}, RIGHT: {SENDING: FAST}}
    )
    for phase in ("flight-1", "flight-2"):
        run = with_rows(run, LEFT, RIGHT, phase=phase, statistic="value")
    gaps = [Gap(RIGHT, gone, "has no such suite"), Gap(LEFT, lone, "not this side's")]
    left, right = sides_of(replace(run, gaps=gaps))
    pairs = row_pairs(left.rows, right.rows)
    without = left_out(left, right, pairs)
    assert [(row.anchor, row.unit, row.why) for row in without] == [
        ("transfer-1-2-aes-128-gcm-receiving", "MiB/s", "rustls 1.0 has no figure of it"),
        ("transfer-1-3-aes-256-gcm-sending", "MiB/s", "rustls 1.0: has no such suite"),
        ("transfer-1-3-aes-256-gcm-receiving", "MiB/s", "rustls 1.0 has no figure of it"),
        ("handshake-1-3-client-flight-1", "µs", "each a phase of another row"),
        ("handshake-1-3-client-flight-2", "µs", "each a phase of another row"),
    ]
    assert left_out(right, left, row_pairs(right.rows, left.rows)) == without
    assert matching(without, "1.3*sending") == without[1:2]
    rows = compare(left, right, pairs)
    assert len(rows) == 1, "parts of a handshake are not compared"
    assert text(left, right, rows, "markdown", without).endswith(
        "\nLeft out, rustls 1.0 has no figure of it:\n\n"
        "- TLS 1.2 transfer, AES-128-GCM, receiving (MiB/s)\n"
        "- TLS 1.3 transfer, AES-256-GCM, receiving (MiB/s)\n"
        "\nLeft out, rustls 1.0: has no such suite:\n\n"
        "- TLS 1.3 transfer, AES-256-GCM, sending (MiB/s)\n"
        "\nLeft out, each a phase of another row:\n\n"
        "- TLS 1.3 handshake, client (µs): flight 1, flight 2\n"
    )
    assert text(left, right, rows, "csv", without).splitlines()[2] == (
        '"TLS 1.2 transfer, AES-128-GCM, receiving",MiB/s,–,–,–,–,'
        "left out: rustls 1.0 has no figure of it"
    )
    assert json.loads(text(left, right, rows, "json", without))["left_out"][1] == {
        "scenario": "TLS 1.3 transfer, AES-256-GCM, sending",
        "anchor": "transfer-1-3-aes-256-gcm-sending",
        "unit": "MiB/s",
        "why": "rustls 1.0: has no such suite",
    }


def test_a_row_in_another_unit_is_left_out_with_that_unit() -> None:
    left, right = (
        side(with_rows(run, identifier, metric="rate", unit=unit, statistic="value"), identifier)
        for run, identifier, unit in (
            (loaded_run(RUN, {LEFT: {SENDING: SLOW}}), LEFT, "handshakes/s"),
            (loaded_run(OTHER_RUN, {RIGHT: {SENDING: FAST}}), RIGHT, "handshakes/s/thread"),
        )
    )
    assert [row.why for row in left_out(left, right, row_pairs(left.rows, right.rows))] == [
        "rustls 1.0 has it in handshakes/s/thread",
        "OpenSSL 3.6.3 has it in handshakes/s",
    ]


def test_the_texts_of_a_comparison() -> None:
    left, right = sides_of(run_with([1000.0] * 30, [1500.25] * 30))
    [tested] = rows_of(left, right)
    plain = replace(tested, factor=None, estimate=None, note="a | µ")
    untested = replace(tested, estimate=replace(tested.estimate, low=None))  # type: ignore[type-var]
    rows = [tested, plain]
    markdown = text(left, right, rows, "markdown").splitlines()
    name = "TLS 1.2 transfer, AES-128-GCM, sending"
    assert markdown == [
        "|Scenario|Unit|OpenSSL 3.6.3|rustls 1.0|Factor|Verdict|Note|",
        "|-|-|-:|-:|-:|-|-|",
        f"|{name}|MiB/s|1000.0|1500.25|1.50x|{tested.verdict}||",
        rf"|{name}|MiB/s|1000.0|1500.25|–|–|a \| µ|",
    ]
    assert text(left, right, [tested], "markdown").splitlines()[0].endswith("|Factor|Verdict|")
    assert text(left, right, rows, "csv").splitlines()[::2] == [
        "scenario,unit,left,right,factor,verdict,note",
        f'"{name}",MiB/s,1000.0,1500.25,–,–,a | µ',
    ]
    assert number_text(1234.5678901234) == "1234.56789"
    json_text = text(left, right, [tested, plain, untested], "json")
    assert json_text.startswith('{\n "left": {')
    assert json_text.endswith("}\n")
    assert "µ" in json_text
    document = json.loads(json_text)
    described = {"run": RUN, "host": "a-host"}
    assert document["left"] == {**described, "implementation": LEFT, "label": "OpenSSL 3.6.3"}
    assert document["right"] == {**described, "implementation": RIGHT, "label": "rustls 1.0"}
    common = {
        "scenario": name,
        "anchor": "transfer-1-2-aes-128-gcm-sending",
        "unit": "MiB/s",
        "left": 1000.0,
        "right": 1500.25,
    }
    ratio = {"factor": 1.50025, "verdict": "faster", "paired": True}
    low, high = document["rows"][0].pop("interval")
    assert low < 1.50025 < high
    assert document["rows"] == [common | ratio, common | {"note": "a | µ"}, common | ratio]


# --- the two sides -------------------------------------------------------------------------------


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A folder with the example's run."""
    return write_run(tmp_path).parent


def test_two_implementations_are_found_by_their_ids(runs: Path) -> None:
    for name in ("openssl-3.6.1", f"{EXAMPLE_RUN}/openssl-3.6.1"):
        found = find_side(name, runs)
        assert (found.run.id, found.implementation.id) == (EXAMPLE_RUN, "openssl-3.6.1")
    for name, place in (
        ("nobody-1", f"any run in {runs}"),
        (f"{EXAMPLE_RUN}/nobody-1", EXAMPLE_RUN),
    ):
        with pytest.raises(UserError, match=f"^'nobody-1' is not in {place}: expected "):
            find_side(name, runs)
    other = runs / "2026-11-22-other"
    shutil.copytree(runs / EXAMPLE_RUN, other)
    described = (other / "run.toml").read_text("utf-8")
    (other / "run.toml").write_text(described.replace(EXAMPLE_RUN, other.name, 1), "utf-8")
    with pytest.raises(UserError) as caught:
        find_side("openssl-3.6.1", runs)
    assert str(caught.value) == (
        f"openssl-3.6.1 is in several runs: give one of {EXAMPLE_RUN}/openssl-3.6.1, "
        f"{other.name}/openssl-3.6.1"
    )


def test_two_sides_of_one_run_are_pairs_and_only_requested_rows_are_shown(runs: Path) -> None:
    def of(scenario: str | None) -> tuple[Sequence[Comparison], list[LeftOut]]:
        left, right, pairs, without = sides(runs, "boringssl-30cd935", "openssl-3.6.1", scenario)
        return compare(left, right, pairs), without

    every, all_without = of(None)
    assert every[0].estimate is not None
    assert every[0].estimate.paired
    chosen, without = of("*sending")
    sending = [row.pair.anchor for row in every if row.pair.anchor.endswith("sending")]
    assert [row.pair.anchor for row in chosen] == sending != []
    assert without == [row for row in all_without if row.anchor.endswith("sending")]
    with pytest.raises(UserError) as caught:
        of("nothing")
    names = "\n  ".join(row.pair.name for row in every)
    assert str(caught.value) == f"--scenario nothing: none of\n  {names}"


def test_implementations_without_a_common_scenario_are_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    there = {
        LEFT: side(loaded_run(RUN, {LEFT: {TRANSFERS[0]: 1.0}}), LEFT),
        RIGHT: side(loaded_run(OTHER_RUN, {RIGHT: {TRANSFERS[1]: 1.0}}), RIGHT),
    }
    monkeypatch.setattr("tlsperf.analysis.compare.find_side", lambda name, _: there[name])
    with pytest.raises(UserError) as caught:
        sides(Path(), LEFT, RIGHT, None)
    assert str(caught.value) == (
        f"{LEFT} and {RIGHT} have no scenario in common; tlsperf show prints those of a run"
    )


# --- published tables ----------------------------------------------------------------------------


ONE, ANOTHER = "openssl-1", "rustls-1"
ROUNDS = [100.0, 104.0, 103.0, 101.0]
"""Their upper median is 103."""

DEFINITION = """\
run = "{run}"
published = "printed.csv"
layout = "{layout}"
estimator = "upper-median"
source = {{ title = "Elsewhere", url = "https://example.org/" }}
{errata}
[[table]]
title = "One and another"
left = "{left}"
left_label = "one"
right = "{right}"
right_label = "another"
scenarios = {scenarios}
without = ["bulk_1.3_ECDHE_RSA_AES256-GCM_SHA384_received"]
"""


def definition(text: str = DEFINITION, **more: str) -> Definition:
    known = {"run": "2026-01-01-a", "layout": "factor", "left": ONE, "right": ANOTHER}
    known |= {"errata": "", "scenarios": '["bulk_*"]'}
    return Definition.model_validate(tomllib.loads(text.format(**known | more)))


def run_of_rates() -> MeasuredRun:
    resumed = [s for s in HANDSHAKES if s.resumption == "ticket"]
    rates = {
        name: {s: [by * rate for rate in ROUNDS] for s in (*TRANSFERS, *resumed)}
        for name, by in ((ONE, 1.0), (ANOTHER, 1.5))
    }
    return measured(loaded_run("2026-01-01-a", rates))


def test_a_table_of_factors_has_the_upper_medians_of_its_scenarios_and_their_factor() -> None:
    run = run_of_rates()
    _, *rows = lines_of(definition(), run)
    assert [row[1] for row in rows] == [
        "bulk_1.2_ECDHE_RSA_AES128-GCM_SHA256_sent",
        "bulk_1.2_ECDHE_RSA_AES128-GCM_SHA256_received",
        "bulk_1.3_ECDHE_RSA_AES256-GCM_SHA384_sent",
    ]
    for row in rows:
        assert [row[0], *row[2:]] == [
            *("One and another", "one", "another", "103.0", "154.5", "1.50x"),
        ]
    _, *handshakes = lines_of(definition(scenarios='["handshake-*_client"]'), run)
    assert {row[1].partition("_")[0] for row in handshakes} == {"handshake-ticket"}


def test_a_table_of_memory_has_kib_and_the_change_in_per_cent() -> None:
    of = Scenario(
        operation="memory",
        protocol="1.3",
        cipher_suite="TLS_AES_256_GCM_SHA384",
        variant="sessions-1000",
    )
    rows: list[dict[str, Any]] = [
        {
            "implementation": name,
            **of.model_dump(),
            "metric": "peak-resident",
            "unit": "bytes",
            "value": 1024.0 * kib,
        }
        for name, kib in ((ONE, 83_300), (ANOTHER, 62_475))
    ]
    run = measured(run_of_rows("2026-01-01-a", rows, [implementation(n) for n in (ONE, ANOTHER)]))
    assert lines_of(definition(layout="memory", scenarios='["*memory*"]'), run)[1:] == [
        ["TLS_AES_256_GCM_SHA384", "1.3", "1000", "83300", "62475", "-25%"],
    ]


ERRATUM = (
    '[[errata]]\nline = {}\ncolumn = "factor"\nprinted = "1.05x"\ncorrect = "1.50x"\nreason = "x"'
)


@pytest.mark.parametrize(
    ("printed", "errata", "found"),
    [
        ("1.50x", "", []),
        ("1.05x", "", ["printed.csv:2", "where the data give"]),
        ("1.05x", ERRATUM.format(2), []),
        ("1.05x", ERRATUM.format(3), ["printed.csv:3", "is not the '1.05x'"]),
    ],
)
def test_a_figure_that_the_data_do_not_give_is_named_unless_it_is_an_erratum(
    printed: str, errata: str, found: list[str], tmp_path: Path
) -> None:
    run, of = run_of_rates(), definition(errata=errata)
    lines = lines_of(of, run)
    lines[1][-1] = printed
    problems = differences(of, lines, run, tmp_path / "tables.toml")
    assert bool(problems) == bool(found)
    assert all(words in " ".join(problems) for words in found)
    assert any("lines" in problem for problem in differences(of, lines[:3], run, tmp_path / "x"))


# --- the command ---------------------------------------------------------------------------------


@pytest.fixture
def inside(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(project)
    return project


TWO = (f"{NEW}/{RUSTLS}", f"{NEW}/{OPENSSL}")
ONLY_SENDING = ("--scenario", "transfer-1-3-*-sending")


def output(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, ["compare", *arguments])
    assert result.exit_code == code, result.output
    return result.output


def test_the_command_prints_a_table_markdown_csv_and_json(inside: Path) -> None:
    def printed(form: str, *more: str) -> str:
        return output(*TWO, *ONLY_SENDING, "--format", form, *more, code=0 if more else 1)

    [row] = json.loads(printed("json"))["rows"]
    results = json.loads((inside / "content" / "perf" / NEW / "results.json").read_bytes())
    [values] = [
        {cell["implementation"]: cell["value"] for cell in shown["cells"]}
        for shown in results["tables"][0]["rows"]
        if shown["anchor"] == row["anchor"]
    ]
    assert row["factor"] == pytest.approx(values[OPENSSL] / values[RUSTLS], rel=1e-3)
    assert row["verdict"] == "slower"
    factor = f"{row['factor']:.2f}x"
    header, line, *_ = printed("table").splitlines()
    assert header.index("factor") == line.index(factor) + len(factor) - len("factor")
    assert printed("markdown").splitlines()[2].startswith(f"|{row['scenario']}|")
    [of_csv] = csv.DictReader(printed("csv").splitlines())
    assert (of_csv["scenario"], of_csv["factor"]) == (row["scenario"], factor)
    for form in ("table", "markdown"):
        near = printed(form, "--min-difference", "80%")
        assert "Left out" in near
        assert row["scenario"] in near
        assert factor not in near


def test_the_command_has_factors_of_two_hosts_only_on_request(inside: Path) -> None:
    two = (f"{NEW}/{OPENSSL}", f"{ARM}/{OPENSSL}", *ONLY_SENDING)
    assert "--across-hosts prints them" in output(*two)
    assert "factors compare the hosts as well" in output(*two, "--across-hosts")


def test_a_published_table_is_printed_from_the_data(inside: Path, tmp_path: Path) -> None:
    file = tmp_path / "tables.toml"
    of = {"run": NEW, "layout": "factor", "left": OPENSSL, "right": RUSTLS}
    erratum = ERRATUM.format(2)
    file.write_text(DEFINITION.format(**of, errata=erratum, scenarios='["*"]'), encoding="utf-8")
    rows = csv.DictReader(output("--tables", str(file), "--format", "csv").splitlines())
    row = {row["scenario"]: row for row in rows}["bulk_1.3_ECDHE_RSA_AES256-GCM_SHA384_sent"]
    assert row["factor"] == f"{float(row['right_median']) / float(row['left_median']):.2f}x"
    assert "prints 1.05x, which is 1.50x" in output("--tables", str(file))


@pytest.mark.parametrize(
    ("sides", "code"),
    [
        (TWO, 1),
        (TWO[::-1], 0),
        (TWO[:1] * 2, 0),
        ((TWO[0], f"{NEW}/openssl-nobody"), 2),
        ((TWO[0], OPENSSL), 2),
        ((), 2),
    ],
)
def test_the_exit_code_states_whether_a_figure_is_slower(
    sides: tuple[str, ...], code: int, inside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["tlsperf", "compare", *sides, *ONLY_SENDING])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == code
