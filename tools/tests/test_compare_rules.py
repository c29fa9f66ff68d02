"""Verdicts of a comparison consider drift, the number of comparisons, and invalid rounds."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fixture_run import RUN as EXAMPLE_RUN
from fixture_run import write_run
from synthetic import SIXTEEN, TRANSFERS, Rates, loaded_run
from tlsperf.analysis.compare import (
    ComparedSide,
    Comparison,
    LeftOut,
    apart,
    compare,
    csv_text,
    find_side,
    footnotes,
    left_out,
    left_out_text,
    markdown_text,
    matching,
    number_text,
    pairs_of,
    right_over_left,
    side_of,
    sides,
    text,
)
from tlsperf.analysis.series import measured, rounded
from tlsperf.analysis.statistics import drift, paired_ratio, unpaired_ratio
from tlsperf.contract.errors import UserError
from tlsperf.contract.record import Scenario
from tlsperf.load.frame import concatenate, tidy_frame
from tlsperf.load.run import LoadedRun
from tlsperf.load.tlsbench import Gap

RUN = "2026-11-21-a"
LEFT, RIGHT = "openssl-3.6.3", "rustls-1.0"
NOISE = np.exp(np.random.default_rng(3).normal(0, 0.002, (2, 30)))
SLOW, FAST = list(1000 * NOISE[0]), list(1015 * NOISE[1])


def sides_of(run: LoadedRun) -> tuple[ComparedSide, ComparedSide]:
    of = measured(run)
    return side_of(of, LEFT), side_of(of, RIGHT)


def compared(run: LoadedRun, **how: bool | str) -> list[Comparison]:
    left, right = sides_of(run)
    return compare(left, right, pairs_of(left, right), **how)  # type: ignore[arg-type]


def one_row(left: list[float] = SLOW, right: list[float] = FAST) -> LoadedRun:
    rates: Rates = {LEFT: {TRANSFERS[0]: left}, RIGHT: {TRANSFERS[0]: right}}
    return loaded_run(RUN, rates)


DRIFTING = np.r_[np.full(15, 1.0), np.full(15, 1.05)]


@pytest.mark.parametrize(
    ("left", "right"),
    [(list(SLOW * DRIFTING), FAST), (SLOW, list(FAST * DRIFTING))],
    ids=["left", "right"],
)
def test_an_unpaired_comparison_is_widened_by_the_drift_of_either_side(
    left: list[float], right: list[float]
) -> None:
    one = side_of(measured(loaded_run(RUN, {LEFT: {TRANSFERS[0]: left}})), LEFT)
    two = side_of(measured(loaded_run("2026-11-20-b", {RIGHT: {TRANSFERS[0]: right}})), RIGHT)
    [row] = compare(one, two, pairs_of(one, two))
    expected = drift([left, right])
    assert expected == pytest.approx(1.05, abs=0.01)
    assert row.estimate == unpaired_ratio(right, left, drift=expected)
    assert row.verdict.startswith("no difference shown (")


def test_verdicts_are_corrected_for_the_rows_that_are_compared() -> None:
    rates: Rates = {LEFT: dict.fromkeys(SIXTEEN, SLOW), RIGHT: dict.fromkeys(SIXTEEN, FAST)}
    rates[LEFT][TRANSFERS[0]] = 1000.0  # type: ignore[index]
    left, right = sides_of(loaded_run(RUN, rates))
    pairs = pairs_of(left, right)
    assert len(pairs) == 16
    rows = compare(left, right, pairs)
    assert rows[0].verdict == "not tested: single figures, without rounds to test"
    corrected = paired_ratio(FAST, SLOW, 15, spread=0.0022)
    for row in rows[1:4]:
        assert row.estimate == corrected, "the single figure is not tested, and is not counted"
    alone = compare(left, right, pairs[1:2])
    assert alone[0].estimate == paired_ratio(FAST, SLOW, 1, spread=0.0022)


def test_rows_below_the_requested_difference_are_listed_and_count_as_comparisons() -> None:
    faster = [1.031 * rate for rate in SLOW]
    same = dict.fromkeys(SIXTEEN, SLOW)
    rates: Rates = {LEFT: {**same, SIXTEEN[1]: faster}, RIGHT: {**same, SIXTEEN[0]: faster}}
    left, right = sides_of(loaded_run(RUN, rates))
    rows = compare(left, right, pairs_of(left, right))
    for least in (0.03, 0.032):
        kept, near = apart(rows, least)
        assert kept == (rows[:2] if least == 0.03 else []), "faster and slower alike"
        assert [row.name for row in near] == [row.name for row in rows if row not in kept]
    why = "their figures differ by less than 3.2%"
    assert near == [LeftOut(row.name, row.anchor, row.unit, why) for row in rows]
    at_the_limit = [replace(rows[0], factor=factor) for factor in (1.25, 0.8, 1.2, 0.81)]
    assert apart(at_the_limit, 0.25)[0] == at_the_limit[:2]
    assert apart(rows, 0.0) == (rows, [])
    without = [replace(row, factor=None) for row in rows]
    assert apart(without, 0.5) == (without, []), "a row without a factor stays"
    nothing = [replace(row, factor=0.0) for row in rows]
    assert apart(nothing, 0.5) == (nothing, [])


def with_invalid(rounds: int = 6) -> LoadedRun:
    """A run in which the first rounds of the right side are ten times as fast and invalid."""
    run = one_row(SLOW, [*(10 * r for r in FAST[:rounds]), *FAST[rounds:]])
    frame = run.frame.copy()
    marked = (frame["implementation"] == RIGHT) & (frame["round"] <= rounds)
    frame["valid"] = ~marked
    frame["note"] = frame["note"].cat.add_categories(["wrong suite"])
    frame.loc[marked, "note"] = "wrong suite"
    return LoadedRun(run.run, frame)


def test_invalid_rounds_are_in_no_figure_factor_or_verdict() -> None:
    [row] = compared(with_invalid())
    assert row.right == pytest.approx(float(np.median(FAST[6:])))
    assert row.factor == pytest.approx(float(np.median(FAST[6:]) / np.median(SLOW)))
    assert row.estimate == paired_ratio(FAST[6:], SLOW[6:], spread=0.0022)
    assert row.note == "rustls 1.0: 6 of 30 invalid, wrong suite"
    [row] = compared(with_invalid(), estimator="best")
    assert row.right == max(FAST[6:])
    [row] = compared(with_invalid(), estimator="upper-median")
    assert row.right == sorted(FAST[6:])[12]


def test_invalid_rounds_count_on_request() -> None:
    [row] = compared(with_invalid(20), include_invalid=True)
    together = [*(10 * r for r in FAST[:20]), *FAST[20:]]
    assert row.right == pytest.approx(float(np.median(together)))
    assert row.factor == pytest.approx(float(np.median(together) / np.median(SLOW)))
    assert row.estimate is not None
    assert row.estimate.rounds == 10, "their numbers are not known, so they are in no pair"
    [row] = compared(with_invalid(30))
    assert (row.factor, row.estimate, row.verdict) == (None, None, "–")
    assert row.right > 9 * row.left, "what must not count is shown where there is nothing else"
    [row] = compared(with_invalid(30), include_invalid=True)
    assert row.estimate is not None
    assert not row.estimate.paired
    assert row.estimate.rounds == 30


def marked(run: LoadedRun, rounds: dict[tuple[str, int], str]) -> LoadedRun:
    """The run with these rounds of an implementation marked invalid, each with its note."""
    frame = run.frame.copy()
    frame["note"] = frame["note"].cat.add_categories(sorted({*rounds.values()}))
    for (implementation, number), note in rounds.items():
        at = (frame["implementation"] == implementation) & (frame["round"] == number)
        frame.loc[at, "valid"] = False
        frame.loc[at, "note"] = note
    return LoadedRun(run.run, frame)


def test_a_note_has_the_reasons_of_both_sides() -> None:
    wrong = {(LEFT, 1): "wrong suite", (LEFT, 2): "stopped", (RIGHT, 3): "stopped"}
    [row] = compared(marked(one_row(), wrong))
    assert row.note == (
        "OpenSSL 3.6.3: 2 of 30 invalid, wrong suite; stopped | "
        "rustls 1.0: 1 of 30 invalid, stopped"
    )


def test_invalid_rounds_of_the_left_side_count_on_request() -> None:
    run = marked(one_row(), {(LEFT, n): "wrong suite" for n in range(1, 31)})
    [row] = compared(run)
    assert (row.factor, row.estimate) == (None, None)
    [row] = compared(run, include_invalid=True)
    assert row.estimate is not None
    assert (row.estimate.paired, row.estimate.rounds) == (False, 30)
    assert row.estimate.value == pytest.approx(1.015, abs=0.002)
    assert row.factor == pytest.approx(float(np.median(FAST) / np.median(SLOW)))
    few = marked(one_row(), {(LEFT, n): "wrong suite" for n in range(1, 11)})
    [row] = compared(few)
    assert row.estimate is not None
    assert row.estimate.rounds == 20
    assert row.left == pytest.approx(float(np.median(SLOW[10:])))
    [row] = compared(few, include_invalid=True)
    assert row.left == pytest.approx(float(np.median(SLOW)))


def test_rounds_of_one_run_are_pairs_and_those_of_two_are_not() -> None:
    [row] = compared(one_row())
    assert row.estimate is not None
    assert row.estimate.paired
    other = loaded_run("2026-11-20-b", {RIGHT: {TRANSFERS[0]: FAST}})
    left, right = sides_of(one_row())[0], side_of(measured(other), RIGHT)
    [row] = compare(left, right, pairs_of(left, right))
    assert row.estimate is not None
    assert not row.estimate.paired


def test_figures_of_two_hosts_have_a_footnote_and_factors_only_if_requested() -> None:
    other = loaded_run("2026-11-20-b", {RIGHT: {TRANSFERS[0]: FAST}}, host_id="b-host")
    left, right = sides_of(one_row())[0], side_of(measured(other), RIGHT)
    pairs = pairs_of(left, right)
    [row] = compare(left, right, pairs)
    assert (row.factor, row.estimate, row.verdict) == (None, None, "–")
    hosts = "Measured on different hosts (a-host and b-host): "
    assert footnotes(left, right, [row]) == [
        f"{hosts}no factor and no verdict; --across-hosts prints them."
    ]
    [row] = compare(left, right, pairs, across_hosts=True)
    assert row.factor == pytest.approx(float(np.median(FAST) / np.median(SLOW)))
    assert row.estimate is not None
    unpaired = f"Verdicts are {row.estimate.note}."
    assert footnotes(left, right, [row]) == [
        unpaired,
        f"{hosts}factors compare the hosts as well.",
    ]
    untested = replace(row, estimate=replace(row.estimate, low=None, note="of single figures"))
    beside = sides_of(one_row())[1]
    assert footnotes(left, beside, [row, untested]) == [unpaired]
    assert footnotes(left, beside, compared(one_row())) == []


def latency(factor: float, implementation: str) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {
        k: [v] * 12
        for k, v in {
            **Scenario(operation="handshake", protocol="1.3", side="client").model_dump(),
            "implementation": implementation,
            "metric": "duration",
            "unit": "µs",
            "statistic": "p50",
        }.items()
    }
    values: list[Any] = [factor * (100.0 + n) for n in range(12)]
    return columns | {
        "file": ["f"] * 12,
        "line": list(range(12)),
        "round": list(range(1, 13)),
        "value": values,
    }


def test_the_shorter_duration_is_faster_and_the_shortest_is_best() -> None:
    run = one_row()
    frames = [tidy_frame(latency(f, i)) for f, i in ((1.0, LEFT), (0.5, RIGHT))]
    both = LoadedRun(run.run, concatenate([run.frame, *frames]))
    [row] = [r for r in compared(both) if r.unit == "µs"]
    assert row.factor == pytest.approx(0.5)
    assert row.verdict.startswith("2.00x faster (")
    [best] = [r for r in compared(both, estimator="best") if r.unit == "µs"]
    assert (best.left, best.right) == (100, 50)


def test_counts_are_compared_in_their_own_words() -> None:
    run = one_row()
    counts = {"metric": ["instructions"] * 12, "unit": ["instructions/handshake"] * 12}
    frames = [
        tidy_frame({**latency(factor, i), **counts, "statistic": ["value"] * 12})
        for factor, i in ((1.0, LEFT), (0.5, RIGHT))
    ]
    both = LoadedRun(run.run, concatenate([run.frame, *frames]))
    [row] = [r for r in compared(both) if r.unit == "instructions/handshake"]
    assert row.verdict.startswith("2.00x fewer (")


def test_maxima_are_not_tested_whether_or_not_invalid_ones_count() -> None:
    run = one_row()
    frames = [
        tidy_frame({**latency(factor, i), "statistic": ["max"] * 12})
        for factor, i in ((1.0, LEFT), (0.5, RIGHT))
    ]
    both = LoadedRun(run.run, concatenate([run.frame, *frames]))
    for include_invalid in (False, True):
        [row] = [r for r in compared(both, include_invalid=include_invalid) if r.unit == "µs"]
        assert (row.left, row.right) == (111, 55.5)
        assert row.verdict == "not tested: of maxima, which are not tested"


def test_rows_are_matched_by_name_where_sources_record_different_fields() -> None:
    grouped = TRANSFERS[0].model_copy(update={"key_exchange": "X25519"})
    other = TRANSFERS[1]
    left = loaded_run(RUN, {LEFT: {TRANSFERS[0]: SLOW, TRANSFERS[2]: SLOW}})
    right = loaded_run("2026-11-20-b", {RIGHT: {grouped: FAST, other: FAST, TRANSFERS[2]: FAST}})
    pairs = pairs_of(side_of(measured(left), LEFT), side_of(measured(right), RIGHT))
    assert [(p.left.scenario, p.right.scenario) for p in pairs] == [
        (TRANSFERS[0], grouped),
        (TRANSFERS[2], TRANSFERS[2]),
    ]
    assert [p.anchor for p in pairs] == [
        "transfer-1-2-aes-128-gcm-sending",
        "transfer-1-3-aes-256-gcm-sending",
    ]
    without = left_out(side_of(measured(left), LEFT), side_of(measured(right), RIGHT), pairs)
    assert [row.anchor for row in without] == ["transfer-1-2-aes-128-gcm-receiving"]
    assert [p.anchor for p in matching(pairs, "1.3*SENDING")] == [pairs[1].anchor]
    assert [p.anchor for p in matching(pairs, "1-2-aes")] == [pairs[0].anchor]
    assert matching(pairs, "receiving") == []
    assert matching(pairs, None) == pairs


def test_parts_of_a_handshake_are_not_compared() -> None:
    run = one_row()
    parts = [
        tidy_frame({**latency(1.0, i), "phase": ["flight-1"] * 12, "statistic": ["value"] * 12})
        for i in (LEFT, RIGHT)
    ]
    left, _ = sides_of(LoadedRun(run.run, concatenate([run.frame, *parts])))
    assert [row.scenario for row in left.rows] == [TRANSFERS[0]]


def comparison(**fields: object) -> Comparison:
    [row] = compared(one_row())
    return replace(row, **fields)  # type: ignore[arg-type]


def test_the_texts_of_a_comparison() -> None:
    left, right = sides_of(one_row())
    rows = [
        comparison(left=1000.0, right=1500.25, factor=1.50025, verdict="1.50x faster"),
        comparison(factor=None, estimate=None, verdict="–", note="a | b"),
    ]
    markdown = text(left, right, rows, "markdown", []).splitlines()
    assert markdown[0] == "|Scenario|Unit|OpenSSL 3.6.3|rustls 1.0|Factor|Verdict|Note|"
    assert markdown[1] == "|-|-|-:|-:|-:|-|-|"
    assert markdown[2] == (
        "|TLS 1.2 transfer, AES-128-GCM, sending|MiB/s|1000.0|1500.25|1.50x|1.50x faster||"
    )
    assert markdown[3].endswith(r"|–|–|a \| b|")
    assert text(left, right, rows[:1], "markdown", []).splitlines()[0].endswith("|Factor|Verdict|")
    csv = text(left, right, rows, "csv", []).splitlines()
    assert csv[0] == "scenario,unit,left,right,factor,verdict,note"
    assert csv[2].endswith(",–,–,a | b")
    assert markdown_text(["a", "b"], [["1.5x", "–"], ["x", ""]]) == (
        "|a|b|\n|-|-|\n|1.5x|–|\n|x||\n"
    )
    assert csv_text([["a", 'b"c'], ["d,e", ""]]) == 'a,"b""c"\n"d,e",\n'
    assert (number_text(1234.5678901234), right_over_left(None)) == ("1234.56789", "–")
    assert right_over_left(1.824) == "1.82x"


def test_an_unpaired_comparison_leaves_out_invalid_rounds_too() -> None:
    run = with_invalid(6)
    foreign = [f.model_copy(update={"format": "openssl-bench/2024"}) for f in run.run.files]
    apart = LoadedRun(run.run.model_copy(update={"files": foreign}), run.frame)
    [row] = compared(apart)
    assert row.estimate is not None
    assert (row.estimate.paired, row.estimate.rounds) == (False, 24)
    assert row.estimate.value == pytest.approx(1.015, abs=0.002)
    [row] = compared(apart, include_invalid=True)
    assert row.estimate is not None
    assert row.estimate.rounds == 30
    slow = [*(10 * r for r in SLOW[:20]), *SLOW[20:]]
    left = marked(one_row(slow, FAST[:6]), {(LEFT, n): "wrong suite" for n in range(1, 21)})
    [row] = compared(LoadedRun(left.run.model_copy(update={"files": foreign}), left.frame))
    assert row.estimate is not None
    assert row.estimate.value == pytest.approx(1.015, abs=0.003)


def test_a_row_as_json_has_all_known_fields() -> None:
    left, right = sides_of(one_row())
    [row] = compared(one_row())
    assert row.estimate is not None
    plain = replace(row, factor=None, estimate=None, note="why")
    untested = replace(row, estimate=replace(row.estimate, low=None))
    document = json.loads(text(left, right, [row, plain, untested], "json", []))
    assert document["left"] == {
        "run": RUN,
        "host": "a-host",
        "implementation": LEFT,
        "label": "OpenSSL 3.6.3",
    }
    assert document["right"]["implementation"] == RIGHT
    common = {
        "scenario": "TLS 1.2 transfer, AES-128-GCM, sending",
        "anchor": "transfer-1-2-aes-128-gcm-sending",
        "unit": "MiB/s",
        "left": rounded(row.left, 9),
        "right": rounded(row.right, 9),
    }
    factor = {"factor": rounded(row.factor or 0, 6)}
    tested = {"verdict": "faster", "paired": True}
    interval = [rounded(row.estimate.low or 0, 6), rounded(row.estimate.high or 0, 6)]
    assert document["rows"] == [
        common | factor | tested | {"interval": interval},
        common | {"note": "why"},
        common | factor | tested,
    ]
    assert text(left, right, [plain], "json", []).startswith('{\n "left": {')
    assert text(left, right, [plain], "json", []).endswith("}\n")
    shown = replace(row, name="µ")
    assert "µ" in text(left, right, [shown], "json", [])


def test_rows_that_are_in_no_pair_are_listed_with_their_reason() -> None:
    both, lone = TRANSFERS[0], TRANSFERS[1]
    run = loaded_run(RUN, {LEFT: {both: SLOW, lone: SLOW, TRANSFERS[2]: SLOW}, RIGHT: {both: FAST}})
    part: dict[str, list[Any]] = {
        **latency(1.0, LEFT),
        "phase": ["flight-1"] * 12,
        "statistic": ["value"] * 12,
    }
    other: dict[str, list[Any]] = {**part, "phase": ["flight-2"] * 12}
    gaps = [Gap(RIGHT, TRANSFERS[2], "has no such suite"), Gap(LEFT, lone, "not this side's")]
    frame = concatenate([run.frame, tidy_frame(part), tidy_frame(other)])
    left, right = sides_of(LoadedRun(run.run, frame, gaps))
    pairs = pairs_of(left, right)
    without = left_out(left, right, pairs)
    assert [(row.anchor, row.unit, row.why) for row in without] == [
        ("transfer-1-2-aes-128-gcm-receiving", "MiB/s", "rustls 1.0 has no figure of it"),
        ("transfer-1-3-aes-256-gcm-sending", "MiB/s", "rustls 1.0: has no such suite"),
        ("handshake-1-3-client-flight-1", "µs", "each a phase of another row"),
        ("handshake-1-3-client-flight-2", "µs", "each a phase of another row"),
    ]
    turned = left_out(right, left, pairs_of(right, left))
    assert [row.anchor for row in turned] == [row.anchor for row in without]
    rows = compare(left, right, pairs)
    markdown = text(left, right, rows, "markdown", without)
    name = without[2].name.removesuffix(", flight 1")
    assert markdown.endswith(
        "\nLeft out, rustls 1.0 has no figure of it:\n\n"
        "- TLS 1.2 transfer, AES-128-GCM, receiving (MiB/s)\n"
        "\nLeft out, rustls 1.0: has no such suite:\n\n"
        "- TLS 1.3 transfer, AES-256-GCM, sending (MiB/s)\n"
        f"\nLeft out, each a phase of another row:\n\n- {name} (µs): flight 1, flight 2\n"
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
    assert [row.anchor for row in matching(without, "1.3*sending")] == [without[1].anchor]


def test_rows_that_are_left_out_for_one_reason_are_in_one_list() -> None:
    rows = [LeftOut(name, name, "µs", why) for name, why in (("a, b", "x"), ("c", "y"), ("d", "x"))]
    assert left_out_text(rows) == [
        "\nLeft out, x:\n\n- a, b (µs)\n- d (µs)\n",
        "\nLeft out, y:\n\n- c (µs)\n",
    ]


def test_requested_rows_that_are_left_out_are_listed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = loaded_run(RUN, {LEFT: dict.fromkeys(TRANSFERS[:3], 1.0), RIGHT: {TRANSFERS[0]: 1.0}})
    there = dict(zip((LEFT, RIGHT), sides_of(run), strict=True))
    monkeypatch.setattr("tlsperf.analysis.compare.find_side", lambda name, _: there[name])
    *_, without = sides(Path(), LEFT, RIGHT, "1.2")
    assert [row.anchor for row in without] == ["transfer-1-2-aes-128-gcm-receiving"]
    *_, without = sides(Path(), LEFT, RIGHT, None)
    assert len(without) == 2


def test_a_row_in_another_unit_is_left_out_with_that_unit() -> None:
    def speeds(run: str, i: str, unit: str) -> ComparedSide:
        made = loaded_run(run, {i: {TRANSFERS[0]: SLOW}})
        frame = made.frame.copy()
        frame["unit"] = frame["unit"].cat.add_categories([unit])
        frame["unit"] = unit
        return side_of(measured(LoadedRun(made.run, frame)), i)

    left = side_of(measured(loaded_run(RUN, {LEFT: {TRANSFERS[0]: SLOW}})), LEFT)
    right = speeds("2026-11-20-b", RIGHT, "operations/s")
    assert [row.why for row in left_out(left, right, pairs_of(left, right))] == [
        "rustls 1.0 has it in operations/s",
        "OpenSSL 3.6.3 has it in MiB/s",
    ]


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A folder with the example's run."""
    return write_run(tmp_path).parent


def test_two_implementations_are_found_by_their_ids(runs: Path) -> None:
    side = find_side("openssl-3.6.1", runs)
    assert (side.run.id, side.implementation.id) == (EXAMPLE_RUN, "openssl-3.6.1")
    assert find_side(f"{EXAMPLE_RUN}/openssl-3.6.1", runs).run.id == EXAMPLE_RUN
    with pytest.raises(UserError) as caught:
        find_side("nobody-1", runs)
    assert str(caught.value).startswith(f"'nobody-1' is not in any run in {runs}: expected ")
    with pytest.raises(UserError) as caught:
        find_side(f"{EXAMPLE_RUN}/nobody-1", runs)
    assert str(caught.value).startswith(f"'nobody-1' is not in {EXAMPLE_RUN}: expected ")
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


def test_a_comparison_loads_a_run_once_and_has_the_requested_rows(
    runs: Path,
) -> None:
    def of(
        scenario: str | None = None, estimator: Any = "median", invalid: bool = False
    ) -> list[dict[str, Any]]:
        left, right, pairs, without = sides(runs, "boringssl-30cd935", "openssl-3.6.1", scenario)
        made = text(left, right, compare(left, right, pairs, estimator, invalid), "json", without)
        rows: list[dict[str, Any]] = json.loads(made)["rows"]
        return rows

    every = of()
    assert every[0]["paired"] is True, "both sides are of one run"
    chosen = of("*sending")
    assert chosen
    assert [r["anchor"] for r in chosen] == [
        r["anchor"] for r in every if r["anchor"].endswith("sending")
    ]
    assert of("*sending", "best")[0]["left"] > chosen[0]["left"]
    names = "\n  ".join(r["scenario"] for r in every)
    with pytest.raises(UserError) as caught:
        of("nothing")
    assert str(caught.value) == f"--scenario nothing: none of\n  {names}"
    noted = [r for r in every if "note" in r]
    counted = {r["anchor"]: r for r in of(invalid=True)}
    assert all("factor" in counted[r["anchor"]] for r in noted)


def test_implementations_without_a_common_scenario_are_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    there = {
        LEFT: side_of(measured(loaded_run(RUN, {LEFT: {TRANSFERS[0]: 1.0}})), LEFT),
        RIGHT: side_of(measured(loaded_run("2026-11-20-b", {RIGHT: {TRANSFERS[1]: 1.0}})), RIGHT),
    }
    monkeypatch.setattr("tlsperf.analysis.compare.find_side", lambda name, _: there[name])
    with pytest.raises(UserError) as caught:
        sides(Path(), LEFT, RIGHT, None)
    assert str(caught.value) == (
        f"{LEFT} and {RIGHT} have no scenario in common; tlsperf show prints those of a run"
    )
