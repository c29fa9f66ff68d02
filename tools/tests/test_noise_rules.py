"""Which measurements of one thing are compared, what their floor is, and how it is stated."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import numpy as np
import pandas as pd
import pytest

from synthetic import TRANSFERS, Rates, implementation, in_sessions, loaded_run
from tlsperf.analysis.noise import (
    _per_cent,
    _percent,
    _same_program,
    _Session,
    alternate_rounds,
    another_layout,
    duplicate_pairs,
    earlier,
    noise_of,
    noise_text,
    other_sessions,
    same_binary_twice,
    same_builds,
    verdict_floor,
)
from tlsperf.analysis.series import MeasuredRun, measured
from tlsperf.contract.results import Noise
from tlsperf.contract.run import Implementation, Run
from tlsperf.load.frame import concatenate
from tlsperf.load.run import LoadedRun

RUN = "2026-11-21-a"
ONE, TWO, THREE = "openssl-3.6.3", "openssl-3.6.3-again", "rustls-1.0"
SENDING, RECEIVING = TRANSFERS[:2]


def programs(*shas: str | None) -> list[Implementation]:
    return [
        implementation(i, binary_sha256=sha and sha * 64)
        for i, sha in zip((ONE, TWO, THREE), shas, strict=False)
    ]


def run_of(rates: Rates, *shas: str | None, id_: str = RUN, **more: Any) -> MeasuredRun:
    return measured(loaded_run(id_, rates, programs(*shas) if shas else None, **more))


def test_alternate_rounds_are_the_odd_ones_over_the_even_ones() -> None:
    rounds = [110.0, 100.0] * 10
    noise = alternate_rounds(run_of({ONE: {SENDING: [*rounds, 999.0]}}))
    assert noise is not None
    assert (noise.floor_percent, noise.comparisons, noise.false_verdicts) == (10, 1, 1)
    assert noise.source == "alternate rounds"
    assert noise.run == RUN
    [row] = noise.rows
    assert row.ratio.value == pytest.approx(1.1)
    assert (row.implementation, row.name) == (ONE, "TLS 1.2 transfer, AES-128-GCM, sending")
    assert row.anchor == "transfer-1-2-aes-128-gcm-sending"
    assert noise.statement == (
        "Odd rounds of this run against even ones: 95% of the 1 ratios are within 10.0% of 1; 1 of "
        "them would have been called faster or slower."
    )
    two = alternate_rounds(run_of({ONE: {SENDING: [110.0, 100.0]}}))
    assert two is not None
    assert two.floor_percent == 10
    assert alternate_rounds(run_of({ONE: {SENDING: [110.0]}})) is None


def test_rounds_of_zero_give_no_noise() -> None:
    def with_zero(rates: Rates) -> MeasuredRun:
        run = loaded_run(RUN, rates)
        frame = run.frame.copy()
        frame.loc[(frame["side"] == "sender") & (frame["round"] == 1), "value"] = 0.0
        return measured(LoadedRun(run.run, frame))

    noise = alternate_rounds(with_zero({ONE: {SENDING: [1.0] * 12, RECEIVING: [1.0] * 12}}))
    assert noise is not None
    assert [row.anchor for row in noise.rows] == ["transfer-1-2-aes-128-gcm-receiving"]
    assert noise.statement.startswith("Odd rounds of this run against even ones: 95% of the 1 ")
    assert "within 0.000% of 1; none of them" in noise.statement
    assert alternate_rounds(with_zero({ONE: {SENDING: [1.0] * 12}})) is None


def test_verdicts_among_equal_things_are_corrected_for_their_number() -> None:
    random = np.random.default_rng(1)
    rates: Rates = {
        ONE: {t: list(1000 * np.exp(random.normal(0, 0.01, 24))) for t in TRANSFERS},
    }
    noise = alternate_rounds(run_of(rates))
    assert noise is not None
    alone = alternate_rounds(run_of({ONE: {SENDING: rates[ONE][SENDING]}}))
    assert alone is not None
    wide, narrow = noise.rows[0].ratio, alone.rows[0].ratio
    assert wide.value == narrow.value
    assert wide.low is not None
    assert narrow.low is not None
    assert wide.low < narrow.low


def test_two_ids_of_one_program_are_compared_in_the_rounds_that_both_have() -> None:
    host = {n: 2.0 ** (n % 4) for n in range(1, 13)}
    frame = loaded_run(
        RUN,
        {i: {SENDING: [f * 100 for f in host.values()]} for i in (ONE, TWO, THREE)},
        programs("a", "a", "b"),
    )
    dropped = frame.frame[~((frame.frame["implementation"] == TWO) & (frame.frame["round"] < 3))]
    run = measured(LoadedRun(frame.run, dropped))
    [pair] = duplicate_pairs(run)
    assert (pair.implementation, list(pair.left)) == (ONE, list(pair.right))
    assert len(pair.left) == 10
    noise = same_binary_twice(run)
    assert noise is not None
    assert noise.statement == (
        "The same binary twice in this run: 95% of the 1 ratios are within 0.000% of 1; none of "
        "them would have been called faster or slower."
    )
    assert duplicate_pairs(run_of({ONE: {SENDING: [1.0]}, TWO: {SENDING: [1.0]}}, None, None)) == []
    assert duplicate_pairs(run_of({ONE: {SENDING: [1.0]}, TWO: {RECEIVING: [1.0]}}, "a", "a")) == []


@pytest.mark.parametrize(
    "other", [{"build": "tuned"}, {"build": "tuned-gcc"}, {"cpu_mask": "~0x1"}]
)
def test_one_program_run_in_two_ways_is_not_a_duplicate(other: dict[str, str]) -> None:
    rates: Rates = {ONE: {SENDING: [1.0, 2.0]}, TWO: {SENDING: [1.0, 2.0]}}
    again = [{"build": "repeat-2"}, {}]
    for settings, expected in ((other, 0), *((it, 1) for it in again)):
        both = [
            implementation(ONE, binary_sha256="a" * 64),
            implementation(TWO, binary_sha256="a" * 64, **settings),
        ]
        assert len(duplicate_pairs(measured(loaded_run(RUN, rates, both)))) == expected, settings


def sessions_of(factors: dict[str, list[float]], rounds: int = 6, **more: Any) -> MeasuredRun:
    """Sessions in which implementations are faster by these factors, without other noise."""
    rates: Rates = {i: {SENDING: list(1000 * np.repeat(f, rounds))} for i, f in factors.items()}
    ids = {ONE: "a", TWO: "a", THREE: "b"}
    known = [implementation(i, binary_sha256=ids[i] * 64) for i in factors]
    return measured(in_sessions(loaded_run(RUN, rates, known, **more), rounds))


def test_other_sessions_are_all_pairs_of_sessions_and_their_ratios_those_of_means() -> None:
    run = sessions_of({ONE: [1.0, 1.0, 1.03], THREE: [1.0, 1.0, 1.0]})
    noise = other_sessions(run, [])
    assert noise.comparisons == 6
    assert noise.floor_percent == pytest.approx(3)
    assert noise.others == []
    expected = 100 * (1.03 ** (1 / 3**0.5) - 1)
    assert noise.ratio_percent == pytest.approx(expected, abs=1e-3)
    assert noise.statement == (
        "Other sessions of the same programs on this host: 95% of 6 pairs of medians are within "
        "3.0% of each other, and 95% of 3 pairs of ratios of two implementations are within "
        f"{expected:.1f}% for means of 3 sessions."
    )
    [first, second] = noise.rows
    assert (first.implementation, second.implementation) == (ONE, THREE)
    assert first.ratio.value == pytest.approx(1 / 1.03, rel=1e-5)
    assert first.ratio.note == "the two medians that are the farthest apart"
    assert verdict_floor([noise]) == pytest.approx(1 + expected / 100, abs=1e-5)


def test_sessions_of_one_implementation_have_medians_and_no_ratios() -> None:
    noise = other_sessions(sessions_of({ONE: [1.0, 1.02]}), [])
    assert noise.ratio_percent is None
    assert noise.statement == (
        "Other sessions of the same programs on this host: 95% of 1 pairs of medians are within "
        "2.0% of each other."
    )


def test_ratios_of_two_sessions_are_of_means_of_two() -> None:
    noise = other_sessions(sessions_of({ONE: [1.0, 1.03], THREE: [1.0, 1.0]}), [])
    assert noise.statement.endswith("for means of 2 sessions.")


def test_a_session_without_common_rounds_has_medians_and_no_ratios() -> None:
    run = sessions_of({ONE: [1.0, 1.03], THREE: [1.0, 1.0]}).loaded
    frame, odd = run.frame, run.frame["round"] % 2 == 1
    apart = (frame["session"] == 1) & (odd == (frame["implementation"] == ONE))
    noise = other_sessions(measured(LoadedRun(run.run, frame[~apart])), [])
    assert (noise.comparisons, noise.ratio_percent) == (2, None)


@pytest.mark.parametrize("columns", [{"statistic": "p50"}, {"phase": "flight-1"}])
def test_percentiles_and_phases_are_no_noise(columns: dict[str, str]) -> None:
    run = sessions_of({ONE: [1.0, 1.03], THREE: [1.0, 1.0]}).loaded
    more = run.frame.copy()
    for name, value in columns.items():
        more[name] = pd.Categorical([value] * len(more))
    more["value"] *= [1.0 + n for n in range(len(more))]
    both = measured(LoadedRun(run.run, concatenate([run.frame, more])))
    assert len(both.series) == 2
    assert other_sessions(both, []) == other_sessions(measured(run), [])


def test_unpaired_rounds_have_no_ratios_between_sessions() -> None:
    noise = other_sessions(
        sessions_of({ONE: [1.0, 1.03], THREE: [1.0, 1.0]}, format_="openssl-bench/2024"), []
    )
    assert (noise.comparisons, noise.ratio_percent) == (2, None)


def test_an_earlier_run_adds_only_pairs_with_this_run() -> None:
    now = sessions_of({ONE: [1.0, 1.0]})
    rates: Rates = {ONE: {SENDING: list(1000 * np.repeat([1.04, 1.2], 6))}}
    known = [implementation(ONE, binary_sha256="a" * 64)]
    before = measured(in_sessions(loaded_run("2026-11-20-b", rates, known), 6))
    noise = other_sessions(now, [before])
    assert noise.comparisons == 5, "not the two sessions of the earlier run"
    assert noise.others == ["2026-11-20-b"]
    assert noise.floor_percent == pytest.approx(20)
    elsewhere = measured(in_sessions(loaded_run("2026-11-20-b", rates, known, host_id="b"), 6))
    assert other_sessions(now, [elsewhere]).comparisons == 1


def one_session(id_: str, rates: Rates) -> MeasuredRun:
    shas = {ONE: "a", THREE: "b"}
    known = [implementation(i, binary_sha256=shas[i] * 64) for i in rates]
    return measured(loaded_run(id_, rates, known))


def test_sessions_are_compared_by_the_medians_and_ratios_of_the_rows_that_both_have() -> None:
    values = [1000.0, 1001.0, 1002.0, 1003.0, 1050.0]
    scaled = [*(1.04 * v for v in values[:4]), 1.2 * 1050]
    both: Rates = {
        ONE: {SENDING: values, RECEIVING: values, TRANSFERS[2]: values},
        THREE: {s: [1.1 * v for v in values] for s in TRANSFERS[:3]},
    }
    now = one_session(RUN, both)
    before = one_session(
        "2026-11-20-b",
        {ONE: {RECEIVING: scaled, TRANSFERS[2]: values}, THREE: {RECEIVING: values}},
    )
    first = one_session("2026-11-19-b", {ONE: {RECEIVING: values}})
    noise = other_sessions(now, [before, first])
    assert noise.comparisons == 4, "a row of one side, and a side of one row, are left out"
    assert noise.others == ["2026-11-20-b", "2026-11-19-b"]
    receiving, faster, third = noise.rows
    assert (receiving.implementation, faster.implementation) == (ONE, THREE)
    assert receiving.ratio.value == pytest.approx(1 / 1.04, rel=1e-5)
    assert third.ratio.value == 1
    assert faster.ratio.value == pytest.approx(1.1)
    expected = 100 * (1.1 / (1 / 1.04) - 1)
    assert noise.ratio_percent == pytest.approx(expected, abs=1e-3)
    assert noise.statement.endswith(f"ratios of two implementations are within {expected:.1f}%.")


def test_a_program_without_a_checksum_is_the_same_only_within_one_run() -> None:
    run, other = (run_of({ONE: {SENDING: [1.0]}}, None, id_=id_) for id_ in (RUN, "2026-11-20-b"))
    first, second, third = _Session(run, 1), _Session(run, 2), _Session(other, 1)
    assert _same_program(first, second, ONE) is True
    assert _same_program(first, third, ONE) is None
    known = run_of({ONE: {SENDING: [1.0]}}, "a", id_="2026-11-20-b")
    assert _same_program(first, _Session(known, 1), ONE) is None
    linked = measured(loaded_run(RUN, {ONE: {SENDING: [1.0]}}, programs(None), **layouts(0, 1)))
    assert _same_program(_Session(linked, 1), _Session(linked, 2), ONE) is False
    assert _same_program(_Session(linked, 1), _Session(linked, 1), TWO) is None
    other_build = run_of({ONE: {SENDING: [1.0]}}, "b", id_="2026-11-19-b")
    assert _same_program(_Session(known, 1), _Session(other_build, 1), ONE) is None


def test_a_floor_is_known_to_three_decimals_and_shown_with_as_many_as_it_needs() -> None:
    assert _percent([1.01234567]) == 1.235
    assert [_per_cent(floor) for floor in (0.0996, 0.1, 0.55, 2.34)] == [
        "0.100",
        "0.1",
        "0.6",
        "2.3",
    ]


def layouts(*of_sessions: int) -> dict[str, Any]:
    kinds = {0: "own", 1: "shifted"}
    return {
        "sessions": [
            {"number": n, "started": "2026-11-21T08:00:00Z", "seed": n, "layout": layout}
            for n, layout in enumerate(of_sessions, 1)
        ],
        "layouts": [
            {"number": n, "kind": kinds[n], "programs": {ONE: "ab"[n] * 64}} for n in (0, 1)
        ],
    }


def test_a_session_with_another_layout_is_another_program_of_the_same_build() -> None:
    run = sessions_of({ONE: [1.0, 1.0, 1.05]}, **layouts(0, 0, 1))
    layout, sessions = another_layout(run), other_sessions(run, [])
    assert layout.comparisons == 2
    assert layout.floor_percent == pytest.approx(5)
    assert (sessions.comparisons, sessions.floor_percent) == (1, 0)
    assert layout.statement.startswith(
        "Another layout of the same build: 95% of 2 pairs of medians"
    )
    assert another_layout(sessions_of({ONE: [1.0, 1.05]}, **layouts(0, 0))).comparisons == 0


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
    single = run_of({ONE: {SENDING: 1000.0}}, "a")
    assert noise_of(single, []) == []
    other = run_of({ONE: {SENDING: 1010.0}}, "a", id_="2026-11-20-b")
    assert [n.comparisons for n in noise_of(single, [other])] == [0, 1]


def noise_with(source: Any, floor: float | None, ratio: float | None = None) -> Noise:
    return Noise(
        source=source,
        run=RUN,
        floor_percent=floor,
        ratio_percent=ratio,
        comparisons=1,
        statement="",
        rows=[],
    )


def test_the_floor_of_verdicts_is_the_largest_noise_of_ratios() -> None:
    within = noise_with("alternate rounds", 2.0, 9.0)
    twice = noise_with("same binary twice", 1.0)
    layout = noise_with("another layout", 9.0, 3.0)
    sessions = noise_with("other sessions", 9.0, None)
    assert verdict_floor([within, layout, sessions]) == pytest.approx(1.03)
    assert verdict_floor([within, sessions]) == pytest.approx(1.02)
    assert verdict_floor([twice]) == pytest.approx(1.01)
    assert verdict_floor([noise_with("other sessions", 9.0, 4.0)]) == pytest.approx(1.04)
    assert verdict_floor([sessions]) == 1
    assert verdict_floor([]) == 1


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


def described(id_: str, sha: str | None = "a", **more: Any) -> Run:
    return loaded_run(id_, {ONE: {SENDING: 1.0}}, programs(sha), **more).run


def test_the_same_builds_are_those_of_one_program_under_one_id() -> None:
    assert same_builds(described(RUN), described("2026-11-20-b")) == [ONE]
    assert same_builds(described(RUN), described("2026-11-20-b", "b")) == []
    assert same_builds(described(RUN, None), described("2026-11-20-b", None)) == []


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
        described("2026-11-22-a"),
        now,
    ]
    assert [run.id for run in earlier(now, others)] == [
        *("2026-11-20-b", "2026-11-21-x", "2026-11-21-z", "2026-11-21-c")
    ]
    assert now.date == date(2026, 11, 21)
