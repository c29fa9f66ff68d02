"""Scenario pages: which scenarios have one, what it holds, and how the words are made."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime
from pathlib import Path

from test_overviews import SCENARIO, on_machine, report
from tlsperf.contract.index import ScenarioOverview
from tlsperf.contract.record import Scenario
from tlsperf.contract.results import Results
from tlsperf.contract.run import Report, Run
from tlsperf.load.page import read_page
from tlsperf.load.results import read_results
from tlsperf.load.run import read_runs
from tlsperf.publish.descriptions import done, facts, why
from tlsperf.publish.reports import times
from tlsperf.publish.scenarios import scenario_csv, scenario_list, scenarios, shortened

ROOT = Path(__file__).parents[2]
OLD = report("2025-01-01", {"rustls-1": 100, "openssl-1": 90})
NEW = report("2026-01-01", {"rustls-2": 120, "openssl-2": 150})


def committed() -> list[tuple[Report, Results]]:
    return [
        (read_page(path).report, read_results(path.parent / "results.json"))
        for path in sorted((ROOT / "content" / "perf").glob("*/index.md"))
    ]


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


def test_every_figure_of_a_shared_scenario_is_on_its_page() -> None:
    reports = committed()
    expected: dict[str, dict[str, set[tuple[str, str, str]]]] = {}
    for _, results in reports:
        for table in results.tables:
            for row in table.rows:
                for cell in row.cells:
                    if cell.value is not None and not table.by_phase:
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


def test_lines_are_of_one_host_and_need_two_days() -> None:
    elsewhere = report("2024-01-01", {"rustls-1": 1}, host="b")
    assert [line.host.id for line in overview(OLD, NEW, elsewhere).lines] == ["a"]
    assert overview(OLD, on_machine(NEW, "0123456789abcdef")).lines == []
    same_day = report("2026-01-01", {"rustls-3": 1})
    renamed = same_day[1].model_copy(update={"id": "2026-01-01-z"})
    decided = same_day[0].model_copy(update={"id": "2026-01-01-z"})
    assert overview(NEW, (decided, renamed)).lines == []


def test_a_page_keeps_whole_reports_and_counts_the_older_ones() -> None:
    found = overview(OLD, NEW)
    assert shortened(found, most=4) == found
    short = shortened(found, most=3)
    assert ([r.id for r in short.reports], short.older) == (["2026-01-01-x"], 1)
    assert len(shortened(found, most=1).reports) == 1


def test_the_csv_has_a_line_a_figure() -> None:
    rows = list(csv.DictReader(io.StringIO(scenario_csv(overview(OLD, NEW)))))
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


def test_descriptions_say_what_is_done() -> None:
    full = Scenario(operation="handshake", protocol="1.3", resumption="none", side="server")
    assert done(full).startswith("A server makes a full handshake in TLS 1.3, with certificates")
    both = full.model_copy(update={"side": None})
    assert done(both).startswith("Client and server, together, make a full handshake")
    ticket = full.model_copy(update={"resumption": "ticket", "side": "client"})
    assert done(ticket).startswith("A client resumes a session in TLS 1.3, with what")
    assert why(full) != why(ticket) != ""
    assert done(SCENARIO) == "One side sends data over TLS 1.3."


def test_facts_say_where_reports_differ() -> None:
    one = Scenario(operation="handshake", protocol="1.3", key_exchange="X25519")
    other = one.model_copy(update={"key_exchange": "secp256r1", "threads": 1})
    values = {fact.name: fact.value for fact in facts([one, other])}
    assert values == {
        "Protocol": "TLS 1.3",
        "Key exchange": "X25519 or secp256r1",
        "Threads": "1; not recorded by every report",
    }


def run_of_any() -> Run:
    return next(iter(read_runs(ROOT / "data" / "runs").values()))


def run_of(name: str, finished: datetime | None) -> Run:
    return run_of_any().model_copy(update={"id": name, "finished": finished})


def test_reports_of_one_day_have_times_of_their_own() -> None:
    day = [report("2026-01-01", {"rustls-1": 1})[0] for _ in range(4)]
    reports = [
        r.model_copy(update={"id": f"2026-01-01-{n}", "runs": [n]})
        for r, n in zip(day, "abcd", strict=True)
    ]
    noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
    runs = {
        "a": run_of("a", noon),
        "b": run_of("b", noon),
        "c": run_of("c", datetime(2026, 1, 2, 0, 5, tzinfo=UTC)),
    }
    found = times(reports, runs)
    assert [f"{at:%d %H:%M:%S}" for at in found.values()] == [
        *("01 12:00:00", "01 12:00:01"),
        *("01 00:00:00", "01 00:00:01"),
    ]
