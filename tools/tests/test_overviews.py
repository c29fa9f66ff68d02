"""Trends, hosts and libraries: their members and the breaks in lines."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from synthetic import loaded_run
from tlsperf.analysis.series import measured
from tlsperf.contract.record import Scenario
from tlsperf.contract.results import Caveat, Results
from tlsperf.contract.run import HostFacts, Report, TrendMember
from tlsperf.publish.trends import trends
from tlsperf.report.charts.kind import Drawing
from tlsperf.report.charts.svg import draw
from tlsperf.report.results import measured_report

SCENARIO = Scenario(operation="transfer", protocol="1.3", side="sender")


def report(
    day: str,
    rates: dict[str, float],
    host: str = "a",
    suite: str | None = "main",
    trend: TrendMember | None = None,
) -> tuple[Report, Results]:
    """A report with one row; `rates` are by `library-version`."""
    named = {name: {SCENARIO: float(rate)} for name, rate in rates.items()}
    of_suite = suite and {"name": suite, "family": suite}
    run = loaded_run(day, named, host_id=host, suite=of_suite)
    facts = HostFacts(
        id=host,
        cpu=f"CPU {host}",
        cpu_model="family 25, model 17, stepping 1",
        architecture="x86_64",
        machine="fd0e09e7f09fa072",
    )
    decided = Report(
        id=f"{day}-x",
        title=f"Report of {day}",
        date=date.fromisoformat(day),
        runs=[day],
        trend=trend,
        headlines=[],
    )
    return decided, measured_report(decided, [measured(run)], {host: facts}).results


ZEN_5 = "family 26, model 2, stepping 1"
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
    update = {
        "runs": [run, beside],
        "hosts": [host, host.model_copy(update={"id": "b"})],
        "implementations": [it.model_copy(update={"host": "a"}) for it in results.implementations],
    }
    return decided, results.model_copy(update=update)


def on_another(of: tuple[Report, Results], **facts: str) -> tuple[Report, Results]:
    """The report on a host of the same id with other facts."""
    decided, results = of
    host = results.hosts[0].model_copy(update=facts)
    return decided, results.model_copy(update={"hosts": [host]})


@pytest.mark.parametrize(
    "other",
    [
        on_two_hosts(report("2026-01-01", {"rustls-2": 1})),
        on_another(report("2026-01-01", {"rustls-2": 1}), machine="0123456789abcdef"),
        on_another(report("2026-01-01", {"rustls-2": 1}), cpu_model=ZEN_5),
        report("2026-01-01", {"rustls-1": 1, "openssl-1": 1}),
        report("2026-01-01", {"rustls-2": 1}, host="b"),
        report("2026-01-01", {"rustls-2": 1}, suite="threads"),
        report("2026-01-01", {"rustls-2": 1}, suite=None),
        report("2026-01-01", {"rustls-2": 1, "rustls-3": 2}),
    ],
    ids=[
        "several hosts",
        "another machine",
        "another processor model",
        "no other version",
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


# --- as they are rendered -------------------------------------------------------------------------


def documents(root: Path, pattern: str) -> dict[str, Any]:
    """The JSON of each page by the name of its folder."""
    found = {p.parent.name: json.loads(p.read_bytes()) for p in sorted(root.glob(pattern))}
    assert found
    return found


def shown_reports(root: Path) -> dict[str, Any]:
    """The results of the reports that pages over all reports show."""
    return {
        name: results
        for name, results in documents(root, "content/perf/*/results.json").items()
        if any(run.get("suite") != "quick" for run in results["runs"])
    }
