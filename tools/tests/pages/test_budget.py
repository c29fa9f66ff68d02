"""What the site costs to build and to load, counted in what no busy machine can change."""

from __future__ import annotations

import json
import re

import pytest

from pages.conftest import Built
from pages.fixture import ROOT
from tlsperf.publish.scenarios import MOST_FIGURES

pytestmark = pytest.mark.zola

TEMPLATES = ROOT / "templates"

MOST_HTML = 250_000
"""Bytes of one page."""

HTML_A_PAGE = 32_000
"""Bytes of an average page."""

MOST_OF_A_QUESTION = 120
"""Figures of a page that answers a question, and of the scoreboard."""

LOOPS = {
    "404.html": 1,
    "about.html": 1,
    "atom.xml": 2,
    "data.html": 1,
    "explore.html": 1,
    "feed.json": 1,
    "index.html": 3,
    "overview.html": 1,
    "rss.xml": 2,
    "section.html": 1,
    "taxonomy_single.html": 1,
}
"""Loops over reports or pages, by template. Each costs time with every report; those of feeds end
at `feed_limit`. One more is a decision: measure with benchmarks/site_build.py first."""

LOOKED_UP = {
    "macros/statements.html": 1,
    "report.html": 1,
    "shortcodes/chart.html": 1,
    "shortcodes/factor.html": 1,
    "shortcodes/notes.html": 1,
    "shortcodes/quote.html": 3,
}
"""Places that look an entry up in a list of page.json. Tera copies the list for it, once for each
place on a page that shows an entry: page.json has labels and colours beside the figures instead."""

MOST_SHOWN = 130_000
"""Bytes of a page.json: a page loads it up to fifty times."""


def counted(pattern: str) -> dict[str, int]:
    """How often a pattern occurs in each template that has it."""
    texts = {
        str(path.relative_to(TEMPLATES)): path.read_text(encoding="utf-8")
        for path in sorted(TEMPLATES.rglob("*.*"))
    }
    found = {name: len(re.findall(pattern, text)) for name, text in texts.items()}
    return {name: count for name, count in found.items() if count}


def test_no_template_loops_over_all_reports_but_these() -> None:
    assert counted(r"for \w+ in (?:section\.|term\.)?(?:pages|reports)\b") == LOOPS


def test_no_template_loads_whole_results() -> None:
    assert counted(r'load_data\([^)]*"results\.json"') == {}


def test_no_template_looks_anything_up_in_a_list_but_these() -> None:
    assert counted(r"results\.\w+(?: \| default\(value=\[\]\))? \| filter") == LOOKED_UP


def test_no_page_loads_the_notes_of_all_reports_or_what_their_warnings_mean() -> None:
    assert counted(r"notes\.toml|warnings\.json") == {}


def test_what_templates_load_of_a_report_is_small() -> None:
    sizes = {path: path.stat().st_size for path in (ROOT / "content").glob("perf/*/page.json")}
    assert len(sizes) > 20
    assert {path: size for path, size in sizes.items() if size > MOST_SHOWN} == {}


def test_page_json_has_nothing_that_no_template_reads() -> None:
    texts = [path.read_text(encoding="utf-8") for path in sorted(TEMPLATES.rglob("*.*"))]
    files = sorted((ROOT / "content").glob("*/*/page.json"))
    tables = [json.loads(path.read_text(encoding="utf-8")) for path in files]
    names = {name for table in tables for name in table}
    assert len(names) > 20
    unread = {n for n in names if not any(re.search(rf"\.{n}\b", text) for text in texts)}
    assert unread == set()


def test_pages_are_no_larger_than_they_may_be(
    committed_build: Built, capsys: pytest.CaptureFixture[str]
) -> None:
    sizes = {
        page: (committed_build.public / page).stat().st_size for page in committed_build.pages()
    }
    largest = max(sizes, key=lambda page: sizes[page])
    with capsys.disabled():
        print(f"\n{len(sizes)} pages, {sum(sizes.values()):,} bytes; {largest}: {sizes[largest]:,}")
    assert {page: size for page, size in sizes.items() if size > MOST_HTML} == {}
    assert sum(sizes.values()) <= HTML_A_PAGE * len(sizes)


def test_no_page_over_all_reports_has_more_figures_than_it_may(committed_build: Built) -> None:
    for page in committed_build.pages():
        figures = len(re.findall(r"<td[^>]*>", committed_build.text(page)))
        if page.startswith("scenarios/"):
            assert figures <= 3 * MOST_FIGURES, page
        elif page.startswith(("questions/", "upgrades/")) or page == "index.html":
            assert figures <= MOST_OF_A_QUESTION, page
        elif not page.startswith(("perf/", "trends/", "libraries/", "methodology/", "nightly/")):
            assert figures == 0, page


def test_large_files_of_templates_are_not_published(committed_build: Built) -> None:
    assert list(committed_build.public.rglob("page.json")) == []
    assert len(list((ROOT / "content").rglob("page.json"))) > 60


def test_an_earlier_address_of_all_figures_names_those_that_have_them(
    committed_build: Built,
) -> None:
    """`data/explore.json`, whose 0.4 MB every reader of Explore once loaded."""
    folder = committed_build.public / "data"
    text = (folder / "explore.json").read_text(encoding="utf-8")
    assert len(text) < 1000
    successors = json.loads(text)
    reports = json.loads((folder / successors["reports"]).read_text(encoding="utf-8"))
    pattern = successors["results_of_a_report"]
    named = [*successors["results"], successors["scenarios"]]
    named += [pattern.replace("<report>", report["id"]) for report in reports]
    assert len(named) > 20
    assert [path for path in named if not (folder / path).is_file()] == []
