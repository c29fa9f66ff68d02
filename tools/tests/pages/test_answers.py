"""Each question is answered by figures of results.json, computed here by the published formulas.

The pages are read in Chromium, as a reader has them; nothing of the tools computes a figure here.
"""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pages.conftest import Browser, Built

pytestmark = [pytest.mark.browser, pytest.mark.zola, pytest.mark.any_site]

QUESTIONS = ("server", "post-quantum", "upgrade", "memory", "scaling", "tail", "cores")
MEBIBYTES_OF_A_GIGABIT = 1e9 / 8 / (1 << 20)


class Line(NamedTuple):
    """A line of a table of a question: its name, the texts of its cells, and where they lead."""

    table: str
    label: str
    texts: list[str]
    links: list[str | None]


class Rows:
    """The rows of a report's results.json, by anchor and label."""

    def __init__(self, site: Built, report: str) -> None:
        results = json.loads(site.text(f"perf/{report}/results.json"))
        labels = {i["id"]: i["label"] for i in results["implementations"]}
        self.cells = {
            (row["anchor"], labels[cell["implementation"]]): cell
            for table in results["tables"]
            for row in table["rows"]
            for cell in row["cells"]
        }

    def has(self, anchor: str) -> bool:
        return any(anchor == of for of, _ in self.cells)

    def value(self, anchor: str, label: str) -> float:
        """NaN where a library does not support what the row measures."""
        return float(self.cells[anchor, label].get("value", math.nan))


@pytest.fixture(scope="module")
def answers(served: str, browser: Browser) -> dict[str, dict[str, Any]]:
    """What Chromium shows of each question."""
    pages = [f"questions/{question}/" for question in QUESTIONS]
    seen = browser.ask("look", base=served, pages=pages, views=[(1280, "light")])
    return dict(zip(QUESTIONS, seen, strict=True))


@pytest.fixture(scope="module")
def upgrades(served: str, site: Built, browser: Browser) -> list[dict[str, Any]]:
    """What a phone shows of each upgrade."""
    pages = [
        page.removesuffix("index.html")
        for page in site.pages()
        if re.fullmatch(r"upgrades/[^/]+/index\.html", page)
    ]
    assert pages
    seen: list[dict[str, Any]] = browser.ask(
        "look", base=served, pages=pages, views=[(320, "light")]
    )
    return seen


def lines_of(seen: dict[str, Any]) -> list[Line]:
    return [Line(**line) for line in seen["sheets"]]


def place(link: str | None) -> tuple[str, str]:
    """Report and anchor of a figure's row."""
    found = re.fullmatch(r"\.\./\.\./perf/([^/]+)/#(.+)", link or "")
    assert found is not None, link
    return found[1], found[2]


def numbers(answer: list[str], pattern: str) -> set[str]:
    return {number for sentence in answer for number in re.findall(pattern, sentence)}


def test_each_question_has_an_answer_in_sentences(answers: dict[str, Any]) -> None:
    for question, seen in answers.items():
        assert seen["answers"], question
        assert all(len(sentence) > 40 for sentence in seen["answers"]), question


@pytest.mark.parametrize("question", ["server", "memory", "tail", "scaling"])
def test_every_figure_that_leads_to_a_row_is_that_of_the_row(
    question: str, answers: dict[str, Any], site: Built
) -> None:
    found = 0
    for line in lines_of(answers[question]):
        for text, link in zip(line.texts, line.links, strict=True):
            if link is None:
                continue
            report, anchor = place(link)
            cell = Rows(site, report).cells[anchor, line.label]
            assert text.split(" ")[0] == cell["text"], line
            found += 1
    assert found


def test_scaling_is_the_rate_of_two_threads_over_that_of_one(
    answers: dict[str, Any], site: Built
) -> None:
    seen = answers["scaling"]
    factors = set()
    for line in lines_of(seen):
        (report, one), (_, two) = place(line.links[0]), place(line.links[1])
        rows = Rows(site, report)
        factor = rows.value(two, line.label) / rows.value(one, line.label)
        assert line.texts[-1] == f"{factor:.{1 if factor < 10 else 0}f}x", line
        factors.add(line.texts[-1].removesuffix("x"))
    said = numbers(seen["answers"], r"\d+\.\d\b(?= to| times)")
    assert said
    assert said <= factors


def cores_of(table: str, rate: dict[str, float]) -> list[float]:
    """A line of the tables about cores, from the rates of one core."""
    gigabit = MEBIBYTES_OF_A_GIGABIT / rate["sending"]
    if table == "costs":
        return [*(1000 / rate[kind] for kind in ("ecdsa-p256", "rsa-2048", "resumed")), gigabit]
    full = rate[table.removeprefix("example-")]
    return [
        10_000 * ((1 - share) / full + share / rate["resumed"]) + 10 * gigabit
        for share in (0, 0.5, 0.9)
    ]


def test_cores_follow_the_formula_that_the_page_shows(answers: dict[str, Any], site: Built) -> None:
    seen = answers["cores"]
    reports = list(dict.fromkeys(re.findall(r"perf/([^/]+)/", seen["source"])))
    hosts = [Rows(site, report) for report in reports]
    sending = "transfer-1-3-aes-256-gcm{}-sending"
    in_flight = sending.format("-64-kib-in-flight")
    anchors = {
        "ecdsa-p256": "full-handshake-1-3-ecdsa-p256-x25519-server",
        "rsa-2048": "full-handshake-1-3-rsa-2048-x25519-server",
        "resumed": "resumed-handshake-1-3-ticket-x25519-server",
    }
    shown = 0
    half: list[list[str]] = [[] for _ in hosts]
    for line in lines_of(seen):
        table, _, number = line.table.partition("-host-")
        rows = hosts[int(number or 1) - 1]
        anchors["sending"] = in_flight if rows.has(in_flight) else sending.format("")
        rate = {name: rows.value(anchor, line.label) for name, anchor in anchors.items()}
        for text, exact in zip(line.texts, cores_of(table, rate), strict=True):
            if math.isnan(exact):
                assert text == "–", line
                continue
            digits = len(text.partition(".")[2])
            assert float(text) == pytest.approx(exact, abs=0.51 * 10**-digits), line
            shown += 1
        if table == "example-ecdsa-p256":
            half[int(number or 1) - 1].append(line.texts[1])
    assert shown
    for answer, cores in zip(seen["answers"], half, strict=True):
        said = re.findall(r"([\d.]+) to ([\d.]+) cores", answer)
        assert said == [(min(cores, key=float), max(cores, key=float))]


def test_each_upgrade_has_the_figures_and_verdicts_of_its_report(
    upgrades: list[dict[str, Any]], site: Built, root: Path
) -> None:
    for seen in upgrades:
        pairs = json.loads((root / "content" / seen["page"] / "upgrade.json").read_text("utf-8"))
        results = json.loads(site.text(f"perf/{pairs['report']['id']}/results.json"))
        compared = json.loads(site.text(f"perf/{pairs['report']['id']}/comparisons.json"))["rows"]
        ids = {i["label"]: i["id"] for i in results["implementations"]}
        tables = {row["anchor"]: t["anchor"] for t in results["tables"] for row in t["rows"]}
        rows = Rows(site, results["id"])
        found = re.fullmatch(r"From (.+) to (.+): of (\d+) tasks?, (.+)\.", seen["lead"])
        assert found is not None, seen["lead"]
        before, after, count, verdicts = found.groups()
        lines = lines_of(seen)
        assert len(lines) == int(count)
        shown = []
        for line in lines:
            anchor = (line.links[2] or "").partition("#")[2]
            cells = [rows.cells[anchor, label]["text"] for label in (before, after)]
            _, verdict, text = compared[f"{tables[anchor]} {anchor}"][ids[before]][ids[after]]
            assert line.texts == [*cells, text], line
            shown.append(verdict)
        for verdict in ("faster", "slower"):
            said = re.search(rf"{verdict} in (\d+)", verdicts)
            assert shown.count(verdict) == (int(said[1]) if said else 0), seen["lead"]
        said = re.search(r"no difference shown in (\d+)( \([\d to]+% would show\))?$", verdicts)
        assert shown.count("no difference shown") == (int(said[1]) if said else 0), verdicts
