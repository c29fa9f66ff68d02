"""The page of a new report: its first sentences, and the pages that it is not part of."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from synthetic import SIXTEEN, loaded_run, report_of
from test_overviews import report
from tlsperf.contract.run import Report
from tlsperf.load.page import read_page
from tlsperf.publish.page_check import text_of, typed_numbers
from tlsperf.publish.reports import history
from tlsperf.publish.scaffold import report_page
from tlsperf.report.statements import statements

LIBRARIES = ["openssl-1", "rustls-1", "boringssl-1", "gnutls-1", "wolfssl-1", "libressl-1"]
HEADLINES = 3


def sentences(folder: Path, libraries: int, scenarios: int = 16) -> tuple[list[str], list[str]]:
    """What the page of a new report states under In short and under Observations."""
    names = LIBRARIES[:libraries]
    measured = [
        scenario.model_copy(update={"in_flight": 65536})
        if scenario.operation == "transfer"
        else scenario
        for scenario in SIXTEEN[:scenarios]
    ]
    rates = {
        name: {scenario: [1000.0 + 50 * at + r for r in range(8)] for scenario in measured}
        for at, name in enumerate(names)
    }
    baseline = names[0] if libraries > 1 else None
    results = report_of(loaded_run("2026-01-01-new", rates), baseline=baseline).results
    new = Report(id=results.id, title="A report", date=results.date, runs=[results.id])
    text = report_page(new, results)
    path = folder / new.id / "index.md"
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    page = read_page(path)
    assert all(statement.text for statement in statements(results, page.calls))
    assert "KiB" in text
    assert list(typed_numbers(text_of(page))) == []
    first, _, rest = text.partition("## In short")[2].partition("{{ headline() }}")
    observed = rest.partition("## Observations")[2].partition("##")[0]
    return re.findall(r"\S.*\.", first), re.findall(r"\S.*\.", observed)


@pytest.mark.parametrize("libraries", range(1, len(LIBRARIES) + 1))
def test_a_new_page_begins_with_three_or_four_sentences(tmp_path: Path, libraries: int) -> None:
    short, observed = sentences(tmp_path, libraries)
    assert 3 <= len(short) <= 4
    standings = min(libraries - 1, 3)
    assert sum("standing(" in text for text in short) == standings
    assert sum(": {{ rank(" in text for text in short) == (len(short) - standings) * (libraries > 1)
    stated = {*short, *observed}
    assert sum(re.search(r": \{\{ (rank|figure)\(", text) is not None for text in stated) == (
        HEADLINES
    )


def test_of_one_scenario_the_figures_are_stated_once(tmp_path: Path) -> None:
    short, observed = sentences(tmp_path, libraries=3, scenarios=1)
    assert len(short) == 1
    assert observed[0].startswith("Each row compares the implementations in one scenario.")


def test_a_first_look_at_a_host_is_on_no_page_over_all_reports() -> None:
    kept, look = (
        report(f"2026-0{n}-01", {"openssl-1": n}, suite=s)
        for n, s in ((1, "standard"), (2, "quick"))
    )
    assert history([kept, look]) == [kept]
