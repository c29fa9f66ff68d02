"""The ways between reports, scenarios, questions and Explore, in what is committed."""

from __future__ import annotations

import json
import re

import pytest

from pages.conftest import Built, replaced
from pages.fixture import ROOT

pytestmark = pytest.mark.zola

PERF = ROOT / "content" / "perf"


def shared_rows() -> set[tuple[str, str]]:
    """Anchor and unit of each row that has a page of its scenario."""
    rows = json.loads((ROOT / "data" / "scenarios.json").read_text("utf-8"))["rows"]
    return {tuple(row.split(" ", 1)) for row in rows}


def test_every_report_leads_to_explore_with_itself_picked_unless_replaced(
    committed_build: Built,
) -> None:
    notices = replaced()
    assert len(notices) > 10
    for folder in sorted(path.parent for path in PERF.glob("*/index.md")):
        page = committed_build.text(f"perf/{folder.name}/index.html")
        link = f'<a href="../../explore/?reports={folder.name}">Compare in Explore</a>'
        assert (link in page) == (folder.name not in notices)
        assert ("Compare in Explore" in page) == (folder.name not in notices)


def test_each_row_of_a_report_leads_to_the_page_of_its_scenario(committed_build: Built) -> None:
    shared = shared_rows()
    found = 0
    for folder in sorted(path.parent for path in PERF.glob("*/index.md")):
        page = committed_build.text(f"perf/{folder.name}/index.html")
        links = re.findall(r'<a class="elsewhere" href="\.\./\.\./scenarios/([^"]*)/"', page)
        results = json.loads((folder / "results.json").read_text("utf-8"))
        rows = [(r["anchor"], t["unit"]) for t in results["tables"] for r in t["rows"]]
        shown = [anchor for anchor, _ in rows if f'id="{anchor}"' in page]
        expected = [a for a, unit in rows if a in shown and (a, unit) in shared]
        assert sorted(links) == sorted(expected), folder.name
        found += len(links)
    assert found > 200


def test_a_question_leads_to_the_scenarios_of_its_figures(committed_build: Built) -> None:
    pages = {anchor for anchor, _ in shared_rows()}
    answered = 0
    for path in sorted((ROOT / "content" / "questions").glob("*/question.json")):
        page = committed_build.text(f"questions/{path.parent.name}/index.html")
        figures = set(re.findall(r'<td[^>]*><a href="\.\./\.\./perf/[^"]*#([^"]*)"', page))
        links = re.findall(r'<a href="\.\./\.\./scenarios/([^"]*)/"', page)
        assert len(links) == len(set(links))
        assert set(links) == figures & pages, path.parent.name
        answered += bool(links)
    assert answered > 1


def test_a_scenario_leads_to_explore_with_itself_picked(committed_build: Built) -> None:
    for path in sorted((ROOT / "content" / "scenarios").glob("*/scenario.json")):
        scenario = json.loads(path.read_text("utf-8"))
        page = committed_build.text(f"scenarios/{scenario['id']}/index.html")
        newest = scenario["reports"][0]["id"]
        picked = f"?reports={newest}&amp;table={scenario['table']}&amp;scenarios={scenario['id']}"
        assert f'<a href="../../explore/{picked}">' in page
        for report in scenario["reports"][:1]:
            assert f'<a href="../../perf/{report["id"]}/#{scenario["id"]}">' in page


def test_the_index_has_every_scenario_under_its_kind(committed_build: Built) -> None:
    listed = json.loads((ROOT / "data" / "scenarios.json").read_text("utf-8"))["kinds"]
    page = committed_build.text("scenarios/index.html")
    parts = re.split(r'<h2 id="kind-\d+">', page)[1:]
    assert len(parts) == len(listed) > 3
    for part, kind in zip(parts, listed, strict=True):
        assert part.startswith(f"{kind['title']} <")
        links = re.findall(r'href="\.\./scenarios/([^"]*)/"', part)
        assert links == [scenario["id"] for scenario in kind["scenarios"]]


def test_the_address_of_a_report_on_rustls_dev_leads_to_it(committed_build: Built) -> None:
    original = re.compile(r"\[The original\]\(https://rustls\.dev/perf/([^/]+)/\)")
    found = []
    for source in sorted(PERF.glob("*/index.md")):
        for name in original.findall(source.read_text("utf-8")):
            page = committed_build.text(f"perf/{name}/index.html")
            report = f"{committed_build.base_url}/perf/{source.parent.name}/"
            assert report in page, name
            assert name == source.parent.name or "<title>Redirect</title>" in page, name
            found.append(name)
    assert len(found) == 6, found
