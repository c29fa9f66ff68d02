"""`tlsperf compare` shows two implementations as a report does; published tables are made again.

test_diff.py has the pairs of rows, test_tables.py and test_results.py what a report shows.
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
from project import ARM, NEW, OPENSSL, PUBLISHED, RUSTLS, SMALL, write_made
from synthetic import (
    HANDSHAKES,
    SIXTEEN,
    TRANSFERS,
    Rates,
    implementation,
    loaded_run,
    report_of,
    rounds_of,
    run_of_rows,
    with_each,
)
from tlsperf.analysis.series import MeasuredRun, measured
from tlsperf.cli import app, main
from tlsperf.contract.comparisons import Definition, Estimator
from tlsperf.contract.errors import UserError
from tlsperf.contract.record import Scenario
from tlsperf.contract.results import Cell, Noise, Results
from tlsperf.contract.run import Host, HostFacts, RunWarning
from tlsperf.load.run import LoadedRun, loader
from tlsperf.load.tlsbench import Gap
from tlsperf.publish.compare import (
    all_valid,
    apart,
    beside,
    is_slower,
    places,
    side_of,
    single_figures,
)
from tlsperf.publish.lines import heading
from tlsperf.published.published_tables import differences, lines_of

RUN, OTHER_RUN = "2026-11-21-a", "2026-11-20-b"
LEFT, RIGHT = "openssl-3.6.3", "rustls-1.0"
NOISE = np.exp(np.random.default_rng(3).normal(0, 0.002, (2, 30)))
SLOW, FAST = list(1000 * NOISE[0]), list(1035 * NOISE[1])
SENDING = TRANSFERS[0]
HOSTS = {
    name: Host.model_validate(
        {"schema": 1, "id": name, "name": name, "cpu": "A CPU", "architecture": "x86_64"}
    )
    for name in ("a-host", "b-host")
}


def of_left(rates: Any = SLOW, **more: Any) -> LoadedRun:
    return loaded_run(RUN, {LEFT: {SENDING: rates}}, **more)


def of_right(rates: Any = FAST, scenario: Scenario = SENDING, **more: Any) -> LoadedRun:
    return loaded_run(OTHER_RUN, {RIGHT: {scenario: rates}}, **more)


def of_both(left: Any = SLOW, right: Any = FAST, **more: Any) -> LoadedRun:
    return loaded_run(RUN, {LEFT: {SENDING: left}, RIGHT: {SENDING: right}}, **more)


def compared(
    left: LoadedRun | MeasuredRun,
    right: LoadedRun | MeasuredRun | None = None,
    ids: tuple[str, str] = (LEFT, RIGHT),
    across_hosts: bool = False,
    noise: Sequence[Noise] = (),
    scenario: str | None = None,
) -> Results:
    """The results of two sides, which are of one run unless there is another one."""
    runs = (measured(of) if isinstance(of, LoadedRun) else of for of in (left, right or left))
    one, two = (side_of(run, id_) for run, id_ in zip(runs, ids, strict=True))
    return beside(one, two, noise, HOSTS, [], across_hosts, scenario)


def rows_of(results: Results) -> dict[str, tuple[Cell, Cell]]:
    """The cells of both sides by the anchor of their row."""
    rows = [row for table in results.tables for row in table.rows]
    return {row.anchor: (row.cells[0], row.cells[1]) for row in rows}


def cells_of(results: Results) -> tuple[Cell, Cell]:
    """The cells of the only row."""
    [cells] = rows_of(results).values()
    return cells


def warnings_of(results: Results, *codes: str) -> list[str]:
    return [warning.message for warning in results.warnings if warning.code in codes]


def with_notes(run: LoadedRun, notes: Mapping[tuple[str, int], str]) -> LoadedRun:
    """The run with these rounds of an implementation marked invalid, each with its note."""
    return with_each(
        run, lambda of: of._replace(note=notes.get((of.implementation, of.round or 0)))
    )


def with_rows(run: LoadedRun, *ids: str, **fields: Any) -> LoadedRun:
    """The run with twelve rounds of another row; those of the second implementation are half."""
    scenario = Scenario(operation="handshake", protocol="1.3", side="client")
    of = {"metric": "duration", "unit": "µs", "statistic": "p50", **fields}
    rows = (
        rounds_of([by * (100.0 + n) for n in range(12)], scenario, implementation=i, **of)
        for i, by in zip(ids, (1.0, 0.5), strict=False)
    )
    return synthetic.with_rows(run, *rows)


COUNTS = {"metric": "instructions", "unit": "instructions/handshake", "statistic": "value"}
INVALID = {(RIGHT, n): "wrong suite" for n in range(1, 7)}


# --- as in a report ------------------------------------------------------------------------------


def test_two_sides_of_a_run_have_the_figures_and_verdicts_of_the_report_on_them() -> None:
    rates: Rates = {LEFT: dict.fromkeys(SIXTEEN, SLOW), RIGHT: dict.fromkeys(SIXTEEN, FAST)}
    run = loaded_run(RUN, rates)
    for fields in ({}, {"statistic": "max"}, COUNTS):
        run = with_rows(run, LEFT, RIGHT, **fields)
    run = with_notes(run, INVALID)
    shown = compared(run)
    assert shown.tables == report_of(run, baseline=LEFT).results.tables
    assert len(rows_of(shown)) == 19
    third = loaded_run(RUN, {**rates, "boringssl-1": dict.fromkeys(SIXTEEN, FAST)})
    assert compared(third).tables == compared(loaded_run(RUN, rates)).tables, "only two count"
    turned = compared(run, ids=(RIGHT, LEFT))
    assert (turned.baseline, turned.title) == (RIGHT, "OpenSSL 3.6.3 against rustls 1.0")


@pytest.mark.parametrize(
    ("left", "right", "across_hosts", "paired", "about_hosts"),
    [
        (of_both(), None, False, True, []),
        (of_both(format_="openssl-bench/2024"), None, False, False, []),
        (of_left(), of_right(), False, False, []),
        (of_left(), of_right(host_id="b-host"), False, None, ["have no ratio and no verdict"]),
        (of_left(), of_right(host_id="b-host"), True, False, ["compare the hosts as well"]),
    ],
    ids=["rounds of one run", "one after the other", "two runs", "two hosts", "across hosts"],
)
def test_only_rounds_that_measured_both_sides_are_pairs_and_hosts_are_compared_on_request(
    left: LoadedRun,
    right: LoadedRun | None,
    across_hosts: bool,
    paired: bool | None,
    about_hosts: list[str],
) -> None:
    results = compared(left, right, across_hosts=across_hosts)
    slow, fast = cells_of(results)
    assert slow.value == pytest.approx(np.median(SLOW), rel=1e-6)
    assert fast.value == pytest.approx(np.median(FAST), rel=1e-6)
    assert (fast.ratio and fast.ratio.paired) is paired
    found = warnings_of(results, "host")
    assert len(found) == len(about_hosts)
    assert all(words in message for words, message in zip(about_hosts, found, strict=True))


@pytest.mark.parametrize(
    ("beside", "factor", "facts", "verdict", "said"),
    [
        ({"boringssl-1": 1.0}, 1.0, {}, "no difference shown", "rate is higher by 14%"),
        ({"boringssl-1": 1.0}, 1.1, {}, "faster", "rate is higher by 14%"),
        ({"boringssl-1": 1.0, "gnutls-1": 1.0}, 0.9, {}, "slower", "All 2 rates are higher by 14%"),
        ({}, 1.1, {}, "not tested", "cannot be told apart"),
    ],
)
def test_between_two_runs_a_verdict_is_of_what_differs_beyond_the_shift_of_all(
    beside: dict[str, float], factor: float, facts: dict[str, str], verdict: str, said: str
) -> None:
    def run(id_: str, of: dict[str, float], more: dict[str, str]) -> LoadedRun:
        rates = {i: {SENDING: [by * (1000.0 + n % 3) for n in range(30)]} for i, by in of.items()}
        facts = {
            "id": "a-host",
            "cpu": "A CPU",
            "cpu_model": "one",
            "architecture": "x86_64",
        } | more
        return loaded_run(id_, rates, host=HostFacts.model_validate(facts))

    now = {i: 1.14 * by for i, by in beside.items()} | {RIGHT: 1.14 * factor}
    results = compared(
        run(OTHER_RUN, {LEFT: 1.0, RIGHT: 1.0, **beside}, {}), run(RUN, now, facts), (RIGHT, RIGHT)
    )
    ratio = cells_of(results)[1].ratio
    assert ratio is not None
    assert ratio.verdict == verdict
    if beside:
        assert ratio.value == pytest.approx(factor, rel=1e-3)
    assert said in heading(results)[-1], "before the tables"
    assert is_slower(results) is (verdict == "slower")


def test_a_program_does_not_change_between_two_runs() -> None:
    known = [implementation(i, binary_sha256="a" * 64) for i in (LEFT, RIGHT)]
    before, after = (
        loaded_run(id_, {LEFT: {SENDING: SLOW}, RIGHT: {SENDING: rates}}, known)
        for id_, rates in ((OTHER_RUN, FAST), (RUN, [2 * rate for rate in FAST]))
    )
    ratio = cells_of(compared(before, after, ids=(RIGHT, RIGHT)))[1].ratio
    assert ratio is not None
    assert (ratio.verdict, round(ratio.value, 2)) == ("not tested", 2.0)
    assert "the same program" in (ratio.note or "")


def test_a_verdict_keeps_to_the_noise_of_the_runs() -> None:
    def verdict(floor: float) -> str | None:
        noise = Noise(
            source="same binary twice",
            run=RUN,
            floor_percent=floor,
            comparisons=1,
            statement="",
            rows=[],
        )
        ratio = cells_of(compared(of_both(), noise=[noise]))[1].ratio
        return None if ratio is None else ratio.verdict

    assert [verdict(floor) for floor in (0.5, 9)] == ["faster", "no difference shown"]


def test_one_implementation_of_two_runs_has_two_columns_with_the_run_in_the_second() -> None:
    faster = loaded_run(OTHER_RUN, {LEFT: {SENDING: FAST}})
    for other, value in ((faster, 1035), (of_left(), 1000)):
        results = compared(of_left(), other, ids=(LEFT, LEFT))
        assert [i.label for i in results.implementations] == [
            "OpenSSL 3.6.3",
            f"OpenSSL 3.6.3 ({other.run.id})",
        ]
        assert cells_of(results)[1].value == pytest.approx(value, rel=1e-3)
        assert f"{results.date}" == "2026-11-21", "of the newer run"


def test_rows_of_other_scenarios_say_what_differs_and_have_no_verdict() -> None:
    keyed = SENDING.model_copy(update={"key_exchange": "X25519"})
    twice = with_notes(of_right([2 * rate for rate in FAST], keyed), INVALID)
    results = compared(of_left(), twice)
    left, right = cells_of(results)
    assert (left.best, right.best, right.tied) == (False, False, False)
    assert right.ratio is not None
    assert (right.ratio.verdict, right.ratio.note) == (
        "not tested",
        "measured under other conditions",
    )
    assert right.ratio.value == pytest.approx(2.07, abs=0.01)
    assert right.warnings == [
        "24 rounds count where others have 30: wrong suite",
        "key exchange not recorded and X25519",
    ]
    assert not is_slower(compared(of_left([3 * rate for rate in FAST]), of_right(FAST, keyed)))


@pytest.mark.parametrize(
    ("notes", "value", "ratio"),
    [
        (INVALID, 10 * 1035, 10 * 1.035),
        ({(RIGHT, n): "stopped" for n in range(1, 31)}, 10 * 1035, 10 * 1.035),
    ],
    ids=["six", "all"],
)
def test_figures_that_do_not_count_are_included_on_request_with_a_warning(
    notes: dict[tuple[str, int], str], value: float, ratio: float
) -> None:
    run = with_notes(of_both(SLOW, [10 * rate for rate in FAST]), notes)
    excluded = RunWarning(code="disturbed-rounds-excluded", message="Rounds do not count.")
    run = replace(run, warnings=[excluded])
    before, whole = compared(run), compared(all_valid(run))
    assert cells_of(before)[1].count == max(30 - len(notes), 30 * (len(notes) == 30))
    cell = cells_of(whole)[1]
    assert (cell.count, cell.valid) == (30, True)
    assert cell.value == pytest.approx(value, rel=2e-3)
    assert cell.ratio is not None
    assert cell.ratio.paired
    assert cell.ratio.value == pytest.approx(ratio, rel=2e-3)
    why = next(iter(notes.values()))
    assert warnings_of(whole, "invalid") == [
        f"Run {RUN}: figures that do not count are included ({why})."
    ]
    assert warnings_of(before, excluded.code) == [excluded.message]
    assert warnings_of(whole, excluded.code) == []
    assert warnings_of(before, "invalid") == warnings_of(compared(all_valid(of_both())), "invalid")


@pytest.mark.parametrize(
    ("estimator", "fields", "left", "right"),
    [
        ("best", {}, 3.0, 6.0),
        ("upper-median", {}, 2.0, 4.0),
        ("best", {"metric": "duration", "unit": "µs"}, 1.0, 2.0),
    ],
)
def test_another_estimator_gives_single_figures_without_a_verdict(
    estimator: Estimator, fields: dict[str, Any], left: float, right: float
) -> None:
    source = {"title": "A page", "url": "https://example.org/", "estimator": "mean of 4"}
    run = with_each(
        of_both([1.0, 1.0, 2.0, 3.0], [2.0, 2.0, 4.0, 6.0], source=source),
        lambda of: of._replace(**fields),
    )
    results = compared(single_figures(measured(run), estimator))
    slow, fast = cells_of(results)
    assert (slow.value, fast.value, fast.count) == (left, right, 1)
    assert fast.ratio is not None
    assert (fast.ratio.verdict, fast.ratio.paired) == ("not tested", False)
    assert results.tables[0].caption.startswith("Single figures;"), "not the source's estimator"
    assert len(warnings_of(results, "method")) == 1
    assert single_figures(whole := measured(run), "median") is whole
    alone = with_notes(run, {(RIGHT, n): "stopped" for n in range(1, 5)})
    assert not cells_of(compared(single_figures(measured(alone), estimator)))[1].valid


# --- which rows are shown ------------------------------------------------------------------------


def test_only_requested_rows_are_shown_with_the_verdicts_of_all() -> None:
    run = loaded_run(RUN, {i: dict.fromkeys(SIXTEEN, r) for i, r in ((LEFT, SLOW), (RIGHT, FAST))})
    every = rows_of(compared(run))
    for scenario, anchors in (
        ("1.3*SENDING", ["transfer-1-3-aes-256-gcm-sending"]),
        ("1-2-aes", ["transfer-1-2-aes-128-gcm-sending", "transfer-1-2-aes-128-gcm-receiving"]),
        (None, [*every]),
    ):
        shown = compared(run, scenario=scenario)
        assert rows_of(shown) == {of: every[of] for of in anchors}
    with pytest.raises(UserError) as caught:
        compared(of_both(), scenario="nothing")
    name = "TLS 1.2 transfer, AES-128-GCM, sending"
    assert str(caught.value) == f"--scenario nothing: none of\n  {name}"
    with pytest.raises(UserError) as caught:
        compared(of_left(), of_right(FAST, TRANSFERS[1]))
    assert str(caught.value) == (
        f"{RUN}/{LEFT} and {OTHER_RUN}/{RIGHT} have no scenario in common; "
        "tlsperf show prints those of a run"
    )


def test_rows_that_are_in_no_pair_are_named_with_the_reason() -> None:
    lone, gone = TRANSFERS[1:3]
    rates = {LEFT: dict.fromkeys(TRANSFERS, SLOW), RIGHT: {SENDING: FAST}}
    run = with_rows(loaded_run(RUN, rates), LEFT, RIGHT, phase="flight-1", statistic="value")
    gaps = [Gap(RIGHT, gone, "has no such suite"), Gap(LEFT, lone, "not this side's")]
    name = "TLS 1.{} transfer, AES-{}-GCM, {} (MiB/s)"
    missing = "; ".join([name.format(2, 128, "receiving"), name.format(3, 256, "receiving")])
    expected = [
        f"Left out, rustls 1.0 has no figure of it: {missing}.",
        f"Left out, rustls 1.0: has no such suite: {name.format(3, 256, 'sending')}.",
    ]
    run = replace(run, gaps=gaps)
    for ids in ((LEFT, RIGHT), (RIGHT, LEFT)):
        results = compared(run, ids=ids)
        assert warnings_of(results, "left-out") == expected
        assert len(rows_of(results)) == 1, "parts of a handshake are not compared"
    assert warnings_of(compared(run, scenario="*sending"), "left-out") == expected[1:]
    other_unit = with_rows(
        of_right(), RIGHT, metric="rate", unit="handshakes/s/thread", statistic="value"
    )
    left = with_rows(of_left(), LEFT, metric="rate", unit="handshakes/s", statistic="value")
    assert warnings_of(compared(left, other_unit), "left-out") == [
        "Left out, rustls 1.0 has no figure of it: TLS 1.3 handshake, client (handshakes/s).",
        "Left out, OpenSSL 3.6.3 has no figure of it: "
        "TLS 1.3 handshake, client (handshakes/s/thread).",
    ]


@pytest.mark.parametrize(("least", "shown"), [(0.0, 4), (0.03, 2), (0.04, 1), (0.25, 1), (0.26, 0)])
def test_rows_below_the_requested_difference_are_named_and_keep_the_verdicts_of_others(
    least: float, shown: int
) -> None:
    rates = dict(zip(TRANSFERS, (1.0, 1.25, 1 / 1.031, 1.01), strict=True))
    run = loaded_run(
        RUN,
        {
            LEFT: dict.fromkeys(TRANSFERS, SLOW),
            RIGHT: {s: [by * rate for rate in SLOW] for s, by in rates.items()},
        },
    )
    results = compared(run)
    kept = apart(results, least)
    every = rows_of(results)
    assert rows_of(kept).items() <= every.items()
    assert len(rows_of(kept)) == shown
    names = [row.name for table in results.tables for row in table.rows]
    said = "".join(warnings_of(kept, "left-out"))
    assert sum(f"{name} (MiB/s)" in said for name in names) == 4 - shown
    assert (f"less than {100 * least:g}%" in said) is (shown < 4)
    alone = compared(of_left(), of_right(host_id="b-host"))
    assert apart(alone, 0.5) == alone, "rows without a ratio stay"


# --- the two sides -------------------------------------------------------------------------------


OLDER, NEWER = "2026-10-01-small", SMALL.id
ALONE, ALONE_TOO = "2026-11-23-alone", "2026-11-24-alone"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of the same libraries, and two newer ones of another OpenSSL alone."""
    folder = tmp_path_factory.mktemp("sides") / "data" / "runs"
    for name in (NEWER, OLDER):
        write_made(folder, replace(SMALL, id=name))
    for name in (ALONE, ALONE_TOO):
        write_made(folder, replace(SMALL, id=name, implementations=["openssl-3.0.8"]))
    return folder


@pytest.mark.parametrize(
    ("left", "right", "run"),
    [
        (OPENSSL, RUSTLS, NEWER),
        (f"{OLDER}/{OPENSSL}", RUSTLS, OLDER),
        (OPENSSL, f"data/runs/{OLDER}/{RUSTLS}", OLDER),
    ],
)
def test_a_side_without_a_run_is_of_the_newest_that_has_both(
    left: str, right: str, run: str, runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert places(left, right, runs, loader(runs)) == ((run, OPENSSL), (run, RUSTLS))
    said = f"{OPENSSL} and {RUSTLS}: of run {NEWER}, the newest of 2 that have both\n"
    assert capsys.readouterr().err == (said if run == NEWER else "")


def test_a_newer_run_that_cannot_be_read_is_not_called_the_newest(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = Path(shutil.copytree(runs.parents[1], tmp_path / "site")) / "data" / "runs"
    shutil.rmtree(copy / NEWER / "raw")
    assert places(OPENSSL, RUSTLS, copy, loader(copy))[0].run == OLDER
    said = f"of run {OLDER}, the newest that can be read of 2 that have both\n"
    assert capsys.readouterr().err == f"{OPENSSL} and {RUSTLS}: {said}"


@pytest.mark.parametrize(
    ("left", "right", "said"),
    [
        ("nobody-1", OPENSSL, "'nobody-1' is not in any run in {runs}: expected "),
        (f"{NEWER}/nobody-1", OPENSSL, f"'nobody-1' is not in {NEWER}: expected "),
        (
            "openssl-3.0.8",
            f"{NEWER}/{OPENSSL}",
            "openssl-3.0.8 is in 2 runs, of which none has the other: give one, such as "
            f"{ALONE_TOO}/openssl-3.0.8, {ALONE}/openssl-3.0.8",
        ),
    ],
)
def test_a_side_that_is_nowhere_or_in_several_runs_is_refused(
    left: str, right: str, said: str, runs: Path
) -> None:
    with pytest.raises(UserError) as caught:
        places(left, right, runs, loader(runs))
    assert str(caught.value).startswith(said.format(runs=runs))


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


def definition(**more: str) -> Definition:
    known = {"run": "2026-01-01-a", "layout": "factor", "left": ONE, "right": ANOTHER}
    known |= {"errata": "", "scenarios": '["bulk_*"]'}
    return Definition.model_validate(tomllib.loads(DEFINITION.format(**known | more)))


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


def test_the_command_prints_text_markdown_csv_and_json_as_show_does(inside: Path) -> None:
    def printed(form: str, *more: str) -> str:
        return output(*TWO, *ONLY_SENDING, "--format", form, *more, code=0 if more else 1)

    [table] = json.loads(printed("json"))["tables"]
    results = json.loads((inside / "content" / "perf" / NEW / "results.json").read_bytes())
    [row] = table["rows"]
    [of_report] = [of for of in results["tables"][0]["rows"] if of["anchor"] == row["anchor"]]
    values = {cell["implementation"]: cell["value"] for cell in of_report["cells"]}
    assert [cell["value"] for cell in row["cells"]] == [values[RUSTLS], values[OPENSSL]]
    ratio = row["cells"][1]["ratio"]
    assert ratio["verdict"] == "slower"
    lines = csv.DictReader(printed("csv").splitlines())
    assert [line["ratio_verdict"] for line in lines] == ["", "slower"]
    for form in ("text", "markdown"):
        assert ratio["text"] in printed(form)
        near = printed(form, "--min-difference", "80%")
        assert ratio["text"] not in near
        assert row["name"] in near.partition("eft out, the figures differ by less than 80%")[2]


def test_the_command_takes_the_options_of_a_comparison(inside: Path) -> None:
    two = (f"{NEW}/{OPENSSL}", f"{ARM}/{OPENSSL}", *ONLY_SENDING)
    assert "no verdict; --across-hosts prints them" in output(*two)
    assert "compare the hosts as well" in output(*two, "--across-hosts")
    assert "those of the best round" in output(*TWO, *ONLY_SENDING, "--estimator", "best")
    included = "figures that do not count are included"
    assert included in output(*TWO[:1] * 2, "--include-invalid")
    assert included not in output(*TWO[:1] * 2)
    published = output(
        f"{PUBLISHED}/openssl-3.3.2", "rustls-0.23.15-aws-lc-rs", "--scenario", "transfer"
    )
    assert "The programs do not do the same work." in published, "a caveat of the report"


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
