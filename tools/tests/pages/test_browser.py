"""What a real Chromium sees of every template: accessible, calm, private, nothing cut off."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from pages.conftest import Built
from pages.fixture import NEWER, OLDER, WIDE
from pages.pictures import KEPT, PAGES, TOLERANCE, VIEWS, differences, node, take
from pages.weights import STYLE_LIMIT, reports, table, weigh

pytestmark = [pytest.mark.browser, pytest.mark.zola]

TEMPLATES = (
    *PAGES,
    f"perf/{OLDER}/",
    f"perf/{WIDE}/",
    "perf/",
    f"explore/?reports={NEWER},{OLDER}&table=transfer",
    "explore/?reports=none&other=1",
    f"explore/?reports={NEWER}&table=transfer&baseline={NEWER}~openssl-3.6.1&only=differing",
    f"explore/?reports={WIDE}&table=resumed-handshakes&chart=lines",
    f"explore/?reports={WIDE}&table=resumed-handshakes&chart=multiples&scale=log",
    "scenarios/",
    "scenarios/transfer-1-3-aes-256-gcm-sending/",
    "blog/",
    "feeds/",
    "feeds/performance/",
    "tags/",
    "tags/rustls/",
    "trends/",
    "libraries/",
    "hosts/",
    "404.html",
)

Seen = dict[str, Any]


@pytest.fixture(scope="session")
def seen(served: str, tmp_path_factory: pytest.TempPathFactory) -> list[Seen]:
    """Every template, light and dark, on a small phone and on a desk."""
    views = [[width, scheme] for width in (320, 1280) for scheme in ("light", "dark")]
    request = {"base": served, "pages": TEMPLATES, "views": views, "axe": True}
    answer: list[Seen] = node("browser.mjs", request, tmp_path_factory.mktemp("seen"))
    assert len(answer) == len(TEMPLATES) * len(views)
    return answer


@pytest.fixture(scope="session")
def wide(served: str, tmp_path_factory: pytest.TempPathFactory) -> list[Seen]:
    """Every template at widths between a phone and 4K."""
    views = [[width, "light"] for width in (375, 700, 768, 1024, 2560, 3840)]
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


def problems(seen: list[Seen], key: str) -> list[str]:
    return [f"{s['page']} {s['width']} {s['scheme']}: {p}" for s in seen for p in s[key]]


def test_axe_finds_nothing(seen: list[Seen], committed: list[Seen]) -> None:
    assert problems(seen + committed, "violations") == []


def test_the_console_stays_silent(
    seen: list[Seen], wide: list[Seen], committed: list[Seen]
) -> None:
    """Neither the policy refuses anything, nor does anything fail to load."""
    assert problems(seen + wide + committed, "messages") == []


def test_nothing_overflows_its_box(
    seen: list[Seen], wide: list[Seen], committed: list[Seen]
) -> None:
    assert problems(seen + wide + committed, "overflow") == []


def test_no_number_is_cut_in_two(seen: list[Seen], wide: list[Seen], committed: list[Seen]) -> None:
    assert problems(seen + wide + committed, "cut") == []


HEIGHTS = {1280: 800, 320: 640}
"""Of a screen, by its width."""


def test_observations_stand_within_one_and_a_half_screens_or_three_of_a_phone(
    committed: list[Seen],
) -> None:
    screens = {
        (s["page"], s["width"]): s["depth"]["observations"] / HEIGHTS[s["width"]]
        for s in committed
        if s["depth"]["observations"]
    }
    assert len(screens) > 40
    limits = {1280: 1.5, 320: 3.0}
    assert {view: far for view, far in screens.items() if far > limits[view[1]]} == {}


def test_questions_are_answered_on_the_first_screen(committed: list[Seen]) -> None:
    depths = {
        (s["page"], s["width"]): s["depth"]["answer"] / HEIGHTS[s["width"]]
        for s in committed
        if s["page"].startswith("questions/") and s["depth"]["answer"]
    }
    assert len(depths) == 14
    assert {view: far for view, far in depths.items() if far > 0.9} == {}


def test_no_request_leaves_for_another_host(
    seen: list[Seen], served: str, committed: list[Seen], committed_served: str
) -> None:
    for pages, base in ((seen, served), (committed, committed_served)):
        assert [r for s in pages for r in s["requests"] if not r.startswith(base)] == []


def test_nothing_moves_while_a_page_loads(seen: list[Seen], wide: list[Seen]) -> None:
    assert [s for s in seen + wide if s["shift"] != 0] == []


def test_reduced_motion_is_obeyed(seen: list[Seen]) -> None:
    assert {(s["scrolling"], s["animations"]) for s in seen} == {("auto", 0)}


def test_the_keyboard_skips_to_the_content_and_reaches_every_link(seen: list[Seen]) -> None:
    assert {(s["skip"]["target"], s["skip"]["visible"]) for s in seen} == {("#main", True)}
    assert problems(seen, "unreachable") == []


def test_paper_has_the_tables_and_no_navigation(served: str, tmp_path: Path) -> None:
    """The heads of tables repeat on each page, nothing is cut off or broken in two."""
    pages = [f"perf/{OLDER}/", f"perf/{WIDE}/"]
    request = {"base": served, "pages": pages, "views": [[1280, "dark"]]}
    expected = {"navigation": 0, "heads": ["table-header-group"], "cut": 0, "broken": 0}
    assert [s["printed"] for s in node("browser.mjs", request, tmp_path)] == [expected] * 2


def test_pages_look_as_they_did(
    served: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Compares with the kept pictures; after a change that is meant: `make screenshots`."""
    now = take(served, tmp_path, tmp_path)
    assert len(now) == len(PAGES) * len(VIEWS)
    if request.config.getoption("--update-pictures"):
        shutil.rmtree(KEPT, ignore_errors=True)
        KEPT.mkdir()
        for picture in now:
            shutil.copy(picture, KEPT)
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
