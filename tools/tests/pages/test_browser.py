"""What a real Chromium sees of pages: accessible, calm, private, nothing cut off."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pages.conftest import Browser, Built
from pages.cover import cover

pytestmark = [pytest.mark.browser, pytest.mark.zola, pytest.mark.any_site]

FILLED = (
    "compare/?what=all",
    "compare/?a=none&other=1&q=no-such-row",
    "compare/?row=full-handshake-1-3-ecdsa-p256-x25519-server%20handshakes/s",
)
"""What the page Compare shows of the made-up reports."""

PHONE, DESK = (320, "light"), (1280, "dark")
BETWEEN = ((390, "dark"), (640, "light"), (900, "dark"), (2560, "light"))

Seen = dict[str, Any]


@pytest.fixture(scope="session")
def covering(site: Built, request: pytest.FixtureRequest) -> list[str]:
    """Pages that have every structure of all pages."""
    more = () if request.config.getoption("--committed") else FILLED
    return [*cover({page: site.text(page) for page in site.pages()}), *more]


@pytest.fixture(scope="session")
def seen(
    site: Built,
    served: str,
    browser: Browser,
    covering: list[str],
    request: pytest.FixtureRequest,
) -> list[Seen]:
    """Pages on a small phone and on a desk, with axe on those that have every structure: these, and
    of the committed site all.
    """
    of_all = request.config.getoption("--committed")
    more = [page for page in site.pages() if of_all and page not in covering]
    answer: list[Seen] = browser.ask(
        "look", base=served, pages=[*covering, *more], views=[PHONE, DESK], axe=covering
    )
    return answer


@pytest.fixture(scope="session")
def between(served: str, browser: Browser, covering: list[str]) -> list[Seen]:
    """Pages with every structure, from a phone to a wide desk."""
    answer: list[Seen] = browser.ask("look", base=served, pages=covering, views=BETWEEN)
    return answer


def problems(seen: list[Seen], key: str) -> list[str]:
    return [f"{s['page']} {s['width']} {s['scheme']}: {p}" for s in seen for p in s.get(key, [])]


def of_tables(seen: list[Seen]) -> Iterator[tuple[str, int, Seen]]:
    for view in seen:
        for table in view["tables"]:
            yield view["page"], view["width"], table


def test_axe_reports_no_problem(seen: list[Seen]) -> None:
    """Among it links and buttons that are too small to tap."""
    assert problems(seen, "violations") == []


def test_a_link_that_is_too_small_to_tap_is_found(tmp_path: Path, browser: Browser) -> None:
    """WCAG 2.2, 2.5.8: 24 by 24 pixels, or as much space. axe checks it only on request."""
    link = "<a href='#{0}' style='display: block; width: 40px; height: {1}px'>{0}</a>"
    page = "<html lang=en><title>t</title><a href='#main'>skip</a><main id=main><h1>t</h1>{}</main>"
    for name, height in (("small", 14), ("large", 24)):
        links = "".join(link.format(number, height) for number in range(3))
        (tmp_path / f"{name}.html").write_text(page.format(links), encoding="utf-8")
    pages = ["small.html", "large.html"]
    small, large = browser.ask(
        "look", base=f"{tmp_path.as_uri()}/", pages=pages, views=[PHONE], axe=pages
    )
    assert any("target-size" in violation for violation in small["violations"])
    assert not any("target-size" in violation for violation in large["violations"])


def test_the_console_stays_silent(seen: list[Seen], between: list[Seen]) -> None:
    """Neither the policy refuses anything, nor does anything fail to load."""
    assert problems(seen + between, "messages") == []


def test_nothing_overflows_its_box(seen: list[Seen], between: list[Seen]) -> None:
    assert problems(seen + between, "overflow") == []


def test_no_number_is_cut_in_two(seen: list[Seen], between: list[Seen]) -> None:
    assert problems(seen + between, "cut") == []


def test_tables_of_results_fit_a_desk_and_keep_the_names_of_their_rows(seen: list[Seen]) -> None:
    found = list(of_tables(seen))
    assert found
    assert [f for f in found if f[1] == DESK[0] and "results" in f[2]["class"]] == []
    assert [f for f in found if f[2]["name"] != "sticky"] == []
    assert [f for f in found if "linear-gradient" not in f[2]["sign"]] == []


def test_charts_are_read_without_a_magnifier_and_without_scrolling(seen: list[Seen]) -> None:
    sizes = {(s["page"], s["width"]): s["charts"]["smallest"] for s in seen}
    known = {view: size for view, size in sizes.items() if size is not None}
    assert known
    assert {view: size for view, size in known.items() if size < 11} == {}
    scrolled = {(s["page"], s["width"]): s["charts"]["scrolled"] for s in seen}
    assert {view: found for view, found in scrolled.items() if found} == {}


def test_no_request_leaves_for_another_host(
    seen: list[Seen], between: list[Seen], served: str
) -> None:
    assert [r for s in seen + between for r in s["requests"] if not r.startswith(served)] == []


def test_nothing_moves_while_a_page_loads(seen: list[Seen], between: list[Seen]) -> None:
    assert [(s["page"], s["width"]) for s in seen + between if s["shift"] != 0] == []


def test_nothing_moves_while_a_page_arrives_in_pieces(
    slowly_served: str, browser: Browser, site: Built
) -> None:
    """What a machine with too little time paints of a page stays where it is, but for the columns of
    a table, which settle while its rows arrive: a tenth of the shift that counts as good.
    """
    tables = [page for page in site.pages() if "<table" in site.text(page)]
    report = min((p for p in tables if p.startswith("perf/")), key=lambda p: len(site.text(p)))
    pages = ["index.html", "compare/", report, "answers/cores/"]
    views = [PHONE, (1280, "light")]
    found = browser.ask("look", base=slowly_served, pages=pages, views=views)
    moved = {(s["page"], s["width"]): s["shift"] for s in found}
    assert {view: shift for view, shift in moved.items() if shift > 0.01} == {}


def test_reduced_motion_is_obeyed(seen: list[Seen]) -> None:
    assert {(s["scrolling"], s["animations"]) for s in seen} == {("auto", 0)}


def test_the_keyboard_skips_to_the_content_and_reaches_every_link(seen: list[Seen]) -> None:
    assert {(s["skip"]["target"], s["skip"]["visible"]) for s in seen} == {("#main", True)}
    assert problems(seen, "unreachable") == []


PAPER = 680
"""Pixels of a line of A4 upright, without its margins."""


def test_paper_has_all_of_the_tables_and_no_navigation(
    served: str, browser: Browser, covering: list[str]
) -> None:
    """The heads of tables repeat on each page, nothing is cut off or broken in two."""
    views = [(1280, "dark"), (PAPER, "light")]
    expected = {"navigation": 0, "cut": 0, "beyond": [], "broken": 0}
    for view in browser.ask("look", base=served, pages=covering, views=views, paper=True):
        printed, where = view["printed"], (view["page"], view["width"])
        heads = set(printed.pop("heads"))
        assert printed == expected, where
        assert view["width"] == PAPER or heads <= {"table-header-group"}, where
