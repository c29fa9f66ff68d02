"""Home and answers, as a reader has them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from pages.conftest import Browser, Built
from project import AHEAD, CORES, SINCE

pytestmark = [pytest.mark.zola]


def home_text(site: Built) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", site.text("index.html")))


def test_home_has_the_picture_first_and_links_each_answer_by_its_words(site: Built) -> None:
    page = site.text("index.html")
    links = re.findall(r'<a href="(?:\./)?answers/([^/"]+)/">([^<]+)</a>', page)
    assert {name for name, _ in links} == {AHEAD, SINCE, CORES}
    assert dict(links)[SINCE] == "OpenSSL has become at least a fifth faster."
    assert 0 < page.index('class="picture"') < page.index("answers/ahead/")
    assert "How fast some libraries are." in home_text(site)


def test_the_list_of_answers_has_all_of_them(site: Built) -> None:
    page = site.text("answers/index.html")
    assert set(re.findall(r'<a href="\.\./answers/([^/"]+)/">', page)) == {AHEAD, SINCE, CORES}


def test_an_answer_has_a_picture_a_table_and_the_way_to_its_figures(site: Built) -> None:
    for name in (AHEAD, SINCE):
        page = site.text(f"answers/{name}/index.html")
        order = [page.index(of) for of in ("<h1>", 'class="picture"', "<table", 'class="measured"')]
        assert order == sorted(order)
        for address in re.findall(r'href="\.\./\.\./(perf/[^"#]*)"', page):
            place = site.public / address
            assert (place if place.suffix else place / "index.html").is_file()
        assert re.search(r'href="\.\./\.\./perf/[^"]*results\.csv"', page)


@pytest.mark.browser
def test_cores_are_computed_from_four_inputs_and_shown_without_them(
    site: Built, served: str, browser: Browser, site_source: Path
) -> None:
    page = f"answers/{CORES}/"
    shown = json.loads((site_source / "content" / page / "page.json").read_bytes())
    [host] = shown["cores"]["hosts"]
    first, second, *_ = host["libraries"]
    given = [
        {"share": "0"},
        {"library": second["id"], "key": "rsa", "share": "50", "rate": "40000"},
    ]
    seen = browser.ask("cores", base=served, page=page, given=given)

    def said(text: str) -> list[float]:
        assert text.startswith(f"{host['name']}: ")
        return [float(number) for number in re.findall(r"([\d.]+)(?= cores| through)", text)]

    def cores(
        library: dict[str, dict[str, dict[str, float]]], key: str, share: float
    ) -> list[float]:
        costs = library["costs"].values()
        return [(1 - share) * of[key] + share * of["resumed"] for of in costs]

    assert said(seen["results"][0]) == pytest.approx(
        [0.02 * of for of in cores(first, "ecdsa", 0)], rel=0.051
    )
    assert said(seen["results"][1]) == pytest.approx(
        [0.04 * of for of in cores(second, "rsa", 0.5)], rel=0.051
    )
    assert not seen["form"]
    assert set(first["cores"]["socket"]) <= set(seen["cells"])
