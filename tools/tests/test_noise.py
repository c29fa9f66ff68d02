"""Which measurements of one thing are compared, what their floor is, and how it is stated."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from project import PUBLISHED
from synthetic import (
    SIXTEEN,
    TRANSFERS,
    Rates,
    implementation,
    in_sessions,
    loaded_run,
    with_each,
    with_rows,
)
from tlsperf.analysis.noise import (
    _per_cent,
    _percent,
    alternate_rounds,
    another_layout,
    measure_noise,
    noise_of,
    noise_text,
    same_binary_twice,
    verdict_floor,
)
from tlsperf.analysis.series import MeasuredRun, measured
from tlsperf.contract.errors import UserError
from tlsperf.contract.results import Noise
from tlsperf.load.rows import ParsedRow

RUN = "2026-11-21-a"
ONE, TWO, THREE = "openssl-3.6.3", "openssl-3.6.3-again", "rustls-1.0"
SENDING, RECEIVING = TRANSFERS[:2]
SHAS = {ONE: "a", TWO: "a", THREE: "b"}


def run_of(
    rates: Rates, id_: str = RUN, shas: dict[str, str] = SHAS, rounds: int = 1000, **more: Any
) -> MeasuredRun:
    """A run of these programs, with so many rounds in each session."""
    known = [implementation(i, binary_sha256=64 * shas[i] if i in shas else None) for i in rates]
    run = loaded_run(id_, rates, known, **more)
    rounded = [row.round for row in run.rows if row.round]
    return measured(in_sessions(run, rounds) if rounded else run)


def sessions_of(factors: dict[str, list[float]], **more: Any) -> MeasuredRun:
    """Sessions of six rounds in which implementations are faster by these factors."""
    rates: Rates = {i: {SENDING: list(1000 * np.repeat(f, 6))} for i, f in factors.items()}
    return run_of(rates, rounds=6, **more)


def noisy(ids: list[str], rounds: int = 30) -> Rates:
    """Rounds of 2% noise."""
    random = np.random.default_rng(1)
    return {
        i: {s: list(1000 * np.exp(random.normal(0, 0.02, rounds))) for s in SIXTEEN} for i in ids
    }


def found(noise: Noise | None) -> Noise:
    assert noise is not None
    return noise


# --- within a run --------------------------------------------------------------------------------


def test_same_binary_twice_gives_the_noise_of_a_ratio() -> None:
    rates = noisy([ONE, TWO])
    noise = found(same_binary_twice(run_of(rates)))
    assert (noise.comparisons, noise.false_verdicts) == (16, 0)
    # Two standard errors of a mean of 30 differences of two such noises are 1.04%.
    assert 0.5 < (noise.floor_percent or 0) < 2
    moved = {s: [1.1 * r for r in np.atleast_1d(v)] for s, v in rates[ONE].items()}
    noise = found(same_binary_twice(run_of({**rates, ONE: moved})))
    assert noise.false_verdicts == 16
    assert (noise.floor_percent or 0) > 9


def test_alternate_rounds_are_the_odd_ones_over_the_even_ones() -> None:
    rounds = [110.0, 100.0] * 10
    noise = found(alternate_rounds(run_of({ONE: {SENDING: [*rounds, 999.0]}})))
    assert (noise.source, noise.run) == ("alternate rounds", RUN)
    assert (noise.floor_percent, noise.comparisons, noise.false_verdicts) == (10, 1, 1)
    [row] = noise.rows
    assert row.ratio.value == pytest.approx(1.1)
    assert row.ratio.paired
    assert (row.implementation, row.name) == (ONE, "TLS 1.2 transfer, AES-128-GCM, sending")
    assert row.anchor == "transfer-1-2-aes-128-gcm-sending"
    assert noise.statement == (
        "Odd rounds of this run against even ones: 95% of the 1 ratios are within 10.0% of 1; 1 of "
        "them would have been called faster or slower."
    )
    few = found(alternate_rounds(run_of({ONE: {SENDING: [110.0, 100.0]}})))
    assert (few.floor_percent, few.false_verdicts) == (10, None)
    assert few.statement.endswith("too few rounds for a verdict on any of them.")
    assert few.rows[0].ratio.text == "1.10x, too few rounds"
    for single in ([110.0], 110.0):
        assert alternate_rounds(run_of({ONE: {SENDING: single}})) is None


def test_rounds_of_zero_give_no_noise() -> None:
    def with_zero(rates: Rates) -> MeasuredRun:
        def first_is_zero(row: ParsedRow) -> ParsedRow:
            is_zero = row.scenario.side == "sender" and row.round == 1
            return row._replace(value=0.0) if is_zero else row

        return measured(with_each(loaded_run(RUN, rates), first_is_zero))

    noise = found(alternate_rounds(with_zero({ONE: dict.fromkeys(TRANSFERS[:2], [1.0] * 12)})))
    assert [row.anchor for row in noise.rows] == ["transfer-1-2-aes-128-gcm-receiving"]
    assert "95% of the 1 ratios are within 0.000% of 1; none of them" in noise.statement
    assert alternate_rounds(with_zero({ONE: {SENDING: [1.0] * 12}})) is None
    zero = with_each(sessions_of({ONE: [1.0, 1.0]}).loaded, lambda row: row._replace(value=0.0))
    assert another_layout(measured(zero)).comparisons == 0


def test_verdicts_among_equal_things_are_corrected_for_their_number() -> None:
    rates = noisy([ONE], rounds=24)
    wide, narrow = (
        found(alternate_rounds(run_of(of))).rows[0].ratio
        for of in (rates, {ONE: {SIXTEEN[0]: rates[ONE][SIXTEEN[0]]}})
    )
    assert wide.value == narrow.value
    assert (wide.low or 1) < (narrow.low or 0)


def test_two_ids_of_one_program_are_compared_in_the_rounds_that_both_have() -> None:
    rates: Rates = {i: {SENDING: [2.0 ** (n % 4) for n in range(12)]} for i in (ONE, TWO, THREE)}
    whole = run_of(rates).loaded
    kept = [of for of in whole.rows if of.implementation != TWO or of.round not in (1, 2)]
    noise = found(same_binary_twice(measured(replace(whole, rows=kept))))
    assert noise.statement == (
        "The same binary twice in this run: 95% of the 1 ratios are within 0.000% of 1; none of "
        "them would have been called faster or slower."
    )
    [row] = noise.rows
    assert row.implementation == ONE
    assert row.ratio.note is None, "ten rounds are enough"


@pytest.mark.parametrize(
    ("is_one", "more"),
    [
        (True, {}),
        (True, {"build": "repeat-2"}),
        (False, {"build": "tuned"}),
        (False, {"build": "tuned-gcc"}),
        (False, {"cpu_mask": "~0x1"}),
        (False, {"binary_sha256": "b" * 64}),
        (False, {"binary_sha256": None}),
        (False, {"format_": "openssl-bench/2023"}),
        (False, {"scenario": RECEIVING}),
    ],
)
def test_duplicates_are_one_program_run_alike_in_common_rounds(
    is_one: bool, more: dict[str, Any]
) -> None:
    scenario, format_ = more.pop("scenario", SENDING), more.pop("format_", "tlsbench/1")
    same = {"binary_sha256": "a" * 64}
    both = [implementation(ONE, **same), implementation(TWO, **same | more)]
    rates: Rates = {ONE: {SENDING: [1.0, 2.0]}, TWO: {scenario: [1.0, 2.0]}}
    noise = same_binary_twice(measured(loaded_run(RUN, rates, both, format_)))
    assert (noise is not None) is is_one


# --- between sessions ----------------------------------------------------------------------------


def layouts(*of_sessions: int) -> dict[str, Any]:
    kinds = {0: "own", 1: "shifted"}
    return {
        "sessions": [
            {"number": n, "started": "2026-11-21T08:00:00Z", "seed": n, "layout": layout}
            for n, layout in enumerate(of_sessions, 1)
        ],
        "layouts": [
            {"number": n, "kind": kind, "programs": dict.fromkeys((ONE, THREE), "ab"[n] * 64)}
            for n, kind in kinds.items()
        ],
    }


def test_another_layout_is_all_pairs_of_layouts_and_their_ratios_those_of_means() -> None:
    factors = {ONE: [1.0, 1.0, 1.05], THREE: [1.0, 1.0, 1.0]}
    for shas in (SHAS, {}):
        noise = another_layout(sessions_of(factors, shas=shas, **layouts(0, 0, 1)))
        assert (noise.comparisons, noise.false_verdicts) == (4, None)
        assert noise.floor_percent == pytest.approx(5)
        assert noise.ratio_percent == pytest.approx(100 * (1.05 ** (1 / 3**0.5) - 1), abs=0.01)
        start = "Another layout of the same build: 95% of 4 pairs of medians"
        assert noise.statement.startswith(start)
        [first, second] = noise.rows
        assert (first.implementation, second.implementation) == (ONE, THREE)
        assert first.ratio.value == pytest.approx(1 / 1.05, rel=1e-5)
        assert first.ratio.note == "the two medians that are the farthest apart"
    assert another_layout(sessions_of(factors, **layouts(0, 0, 0))).comparisons == 0
    partly = layouts(0, 1, 1)
    for layout in partly["layouts"]:
        del layout["programs"][THREE]
    assert another_layout(sessions_of(factors, **partly)).comparisons == 2, "of one program"
    single = layouts(0, 1)
    for layout in single["layouts"]:
        del layout["programs"][THREE]
    alone = another_layout(sessions_of({ONE: [1.0, 1.02]}, **single))
    assert (alone.comparisons, alone.ratio_percent) == (1, None)


def test_sessions_without_common_rounds_have_medians_and_no_ratios() -> None:
    factors = {ONE: [1.0, 1.03], THREE: [1.0, 1.0]}
    run = sessions_of(factors, **layouts(0, 1)).loaded
    turns = [
        of
        for of in run.rows
        if of.session != 1 or ((of.round or 0) % 2 == 1) != (of.implementation == ONE)
    ]
    assert another_layout(measured(run)).ratio_percent is not None
    for noise in (
        another_layout(measured(replace(run, rows=turns))),
        another_layout(sessions_of(factors, format_="openssl-bench/2024", **layouts(0, 1))),
    ):
        assert (noise.comparisons, noise.ratio_percent) == (2, None)


@pytest.mark.parametrize("columns", [{"statistic": "p50"}, {"phase": "flight-1"}])
def test_percentiles_and_phases_are_no_noise(columns: dict[str, Any]) -> None:
    run = sessions_of({ONE: [1.0, 1.03], THREE: [1.0, 1.0]}, **layouts(0, 1)).loaded
    more = [of._replace(value=of.value * n, **columns) for n, of in enumerate(run.rows, 1)]
    both = measured(with_rows(run, more))
    assert len(both.series) == 2
    assert another_layout(both) == another_layout(measured(run))


def test_unmeasured_noise_is_stated() -> None:
    run = sessions_of({ONE: [1.0]})
    layout = another_layout(run)
    assert (layout.comparisons, layout.rows, layout.floor_percent) == (0, [], None)
    assert layout.statement == (
        "Another layout: not measured, because each program of this run has only one."
    )
    assert [n.source for n in noise_of(run)] == ["alternate rounds", "another layout"]
    assert noise_of(run_of({ONE: {SENDING: 1000.0}})) == []


# --- floors and texts ----------------------------------------------------------------------------


def test_a_floor_is_known_to_three_decimals_and_shown_with_as_many_as_it_needs() -> None:
    assert _percent([1.01234567]) == 1.235
    shown = [_per_cent(floor) for floor in (0.0996, 0.1, 0.55, 2.34)]
    assert shown == ["0.100", "0.1", "0.6", "2.3"]


@pytest.mark.parametrize(
    ("floor", "noises"),
    [
        (1.03, [("alternate rounds", 2, 9), ("another layout", 9, 3)]),
        (1.02, [("alternate rounds", 2, 9), ("another layout", 9, None)]),
        (1.01, [("same binary twice", 1, None)]),
        (1.04, [("another layout", 9, 4)]),
        (1, [("another layout", 9, None)]),
        (1, []),
    ],
)
def test_the_floor_of_verdicts_is_the_largest_noise_of_ratios(
    floor: float, noises: list[tuple[Any, float, float | None]]
) -> None:
    about: dict[str, Any] = {"run": RUN, "comparisons": 1, "statement": "", "rows": []}
    made = [
        Noise(source=source, floor_percent=of, ratio_percent=ratio, **about)
        for source, of, ratio in noises
    ]
    assert verdict_floor(made) == pytest.approx(floor)


def test_the_text_has_a_table_for_each_source_with_rows() -> None:
    run = sessions_of({ONE: [1.0, 1.03], THREE: [1.0, 1.0]}, **layouts(0, 1))
    text = noise_text(run, noise_of(run)).split("\n\n")
    assert text[1].splitlines() == [
        "| scenario | implementation | against itself |",
        "|---|---|---|",
        "| TLS 1.2 transfer, AES-128-GCM, sending | OpenSSL 3.6.3 | 1.00x, too few rounds |",
        "| TLS 1.2 transfer, AES-128-GCM, sending | rustls 1.0 | 1.00x, too few rounds |",
    ]
    assert text[2].startswith("Another layout of the same build")
    assert text[-1].splitlines()[2].endswith("| OpenSSL 3.6.3 | 0.97x |")


def test_single_figures_have_no_noise(project: Path) -> None:
    with pytest.raises(UserError, match="single figures"):
        measure_noise(project / "data" / "runs" / PUBLISHED)
