"""What a real Chromium sees of every template: accessible, calm, private, nothing cut off."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from pages.conftest import Built, replaced
from pages.fixture import NEWER, OLDER, WIDE
from pages.pictures import (
    CHARTS,
    COMMITTED_VIEWS,
    KEPT,
    KINDS,
    PAGES,
    TOLERANCE,
    VIEWS,
    differences,
    keep,
    node,
    take,
)
from pages.weights import STYLE_LIMIT, reports, table, weigh

pytestmark = [pytest.mark.browser, pytest.mark.zola]

TEMPLATES = (
    *PAGES,
    f"perf/{OLDER}/",
    f"perf/{WIDE}/",
    f"explore/?reports={NEWER},{OLDER}&table=transfer",
    "explore/?reports=none&other=1",
    f"explore/?reports={NEWER}&table=transfer&baseline={NEWER}~openssl-3.6.1&only=differing",
    f"explore/?reports={WIDE}&table=resumed-handshakes&chart=lines",
    f"explore/?reports={WIDE}&table=resumed-handshakes&chart=multiples&scale=log",
    "blog/",
    "feeds/",
    "feeds/performance/",
    "tags/rustls/",
    "trends/",
    "hosts/",
)

Seen = dict[str, Any]


@pytest.fixture(scope="session")
def seen(served: str, tmp_path_factory: pytest.TempPathFactory) -> list[Seen]:
    """Every template, light and dark, on a small phone, a tablet and a desk."""
    views = [[width, scheme] for width in (320, 768, 1280) for scheme in ("light", "dark")]
    request = {"base": served, "pages": TEMPLATES, "views": views, "axe": True}
    answer: list[Seen] = node("browser.mjs", request, tmp_path_factory.mktemp("seen"))
    assert len(answer) == len(TEMPLATES) * len(views)
    return answer


@pytest.fixture(scope="session")
def wide(served: str, tmp_path_factory: pytest.TempPathFactory) -> list[Seen]:
    """Every template at widths between a phone and 4K."""
    views = [[width, "light"] for width in (375, 640, 820, 900, 1024, 2560, 3840)]
    request = {"base": served, "pages": TEMPLATES, "views": views}
    answer: list[Seen] = node("browser.mjs", request, tmp_path_factory.mktemp("wide"))
    return answer


@pytest.fixture(scope="session")
def committed(
    committed_served: str, committed_build: Built, tmp_path_factory: pytest.TempPathFactory
) -> list[Seen]:
    """Every page that is committed but the lists of tags, on a small phone and on a desk."""
    request = {
        "base": committed_served,
        "pages": [p for p in committed_build.pages() if not p.startswith(("tags/", "feeds/"))],
        "views": [[320, "light"], [1280, "dark"]],
        "axe": True,
    }
    answer: list[Seen] = node("browser.mjs", request, tmp_path_factory.mktemp("committed"))
    return answer


@pytest.fixture(scope="session")
def kinds(committed_served: str, tmp_path_factory: pytest.TempPathFactory) -> list[Seen]:
    """Committed pages of the kinds that the example has not, and home, in the views between."""
    views = [[768, scheme] for scheme in ("light", "dark")] + [[320, "dark"], [1280, "light"]]
    pages = [*KINDS, "index.html", "libraries/", "libraries/rustls/", "about/"]
    request = {"base": committed_served, "pages": pages, "views": views, "axe": True}
    answer: list[Seen] = node("browser.mjs", request, tmp_path_factory.mktemp("kinds"))
    return answer


@pytest.fixture(scope="session")
def between(
    committed_served: str, committed_build: Built, tmp_path_factory: pytest.TempPathFactory
) -> list[Seen]:
    """Committed reports and pages of each kind at widths between a phone and a desk."""
    pages = [p for p in committed_build.pages() if p.startswith(("perf/", "questions/"))]
    views = [[width, "light"] for width in (640, 768, 820, 900)]
    request = {"base": committed_served, "pages": [*pages, *KINDS, "index.html"], "views": views}
    answer: list[Seen] = node("browser.mjs", request, tmp_path_factory.mktemp("between"))
    return answer


def problems(seen: list[Seen], key: str) -> list[str]:
    return [f"{s['page']} {s['width']} {s['scheme']}: {p}" for s in seen for p in s[key]]


def test_axe_reports_no_problem(seen: list[Seen], committed: list[Seen], kinds: list[Seen]) -> None:
    """Among it links and buttons that are too small to tap."""
    assert problems(seen + committed + kinds, "violations") == []


def test_a_link_that_is_too_small_to_tap_is_found(tmp_path: Path) -> None:
    """WCAG 2.2, 2.5.8: 24 by 24 pixels, or as much space. axe checks it only on request."""
    link = "<a href='#{0}' style='display: block; width: 40px; height: {1}px'>{0}</a>"
    page = "<html lang=en><title>t</title><a href='#main'>skip</a><main id=main><h1>t</h1>{}</main>"
    for name, height in (("small", 14), ("large", 24)):
        links = "".join(link.format(number, height) for number in range(3))
        (tmp_path / f"{name}.html").write_text(page.format(links), encoding="utf-8")
    request = {
        "base": f"{tmp_path.as_uri()}/",
        "pages": ["small.html", "large.html"],
        "views": [[320, "light"]],
        "axe": True,
    }
    small, large = node("browser.mjs", request, tmp_path)
    assert any("target-size" in violation for violation in small["violations"])
    assert not any("target-size" in violation for violation in large["violations"])


def test_the_console_stays_silent(
    seen: list[Seen], wide: list[Seen], committed: list[Seen]
) -> None:
    """Neither the policy refuses anything, nor does anything fail to load."""
    assert problems(seen + wide + committed, "messages") == []


def test_nothing_overflows_its_box(
    seen: list[Seen], wide: list[Seen], committed: list[Seen]
) -> None:
    assert problems(seen + wide + committed, "overflow") == []


def test_no_number_is_cut_in_two(
    seen: list[Seen], wide: list[Seen], committed: list[Seen], between: list[Seen]
) -> None:
    assert problems(seen + wide + committed + between, "cut") == []


def test_tables_of_results_fit_a_desk_and_keep_the_names_of_their_rows(
    committed: list[Seen],
) -> None:
    found = [(s["page"], s["width"], t) for s in committed for t in s["tables"]]
    assert len(found) > 20
    assert [f for f in found if f[1] == 1280 and "results" in f[2]["class"]] == []
    assert [f for f in found if f[2]["name"] != "sticky"] == []
    assert [f for f in found if "linear-gradient" not in f[2]["sign"]] == []


def test_the_scoreboard_shows_all_columns_on_a_tablet(kinds: list[Seen]) -> None:
    pages = [s for s in kinds if s["page"] in ("index.html", "libraries/") and s["width"] == 768]
    assert len(pages) == 4
    assert [s["page"] for s in pages if any("sheet" in t["class"] for t in s["tables"])] == []


HEIGHTS = {1280: 800, 320: 640}
"""Of a screen, by its width."""


def test_observations_are_within_one_and_a_half_screens_or_three_of_a_phone(
    committed: list[Seen],
) -> None:
    # A notice about the new report is first on the page of a replaced one.
    notices = replaced()
    assert len(notices) > 10
    screens = {
        (s["page"], s["width"]): s["depth"]["observations"] / HEIGHTS[s["width"]]
        for s in committed
        if s["depth"]["observations"] and s["page"].split("/")[1] not in notices
    }
    assert len(screens) > 40
    limits = {1280: 1.5, 320: 3.0}
    assert {view: far for view, far in screens.items() if far > limits[view[1]]} == {}


MOST_SCREENS = {"latency": 12, "threads": 10, "standard": 6}
"""Of reports on a desk, by the suite in their names."""


def test_reports_are_no_longer_than_they_may_be(committed: list[Seen]) -> None:
    found = {
        (s["page"], kind): s["height"] / HEIGHTS[1280]
        for s in committed
        for kind in MOST_SCREENS
        if s["width"] == 1280
        and re.fullmatch(rf"perf/[\d-]+{kind}(-xeon)?-vm/index.html", s["page"])
    }
    assert len(found) == 8
    assert {page: far for page, far in found.items() if far > MOST_SCREENS[page[1]]} == {}


def test_charts_are_read_without_a_magnifier_and_without_scrolling(committed: list[Seen]) -> None:
    sizes = {(s["page"], s["width"]): s["charts"]["smallest"] for s in committed}
    known = {view: size for view, size in sizes.items() if size is not None}
    assert len(known) > 60
    assert {view: size for view, size in known.items() if size < 11} == {}
    scrolled = {(s["page"], s["width"]): s["charts"]["scrolled"] for s in committed}
    assert {view: found for view, found in scrolled.items() if found} == {}


def test_an_interval_shows_where_its_details_are_open(committed: list[Seen]) -> None:
    found = [s["intervals"] for s in committed if s["intervals"]]
    assert len(found) > 20
    for interval in found:
        assert interval["closed"] in ("none", '""')
        assert interval["open"] == f'"{interval["title"]}"'


def test_questions_are_answered_on_the_first_screen(committed: list[Seen]) -> None:
    depths = {
        (s["page"], s["width"]): s["depth"]["answer"] / HEIGHTS[s["width"]]
        for s in committed
        if s["page"].startswith("questions/") and s["depth"]["answer"]
    }
    assert len(depths) == 14
    assert {view: far for view, far in depths.items() if far > 0.9} == {}


@pytest.mark.parametrize("question", ["server", "memory", "tail"])
def test_the_figures_that_answer_a_question_are_those_of_results_json(
    question: str, committed: list[Seen], committed_build: Built
) -> None:
    (seen,) = [
        s
        for s in committed
        if s["page"].startswith(f"questions/{question}/") and s["width"] == 1280
    ]
    shown = set()
    for figure in seen["figures"]:
        report, _, anchor = figure["row"].partition("perf/")[2].partition("/#")
        results = json.loads(committed_build.text(f"perf/{report}/results.json"))
        rows = [r for t in results["tables"] for r in t["rows"] if r["anchor"] == anchor]
        assert figure["text"] in {cell["text"] for row in rows for cell in row["cells"]}, figure
        shown.add(figure["text"])
    assert len(shown) > 10
    said = [n for sentence in seen["answers"] for n in re.findall(r"\(([\d,.]+) \S+\)", sentence)]
    assert len(said) >= 2
    assert set(said) <= shown


def test_no_request_leaves_for_another_host(
    seen: list[Seen], served: str, committed: list[Seen], committed_served: str
) -> None:
    for pages, base in ((seen, served), (committed, committed_served)):
        assert [r for s in pages for r in s["requests"] if not r.startswith(base)] == []


def test_nothing_moves_while_a_page_loads(seen: list[Seen], wide: list[Seen]) -> None:
    assert [s for s in seen + wide if s["shift"] != 0] == []


def test_nothing_moves_while_a_page_arrives_in_pieces(slowly_served: str, tmp_path: Path) -> None:
    """What a machine with too little time paints of a page stays where it is."""
    request = {
        "base": slowly_served,
        "pages": ["index.html", "explore/", "perf/2026-11-22-standard-vm/", "questions/cores/"],
        "views": [[320, "light"], [1280, "light"]],
    }
    moved = {(s["page"], s["width"]): s["shift"] for s in node("browser.mjs", request, tmp_path)}
    assert {view: shift for view, shift in moved.items() if shift > 0.001} == {}


def test_reduced_motion_is_obeyed(seen: list[Seen]) -> None:
    assert {(s["scrolling"], s["animations"]) for s in seen} == {("auto", 0)}


def test_the_keyboard_skips_to_the_content_and_reaches_every_link(seen: list[Seen]) -> None:
    assert {(s["skip"]["target"], s["skip"]["visible"]) for s in seen} == {("#main", True)}
    assert problems(seen, "unreachable") == []


def test_paper_has_the_tables_and_no_navigation(served: str, tmp_path: Path) -> None:
    """The heads of tables repeat on each page, nothing is cut off or broken in two."""
    pages = [f"perf/{OLDER}/", f"perf/{WIDE}/"]
    request = {"base": served, "pages": pages, "views": [[1280, "dark"]]}
    expected = {
        "navigation": 0,
        "heads": ["table-header-group"],
        "cut": 0,
        "beyond": [],
        "broken": 0,
    }
    assert [s["printed"] for s in node("browser.mjs", request, tmp_path)] == [expected] * 2


PAPER = 680
"""Pixels of a line of A4 upright, without its margins."""


def test_a_printed_page_shows_every_column(
    committed_served: str, committed_build: Built, tmp_path: Path
) -> None:
    pages = [p for p in committed_build.pages() if p.startswith(("perf/", "questions/"))]
    request = {
        "base": committed_served,
        "pages": [*pages, *KINDS, "index.html", "methodology/"],
        "views": [[PAPER, "light"]],
    }
    seen = node("browser.mjs", request, tmp_path)
    assert {s["page"]: s["printed"]["beyond"] for s in seen if s["printed"]["beyond"]} == {}


def test_pages_look_as_they_did(
    served: str, committed_served: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Compares with the kept pictures; after a change that is meant: `make screenshots`."""
    now = take(served, committed_served, tmp_path)
    of_committed = len(KINDS + CHARTS) * len(COMMITTED_VIEWS)
    assert len(now) == len(PAGES) * len(VIEWS) + of_committed
    if request.config.getoption("--update-pictures"):
        shutil.rmtree(KEPT, ignore_errors=True)
        KEPT.mkdir()
        for picture in now:
            keep(picture)
    missing = [picture.name for picture in now if not (KEPT / picture.name).exists()]
    assert missing == [], "run `make screenshots` and look at what it writes"
    shares = differences([(KEPT / picture.name, picture) for picture in now], tmp_path)
    changed = {p.name: s for p, s in zip(now, shares, strict=True) if s > TOLERANCE}
    assert changed == {}, f"compare {tmp_path} with {KEPT}"


def test_a_changed_page_is_seen_as_changed(tmp_path: Path) -> None:
    light, dark = sorted(KEPT.glob("home-1280-*.png"))
    assert differences([(light, light), (light, dark)], tmp_path)[0] == 0
    assert differences([(light, dark)], tmp_path)[0] > TOLERANCE


def test_reports_are_light(
    current_build: Built, committed_build: Built, capsys: pytest.CaptureFixture[str]
) -> None:
    for site in (current_build, committed_build):
        weights = [weigh(site.public, page) for page in reports(site.public)]
        with capsys.disabled():
            print(f"\n{table(weights)}")
        assert [w for w in weights if w.total > w.limit] == []
        assert (site.public / "style.css").stat().st_size <= STYLE_LIMIT
