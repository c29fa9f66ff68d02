"""The codes of warnings in data/schema/warnings.json, the schema and the code agree."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import get_args

import pytest

from fixture_run import ROOT
from tlsperf.contract.results import Results
from tlsperf.contract.warnings import WEIGHTS, WarningCode, Weight
from tlsperf.load.formats import FOREIGN

SCHEMA = ROOT / "data" / "schema"
LISTED = json.loads((SCHEMA / "warnings.json").read_text(encoding="utf-8"))["codes"]


def test_the_codes_are_those_of_the_file_in_its_order() -> None:
    assert list(get_args(WarningCode)) == [entry["code"] for entry in LISTED]


def test_the_weights_are_those_of_the_file() -> None:
    assert dict(WEIGHTS) == {entry["code"]: entry["weight"] for entry in LISTED}
    assert {entry["weight"] for entry in LISTED} == set(get_args(Weight))


@pytest.mark.parametrize("path", sorted((ROOT / "content/perf").glob("*/results.json")), ids=str)
def test_a_report_with_imported_figures_states_first_why_they_cannot_be_compared(
    path: Path,
) -> None:
    results = Results.model_validate_json(path.read_bytes())
    imported = any(file.format in FOREIGN for run in results.runs for file in run.files)
    messages = [w.message for w in results.warnings if w.code == "incomparable"]
    assert bool(messages) == imported
    assert sum("2 programs, openssl-bench and rustls' bench" in m for m in messages) == imported
    text = path.with_name("index.md").read_text(encoding="utf-8")
    in_short = text.partition("\n## ")[2].partition("\n## ")[0]
    assert in_short.startswith("In short\n")
    assert "\n{{ warnings() }}\n" in in_short
    assert "\n{{ host() }}\n" in text


def test_the_series_on_the_server_states_why_it_is_not_comparable() -> None:
    path = ROOT / "content/perf/2026-03-07-x86-64/results.json"
    warnings = Results.model_validate_json(path.read_bytes()).warnings
    assert [w.message.partition(",")[0].partition(":")[0] for w in warnings] == [
        "rustls ran with jemalloc",
        "rustls' clients verified the server's certificate",
        "The figures are of 2 programs",
        "The figures have no interval (one run)",
    ]


def test_the_schema_of_a_run_has_no_other_code() -> None:
    schema = json.loads((SCHEMA / "run.schema.json").read_text(encoding="utf-8"))
    assert schema["$defs"]["RunWarning"]["properties"]["code"]["enum"] == list(
        get_args(WarningCode)
    )


def test_every_code_that_these_tools_write_is_in_their_source() -> None:
    source = "".join(
        path.read_text(encoding="utf-8")
        for path in (ROOT / "tools" / "src").rglob("*.py")
        if path.name != "warnings.py"
    )
    written = [entry["code"] for entry in LISTED if entry["written_by"] == "tlsperf"]
    assert [code for code in written if not re.search(f'"{code}"', source)] == []
