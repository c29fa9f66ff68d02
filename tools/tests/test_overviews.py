"""Trends, hosts and libraries: their members, the breaks in lines, and the leaders."""

from __future__ import annotations

import json
import re
from datetime import date
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tlsperf.contract.names import scenario_anchor, scenario_name
from tlsperf.contract.prices import PriceColumn, PriceTable
from tlsperf.contract.record import Scenario
from tlsperf.contract.results import Caveat, Cell, Results, Row, RunReference, Table
from tlsperf.contract.run import HostFacts, Implementation, Report, Tool, TrendMember
from tlsperf.contract.text import shown, value_text
from tlsperf.load.notes import read_caveats
from tlsperf.load.page import read_page
from tlsperf.publish.libraries import libraries
from tlsperf.publish.overviews import hosts, overview_files
from tlsperf.publish.reports import history
from tlsperf.publish.scenarios import scenarios
from tlsperf.publish.trends import trends
from tlsperf.report.charts.kind import Drawing
from tlsperf.report.charts.svg import draw

ROOT = Path(__file__).parents[2]
SCENARIO = Scenario(operation="transfer", protocol="1.3", side="sender")


def report(
    day: str,
    rates: dict[str, float],
    host: str = "a",
    suite: str | None = "main",
    trend: TrendMember | None = None,
) -> tuple[Report, Results]:
    """A report with one row; `rates` are by `library-version`."""
    named = [name.partition("-") for name in rates]
    implementations = [
        Implementation.model_validate(
            {"id": f"{lib}-{version}", "library": lib, "version": version}
        )
        for lib, _, version in named
    ]
    row = Row(
        anchor=scenario_anchor(SCENARIO),
        name=scenario_name(SCENARIO),
        scenario=SCENARIO,
        cells=[
            Cell(implementation=name, value=rate, text=value_text(rate, "MiB/s"))
            for name, rate in rates.items()
        ],
    )
    table = Table(
        anchor="transfer",
        title="Transfer",
        caption="Example.",
        unit="MiB/s",
        better="higher",
        implementations=list(rates),
        rows=[row],
    )
    results = Results.model_validate(
        {
            "schema": 1,
            "id": f"{day}-x",
            "title": f"Report of {day}",
            "date": day,
            "runs": [
                RunReference(
                    id=day,
                    date=date.fromisoformat(day),
                    suite=suite,
                    host_id=host,
                    tool=Tool(name="t"),
                    files=[],
                )
            ],
            "hosts": [HostFacts(id=host, cpu=f"CPU {host}", architecture="x86_64")],
            "implementations": [shown(i) for i in implementations],
            "headlines": [],
            "tables": [table],
            "charts": [],
        }
    )
    decided = Report(id=results.id, title=results.title, date=results.date, runs=[day], trend=trend)
    return decided, results


OLD = report("2025-01-01", {"rustls-1": 100, "openssl-1": 90})
NEW = report("2026-01-01", {"rustls-2": 120, "openssl-2": 150})


def note(gap: bool) -> Caveat:
    return Caveat.model_validate(
        {
            "id": "n",
            "kind": "setup",
            "title": "t",
            "text": "x",
            "runs": ["2026-01-01"],
            "mark": "new default",
            "gap": gap,
            "sources": [{"title": "s", "url": "https://example.org"}],
        }
    )


def test_reports_of_one_suite_on_one_host_are_a_trend_in_the_order_of_time() -> None:
    ((trend, drawings),) = trends([NEW, OLD], [])
    assert (trend.id, [r.id for r in trend.reports]) == ("a-main", ["2025-01-01-x", "2026-01-01-x"])
    (row,) = trend.rows
    assert {line.library: [c.value for c in line.cells] for line in row.lines} == {
        "openssl": [90, 150],
        "rustls": [100, 120],
    }
    assert [chart for chart, _ in drawings] == [row.chart]


def on_two_hosts(of: tuple[Report, Results]) -> tuple[Report, Results]:
    """The report with a second run on another host."""
    decided, results = of
    run, host = results.runs[0], results.hosts[0]
    beside = run.model_copy(update={"id": "2026-01-01-b", "host_id": "b"})
    hosts = [host, host.model_copy(update={"id": "b"})]
    return decided, results.model_copy(update={"runs": [run, beside], "hosts": hosts})


def on_machine(of: tuple[Report, Results], machine: str) -> tuple[Report, Results]:
    """The report with a recorded machine."""
    decided, results = of
    host = results.hosts[0].model_copy(update={"machine": machine})
    return decided, results.model_copy(update={"hosts": [host]})


@pytest.mark.parametrize(
    "other",
    [
        on_two_hosts(report("2026-01-01", {"rustls-2": 1})),
        on_machine(report("2026-01-01", {"rustls-2": 1}), "0123456789abcdef"),
        report("2026-01-01", {"rustls-2": 1}, host="b"),
        report("2026-01-01", {"rustls-2": 1}, suite="threads"),
        report("2026-01-01", {"rustls-2": 1}, suite=None),
        report("2026-01-01", {"rustls-2": 1, "rustls-3": 2}),
    ],
    ids=[
        "several hosts",
        "another machine",
        "another host",
        "another suite",
        "no suite",
        "two builds of a library",
    ],
)
def test_incomparable_reports_form_no_trend(other: tuple[Report, Results]) -> None:
    assert trends([OLD, other], []) == []


def test_a_report_of_builds_is_in_a_trend_with_the_build_that_it_names() -> None:
    chosen = TrendMember(suite="main", implementations=["rustls-3"])
    builds = report("2026-01-01", {"rustls-2": 1, "rustls-3": 2}, suite=None, trend=chosen)
    ((trend, _),) = trends([OLD, builds], [])
    cells = {line.library: [c.text for c in line.cells] for line in trend.rows[0].lines}
    assert cells == {"rustls": ["100.0", "2.000"], "openssl": ["90.00", "–"]}


def text_of(drawing: Drawing) -> str:
    return draw(drawing.picture, drawing.chart)


def segments(svg: str) -> int:
    """The number of lines that join measured points: paths without fill in a library's colour."""
    root = ElementTree.fromstring(svg)
    return sum(
        1
        for panel in list(root.iter("{http://www.w3.org/2000/svg}svg"))[1:]
        for path in panel.iter("{http://www.w3.org/2000/svg}path")
        if not path.get("fill")  # the panel has none
        and "library-" in (path.get("class") or "")
        and not path.get("stroke-linecap")
    )


def test_a_mark_is_drawn_and_named_and_a_gap_breaks_the_lines() -> None:
    plain, marked, broken = (
        trends([OLD, NEW], notes)[0] for notes in ([], [note(False)], [note(True)])
    )
    assert [segments(text_of(t[1][0])) for t in (plain, marked, broken)] == [2, 2, 0]
    assert "new default" not in text_of(plain[1][0])
    for trend, drawings in (marked, broken):
        assert "new default" in text_of(drawings[0])
        assert [m.text for m in trend.rows[0].marks] == ["new default"]
        assert "Before January 2026: new default." in trend.rows[0].chart.description


def test_two_reports_of_one_day_are_drawn() -> None:
    first = report("2026-01-01", {"rustls-1": 100})
    second = report("2026-01-01", {"rustls-2": 110})
    ((_, drawings),) = trends([first, second], [])
    assert "Jan 2026" in text_of(drawings[0])


def judged(results: Results, leaders: dict[str, str]) -> Results:
    """The results with these leaders of their rows: best or tied."""
    fields = results.model_dump(by_alias=True)
    for table in fields["tables"]:
        for row in table["rows"]:
            for cell in row["cells"]:
                verdict = leaders.get(cell["implementation"])
                cell |= {"best": verdict == "best", "tied": verdict == "tied"}
    return Results.model_validate(fields)


def standing_of(library: str, results: Results) -> dict[str, object]:
    (found,) = [one.standings for one in libraries([OLD[1], results]) if one.library == library]
    (standing,) = found
    assert standing.report.id == results.id
    return standing.model_dump(include={"best", "tied", "behind", "untested"})


def test_a_library_page_counts_verdicts_of_the_newest_report_of_a_host() -> None:
    none = {"best": [], "tied": [], "behind": 0, "untested": 0}
    row = {"anchor": "transfer-1-3-sending", "name": "TLS 1.3 transfer, sending"}
    best = judged(NEW[1], {"openssl-2": "best"})
    won = row | {"figure": "150.0 MiB/s", "other": "rustls 2, 120.0 MiB/s"}
    assert standing_of("openssl", best) == none | {"best": [won]}
    assert standing_of("rustls", best) == none | {"behind": 1}
    tied = judged(NEW[1], {"openssl-2": "tied", "rustls-2": "tied"})
    assert standing_of("openssl", tied) == none | {"tied": [won]}
    level = row | {"figure": "120.0 MiB/s", "other": "OpenSSL 2, 150.0 MiB/s"}
    assert standing_of("rustls", tied) == none | {"tied": [level]}


def test_a_library_page_leaves_out_a_report_that_compares_a_library_with_itself() -> None:
    _, before = report("2026-01-01", {"openssl-3": 5.0, "rustls-1": 4.0})
    _, prices = report("2026-02-01", {"openssl-3": 4.0, "rustls-1": 5.0})
    column = PriceColumn(id="x25519", name="X25519", row="transfer", cells=[])
    table = PriceTable(
        anchor="prices-server",
        title="Price list",
        caption="Example.",
        kind="time",
        side="server",
        authentication="server",
        unit="µs",
        implementations=[],
        columns=[column, column],
    )
    with_prices = prices.model_copy(update={"prices": [table]})
    for newest, named in ((prices, "2026-02-01-x"), (with_prices, "2026-01-01-x")):
        openssl, _ = libraries([before, newest])
        assert [standing.report.id for standing in openssl.standings] == [named]


def test_of_single_figures_no_library_is_best() -> None:
    for library in ("openssl", "rustls"):
        standing = standing_of(library, NEW[1])
        assert standing == {"best": [], "tied": [], "behind": 0, "untested": 1}


def test_builds_of_one_library_that_are_tied_with_each_other_make_it_best() -> None:
    _, results = report("2026-01-01", {"rustls-2": 120, "rustls-3": 121, "openssl-2": 100})
    tied = judged(results, {"rustls-2": "tied", "rustls-3": "tied"})
    assert len(standing_of("rustls", tied)["best"]) == 1  # type: ignore[arg-type]
    assert standing_of("openssl", tied)["behind"] == 1


def test_a_library_has_its_versions_newest_first() -> None:
    found = {library.library: library for library in libraries([OLD[1], NEW[1]])}
    assert [v.label for v in found["rustls"].versions] == ["rustls 2", "rustls 1"]


def test_a_host_has_its_reports_newest_first_and_its_trend() -> None:
    elsewhere = report("2024-01-01", {"rustls-1": 1}, host="b")
    found = [trend for trend, _ in trends([OLD, NEW], [])]
    a, b = hosts([OLD[1], NEW[1], elsewhere[1]], found)
    assert [r.date.year for r in a.reports] == [2026, 2025]
    assert (a.trends, b.trends) == (["a-main"], [])


def test_the_committed_pages_are_those_of_the_committed_results() -> None:
    reports = []
    for path in sorted((ROOT / "content" / "perf").glob("*/index.md")):
        text = (path.parent / "results.json").read_text(encoding="utf-8")
        reports.append((read_page(path).report, Results.model_validate_json(text)))
    reports = history(reports)
    found = trends(reports, read_caveats(ROOT / "data" / "notes.toml"))
    shared = scenarios(reports, read_caveats(ROOT / "data" / "notes.toml"))
    overviews = [scenario for scenario, _ in shared]
    shown = [results for _, results in reports]
    files = overview_files([trend for trend, _ in found], overviews, shown)
    for scenario, drawings in shared:
        files |= {f"scenarios/{scenario.id}/{d.chart.file}": text_of(d) for d in drawings}
    for trend, drawings in found:
        files |= {f"trends/{trend.id}/{d.chart.file}": text_of(d) for d in drawings}
    for name, text in files.items():
        assert (ROOT / "content" / name).read_text(encoding="utf-8") == text, name
    main = json.loads(files["trends/xeon-e-2386g-main/trend.json"])
    assert len(main["rows"]) == 16
    assert len(main["reports"]) >= 4
    marks = {m["text"] for row in main["rows"] for m in row["marks"]}
    assert "X25519MLKEM768" in marks
    for name, text in files.items():
        if name.endswith(".svg"):
            assert not re.search(r"<style|\sstyle=", text), name
