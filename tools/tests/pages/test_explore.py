"""Explore: what is picked shows in table, chart and address; without JavaScript it is a table."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from pages.conftest import Built
from pages.fixture import NEWER, OLDER, example
from pages.pictures import node
from pages.weights import KILO

pytestmark = [pytest.mark.browser, pytest.mark.zola]

BUNDLE_LIMIT = 420 * KILO
"""Of Vega as it is loaded, on this page alone, uncompressed."""

TRANSFER = example()["tables"][0]
CELLS = [c for row in TRANSFER["rows"] for c in row["cells"] if "value" in c]
RUSTLS = next(i for i in example()["implementations"] if i["library"] == "rustls")
BOX = f"[name=libraries][value='{RUSTLS['id']}']"
ROW = TRANSFER["rows"][1]["anchor"]

Seen = dict[str, Any]


@pytest.fixture
def play(served: str, tmp_path: Path) -> Any:
    """Plays steps on the page; what it showed after each. It must have said nothing meanwhile."""

    def played(*steps: Seen, silent: bool = True) -> list[Seen]:
        request = {"base": served, "plays": [[{"open": "explore/"}, *steps]]}
        answer = node("explore.mjs", request, tmp_path)[0]
        assert [r for r in answer["requests"] if not r.startswith(served)] == []
        if silent:
            assert answer["messages"] == []
        seen: list[Seen] = answer["seen"]
        return seen

    return played


def test_without_javascript_it_is_a_table_of_every_figure(play: Any, example_site: Path) -> None:
    seen = play({"script": False})[0]
    files = example_site.glob("content/perf/*/results.json")
    reports = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    cells = [c for r in reports for t in r["tables"] for row in t["rows"] for c in row["cells"]]
    figures = [c["text"] for c in cells if "value" in c]
    assert len(reports) > 2
    assert sorted(re.sub(r"not counted.*", "", f) for f in seen["figures"]) == sorted(figures)
    assert len(seen["links"]) == len(figures)
    assert f"../perf/{OLDER}/#{ROW}" in seen["links"]
    assert not seen["form"]


def test_the_committed_page_without_javascript_has_every_result(committed_build: Built) -> None:
    page = committed_build.text("explore/index.html")
    entries = (committed_build.public / "data" / "index.csv").read_text(encoding="utf-8")
    assert page.count('<tr><th scope="row"') == len(entries.splitlines()) - 1


def test_it_opens_with_the_newest_report(play: Any) -> None:
    seen = play()[0]
    assert (seen["search"], seen["reports"]) == ("", [NEWER])
    assert seen["status"] == f"{len(CELLS)} figures from 1 report: Transfer"
    assert seen["figures"] == [c["text"] for c in CELLS]
    assert seen["notices"] == []


def test_the_chart_shows_the_figures_of_the_table_and_can_be_read(play: Any) -> None:
    seen = play()[0]
    chart = seen["chart"]
    assert len(chart["bars"]) == len(seen["figures"])
    assert [t for t in seen["figures"] if t not in chart["texts"]] == []
    assert chart["title"] == "Transfer, MiB/s, higher is better"
    assert [t for t in seen["figures"] if f" {t}" not in chart["description"]] == []
    assert chart["named"]


def test_a_choice_changes_table_chart_and_address_and_the_way_back_undoes_it(play: Any) -> None:
    first, fewer, fewest, back, again = play(
        {"click": BOX}, {"click": f"[name=scenarios][value='{ROW}']"}, {"go": -1}, {"go": 1}
    )
    others = [c for c in CELLS if c["implementation"] != RUSTLS["id"]]
    assert fewer["figures"] == [c["text"] for c in others]
    assert RUSTLS["label"] not in fewer["names"] + fewer["chart"]["texts"]
    assert len(fewer["chart"]["bars"]) == len(others) < len(first["chart"]["bars"])
    assert fewer["search"].startswith(f"?reports={NEWER}&table=transfer&libraries=")
    assert len(fewest["figures"]) == len(others) - 2
    assert back == {**fewer, "focus": back["focus"]}
    assert again == {**fewest, "focus": again["focus"]}


def test_a_linked_address_shows_what_it_names(play: Any) -> None:
    search = (
        f"?reports={OLDER}&table=full-handshakes&libraries={RUSTLS['id']}"
        f"&scenarios={example()['tables'][1]['rows'][2]['anchor']}"
    )
    seen = play({"open": f"explore/{search}"})[1]
    cell = next(
        c for c in example()["tables"][1]["rows"][2]["cells"] if c["implementation"] == RUSTLS["id"]
    )
    assert seen["figures"] == [cell["text"]]
    assert (seen["search"], seen["reports"], seen["notices"]) == (search, [OLDER], [])
    assert "in handshakes/s, higher is better" in seen["caption"][0]


def test_another_table_has_another_unit_and_never_two(play: Any) -> None:
    seen = play({"select": "full-handshakes-phases"})[1]
    assert "table=full-handshakes-phases" in seen["search"]
    assert "µs, lower is better" in seen["chart"]["texts"] + [seen["caption"][0][-21:-1]]
    assert all(link == f"../perf/{NEWER}/" for link in seen["links"])


def test_several_reports_stand_side_by_side_with_their_dates(play: Any) -> None:
    seen = play({"click": f"[name=reports][value='{OLDER}']"})[1]
    assert seen["status"].startswith(f"{2 * len(CELLS)} figures from 2 reports")
    assert any("7 March 2026" in text for text in seen["chart"]["texts"])
    assert seen["notices"] == ["These are figures of 2 hosts: compare only those of one host."]


def test_an_empty_choice_says_what_to_do(play: Any) -> None:
    none = "[data-list={}] button[data-all=false]"
    for name, noun in (("libraries", "library"), ("scenarios", "scenario"), ("reports", "report")):
        seen = play({"click": none.format(name)})[1]
        assert seen["notices"] == [f"No {noun} is picked: pick at least one."]
        assert (seen["status"], seen["figures"], seen["chart"]) == ("No figures", [], None)
        assert f"{name}=" in seen["search"]


def test_an_address_with_what_is_not_there_says_so(play: Any) -> None:
    seen = play({"open": f"explore/?reports=x,{NEWER}&table=y&libraries=z&more=1"})[1]
    assert seen["notices"] == [
        "The address has a parameter that is not known here: more.",
        "There is no report x.",
        "The picked reports have no table y; this is Transfer.",
        "Transfer of the picked reports has no library z.",
        "No library is picked: pick at least one.",
    ]
    assert "<" not in "".join(play({"open": "explore/?<b>=1"})[1]["search"])


def test_too_many_bars_are_a_sentence_and_a_table(play: Any) -> None:
    both = {"click": f"[name=reports][value='{OLDER}']"}
    seen = play(both, {"select": "full-handshakes-phases"})[2]
    assert seen["chart"] is None
    assert "bars are more than a chart can show" in " ".join(seen["notices"])
    assert len(seen["figures"]) > 72


def test_the_keyboard_is_enough(play: Any) -> None:
    keys = [{"press": key} for key in ("Tab",) * 20]
    steps = play(*keys)
    reached = [seen["focus"] for seen in steps]
    assert reached.index(NEWER) < reached.index(OLDER)
    position = reached.index(OLDER)
    seen = play(*keys[:position], {"press": "Space"})[-1]
    assert seen["reports"] == [NEWER, OLDER]
    assert seen["focus"] == OLDER


def test_the_chart_follows_the_width_and_the_colours_of_the_reader(play: Any) -> None:
    first, small, dark = play({"width": 320}, {"scheme": "dark"})
    assert small["chart"]["width"] <= 320 < first["chart"]["width"]
    assert [t for t in small["figures"] if t not in small["chart"]["texts"]] == []
    assert set(dark["chart"]["bars"]).isdisjoint(small["chart"]["bars"])


def test_figures_or_a_chart_that_do_not_come_are_told(play: Any) -> None:
    seen = play({"fail": r"results\.json"}, {"open": "explore/"}, silent=False)[-1]
    assert seen["notices"] == [
        f"The figures of the report {NEWER} could not be loaded; its page has them."
    ]
    seen = play({"fail": r"chart\.js"}, {"open": "explore/"}, silent=False)[-1]
    assert "the table has all figures" in seen["status"]
    assert seen["figures"] == [c["text"] for c in CELLS]


def test_the_policy_allows_own_scripts_alone(committed_build: Built) -> None:
    for page in committed_build.pages():
        text = committed_build.text(page)
        assert ("script-src 'self'" in text) == (page == "explore/index.html"), page
        assert ("<script" in text) == (page == "explore/index.html"), page


def test_what_it_weighs(committed_build: Built, capsys: pytest.CaptureFixture[str]) -> None:
    folder = committed_build.public / "explore"
    files = [f for f in sorted(folder.iterdir()) if f.suffix in (".html", ".css", ".js")]
    with capsys.disabled():
        print(f"\n{'explore/':40} {'KB':>7} {'gzip':>7}")
        for file in files:
            data = file.read_bytes()
            packed = len(gzip.compress(data)) / KILO
            print(f"{file.name:40} {len(data) / KILO:7.1f} {packed:7.1f}")
    assert (folder / "chart.js").stat().st_size <= BUNDLE_LIMIT
