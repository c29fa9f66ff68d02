"""The schemas reject impossible results, and texts that do not match their values."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest
from pydantic import TypeAdapter, ValidationError

from project import ROOT
from tlsperf.contract.agreement import agrees
from tlsperf.contract.record import Record
from tlsperf.contract.results import Results
from tlsperf.contract.run import Run

SCHEMA = ROOT / "data" / "schema"
RESULTS = json.loads((SCHEMA / "results.example.json").read_text(encoding="utf-8"))
RUN = tomllib.loads((SCHEMA / "run.example.toml").read_text(encoding="utf-8"))
RECORDS = [
    json.loads(line)
    for line in (SCHEMA / "record.example.jsonl").read_text(encoding="utf-8").splitlines()
]
MEASUREMENT = next(record for record in RECORDS if record["kind"] == "measurement")
MEASUREMENT["per_thread"] = [1.0, 2.0]

Change = Callable[[Any], None]


def cell(results: Any) -> Any:
    """The first cell with a ratio and an interval."""
    rows = (row for table in results["tables"] for row in table["rows"])
    return next(c for row in rows for c in row["cells"] if c.get("ratio") and c.get("interval"))


def at(place: Callable[[Any], Any], **values: object) -> Change:
    def change(document: Any) -> None:
        found = place(document)
        assert set(values) <= set(found)
        found.update(values)

    return change


def refused_by_schema(name: str, document: Any) -> bool:
    schema = json.loads((SCHEMA / f"{name}.schema.json").read_text(encoding="utf-8"))
    return not jsonschema.Draft202012Validator(schema).is_valid(document)


@pytest.mark.parametrize(
    "change",
    [
        at(cell, value=-1.0),
        at(cell, low=-1.0),
        at(cell, count=0),
        at(cell, spread_percent=-0.1),
        at(lambda results: cell(results)["ratio"], value=0.0),
        at(lambda results: cell(results)["ratio"], low=-1.0),
    ],
)
def test_both_schemas_reject_impossible_results(change: Change) -> None:
    document = json.loads(json.dumps(RESULTS))
    assert not refused_by_schema("results", document)
    Results.model_validate(document)
    change(document)
    assert refused_by_schema("results", document)
    with pytest.raises(ValidationError):
        Results.model_validate(document)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (at(cell, low=9e9), "low up to high, not 9e+09 and"),
        (at(cell, high=None), "both low and high, or neither"),
        (at(cell, text="1"), "a text of"),
        (at(cell, text="–"), "a text of"),
        (at(cell, value=None, low=None, high=None), "no figure without a value"),
        (at(cell, interval="1 to 2"), "an interval of"),
        (at(cell, interval=None), "an interval of"),
        (at(lambda results: cell(results)["ratio"], low=9.0), "low up to high"),
        (at(lambda results: cell(results)["ratio"], text="1.07x faster"), "a text"),
        (at(cell, implementation="another"), "implementations of the report, not another"),
        (at(lambda results: results["tables"][0], baseline="another"), "report, not another"),
        (at(lambda results: results, baseline="another"), "report, not another"),
    ],
)
def test_results_that_contradict_themselves_are_rejected(change: Change, message: str) -> None:
    document = json.loads(json.dumps(RESULTS))
    change(document)
    with pytest.raises(ValidationError) as error:
        Results.model_validate(document)
    assert message in str(error.value)


def test_two_swapped_figures_are_rejected() -> None:
    document = json.loads(json.dumps(RESULTS))
    cells = document["tables"][0]["rows"][0]["cells"]
    cells[0]["value"], cells[1]["value"] = cells[1]["value"], cells[0]["value"]
    with pytest.raises(ValidationError, match="a text of"):
        Results.model_validate(document)


@pytest.mark.parametrize(
    "change",
    [
        at(lambda record: record["observations"][0], value=-1.0),
        at(lambda record: record, per_thread=[1.0, -1.0]),
        at(lambda record: record, operations=0),
        at(lambda record: record, round=0),
    ],
)
def test_both_schemas_reject_impossible_records(change: Change) -> None:
    document = json.loads(json.dumps(MEASUREMENT))
    assert not refused_by_schema("record", document)
    change(document)
    assert refused_by_schema("record", document)
    with pytest.raises(ValidationError):
        TypeAdapter(Record).validate_python(document)


def test_the_files_of_a_run_are_of_its_implementations() -> None:
    table = {**RUN, "files": [{**RUN["files"][0], "implementation": "another-1.0"}]}
    with pytest.raises(ValidationError, match=r"implementations of the run, not another-1\.0"):
        Run.model_validate(table)


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [
        ("8,134", [8134.4], True),
        ("8,134", [8134.6], False),
        ("78.70", [78.704], True),
        ("78.70", [78.706], False),
        ("8,053 to 8,215", [8053.2, 8214.9], True),
        ("8,053 to 8,215", [8214.9, 8053.2], False),
        ("1.70x faster (1.68 to 1.72)", [1.7, 1.68, 1.72], True),
        ("1.70x faster (1.68 to 1.72)", [1.7, 1.68], False),
        ("–", [], True),
        ("–", [0.0], False),
    ],
)
def test_a_text_agrees_to_the_printed_digit(text: str, values: list[float], expected: bool) -> None:
    assert agrees(text, *values) is expected
