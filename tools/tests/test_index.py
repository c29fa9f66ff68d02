"""The index of all results has every value of every report's results.json."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import jsonschema
import pytest

from fixture_run import EXAMPLE
from tlsperf.contract.index import Index, IndexedResult
from tlsperf.contract.results import Results
from tlsperf.publish.index import index_files

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def reports() -> list[Results]:
    paths = [*sorted((ROOT / "content" / "perf").glob("*/results.json")), EXAMPLE]
    return [Results.model_validate_json(path.read_text(encoding="utf-8")) for path in paths]


@pytest.fixture(scope="module")
def files(reports: list[Results]) -> dict[str, str]:
    return index_files(reports, [])


def test_the_index_is_valid_by_its_published_schema(files: dict[str, str]) -> None:
    schema = json.loads((ROOT / "data/schema/index.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(json.loads(files["index.json"]))


def test_every_value_of_every_report_is_there(
    files: dict[str, str], reports: list[Results]
) -> None:
    written = {
        (r.report, r.anchor, r.phase, r.statistic, r.implementation): (r.value, r.unit, r.low)
        for r in Index.model_validate_json(files["index.json"]).results
    }
    assert written == {
        (report.id, row.anchor, row.phase, row.statistic, cell.implementation): (
            *(cell.value, table.unit, cell.low),
        )
        for report in reports
        for table in report.tables
        for row in table.rows
        for cell in row.cells
        if cell.value is not None
    }


def test_an_invalid_value_states_the_reason(reports: list[Results]) -> None:
    table = json.loads(reports[-1].model_dump_json(by_alias=True))
    cells = [c for t in table["tables"] for r in t["rows"] for c in r["cells"]]
    reason = "a reason, with a comma"
    next(c for c in cells if c["value"] is not None).update(valid=False, note=reason)
    report = Results.model_validate(table)
    files = index_files([report], [])
    first = Index.model_validate_json(files["index.json"]).results
    assert [r.note for r in first if not r.valid and r.note == reason] == [reason]
    rows = [r for r in csv.DictReader(io.StringIO(files["index.csv"])) if r["note"] == reason]
    assert [r["valid"] for r in rows] == ["false"]


def test_replaced_reports_have_a_list_of_their_files_and_no_results_in_the_index(
    reports: list[Results],
) -> None:
    shown, replaced = reports[:-1], reports[-1:]
    files = index_files(shown, [], replaced)
    listed = [report["id"] for report in json.loads(files["reports.json"])]
    assert sorted(listed) == sorted(report.id for report in shown)
    results = Index.model_validate_json(files["index.json"]).results
    assert {result.report for result in results} == {report.id for report in shown}
    [entry] = json.loads(files["replaced.json"])
    assert entry["id"] == replaced[0].id
    assert [run["id"] for run in entry["runs"]] == [run.id for run in replaced[0].runs]
    assert not entry["featured"]


def test_csv_and_json_have_the_same_results(files: dict[str, str]) -> None:
    rows = list(csv.DictReader(io.StringIO(files["index.csv"])))
    assert list(rows[0]) == list(IndexedResult.model_fields)
    read = [
        IndexedResult.model_validate_json(
            json.dumps(
                {k: v for k, v in row.items() if v}
                | {k: float(row[k]) for k in ("value", "low", "high") if row[k]}
                | ({"rounds": int(row["rounds"])} if row["rounds"] else {})
                | {"hosts": row["hosts"].split(), "valid": row["valid"] == "true"}
            )
        )
        for row in rows
    ]
    assert read == Index.model_validate_json(files["index.json"]).results


def test_the_newest_report_comes_first(files: dict[str, str]) -> None:
    dates = [r.date for r in Index.model_validate_json(files["index.json"]).results]
    assert dates == sorted(dates, reverse=True)
    assert len(set(dates)) > 2


def test_an_anchor_of_a_table_means_one_unit_in_all_reports(reports: list[Results]) -> None:
    units: dict[str, set[str]] = {}
    for report in reports:
        for table in report.tables:
            units.setdefault(table.anchor, set()).add(table.unit)
    assert {anchor: found for anchor, found in units.items() if len(found) > 1} == {}
