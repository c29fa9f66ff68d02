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
    rounds_of,
    run_of_rows,
    with_each,
    with_rows,
)
from tlsperf.analysis.changes import changes, predecessor
from tlsperf.analysis.series import MeasuredReport
from tlsperf.analysis.sessions import Spreads
from tlsperf.contract.record import Scenario
from tlsperf.contract.results import Change, Changes, LibraryChanges
from tlsperf.contract.run import HostFacts, Report, Run

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


REFERENCES = ("boringssl-1", "rustls-1")
"""Builds that do not change, so that the shift of all is known."""


def compared(before: Rates, after: Rates) -> Changes:
    """The changes beside two other libraries that do not change."""
    others = {i: steady(SIXTEEN, id_=i)[i] for i in REFERENCES}
    return changes(
        report_of(loaded_run(OLD, {**others, **before})),
        report_of(loaded_run(NEW, {**others, **after})),
    )


def library_of(found: Changes, library: str = "openssl") -> LibraryChanges:
    return next(of for of in found.libraries if of.after.library == library)


def changed(of: Changes | LibraryChanges) -> list[Change]:
    libraries = of.libraries if isinstance(of, Changes) else [of]
    return [change for library in libraries for change in library.changes]


def tls13(scenario: Scenario) -> float:
    return 0.6 if scenario in HANDSHAKES and scenario.protocol == "1.3" else 1.0


# --- what all share, and what is a change beyond it -----------------------------------------------


def flat(factors: dict[str, float], only: Scenario | None = None) -> Rates:
    """Rates of some builds, 1.14 times as high as in `flat(dict.fromkeys(factors, 1 / 1.14))`."""
    return {
        i: {
            s: [1140 * (factor if only in (None, s) else 1.0) + n % 3 for n in range(30)]
            for s in SIXTEEN
        }
        for i, factor in factors.items()
    }


@pytest.mark.parametrize(
    ("now", "only", "shift", "verdicts"),
    [
        ({"openssl-1": 1, "boringssl-1": 1, "rustls-1": 1}, None, "48", {}),
        ({"openssl-1": 1, "boringssl-1": 1, "rustls-1": 1.1}, None, "48", {"rustls": "faster"}),
        ({"openssl-1": 0.9, "boringssl-1": 1, "rustls-1": 1}, None, "48", {"openssl": "slower"}),
        ({"openssl-1": 1, "boringssl-1": 1, "rustls-2": 1.1}, None, "32", {"rustls": "faster"}),
        ({"openssl-1": 1, "boringssl-2": 1, "rustls-2": 1.1}, None, "16", {"rustls": "faster"}),
        ({"openssl-2": 1.1, "boringssl-2": 1, "rustls-2": 1}, None, "48", {"openssl": "faster"}),
        ({"openssl-1": 1, "rustls-1": 0.9}, TRANSFERS[0], "32", {"rustls": "slower"}),
        ({"openssl-1": 0.9, "rustls-1": 1}, TRANSFERS[0], "32", {"openssl": "slower"}),
        ({"openssl-1": 1, "rustls-1": 1.015}, None, "32", {}),
        ({"openssl-1": 1.3}, None, "16", {}),
        ({"openssl-2": 1.3}, None, "16", {}),
    ],
)
def test_only_what_differs_beyond_the_shift_of_all_is_a_change_of_a_library(
    now: dict[str, float], only: Scenario | None, shift: str, verdicts: dict[str, str]
) -> None:
    then = {i.split("-")[0] + "-1": 1 / 1.14 for i in now}
    found = changes(
        report_of(loaded_run(OLD, flat(then))), report_of(loaded_run(NEW, flat(now, only)))
    )
    assert found.shift is not None
    assert f"All {shift} rates are higher by" in found.shift
    assert ("14" in found.shift) is (len(now) > 1)
    is_of_machine = len(now) > 1 and any(i.endswith("-1") for i in now)
    is_of_machine &= not any(f"{library}-1" in now for library in verdicts)
    assert ("the machine, not a library" in found.shift) is is_of_machine
    listed = {of.after.library: {c.ratio.verdict for c in changed(of)} for of in found.libraries}
    assert {library: of for library, of in listed.items() if of} == {
        library: {verdict} for library, verdict in verdicts.items()
    }
    assert ("cannot be told apart" in found.shift) is (len(now) == 1) is (not found.libraries)
    for change in changed(found):
        before, after = (float(text.rstrip("x")) for text in (change.before, change.after))
        assert after / before == pytest.approx(change.ratio.value, abs=0.02)
        assert change.against


@pytest.mark.parametrize(
    ("then", "now", "text"),
    [
        (1000, 860, "All 48 rates are lower by 14%: the machine"),
        (1000, 1004, "All 48 rates are higher by 0.4%."),
        (1000, 1000, "All 48 rates are the same."),
    ],
)
def test_the_shift_is_stated_in_per_cent(then: float, now: float, text: str) -> None:
    def rates(of: float) -> Rates:
        return {i: dict.fromkeys(SIXTEEN, of) for i in ("openssl-1", *REFERENCES)}

    found = changes(
        report_of(loaded_run(OLD, rates(float(then)))),
        report_of(loaded_run(NEW, rates(float(now)))),
    )
    assert (found.shift or "").startswith(text)
    assert changed(found) == []


def figures(id_: str, rounds: int | None, factor: Factor = lambda _: 1.0) -> Rates:
    """Figures of one implementation; a single one of each scenario without rounds."""
    if rounds is None:
        return {id_: {s: 1000 * factor(s) for s in SIXTEEN}}
    return rates([id_], factor, seed=len(id_) + rounds, rounds=rounds)


def six(scenario: Scenario) -> float:
    return 1.04 if scenario.side == "client" else 1.07


@pytest.mark.parametrize(
    ("then", "now", "statement", "verdict", "text", "note"),
    [
        ((30,), (29,), "0 faster, 0 slower, 16 unchanged", None, "", None),
        ((30,), (30, tls13), "0 faster, 6 slower, 10 unchanged", "slower", " slower (", None),
        ((None,), (None, six), "10 up, 0 down, 6 unchanged", "not tested", "1.07x", None),
        ((3,), (3, six), "10 up, 0 down, 6 unchanged", "too few rounds", "too few rounds", None),
        ((3,), (None, six), "10 up, 0 down, 6 unchanged", "not tested", "x", "no rounds to test"),
        ((None,), (30, tls13), "0 up, 6 down, 10 unchanged", "not tested", "x", "on both sides"),
    ],
)
def test_each_row_is_compared_and_figures_without_rounds_change_from_a_stated_size_on(
    then: Any, now: Any, statement: str, verdict: str | None, text: str, note: str | None
) -> None:
    found = compared(figures("openssl-1", *then), figures("openssl-2", *now))
    library = library_of(found)
    assert library.statement.startswith(f"OpenSSL 1 to 2: {statement} of 16 rows")
    assert (found.caveats, found.gone, found.new) == ([], [], [])
    of_changes = [change.ratio for change in changed(library)]
    assert library.compared - library.unchanged == len(of_changes)
    assert {ratio.verdict for ratio in of_changes} == ({verdict} if verdict else set())
    assert all(text in ratio.text and (note or "") in (ratio.note or "") for ratio in of_changes)
    assert ("listed from 5% on" in found.rule) is (30 not in (*then, *now) or None in (*then, *now))


def test_the_same_version_is_named_once() -> None:
    library = library_of(compared(figures("openssl-1", 30), figures("openssl-1", 29)))
    assert library.statement.startswith("OpenSSL 1, the same version: 0 faster, 0 slower, 16 unch")
    assert library.details == []


@pytest.mark.parametrize(("spread", "verdicts"), [(0.002, {"faster"}), (0.05, set())])
def test_a_change_is_larger_than_ratios_of_two_days_differ(
    spread: float, verdicts: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Spreads, "of_ratio", lambda *_: spread)
    library = library_of(
        compared(rates(["openssl-1"]), rates(["openssl-2"], lambda _: 1.1, seed=2))
    )
    assert {change.ratio.verdict for change in changed(library)} == verdicts
    assert ("(27% would show)" in library.statement) is (not verdicts)


def test_the_same_program_has_no_verdict() -> None:
    def report(id_: str, factor: float, sha256: str) -> MeasuredReport:
        known = [implementation(i, binary_sha256=sha256) for i in ("openssl-1", *REFERENCES)]
        return report_of(
            loaded_run(id_, flat(dict.fromkeys(REFERENCES, 1.0) | {"openssl-1": factor}), known)
        )

    for later, verdict in (("a" * 64, "not tested"), ("b" * 64, "faster")):
        found = changes(report(OLD, 1, "a" * 64), report(NEW, 1.2, later))
        assert {change.ratio.verdict for change in changed(found)} == {verdict}


# --- what else is different ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("host", "tool", "message"),
    [
        ({"kernel": "6.2"}, {}, "The host changed. a-host, kernel: 6.1 before, 6.2 now."),
        (
            {"features": ["aes"]},
            {},
            "The host changed. a-host, features: aes, avx512ifma before, aes now.",
        ),
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
    host: dict[str, Any], tool: dict[str, str], message: str
) -> None:
    was = {"id": "a-host", "cpu": "A", "features": ["aes", "avx512ifma"], "kernel": "6.1"}

    def report(id_: str, of: Rates, facts: dict[str, Any], by: dict[str, str]) -> MeasuredReport:
        known = HostFacts.model_validate({"architecture": "x86_64", **was, **facts})
        tool = {"name": "tlsbench", "version": "1"} | by
        of = {**flat(dict.fromkeys(REFERENCES, 1.0)), **of}
        return report_of(loaded_run(id_, of, host_id=known.id, tool=tool), [known])

    found = changes(
        report(OLD, rates(["openssl-1"]), {}, {}),
        report(NEW, rates(["openssl-2"], lambda _: 1.2, seed=2), host, tool),
    )
    assert [c.message for c in found.caveats] == [message]
    library = library_of(found)
    assert library.statement == "OpenSSL 1 to 2: 16 up, 0 down, 0 unchanged of 16 rows"
    ratios = [change.ratio for change in library.changes]
    assert {(r.verdict, r.note) for r in ratios} == {
        ("not tested", "measured under other conditions")
    }
    assert "faster" not in "".join(r.text for r in ratios)
    assert "nothing has a verdict" in found.rule


@pytest.mark.parametrize("fact", ["cpu", "cpu_model"])
def test_between_two_processors_nothing_is_a_change(fact: str) -> None:
    def report(id_: str, factor: float, value: str) -> MeasuredReport:
        facts = {
            "id": "a-host",
            "cpu": "A",
            "cpu_model": "1",
            "architecture": "x86_64",
            fact: value,
        }
        rates = flat({"openssl-1": 1.0, "rustls-1": factor})
        return report_of(loaded_run(id_, rates), [HostFacts.model_validate(facts)])

    for then, now, listed in (("A", "B", 0), ("A", "A", 2)):
        found = changes(report(OLD, 0.33, then), report(NEW, 1.05, now))
        assert len(found.libraries) == listed
        assert ("processor is another" in (found.shift or "")) is (listed == 0)


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

    others = flat(dict.fromkeys(REFERENCES, 1.0))
    before, after = (
        report_of(loaded_run(id_, with_fields({**others, **of}, fields)))
        for id_, of, fields in (
            (OLD, rates(["openssl-1"]), then),
            (NEW, rates(["openssl-2"], tls13, seed=2), now),
        )
    )
    found = changes(before, after)
    assert [c.message for c in found.caveats] == [message]
    assert [c.ratio.verdict for c in changed(found)] == ["not tested"] * 6
    assert (found.gone, found.new) == ([], [])


def test_what_is_only_in_one_report_is_listed() -> None:
    before, after = rates(["openssl-1", "boringssl-1"]), rates(["openssl-2", "rustls-1"])
    fewer = {i: {s: v for s, v in rows.items() if s != TRANSFERS[0]} for i, rows in after.items()}
    found = changes(report_of(loaded_run(OLD, before)), report_of(loaded_run(NEW, fewer)))
    assert found.gone == ["BoringSSL 1", "TLS 1.2 transfer, AES-128-GCM, sending"]
    assert found.new == ["rustls 1"]


def test_a_row_that_one_implementation_lacks_is_compared_for_the_others() -> None:
    before = rates(["openssl-1", "rustls-1"])
    fewer = {
        i: {s: v for s, v in rows.items() if i == "openssl-2" or s != TRANSFERS[0]}
        for i, rows in rates(["openssl-2", "rustls-2"], seed=2).items()
    }
    found = changes(report_of(loaded_run(OLD, before)), report_of(loaded_run(NEW, fewer)))
    assert [library.compared for library in found.libraries] == [15, 15], "none has it alone"


def test_figures_that_do_not_count_are_not_compared() -> None:
    run = loaded_run(OLD, rates(["openssl-1"]))
    unusable = report_of(with_each(run, lambda of: of._replace(note="stopped")))
    now = report_of(loaded_run(NEW, rates(["openssl-2"])))
    assert changes(unusable, now).libraries == changes(now, unusable).libraries == []


def test_a_build_that_changed_is_described() -> None:
    def built(id_: str, compiler: str) -> MeasuredReport:
        known = [implementation("openssl-1", c_compiler=compiler)]
        known += [implementation(i) for i in REFERENCES]
        return report_of(loaded_run(id_, rates([of.id for of in known]), known))

    library = library_of(changes(built(OLD, "gcc 13"), built(NEW, "gcc 14")))
    assert library.details == ["c compiler: gcc 13 before, gcc 14 now"]


# --- which changes are listed ---------------------------------------------------------------------


def test_changes_are_listed_with_the_largest_first() -> None:
    def factor(s: Scenario) -> float:
        return 1.1 if s in TRANSFERS and s.side == "sender" else tls13(s)

    library = library_of(compared(rates(["openssl-1"]), rates(["openssl-2"], factor, seed=2)))
    assert "2 faster, 6 slower, 8 unchanged of 16 rows" in library.statement
    assert [change.ratio.verdict for change in library.changes] == ["slower"] * 6 + ["faster"] * 2
    sizes = [max(c.ratio.value, 1 / c.ratio.value) for c in library.changes]
    assert sizes == sorted(sizes, reverse=True)


def test_a_change_has_the_ratios_to_another_library_before_and_after() -> None:
    only = HANDSHAKES[3]
    before = steady([*SIXTEEN])
    after = steady([*SIXTEEN], lambda s: 1.2 if s == only else 1.0, "openssl-2")
    [change] = library_of(compared(before, after)).changes
    assert change.name == "TLS 1.2 full handshake, ECDSA P-256, server"
    assert (change.before, change.after, change.against) == ("1.00x", "1.20x", "BoringSSL 1")


def test_a_longer_time_is_slower() -> None:
    def timed(id_: str, factor: float) -> MeasuredReport:
        rates = {i: steady(HANDSHAKES[:2], id_=i)[i] for i in ("openssl-1", *REFERENCES)}
        run = loaded_run(id_, rates)
        times = [
            of._replace(
                metric="duration",
                unit="µs",
                value=of.value * (factor if of.implementation == "openssl-1" else 1),
            )
            for of in run.rows
        ]
        return report_of(with_rows(run, times))

    found = changes(timed(OLD, 1), timed(NEW, 2))
    assert {change.ratio.text.partition(" (")[0] for change in changed(found)} == {"2.00x slower"}
    assert "figures" in (found.shift or ""), "rates and times together"


def test_memory_changes_by_its_figures_without_a_shift() -> None:
    def report(id_: str, kib: int) -> MeasuredReport:
        run = loaded_run(id_, steady(HANDSHAKES[:1]))
        bytes_ = run_of_rows(id_, [], run.run.implementations)
        of = Scenario(operation="memory", protocol="1.3", variant="sessions-1000")
        values = [1024.0 * (kib + n % 3) for n in range(12)]
        row = {"implementation": "openssl-1", "metric": "resident", "unit": "bytes"}
        return report_of(with_rows(bytes_, rounds_of(values, of, **row)))

    found = changes(report(OLD, 500), report(NEW, 400))
    [change] = changed(found)
    assert found.shift is None
    assert change.ratio.verdict == "faster"
    assert (change.before, change.after, change.against) == ("501 KiB", "401 KiB", None)


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
    facts = {"cpu": "AMD EPYC", "architecture": "x86_64", "machine": "a" * 16}
    zen4, zen5 = (
        {"id": "a-host", "cpu_model": model, **facts}
        for model in ("family 25, model 17, stepping 1", "family 26, model 2, stepping 1")
    )
    first, second = run_of("2026-01-01-first"), run_of("2026-02-01-second", host=zen4)
    others = (
        run_of("2026-03-01-host", host_id="b-host"),
        run_of("2026-04-01-family", family="memory"),
        run_of("2026-05-01-no-family", family=None),
        run_of("2026-05-02-library", of="rustls-1"),
        run_of("2026-05-03-processor", host=zen5),
    )
    now, later = run_of("2026-06-01-now", host=zen4), run_of("2026-07-01-later", host=zen4)
    assert before_each(first, second, *others, now, later) == [
        *(None, first.id, None, None, None, None, first.id, second.id, now.id)
    ]
    assert before_each(second, others[-1], previous=second.id)[-1] is None
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
