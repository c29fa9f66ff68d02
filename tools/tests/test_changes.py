"""Changes put into made-up reports come out, with their cause, and nothing else does."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Literal

import numpy as np
import pandas as pd
import pytest

from synthetic import HANDSHAKES, SIXTEEN, TRANSFERS, Rates, implementation, loaded_run, report_of
from tlsperf.analysis.changes import changes, predecessor
from tlsperf.analysis.series import MeasuredReport, widening
from tlsperf.analysis.sessions import DEFAULT_SPREADS
from tlsperf.analysis.statistics import drift, unpaired_ratio
from tlsperf.contract.errors import UserError
from tlsperf.contract.names import scenario_name
from tlsperf.contract.record import Scenario
from tlsperf.contract.results import Changes, Noise
from tlsperf.contract.run import Host, HostFacts, Report, Run
from tlsperf.load.frame import concatenate
from tlsperf.load.run import LoadedRun

Factor = Callable[[Scenario], float]


def rates(ids: list[str], factor: Factor = lambda _: 1.0, seed: int = 1, rounds: int = 30) -> Rates:
    random = np.random.default_rng(seed)
    return {
        i: {s: list(1000 * factor(s) * np.exp(random.normal(0, 0.005, rounds))) for s in SIXTEEN}
        for i in ids
    }


def single(ids: list[str], factor: Factor = lambda _: 1.0) -> Rates:
    return {i: {s: 1000 * factor(s) for s in SIXTEEN} for i in ids}


def compared(before: Rates, after: Rates, noise: Noise | None = None) -> Changes:
    return changes(
        report_of(loaded_run("2026-01-01-old", before)),
        report_of(loaded_run("2026-06-01-new", after)),
        noise,
    )


def tls13(scenario: Scenario) -> float:
    return 0.6 if scenario in HANDSHAKES and scenario.protocol == "1.3" else 1.0


def test_nothing_changed() -> None:
    found = compared(rates(["openssl-1"]), rates(["openssl-2"], seed=2))
    [library] = found.libraries
    assert library.statement == "OpenSSL 1 to 2: 0 faster, 0 slower, 16 unchanged of 16 rows"
    assert (library.compared, library.unchanged, library.groups) == (16, 16, [])
    assert found.caveats == []
    assert "corrected for 16 comparisons" in found.rule
    assert (found.gone, found.new) == ([], [])


def test_changes_are_grouped_by_what_they_share_biggest_first() -> None:
    def factor(s: Scenario) -> float:
        return 1.1 if s in TRANSFERS and s.side == "sender" else tls13(s)

    [library] = compared(rates(["openssl-1"]), rates(["openssl-2"], factor, seed=2)).libraries
    assert [g.title for g in library.groups] == ["TLS 1.3 handshake", "sending"]
    assert [len(g.changes) for g in library.groups] == [6, 2]
    for group in library.groups:
        amounts = sorted(max(c.ratio.value, 1 / c.ratio.value) for c in group.changes)
        assert group.statement.startswith(
            f"all {len(amounts)} rows, {amounts[0]:.2f}x to {amounts[-1]:.2f}x "
        )
    assert library.groups[0].statement.startswith("all 6 rows, 1.6")
    assert library.groups[0].statement.endswith("x slower")
    assert library.groups[1].changes[0].ratio.verdict == "faster"
    assert library.statement == "OpenSSL 1 to 2: 2 faster, 6 slower, 8 unchanged of 16 rows"
    assert (library.compared, library.unchanged) == (16, 8)
    sizes = [abs(np.log(c.ratio.value)) for c in library.groups[0].changes]
    assert sizes == sorted(sizes, reverse=True)


def test_a_single_change_is_one_group() -> None:
    only = HANDSHAKES[3]
    [library] = compared(
        rates(["openssl-1"]), rates(["openssl-2"], lambda s: 1.2 if s == only else 1.0, seed=2)
    ).libraries
    [group] = library.groups
    assert group.title == group.changes[0].name == "TLS 1.2 full handshake, ECDSA P-256, server"
    assert group.statement == group.changes[0].ratio.text
    assert group.changes[0].before.startswith("1,0") or group.changes[0].before.startswith("99")


def test_a_change_in_all_libraries_is_stated() -> None:
    found = compared(
        rates(["openssl-1", "rustls-1"]), rates(["openssl-2", "rustls-2"], tls13, seed=2)
    )
    [caveat] = found.caveats
    assert caveat.code == "common-cause"
    assert caveat.message.startswith("TLS 1.3 handshake went down in all 2 libraries.")


def test_changes_below_the_noise_between_runs_are_not_listed() -> None:
    noise = Noise(
        source="other sessions",
        run="r",
        floor_percent=5,
        comparisons=1,
        statement="",
        rows=[],
    )
    before, after = rates(["openssl-1"]), rates(["openssl-2"], lambda _: 1.04, seed=2)
    assert compared(before, after).libraries[0].unchanged == 0
    hidden = compared(before, after, noise)
    assert hidden.libraries[0].unchanged == 16
    assert "widened by 5.0%, the difference of other sessions of the same programs" in hidden.rule
    assert "by default" not in hidden.rule
    less = compared(before, after, noise.model_copy(update={"floor_percent": 0.1}))
    assert "the drift of medians within a run or between sessions." in less.rule
    unknown = noise.model_copy(update={"floor_percent": None})
    assert compared(before, after, unknown).rule == less.rule
    steady: list[Rates] = [
        {f"openssl-{n}": {TRANSFERS[0]: [1000.0 + i % 3 for i in range(30)]}} for n in (1, 2)
    ]
    spreads = {"runs": ["r"], "medians": {"transfer": 0.1}, "ratios": {"transfer": 0.1}}
    facts = {"schema": 1, "id": "a-host", "name": "A host", "cpu": "A", "architecture": "x86_64"}
    quiet = Host.model_validate({**facts, "between_sessions": spreads})
    then, now = (
        report_of(loaded_run(id_, of), [quiet])
        for id_, of in zip(("2026-01-01-old", "2026-06-01-new"), steady, strict=True)
    )
    rule = changes(then, now, unknown).rule
    assert "widened by 0.3%, the drift of medians within a run or between sessions." in rule


def test_single_figures_change_from_a_stated_size_on_and_have_no_verdict() -> None:
    found = compared(
        single(["openssl-1"]),
        single(["openssl-2"], lambda s: 1.04 if s.side == "client" else 1.06),
    )
    [library] = found.libraries
    assert library.statement == "OpenSSL 1 to 2: 10 up, 0 down, 6 unchanged of 16 rows"
    assert all(c.ratio.verdict == "not tested" for g in library.groups for c in g.changes)
    assert library.groups[0].changes[0].ratio.text == "1.06x"
    assert found.rule == (
        "Figures without rounds have no interval. Their changes of 5% or more are listed, and "
        "are not verdicts."
    )


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
    def measured(
        id_: str, figures: Rates, facts: dict[str, str], by: dict[str, str]
    ) -> MeasuredReport:
        known = HostFacts.model_validate(
            {"id": "a-host", "cpu": "A", "architecture": "x86_64", "kernel": "6.1"} | facts
        )
        run = loaded_run(
            id_, figures, host_id=known.id, tool={"name": "tlsbench", "version": "1"} | by
        )
        return report_of(run, [known])

    found = changes(
        measured("2026-01-01-old", rates(["openssl-1"]), {}, {}),
        measured("2026-06-01-new", rates(["openssl-2"], lambda _: 1.2, seed=2), host, tool),
    )
    assert [c.message for c in found.caveats] == [message]
    [library] = found.libraries
    assert library.statement == "OpenSSL 1 to 2: 16 up, 0 down, 0 unchanged of 16 rows"
    [group] = library.groups
    assert group.title == "everything"
    assert all(c.ratio.verdict == "not tested" for c in group.changes)
    assert all(c.ratio.note == "measured under other conditions" for c in group.changes)
    values = sorted(c.ratio.value for c in group.changes)
    assert group.statement == f"all 16 rows, {values[0]:.2f}x to {values[-1]:.2f}x"
    assert "faster" not in group.statement + "".join(c.ratio.text for c in group.changes)
    assert found.rule.startswith("A change is an unpaired ratio whose interval excludes 1. ")
    assert found.rule.endswith(
        " (a default between sessions, which were not measured here). "
        "Ratios across a change of host, method or scenario are not speed-ups."
    )


def test_single_figures_across_a_change_of_host_keep_their_own_note() -> None:
    hosts = [HostFacts(id=f"{name}-host", cpu="A", architecture="x86_64") for name in "ab"]
    before, after = (
        report_of(loaded_run(f"2026-0{month}-01-x", of, host_id=host.id), [host])
        for month, host, of in (
            (1, hosts[0], single(["openssl-1"])),
            (6, hosts[1], single(["openssl-2"], lambda _: 1.2)),
        )
    )
    found = changes(before, after)
    notes = {c.ratio.note for x in found.libraries for g in x.groups for c in g.changes}
    assert notes == {"no rounds to test on both sides"}


def sized(size: int, protocol: Literal["1.2", "1.3"] = "1.2") -> Scenario:
    return Scenario(operation="transfer", protocol=protocol, size=size)


def scaled(scenario: Scenario, factor: float) -> list[float]:
    return [factor * (1000.0 + n % 3) for n in range(30)]


def test_rows_with_no_other_features_than_their_group_are_in_it() -> None:
    changed = [sized(1000), sized(2000)]
    same = [sized(1000, "1.3"), Scenario(operation="handshake", protocol="1.2")]
    before = {"openssl-1": {s: scaled(s, 1.0) for s in (*changed, *same)}}
    after = {"openssl-2": {s: scaled(s, 1.2 if s in changed else 1.0) for s in (*changed, *same)}}
    [library] = compared(before, after).libraries
    assert [(g.title, len(g.changes)) for g in library.groups] == [("TLS 1.2 transfer", 2)]


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


def test_two_rows_that_may_each_be_one_of_before_are_new() -> None:
    threads = [TRANSFERS[0].model_copy(update={"threads": n}) for n in (1, 2)]
    before = {"openssl-1": {s: scaled(s, 1.0) for s in (TRANSFERS[0], TRANSFERS[1])}}
    after = {"openssl-2": {s: scaled(s, 1.0) for s in (*threads, TRANSFERS[1])}}
    found = compared(before, after)
    assert [library.compared for library in found.libraries] == [1]
    assert (len(found.gone), len(found.new)) == (1, 2)


def test_figures_of_a_change_are_written_in_their_unit() -> None:
    def memory(id_: str, factor: float) -> MeasuredReport:
        run = loaded_run(id_, {"openssl-1": {HANDSHAKES[0]: [factor * 123.4] * 12}})
        frame = run.frame.copy()
        for column, value in (("metric", "allocated"), ("unit", "bytes")):
            frame[column] = pd.Categorical([value] * len(frame))
        return report_of(LoadedRun(run.run, frame))

    [library] = changes(memory("2026-01-01-old", 1), memory("2026-06-01-new", 2)).libraries
    [group] = library.groups
    assert [(c.before, c.after) for c in group.changes] == [("123", "247")]


def test_another_key_exchange_is_reported_as_another_scenario() -> None:
    def keyed(figures: Rates, group: str) -> Rates:
        return {
            i: {
                s.model_copy(update={"key_exchange": group}) if s in HANDSHAKES else s: v
                for s, v in rows.items()
            }
            for i, rows in figures.items()
        }

    found = compared(
        keyed(rates(["openssl-1"]), "X25519"),
        keyed(rates(["openssl-2"], tls13, seed=2), "X25519MLKEM768"),
    )
    assert [c.message for c in found.caveats] == [
        "The scenario changed in 12 rows: key exchange X25519 before, X25519MLKEM768 now."
    ]
    changed = [c for g in found.libraries[0].groups for c in g.changes]
    assert len(changed) == 6
    assert all(c.ratio.verdict == "not tested" for c in changed)


def test_what_one_report_does_not_record_may_differ() -> None:
    recorded = {
        "openssl-2": {
            s.model_copy(update={"threads": 1}): v for s, v in rates(["x"], seed=2)["x"].items()
        }
    }
    found = compared(rates(["openssl-1"]), recorded)
    assert [c.message for c in found.caveats] == [
        "The scenario may differ in 16 rows: threads not recorded before, 1 now."
    ]


def test_what_is_only_in_one_report_is_listed() -> None:
    before, after = rates(["openssl-1", "boringssl-1"]), rates(["openssl-2", "rustls-1"])
    fewer = {i: {s: v for s, v in rows.items() if s != TRANSFERS[0]} for i, rows in after.items()}
    found = compared(before, fewer)
    assert found.gone == ["BoringSSL 1", "TLS 1.2 transfer, AES-128-GCM, sending"]
    assert found.new == ["rustls 1"]


def test_builds_of_a_library_are_compared_with_their_like() -> None:
    old = loaded_run("2026-01-01-old", rates(["openssl-1-gcc", "openssl-1-clang"]))
    new = [implementation(f"openssl-2-{c}", c_compiler=f"{c} 14") for c in ("gcc", "clang")]
    now = loaded_run("2026-06-01-new", rates([i.id for i in new]), new)
    found = changes(report_of(old), report_of(now))
    assert [(x.before.id, x.after.id) for x in found.libraries] == [
        ("openssl-1-gcc", "openssl-2-gcc"),
        ("openssl-1-clang", "openssl-2-clang"),
    ]


def test_a_first_look_precedes_only_another_first_look() -> None:
    few = {"openssl-1": {TRANSFERS[0]: 1000.0}}
    runs = [
        loaded_run(name, few, suite={"name": suite, "family": "main"}).run
        for name, suite in (
            ("2026-01-01-first", "standard"),
            ("2026-02-01-look", "quick"),
            ("2026-03-01-now", "standard"),
            ("2026-04-01-another-look", "quick"),
        )
    ]
    by_id = {run.id: run for run in runs}
    reports = [Report(id=r.id, title="", date=r.date, runs=[r.id], previous=None) for r in runs]
    before = [predecessor(report, reports, by_id) for report in reports]
    assert [report and report.id for report in before] == [
        None,
        "2026-01-01-first",
        "2026-01-01-first",
        "2026-03-01-now",
    ]


def test_on_one_day_the_run_that_began_later_comes_after() -> None:
    few = {"openssl-1": {TRANSFERS[0]: 1000.0}}
    runs = [
        loaded_run(
            name,
            few,
            suite={"name": "standard", "family": "main"},
            started=datetime(2026, 1, 1, hour, tzinfo=UTC),
        ).run
        for name, hour in (("2026-01-01-b", 8), ("2026-01-01-a", 9))
    ]
    by_id = {run.id: run for run in runs}
    reports = [Report(id=r.id, title="", date=r.date, runs=[r.id], previous=None) for r in runs]
    before = [predecessor(report, reports, by_id) for report in reports]
    assert [report and report.id for report in before] == [None, "2026-01-01-b"]
    unknown = loaded_run("2026-01-01-z", few, suite={"name": "standard", "family": "main"}).run
    first = Report(id=unknown.id, title="", date=unknown.date, runs=[unknown.id], previous=None)
    by_id[unknown.id] = unknown
    assert predecessor(first, [*reports, first], by_id) is None
    assert predecessor(reports[0], [*reports, first], by_id) == first


def test_a_report_of_other_libraries_is_no_predecessor() -> None:
    suite = {"name": "standard", "family": "main"}
    runs = [
        loaded_run(id_, {of: {TRANSFERS[0]: 1000.0}}, suite=suite).run
        for id_, of in (("2026-01-01-a", "rustls-1"), ("2026-02-01-b", "openssl-1"))
    ]
    reports = [Report(id=r.id, title="", date=r.date, runs=[r.id], previous=None) for r in runs]
    assert predecessor(reports[1], reports, {run.id: run for run in runs}) is None


def test_predecessor_is_the_latest_on_the_same_host_of_the_same_family() -> None:
    few = {"openssl-1": {TRANSFERS[0]: 1000.0}}

    def run(id_: str, family: str = "main", host: str = "a-host") -> Run:
        suite = {"name": "standard", "family": family}
        return loaded_run(id_, few, suite=suite, host_id=host).run

    def report(of: Run, previous: str | None = None) -> Report:
        return Report(id=of.id, title="", date=of.date, runs=[of.id], previous=previous)

    runs = [
        run("2026-01-01-first"),
        run("2026-02-01-second"),
        run("2026-03-01-other-host", host="b-host"),
        run("2026-04-01-other-family", "memory"),
        loaded_run("2026-05-01-no-family", few).run,
        run("2026-06-01-now"),
        run("2026-07-01-later"),
    ]
    by_id = {r.id: r for r in runs}
    reports = [report(r) for r in runs]
    now = by_id["2026-06-01-now"]
    found = predecessor(report(now), reports, by_id)
    assert found is not None
    assert found.id == "2026-02-01-second"
    assert predecessor(reports[0], reports, by_id) is None
    named = predecessor(report(now, "2026-03-01-other-host"), reports, by_id)
    assert named is not None
    assert named.id == "2026-03-01-other-host"
    with pytest.raises(UserError, match="'2026-03-02-none' does not exist"):
        predecessor(report(now, "2026-03-02-none"), reports, by_id)


def test_a_change_is_widened_by_the_drift_within_either_report_and_corrected() -> None:
    few = [TRANSFERS[0], TRANSFERS[1]]
    steady = [1000.0 + n % 3 for n in range(30)]
    moved = [r * (1.05 if n >= 15 else 1) for n, r in enumerate(steady)]
    faster = [1.08 * r for r in steady]
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
    found = compared(before, after)
    now, then = after["openssl-2"], before["openssl-1"]
    reports = [report_of(loaded_run("2026-01-01-x", of)) for of in (before, after)]
    widest = max(widening(of.series.rows, DEFAULT_SPREADS) for of in reports)
    for change in (c for g in found.libraries[0].groups for c in g.changes):
        scenario = next(s for s in SIXTEEN if scenario_name(s) == change.name)
        corrected, bare = (
            unpaired_ratio(now[scenario], then[scenario], comparisons=n, drift=widest)
            for n in (16, 1)
        )
        assert change.ratio.low == pytest.approx(corrected.low, rel=1e-5)
        assert bare.low is not None
        assert change.ratio.low is not None
        assert change.ratio.low < 0.995 * bare.low


def with_threads() -> list[Scenario]:
    """Each scenario with one thread and with two, and transfers with a cipher of both protocols."""
    both = [s.model_copy(update={"cipher_suite": f"TLS_{AES_256}"}) for s in TRANSFERS[:2]]
    every = (*SIXTEEN, *both)
    return [s.model_copy(update={"threads": threads}) for s in every for threads in (1, 2)]


AES_256 = "AES_256_GCM_SHA384"


@pytest.mark.parametrize(
    ("belongs", "title"),
    [
        (lambda s: True, "everything"),
        (lambda s: s in HANDSHAKES, "handshake"),
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
    rows = with_threads()
    one_thread = {s: s.model_copy(update={"threads": None}) for s in rows}
    before, after = (
        {i: {s: 1000 * (by if belongs(one_thread[s]) else 1.0) for s in rows}}
        for i, by in (("openssl-1", 1.0), ("openssl-2", 1.2))
    )
    [library] = compared(before, after).libraries
    assert [group.title for group in library.groups] == [title]


def test_changes_of_another_metric_are_a_group_of_their_own() -> None:
    def timed(id_: str, factor: float) -> MeasuredReport:
        run = loaded_run(id_, {"openssl-1": {s: scaled(s, 1.0) for s in HANDSHAKES[:2]}})
        times = run.frame.copy()
        times["value"] *= factor
        for column, value in (("metric", "duration"), ("unit", "µs")):
            times[column] = pd.Categorical([value] * len(times))
        return report_of(LoadedRun(run.run, concatenate([run.frame, times])))

    [library] = changes(timed("2026-01-01-old", 1), timed("2026-06-01-new", 2)).libraries
    assert [(group.title, len(group.changes)) for group in library.groups] == [("duration", 2)]


@pytest.mark.parametrize(
    ("before", "after", "protocol", "same"),
    [
        ("resumed", "ticket", "1.3", True),
        ("session-id", "resumed", "1.3", True),
        (None, "ticket", "1.3", True),
        ("resumed", "none", "1.3", False),
        ("none", "resumed", "1.3", False),
        ("session-id", "ticket", "1.3", False),
        (None, "ticket", "1.2", False),
    ],
)
def test_a_resumption_of_no_known_kind_may_be_either_and_never_a_full_handshake(
    before: str | None, after: str, protocol: str, same: bool
) -> None:
    def row(resumption: str | None, of: str) -> Scenario:
        return HANDSHAKES[0].model_copy(update={"resumption": resumption, "protocol": of})

    found = compared(
        {"openssl-1": {row(before, protocol): 1000.0}}, {"openssl-2": {row(after, "1.3"): 1000.0}}
    )
    assert [library.compared for library in found.libraries] == [1] * same


def test_too_few_rounds_for_a_verdict_are_figures_without_one() -> None:
    before, after = rates(["openssl-1"], rounds=3), rates(["openssl-2"], lambda _: 1.2, rounds=3)
    [library] = compared(before, after).libraries
    assert library.statement == "OpenSSL 1 to 2: 16 up, 0 down, 0 unchanged of 16 rows"
    [group] = library.groups
    for change in group.changes:
        assert (change.ratio.verdict, change.ratio.low) == ("not tested", None)
        assert change.ratio.note == "no rounds to test on both sides"
        assert change.ratio.value == pytest.approx(1.2)
    [single_figures] = compared(before, single(["openssl-2"])).libraries
    assert single_figures.unchanged == 16
    [one_sided] = compared(single(["openssl-1"]), single(["openssl-2"], lambda _: 2.0)).libraries
    notes = {c.ratio.note for g in one_sided.groups for c in g.changes}
    assert notes == {"no rounds to test on both sides"}


def test_the_same_version_measured_again_is_called_so() -> None:
    [library] = compared(rates(["openssl-1"]), rates(["openssl-1"], seed=2)).libraries
    assert library.statement == (
        "OpenSSL 1, the same version: 0 faster, 0 slower, 16 unchanged of 16 rows"
    )
    assert library.details == []


def test_an_implementation_is_paired_by_its_id_then_its_kind_then_as_the_only_one() -> None:
    def pairs(before: list[str], after: list[str]) -> list[tuple[str, str]]:
        found = compared(rates(before), rates(after, lambda _: 1.2))
        return [(library.before.id, library.after.id) for library in found.libraries]

    assert pairs(["openssl-1-gcc"], ["openssl-2-clang"]) == [("openssl-1-gcc", "openssl-2-clang")]
    assert pairs(["openssl-1-gcc"], ["openssl-2-clang", "openssl-2-icc"]) == []
    assert pairs(["openssl-1-clang", "openssl-1-icc"], ["openssl-2-gcc"]) == []
    assert pairs(["openssl-1", "openssl-2"], ["openssl-2"]) == [("openssl-2", "openssl-2")]
    assert pairs(["openssl-1-gcc", "rustls-1"], ["openssl-2-clang", "rustls-2"]) == [
        ("openssl-1-gcc", "openssl-2-clang"),
        ("rustls-1", "rustls-2"),
    ]


def test_a_row_that_one_implementation_lacks_is_compared_for_the_others() -> None:
    before = rates(["openssl-1", "rustls-1"])
    fewer = {
        i: {s: v for s, v in rows.items() if i == "openssl-2" or s != TRANSFERS[0]}
        for i, rows in rates(["openssl-2", "rustls-2"], seed=2).items()
    }
    found = compared(before, fewer)
    assert [library.compared for library in found.libraries] == [16, 15]
    run = loaded_run("2026-01-01-old", rates(["openssl-1"]))
    frame = run.frame.copy()
    frame["note"] = frame["note"].cat.add_categories(["stopped"])
    frame["valid"], frame["note"] = False, "stopped"
    frame["note"] = frame["note"].astype("category")
    unusable = report_of(LoadedRun(run.run, frame))
    now = report_of(loaded_run("2026-06-01-new", rates(["openssl-2"])))
    assert changes(unusable, now).libraries == changes(now, unusable).libraries == []


def test_a_build_that_changed_is_described() -> None:
    def built(id_: str, compiler: str) -> MeasuredReport:
        known = [implementation("openssl-1", c_compiler=compiler)]
        return report_of(loaded_run(id_, rates(["openssl-1"]), known))

    [library] = changes(
        built("2026-01-01-old", "gcc 13"), built("2026-06-01-new", "gcc 14")
    ).libraries
    [detail] = library.details
    assert "gcc 13" in detail
    assert "gcc 14" in detail
