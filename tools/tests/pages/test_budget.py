"""What the site costs to build and to load, counted in what no busy machine can change."""

from __future__ import annotations

import json
import re
from pathlib import Path

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

WHOLE_RESULTS = {
    "shortcodes/figure.html": 1,
    "shortcodes/layout.html": 1,
    "shortcodes/table.html": 1,
}
"""Places that load results.json, of up to 0.7 MB; all others load page.json."""


def counted(pattern: str) -> dict[str, int]:
    """How often a pattern stands in each template that has it."""
    texts = {
        str(path.relative_to(TEMPLATES)): path.read_text(encoding="utf-8")
        for path in sorted(TEMPLATES.rglob("*.*"))
    }
    found = {name: len(re.findall(pattern, text)) for name, text in texts.items()}
    return {name: count for name, count in found.items() if count}


def test_no_template_loops_over_all_reports_but_these() -> None:
    assert counted(r"for \w+ in (?:section\.|term\.)?(?:pages|reports)\b") == LOOPS


def test_no_template_loads_whole_results_but_these() -> None:
    assert counted(r'load_data\([^)]*"results\.json"|, "results\.json"\]') == WHOLE_RESULTS


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
        elif not page.startswith(("perf/", "trends/", "libraries/", "methodology/")):
            assert figures == 0, page


def test_large_files_of_templates_are_not_published(committed_build: Built) -> None:
    assert list(committed_build.public.rglob("page.json")) == []
    assert len(list((ROOT / "content").rglob("page.json"))) > 60
    assert not Path(committed_build.public / "data" / "explore.json").exists()
