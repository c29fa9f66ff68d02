"""Explore: what is picked shows in table, chart and address; without it, scenarios have pages."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from pages.conftest import Browser, Built
from project import ARM, NEW, OLD, OPENSSL, ROOT, RUSTLS, WIDE, results_of

pytestmark = [pytest.mark.browser, pytest.mark.zola]

BOX = f"[name=libraries][value='{RUSTLS}']"
TO_OPENSSL = {"choose": ["baseline", f"{NEW}~{OPENSSL}"]}
TO_RUSTLS = {"choose": ["baseline", f"{NEW}~{RUSTLS}"]}
Seen = dict[str, Any]


@pytest.fixture
def play(served: str, browser: Browser) -> Any:
    """Plays steps on the page, and returns what it showed after each. The console stays empty."""

    def played(*steps: Seen, silent: bool = True) -> list[Seen]:
        plays = [[{"open": "explore/"}, *steps]]
        [answer] = browser.ask("explore", base=served, plays=plays)
        assert [r for r in answer["requests"] if not r.startswith(served)] == []
        if silent:
            assert answer["messages"] == []
        seen: list[Seen] = answer["seen"]
        return seen

    return played


class Made:
    """The results of the newest report, which the page opens with."""

    def __init__(self, results: dict[str, Any]) -> None:
        self.results = results
        self.transfer = self.table("transfer")
        self.cells = cells_of(self.transfer)
        self.label = {i["id"]: i["label"] for i in results["implementations"]}

    def table(self, anchor: str) -> dict[str, Any]:
        found: dict[str, Any] = next(t for t in self.results["tables"] if t["anchor"] == anchor)
        return found


def cells_of(table: dict[str, Any]) -> list[dict[str, Any]]:
    return [c for row in table["rows"] for c in row["cells"] if "value" in c]


@pytest.fixture(scope="module")
def made(site_source: Path) -> Made:
    return Made(results_of(site_source, NEW))


def test_without_javascript_it_leads_to_the_pages_of_scenarios(site: Built) -> None:
    page = site.text("explore/index.html")
    aside = page.partition("<noscript>")[2].partition("</noscript>")[0]
    assert 'href="../scenarios/"' in aside


def test_it_opens_with_the_newest_report(play: Any, made: Made) -> None:
    seen = play()[0]
    assert (seen["search"], seen["reports"]) == ("", [NEW])
    assert seen["status"] == f"{len(made.cells)} figures from 1 report: Transfer"
    assert seen["figures"] == [c["text"] for c in made.cells]
    assert seen["notices"] == []


def test_the_chart_shows_the_figures_of_the_table_and_can_be_read(play: Any) -> None:
    seen = play()[0]
    chart = seen["chart"]
    assert len(chart["bars"]) == len(seen["figures"])
    assert [t for t in seen["figures"] if t not in chart["texts"]] == []
    assert chart["title"] == "Transfer, MiB/s, higher is better"
    assert [t for t in seen["figures"] if f" {t}" not in chart["description"]] == []
    assert chart["named"]


@pytest.mark.parametrize("anchor", ["transfer", "full-handshakes", "resumed-handshakes"])
def test_each_bar_is_as_long_as_its_figure_and_pale_where_it_must_not_count(
    play: Any, anchor: str, made: Made
) -> None:
    table = made.table(anchor)
    cells = cells_of(table)
    seen = play({"select": table["anchor"]})[1]
    assert [re.sub(r"not counted.*", "", f) for f in seen["figures"]] == [c["text"] for c in cells]
    invalid = [c for c in cells if not c["valid"]]
    assert seen["invalid"] == [f"{c['text']}not counted: {c['note']}" for c in invalid]
    has_intervals = any("interval" in c for c in cells)
    intervals = [c.get("interval", "–") for c in cells] if has_intervals else []
    assert seen["intervals"] == intervals
    chart = seen["chart"]
    assert chart["pale"] == [not c["valid"] for c in cells]
    (zero, left), (most, right) = min(chart["axis"]), max(chart["axis"])
    assert (zero, most > 0) == (0, True)
    scale = (right - left) / most
    assert [span[0] for span in chart["spans"]] == pytest.approx([left] * len(cells), abs=0.6)
    ends = [left + scale * c["value"] for c in cells]
    assert [span[1] for span in chart["spans"]] == pytest.approx(ends, abs=0.6)


def test_a_choice_changes_table_chart_and_address_and_the_way_back_undoes_it(
    play: Any, made: Made
) -> None:
    first, fewer, fewest, back, again = play(
        {"click": BOX},
        {"click": f"[name=scenarios][value='{made.transfer['rows'][1]['anchor']}']"},
        {"go": -1},
        {"go": 1},
    )
    others = [c for c in made.cells if c["implementation"] != RUSTLS]
    assert fewer["figures"] == [c["text"] for c in others]
    assert made.label[RUSTLS] not in fewer["names"] + fewer["chart"]["texts"]
    assert len(fewer["chart"]["bars"]) == len(others) < len(first["chart"]["bars"])
    assert fewer["search"].startswith(f"?reports={NEW}&table=transfer&libraries=")
    assert len(fewest["figures"]) == len(others) - 2
    assert back == {**fewer, "focus": back["focus"]}
    assert again == {**fewest, "focus": again["focus"]}


@pytest.fixture(scope="module")
def older(site_source: Path) -> Made:
    return Made(results_of(site_source, ARM))


def test_a_linked_address_shows_what_it_names(play: Any, older: Made) -> None:
    row = older.table("full-handshakes")["rows"][2]
    search = f"?reports={ARM}&table=full-handshakes&libraries={RUSTLS}&scenarios={row['anchor']}"
    seen = play({"open": f"explore/{search}"})[1]
    [cell] = [c for c in row["cells"] if c["implementation"] == RUSTLS]
    assert seen["figures"] == [cell["text"]]
    assert (seen["search"], seen["reports"], seen["notices"]) == (search, [ARM], [])
    assert "in handshakes/s, higher is better" in seen["caption"][0]


def test_another_table_has_another_unit_and_never_two(play: Any) -> None:
    seen = play({"select": "full-handshakes-phases"})[1]
    assert "table=full-handshakes-phases" in seen["search"]
    assert "µs, lower is better" in seen["chart"]["texts"] + [seen["caption"][0][-21:-1]]
    assert all(link == f"../perf/{NEW}/" for link in seen["links"])


def test_several_reports_stand_side_by_side_with_their_dates(play: Any, made: Made) -> None:
    seen = play({"click": f"[name=reports][value='{ARM}']"})[1]
    assert seen["status"].startswith(f"{2 * len(made.cells)} figures from 2 reports")
    assert any(ARM in text for text in seen["chart"]["texts"])
    assert seen["notices"] == ["These are figures of 2 hosts: compare only those of one host."]


def test_an_empty_choice_states_what_to_do(play: Any) -> None:
    none = "[data-list={}] button[data-all=false]"
    for name, noun in (("libraries", "library"), ("scenarios", "scenario"), ("reports", "report")):
        seen = play({"click": none.format(name)})[1]
        assert seen["notices"] == [f"No {noun} is picked: pick at least one."]
        assert (seen["status"], seen["figures"], seen["chart"]) == ("No figures", [], None)
        assert f"{name}=" in seen["search"]


def test_an_address_with_unknown_names_reports_them(play: Any) -> None:
    seen = play({"open": f"explore/?reports=x,{NEW}&table=y&libraries=z&more=1"})[1]
    assert seen["notices"] == [
        "The address has a parameter that is not known here: more.",
        "There is no report x.",
        "The picked reports have no table y; this is Transfer.",
        "Transfer of the picked reports has no library z.",
        "No library is picked: pick at least one.",
    ]
    assert "<" not in "".join(play({"open": "explore/?<b>=1"})[1]["search"])


def test_too_many_bars_are_a_chart_for_each_scenario(play: Any) -> None:
    both = {"click": f"[name=reports][value='{ARM}']"}
    seen = play(both, {"select": "full-handshakes-phases"})[2]
    assert len(seen["figures"]) > 72
    assert seen["drawings"] == len(seen["groups"]) > 4
    assert seen["notices"] == ["These are figures of 2 hosts: compare only those of one host."]


def test_the_keyboard_is_enough(play: Any) -> None:
    keys = [{"press": key} for key in ("Tab",) * 20]
    steps = play(*keys)
    reached = [seen["focus"] for seen in steps]
    position = reached.index(NEW) + 1
    seen = play(*keys[:position], {"press": "Space"})[-1]
    assert seen["reports"] == [NEW, reached[position]]
    assert seen["focus"] == reached[position]


def test_the_chart_follows_the_width_and_the_colours_of_the_reader(play: Any) -> None:
    first, small, dark = play({"width": 320}, {"scheme": "dark"})
    assert small["chart"]["width"] <= 320 < first["chart"]["width"]
    assert [t for t in small["figures"] if t not in small["chart"]["texts"]] == []
    assert set(dark["chart"]["bars"]).isdisjoint(small["chart"]["bars"])


def test_figures_that_cannot_be_loaded_are_reported(play: Any) -> None:
    seen = play({"fail": r"results\.json"}, {"open": "explore/"}, silent=False)[-1]
    assert seen["notices"] == [
        f"The figures of the report {NEW} could not be loaded; its page has them."
    ]


def test_the_baseline_of_a_report_gives_the_ratios_of_its_page(play: Any, made: Made) -> None:
    assert made.transfer["baseline"] == OPENSSL
    seen = play(TO_OPENSSL)[-1]
    expected = [c["ratio"]["text"] if "ratio" in c else "baseline" for c in made.cells]
    assert seen["ratios"] == expected
    assert f"baseline={NEW}~{OPENSSL}" in seen["search"]


def test_another_baseline_gives_the_tested_ratios_of_the_file(
    play: Any, site_source: Path, made: Made
) -> None:
    seen = play(TO_RUSTLS)[-1]
    path = site_source / "content" / "perf" / NEW / "comparisons.json"
    rows = json.loads(path.read_text(encoding="utf-8"))["rows"]
    expected = [
        rows[f"transfer {row['anchor']}"][RUSTLS][c["implementation"]][2]
        if c["implementation"] != RUSTLS
        else "baseline"
        for row in made.transfer["rows"]
        for c in row["cells"]
        if "value" in c
    ]
    assert seen["ratios"] == expected
    assert seen["notices"] == []


@pytest.mark.parametrize("other", [OLD, ARM])
def test_figures_of_another_report_have_no_ratio(play: Any, made: Made, other: str) -> None:
    before, seen = play(TO_OPENSSL, {"click": f"[name=reports][value='{other}']"})[-2:]
    assert len(seen["figures"]) > len(made.cells)
    ratios = [text for text in before["ratios"] if "x" in text]
    assert ratios
    assert [text for text in seen["ratios"] if "x" in text] == ratios
    assert any("rates of two days" in notice for notice in seen["notices"])


def test_order_and_choice_follow_the_differences(play: Any, made: Made) -> None:
    plain, ordered, only = play(
        TO_OPENSSL, {"choose": ["sort", "difference"]}, {"click": "[name=only]"}
    )[1:]
    assert sorted(ordered["groups"]) == sorted(plain["groups"])

    def largest(row: dict[str, Any]) -> float:
        ratios = [c["ratio"] for c in row["cells"] if "ratio" in c]
        shown = [of["value"] for of in ratios if of["verdict"] != "no difference shown"]
        return max((abs(math.log(value)) for value in shown), default=0.0)

    rows = sorted(made.transfer["rows"], key=largest, reverse=True)
    assert ordered["groups"] == [row["name"] for row in rows]
    differing = [
        row["name"]
        for row in rows
        if {c["ratio"]["verdict"] for c in row["cells"] if "ratio" in c} & {"faster", "slower"}
    ]
    assert only["groups"] == differing
    assert "sort=difference" in only["search"]
    assert "only=differing" in only["search"]


def test_facets_leave_what_they_name(play: Any, made: Made) -> None:
    protocols = [row["scenario"]["protocol"] for row in made.transfer["rows"]]
    sides = [row["scenario"]["side"] for row in made.transfer["rows"]]
    names = [row["name"] for row in made.transfer["rows"]]
    first, second = play({"choose": ["protocol", protocols[0]]}, {"choose": ["side", sides[-1]]})[
        1:
    ]
    assert first["groups"] == [
        n for n, p in zip(names, protocols, strict=True) if p == protocols[0]
    ]
    assert 0 < len(first["groups"]) < len(names)
    assert set(second["groups"]) == {
        n
        for n, p, s in zip(names, protocols, sides, strict=True)
        if (p, s) == (protocols[0], sides[-1])
    }


def test_a_logarithmic_axis_is_stated_and_moves_the_ends(play: Any) -> None:
    plain, log = play({"choose": ["scale", "log"]})
    assert log["notices"] == [
        "The axis is logarithmic: the length of a bar does not show an amount."
    ]
    assert len(log["chart"]["ends"]) == len(plain["chart"]["ends"])
    assert min(log["chart"]["ends"]) < min(plain["chart"]["ends"])


LINES = f"explore/?reports={WIDE}&table=resumed-handshakes&chart=lines"


def test_versions_are_lines_a_library_each(play: Any) -> None:
    seen = play({"open": LINES})[-1]
    assert seen["drawings"] == len(seen["groups"])
    # One version of BoringSSL is a point; seven of OpenSSL and five of rustls are lines.
    assert [line["points"] for line in seen["lines"]] == [7, 5] * len(seen["groups"])
    assert "OpenSSL 3.0.0 to 3.6.0" in seen["chart"]["texts"]


@pytest.mark.parametrize("width", [320, 1400])
def test_the_axis_names_each_version_under_its_points(play: Any, width: int) -> None:
    seen = play({"width": width}, {"open": LINES})[-1]
    openssl = [f"3.{minor}.0" for minor in range(7)]
    rustls = [f"0.{minor}.0" for minor in range(19, 24)]
    for labels in seen["versions"]:
        assert [text for text, _ in labels] == [*openssl, *rustls, "0.20260101"]
    places = dict(seen["versions"][0])
    points = [p for p in seen["points"] if p["title"]][: len(places)]
    assert len(points) == len(places)
    for point in points:
        [version] = [v for v in places if f" {v}" in point["title"]]
        assert point["x"] == pytest.approx(places[version], abs=3), point
    assert seen["overlaps"] == []


def test_lines_of_two_reports_of_one_build_can_be_told_apart(play: Any, made: Made) -> None:
    search = f"?reports={NEW},{ARM}&table=transfer&libraries={RUSTLS}&chart=lines"
    seen = play({"open": f"explore/{search}"})[-1]
    for report in (NEW, ARM):
        assert f"{made.label[RUSTLS]}, {report}" in " ".join(seen["chart"]["texts"])
        assert any(f", {report}: " in (point["title"] or "") for point in seen["points"])
    assert seen["overlaps"] == []


def test_two_lines_of_one_library_have_dashes_and_points_of_their_own(
    play: Any, site_source: Path
) -> None:
    path = site_source / "content" / "perf" / WIDE / "results.json"
    again = path.read_text(encoding="utf-8").replace(WIDE, ARM)
    search = f"?reports={WIDE},{ARM}&table=resumed-handshakes&chart=lines"
    answer = {"answer": [f"{ARM}/results.json", again]}
    seen = play(answer, {"open": f"explore/{search}"})[-1]
    lines = seen["lines"][:4]
    assert len({line["stroke"] for line in lines}) == 2
    assert len({(line["stroke"], line["dash"]) for line in lines}) == 4


def test_what_is_not_counted_is_no_point_of_a_line(play: Any, site_source: Path) -> None:
    path = site_source / "content" / "perf" / WIDE / "results.json"
    results = json.loads(path.read_text(encoding="utf-8"))
    [table] = [t for t in results["tables"] if t["anchor"] == "resumed-handshakes"]
    cell = table["rows"][0]["cells"][2]
    cell |= {"valid": False, "note": "a reason"}
    answer = {"answer": [f"{WIDE}/results.json", json.dumps(results)]}
    seen = play(answer, {"open": LINES})[-1]
    assert [line["points"] for line in seen["lines"]][:2] == [6, 5]
    hollow = [point for point in seen["points"] if point["title"] and not point["filled"]]
    assert [point["title"] for point in hollow] == [
        f"OpenSSL 3.2.0: {cell['text']} (not counted): a reason"
    ]
    assert "not counted" in seen["chart"]["texts"]
    assert f"{cell['text']} (not counted)" in seen["chart"]["description"]
    assert seen["overlaps"] == []


def test_a_scenario_leads_to_its_page_where_it_has_one(
    play: Any, site_source: Path, made: Made
) -> None:
    rows = json.loads((site_source / "data" / "scenarios.json").read_text("utf-8"))["rows"]
    seen = play()[-1]
    shared = [row for row in made.transfer["rows"] if f"{row['anchor']} MiB/s" in rows]
    assert shared
    assert [page for page in seen["pages"] if page] == [
        [f"../scenarios/{row['anchor']}/", f"{row['name']} in all reports", True] for row in shared
    ]
    for address, _, _ in (page for page in seen["pages"] if page):
        folder = site_source / "content" / "scenarios" / address.split("/")[2]
        assert (folder / "index.md").exists()
    alone = play({"open": f"explore/?reports={WIDE}&table=transfer"})[-1]
    assert alone["groups"]
    assert alone["pages"] == [None] * len(alone["groups"])
    phases = play({"select": "full-handshakes-phases"})[-1]
    assert phases["pages"] == [None] * len(phases["groups"])


def test_facets_that_another_table_does_not_have_are_given_up(play: Any, made: Made) -> None:
    sided, other, back = play(
        {"choose": ["side", "sender"]}, {"select": "full-handshakes"}, {"go": -1}
    )[1:]
    assert 0 < len(sided["groups"]) < len(made.transfer["rows"])
    rows = made.table("full-handshakes")["rows"]
    assert other["groups"] == [row["name"] for row in rows]
    assert other["selects"]["side"] == ""
    assert other["notices"] == [
        "Full handshakes of the picked reports has no side sender: all are shown."
    ]
    assert "side=" not in other["search"]
    assert (back["groups"], back["selects"]["side"]) == (sided["groups"], "sender")


def test_a_facet_that_the_other_table_has_is_kept_and_its_scenarios_are_not(
    play: Any, made: Made
) -> None:
    [*_, fewer, other] = play(
        {"choose": ["protocol", "1.3"]},
        {"click": "[data-list=scenarios] button[data-all=false]"},
        {"select": "full-handshakes"},
    )
    assert fewer["figures"] == []
    rows = [r for r in made.table("full-handshakes")["rows"] if r["scenario"]["protocol"] == "1.3"]
    assert other["groups"] == [row["name"] for row in rows]
    assert (other["selects"]["protocol"], other["notices"]) == ("1.3", [])
    assert "scenarios=" not in other["search"]


def test_an_address_keeps_an_unknown_facet_and_reports_it(play: Any) -> None:
    search = f"?reports={NEW}&table=transfer&side=client"
    seen = play({"open": f"explore/{search}"})[-1]
    assert seen["search"] == search
    assert seen["notices"] == ["Transfer of the picked reports has no side client: all are shown."]


@pytest.mark.parametrize(
    ("other", "first", "second"),
    [
        ({"name": None, "cpu": "Another CPU"}, "{}", "Another CPU"),
        ({"name": "Another", "virtual": True}, "{}", "Another (virtual machine)"),
        ({"cpu_model": "model 2"}, "{}, model 1", "{}, model 2"),
    ],
)
def test_a_figure_of_a_report_on_two_hosts_has_the_host_of_its_run(
    play: Any, site_source: Path, made: Made, other: dict[str, Any], first: str, second: str
) -> None:
    path = site_source / "content" / "perf" / NEW / "results.json"
    results = json.loads(path.read_text(encoding="utf-8"))
    host = {**results["hosts"][0], "cpu_model": "model 1"}
    results["hosts"] = [host, {**host, "id": "other", **other}]
    for implementation in results["implementations"]:
        implementation["host"] = "other" if implementation["id"] == RUSTLS else host["id"]
    answer = {"answer": [f"{NEW}/results.json", json.dumps(results)]}
    seen = play(answer, {"open": "explore/"})[-1]
    name = host.get("name", host["cpu"])
    assert seen["hosts"].count(second.format(name)) == len(made.transfer["rows"])
    assert set(seen["hosts"]) == {first.format(name), second.format(name)}
    assert "These are figures of 2 hosts: compare only those of one host." in seen["notices"]


def test_reports_are_named(play: Any, older: Made) -> None:
    both = {"click": f"[name=reports][value='{ARM}']"}
    seen = play(both)[-1]
    assert older.results["title"] in seen["reportNames"]
    assert any(f", {ARM}" in text for text in seen["chart"]["texts"])


def test_what_is_shown_can_be_saved_and_its_address_copied(
    served: str, browser: Browser, made: Made
) -> None:
    steps = [{"open": "explore/"}, TO_OPENSSL, {"save": True}, {"copy": True}]
    [answer] = browser.ask("explore", base=served, plays=[steps])
    text, address = answer["saved"]
    lines = list(csv.DictReader(io.StringIO(text)))
    assert [float(line["value"]) for line in lines] == [c["value"] for c in made.cells]
    assert {line["unit"] for line in lines} == {"MiB/s"}
    shown = {i["id"]: (i["library"], i["version"]) for i in made.results["implementations"]}
    named = [(line["library"], line["version"]) for line in lines]
    assert named == [shown[c["implementation"]] for c in made.cells]
    verdicts = [c["ratio"]["verdict"] if "ratio" in c else "" for c in made.cells]
    assert [line["verdict"] for line in lines] == verdicts
    assert address == f"{served}explore/{answer['seen'][-1]['search']}"
    assert answer["messages"] == []


def computed(function: str, expression: str) -> Any:
    """The value of an expression with a function of compare.js."""
    source = (ROOT / "static" / "explore" / "compare.js").read_text(encoding="utf-8")
    script = (
        f"import {{ {function} }} from 'data:text/javascript,{quote(source)}';"
        f"console.log(JSON.stringify({expression}))"
    )
    command = ["node", "--input-type=module", "--eval", script]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def test_a_spreadsheet_runs_no_cell_of_what_is_saved() -> None:
    figure = {"report": "=1", "host": "@x", "name": "+1", "version": "a\r=1", "value": -0.5}
    _, line = csv.reader(
        io.StringIO(computed("csv", f"csv([{json.dumps(figure)}], '-s', () => undefined, '')"), "")
    )
    assert [cell for cell in line if cell] == ["'=1", "'@x", "'+1", "a\r=1", "-0.5", "'-s"]


def test_no_request_is_made_before_it_is_needed(served: str, browser: Browser) -> None:
    plays = [
        [{"open": "explore/"}],
        [{"open": "explore/"}, TO_OPENSSL],
        [{"open": "explore/"}, TO_RUSTLS],
    ]
    answers = browser.ask("explore", base=served, plays=plays)
    files = [
        sorted({re.sub(r"\?.*", "", r).rpartition("/")[2] for r in a["requests"] if "/perf/" in r})
        for a in answers
    ]
    assert files == [["results.json"], ["results.json"], ["comparisons.json", "results.json"]]


@pytest.mark.any_site
def test_the_policy_allows_only_own_scripts(site: Built) -> None:
    for page in site.pages():
        text = site.text(page)
        assert ("script-src 'self'" in text) == (page == "explore/index.html"), page
        assert ("<script" in text) == (page == "explore/index.html"), page
