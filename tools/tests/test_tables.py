"""The tables of a report, piece by piece: which there are, the order of rows, cells, captions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthetic import RUN, implementation, loaded_run, sample, series, single
from tlsperf.analysis.ratios import as_ratio, sample_ratio
from tlsperf.analysis.series import At, MeasuredRun, Rules, Sample, Series, measured
from tlsperf.analysis.sessions import NO_PRIOR
from tlsperf.contract.metrics import Statistic
from tlsperf.contract.record import Phase, Scenario
from tlsperf.contract.results import Cell, Table
from tlsperf.contract.run import Implementation, RunCounter, Source, Tool
from tlsperf.contract.text import implementation_label
from tlsperf.load.tlsbench import Gap
from tlsperf.report.pairs import prior_to
from tlsperf.report.tables import TableKey, comparisons, grouped, tables

OTHER = "2026-11-20-other"
PAIRS = Rules(pairs=frozenset([RUN]))
OURS, THEIRS, THIRD = "rustls-0.23", "openssl-3", "boringssl-1"
BUILDS = [implementation(i) for i in (OURS, THEIRS, THIRD)]


def scenario(operation: str = "handshake", **fields: Any) -> Scenario:
    return Scenario.model_validate({"operation": operation, **fields})


FULL = scenario(resumption="none", protocol="1.3", side="client")


@pytest.mark.parametrize(
    ("row", "table"),
    [
        (series(scenario("transfer"), "MiB/s"), "0 transfer: Transfer"),
        (series(scenario()), "1 handshakes: Handshakes"),
        (series(FULL), "2 full-handshakes: Full handshakes"),
        (series(scenario(resumption="ticket")), "3 resumed-handshakes: Resumed handshakes"),
        (series(scenario("client-hello"), "operations/s"), "4 client-hello: ClientHello"),
        (series(scenario("primitive"), "operations/s"), "6 primitives: Primitives"),
        (
            series(scenario("primitive"), "MiB/s"),
            "7 primitives-throughput: Primitives, throughput",
        ),
        (series(scenario("quic-packet"), "packets/s"), "9 quic-packets: QUIC packet protection"),
        (
            series(FULL, statistic="p50"),
            "12 full-handshakes-per-thread: Full handshakes by threads, of the median thread",
        ),
        (series(FULL, "handshakes/s/thread"), "2 full-handshakes: Full handshakes"),
        (
            series(FULL, "µs", "duration"),
            "22 full-handshakes-duration: Full handshakes, duration",
        ),
        (
            series(FULL, "µs", "duration", "p99"),
            "32 full-handshakes-latency: Full handshakes, latency",
        ),
        (
            series(FULL, "µs", "duration", phase="flight-1"),
            "42 full-handshakes-phases: Full handshakes by phase",
        ),
        (
            series(scenario("transfer"), "instructions/MiB", "instructions"),
            "50 instructions-per-mib: Instructions per MiB",
        ),
        (
            series(scenario("client-hello"), "instructions/operation", "instructions"),
            "54 instructions-per-client-hello: Instructions per ClientHello",
        ),
        (
            series(scenario(), "bytes/connection", "allocated"),
            "61 allocated-per-connection: Memory allocated per connection",
        ),
        (
            series(scenario(), "bytes", "allocated"),
            "61 handshake-allocated: Memory allocated, handshake",
        ),
        (
            series(scenario("memory"), "KiB", "peak-resident"),
            "65 peak-resident: Peak resident memory",
        ),
    ],
    ids=lambda of: of if isinstance(of, str) else "",
)
def test_a_row_has_its_table(row: Series, table: str) -> None:
    [(key, rows)] = grouped([row]).items()
    assert f"{key.order} {key.anchor}: {key.title}" == table
    assert (key.unit, key.by_phase, rows) == (row.unit, row.phase != "total", [row])


@pytest.mark.parametrize(
    ("unit", "side", "anchor", "title"),
    [
        ("handshakes/s", "client", "-threads", " by threads"),
        ("handshakes/s", None, "-both-sides-threads", " by threads, both sides together"),
        ("handshakes/s/thread", "client", "-per-thread", " by threads, of one thread"),
        ("handshakes/s/thread", None, "-per-thread", " by threads, of one thread"),
    ],
)
def test_several_numbers_of_threads_have_a_table(
    unit: str, side: str | None, anchor: str, title: str
) -> None:
    rows = [
        series(scenario(resumption="none", side=side, threads=threads), unit)
        for threads in (None, 2, 16)
    ]
    alone = series(scenario(resumption="none", side="server", threads=2))
    assert grouped([alone, *rows]) == {
        TableKey(2, "full-handshakes", "Full handshakes", "handshakes/s"): [alone],
        TableKey(12, f"full-handshakes{anchor}", f"Full handshakes{title}", unit): rows,
    }


@pytest.mark.parametrize(
    ("variant", "order", "anchor", "title"),
    [
        ("anchors-mozilla", 27, "clients", "Trust anchors and clients"),
        ("client-10", 27, "clients", "Trust anchors and clients"),
        ("server", 28, "servers", "Servers and private keys"),
        ("names-100", 29, "names", "Servers with many names"),
        ("process-server", 30, "processes", "First handshake of a process"),
        ("client-slope", 31, "slopes", "Fixed time, and time of each item"),
    ],
)
def test_set_ups_have_a_table_for_each_group(
    variant: str, order: int, anchor: str, title: str
) -> None:
    of = scenario("set-up", variant=variant)
    row, part = (series(of, "µs", "duration", phase=phase) for phase in ("total", "construction"))
    assert grouped([part, row]) == {
        TableKey(order, f"set-up-{anchor}", title, "µs"): [row],
        TableKey(order + 20, f"set-up-{anchor}-phases", f"{title} by phase", "µs", True): [part],
    }


def test_throughput_of_primitives_by_threads_is_in_one_table() -> None:
    rows = [series(scenario("primitive", side="client", threads=n), "MiB/s") for n in (1, 2)]
    [key] = grouped(rows)
    assert (key.order, key.anchor) == (17, "primitives-throughput")


ORDERED = [
    {"protocol": None},
    {"protocol": "1.2", "resumption": None},
    {"protocol": "1.2", "resumption": "session-id"},
    {"protocol": "1.2", "resumption": "ticket"},
    {"protocol": "1.2", "resumption": "resumed"},
    {"protocol": "1.3", "resumption": "session-id"},
    {"protocol": "1.3", "resumption": "ticket", "cipher_suite": None},
    {"protocol": "1.3", "resumption": "ticket", "cipher_suite": "TLS_AES_128_GCM_SHA256"},
    {"protocol": "1.3", "resumption": "ticket", "cipher_suite": "TLS_AES_256_GCM_SHA384"},
    {"protocol": "1.3", "resumption": "ticket", "cipher_suite": "TLS_CHACHA20_POLY1305_SHA256"},
]
WITHIN: list[list[dict[str, Any]]] = [
    [{"certificate": c} for c in (None, "rsa-2048", "rsa-4096", "ecdsa-p256")]
    + [{"certificate": c} for c in ("ecdsa-p384", "ed25519", "another")],
    [{"key_exchange": k} for k in (None, "X25519", "X25519MLKEM768", "secp256r1", "secp384r1")],
    [{"authentication": a} for a in (None, "mutual", "server")],
    [{"variant": v} for v in (None, "cold", "sessions-500", "sessions-1000")],
    [{"in_flight": n} for n in (None, 1, 9, 10)],
    [{"size": n} for n in (None, 1, 9, 10)],
    [{"record_size": n} for n in (None, 1, 9, 10)],
    [{"side": s} for s in (None, "client", "server", "sender", "receiver")],
]


@pytest.mark.parametrize("fields", [ORDERED[1:5], ORDERED[6:], [ORDERED[0], ORDERED[5]], *WITHIN])
def test_rows_are_in_one_order(fields: list[dict[str, Any]]) -> None:
    rows = [series(scenario("primitive", **of), "operations/s") for of in fields]
    for mixed in (rows, rows[::-1], rows[1:] + rows[:1]):
        [found] = grouped(mixed).values()
        assert [row.scenario for row in found] == [row.scenario for row in rows]


def test_what_is_first_in_an_order_decides() -> None:
    """Each field's second value beside the first of the next field."""
    fields: list[dict[str, Any]] = [
        {"protocol": "1.3"},
        {"resumption": "ticket"},
        {"cipher_suite": "TLS_AES_256_GCM_SHA384"},
        {"certificate": "rsa-2048"},
        {"key_exchange": "X25519"},
        {"authentication": "server"},
        {"variant": "cold"},
        {"in_flight": 9},
        {"size": 9},
        {"record_size": 9},
        {"side": "client"},
    ]
    rows = [series(scenario("primitive", **of), "operations/s") for of in fields]
    [found] = grouped(rows).values()
    assert [row.scenario for row in found] == [row.scenario for row in rows[::-1]]


def test_threads_phases_and_statistics_are_in_order() -> None:
    threads = [series(scenario(side="client", threads=n)) for n in (None, 1, 9, 10, 16)]
    phases: list[Phase] = ["construction", "handshake", "data", "total"]
    memory = [series(scenario("memory"), "KiB", "allocated", phase=p) for p in phases]
    parts: list[Phase] = ["construction", "flight-1", "flight-2", "tickets"]
    timed = [series(FULL, "µs", "duration", phase=p) for p in parts]
    statistics: list[Statistic] = ["p5", "p50", "p90", "p99", "p99.9", "max"]
    latency = [series(FULL, "µs", "duration", s) for s in statistics]
    for rows in (threads, memory, timed, latency):
        [found] = grouped(rows[::-1]).values()
        assert found == rows


def test_tables_are_in_the_order_of_their_metrics_and_kinds() -> None:
    rows = [
        series(scenario("transfer"), "MiB/s"),
        series(FULL),
        series(FULL, "µs", "duration"),
        series(FULL, "µs", "duration", "p50"),
        series(scenario("transfer"), "instructions/MiB", "instructions"),
        series(scenario(), "bytes", "allocated"),
    ]
    assert [*grouped(rows[::-1]).values()] == [[row] for row in rows]


# --- what is tested ------------------------------------------------------------------------------

FAST, SLOW = (
    sample(*(200.0 + n % 3 for n in range(12))),
    sample(*(100.0 + n % 3 for n in range(12))),
)


def test_comparisons_are_those_of_rows() -> None:
    three = series(FULL, samples={OURS: FAST, THEIRS: SLOW, THIRD: FAST})
    two = series(FULL, samples={OURS: FAST, THEIRS: SLOW})
    alone = series(FULL, samples={OURS: FAST})
    assert comparisons([[three]], THEIRS, PAIRS) == 2
    assert comparisons([[three, two]], THEIRS, PAIRS) == 2 + 1
    assert comparisons([[three, three]], THEIRS, PAIRS) == 4
    assert comparisons([[three], [three]], THEIRS, PAIRS) == 4
    assert comparisons([[three, two, alone]], None, PAIRS) == 2
    assert comparisons([[two, alone]], THIRD, PAIRS) == 1
    elsewhere = series(FULL, samples={OURS: sample(1, 2, run=OTHER), THEIRS: SLOW, THIRD: FAST})
    hosts = replace(PAIRS, hosts={RUN: "a", OTHER: "b"})
    assert comparisons([[elsewhere]], THEIRS, hosts) == 1


def by_sessions(factor: float) -> Sample:
    """Six sessions of two rounds, whose factors differ."""
    values = [factor * (1 + 0.01 * (n // 2)) for n in range(12)]
    return sample(*values, rounds_a_session=2)


# --- tables --------------------------------------------------------------------------------------

SCENARIO = scenario("transfer", protocol="1.3", side="sender")
KEY = TableKey(0, "transfer", "Transfer", "MiB/s")


def run(gaps: tuple[Gap, ...] = (), **fields: Any) -> MeasuredRun:
    made = measured(loaded_run(RUN, {OURS: {SCENARIO: 1.0}}, **fields))
    return replace(made, loaded=replace(made.loaded, gaps=list(gaps)))


def table(
    *rows: Series,
    baseline: str | None = THEIRS,
    rules: Rules = PAIRS,
    key: TableKey = KEY,
    of: MeasuredRun | None = None,
    builds: Sequence[Implementation] = BUILDS,
) -> Table:
    [made] = tables([of or run()], {key: rows}, rules, builds, baseline)
    return made


def row_of(**samples: Sample) -> Series:
    names = {"ours": OURS, "theirs": THEIRS, "third": THIRD}
    return series(SCENARIO, "MiB/s", samples={names[name]: s for name, s in samples.items()})


def cells(*rows: Series, **more: Any) -> dict[str, Cell]:
    [row] = table(*rows, **more).rows
    return {cell.implementation: cell for cell in row.cells}


def test_a_table_has_what_its_rows_are_of() -> None:
    made = table(row_of(ours=FAST, theirs=SLOW))
    assert (made.anchor, made.title, made.unit, made.better) == (
        "transfer",
        "Transfer",
        "MiB/s",
        "higher",
    )
    assert (made.by_phase, made.interval_source, made.baseline) == (False, "assumed", THEIRS)
    assert "predicts another run" in (made.interval_note or "")
    assert made.implementations == [OURS, THEIRS]
    [row] = made.rows
    assert (row.anchor, row.name) == ("transfer-1-3-sending", "TLS 1.3 transfer, sending")
    assert (row.scenario, row.phase, row.metric, row.statistic) == (
        SCENARIO,
        "total",
        "rate",
        "value",
    )
    assert made.warnings == []
    assert made.caption == "Median of 12 rounds with its 95% interval; ratio to OpenSSL 3."
    several = table(row_of(ours=FAST, theirs=SLOW), rules=replace(PAIRS, comparisons=2))
    assert several.caption == (
        "Median of 12 rounds with its 95% interval; ratio to OpenSSL 3, its interval corrected "
        "for 2 comparisons."
    )


def test_a_cell_has_its_median_its_interval_and_its_ratio() -> None:
    found = cells(row_of(ours=FAST, theirs=SLOW))
    ours, theirs = found[OURS], found[THEIRS]
    assert (ours.value, ours.text, ours.count, ours.valid) == (201, "201.0", 12, True)
    assert ours.low is not None
    assert ours.high is not None
    assert ours.low < 200 < 202 < ours.high
    assert ours.interval == f"{ours.low:.1f} to {ours.high:.1f}"
    assert ours.spread_percent == 0.424
    assert (ours.note, ours.warnings) == (None, [])
    assert (ours.ratio and ours.ratio.verdict, theirs.ratio) == ("faster", None)
    assert (ours.best, ours.tied, theirs.best, theirs.tied) == (True, False, False, False)


ROUNDS = st.lists(st.tuples(*[st.floats(1.0, 9e4)] * 2), min_size=1, max_size=9)


@given(ROUNDS, ROUNDS)
def test_dividing_figures_is_within_what_a_table_says_of_their_ratio(
    one: list[tuple[float, float]], other: list[tuple[float, float]]
) -> None:
    rows = [
        series(scenario("transfer", side=side), "MiB/s", samples={OURS: ours, THEIRS: theirs})
        for side, rounds in (("sender", one), ("receiver", other))
        for ours, theirs in [[sample(*values) for values in zip(*rounds, strict=True)]]
    ]
    made = table(*rows)
    assert made.dividing_percent is not None
    for row in made.rows:
        ours, theirs = row.cells
        assert ours.ratio
        quotient = float(ours.text.replace(",", "")) / float(theirs.text.replace(",", ""))
        assert 100 * abs(quotient / ours.ratio.value - 1) <= made.dividing_percent + 1e-4
    said = "dividing two figures gives up to"
    assert (f"{said} {made.dividing_percent:g}%" in made.caption) is (made.dividing_percent >= 0.5)


def test_an_interval_has_the_decimals_of_its_median() -> None:
    around = sample(*(99.0 + 0.4 * n for n in range(12)))
    ours = cells(row_of(ours=around, theirs=SLOW))[OURS]
    assert ours.low is not None
    assert ours.high is not None
    assert ours.low < 100 < (ours.value or 0)
    assert ours.interval == f"{ours.low:.1f} to {ours.high:.1f}"


@pytest.mark.parametrize(
    ("value", "kept"),
    [(1234567.891, 1234568), (123.4567891, 123.4568), (123456789.5, 123456790)],
)
def test_a_value_keeps_seven_digits_or_those_before_its_point(value: float, kept: float) -> None:
    assert cells(row_of(ours=single(value)))[OURS].value == kept
    wrong = Sample(invalid=[value], notes=["why"])
    assert cells(row_of(ours=single(1), theirs=wrong))[THEIRS].value == kept


def test_what_must_not_count_and_what_is_absent_has_its_reason() -> None:
    wrong = Sample(invalid=[3.0, 5.0, 5.5], notes=["one", "two"])
    gap = Gap(THIRD, SCENARIO, "cannot")
    found = cells(row_of(ours=single(1), theirs=wrong), of=run((gap,)))
    assert found[THEIRS] == Cell(
        implementation=THEIRS, value=5, text="5.000", count=3, valid=False, note="one; two"
    )
    assert found[THIRD] == Cell(implementation=THIRD, text="–", note="cannot")
    other = scenario("transfer", protocol="1.2")
    second = series(other, "MiB/s", samples={THIRD: single(1)})
    [first, _] = table(row_of(ours=single(1)), second).rows
    assert [(c.implementation, c.note) for c in first.cells] == [
        (OURS, None),
        (THIRD, "not part of the source"),
    ]


def test_an_invalid_maximum_is_the_largest_of_its_rounds() -> None:
    wrong = Sample(invalid=[3.0, 5.0, 9.0], notes=["why"], statistic="max")
    most = series(SCENARIO, "µs", "duration", "max", samples={OURS: wrong, THEIRS: single(1)})
    assert cells(most)[OURS].value == 9


def test_a_cell_with_fewer_rounds_than_others_states_that() -> None:
    some = Sample(dict(list(SLOW.valid.items())[:11]), [1.0], ["disturbed", "cold"])
    found = cells(row_of(ours=FAST, theirs=some, third=sample(5.0)))
    assert found[OURS].warnings == []
    assert found[THEIRS].warnings == ["11 rounds count where others have 12: disturbed; cold"]
    assert found[THIRD].warnings == ["1 round counts where others have 12"]
    assert cells(row_of(ours=FAST, theirs=single(5)))[THEIRS].warnings == []


def test_the_best_is_shown_to_be_better_than_the_next_and_the_baseline() -> None:
    def leaders(**samples: Sample) -> tuple[list[str], list[str]]:
        found = cells(row_of(**samples)).values()
        return (
            [c.implementation for c in found if c.best],
            [c.implementation for c in found if c.tied],
        )

    fastest = sample(*(400.0 + n % 3 for n in range(12)))
    near = sample(*(200.0 + (n + 1) % 3 for n in range(12)))
    assert leaders(ours=FAST, theirs=SLOW, third=fastest) == ([THIRD], [])
    assert leaders(ours=FAST, theirs=SLOW, third=near) == ([], [OURS, THIRD])
    assert leaders(ours=FAST, theirs=near, third=SLOW) == ([], [OURS, THEIRS])
    assert leaders(ours=SLOW, theirs=fastest, third=FAST) == ([THEIRS], [])
    assert leaders(ours=FAST) == ([], [])
    assert leaders(ours=single(9), theirs=single(1)) == ([], [])
    times = series(SCENARIO, "µs", "duration", samples={OURS: FAST, THEIRS: SLOW})
    assert [c.implementation for c in cells(times).values() if c.best] == [THEIRS]
    hosts = replace(PAIRS, hosts={RUN: "a", OTHER: "b"})
    elsewhere = replace(FAST, valid={At(OTHER, 1, n): 9.0 for n in range(1, 13)})
    apart = cells(row_of(ours=elsewhere, theirs=SLOW), rules=hosts)
    assert [c.best for c in apart.values()] == [False, False]


def test_the_best_is_shown_to_be_better_than_a_baseline_that_is_not_the_next() -> None:
    fastest = sample(*(400.0 + n % 3 for n in range(12)))
    wild = sample(*(20.0 if n < 7 else 900.0 for n in range(12)))
    found = cells(row_of(ours=FAST, theirs=wild, third=fastest))
    assert [c.best for c in found.values()] == [False] * 3
    assert [c.tied for c in found.values()] == [True] * 3
    alone = cells(row_of(ours=FAST, theirs=wild, third=fastest), baseline=None)
    assert [c.implementation for c in alone.values() if c.best] == [THIRD]


AWS, RING = (implementation(f"rustls-1-{p}", build=None, provider=p) for p in ("aws-lc-rs", "ring"))
TUNED, NEWER, NEWEST = map(implementation, ("rustls-1-tuned", "rustls-2", "rustls-3"))
PLAIN, PLAIN_TUNED, OLDER = map(implementation, ("openssl-3", "openssl-3-tuned", "openssl-2"))


@pytest.mark.parametrize(
    ("speeds", "baseline", "marked"),
    [
        ([(PLAIN, 9), (RING, 8), (AWS, 7)], PLAIN, [PLAIN]),
        ([(RING, 9), (PLAIN, 8), (AWS, 7)], PLAIN, []),  # a better figure of another build
        ([(TUNED, 9), (PLAIN, 8), (AWS, 8)], PLAIN, []),
        ([(AWS, 9), (RING, 9), (PLAIN, 8)], PLAIN, [AWS]),  # not tied with its other provider
        ([(AWS, 9), (RING, 8), (PLAIN, 9)], PLAIN, [AWS, PLAIN]),
        ([(AWS, 8), (TUNED, 9), (PLAIN_TUNED, 7), (PLAIN, 6)], PLAIN_TUNED, [TUNED]),
        ([(RING, 9), (AWS, 8), (PLAIN, 7)], RING, [RING]),
        ([(NEWER, 9), (OLDER, 8), (PLAIN, 7)], PLAIN, [NEWER]),  # not another version of it
        ([(NEWER, 9), (NEWEST, 8), (PLAIN, 7)], PLAIN, []),  # two versions, and none is named
        ([(TUNED, 9), (PLAIN, 8)], PLAIN, []),  # no build as users get it
        ([(RING, 9), (AWS, 8)], AWS, []),  # of one library
    ],
)
def test_libraries_are_compared_by_one_build_of_each(
    speeds: list[tuple[Implementation, int]],
    baseline: Implementation,
    marked: list[Implementation],
) -> None:
    samples = {i.id: sample(*(100.0 * of + n % 3 for n in range(12))) for i, of in speeds}
    row = series(SCENARIO, "MiB/s", samples=samples)
    made = table(row, baseline=baseline.id, builds=[i for i, _ in speeds])
    leading = [c.implementation for c in made.rows[0].cells if c.best or c.tied]
    assert leading == [i.id for i in marked]
    assert (" Tied: a difference of 2% would show." in made.caption) is (len(marked) > 1)
    named = made.caption.partition(" Best and tied compare ")[2]
    assert all(implementation_label(i) in named for i in marked if len(speeds) > 2)


def rows_by_sessions(ratio: float) -> list[Series]:
    """Six rows of six sessions, whose spread is larger in each row than in the one before."""
    return [
        series(
            scenario("transfer", protocol="1.3", side="sender", size=n),
            "MiB/s",
            samples={
                OURS: sample(
                    *(ratio * (1 + 0.003 * n * (i // 2 % 3)) for i in range(12)), rounds_a_session=2
                ),
                THEIRS: by_sessions(1.0),
            },
        )
        for n in range(1, 7)
    ]


def test_ratios_and_intervals_of_sessions_are_those_of_their_table() -> None:
    rows = rows_by_sessions(2.0)
    prior = prior_to(rows, THEIRS, PAIRS)
    made = table(*rows)
    for row, shown in zip(rows, made.rows, strict=True):
        estimate = sample_ratio(row.samples[OURS], row.samples[THEIRS], row, PAIRS, prior)
        without = sample_ratio(row.samples[OURS], row.samples[THEIRS], row, PAIRS, NO_PRIOR)
        assert estimate is not None
        assert without is not None
        assert shown.cells[0].ratio == as_ratio(estimate, "rate")
        assert shown.cells[0].ratio != as_ratio(without, "rate")


def test_a_leader_is_named_by_the_sessions_of_its_table() -> None:
    """A leader and the verdict of its ratio agree: both use the sessions of all rows."""
    *clear, last = table(*rows_by_sessions(0.984)).rows
    for row in clear:
        assert [(c.best, c.tied) for c in row.cells] == [(False, False), (True, False)]
        assert row.cells[0].ratio is not None
        assert row.cells[0].ratio.verdict == "slower"
    assert [(c.best, c.tied) for c in last.cells] == [(False, True), (False, True)]
    assert last.cells[0].ratio is not None
    assert last.cells[0].ratio.verdict == "no difference shown"


def test_whole_units_are_printed_as_whole_numbers() -> None:
    of = {OURS: sample(*(123.4 + n % 3 for n in range(12))), THEIRS: single(8.6)}
    of[THIRD] = Sample(invalid=[123.4], notes=["why"])
    found = cells(series(SCENARIO, "KiB", "peak-resident", samples=of))
    assert [cell.text for cell in found.values()] == ["124", "9", "123"]
    assert "." not in (found[OURS].interval or ".")


def test_parts_have_no_ratio_no_leader_and_no_warning() -> None:
    part = series(
        FULL, "µs", "duration", phase="flight-1", samples={OURS: FAST, THEIRS: sample(1, 9)}
    )
    made = table(part, key=replace(KEY, by_phase=True))
    assert (made.by_phase, made.baseline, made.warnings) == (True, None, [])
    clear = replace(part, samples={OURS: FAST, THEIRS: SLOW})
    [shown] = table(clear, key=replace(KEY, by_phase=True)).rows
    assert [(c.ratio, c.best, c.tied) for c in shown.cells] == [(None, False, False)] * 2
    assert table(part).baseline == THEIRS, "the same rows have ratios where they are no parts"
    assert [(c.ratio, c.best, c.tied) for c in made.rows[0].cells] == [(None, False, False)] * 2
    assert made.caption == "Median of 2 to 12 rounds with its 95% interval."
    three = row_of(ours=FAST, theirs=sample(*range(1, 9)), third=sample(5.0))
    assert table(three).caption.startswith("Median of 1 to 12 rounds with")
    assert made.rows[0].phase == "flight-1"


def test_single_figures_name_their_estimators() -> None:
    figures = row_of(ours=single(1), theirs=single(2))
    assert table(figures).caption == "Single figures; ratio to OpenSSL 3."
    assert table(figures, baseline=None).caption == "Single figures."
    assert table(figures).interval_source is None
    assert table(figures).interval_note is None
    source = Source(title="a page", url="https://example.org/", estimator="best of 3")
    published = run(source=source)
    assert table(figures, of=published).caption == (
        "Single figures (best of 3); ratio to OpenSSL 3."
    )
    other = replace(
        published,
        loaded=replace(
            published.loaded,
            run=published.loaded.run.model_copy(
                update={"source": source.model_copy(update={"estimator": "a mean"})}
            ),
        ),
    )
    runs = [published, other, run(source=source.model_copy(update={"estimator": None}))]
    [made] = tables(runs, {KEY: [figures]}, PAIRS, BUILDS, THEIRS)
    assert made.caption == "Single figures (a mean; best of 3); ratio to OpenSSL 3."
    nothing = row_of(ours=Sample(invalid=[1.0], notes=["why"]))
    assert table(nothing).caption == "Single figures."


def test_a_caption_states_that_maxima_are_not_compared() -> None:
    most = {i: Sample(s.valid, statistic="max") for i, s in ((OURS, FAST), (THEIRS, SLOW))}
    row = series(SCENARIO, "µs", "duration", "max", samples=most)
    made = table(row, rules=replace(PAIRS, comparisons=9))
    assert made.caption == (
        "Median of 12 rounds; a maximum is that of all rounds, without interval or ratio."
    )
    assert (made.rows[0].metric, made.rows[0].statistic) == ("duration", "max")
    assert not [c for c in made.rows[0].cells if c.ratio or c.best or c.tied]


def test_a_table_of_counts_names_its_counter() -> None:
    def counts(*numbers: float) -> Series:
        of = {OURS: sample(*numbers), THEIRS: sample(200, 201, 202)}
        return series(SCENARIO, "instructions/MiB", "instructions", samples=of)

    head = (
        "Instructions in user space of the calls that other runs time, counted on one thread "
        "by callgrind (valgrind 3.19); median of "
    )
    tail = "Under Valgrind the libraries choose code without AVX-512."
    counted = run(counter=RunCounter(name="callgrind", version="3.19"))
    newer = run(counter=RunCounter(name="callgrind", version="3.20"))
    [made] = tables([newer, run(), counted], {KEY: [counts(100, 101)]}, PAIRS, BUILDS, THEIRS)
    assert made.caption == (
        f"{head.replace('3.19', '3.19, 3.20')}2 to 3 rounds. {tail} Ratio to OpenSSL 3, with its "
        "range where rounds differ."
    )
    theirs = run(tool=Tool(name="rustls' ci-bench"))
    [made] = tables([theirs], {KEY: [counts(100, 101)]}, PAIRS, BUILDS, THEIRS)
    assert made.caption.startswith("Counted by rustls' ci-bench; median of 2 to 3 rounds. Ratio to")
    for values in ((100.0,), (100.0, 101.0)):
        of = {OURS: sample(*values)}
        row = series(SCENARIO, "instructions/MiB", "instructions", samples=of)
        rounds = "1 round" if len(values) == 1 else "2 rounds"
        assert table(row, of=counted).caption == f"{head}{rounds}. {tail}"
    assert table(counts(1, 2, 3), of=counted, baseline=None).caption == f"{head}3 rounds. {tail}"


@pytest.mark.parametrize(("rounds", "interval"), [([26] * 6, None), ([26] * 5 + [27], "26 to 27")])
def test_a_count_that_is_equal_in_all_rounds_has_no_interval(
    rounds: list[float], interval: str | None
) -> None:
    row = series(
        SCENARIO, "instructions/MiB", "instructions", samples={OURS: sample(*rounds), THEIRS: SLOW}
    )
    found = cells(row)[OURS]
    assert (found.text, found.interval) == ("26", interval)
    assert (found.low is None) is (interval is None)
