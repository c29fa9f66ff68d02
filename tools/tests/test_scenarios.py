"""Scenario pages: which scenarios have one, its content, and its sentences."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from recomputed import host_name
from synthetic import loaded_run
from test_overviews import NEW, OLD, SCENARIO, ZEN_5, documents, on_another, report, shown_reports
from tlsperf.contract.index import ScenarioOverview
from tlsperf.contract.metrics import METRICS, Metric
from tlsperf.contract.record import Scenario
from tlsperf.contract.results import Results
from tlsperf.contract.run import Report, Run, SuiteReference
from tlsperf.publish.descriptions import done, facts, why
from tlsperf.publish.libraries import libraries
from tlsperf.publish.reports import by_time, featured, newest_first, same_time
from tlsperf.publish.scenarios import scenario_csv, scenario_list, scenarios, shortened


def overview(*reports: tuple[Report, Results]) -> ScenarioOverview:
    ((found, _),) = scenarios(reports, [])
    return found


def test_a_scenario_of_one_report_has_no_page() -> None:
    assert scenarios([NEW], []) == []
    assert overview(NEW, OLD).id == "transfer-1-3-sending"


def test_a_scenario_has_every_figure_with_its_host_newest_report_first() -> None:
    found = overview(OLD, NEW)
    assert [(r.id, [f.text for f in r.figures]) for r in found.reports] == [
        ("2026-01-01-x", ["120.0", "150.0"]),
        ("2025-01-01-x", ["100.0", "90.00"]),
    ]
    assert [r.host for r in found.reports] == ["CPU a", "CPU a"]
    assert {f.host for r in found.reports for f in r.figures} == {"CPU a"}


@pytest.mark.parametrize(
    ("metric", "virtual", "dividing", "words"),
    [
        ("rate", True, 2.0, ["dividing", "two days"]),
        ("rate", True, 0.4, ["two days"]),
        ("rate", False, 0.5, ["dividing"]),
        ("allocated", True, None, []),
        ("instructions", True, None, []),
    ],
)
def test_a_page_says_what_its_figures_do_not(
    metric: Metric, virtual: bool, dividing: float | None, words: list[str]
) -> None:
    def like(of: tuple[Report, Results]) -> tuple[Report, Results]:
        decided, results = of
        [table, *_] = results.tables
        rows = [row.model_copy(update={"metric": metric}) for row in table.rows]
        host = results.hosts[0].model_copy(update={"virtual": virtual})
        table = table.model_copy(update={"rows": rows, "dividing_percent": dividing})
        return decided, results.model_copy(update={"hosts": [host], "tables": [table]})

    notes = overview(like(OLD), like(NEW)).notes
    assert len(notes) == len(words)
    assert all(word in note for word, note in zip(words, notes, strict=True))


def on_two_hosts(of: tuple[Report, Results]) -> tuple[Report, Results]:
    """A report whose last implementation was measured on another host."""
    decided, results = of
    hosts = [results.hosts[0], results.hosts[0].model_copy(update={"id": "b", "cpu": "CPU b"})]
    *first, last = results.implementations
    placed = [
        *(i.model_copy(update={"host": "a"}) for i in first),
        last.model_copy(update={"host": "b"}),
    ]
    return decided, results.model_copy(update={"hosts": hosts, "implementations": placed})


def test_each_figure_of_a_report_on_two_hosts_has_the_host_of_its_run() -> None:
    older, newest = overview(OLD, on_two_hosts(NEW)).reports
    assert (newest.host, [f.host for f in newest.figures]) == (None, ["CPU a", "CPU b"])
    assert (older.host, [f.host for f in older.figures]) == ("CPU a", ["CPU a", "CPU a"])


def test_a_library_has_the_host_of_each_version() -> None:
    versions = {v.label: v.host for of in libraries([on_two_hosts(NEW)[1]]) for v in of.versions}
    assert versions == {"rustls 2": "CPU a", "OpenSSL 2": "CPU b"}


@pytest.mark.any_site
def test_every_figure_of_a_shared_scenario_is_on_its_page_with_its_host(root: Path) -> None:
    expected: dict[str, dict[str, set[tuple[str, str, str, str]]]] = {}
    for name, results in shown_reports(root).items():
        hosts = {host["id"]: host for host in results["hosts"]}
        [first, *_] = hosts
        of = {i["id"]: host_name(hosts[i.get("host", first)]) for i in results["implementations"]}
        for table in results["tables"]:
            if table["by_phase"] or METRICS[table["rows"][0]["metric"]].supporting:
                continue
            for row in table["rows"]:
                figures = expected.setdefault(row["anchor"], {}).setdefault(table["unit"], set())
                figures |= {
                    (name, cell["implementation"], cell["text"], of[cell["implementation"]])
                    for cell in row["cells"]
                    if "value" in cell
                }
    found = documents(root, "content/scenarios/*/scenario.json")
    for anchor, units in expected.items():
        shared = [unit for unit, of in units.items() if len({report for report, *_ in of}) > 1]
        assert (anchor in found) is bool(shared), anchor
        if shared:
            page = found[anchor]
            assert page["unit"] in shared
            shown = {
                (r["id"], f["implementation"], f["text"], f["host"])
                for r in page["reports"]
                for f in r["figures"]
            }
            assert shown == units[page["unit"]], anchor


@pytest.mark.any_site
def test_every_scenario_is_described(root: Path) -> None:
    for name, page in documents(root, "content/scenarios/*/scenario.json").items():
        assert page["done"].endswith("."), name
        assert page["facts"], name
        assert page["why"] or page["table"].startswith("primitives"), name


WIDE: dict[str, float] = {"rustls-2": 1, "openssl-2": 2, "boringssl-2": 3}


@pytest.mark.parametrize(
    ("others", "shown"),
    [
        ([], "2026-01-01-x"),
        # of one host, the report that compares the most libraries, the newest of several
        ([report("2025-12-01", WIDE)], "2025-12-01-x"),
        ([report("2025-12-01", WIDE), report("2025-11-01", WIDE)], "2025-12-01-x"),
        ([report("2026-02-01", {"rustls-3": 1, "openssl-3": 2})], "2026-02-01-x"),
        # of several hosts, the newest that compares libraries
        ([report("2025-12-01", WIDE, host="b")], "2026-01-01-x"),
        ([report("2026-02-01", WIDE, host="b")], "2026-02-01-x"),
        ([report("2026-02-01", {"rustls-3": 1}, host="b")], "2026-01-01-x"),
    ],
)
def test_the_chart_is_of_the_newest_report_that_compares_the_most_libraries(
    others: list[tuple[Report, Results]], shown: str
) -> None:
    found = overview(OLD, NEW, *others)
    assert found.reports[0].id == shown
    assert f"{found.reports[0].date:%-d %B %Y}" in found.newest.title


def test_a_newer_report_of_one_library_replaces_neither_the_chart_nor_the_lines() -> None:
    alone = report("2026-02-01", {"rustls-2": 120, "rustls-3": 130})
    found, without = overview(OLD, NEW, alone), overview(OLD, NEW)
    assert (found.newest, found.lines) == (without.newest, without.lines)
    assert "2026-02-01-x" in [shown.id for shown in found.reports]


def test_lines_are_of_one_host_and_need_two_days_and_versions() -> None:
    elsewhere = report("2024-01-01", {"rustls-1": 1}, host="b")
    assert [line.host.id for line in overview(OLD, NEW, elsewhere).lines] == ["a"]
    assert overview(OLD, on_another(NEW, machine="0123456789abcdef")).lines == []
    assert overview(OLD, on_another(NEW, cpu_model=ZEN_5)).lines == []
    assert overview(OLD, report("2026-01-01", {"rustls-1": 1, "openssl-1": 2})).lines == []
    same_day = report("2026-01-01", {"rustls-3": 1})
    renamed = same_day[1].model_copy(update={"id": "2026-01-01-z"})
    decided = same_day[0].model_copy(update={"id": "2026-01-01-z"})
    assert overview(NEW, (decided, renamed)).lines == []


def test_each_host_has_lines_of_its_own_also_of_reports_on_two() -> None:
    first, second = on_two_hosts(OLD), on_two_hosts(NEW)
    third = report("2026-06-01", {"openssl-3": 180}, host="b")
    found = {line.host.id: line.chart for line in overview(first, second, third).lines}
    assert set(found) == {"a", "b"}
    january = "January 2025 {}, January 2026 {}"
    assert f"rustls: {january.format('100.0', '120.0')}" in found["a"].description
    assert "OpenSSL" not in found["a"].description
    assert f"OpenSSL: {january.format('90.00', '150.0')}" in found["b"].description
    assert "June 2026 180.0" in found["b"].description
    assert "rustls" not in found["b"].description
    assert {chart.file for chart in found.values()} == {"a.svg", "b.svg"}


def test_a_page_keeps_whole_reports_and_counts_the_older_ones() -> None:
    found = overview(OLD, NEW)
    assert shortened(found, most=4) == found
    short = shortened(found, most=3)
    assert ([r.id for r in short.reports], short.older) == (["2026-01-01-x"], 1)
    assert len(shortened(found, most=1).reports) == 1


def test_the_csv_has_a_line_a_figure() -> None:
    rows = list(csv.DictReader(io.StringIO(scenario_csv(overview(OLD, NEW)))))
    assert [(r["library"], r["version"], r["host"]) for r in rows[:2]] == [
        *(("rustls", "2", "CPU a"), ("openssl", "2", "CPU a"))
    ]
    link = "perf/2026-01-01-x/#transfer-1-3-sending"
    assert [r["link"] for r in rows[:2]] == [link, link]
    assert [(r["report"], r["implementation"], r["value"], r["unit"]) for r in rows] == [
        ("2026-01-01-x", "rustls-2", "120.0", "MiB/s"),
        ("2026-01-01-x", "openssl-2", "150.0", "MiB/s"),
        ("2025-01-01-x", "rustls-1", "100.0", "MiB/s"),
        ("2025-01-01-x", "openssl-1", "90.0", "MiB/s"),
    ]


def test_the_list_names_the_unit_of_each_row() -> None:
    listed = scenario_list([overview(OLD, NEW)])
    assert listed.rows == ["transfer-1-3-sending MiB/s"]
    assert [(k.title, [s.reports for s in k.scenarios]) for k in listed.kinds] == [
        ("Transfer", [2])
    ]


FULL = Scenario(operation="handshake", protocol="1.3", resumption="none", side="server")
PACKET = Scenario(
    operation="quic-packet", cipher_suite="TLS_AES_128_GCM_SHA256", side="sender", size=1200
)


@pytest.mark.parametrize(
    ("scenario", "changes", "words"),
    [
        (FULL, {}, ("A server", "full handshake", "TLS 1.3", "certificates")),
        (FULL, {"side": None}, ("Client and server, together,", "full handshake")),
        (FULL, {"variant": "chain-3"}, ("Three certificates",)),
        (FULL, {"variant": "issuer-ecdsa-p256"}, ("Only the leaf",)),
        (FULL, {"variant": "compressed-zlib"}, ("compresses its certificates with zlib",)),
        (FULL, {"resumption": "ticket", "side": "client"}, ("A client resumes a session",)),
        (
            FULL,
            {"resumption": "ticket", "side": "client", "variant": "early-data"},
            ("It sends 1,024 bytes",),
        ),
        (FULL, {"resumption": "ticket", "variant": "early-data"}, ("It receives 1,024 bytes",)),
        (
            FULL,
            {"resumption": "ticket", "side": None, "variant": "early-data"},
            ("The client sends 1,024 bytes",),
        ),
        (SCENARIO, {}, ("One side sends data", "TLS 1.3")),
        (FULL, {"operation": "client-hello", "variant": "X25519"}, ("ClientHello", "X25519")),
        (PACKET, {}, ("seals packets of QUIC",)),
        (PACKET, {"side": "receiver"}, ("opens packets of QUIC",)),
    ],
)
def test_descriptions_state_what_is_done(
    scenario: Scenario, changes: dict[str, Any], words: tuple[str, ...]
) -> None:
    text = done(scenario.model_copy(update=changes))
    assert [part for part in words if part not in text] == []


def test_what_is_done_has_its_own_reason() -> None:
    resumed = FULL.model_copy(update={"resumption": "ticket"})
    hello = FULL.model_copy(update={"operation": "client-hello", "side": "client"})
    reasons = {why(scenario) for scenario in (FULL, resumed, hello, PACKET, SCENARIO)}
    assert len(reasons) == 5
    assert "" not in reasons
    assert ("Bytes of a packet", "1200 B") in [(f.name, f.value) for f in facts([PACKET])]


def test_facts_state_where_reports_differ() -> None:
    one = Scenario(operation="handshake", protocol="1.3", key_exchange="X25519")
    other = one.model_copy(update={"key_exchange": "secp256r1", "threads": 1})
    values = {fact.name: fact.value for fact in facts([one, other])}
    assert values == {
        "Protocol": "TLS 1.3",
        "Key exchange": "X25519 or secp256r1",
        "Threads": "1; not recorded by every report",
    }


def test_a_fact_names_the_chain_as_a_reader_would() -> None:
    chain = Scenario(operation="handshake", protocol="1.3", variant="chain-1")
    assert facts([chain])[-1].value == "chain of 1 certificate"


def at(name: str, hour: int | None) -> tuple[Report, Results]:
    """A report of one day with its time."""
    decided, results = report("2026-01-01", {"rustls-1": 1}, suite="a")
    time = None if hour is None else datetime(2026, 1, 1, hour, tzinfo=UTC)
    return (
        decided.model_copy(update={"id": name, "time": time}),
        results.model_copy(update={"id": name, "time": time}),
    )


def test_reports_of_one_day_are_ordered_by_their_times() -> None:
    day = [at("a", 9), at("b", None), at("c", 18), at("d", 12)]
    assert [r.id for r in by_time(results for _, results in day)] == ["c", "d", "a", "b"]


def test_the_main_series_is_first_of_a_day() -> None:
    main = at("m", 9)[1]
    runs = [run.model_copy(update={"family": "main"}) for run in main.runs]
    day = [at("a", 8)[1], main.model_copy(update={"runs": runs}), at("c", 18)[1], OLD[1]]
    assert [r.id for r in newest_first(day)] == ["m", "c", "a", "2025-01-01-x"]


def run_of(family: str | None) -> Run:
    suite = SuiteReference(name=family, family=family) if family else None
    return loaded_run("2026-01-01", {"rustls-1": {SCENARIO: 1.0}}, suite=suite).run


@pytest.mark.parametrize(
    ("families", "expected"),
    [
        ({"2025-01-01": "main", "2026-01-01": "main"}, "2026-01-01-x"),
        ({"2025-01-01": "main", "2026-01-01": "other"}, "2025-01-01-x"),
        ({"2025-01-01": "other", "2026-01-01": None}, "2026-01-01-x"),
        ({}, None),
    ],
)
def test_the_report_that_pages_show_is_the_newest_of_the_main_series_or_of_all(
    families: dict[str, str | None], expected: str | None
) -> None:
    runs = {day: run_of(family) for day, family in families.items()}
    assert featured([report(day, {"rustls-1": 1})[0] for day in families], runs) == expected


def test_two_reports_of_one_time_are_found() -> None:
    assert same_time(decided for decided, _ in (at("a", 9), at("b", None), at("c", 10))) == {}
    twice = [at("a", 9)[0], at("b", None)[0], at("c", 9)[0], at("d", 0)[0]]
    assert same_time(twice) == {"a": "c", "c": "a", "b": "d", "d": "b"}
