"""Scenario pages: which scenarios have one, its content, and its sentences."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime
from pathlib import Path

from test_overviews import SCENARIO, on_machine, report
from tlsperf.contract.index import ScenarioOverview
from tlsperf.contract.metrics import METRICS
from tlsperf.contract.record import Scenario
from tlsperf.contract.results import Results
from tlsperf.contract.run import Report
from tlsperf.load.page import read_page
from tlsperf.load.results import read_results
from tlsperf.load.run import read_runs
from tlsperf.publish.descriptions import done, facts, why
from tlsperf.publish.libraries import libraries
from tlsperf.publish.reports import (
    by_time,
    featured,
    history,
    host_of,
    newest_first,
    same_time,
)
from tlsperf.publish.scenarios import scenario_csv, scenario_list, scenarios, shortened

ROOT = Path(__file__).parents[2]
OLD = report("2025-01-01", {"rustls-1": 100, "openssl-1": 90})
NEW = report("2026-01-01", {"rustls-2": 120, "openssl-2": 150})


def committed() -> list[tuple[Report, Results]]:
    return history(
        [
            (read_page(path).report, read_results(path.parent / "results.json"))
            for path in sorted((ROOT / "content" / "perf").glob("*/index.md"))
        ]
    )


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
    newest, older = overview(OLD, on_two_hosts(NEW)).reports
    assert (newest.host, [f.host for f in newest.figures]) == (None, ["CPU a", "CPU b"])
    assert (older.host, [f.host for f in older.figures]) == ("CPU a", ["CPU a", "CPU a"])


def test_a_library_has_the_host_of_each_version() -> None:
    versions = {v.label: v.host for of in libraries([on_two_hosts(NEW)[1]]) for v in of.versions}
    assert versions == {"rustls 2": "CPU a", "OpenSSL 2": "CPU b"}


def test_the_committed_report_on_two_hosts_states_the_host_of_each_figure() -> None:
    [(_, results)] = [pair for pair in committed() if len(pair[1].hosts) > 1]
    cpus = {host.id: host.cpu for host in results.hosts}
    runs = read_runs(ROOT / "data" / "runs")
    expected = {
        i.id: cpus[runs[run.id].host_id]
        for run in results.runs
        for i in runs[run.id].implementations
    }
    shown = [
        (figure.implementation, figure.host)
        for scenario, _ in scenarios(committed(), [])
        for report in scenario.reports
        if report.id == results.id
        for figure in report.figures
    ]
    assert shown
    assert [(i, host) for i, host in shown if host != expected[i]] == []
    named = {i.id: host_of(results, i).cpu for i in results.implementations}
    assert named == expected
    assert len(set(named.values())) == 2


def test_every_figure_of_a_shared_scenario_is_on_its_page() -> None:
    reports = committed()
    expected: dict[str, dict[str, set[tuple[str, str, str]]]] = {}
    for _, results in reports:
        for table in results.tables:
            if table.by_phase or METRICS[table.rows[0].metric].supporting:
                continue
            for row in table.rows:
                for cell in row.cells:
                    if cell.value is not None:
                        expected.setdefault(row.anchor, {}).setdefault(table.unit, set()).add(
                            (results.id, cell.implementation, cell.text)
                        )
    found = {s.id: s for s, _ in scenarios(reports, [])}
    for anchor, units in expected.items():
        shared = [u for u, of in units.items() if len({report for report, *_ in of}) > 1]
        assert (anchor in found) is bool(shared), anchor
        if shared:
            page = found[anchor]
            assert page.unit in shared
            shown = {(r.id, f.implementation, f.text) for r in page.reports for f in r.figures}
            assert shown == units[page.unit], anchor
    assert len(found) > 40


def test_the_chart_is_of_the_report_of_the_newest_day_that_compares_most() -> None:
    wide = report("2026-01-01", {"rustls-2": 1, "openssl-2": 2, "boringssl-2": 3}, suite="a")
    named = wide[0].model_copy(update={"id": "2026-01-01-y"})
    results = wide[1].model_copy(update={"id": "2026-01-01-y"})
    found = overview(OLD, NEW, (named, results))
    assert found.reports[0].id == "2026-01-01-y"
    assert "BoringSSL" in found.newest.description


def test_a_newer_report_of_one_library_replaces_neither_the_chart_nor_the_lines() -> None:
    alone = report("2026-02-01", {"rustls-2": 120, "rustls-3": 130})
    found, without = overview(OLD, NEW, alone), overview(OLD, NEW)
    assert (found.newest, found.lines) == (without.newest, without.lines)
    assert "2026-02-01-x" in [shown.id for shown in found.reports]


def test_lines_are_of_one_host_and_need_two_days() -> None:
    elsewhere = report("2024-01-01", {"rustls-1": 1}, host="b")
    assert [line.host.id for line in overview(OLD, NEW, elsewhere).lines] == ["a"]
    assert overview(OLD, on_machine(NEW, "0123456789abcdef")).lines == []
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


def test_every_committed_scenario_is_described() -> None:
    for found, _ in scenarios(committed(), []):
        assert found.done.endswith("."), found.id
        assert found.facts, found.id
        assert found.why or found.table.startswith("primitives"), found.id


def test_descriptions_state_what_is_done() -> None:
    full = Scenario(operation="handshake", protocol="1.3", resumption="none", side="server")
    assert done(full).startswith("A server makes a full handshake in TLS 1.3, with certificates")
    both = full.model_copy(update={"side": None})
    assert done(both).startswith("Client and server, together, make a full handshake")
    chain = full.model_copy(update={"variant": "chain-3"})
    assert done(chain).endswith(". Three certificates are sent: a leaf and two intermediates.")
    issued = full.model_copy(update={"variant": "issuer-ecdsa-p256"})
    assert "Only the leaf has a key of this type" in done(issued)
    compressed = full.model_copy(update={"variant": "compressed-zlib"})
    assert done(compressed).endswith(
        ". The server compresses its certificates with zlib (RFC 8879)."
    )
    ticket = full.model_copy(update={"resumption": "ticket", "side": "client"})
    assert done(ticket).startswith("A client resumes a session in TLS 1.3, with the state")
    early = ticket.model_copy(update={"variant": "early-data"})
    assert done(early).endswith(". It sends 1,024 bytes right after its ClientHello (0-RTT).")
    received = early.model_copy(update={"side": "server"})
    assert " It receives 1,024 bytes" in done(received)
    assert " The client sends 1,024 bytes" in done(early.model_copy(update={"side": None}))
    assert why(full) != why(ticket) != ""
    assert done(SCENARIO) == "One side sends data over TLS 1.3."
    hello = Scenario(operation="client-hello", protocol="1.3", side="client", variant="X25519")
    assert done(hello) == (
        "A client starts a connection and makes its ClientHello in TLS 1.3, with key shares of "
        "X25519."
    )
    assert why(hello) == "A client does this first for each connection, with a session or without."
    packet = Scenario(
        operation="quic-packet", cipher_suite="TLS_AES_128_GCM_SHA256", side="sender", size=1200
    )
    assert done(packet) == (
        "The library seals packets of QUIC: it encrypts the payload and protects the header."
    )
    opened = packet.model_copy(update={"side": "receiver"})
    assert done(opened).startswith("The library opens packets of QUIC: it removes the protection")
    assert why(packet).startswith("A QUIC stack does this for each packet that it sends.")
    assert ("Bytes of a packet", "1200 B") in [(f.name, f.value) for f in facts([packet])]


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


def at(name: str, hour: int | None, suite: str = "a") -> tuple[Report, Results]:
    """A report of one day with its time."""
    decided, results = report("2026-01-01", {"rustls-1": 1}, suite=suite)
    time = None if hour is None else datetime(2026, 1, 1, hour, tzinfo=UTC)
    return (
        decided.model_copy(update={"id": name, "time": time}),
        results.model_copy(update={"id": name, "time": time}),
    )


def test_reports_of_one_day_are_ordered_by_their_times() -> None:
    day = [at("a", 9), at("b", None), at("c", 18), at("d", 12)]
    assert [r.id for r in by_time(results for _, results in day)] == ["c", "d", "a", "b"]


def test_the_report_that_pages_show_is_that_of_the_main_series() -> None:
    main = at("m", 9)
    runs = [run.model_copy(update={"family": "main"}) for run in main[1].runs]
    day = [at("a", 8)[1], main[1].model_copy(update={"runs": runs}), at("c", 18)[1], OLD[1]]
    reports = newest_first(day)
    assert [r.id for r in reports] == ["m", "c", "a", "2025-01-01-x"]
    assert featured(reports) == "m"


def test_a_later_report_of_another_series_does_not_take_the_place_of_the_main_one() -> None:
    runs = [run.model_copy(update={"family": "main"}) for run in OLD[1].runs]
    main = OLD[1].model_copy(update={"runs": runs})
    assert featured([at("a", 8)[1], main]) == main.id
    assert featured([at("a", 8)[1], OLD[1]]) == "a"
    assert featured([]) is None


def test_two_reports_of_one_time_are_found() -> None:
    assert same_time(decided for decided, _ in (at("a", 9), at("b", None), at("c", 10))) == {}
    twice = [at("a", 9)[0], at("b", None)[0], at("c", 9)[0], at("d", 0)[0]]
    assert same_time(twice) == {"a": "c", "c": "a", "b": "d", "d": "b"}
