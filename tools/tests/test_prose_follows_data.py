"""The prose of each committed report changes with its results.json."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from pages.fixture import ROOT
from tlsperf.analysis.prices import lost_of
from tlsperf.analysis.ratios import as_ratio, inverted
from tlsperf.analysis.statistics import RatioEstimate
from tlsperf.contract.errors import FormatError
from tlsperf.contract.metrics import METRICS
from tlsperf.contract.results import Ratio, Results
from tlsperf.contract.text import value_text
from tlsperf.load.page import Page, read_page
from tlsperf.load.results import read_results
from tlsperf.report.statements import statements

PAGES = sorted((ROOT / "content" / "perf").glob("*/index.md"))
BETTER_OR_WORSE = {word for metric in METRICS.values() for word in metric.words}


@cache
def committed(path: Path) -> tuple[Page, Results]:
    return read_page(path), read_results(path.parent / "results.json")


def other(report: str) -> Results | None:
    """The committed results of another report."""
    path = ROOT / "content" / "perf" / report / "index.md"
    return committed(path)[1] if path in PAGES else None


def said(results: Results, page: Page) -> dict[str, str]:
    found = statements(results, page.calls, other)
    return {statement.key: statement.text for statement in found}


def raw(path: Path) -> Any:
    """The content of the committed results.json, which a test may change."""
    return json.loads((path.parent / "results.json").read_text(encoding="utf-8"))


def rows(made: Any) -> Iterator[Any]:
    return (row for table in made["tables"] for row in table["rows"])


def ratios(made: Any) -> Iterator[Any]:
    yield from (c["ratio"] for row in rows(made) for c in row["cells"] if "ratio" in c)
    yield from (comparison["ratio"] for comparison in made["comparisons"])


def turned(ratio: Any, metric: str) -> Any:
    return json.loads(inverted(Ratio.model_validate(ratio), metric).model_dump_json())


every_report = pytest.mark.parametrize("path", PAGES, ids=lambda path: path.parent.name)


@every_report
def test_the_committed_sentences_are_those_of_the_committed_figures(path: Path) -> None:
    page, results = committed(path)
    assert statements(results, page.calls, other) == results.statements
    assert results.statements


def swapped(path: Path, one: str, other: str) -> Results:
    """The results with the figures of two implementations exchanged."""
    made = raw(path)
    names = {one: other, other: one}
    for row in rows(made):
        cells = {cell["implementation"]: cell for cell in row["cells"]}
        if set(names) <= set(cells):
            ours, theirs = dict(cells[one]), dict(cells[other])
            for cell, source in ((cells[one], theirs), (cells[other], ours)):
                name = cell["implementation"]
                cell.clear()
                cell.update(source | {"implementation": name})
            if made.get("baseline") in names:
                base = cells[made["baseline"]]
                partner = cells[names[made["baseline"]]]
                if "ratio" in base:
                    partner["ratio"] = turned(base.pop("ratio"), row["metric"])
    metrics = {row["anchor"]: row["metric"] for row in rows(made)}
    for comparison in made["comparisons"]:
        pair = [comparison["implementation"], comparison["over"]]
        if set(pair) == set(names):
            comparison["ratio"] = turned(comparison["ratio"], metrics[comparison["row"]])
    return Results.model_validate(made)


def compared(results: Results, page: Page) -> set[tuple[str, str]]:
    """The pairs of implementations that the prose compares."""
    found = set()
    for call in page.calls:
        if call.name == "rank":
            cells = next(
                row.cells
                for table in results.tables
                for row in table.rows
                if row.anchor == call.arguments["row"]
            )
            first, second, *_ = (cell.implementation for cell in cells if cell.value)
            found.add((first, second))
        given = call.arguments
        names = [given.get(n, "") for n in ("implementation", "before", "after", "over")]
        named = [name for name in names if name]
        if len(named) == 1 and call.name in ("ratio", "verdict", "agree", "extreme"):
            named.append(results.baseline or "")
        if len(named) == 2 and call.name != "figure":
            found.add((named[0], named[1]))
    return found


@every_report
def test_two_libraries_that_change_places_change_the_text(path: Path) -> None:
    page, results = committed(path)
    before = said(results, page)
    pairs = compared(results, page)
    assert bool(pairs) == (len(results.implementations) > 1)
    for one, other in pairs:
        try:
            after = said(swapped(path, one, other), page)
        except FormatError:  # one of them has no figure there: the check fails
            continue
        assert after != before, f"{one} and {other}"


@every_report
def test_an_interval_that_includes_1_removes_the_verdict_from_each_sentence(path: Path) -> None:
    page, results = committed(path)
    made = raw(path)
    for ratio in ratios(made):
        if ratio["verdict"] in ("faster", "slower"):
            ratio |= {"value": 1.0, "low": 0.99, "high": 1.01, "verdict": NONE}
            ratio["text"] = f"{NONE} (0.99 to 1.01)"
    for row in rows(made):
        for cell in row["cells"]:
            cell |= {"best": False, "tied": cell["best"] or cell["tied"]}
    before, after = said(results, page), said(Results.model_validate(made), page)
    assert set(before) == set(after)
    for key, text in before.items():
        assert not words_of(after[key]) & BETTER_OR_WORSE, after[key]
        if words_of(text) & BETTER_OR_WORSE:
            assert "no difference" in after[key], after[key]
        if "best is" in text:
            assert "tied are" in after[key], after[key]


NONE = "no difference shown"


def words_of(text: str) -> set[str]:
    return set(text.replace("(", " ").replace(";", " ").split())


@every_report
def test_a_figure_that_moves_changes_the_text(path: Path) -> None:
    page, results = committed(path)
    made = raw(path)
    metrics = {row["anchor"]: row["metric"] for row in rows(made)}
    for table in made["tables"]:
        for row in table["rows"]:
            for cell in row["cells"]:
                if "value" in cell:
                    cell["value"] = cell["value"] * 1.37 + 1  # so that 0 and 1 move too
                    cell["text"] = value_text(cell["value"], table["unit"])
                for bound in ("low", "high", "interval"):
                    cell.pop(bound, None)
                if "ratio" in cell:
                    cell["ratio"] = further(cell["ratio"], row["metric"])
        for effect in table.get("layouts", []):
            effect["text"] = f"{effect['text']}, moved"
    for comparison in made["comparisons"]:
        comparison["ratio"] = further(comparison["ratio"], metrics[comparison["row"]])
    for prices in made.get("prices", []):
        for cell in (cell for column in prices["columns"] for cell in column["cells"]):
            move_price(cell, prices["unit"])
    before, after = said(results, page), said(Results.model_validate(made), page)
    # Sentences that say that rows agree, or that none differs, have no figure.
    none = {key for key in before if key.startswith("standing") and "up to" not in before[key]}
    none |= {key for key in before if key.startswith("absent")}
    none |= {key for key in before if key.startswith("losses") and "%" not in before[key]}
    with_figures = [key for key in before if not key.startswith("agree") and key not in none]
    same = [key for key in with_figures if after[key] == before[key]]
    equal = ("1.00x", "(1.00 to 1.00)")  # squaring does not change these
    assert [key for key in same if not any(text in before[key] for text in equal)] == []


def move_price(cell: Any, unit: str) -> None:
    """Moves a figure of a price list, its segments, and its loss in the direction that it has."""
    if "value" in cell:
        cell["value"] = cell["value"] * 1.37 + 1
        cell["text"] = value_text(cell["value"], unit)
    if "segments" in cell:
        cell["segments"] += 1
    if "lost" in cell:
        lost = cell["lost"]
        low, high = (1 - lost[end] / 100 for end in ("high", "low"))
        value = 1 - lost["percent"] / 100
        moved = RatioEstimate(value**2, low**2, high**2, lost["verdict"], True, 0)
        cell["lost"] = json.loads(lost_of(moved).model_dump_json())


def further(ratio: Any, metric: str) -> Any:
    """A ratio that is further from 1, in the same direction."""
    numbers = {key: ratio[key] ** 2 for key in ("value", "low", "high") if key in ratio}
    estimate = RatioEstimate(
        value=numbers["value"],
        low=numbers.get("low"),
        high=numbers.get("high"),
        verdict=ratio["verdict"],
        paired=ratio["paired"],
        rounds=0,
    )
    return json.loads(as_ratio(estimate, metric).model_dump_json())
