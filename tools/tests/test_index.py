"""The index of all results, and the lists of reports that pages load."""

from __future__ import annotations

import csv
import io
import json
from datetime import date
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from project import EXAMPLE, ROOT
from reports import reports
from synthetic import OF_SERVER, loaded_run
from tlsperf.contract.results import Results
from tlsperf.contract.run import Report
from tlsperf.load.config import Site
from tlsperf.load.page import Page
from tlsperf.publish.index import index_files, reports_json


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
    keys = ("report", "hosts", "anchor", "phase", "statistic", "implementation", "name", "label")
    names = ("value", "unit", "low", "high", "rounds", "valid", "note")
    expected = []
    for results in shown_results(root):
        hosts = [host.id for host in results.hosts]
        labels = {i.id: i.label for i in results.implementations}
        expected += [
            [
                *(results.of, hosts, row.anchor, row.phase, row.statistic, cell.implementation),
                *(row.name, labels[cell.implementation], cell.value, table.unit),
                *(cell.low, cell.high, cell.count, cell.valid, cell.note),
            ]
            for table in results.tables
            if not table.by_phase
            for row in table.rows
            for cell in row.cells
            if cell.value is not None
        ]
    found = [[of.get(key) for key in (*keys, *names)] for of in index]
    assert sorted(found, key=repr) == sorted(expected, key=repr)
    dates = [of["date"] for of in index]
    assert dates == sorted(dates, reverse=True)
    assert len(set(dates)) > 2


def shown_results(root: Path) -> list[Results]:
    """The parts of the reports that pages over all reports show."""
    parts = [of.results for of in reports(root)]
    return [of for of in parts if any(run.suite != "quick" for run in of.runs)]


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
    files = index_files([Results.model_validate(table)], Site(title="A site", description=""))
    assert [of["valid"] for of in indexed(files["index.json"]) if of.get("note") == reason] == [
        False
    ]
    rows = [r for r in csv.DictReader(io.StringIO(files["index.csv"])) if r["note"] == reason]
    assert [r["valid"] for r in rows] == ["false"]


def test_the_list_of_reports_has_all_but_first_looks_and_marks_one() -> None:
    suites = {
        "2026-03-01": "quick",
        "2026-02-01": "other",
        "2026-01-01": "main",
        "2025-01-01": "main",
    }
    runs = {
        day: loaded_run(
            day, {"rustls-1": {OF_SERVER: 1.0}}, suite={"name": name, "family": name}
        ).run
        for day, name in suites.items()
    }
    pages = [page(day) for day in sorted(suites)]
    listed = json.loads(reports_json(pages, runs))
    assert [(of["date"], of["featured"]) for of in listed] == [
        *(("2026-02-01", False), ("2026-01-01", True), ("2025-01-01", False))
    ]
    assert [of["title"] for of in listed] == [f"Report of {of['date']}" for of in listed]
    lines = reports_json(pages, runs).splitlines()
    assert len([line for line in lines if '"id"' in line]) == len(listed), "a line a report"


def page(day: str) -> Page:
    """The page of a report on the run of a day."""
    when = date.fromisoformat(day)
    of = Report(id=f"{day}-x", title=f"Report of {day}", date=when, runs=[day])
    return Page(Path(of.id, "index.md"), "", "", "", {}, [], [of], {})


@pytest.mark.any_site
def test_an_anchor_of_a_table_means_one_unit_in_all_reports(root: Path) -> None:
    units: dict[str, set[str]] = {}
    for results in shown_results(root):
        for table in results.tables:
            units.setdefault(table.anchor, set()).add(table.unit)
    assert units
    assert {anchor: found for anchor, found in units.items() if len(found) > 1} == {}
