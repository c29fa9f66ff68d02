"""The index of all results has every value of every report's results.json."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from fixture_run import EXAMPLE, ROOT
from test_overviews import report
from tlsperf.contract.results import Results
from tlsperf.publish.index import index_files


def reports(root: Path) -> Iterator[dict[str, Any]]:
    """The results of each report that the index has."""
    replaced = {entry["id"] for entry in json.loads((root / "data/replaced.json").read_bytes())}
    for path in sorted((root / "content" / "perf").glob("*/results.json")):
        if path.parent.name not in replaced:
            yield json.loads(path.read_bytes())


def indexed(text: bytes | str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(text)["results"]
    assert found
    return found


@pytest.mark.any_site
def test_the_index_is_valid_by_its_published_schema(root: Path) -> None:
    schema = json.loads((ROOT / "data/schema/index.schema.json").read_bytes())
    index = json.loads((root / "data" / "index.json").read_bytes())
    jsonschema.Draft202012Validator(schema).validate(index)


@pytest.mark.any_site
def test_every_value_of_every_report_is_there_and_the_newest_report_comes_first(root: Path) -> None:
    index = indexed((root / "data" / "index.json").read_bytes())
    keys = ("report", "anchor", "phase", "statistic", "implementation")
    assert {
        tuple(of[key] for key in keys): (of["value"], of["unit"], of.get("low")) for of in index
    } == {
        (results["id"], row["anchor"], row["phase"], row["statistic"], cell["implementation"]): (
            *(cell["value"], table["unit"], cell.get("low")),
        )
        for results in reports(root)
        for table in results["tables"]
        for row in table["rows"]
        for cell in row["cells"]
        if "value" in cell
    }
    dates = [of["date"] for of in index]
    assert dates == sorted(dates, reverse=True)
    assert len(set(dates)) > 2


def as_text(value: object) -> str:
    """A value of index.json as index.csv has it."""
    if isinstance(value, list):
        return " ".join(value)
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


@pytest.mark.any_site
def test_csv_and_json_have_the_same_results(root: Path) -> None:
    rows = csv.DictReader(io.StringIO((root / "data" / "index.csv").read_text(encoding="utf-8")))
    for row, of in zip(rows, indexed((root / "data" / "index.json").read_bytes()), strict=True):
        assert set(of) <= set(row)
        assert row == {name: as_text(of.get(name)) for name in row}


def test_an_invalid_value_states_the_reason() -> None:
    table = json.loads(EXAMPLE.read_bytes())
    cells = [c for t in table["tables"] for r in t["rows"] for c in r["cells"]]
    reason = "a reason, with a comma"
    next(c for c in cells if "value" in c).update(valid=False, note=reason)
    files = index_files([Results.model_validate(table)], [])
    assert [of["valid"] for of in indexed(files["index.json"]) if of.get("note") == reason] == [
        False
    ]
    rows = [r for r in csv.DictReader(io.StringIO(files["index.csv"])) if r["note"] == reason]
    assert [r["valid"] for r in rows] == ["false"]


def test_replaced_reports_have_a_list_of_their_files_and_no_results_in_the_index() -> None:
    (_, shown), (_, replaced) = (
        report(day, {"rustls-1": 1}) for day in ("2026-01-01", "2025-01-01")
    )
    files = index_files([shown], [], [replaced])
    assert [of["id"] for of in json.loads(files["reports.json"])] == [shown.id]
    assert {of["report"] for of in indexed(files["index.json"])} == {shown.id}
    [entry] = json.loads(files["replaced.json"])
    assert (entry["id"], entry["featured"]) == (replaced.id, False)
    assert [run["id"] for run in entry["runs"]] == [run.id for run in replaced.runs]


@pytest.mark.any_site
def test_an_anchor_of_a_table_means_one_unit_in_all_reports(root: Path) -> None:
    units: dict[str, set[str]] = {}
    for results in reports(root):
        for table in results["tables"]:
            units.setdefault(table["anchor"], set()).add(table["unit"])
    assert units
    assert {anchor: found for anchor, found in units.items() if len(found) > 1} == {}
