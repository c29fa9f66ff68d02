"""What every report page has, in one order: answers first, set-up and ways to check after them."""

from __future__ import annotations

import json
import re
import tomllib
from html import unescape

import pytest

from pages.conftest import Built, replaced
from pages.fixture import ROOT

pytestmark = pytest.mark.zola

PERF = ROOT / "content" / "perf"
REPORTS = sorted(path.parent.name for path in PERF.glob("*/index.md"))

AFTER_RESULTS = ("what-was-measured", "system-configuration", "versions-and-builds", "raw-data")
SENTENCE = re.compile(r"[^.]{25,}\.(?= |$)")


def results_of(report: str) -> dict[str, object]:
    found: dict[str, object] = json.loads((PERF / report / "results.json").read_text("utf-8"))
    return found


@pytest.mark.parametrize("report", REPORTS)
def test_a_report_begins_with_the_answer_and_ends_with_the_method(
    report: str, committed_build: Built
) -> None:
    page = committed_build.text(f"perf/{report}/index.html")
    ids = re.findall(r' id="([^"]*)"', page)
    short, observations = ids.index("in-short"), ids.index("observations")
    bars, table = page.index('<div class="headlines'), page.index('<table class="results')
    assert short < observations
    assert page.index('id="in-short"') < bars < page.index('id="observations"') < table
    for part in AFTER_RESULTS:
        assert page.index(f'<h2 id="{part}">') > table
    answer = page[page.index('id="in-short"') : bars].partition("</h2>")[2]
    text = unescape(re.sub(r"<[^>]*>", "", answer)).strip().replace("\n", " ")
    text = re.sub(r"(?<=\d)\.(?=\d)", "", text)
    assert 3 <= len(SENTENCE.findall(text)) <= 4, text
    assert len(re.findall(r'class="figure"', answer)) >= 3


@pytest.mark.parametrize("report", REPORTS)
def test_a_report_states_how_to_reproduce_it_and_where_to_report_errors(
    report: str, committed_build: Built
) -> None:
    page = committed_build.text(f"perf/{report}/index.html")
    part = unescape(page[page.index('id="reproduce"') :])
    assert f"content/perf/{report}/index.md" in part
    assert re.search(r'href="\.\./\.\./about/#corrections"', part)
    runs = tomllib.loads((PERF / report / "index.md").read_text("utf-8").split("+++")[1])["extra"][
        "report"
    ]["runs"]
    for run in runs:
        recorded = tomllib.loads((ROOT / "data" / "runs" / run / "run.toml").read_text("utf-8"))
        if recorded["tool"]["name"] != "tlsbench":
            continue
        assert "make libraries tools" in part
        assert re.search(r"bench/target/release/tlsbench run --suite", part)
        commit = recorded["tool"].get("commit", "does not record a commit of the harness")
        assert commit in part
        assert f"<code>{run}</code>" in part
        assert ", measured here in " in part
        assert 'id="what-changed"' in page or 'id="changes' in page


def test_a_replaced_report_names_its_successor_which_states_what_changed(
    committed_build: Built,
) -> None:
    about = committed_build.text("about/index.html")
    board = committed_build.text("index.html")
    explore = committed_build.text("explore/index.html")
    feed = committed_build.text("atom.xml")
    assert replaced()
    for old, new in replaced().items():
        page = committed_build.text(f"perf/{old}/index.html")
        notice = page[: page.index('id="in-short"')]
        assert "This report was replaced by" in notice
        assert f"/perf/{new}/" in notice or f"../{new}/" in notice
        successor = committed_build.text(f"perf/{new}/index.html")
        part = successor[successor.index('id="what-it-corrects"') :]
        [correction] = [
            c
            for c in results_of(new)["corrections"]  # type: ignore[attr-defined]
            if c["report"] == old
        ]
        assert correction["statement"] in unescape(part)
        assert correction["statement"] in unescape(about)
        assert correction["statement"] in unescape(unescape(feed)) or new not in feed
        assert f"perf/{old}/" not in board
        assert old not in explore


def test_memory_follows_the_life_of_a_connection() -> None:
    order = ["construction", "handshake", "data"]
    [table] = [
        t
        for t in results_of("2026-11-21-memory-vm")["tables"]  # type: ignore[attr-defined]
        if t["anchor"] == "allocated-per-connection"
    ]
    for side in ("client", "server"):
        names = [row["anchor"].split("-") for row in table["rows"] if f"-{side}-" in row["anchor"]]
        assert [next(p for p in order if p in name) for name in names] == order


def test_libraries_and_hosts_are_linked_in_every_report(committed_build: Built) -> None:
    for report in REPORTS:
        page = committed_build.text(f"perf/{report}/index.html")
        named = results_of(report)
        for implementation in named["implementations"]:  # type: ignore[attr-defined]
            assert f'href="../../libraries/{implementation["library"]}/">' in page, report
        for host in named["hosts"]:  # type: ignore[attr-defined]
            assert f'href="../../hosts/{host["id"]}/">' in page, report


def test_a_page_that_is_not_found_has_its_style_at_any_depth(committed_build: Built) -> None:
    page = committed_build.text("404.html")
    [style] = re.findall(r'<link rel="stylesheet" href="([^"?]*)', page)
    assert style.startswith("/")
    assert style.endswith("/style.css")
