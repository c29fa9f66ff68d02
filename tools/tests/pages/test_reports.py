"""What every report page has, in one order: answers first, set-up and ways to check after them."""

from __future__ import annotations

import re
import tomllib
from html import unescape
from pathlib import Path

import pytest

from pages.conftest import Built
from tlsperf.load.page import read_pages

pytestmark = [pytest.mark.zola, pytest.mark.any_site]

FOLDED = ("caveats", "how-it-was-measured", "versions", "hosts", "reproduce")


@pytest.fixture(scope="module")
def reports(site: Built, root: Path) -> dict[str, str]:
    """The page of each report, by the report's id."""
    names = [page.id for page in read_pages(root)]
    assert names
    return {name: site.text(f"perf/{name}/index.html") for name in names}


def test_a_report_begins_with_the_answer_and_ends_with_the_method(reports: dict[str, str]) -> None:
    for report, page in reports.items():
        order = [
            page.index("<h1"),
            *(found.start() for found in re.finditer('<figure class="picture"', page)),
            page.index('<table class="results'),
            *(page.index(f'<h2 id="{part}">') for part in FOLDED),
        ]
        assert order == sorted(order), report


def test_a_report_states_how_to_reproduce_it_and_where_to_report_errors(
    reports: dict[str, str], root: Path
) -> None:
    measured = 0
    for page in read_pages(root):
        report = page.id
        part = unescape(reports[report][reports[report].index('id="reproduce"') :])
        assert f"content/perf/{report}/index.md" in part
        assert re.search(r'href="[^"]*(/issues/new|about/#errors)"', part)
        for run in page.runs:
            text = (root / "data" / "runs" / run / "run.toml").read_text("utf-8")
            tool = tomllib.loads(text)["tool"]
            if tool["name"] != "tlsbench":
                continue
            assert "make libraries tools" in part
            assert re.search(r"bench/target/release/tlsbench run --suite", part)
            assert tool.get("commit", "")[:12] in part
            assert f"<code>{run}</code>" in part
            measured += 1
    assert measured


def test_a_page_that_is_not_found_has_its_style_at_any_depth(site: Built) -> None:
    [style] = re.findall(r'<link rel="stylesheet" href="([^"?]*)', site.text("404.html"))
    assert style.startswith("/")
    assert style.endswith("/style.css")
