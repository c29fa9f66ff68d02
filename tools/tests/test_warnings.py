"""The codes of warnings in data/schema/warnings.json, the schema and the code agree."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import get_args

import pytest

from project import PUBLISHED, ROOT
from tlsperf.contract.warnings import ABOUT_HOST, WarningCode
from tlsperf.load.formats import FOREIGN

SCHEMA = ROOT / "data" / "schema"
LISTED = json.loads((SCHEMA / "warnings.json").read_text(encoding="utf-8"))["codes"]


def test_the_codes_are_those_of_the_file_in_its_order() -> None:
    assert list(get_args(WarningCode)) == [entry["code"] for entry in LISTED]


def test_the_weights_are_those_of_the_file() -> None:
    assert {entry["weight"] for entry in LISTED} == {"figures", "host"}
    assert {entry["code"] for entry in LISTED if entry["weight"] == "host"} == ABOUT_HOST


@pytest.mark.any_site
def test_a_report_with_imported_figures_says_why_they_cannot_be_compared(
    root: Path,
) -> None:
    seen = set()
    for path in sorted((root / "content" / "perf").glob("*/results.json")):
        results = json.loads(path.read_bytes())
        imported = any(
            file["format"] in FOREIGN for run in results["runs"] for file in run["files"]
        )
        codes = [warning["code"] for warning in results["warnings"]]
        assert ("incomparable" in codes) == imported, path
        shown = json.loads(path.with_name("page.json").read_bytes())["parts"]
        said = [text for part in shown for text in part["said"]["figures"]]
        because = [w["message"] for w in results["warnings"] if w["code"] == "incomparable"]
        assert [text for text in said if text in because] == because, path
        seen.add(imported)
    assert seen == {True, False}


def test_the_warning_names_the_programs_that_measured(project: Path) -> None:
    path = project / "content" / "perf" / PUBLISHED / "results.json"
    messages = [w["message"] for w in json.loads(path.read_bytes())["warnings"]]
    assert any("2 programs, openssl-bench and rustls' bench" in message for message in messages)


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
