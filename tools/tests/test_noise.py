"""Which measurements of one thing are compared, what their floor is, and how it is stated."""

from __future__ import annotations

import shutil
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from project import HOST, PUBLISHED, write_run
from project import RUN as EXAMPLE
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
    earlier,
    measure_noise,
    noise_of,
    noise_text,
    other_sessions,
    same_binary_twice,
    verdict_floor,
)
from tlsperf.analysis.series import MeasuredRun, measured
from tlsperf.contract.errors import UserError
from tlsperf.contract.results import Noise
from tlsperf.contract.run import HostFacts, Run
from tlsperf.load.rows import ParsedRow

RUN, BEFORE = "2026-11-21-a", "2026-11-20-b"
ONE, TWO, THREE = "openssl-3.6.3", "openssl-3.6.3-again", "rustls-1.0"
SENDING, RECEIVING = TRANSFERS[:2]
SHAS = {ONE: "a", TWO: "a", THREE: "b"}
SESSIONS = "Other sessions of the same programs on this host: 95% of"


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
    assert other_sessions(measured(zero), []).comparisons == 0


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


def test_other_sessions_are_all_pairs_of_sessions_and_their_ratios_those_of_means() -> None:
    noise = other_sessions(sessions_of({ONE: [1.0, 1.0, 1.03], THREE: [1.0, 1.0, 1.0]}), [])
    assert (noise.comparisons, noise.others, noise.false_verdicts) == (6, [], None)
    assert noise.floor_percent == pytest.approx(3)
    expected = 100 * (1.03 ** (1 / 3**0.5) - 1)
    assert noise.ratio_percent == pytest.approx(expected, abs=1e-3)
    assert noise.statement == (
        f"{SESSIONS} 6 pairs of medians are within 3.0% of each other, and 95% of 3 pairs of "
        f"ratios of two implementations are within {expected:.1f}% for means of 3 sessions."
    )
    [first, second] = noise.rows
    assert (first.implementation, second.implementation) == (ONE, THREE)
    assert first.ratio.value == pytest.approx(1 / 1.03, rel=1e-5)
    assert first.ratio.note == "the two medians that are the farthest apart"
    assert verdict_floor([noise]) == pytest.approx(1 + expected / 100, abs=1e-5)
    alone = other_sessions(sessions_of({ONE: [1.0, 1.02]}), [])
    assert alone.ratio_percent is None
    assert alone.statement == f"{SESSIONS} 1 pairs of medians are within 2.0% of each other."


def test_sessions_without_common_rounds_have_medians_and_no_ratios() -> None:
    factors = {ONE: [1.0, 1.03], THREE: [1.0, 1.0]}
    run = sessions_of(factors).loaded
    turns = [
        of
        for of in run.rows
        if of.session != 1 or ((of.round or 0) % 2 == 1) != (of.implementation == ONE)
    ]
    alone = {i: of[:1] for i, of in factors.items()}
    before = sessions_of(alone, id_=BEFORE, format_="openssl-bench/2024")
    assert other_sessions(measured(run), []).ratio_percent is not None
    for noise in (
        other_sessions(measured(replace(run, rows=turns)), []),
        other_sessions(sessions_of(factors, format_="openssl-bench/2024"), []),
        other_sessions(sessions_of(alone), [before]),
    ):
        assert (noise.comparisons, noise.ratio_percent) == (2, None)


@pytest.mark.parametrize("columns", [{"statistic": "p50"}, {"phase": "flight-1"}])
def test_percentiles_and_phases_are_no_noise(columns: dict[str, Any]) -> None:
    run = sessions_of({ONE: [1.0, 1.03], THREE: [1.0, 1.0]}).loaded
    more = [of._replace(value=of.value * n, **columns) for n, of in enumerate(run.rows, 1)]
    both = measured(with_rows(run, more))
    assert len(both.series) == 2
    assert other_sessions(both, []) == other_sessions(measured(run), [])


HERE = {"kernel": "6.1", "microcode": "0x1", "mitigations": {"mds": "Not affected"}}


def host(**facts: Any) -> HostFacts:
    return HostFacts(id="a-host", cpu="A CPU", architecture="x86_64", **facts)


@pytest.mark.parametrize(
    ("is_one", "more"),
    [
        (True, {}),
        (True, {"host": host()}),
        (False, {"host_id": "another"}),
        (False, {"host": host(**HERE | {"kernel": "6.2"})}),
        (False, {"host": host(**HERE | {"microcode": "0x2"})}),
        (False, {"host": host(**HERE | {"mitigations": {"mds": "Vulnerable"}})}),
        (False, {"shas": {ONE: "b"}}),
        (False, {"shas": {}}),
    ],
)
def test_other_sessions_are_of_the_same_program_on_the_same_host(
    is_one: bool, more: dict[str, Any]
) -> None:
    now = sessions_of({ONE: [1.0, 1.0]}, host=host(**HERE))
    before = sessions_of({ONE: [1.04, 1.2]}, **{"id_": BEFORE, "host": host(**HERE)} | more)
    noise = other_sessions(now, [before, now])
    # pairs with this run, not those within the earlier one
    assert (noise.comparisons, noise.others) == ((5, [BEFORE]) if is_one else (1, []))
    assert noise.floor_percent == pytest.approx(20 if is_one else 0)


def test_a_program_without_a_checksum_is_the_same_only_within_one_run() -> None:
    run = sessions_of({ONE: [1.0, 1.0]}, shas={})
    before = sessions_of({ONE: [1.0]}, id_=BEFORE, shas={})
    assert other_sessions(run, [before]).comparisons == 1
    assert another_layout(run).comparisons == 0


def test_sessions_are_compared_by_the_medians_and_ratios_of_the_rows_that_both_have() -> None:
    third, values = TRANSFERS[2], [1000.0, 1001.0, 1002.0, 1003.0, 1050.0]
    faster, slower = [1.1 * v for v in values], [*(1.04 * v for v in values[:4]), 1.2 * 1050]
    now: Rates = {
        ONE: dict.fromkeys((SENDING, RECEIVING, third), values),
        THREE: dict.fromkeys((SENDING, RECEIVING, third), faster),
    }
    then: Rates = {ONE: {RECEIVING: slower, third: values}, THREE: {RECEIVING: values}}
    first = run_of({ONE: {RECEIVING: values}}, "2026-11-19-b")
    noise = other_sessions(run_of(now), [run_of(then, BEFORE), first])
    assert noise.comparisons == 4, "a row of one side, and a side of one row, are left out"
    assert noise.others == [BEFORE, "2026-11-19-b"]
    assert [(row.implementation, row.ratio.value) for row in noise.rows] == [
        (ONE, pytest.approx(1 / 1.04, rel=1e-5)),
        (THREE, pytest.approx(1.1)),
        (ONE, 1),
    ]
    assert noise.ratio_percent == pytest.approx(14.4, abs=1e-3), "1.1 / (1 / 1.04)"
    assert noise.statement.endswith("ratios of two implementations are within 14.4%.")


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


def test_a_session_with_another_layout_is_another_program_of_the_same_build() -> None:
    factors = {ONE: [1.0, 1.0, 1.05], THREE: [1.0, 1.0, 1.0]}
    for shas in (SHAS, {}):
        run = sessions_of(factors, shas=shas, **layouts(0, 0, 1))
        layout, sessions = another_layout(run), other_sessions(run, [])
        assert (layout.comparisons, sessions.comparisons, sessions.floor_percent) == (4, 2, 0)
        assert layout.floor_percent == pytest.approx(5)
        assert layout.ratio_percent == pytest.approx(100 * (1.05 ** (1 / 3**0.5) - 1), abs=0.01)
        start = "Another layout of the same build: 95% of 4 pairs of medians"
        assert layout.statement.startswith(start)
    assert another_layout(sessions_of(factors, **layouts(0, 0, 0))).comparisons == 0
    partly = layouts(0, 0, 0)
    for layout in partly["layouts"]:
        del layout["programs"][THREE]
    assert other_sessions(sessions_of(factors, **partly), []).comparisons == 3, "of one program"


def test_unmeasured_noise_is_stated() -> None:
    run = sessions_of({ONE: [1.0]})
    layout, sessions = another_layout(run), other_sessions(run, [])
    assert (layout.comparisons, layout.rows, layout.floor_percent) == (0, [], None)
    assert layout.statement == (
        "Another layout: not measured, because each program of this run has only one."
    )
    assert sessions.statement == (
        "Other sessions: not measured, because no other session of these programs, in this run or "
        "an earlier one on this host, has one of these rows."
    )
    assert [n.source for n in noise_of(run, [])] == [
        *("alternate rounds", "another layout", "other sessions")
    ]
    single = run_of({ONE: {SENDING: 1000.0}})
    assert noise_of(single, []) == []
    other = run_of({ONE: {SENDING: 1010.0}}, BEFORE)
    assert [n.comparisons for n in noise_of(single, [other])] == [0, 1]


# --- floors and texts ----------------------------------------------------------------------------


def test_a_floor_is_known_to_three_decimals_and_shown_with_as_many_as_it_needs() -> None:
    assert _percent([1.01234567]) == 1.235
    shown = [_per_cent(floor) for floor in (0.0996, 0.1, 0.55, 2.34)]
    assert shown == ["0.100", "0.1", "0.6", "2.3"]


@pytest.mark.parametrize(
    ("floor", "noises"),
    [
        (1.03, [("alternate rounds", 2, 9), ("another layout", 9, 3), ("other sessions", 9, None)]),
        (1.02, [("alternate rounds", 2, 9), ("other sessions", 9, None)]),
        (1.01, [("same binary twice", 1, None)]),
        (1.04, [("other sessions", 9, 4)]),
        (1, [("other sessions", 9, None)]),
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
    run = sessions_of({ONE: [1.0, 1.03], THREE: [1.0, 1.0]})
    text = noise_text(run, noise_of(run, [])).split("\n\n")
    assert text[1].splitlines() == [
        "| scenario | implementation | against itself |",
        "|---|---|---|",
        "| TLS 1.2 transfer, AES-128-GCM, sending | OpenSSL 3.6.3 | 1.00x, too few rounds |",
        "| TLS 1.2 transfer, AES-128-GCM, sending | rustls 1.0 | 1.00x, too few rounds |",
    ]
    assert text[2].startswith("Another layout: not measured")
    assert text[-1].splitlines()[2].endswith("| OpenSSL 3.6.3 | 0.97x |")


# --- which runs help -----------------------------------------------------------------------------


def described(id_: str, sha: str = "a", **more: Any) -> Run:
    return run_of({ONE: {SENDING: 1.0}}, id_, {ONE: sha} if sha else {}, **more).loaded.run


def test_earlier_runs_are_older_by_date_time_and_id_and_share_a_program() -> None:
    def at(hour: int) -> datetime:
        return datetime(2026, 11, 21, hour, tzinfo=UTC)

    now = described("2026-11-21-m", started=at(8))
    others = [
        described("2026-11-21-z", started=at(7)),
        described("2026-11-21-b", started=at(9)),
        described("2026-11-21-c", started=at(8)),
        described("2026-11-21-n", started=at(8)),
        described("2026-11-21-x"),
        described("2026-11-20-b", started=at(20)),
        described("2026-11-20-a", host_id="another"),
        described("2026-11-20-d", "b"),
        described("2026-11-20-e", ""),
        described("2026-11-22-a"),
        now,
    ]
    assert [run.id for run in earlier(now, others)] == [
        *("2026-11-20-b", "2026-11-21-x", "2026-11-21-z", "2026-11-21-c")
    ]


def test_command_reads_the_run_and_its_predecessors(tmp_path: Path) -> None:
    folder = write_run(tmp_path)
    alone = measure_noise(folder)
    assert alone.startswith("Odd rounds of this run against even ones")
    assert "Other sessions: not measured" in alone
    before = folder.with_name("2026-11-20-before")
    shutil.copytree(folder, before)
    text = (before / "run.toml").read_text(encoding="utf-8")
    text = text.replace(EXAMPLE, before.name, 1).replace("date = 2026-11-21", "date = 2026-11-20")
    (before / "run.toml").write_text(text, encoding="utf-8")
    assert SESSIONS in measure_noise(folder)
    assert "not measured" in measure_noise(before), "what comes later is not history"


def test_single_figures_have_no_noise(project: Path) -> None:
    with pytest.raises(UserError) as caught:
        measure_noise(project / "data" / "runs" / PUBLISHED)
    assert str(caught.value) == (
        f"run {PUBLISHED} has single figures, and no earlier run on {HOST} has one of its "
        "builds, so its noise is not known: measure several rounds"
    )
