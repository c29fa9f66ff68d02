"""The ways between reports, scenarios, questions and Explore."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from pages.conftest import Built
from project import results_of
from tlsperf.load.page import read_pages

pytestmark = [pytest.mark.zola, pytest.mark.any_site]


@pytest.fixture(scope="module")
def shared_rows(root: Path) -> set[tuple[str, str]]:
    """Anchor and unit of each row that has a page of its scenario."""
    rows = json.loads((root / "data" / "scenarios.json").read_text("utf-8"))["rows"]
    assert rows
    return {tuple(row.split(" ", 1)) for row in rows}


def test_every_report_leads_to_explore_with_itself_picked(site: Built, root: Path) -> None:
    for report in (page.report for page in read_pages(root)):
        page = site.text(f"perf/{report.id}/index.html")
        assert f'<a href="../../explore/?reports={report.id}">Compare in Explore</a>' in page


def test_each_row_of_a_report_leads_to_the_page_of_its_scenario(
    site: Built, root: Path, shared_rows: set[tuple[str, str]]
) -> None:
    found = 0
    for page in read_pages(root):
        text = site.text(f"perf/{page.report.id}/index.html")
        links = re.findall(r'<a class="elsewhere" href="\.\./\.\./scenarios/([^"]*)/"', text)
        tables = results_of(root, page.report.id)["tables"]
        rows = [(r["anchor"], t["unit"]) for t in tables for r in t["rows"]]
        shown = [row for row in rows if f'id="{row[0]}"' in text]
        assert sorted(links) == sorted(a for a, unit in shown if (a, unit) in shared_rows)
        found += len(links)
    assert found


def test_a_question_leads_to_the_scenarios_of_its_figures(
    site: Built, root: Path, shared_rows: set[tuple[str, str]]
) -> None:
    pages = {anchor for anchor, _ in shared_rows}
    answered = 0
    for path in sorted((root / "content" / "questions").glob("*/question.json")):
        page = site.text(f"questions/{path.parent.name}/index.html")
        figures = set(re.findall(r'<td[^>]*><a href="\.\./\.\./perf/[^"]*#([^"]*)"', page))
        links = re.findall(r'<a href="\.\./\.\./scenarios/([^"]*)/"', page)
        assert len(links) == len(set(links))
        assert set(links) == figures & pages, path.parent.name
        answered += bool(links)
    assert answered


def test_a_scenario_leads_to_explore_with_itself_picked(site: Built, root: Path) -> None:
    paths = sorted((root / "content" / "scenarios").glob("*/scenario.json"))
    assert paths
    for path in paths:
        scenario = json.loads(path.read_text("utf-8"))
        page = site.text(f"scenarios/{scenario['id']}/index.html")
        newest = scenario["reports"][0]["id"]
        picked = f"?reports={newest}&amp;table={scenario['table']}&amp;scenarios={scenario['id']}"
        assert f'<a href="../../explore/{picked}">' in page
        assert f'<a href="../../{scenario["reports"][0]["link"]}">' in page


def test_the_index_has_every_scenario_under_its_kind(site: Built, root: Path) -> None:
    listed = json.loads((root / "data" / "scenarios.json").read_text("utf-8"))["kinds"]
    page = site.text("scenarios/index.html")
    parts = re.split(r'<h2 id="kind-\d+">', page)[1:]
    assert parts
    for part, kind in zip(parts, listed, strict=True):
        assert part.startswith(f"{kind['title']} <")
        links = re.findall(r'href="\.\./scenarios/([^"]*)/"', part)
        assert links == [scenario["id"] for scenario in kind["scenarios"]]


def test_the_original_address_of_a_report_by_others_leads_to_it(site: Built, root: Path) -> None:
    original = re.compile(r"\[The original\]\(https://rustls\.dev/perf/([^/]+)/\)")
    for source in sorted((root / "content" / "perf").glob("*/index.md")):
        for name in original.findall(source.read_text("utf-8")):
            page = site.text(f"perf/{name}/index.html")
            assert f"{site.base_url}/perf/{source.parent.name}/" in page, name
