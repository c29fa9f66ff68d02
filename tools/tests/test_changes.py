"""Changes put into made-up reports come out, with their cause, and nothing else does.

test_diff.py has the pairs of rows and implementations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from synthetic import (
    HANDSHAKES,
    SIXTEEN,
    TRANSFERS,
    Rates,
    implementation,
    loaded_run,
    report_of,
    with_each,
    with_rows,
)
from tlsperf.analysis.changes import changes, predecessor
from tlsperf.analysis.series import MeasuredReport, widening
from tlsperf.analysis.sessions import DEFAULT_SPREADS
from tlsperf.analysis.statistics import drift, unpaired_ratio
from tlsperf.contract.names import scenario_name
from tlsperf.contract.record import Scenario
from tlsperf.contract.results import Change, Changes, LibraryChanges, Noise
from tlsperf.contract.run import Host, HostFacts, Report, Run

Factor = Callable[[Scenario], float]
OLD, NEW = "2026-01-01-old", "2026-06-01-new"


def rates(ids: list[str], factor: Factor = lambda _: 1.0, seed: int = 1, rounds: int = 30) -> Rates:
    random = np.random.default_rng(seed)
    return {
        i: {s: list(1000 * factor(s) * np.exp(random.normal(0, 0.005, rounds))) for s in SIXTEEN}
        for i in ids
    }


def steady(
    rows: Sequence[Scenario], factor: Factor = lambda _: 1.0, id_: str = "openssl-1"
) -> Rates:
    return {id_: {s: [factor(s) * (1000.0 + n % 3) for n in range(30)] for s in rows}}


def compared(before: Rates, after: Rates, noise: Noise | None = None) -> Changes:
    return changes(report_of(loaded_run(OLD, before)), report_of(loaded_run(NEW, after)), noise)


def changed(of: Changes | LibraryChanges) -> list[Change]:
    libraries = of.libraries if isinstance(of, Changes) else [of]
    return [c for library in libraries for group in library.groups for c in group.changes]


def tls13(scenario: Scenario) -> float:
    return 0.6 if scenario in HANDSHAKES and scenario.protocol == "1.3" else 1.0


# --- what is a change ----------------------------------------------------------------------------


def figures(id_: str, rounds: int | None, factor: Factor = lambda _: 1.0) -> Rates:
    """Figures of one implementation; a single one of each scenario without rounds."""
    if rounds is None:
        return {id_: {s: 1000 * factor(s) for s in SIXTEEN}}
    return rates([id_], factor, seed=len(id_) + rounds, rounds=rounds)


def six(scenario: Scenario) -> float:
    return 1.04 if scenario.side == "client" else 1.06


@pytest.mark.parametrize(
    ("then", "now", "statement", "verdict", "text", "note"),
    [
        ((30,), (29,), "0 faster, 0 slower, 16 unchanged", None, "", None),
        ((30,), (30, tls13), "0 faster, 6 slower, 10 unchanged", "slower", " slower (", None),
        ((None,), (None, six), "10 up, 0 down, 6 unchanged", "not tested", "1.06x", None),
        ((3,), (3, six), "10 up, 0 down, 6 unchanged", "too few rounds", "too few rounds", None),
        ((3,), (None, six), "10 up, 0 down, 6 unchanged", "not tested", "x", "no rounds to test"),
        ((None,), (30, tls13), "0 up, 6 down, 10 unchanged", "not tested", "x", "on both sides"),
    ],
)
def test_each_row_is_compared_and_figures_without_rounds_change_from_a_stated_size_on(
    then: Any, now: Any, statement: str, verdict: str | None, text: str, note: str | None
) -> None:
    found = compared(figures("openssl-1", *then), figures("openssl-2", *now))
    [library] = found.libraries
    assert library.statement == f"OpenSSL 1 to 2: {statement} of 16 rows"
    assert (found.caveats, found.gone, found.new) == ([], [], [])
    of_changes = [change.ratio for change in changed(library)]
    assert library.compared - library.unchanged == len(of_changes)
    assert {ratio.verdict for ratio in of_changes} == ({verdict} if verdict else set())
    assert all(text in ratio.text and (note or "") in (ratio.note or "") for ratio in of_changes)
    single = (
        "Figures without rounds have no interval. Their changes of 5% or more are listed, and "
        "are not verdicts."
    )
    assert (found.rule == single) is (30 not in (*then, *now) or None in (*then, *now))


def test_the_same_version_is_named_once() -> None:
    [library] = compared(figures("openssl-1", 30), figures("openssl-1", 29)).libraries
    assert library.statement.startswith("OpenSSL 1, the same version: 0 faster, 0 slower, 16 unch")
    assert library.details == []


def test_a_change_is_widened_by_the_drift_within_either_report_and_corrected() -> None:
    few = [TRANSFERS[0], TRANSFERS[1]]
    flat = [1000.0 + n % 3 for n in range(30)]
    moved = [r * (1.05 if n >= 15 else 1) for n, r in enumerate(flat)]
    faster = [1.08 * r for r in flat]
    for then, now in ((moved, faster), (faster, moved)):
        found = compared(
            {"openssl-1": dict.fromkeys(few, then)}, {"openssl-2": dict.fromkeys(few, now)}
        )
        expected = unpaired_ratio(now, then, comparisons=2, drift=drift([moved]))
        assert expected.verdict == "no difference shown"
        assert unpaired_ratio(now, then, comparisons=2).verdict != "no difference shown"
        assert found.libraries[0].unchanged == 2
        assert "corrected for 2 comparisons and widened by 5.0%, the drift of medians" in (
            found.rule
        )


def test_a_change_has_the_interval_corrected_for_all_rows_that_are_compared() -> None:
    before, after = rates(["openssl-1"]), rates(["openssl-2"], lambda _: 1.5, seed=2)
    now, then = after["openssl-2"], before["openssl-1"]
    reports = [report_of(loaded_run(OLD, of)) for of in (before, after)]
    widest = max(widening(of.series.rows, DEFAULT_SPREADS) for of in reports)
    found = changed(compared(before, after))
    assert len(found) == 16
    for change in found:
        scenario = next(s for s in SIXTEEN if scenario_name(s) == change.name)
        expected = unpaired_ratio(now[scenario], then[scenario], comparisons=16, drift=widest)
        assert change.ratio.low == pytest.approx(expected.low, rel=1e-5)
        alone = unpaired_ratio(now[scenario], then[scenario], drift=widest)
        assert change.ratio.low != pytest.approx(alone.low, rel=1e-3)


NOISE = Noise(
    source="other sessions", run="r", floor_percent=5, comparisons=1, statement="", rows=[]
)


@pytest.mark.parametrize(
    ("floor", "unchanged", "rule"),
    [
        (5, 16, "widened by 5.0%, the difference of other sessions of the same programs on this"),
        (0.1, 0, "the drift of medians within a run or between sessions."),
        (None, 0, "the drift of medians within a run or between sessions."),
    ],
)
def test_changes_below_the_noise_between_runs_are_not_listed(
    floor: float | None, unchanged: int, rule: str
) -> None:
    before, after = rates(["openssl-1"]), rates(["openssl-2"], lambda _: 1.04, seed=2)
    assert compared(before, after).libraries[0].unchanged == 0
    found = compared(before, after, NOISE.model_copy(update={"floor_percent": floor}))
    assert found.libraries[0].unchanged == unchanged
    assert rule in found.rule
    assert "a default" not in found.rule


def test_changes_are_widened_by_the_spread_between_sessions_of_their_host() -> None:
    spreads = {"runs": ["r"], "medians": {"transfer": 0.1}, "ratios": {"transfer": 0.1}}
    facts = {"schema": 1, "id": "a-host", "name": "A host", "cpu": "A", "architecture": "x86_64"}
    quiet = Host.model_validate({**facts, "between_sessions": spreads})
    then, now = (report_of(loaded_run(i, steady(TRANSFERS[:1])), [quiet]) for i in (OLD, NEW))
    assert "widened by 0.3%, the drift of medians within a run" in changes(then, now).rule


# --- what else is different ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("host", "tool", "message"),
    [
        ({"kernel": "6.2"}, {}, "The host changed. a-host, kernel: 6.1 before, 6.2 now."),
        ({}, {"version": "2"}, "The method changed. tool: tlsbench 1 before, tlsbench 2 now."),
        ({"id": "b-host"}, {}, "The host changed. a-host before, b-host now."),
        (
            {"machine": "0123456789abcdef"},
            {},
            "The host changed. a-host: only one of the reports records which machine it was.",
        ),
    ],
)
def test_across_a_change_of_host_or_method_nothing_is_called_faster(
    host: dict[str, str], tool: dict[str, str], message: str
) -> None:
    def report(id_: str, of: Rates, facts: dict[str, str], by: dict[str, str]) -> MeasuredReport:
        known = HostFacts.model_validate(
            {"id": "a-host", "cpu": "A", "architecture": "x86_64", "kernel": "6.1"} | facts
        )
        tool = {"name": "tlsbench", "version": "1"} | by
        return report_of(loaded_run(id_, of, host_id=known.id, tool=tool), [known])

    found = changes(
        report(OLD, rates(["openssl-1"]), {}, {}),
        report(NEW, rates(["openssl-2"], lambda _: 1.2, seed=2), host, tool),
    )
    assert [c.message for c in found.caveats] == [message]
    [library] = found.libraries
    assert library.statement == "OpenSSL 1 to 2: 16 up, 0 down, 0 unchanged of 16 rows"
    [group] = library.groups
    ratios = [change.ratio for change in group.changes]
    assert {(r.verdict, r.note) for r in ratios} == {
        ("not tested", "measured under other conditions")
    }
    values = sorted(r.value for r in ratios)
    assert (group.title, group.statement) == (
        "everything",
        f"all 16 rows, {values[0]:.2f}x to {values[-1]:.2f}x",
    )
    assert "faster" not in "".join(r.text for r in ratios)
    assert found.rule.startswith("A change is an unpaired ratio whose interval excludes 1. ")
    assert found.rule.endswith(
        " (a default between sessions, which were not measured here). "
        "Ratios across a change of host, method or scenario are not speed-ups."
    )


@pytest.mark.parametrize(
    ("rows", "then", "now", "message"),
    [
        (
            HANDSHAKES,
            {"key_exchange": "X25519"},
            {"key_exchange": "X25519MLKEM768"},
            "The scenario changed in 12 rows: key exchange X25519 before, X25519MLKEM768 now.",
        ),
        (
            SIXTEEN,
            {},
            {"threads": 1},
            "The scenario may differ in 16 rows: threads not recorded before, 1 now.",
        ),
    ],
)
def test_another_scenario_is_reported_and_has_no_verdict(
    rows: list[Scenario], then: dict[str, Any], now: dict[str, Any], message: str
) -> None:
    def with_fields(of: Rates, fields: dict[str, Any]) -> Rates:
        return {
            i: {s.model_copy(update=fields) if s in rows else s: v for s, v in by.items()}
            for i, by in of.items()
        }

    before = with_fields(rates(["openssl-1"]), then)
    found = compared(before, with_fields(rates(["openssl-2"], tls13, seed=2), now))
    assert [c.message for c in found.caveats] == [message]
    assert [c.ratio.verdict for c in changed(found)] == ["not tested"] * 6
    assert (found.gone, found.new) == ([], [])


def test_a_change_in_all_libraries_is_stated() -> None:
    found = compared(
        rates(["openssl-1", "rustls-1"]), rates(["openssl-2", "rustls-2"], tls13, seed=2)
    )
    [caveat] = found.caveats
    assert caveat.code == "common-cause"
    assert caveat.message.startswith("TLS 1.3 handshake went down in all 2 libraries.")


def test_what_is_only_in_one_report_is_listed() -> None:
    before, after = rates(["openssl-1", "boringssl-1"]), rates(["openssl-2", "rustls-1"])
    fewer = {i: {s: v for s, v in rows.items() if s != TRANSFERS[0]} for i, rows in after.items()}
    found = compared(before, fewer)
    assert found.gone == ["BoringSSL 1", "TLS 1.2 transfer, AES-128-GCM, sending"]
    assert found.new == ["rustls 1"]


def test_a_row_that_one_implementation_lacks_is_compared_for_the_others() -> None:
    before = rates(["openssl-1", "rustls-1"])
    fewer = {
        i: {s: v for s, v in rows.items() if i == "openssl-2" or s != TRANSFERS[0]}
        for i, rows in rates(["openssl-2", "rustls-2"], seed=2).items()
    }
    assert [library.compared for library in compared(before, fewer).libraries] == [16, 15]


def test_figures_that_do_not_count_are_not_compared() -> None:
    run = loaded_run(OLD, rates(["openssl-1"]))
    unusable = report_of(with_each(run, lambda of: of._replace(note="stopped")))
    now = report_of(loaded_run(NEW, rates(["openssl-2"])))
    assert changes(unusable, now).libraries == changes(now, unusable).libraries == []


def test_a_build_that_changed_is_described() -> None:
    def built(id_: str, compiler: str) -> MeasuredReport:
        known = [implementation("openssl-1", c_compiler=compiler)]
        return report_of(loaded_run(id_, rates(["openssl-1"]), known))

    [library] = changes(built(OLD, "gcc 13"), built(NEW, "gcc 14")).libraries
    assert library.details == ["c compiler: gcc 13 before, gcc 14 now"]


# --- groups --------------------------------------------------------------------------------------


def test_changes_are_grouped_by_what_they_share_biggest_first() -> None:
    def factor(s: Scenario) -> float:
        return 1.1 if s in TRANSFERS and s.side == "sender" else tls13(s)

    [library] = compared(rates(["openssl-1"]), rates(["openssl-2"], factor, seed=2)).libraries
    assert library.statement == "OpenSSL 1 to 2: 2 faster, 6 slower, 8 unchanged of 16 rows"
    for group, title, word in zip(
        library.groups, ("TLS 1.3 handshake", "sending"), ("slower", "faster"), strict=True
    ):
        sizes = [max(c.ratio.value, 1 / c.ratio.value) for c in group.changes]
        assert sizes == sorted(sizes, reverse=True)
        assert (group.title, group.statement) == (
            title,
            f"all {len(sizes)} rows, {sizes[-1]:.2f}x to {sizes[0]:.2f}x {word}",
        )
    assert [len(group.changes) for group in library.groups] == [6, 2]


def test_a_single_change_is_one_group() -> None:
    only = HANDSHAKES[3]
    before = steady([*SIXTEEN])
    after = steady([*SIXTEEN], lambda s: 1.2 if s == only else 1.0, "openssl-2")
    [group] = compared(before, after).libraries[0].groups
    [change] = group.changes
    assert group.title == change.name == "TLS 1.2 full handshake, ECDSA P-256, server"
    assert group.statement == change.ratio.text
    assert (change.before, change.after) == ("1,001", "1,201")


def test_what_is_left_of_a_group_is_counted_and_has_its_range() -> None:
    def factor(s: Scenario) -> float:
        if s not in HANDSHAKES or (s.side == "server" and s.protocol == "1.2"):
            return 1.0
        return 1.2 if s.side == "client" else 1.5 + 0.1 * HANDSHAKES.index(s)

    [library] = compared(rates(["openssl-1"]), rates(["openssl-2"], factor)).libraries
    rest, clients = library.groups
    assert clients.statement.startswith("all 6 rows, 1.20x to 1.20x faster")
    values = sorted(factor(s) for s in HANDSHAKES if s.side == "server" and s.protocol == "1.3")
    assert (rest.title, rest.statement) == (
        "TLS 1.3 handshake",
        f"3 rows, {values[0]:.2f}x to {values[-1]:.2f}x faster",
    )


AES_256 = "AES_256_GCM_SHA384"
WITH_THREADS = [
    s.model_copy(update={"threads": threads})
    for s in (
        *SIXTEEN,
        *(s.model_copy(update={"cipher_suite": f"TLS_{AES_256}"}) for s in TRANSFERS[:2]),
    )
    for threads in (1, 2)
]
"""Each scenario with one thread and with two, and transfers with a cipher of both protocols."""


@pytest.mark.parametrize(
    ("belongs", "title"),
    [
        (lambda s: True, "everything"),
        (lambda s: s.operation == "handshake", "handshake"),
        (lambda s: s.operation == "transfer" and s.protocol == "1.3", "TLS 1.3 transfer"),
        (lambda s: s.operation == "transfer" and AES_256 in s.cipher_suite, "AES-256-GCM"),
        (lambda s: s.protocol == "1.3" and s.side == "client", "TLS 1.3, client"),
        (lambda s: s.resumption == "none", "full handshake"),
        (lambda s: s.resumption == "ticket" and s.protocol == "1.3", "TLS 1.3 resumed handshake"),
        (
            lambda s: (s.protocol, s.certificate, s.side) == ("1.3", "rsa-2048", "client"),
            "TLS 1.3, rsa-2048, client",
        ),
        (lambda s: s.side == "receiver", "receiving"),
    ],
)
def test_a_group_is_named_by_what_its_rows_share(
    belongs: Callable[[Scenario], bool], title: str
) -> None:
    before, after = (
        {i: {s: 1000 * (by if belongs(s) else 1.0) for s in WITH_THREADS}}
        for i, by in (("openssl-1", 1.0), ("openssl-2", 1.2))
    )
    [library] = compared(before, after).libraries
    assert [group.title for group in library.groups] == [title]


def test_changes_of_another_metric_are_a_group_of_their_own_in_their_unit() -> None:
    def timed(id_: str, factor: float) -> MeasuredReport:
        run = loaded_run(id_, steady(HANDSHAKES[:2]))
        times = [
            of._replace(metric="duration", unit="µs", value=of.value * 0.1234 * factor)
            for of in run.rows
        ]
        return report_of(with_rows(run, times))

    [group] = changes(timed(OLD, 1), timed(NEW, 2)).libraries[0].groups
    assert group.title == "duration"
    assert [(c.before, c.after, c.unit) for c in group.changes] == [("123.5", "247.0", "µs")] * 2


# --- the report before ---------------------------------------------------------------------------


def run_of(
    id_: str,
    suite: str = "standard",
    family: str | None = "main",
    *,
    of: str = "openssl-1",
    **more: Any,
) -> Run:
    if family is not None:
        more["suite"] = {"name": suite, "family": family}
    return loaded_run(id_, {of: {TRANSFERS[0]: 1000.0}}, **more).run


def before_each(*runs: Run, previous: str | None = None) -> list[str | None]:
    """The predecessors of reports on these runs; `previous` is what the last one names."""
    reports = [Report(id=r.id, title="", date=r.date, runs=[r.id], previous=None) for r in runs]
    reports[-1] = reports[-1].model_copy(update={"previous": previous})
    by_id = {run.id: run for run in runs}
    found = [predecessor(report, reports, by_id) for report in reports]
    return [report.id if report else None for report in found]


def test_predecessor_is_the_latest_on_the_same_host_of_the_same_family_and_library() -> None:
    first, second = run_of("2026-01-01-first"), run_of("2026-02-01-second")
    others = (
        run_of("2026-03-01-host", host_id="b-host"),
        run_of("2026-04-01-family", family="memory"),
        run_of("2026-05-01-no-family", family=None),
        run_of("2026-05-02-library", of="rustls-1"),
    )
    now, later = run_of("2026-06-01-now"), run_of("2026-07-01-later")
    assert before_each(first, second, *others, now, later) == [
        *(None, first.id, None, None, None, None, second.id, now.id)
    ]
    assert before_each(first, second, *others, previous=first.id)[-1] == first.id
    assert before_each(first, second, previous="2026-03-02-none")[-1] is None


def test_a_first_look_precedes_only_another_first_look() -> None:
    first, look = run_of("2026-01-01-first"), run_of("2026-02-01-look", "quick")
    now, another = run_of("2026-03-01-now"), run_of("2026-04-01-another", "quick")
    assert before_each(first, look, now, another) == [None, first.id, first.id, now.id]


def test_on_one_day_the_run_that_began_later_comes_after() -> None:
    late, early = (
        run_of(f"2026-01-01-{name}", started=datetime(2026, 1, 1, hour, tzinfo=UTC))
        for name, hour in (("a", 9), ("b", 8))
    )
    unknown = run_of("2026-01-01-z")
    assert before_each(early, late) == [None, early.id]
    assert before_each(early, late, unknown) == [unknown.id, early.id, None]
