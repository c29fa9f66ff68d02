"""Each figure and ratio of a report and of its page, computed again from the raw records."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from statistics import median
from typing import Any, Final

import pytest

from project import RUNS
from recomputed import (
    Cell,
    Rounds,
    Samples,
    cells_of,
    counted,
    numbers,
    parts_of,
    printed,
    quotient,
    rounds_of,
    samples,
    shows,
    steps,
)
from tlsperf.contract.metrics import METRICS

OURS: Final = frozenset(run.id for run in RUNS)


def measured(project: Path) -> list[tuple[dict[str, Any], Samples]]:
    """The parts that our harness measured, with their raw figures."""
    runs = [(part, [run["id"] for run in part["runs"]]) for part in parts_of(project)]
    return [(part, samples(project, of)) for part, of in runs if OURS.issuperset(of)]


def test_every_figure_of_a_report_is_that_of_its_rounds(project: Path) -> None:
    seen = derived = 0
    for part, raw in measured(project):
        left = {key for key in raw if key[2] != "overhead"}
        for table in part["tables"]:
            for row in table["rows"]:
                of_row = {}
                for cell in row["cells"]:
                    rounds = rounds_of(raw, table, row, cell["implementation"])
                    if rounds is None and table["unit"].endswith("/thread"):
                        derived += 1
                        continue
                    if rounds is None:
                        assert "value" not in cell
                        assert cell["text"] == "–"
                        assert cell["note"]
                        continue
                    of_row[cell["implementation"]] = rounds
                    check_figure(row, cell, rounds)
                    seen += 1
                for cell in (cell for cell in row["cells"] if "ratio" in cell):
                    check_ratio(part, table, row, cell, of_row)
                scenario = json.dumps(row["scenario"], sort_keys=True)
                kind = (row["phase"], row["metric"], row["statistic"], table["unit"])
                left -= {(scenario, *kind, build) for build in of_row}
        assert not left, (part["id"], next(iter(left)))
    assert seen > 1000 > derived > 0


def check_figure(row: dict[str, Any], cell: dict[str, Any], rounds: Rounds) -> None:
    values = counted(rounds)
    assert cell["valid"] is bool(values)
    values = values or [value for value, _ in rounds.values()]
    together = max(values) if row["statistic"] == "max" else median(values)
    assert cell["value"] == pytest.approx(together, rel=1e-6), row["name"]
    assert cell["count"] == len(values)
    assert shows(cell["text"], cell["value"])
    if "low" in cell:
        assert cell["low"] <= cell["value"] <= cell["high"] < 1.15 * cell["low"]
        assert printed(cell["interval"], cell["low"], cell["high"])


def check_ratio(
    part: dict[str, Any],
    table: dict[str, Any],
    row: dict[str, Any],
    cell: dict[str, Any],
    rounds: dict[str, Rounds],
) -> None:
    """A ratio is near the median of those of the rounds, and its verdict is what its interval says."""
    ratio, baseline = cell["ratio"], part["baseline"]
    assert table["baseline"] == baseline != cell["implementation"]
    if baseline not in rounds:
        return
    found = quotient(rounds[cell["implementation"]], rounds[baseline])
    if found:
        power = 1 if METRICS[row["metric"]].better == "higher" else -1
        assert ratio["value"] == pytest.approx(found**power, rel=0.015), row["name"]
    if ratio["verdict"] in ("faster", "slower") and "low" in ratio:
        above = ratio["low"] > 1
        assert above or ratio["high"] < 1
        assert (ratio["verdict"] == "faster") is above, row["name"]


def test_every_cell_of_a_page_is_that_of_its_rounds(project: Path) -> None:
    """Of several parts of one host, the first with a figure that counts, or else with any."""
    parts = {part["id"]: (part, raw) for part, raw in measured(project)}
    marks = set()
    seen = 0
    for path in (project / "content" / "perf").glob("*/page.json"):
        page = json.loads(path.read_bytes())
        hosts: dict[str, list[tuple[dict[str, Any], Samples]]] = {}
        for part in page["parts"]:
            hosts.setdefault(part["host"], []).append(parts.get(part["id"], ({}, {})))
        for key, table in page["tables"].items():
            for cell in [] if table.get("against") else cells_of(table):
                seen += check_shown(hosts[cell.host], key.split()[0], cell, table)
                marks.add(cell.shown.get("mark"))
    assert seen > 1000
    assert {"better", "worse", "same"} < marks


def check_shown(
    parts: list[tuple[dict[str, Any], Samples]], anchor: str, cell: Cell, of: dict[str, Any]
) -> bool:
    """Checks a cell against the rounds; whether they have its figure."""
    for part, raw in parts:
        builds = [i["id"] for i in part.get("implementations", ()) if i["label"] == cell.label]
        rows = [
            (table, row)
            for table in part.get("tables", ())
            for row in table["rows"]
            if (table["anchor"], row["anchor"]) == (anchor, cell.row)
        ]
        for table, row in rows if builds else ():
            ours = rounds_of(raw, table, row, builds[0])
            if not ours:
                continue
            values = counted(ours) or [value for value, _ in ours.values()]
            together = max(values) if row["statistic"] == "max" else median(values)
            assert shows(cell.shown["figure"], together), (part["id"], cell)
            assert cell.shown.get("invalid", False) is not bool(counted(ours))
            theirs = rounds_of(raw, table, row, part.get("baseline") or "")
            found = theirs and quotient(ours, theirs)
            if found and "ratio" in cell.shown:
                check_shown_ratio(cell, found if of["better"] == "higher" else 1 / found)
            return True
    return False


def check_shown_ratio(cell: Cell, found: float) -> None:
    """A ratio above 1 is better; `= 7%` says that it is within 7%, `=` that it is 1."""
    text, mark = cell.shown["ratio"], cell.shown.get("mark")
    [number] = numbers(text) or [1.0]
    if mark == "same":
        size = number / 100 if "%" in text else number - 1
        assert abs(math.log(found)) <= math.log(1 + size) + 0.015, cell
        return
    [step] = steps(text)
    assert abs(number - found) <= 0.501 * step + 0.015 * found, cell
    if mark:
        assert (mark == "better") is (found > 1), cell


@pytest.mark.any_site
def test_times_of_a_price_list_agree_with_its_losses_and_with_each_other(root: Path) -> None:
    seen = 0
    for part in parts_of(root):
        every = {row["anchor"]: (t, row) for t in part["tables"] for row in t["rows"]}
        times: dict[tuple[str, str], float] = {}
        firsts: dict[str, str] = {}
        for table in part.get("prices") or ():
            timed = table["unit"] == "µs"
            if timed:
                firsts.setdefault(table["rows"][0]["scenario"]["side"], table["rows"][0]["anchor"])
            own = {row["anchor"]: row["cells"] for row in table["rows"]}
            for row in table["rows"]:
                known = {c["implementation"]: c for c in every[row["anchor"]][1]["cells"]}
                of_before = {c["implementation"]: c for c in own.get(row.get("against"), ())}
                assert row["scenario"] == every[row["anchor"]][1]["scenario"]
                for cell in row["cells"]:
                    build = cell["implementation"]
                    of = known.get(build, {})
                    if not of.get("valid") or not of.get("value"):
                        assert cell["text"] == "–"
                        continue
                    assert shows(cell["text"], cell["value"])
                    if "interval" in cell:
                        assert printed(cell["interval"], cell["low"], cell["high"])
                    seen += 1
                    if not timed:
                        assert [cell.get(end) for end in ENDS] == [of.get(end) for end in ENDS]
                        continue
                    is_first = row["anchor"] in firsts.values()
                    near = pytest.approx(1e6 / of["value"], rel=1e-6 if is_first else 0.2)
                    assert cell["value"] == near, row["name"]
                    assert cell["value"] == times.setdefault((row["anchor"], build), cell["value"])
                    assert ("ratio" in cell) <= (build in of_before)
                    if "ratio" in cell:
                        check_loss(cell, of_before[build], table["dividing_percent"])
    assert seen or not any(part.get("prices") for part in parts_of(root))


ENDS: Final = ("value", "low", "high")


def check_loss(cell: dict[str, Any], before: dict[str, Any], percent: float) -> None:
    """What is lost is the paired ratio, and the times give the same."""
    ratio = cell["ratio"]
    [first], [after] = numbers(before["text"]), numbers(cell["text"])
    assert first / after == pytest.approx(ratio["value"], rel=percent / 100)
    if ratio["verdict"] == "slower":
        value, low, high = (ratio[end] for end in ("value", "high", "low"))
        assert " lost (" in ratio["text"]
        assert printed(ratio["text"], *(100 * (1 - it) for it in (value, low, high)))


@pytest.mark.any_site
def test_a_table_says_how_far_dividing_two_figures_is_from_their_ratio(root: Path) -> None:
    seen = 0
    for part in parts_of(root):
        for table in part["tables"]:
            if table["by_phase"]:
                continue
            apart = [0.0]
            for row in table["rows"]:
                if METRICS[row["metric"]].is_count:
                    continue
                of = {cell["implementation"]: cell for cell in row["cells"]}
                for cell in (cell for cell in row["cells"] if "ratio" in cell):
                    [ours], [theirs] = (numbers(it["text"]) for it in (cell, of[table["baseline"]]))
                    if ours and theirs:
                        quotient = ours / theirs if table["better"] == "higher" else theirs / ours
                        apart.append(100 * abs(quotient / cell["ratio"]["value"] - 1))
                        seen += 1
            assert max(apart) <= table.get("dividing_percent", 0) + 1e-4, table["anchor"]
            said = re.findall(r"dividing two figures gives up to ([\d.]+)%", table["caption"])
            assert said == [f"{table['dividing_percent']:g}"] if max(apart) > 0.5 else len(said) < 2
    assert seen > 100
