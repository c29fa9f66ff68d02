"""The codes of warnings are those of data/schema/warnings.json, in the schema as in the code."""

from __future__ import annotations

import json
import re
from typing import get_args

from fixture_run import ROOT
from tlsperf.contract.warnings import WarningCode

SCHEMA = ROOT / "data" / "schema"
LISTED = json.loads((SCHEMA / "warnings.json").read_text(encoding="utf-8"))["codes"]


def test_the_codes_are_those_of_the_file_in_its_order() -> None:
    assert list(get_args(WarningCode)) == [entry["code"] for entry in LISTED]


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
