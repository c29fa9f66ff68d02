"""A metric is added by its entry alone: tables, ratios, changes and charts follow."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from fixture_run import ROOT

ENTRY = """\
    "allocations": MetricDefinition(
        noun="allocations",
        units={"handshake": ("allocations/handshake",)},
        better="lower",
        words=("fewer", "more"),
        order=70,
        whole=True,
        same_within=1.0,
        caption="Calls of the allocator",
        caution="Memory that a library gets otherwise is not counted",
    ),
"""
SCRIPT = """\
import json
from synthetic import HANDSHAKES, loaded_run, report_of
from tlsperf.analysis.changes import changes
from tlsperf.load.run import LoadedRun
from tlsperf.publish.schema import schema_text

def report(run, openssl):
    rates = {"openssl-3": {HANDSHAKES[0]: [openssl]}, "rustls-1": {HANDSHAKES[0]: [300]}}
    made = loaded_run(run, rates)
    frame = made.frame.assign(metric="allocations", unit="allocations/handshake")
    return report_of(LoadedRun(made.run, frame), baseline="openssl-3")

now = report("2026-11-21-a", 500)
[table] = now.results.tables
[row] = table.rows
print(json.dumps({
    "table": [table.anchor, table.title, table.unit, table.better],
    "anchor": row.anchor,
    "cells": [[cell.text, cell.ratio.text if cell.ratio else None] for cell in row.cells],
    "changes": changes(report("2026-11-20-a", 600), now).libraries[0].statement,
    "schema": '"allocations/handshake"' in schema_text("record"),
}))
"""


def test_an_entry_is_all_that_a_metric_needs(tmp_path: Path) -> None:
    source = tmp_path / "tools" / "src"
    shutil.copytree(ROOT / "tools" / "src", source)
    (tmp_path / "data").mkdir()
    shutil.copy(ROOT / "data" / "libraries.toml", tmp_path / "data")
    for path in (ROOT / "bench" / "libraries").glob("*/library.toml"):
        copied = tmp_path / path.relative_to(ROOT)
        copied.parent.mkdir(parents=True)
        shutil.copy(path, copied)
    metrics = source / "tlsperf" / "contract" / "metrics.py"
    text = metrics.read_text(encoding="utf-8")
    last = '    "instructions": MetricDefinition('
    assert text.count(last) == 1
    metrics.write_text(text.replace(last, ENTRY + last), encoding="utf-8")
    folders = os.pathsep.join([str(source), str(Path(__file__).parent)])
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env=os.environ | {"PYTHONPATH": folders},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout) == {
        "table": [
            "allocations-per-handshake",
            "Allocations per handshake",
            "allocations/handshake",
            "lower",
        ],
        "anchor": "full-handshake-1-2-rsa-2048-client-allocations",
        "cells": [["500", None], ["300", "1.67x fewer (1.67 to 1.67)"]],
        "changes": "OpenSSL 3, the same version: 1 faster, 0 slower, 0 the same of 1",
        "schema": True,
    }
