"""The results of a report: tables, verdicts, absent figures and warnings."""

from __future__ import annotations

from datetime import date
from functools import cache
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
    rounds_of,
    with_each,
    with_rows,
)
from tlsperf.analysis.series import MeasuredReport, MeasuredRun, measured
from tlsperf.analysis.statistics import drift, unpaired_ratio
from tlsperf.contract.errors import UserError
from tlsperf.contract.record import Scenario
from tlsperf.contract.results import Cell, Results, Row
from tlsperf.contract.run import Host, HostFacts, Report, RunCounter, Source, Tool
from tlsperf.load.rows import ParsedRow
from tlsperf.load.run import LoadedRun
from tlsperf.load.tlsbench import Gap
from tlsperf.report.charts import charts_of
from tlsperf.report.results import _any, _hosts, measured_report

RUN = "2026-11-21-run"
HOST = HostFacts(id="a-host", cpu="A CPU", architecture="x86_64")
IDS = ("boringssl-1", "openssl-3", "rustls-0.23")
FACTORS = dict(zip(IDS, (1.0, 1.0, 1.3), strict=True))


def rates(rounds: int = 30, spread: float = 0.004) -> Rates:
    random = np.random.default_rng(7)
    return {
        i: {s: list(1000 * FACTORS[i] * np.exp(random.normal(0, spread, rounds))) for s in SIXTEEN}
        for i in IDS
    }


def results_of(*runs: LoadedRun, baseline: str | None = "openssl-3") -> Results:
    report = Report(
        id="2026-11-21-report",
        title="A report",
        date=date(2026, 11, 21),
        runs=[run.run.id for run in runs],
        baseline=baseline,
        previous=None,
        headlines=[],
    )
    return measured_report(report, [measured(run) for run in runs], {"a-host": HOST}).results


@cache
def usual() -> Results:
    """The report on the usual rates. Tests must not change it."""
    return results_of(loaded_run(RUN, rates()))


def rows(results: Results) -> dict[str, Row]:
    return {row.anchor: row for table in results.tables for row in table.rows}


def cell(results: Results, anchor: str, implementation: str) -> Cell:
    return next(c for c in rows(results)[anchor].cells if c.implementation == implementation)


SENDING = "transfer-1-3-aes-256-gcm-sending"


def test_the_sixteen_scenarios_make_three_tables_in_one_order() -> None:
    results = usual()
    assert {t.anchor: [r.anchor for r in t.rows] for t in results.tables} == {
        "transfer": [
            f"transfer-{suite}-{side}"
            for suite in ("1-2-aes-128-gcm", "1-3-aes-256-gcm")
            for side in ("sending", "receiving")
        ],
        "full-handshakes": [
            f"full-handshake-{protocol}-{certificate}-{side}"
            for protocol in ("1-2", "1-3")
            for certificate in ("rsa-2048", "ecdsa-p256")
            for side in ("client", "server")
        ],
        "resumed-handshakes": [
            f"resumed-handshake-{protocol}-ticket-{side}"
            for protocol in ("1-2", "1-3")
            for side in ("client", "server")
        ],
    }
    assert {t.unit for t in results.tables} == {"MiB/s", "handshakes/s"}
    assert {t.better for t in results.tables} == {"higher"}


def test_the_order_of_the_measurements_does_not_matter() -> None:
    run = loaded_run(RUN, rates())
    turned = LoadedRun(run.run, run.rows[::-1])
    assert results_of(run) == results_of(turned)


def test_cells_have_median_interval_count_and_ratio() -> None:
    results = usual()
    fast, baseline = cell(results, SENDING, "rustls-0.23"), cell(results, SENDING, "openssl-3")
    assert fast.value is not None
    assert fast.value == pytest.approx(1300, rel=0.01)
    assert (fast.low or 0) < fast.value < (fast.high or 0)
    assert (fast.count, fast.valid, fast.best) == (30, True, True)
    assert fast.text == f"{fast.value:,.0f}"
    assert fast.ratio is not None
    assert fast.ratio.verdict == "faster"
    assert fast.ratio.paired
    assert baseline.ratio is None
    same = cell(results, SENDING, "boringssl-1")
    assert same.ratio is not None
    assert same.ratio.verdict == "no difference shown"
    assert results.tables[0].caption == (
        "Median of 30 rounds with its 95% interval; ratio to OpenSSL 3, its interval corrected "
        "for 38 comparisons."
    )


def test_rounds_of_other_tools_are_not_pairs() -> None:
    results = results_of(loaded_run(RUN, rates(), format_="openssl-bench/2024"))
    ratio = cell(results, SENDING, "rustls-0.23").ratio
    assert ratio is not None
    assert not ratio.paired


def test_single_figures_have_a_ratio_without_a_verdict() -> None:
    published: Rates = {i: dict.fromkeys(SIXTEEN, 1000.0 * FACTORS[i]) for i in IDS}
    results = results_of(loaded_run(RUN, published, format_="published/1"))
    fast = cell(results, SENDING, "rustls-0.23")
    assert (fast.count, fast.interval, fast.spread_percent, fast.warnings) == (1, None, None, [])
    assert fast.ratio is not None
    assert (fast.ratio.value, fast.ratio.verdict, fast.ratio.low) == (1.3, "not tested", None)
    assert results.tables[0].caption == "Single figures; ratio to OpenSSL 3."
    assert results.warnings == []


@pytest.mark.parametrize(
    ("tool", "rounds", "estimator", "expected"),
    [
        ("openssl-bench", 30, None, []),
        (
            "openssl-bench, rustls' bench",
            30,
            None,
            [
                "The figures are of 2 programs, openssl-bench and rustls' bench: a ratio between "
                "them compares the programs too."
            ],
        ),
        (
            "openssl-bench",
            None,
            "best of 5",
            [
                "The figures have no interval (best of 5): how much another run would differ is "
                "not known."
            ],
        ),
        ("openssl-bench", None, None, ["The figures have no interval, and their number of "]),
    ],
)
def test_the_reasons_why_imported_figures_cannot_be_compared_are_stated(
    tool: str, rounds: int | None, estimator: str | None, expected: list[str]
) -> None:
    source = (
        None
        if estimator is None
        else Source(title="x", url="https://example.org/", estimator=estimator)
    )
    more: dict[str, Any] = {"tool": Tool(name=tool), "rounds": rounds, "source": source}
    for format_, found in (("openssl-bench/2024", expected), ("tlsbench/1", [])):
        results = results_of(loaded_run(RUN, rates(), format_=format_, **more))
        messages = [w.message for w in results.warnings if w.code == "incomparable"]
        assert [m[: len(e)] for m, e in zip(messages, found, strict=True)] == found


def test_a_figure_keeps_every_digit_that_is_printed() -> None:
    figures: Rates = {i: dict.fromkeys(SIXTEEN, 48_322_557.4) for i in IDS}
    fast = cell(results_of(loaded_run(RUN, figures, format_="published/1")), SENDING, "rustls-0.23")
    assert (fast.value, fast.text) == (48_322_557.0, "48,322,557")


def test_too_few_rounds_are_reported() -> None:
    results = results_of(loaded_run(RUN, rates(rounds=3)))
    fast = cell(results, SENDING, "rustls-0.23")
    assert fast.interval is None
    assert fast.ratio is not None
    assert fast.ratio.verdict == "too few rounds"
    assert [w.code for w in results.warnings] == ["too-few-rounds"]
    assert results.warnings[0].message.startswith("48 of 48 figures")
    wrong = results_of(invalid(loaded_run(RUN, rates(rounds=3)), 3, "wrong suite"))
    assert wrong.warnings[0].message.startswith("47 of 47 figures"), "what is invalid has none"


def test_unstable_figures_are_reported() -> None:
    results = results_of(loaded_run(RUN, rates(spread=0.2)))
    [warning] = results.warnings
    assert warning.message.startswith("48 of 48 figures are unstable")
    [warning] = results_of(invalid(loaded_run(RUN, rates(spread=0.2)), 30, "wrong suite")).warnings
    assert warning.message.startswith("47 of 47 figures are unstable")
    at_the_limit = [1000 * (1 + 0.09576 * (-1) ** n) for n in range(12)]
    some = {i: dict.fromkeys(SIXTEEN[:3], at_the_limit) | {SIXTEEN[3]: [1.0] * 12} for i in IDS}
    [warning] = results_of(loaded_run(RUN, some)).warnings
    assert warning.message.startswith("9 of 12 figures are unstable")
    assert results.tables[0].warnings[0].startswith("12 of 12 figures are unstable")
    assert cell(results, SENDING, "rustls-0.23").warnings == [], "once a table"


def invalid(run: LoadedRun, rounds: int, note: str) -> LoadedRun:
    """The run with rounds of rustls' sending marked invalid."""

    def marked(row: ParsedRow) -> ParsedRow:
        of = (row.implementation, row.scenario.side, row.scenario.protocol)
        is_wrong = of == ("rustls-0.23", "sender", "1.3") and row.round in range(1, rounds + 1)
        return row._replace(note=note) if is_wrong else row

    return with_each(run, marked)


def test_what_must_not_count_is_shown_with_its_reason_and_without_a_ratio() -> None:
    results = results_of(invalid(loaded_run(RUN, rates()), 30, "wrong suite"))
    found = cell(results, SENDING, "rustls-0.23")
    assert found.value is not None
    assert (found.valid, found.best, found.ratio, found.note) == (False, False, None, "wrong suite")
    headline = results.headlines[0]
    assert headline.anchor != SENDING


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (2, "28 rounds count where others have 30: wrong suite"),
        (29, "1 round counts where others have 30: wrong suite"),
    ],
)
def test_rounds_that_do_not_count_are_listed_beside_the_figure(wrong: int, message: str) -> None:
    results = results_of(invalid(loaded_run(RUN, rates()), wrong, "wrong suite"))
    found = cell(results, SENDING, "rustls-0.23")
    assert (found.valid, found.count) == (True, 30 - wrong)
    assert message in found.warnings


def test_what_cannot_be_done_has_its_reason() -> None:
    figures = {i: dict(scenarios) for i, scenarios in rates().items()}
    hole = TRANSFERS[2]
    del figures["boringssl-1"][hole]
    run = loaded_run(RUN, figures)
    reasoned = LoadedRun(run.run, run.rows, [Gap("boringssl-1", hole, "has no such suite")])
    found = cell(results_of(reasoned), SENDING, "boringssl-1")
    assert (found.value, found.text, found.note) == (None, "–", "has no such suite")
    assert cell(results_of(run), SENDING, "boringssl-1").note == "not part of the source"


def extra(metric: str, unit: str, scenario: Scenario, **more: Any) -> list[ParsedRow]:
    """Six rounds of one more observation."""
    fields = {"implementation": IDS[1], "metric": metric, "unit": unit, **more}
    return rounds_of([100.0 + i for i in range(6)], scenario, **fields)


def with_extra(*rows: list[ParsedRow]) -> Results:
    run = loaded_run(RUN, {IDS[1]: {TRANSFERS[0]: [1.0] * 6}})
    return results_of(with_rows(run, *rows), baseline=None)


def test_every_kind_of_observation_has_a_table_of_its_own() -> None:
    handshake = HANDSHAKES[0]
    memory = Scenario(operation="memory", protocol="1.3", side="client")
    results = with_extra(
        extra("rate", "handshakes/s", handshake),
        extra("rate", "handshakes/s", handshake.model_copy(update={"threads": 4})),
        extra("duration", "µs", handshake, phase="flight-1"),
        extra("duration", "µs", handshake, statistic="p99.9"),
        extra("instructions", "instructions/handshake", handshake),
        extra("allocated", "bytes/connection", memory, phase="handshake"),
        extra("rate", "operations/s", Scenario(operation="client-hello")),
        extra("rate", "MiB/s", Scenario(operation="primitive", variant="aes-256-gcm-seal-16384")),
        extra("rate", "operations/s", Scenario(operation="primitive", variant="x25519")),
    )
    assert [(t.anchor, t.better) for t in results.tables] == [
        ("transfer", "higher"),
        ("client-hello", "higher"),
        ("primitives", "higher"),
        ("primitives-throughput", "higher"),
        ("full-handshakes-threads", "higher"),
        ("full-handshakes-latency", "lower"),
        ("full-handshakes-phases", "lower"),
        ("instructions-per-handshake", "lower"),
        ("allocated-per-connection", "lower"),
    ]
    anchors = [row.anchor for table in results.tables for row in table.rows]
    assert len(set(anchors)) == len(anchors)
    assert "full-handshake-1-2-rsa-2048-client-flight-1" in anchors
    assert "full-handshake-1-2-rsa-2048-client-p99-9" in anchors
    assert "full-handshake-1-2-rsa-2048-client-instructions" in anchors


def test_set_ups_have_tables_of_their_own_with_bars() -> None:
    def set_up(variant: str) -> Scenario:
        return Scenario(operation="set-up", protocol="1.3", variant=variant)

    results = with_extra(
        extra("duration", "µs", set_up("names-100")),
        extra("duration", "µs", set_up("client-mozilla")),
        extra("duration", "µs", set_up("client-mozilla"), phase="destruction"),
        extra("duration", "µs", set_up("server")),
        extra("allocations", "allocations", set_up("server")),
    )
    assert [(t.anchor, t.by_phase) for t in results.tables[1:]] == [
        ("set-up-clients", False),
        ("set-up-servers", False),
        ("set-up-names", False),
        ("set-up-clients-phases", True),
        ("set-up-allocations", False),
    ]
    charts = [drawing.chart.table for drawing in charts_of(results)]
    assert charts == [t.anchor for t in results.tables if not t.by_phase]


def test_the_bars_of_set_ups_are_times_though_there_are_many_to_compare() -> None:
    names = [f"openssl-3.{n}" for n in range(8)]
    run = loaded_run(RUN, {i: {TRANSFERS[0]: [1.0] * 6} for i in names})
    server = Scenario(operation="set-up", protocol="1.3", variant="server")
    times = [extra("duration", "µs", server, implementation=i) for i in names]
    results = results_of(with_rows(run, *times), baseline=names[0])
    matrix, bars = (drawing.chart.description for drawing in charts_of(results))
    assert not matrix.startswith("Bars")
    assert bars.startswith("Bars in µs")


def test_less_is_better_but_for_rates() -> None:
    run = loaded_run(RUN, {i: {TRANSFERS[0]: [1.0] * 20} for i in IDS[1:]})
    of = {"metric": "duration", "unit": "µs", "statistic": "p50"}
    times = [
        rounds_of([factor * (100 + i) for i in range(12)], HANDSHAKES[0], implementation=name, **of)
        for factor, name in ((1.0, IDS[1]), (0.5, IDS[2]))
    ]
    results = results_of(with_rows(run, *times))
    found = cell(results, "full-handshake-1-2-rsa-2048-client-p50", IDS[2])
    assert found.best
    assert found.ratio is not None
    assert found.ratio.value == pytest.approx(2)


def test_headlines_are_served_by_tls13_and_say_what_the_bars_show() -> None:
    results = usual()
    assert [h.anchor for h in results.headlines] == [
        SENDING,
        "full-handshake-1-3-rsa-2048-server",
        "resumed-handshake-1-3-ticket-server",
    ]
    bars = results.headlines[0].bars
    assert [bar.percent for bar in bars][2] == 100
    assert [bar.text for bar in bars] == [c.text for c in rows(results)[SENDING].cells]
    ratio = cell(results, SENDING, "rustls-0.23").ratio
    assert ratio is not None
    assert results.headlines[0].statement.endswith(f"rustls 0.23 {ratio.text}")


def test_a_baseline_that_was_not_measured_is_rejected() -> None:
    with pytest.raises(UserError, match="found the baseline 'openssl-4', expected openssl-3"):
        results_of(loaded_run(RUN, rates()), baseline="openssl-4")


def test_one_id_for_two_builds_is_rejected() -> None:
    other = implementation("openssl-3", linkage="shared")
    one = loaded_run(RUN, {"openssl-3": {TRANSFERS[0]: [1.0] * 6}})
    two = loaded_run("2026-11-22-run", {"openssl-3": {TRANSFERS[1]: [1.0] * 6}}, [other])
    with pytest.raises(UserError) as caught:
        results_of(one, two)
    assert str(caught.value) == (
        "report 2026-11-21-report: openssl-3 is another build in run 2026-11-22-run than in an "
        "earlier one; give the builds ids of their own"
    )


def test_programs_that_are_linked_apart_are_one_build() -> None:
    layouts: list[dict[str, Any]] = [{"number": n, "kind": "own", "programs": {}} for n in (0, 1)]
    ids = [implementation("openssl-3", binary_sha256=digit * 64) for digit in "ab"]
    rate = {"openssl-3": {TRANSFERS[0]: [1.0] * 6}}
    other = {"openssl-3": {TRANSFERS[1]: [1.0] * 6}}
    timed = loaded_run(RUN, rate, ids[:1], layouts=layouts)
    same = loaded_run("2026-11-22-run", other, ids[:1])
    assert results_of(timed, same).implementations[0].binary_sha256 is None
    with pytest.raises(UserError, match="openssl-3 is another build in run 2026-11-22-run"):
        results_of(timed, loaded_run("2026-11-22-run", other, ids[1:]))
    counter = RunCounter(name="callgrind", version="3.19.0")
    for apart in ({"layouts": layouts}, {"counter": counter}):
        run = loaded_run("2026-11-22-run", other, ids[1:], **apart)
        for runs in ([timed, run], [run, timed]):
            assert results_of(*runs).implementations[0].binary_sha256 is None
    changed = [implementation("openssl-3", binary_sha256="b" * 64, linkage="shared")]
    with pytest.raises(UserError, match="openssl-3 is another build in run 2026-11-22-run"):
        results_of(timed, loaded_run("2026-11-22-run", other, changed, counter=counter))


def test_an_unknown_host_is_rejected() -> None:
    with pytest.raises(UserError, match="host b-host is not in data/hosts"):
        results_of(loaded_run(RUN, rates(), host_id="b-host"))


def test_scenarios_whose_names_would_be_equal_are_distinguished() -> None:
    group = TRANSFERS[0].model_copy(update={"key_exchange": "X25519"})
    other = TRANSFERS[0].model_copy(update={"key_exchange": "X25519MLKEM768"})
    results = results_of(
        loaded_run(RUN, {"openssl-3": {group: [1.0] * 6, other: [1.0] * 6}}), baseline=None
    )
    assert [row.name for row in results.tables[0].rows] == [
        "TLS 1.2 transfer, AES-128-GCM, sending, X25519",
        "TLS 1.2 transfer, AES-128-GCM, sending, X25519MLKEM768",
    ]


def test_an_unpaired_ratio_of_a_report_is_widened_by_the_drift_of_its_figures() -> None:
    steady = [1000.0 + n % 3 for n in range(30)]
    moved = [r * (1.05 if n >= 15 else 1) for n, r in enumerate(steady)]
    faster = [1.02 * r for r in steady]
    figures: Rates = {IDS[1]: {TRANSFERS[2]: moved}, IDS[2]: {TRANSFERS[2]: faster}}
    ratio = cell(results_of(loaded_run(RUN, figures, format_="rustls-bench/2024")), SENDING, IDS[2])
    assert ratio.ratio is not None
    expected = unpaired_ratio(faster, moved, drift=drift([moved]))
    assert expected.verdict == "no difference shown"
    assert (ratio.ratio.low, ratio.ratio.high) == pytest.approx(
        (expected.low, expected.high), rel=1e-5
    )
    assert "widened by 5.0% for the drift" in (ratio.ratio.note or "")


def test_a_run_that_was_interrupted_is_reported_once_with_its_name() -> None:
    whole = usual()
    assert [w.code for w in whole.warnings] == []
    broken = results_of(loaded_run(RUN, rates(), complete=False))
    assert [(w.code, w.message) for w in broken.warnings] == [
        ("incomplete", f"Run {RUN} was interrupted before its last round.")
    ]


def of_two_hosts(across_hosts: bool, **more: Any) -> MeasuredReport:
    runs = [
        measured(loaded_run(id_, {i: {TRANSFERS[0]: values}}, host_id=host))
        for id_, i, values, host in (
            (RUN, IDS[1], [1000.0 + n for n in range(6)], "a-host"),
            ("2026-11-22-run", IDS[2], [2000.0 + n for n in range(6)], "b-host"),
        )
    ]
    report = Report(
        id="2026-11-21-report",
        title="A report",
        date=date(2026, 11, 21),
        runs=[run.id for run in runs],
        baseline=IDS[1],
        across_hosts=across_hosts,
    )
    hosts = {"a-host": HOST, "b-host": HOST.model_copy(update={"id": "b-host"})}
    return measured_report(report, runs, hosts, **more)


@pytest.mark.parametrize(
    ("across_hosts", "rule"),
    [
        (True, "ratios between them compare the hosts as well as the libraries"),
        (False, "figures of different hosts have no ratio and no verdict"),
    ],
)
def test_a_report_of_two_hosts_states_whether_ratios_compare_them(
    across_hosts: bool, rule: str
) -> None:
    results = of_two_hosts(across_hosts).results
    [warning] = [w for w in results.warnings if w.code == "host"]
    assert warning.message == (f"The runs were measured on 2 hosts (a-host and b-host): {rule}.")
    assert (cell(results, "transfer-1-2-aes-128-gcm-sending", IDS[2]).ratio is not None) is (
        across_hosts
    )
    assert [host.id for host in results.hosts] == ["a-host", "b-host"]
    assert usual().warnings == [], "one host says nothing"


def test_a_build_has_the_figures_of_only_one_host() -> None:
    one = loaded_run(RUN, {IDS[1]: {TRANSFERS[0]: 1.0}})
    two = loaded_run("2026-11-22-run", {IDS[1]: {TRANSFERS[1]: 1.0}}, host_id="b-host")
    with pytest.raises(UserError) as caught:
        results_of(one, two)
    assert str(caught.value) == (
        f"report 2026-11-21-report: {IDS[1]} was measured on two hosts, a-host (run {RUN}) and "
        "b-host (run 2026-11-22-run), and has one column: make a report of each run"
    )


def test_a_report_is_of_a_virtual_machine_if_one_of_its_hosts_is_known_to_be_one() -> None:
    found = [_any(facts) for facts in ([None, None], [None, False], [False, True, None], [])]
    assert found == [None, False, True, None]
    virtual = HOST.model_copy(update={"virtual": True})
    results = results_of(loaded_run(RUN, rates(), host=virtual.model_dump()))
    assert results.virtual is True
    assert usual().virtual is None


def test_a_host_is_as_its_first_run_found_it_and_what_else_is_known_of_it() -> None:
    def run(id_: str, host_id: str, **facts: Any) -> MeasuredRun:
        host = {"id": host_id, "cpu": "As found", "architecture": "x86_64"} | facts
        return measured(loaded_run(id_, {IDS[1]: {TRANSFERS[0]: 1.0}}, host_id=host_id, host=host))

    described = HOST.model_copy(update={"cores": 4, "kernel": "6.0", "caches": {"L1d": "32K"}})
    hosts = _hosts(
        [
            run(RUN, "a-host", kernel="6.1", caches={}),
            run("2026-11-22-run", "a-host", kernel="6.2"),
            run("2026-11-23-run", "b-host"),
        ],
        {"a-host": described},
    )
    assert hosts == [
        described.model_copy(update={"cpu": "As found", "kernel": "6.1"}),
        HOST.model_copy(update={"id": "b-host", "cpu": "As found"}),
    ]
    assert hosts[0].model_fields_set == {"id", "cpu", "architecture", "cores", "kernel", "caches"}


def test_a_run_is_referred_to_with_all_that_a_page_shows_of_it() -> None:
    warnings = [
        {"code": "virtual-machine", "message": "It is one."},
        {"code": "failed-check", "message": "load: 60% of a core"},
    ]
    source = Source(title="x", url="https://example.org/")
    run = loaded_run(
        RUN,
        rates(),
        suite={"name": "standard", "family": "main"},
        rounds=30,
        allocator="system",
        source=source,
        warnings=warnings,
    )
    [reference] = results_of(run).runs
    assert (reference.id, reference.host_id, reference.rounds) == (RUN, "a-host", 30)
    assert (reference.suite, reference.family) == ("standard", "main")
    assert (reference.allocator, reference.source) == ("system", source)
    assert [w.code for w in reference.warnings] == ["failed-check"]
    assert reference.tool == run.run.tool
    assert [dict(file) for file in reference.files] == [
        {**dict(file), "stored": None} for file in run.run.files
    ]
    [bare] = usual().runs
    assert (bare.suite, bare.family) == (None, None)


def test_several_allocators_of_imported_figures_are_named() -> None:
    def messages(*allocators: str | None) -> list[str]:
        known = [implementation(i, allocator=a) for i, a in zip(IDS, allocators, strict=True)]
        run = loaded_run(RUN, rates(), known, format_="openssl-bench/2024", rounds=30)
        return [w.message for w in results_of(run).warnings if w.code == "incomparable"]

    assert messages("system", "jemalloc 5.3.0", None) == [
        "The implementations have 2 allocators, jemalloc 5.3.0 and system."
    ]
    assert messages("system", "system", None) == []


def test_programs_of_several_layouts_have_no_checksum_of_their_own() -> None:
    known = [implementation(i, binary_sha256="a" * 64) for i in IDS]
    layouts: list[dict[str, Any]] = [{"number": n, "kind": "own", "programs": {}} for n in (0, 1)]
    one, several = loaded_run(RUN, rates(), known), loaded_run(RUN, rates(), known, layouts=layouts)
    for run, expected in ((one, "a" * 64), (several, None)):
        assert {i.binary_sha256 for i in results_of(run).implementations} == {expected}


def test_the_noise_floor_is_printed_in_per_cent_and_is_a_rule_of_every_ratio() -> None:
    report = of_two_hosts(True, floor=1.0123456)
    assert report.results.noise_floor_percent == 1.235
    assert report.series.rules.floor == 1.0123456
    assert of_two_hosts(True).results.noise_floor_percent is None
    assert report.results.baseline == IDS[1]


def test_the_spreads_of_a_host_are_those_of_its_ratios() -> None:
    known = Host.model_validate(
        {
            "schema": 1,
            "name": "A host",
            **HOST.model_dump(include={"id", "cpu", "architecture"}),
            "between_sessions": {
                "runs": [RUN],
                "medians": {"transfer": 3.0},
                "ratios": {"transfer": 2.0},
            },
        }
    )
    report = Report(id=RUN, title="", date=date(2026, 11, 21), runs=[RUN], baseline=None)
    found = measured_report(report, [measured(loaded_run(RUN, rates()))], {"a-host": known})
    assert found.series.rules.spreads.of_ratio(TRANSFERS[0]) == 0.02
