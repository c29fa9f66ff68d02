"""The prose of each report changes with its results.json."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reports import reports
from tlsperf.analysis.prices import lost_of
from tlsperf.analysis.ratios import as_ratio, inverted
from tlsperf.analysis.statistics import RatioEstimate
from tlsperf.contract.errors import FormatError
from tlsperf.contract.metrics import METRICS
from tlsperf.contract.results import Ratio, Results
from tlsperf.contract.text import value_text
from tlsperf.load.page import Page
from tlsperf.report.statements import statements

BETTER_OR_WORSE = {word for metric in METRICS.values() for word in metric.words}


def said(results: Results, page: Page) -> dict[str, str]:
    """The sentences of a page with these results; those of other reports stay as they are."""
    others = {of.id: of for _, of in reports(page.path.parents[3])}
    found = statements(results, page.calls, others.get)
    return {statement.key: statement.text for statement in found}


def raw(page: Page) -> Any:
    """The content of a results.json, which a test may change."""
    return json.loads(page.path.with_name("results.json").read_text(encoding="utf-8"))


def rows(made: Any) -> Iterator[Any]:
    return (row for table in made["tables"] for row in table["rows"])


def ratios(made: Any) -> Iterator[Any]:
    yield from (c["ratio"] for row in rows(made) for c in row["cells"] if "ratio" in c)
    yield from (comparison["ratio"] for comparison in made["comparisons"])


def turned(ratio: Any, metric: str) -> Any:
    return json.loads(inverted(Ratio.model_validate(ratio), metric).model_dump_json())


@pytest.mark.any_site
def test_the_sentences_are_those_of_the_figures(root: Path) -> None:
    for page, results in reports(root):
        found = {statement.key: statement.text for statement in results.statements}
        assert found
        assert said(results, page) == found, page.path


def swapped(page: Page, one: str, other: str) -> Results:
    """The results with the figures of two implementations exchanged."""
    made = raw(page)
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
    """The pairs of implementations that the prose compares; of a rank, its first two."""
    of_anchor = {row.anchor: (table, row) for table in results.tables for row in table.rows}
    found = set()
    for call in page.calls:
        if call.name == "rank":
            table, row = of_anchor[call.arguments["row"]]
            cells = sorted((cell for cell in row.cells if cell.value), key=lambda c: c.value or 0)
            first, second, *_ = cells[::-1] if table.better == "higher" else cells
            found.add((first.implementation, second.implementation))
        given = call.arguments
        names = [given.get(n, "") for n in ("implementation", "before", "after", "over")]
        named = [name for name in names if name]
        if len(named) == 1 and call.name in ("ratio", "verdict", "agree", "extreme"):
            named.append(results.baseline or "")
        if len(named) == 2 and call.name != "figure":
            found.add((named[0], named[1]))
    return found


@pytest.mark.any_site
def test_two_libraries_that_change_places_change_the_text(root: Path) -> None:
    found = 0
    for page, results in reports(root):
        before = said(results, page)
        pairs = compared(results, page)
        assert bool(pairs) == (len(results.implementations) > 1), page.path
        for one, other in pairs:
            try:
                after = said(swapped(page, one, other), page)
            except FormatError:  # one of them has no figure there: the check fails
                continue
            assert after != before, f"{page.path}: {one} and {other}"
            found += 1
    assert found


NONE = "no difference shown"


@pytest.mark.any_site
def test_an_interval_that_includes_1_removes_the_verdict_from_each_sentence(root: Path) -> None:
    verdicts = best = 0
    for page, results in reports(root):
        made = raw(page)
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
                verdicts += 1
            if "best is" in text:
                assert "tied are" in after[key], after[key]
                best += 1
    assert verdicts
    assert best


def words_of(text: str) -> set[str]:
    return set(text.replace("(", " ").replace(";", " ").split())


@pytest.mark.any_site
def test_a_figure_that_moves_changes_the_text(root: Path) -> None:
    found = 0
    for page, results in reports(root):
        before, after = said(results, page), said(moved(page), page)
        # Sentences that say that rows agree, or that none differs, have no figure.
        none = {key for key in before if key.startswith("standing") and "up to" not in before[key]}
        none |= {key for key in before if key.startswith("absent")}
        none |= {key for key in before if key.startswith("losses") and "%" not in before[key]}
        with_figures = [key for key in before if not key.startswith("agree") and key not in none]
        same = [key for key in with_figures if after[key] == before[key]]
        equal = ("1.00x", "(1.00 to 1.00)")  # squaring does not change these
        assert [key for key in same if not any(text in before[key] for text in equal)] == []
        found += len(with_figures)
    assert found


def moved(page: Page) -> Results:
    """The results with all figures larger, and all ratios further from 1."""
    made = raw(page)
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
    return Results.model_validate(made)


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
