"""The results of a report: tables, verdicts, absent figures and warnings."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from functools import cache
from typing import Any

import numpy as np
import pytest

from synthetic import (
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
from tlsperf.analysis.sessions import DEFAULT_SPREADS
from tlsperf.analysis.statistics import drift, unpaired_ratio
from tlsperf.contract.errors import UserError
from tlsperf.contract.record import Scenario
from tlsperf.contract.results import Cell, Results, Row
from tlsperf.contract.run import HostFacts, Report, RunCounter, Source, Tool
from tlsperf.contract.spreads import ModelSpreads, Spread
from tlsperf.contract.text import host_label
from tlsperf.load.rows import ParsedRow
from tlsperf.load.run import LoadedRun
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


def made(*runs: LoadedRun, baseline: str | None = "openssl-3", **more: Any) -> MeasuredReport:
    report = Report(
        id="2026-11-21-report",
        title="A report",
        date=date(2026, 11, 21),
        runs=[run.run.id for run in runs],
        baseline=baseline,
        previous=None,
    )
    return measured_report(report, [measured(run) for run in runs], {"a-host": HOST}, **more)


def results_of(*runs: LoadedRun, baseline: str | None = "openssl-3") -> Results:
    return made(*runs, baseline=baseline).results


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


def test_rounds_of_tlsbench_are_pairs_of_one_family_of_comparisons() -> None:
    results = usual()
    verdicts = {}
    for build in ("rustls-0.23", "boringssl-1"):
        ratio = cell(results, SENDING, build).ratio
        assert ratio is not None
        assert ratio.paired
        verdicts[build] = ratio.verdict
    assert verdicts == {"rustls-0.23": "faster", "boringssl-1": "no difference shown"}
    assert "corrected for 32 comparisons" in results.tables[0].caption


@pytest.mark.parametrize("beside", [0, 1], ids=["alone", "beside a file of tlsbench"])
def test_rounds_of_other_tools_are_not_pairs(beside: int) -> None:
    loaded = loaded_run(RUN, rates(), format_="openssl-bench/2024")
    ours = loaded_run(RUN, rates()).run.files * beside
    run = loaded.run.model_copy(update={"files": [*loaded.run.files, *ours]})
    results = results_of(replace(loaded, run=run))
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


def extra(metric: str, unit: str, scenario: Scenario, **more: Any) -> list[ParsedRow]:
    """Six rounds of one more observation."""
    fields = {"implementation": IDS[1], "metric": metric, "unit": unit, **more}
    return rounds_of([100.0 + i for i in range(6)], scenario, **fields)


def with_extra(*rows: list[ParsedRow]) -> Results:
    run = loaded_run(RUN, {IDS[1]: {TRANSFERS[0]: [1.0] * 6}})
    return results_of(with_rows(run, *rows), baseline=None)


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

    described = HOST.model_copy(
        update={"name": "Zen 4", "cpu_model": "family 25, model 17 (Zen 4)", "threads": 4}
    )
    another = {"cpu_model": "family 26, model 2, stepping 1"}
    runs = [
        run(RUN, "a-host", kernel="6.1", caches={}),
        run("2026-11-22-run", "a-host", kernel="6.2"),
        run("2026-11-23-run", "b-host"),
        run("2026-11-24-run", "a-host", **another),
    ]
    hosts = _hosts(runs, {"a-host": described})
    assert hosts == [
        described.model_copy(update={"cpu": "As found", "kernel": "6.1"}),
        HOST.model_copy(update={"id": "b-host", "cpu": "As found"}),
        HOST.model_copy(update={"id": "a-host-family-26-model-2", "cpu": "As found", **another}),
    ], "another processor does not take what is known of the host"
    assert [*map(host_label, hosts)] == ["Zen 4", "As found", "As found"]
    for name, label in (("Zen 4", "Zen 4 (virtual machine)"), ("Zen 4 VM", "Zen 4 VM")):
        assert host_label(HOST.model_copy(update={"name": name, "virtual": True})) == label
    fields = {"id", "name", "cpu", "architecture", "cpu_model", "kernel", "threads"}
    assert hosts[0].model_fields_set == fields
    other = run("2026-11-25-run", "a-host", cpu_model="family 25, model 17, stepping 1")
    with pytest.raises(UserError, match="another family and model than in run 2026-11-24-run"):
        _hosts([*runs, other], {})


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
        started=datetime(2026, 11, 21, 8, tzinfo=UTC),
        finished=datetime(2026, 11, 21, 8, 14, tzinfo=UTC),
    )
    [reference] = results_of(run).runs
    assert reference.took == "14 minutes"
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


def test_the_noise_floor_is_printed_in_per_cent_and_is_a_rule_of_every_ratio() -> None:
    report = made(loaded_run(RUN, rates()), floor=1.0323456)
    assert report.results.noise_floor_percent == 3.235
    assert report.series.rules.floor == 1.0323456
    assert made(loaded_run(RUN, rates()), floor=1.01).series.rules.floor == 1.02
    assert usual().noise_floor_percent is None
    assert usual().baseline == "openssl-3"


def test_the_spreads_of_a_processor_model_are_those_of_its_ratios() -> None:
    found = made(loaded_run(RUN, rates()), spreads=[spreads_of_model(HOST)])
    assert found.series.rules.spreads.ratios["transfer"] == 3.0
    other = HOST.model_copy(update={"cpu": "Another CPU"})
    unknown = made(loaded_run(RUN, rates()), spreads=[spreads_of_model(other)])
    assert unknown.series.rules.spreads == DEFAULT_SPREADS


def spreads_of_model(host: HostFacts) -> ModelSpreads:
    of = Spread(rates=9.0, ratios=3.0, pairs=1)
    return ModelSpreads(host=host, runs=2, days=1, pairs=1, kinds={"transfer": of})
