"""The page Compare: what a reader picks is in the table and in the address."""

from __future__ import annotations

import json
import math
import re
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from pages.conftest import Browser, Built
from project import ARM, NEW, OLD, OPENSSL, RUSTLS

pytestmark = [pytest.mark.browser, pytest.mark.zola]

Seen = dict[str, Any]
PAIR = {"a": RUSTLS, "b": OPENSSL}


@pytest.fixture
def play(served: str, browser: Browser) -> Any:
    """Plays steps on the page, and returns what it showed after each. The console stays empty."""

    def played(*steps: Seen, silent: bool = True) -> list[Seen]:
        [answer] = browser.ask("pick", base=served, plays=[[*steps]])
        assert [r for r in answer["requests"] if not r.startswith(served)] == []
        if silent:
            assert answer["messages"] == []
        seen: list[Seen] = answer["seen"]
        return seen

    return played


def open_(**of: str) -> Seen:
    query = "&".join(f"{name}={value}" for name, value in of.items())
    return {"open": f"compare/?{query}" if query else "compare/"}


def seen_address(seen: Seen, row: Seen) -> str:
    """The address of a row alone, without its group."""
    return f"compare/?a={seen['selects']['a']}&b={seen['selects']['b']}&row={quote(row['key'])}"


def size(row: Seen) -> float:
    """How far a ratio is from 1."""
    return abs(math.log(float(row["cells"][0].split("×")[0].split()[-1].replace(",", ""))))


def test_without_a_choice_the_first_two_libraries_are_compared(play: Any) -> None:
    [seen] = play(open_())
    assert {name: seen["selects"][name] for name in PAIR} == PAIR
    assert seen["search"] == ""
    assert seen["rows"]


def test_rows_are_in_the_order_of_the_difference_and_those_without_one_follow(play: Any) -> None:
    [seen] = play(open_(**PAIR, what="all"))
    marks = [bool(row["mark"]) for row in seen["rows"]]
    assert marks == sorted(marks, reverse=True)
    sizes = [size(row) for row in seen["rows"] if row["mark"]]
    # Texts are rounded.
    assert all(a >= b - 0.02 for a, b in pairwise(sizes))
    assert len(sizes) > 5


def test_a_row_without_a_difference_says_which_one_would_have_shown(
    play: Any, site_source: Path
) -> None:
    [seen] = play(open_(**PAIR, what="all"))
    more = play(open_(**PAIR, what="all"), {"click": "[data-more]"})[-1]
    same = [row for row in more["rows"] if row["cells"][0].startswith("=")]
    assert same
    assert all(re.match(r"= [\d.,]+(%|×)|=$|=\d", row["cells"][0]) for row in same)
    assert all(not row["mark"] for row in same)
    assert len(seen["rows"]) < len(more["rows"])


def test_exchanged_implementations_exchange_figures_and_marks(play: Any) -> None:
    [there] = play(open_(**PAIR, q="full"))
    [back] = play(open_(a=OPENSSL, b=RUSTLS, q="full"))
    marks = {"better": "worse", "worse": "better", "": ""}
    ours = {row["name"]: (marks[row["mark"]], *row["cells"][:0:-1]) for row in there["rows"]}
    assert ours
    assert {row["name"]: (row["mark"], *row["cells"][1:]) for row in back["rows"]} == ours


def test_what_is_picked_is_in_the_address_which_restores_it(play: Any) -> None:
    other = "boringssl-30cd935"
    seen = play(
        open_(),
        {"choose": ["b", other]},
        {"choose": ["what", "all"]},
        {"type": "1.3 server"},
        {"click": "tbody [data-row]:nth-child(2) button"},
        {"go": -1},
    )
    last, before = seen[4], seen[5]
    assert {of["selects"]["b"] for of in seen[1:]} == {other}
    assert last["open"]
    assert last["rows"][1]["expanded"] == "true"
    assert all("1.3" in row["name"] and "server" in row["name"] for row in last["rows"])
    assert before["open"] is None
    [again] = play({"open": f"compare/{last['search']}"})
    same = ("selects", "rows", "heads", "status", "open")
    assert {key: again[key] for key in same} == {key: last[key] for key in same}


def test_a_library_in_an_address_is_its_usual_build(play: Any) -> None:
    [seen] = play(open_(a="openssl", b="rustls"))
    assert (seen["selects"]["a"], seen["selects"]["b"]) == (OPENSSL, RUSTLS)


def test_what_an_address_names_and_nobody_measured_is_said(play: Any) -> None:
    [seen] = play(open_(a="no-such-library-1.0", host="no-such-host"))
    assert {name: seen["selects"][name] for name in PAIR} == PAIR
    assert "no-such-library-1.0, no-such-host" in seen["status"]
    assert seen["rows"]


def test_a_row_in_the_address_is_shown_with_the_rows_of_its_group(play: Any) -> None:
    [seen] = play(open_(**PAIR, what="memory"))
    [row] = [row for row in seen["rows"] if row["about"].endswith("bytes/connection")][:1]
    [opened] = play({"open": seen_address(seen, row)})
    assert opened["selects"]["what"] == "memory"
    assert opened["open"]


def test_only_what_was_measured_together_can_be_compared(play: Any) -> None:
    seen = play(open_(**PAIR), {"choose": ["a", "rustls-0.20.0-aws-lc-rs"]})[-1]
    assert seen["rows"]
    assert OPENSSL not in seen["options"]["b"]


def test_a_row_opens_to_every_measurement_its_raw_files_and_its_command(
    play: Any, served: str, site: Built
) -> None:
    key = "full-handshake-1-3-rsa-2048-x25519-server%20handshakes/s"
    [seen] = play(open_(**PAIR, row=key))
    opened = seen["open"]
    dates = [row[0] for row in opened["rows"]]
    assert len(dates) > 1
    assert dates[0] == "21 November 2026"
    hosts = {row[1] for row in opened["rows"]}
    assert len(hosts) == 2
    assert f"{served}perf/{NEW}/#full-handshake-1-3-rsa-2048-x25519-server" in opened["links"]
    raw = [link.removeprefix(served) for link in opened["links"] if "/raw/" in link]
    assert len(raw) == len(dates)
    assert all((site.public / path).is_file() for path in raw)
    command = "tlsbench run --suite bench/suites/server.toml --only 'full/1.3/rsa-2048-x25519'"
    assert command in opened["text"]
    assert f"/perf/{NEW}/#full-handshake-1-3-rsa-2048-x25519-server" in opened["text"]
    assert served not in opened["text"], "what is cited has the address of the site"


def test_an_older_measurement_comes_from_the_file_of_its_part(play: Any, root: Path) -> None:
    key = "transfer-1-2-aes-128-gcm-64-kib-in-flight-sending%20MiB/s"
    [seen] = play(open_(**PAIR, host="example-arm", row=key))
    [of] = json.loads((root / "content" / "perf" / ARM / "compare.json").read_text("utf-8"))
    ids = [i["id"] for i in of["implementations"]]
    row = next(r for r in of["rows"] if r["row"]["anchor"] == key.partition("%20")[0])
    texts = [row["texts"][ids.index(of_)] for of_ in (RUSTLS, OPENSSL)]
    assert texts in [line[3:5] for line in seen["open"]["rows"]]


def test_two_hosts_stand_side_by_side_each_with_its_own_ratio(play: Any) -> None:
    [seen] = play(open_(**PAIR, host="example-host", also="example-arm"))
    assert len(seen["heads"]) == 7
    assert seen["rows"]
    assert all(len(row["cells"]) == 6 for row in seen["rows"])
    [alone] = play(open_(**PAIR, host="example-arm"))
    other = {row["name"]: row["cells"] for row in alone["rows"]}
    assert all(other[row["name"]] == row["cells"][3:] for row in seen["rows"])


def test_the_keyboard_opens_a_row_and_stays_there(play: Any) -> None:
    seen = play(
        open_(**PAIR),
        {"click": "[name=q]"},
        {"press": "Tab"},
        {"press": "Enter"},
        {"press": "Enter"},
    )
    assert seen[2]["focus"] == seen[2]["rows"][0]["name"]
    assert seen[3]["open"]
    assert seen[3]["focus"] == seen[2]["focus"]
    assert seen[4]["open"] is None


def test_missing_data_are_reported_and_the_short_table_stays(play: Any) -> None:
    [seen] = play({"fail": "newest"}, open_(), silent=False)
    assert "missing" in seen["status"]
    assert seen["rows"]


def test_without_javascript_there_is_a_table_and_where_all_figures_are(site: Built) -> None:
    page = site.text("compare/index.html")
    short = json.loads((site.public / "compare" / "short.json").read_text("utf-8"))
    assert all(row[2] in page for row in short["rows"])
    [noscript] = re.findall(r"<noscript>.*?</noscript>", page, re.DOTALL)
    assert "data/index.csv" in noscript


@pytest.mark.any_site
def test_only_a_page_with_a_script_allows_scripts_of_its_own(site: Built) -> None:
    for page in site.pages():
        text = site.text(page)
        assert ("script-src 'self'" in text) == ("<script" in text), page
    assert "<script" in site.text("compare/index.html")


def test_a_library_leads_to_compare_with_itself_picked(site: Built) -> None:
    page = site.text("libraries/openssl/index.html")
    assert 'compare/?a=openssl&amp;b=rustls"' in page
    assert f'compare/?a={OPENSSL}"' in page
    assert f"perf/{OLD}/" in page
