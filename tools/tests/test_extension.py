"""The guides' examples add a library, a metric, a kind, a raw format and a chart.

One scratch copy of the repository follows all guides. The tests count the files that each changes,
and check that what it adds works. Files that `make generate` writes do not count.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from extension import ROOT, Checkout, copied
from project import NEW, PUBLISHED, WIDE

OTHER_GUIDES = ("add-a-metric", "add-a-scenario", "add-a-raw-format", "add-a-chart")
NEWTLS = "bench/libraries/newtls"
WORKLOADS = "bench/harness/src/workloads"
GENERATED = {
    *(f"data/schema/{name}.schema.json" for name in ("record", "run", "results", "index")),
    *("static/embed.css", "static/style.css"),
}


class Grown(NamedTuple):
    """The copy after every guide and `make generate`."""

    checkout: Checkout
    touched: dict[str, set[str]]
    """The files that each guide adds or changes."""

    @property
    def folder(self) -> Path:
        return self.checkout.folder

    def answers(self, program: str) -> Any:
        """What a Python program prints as JSON."""
        return json.loads(self.checkout.python("-c", program))

    def schema(self, name: str) -> dict[str, Any]:
        text = (self.folder / "data" / "schema" / f"{name}.schema.json").read_text("utf-8")
        definitions: dict[str, Any] = json.loads(text)["$defs"]
        return definitions


@pytest.fixture(scope="module")
def with_library(tmp_path_factory: pytest.TempPathFactory) -> Grown:
    """The copy after the first guide."""
    checkout = copied(tmp_path_factory.mktemp("grown"))
    touched = checkout.follow("add-a-library.md")
    shutil.copy(checkout.folder / "bench" / "Cargo.lock", checkout.folder / NEWTLS)
    return Grown(checkout, {"add-a-library": touched})


@pytest.fixture(scope="module")
def check_of_reports(with_library: Grown, project: Path) -> str:
    """What `tlsperf render --check` prints of reports with a library that is in none of them."""
    command = ("-m", "tlsperf", "render", "--check", NEW, WIDE, PUBLISHED)
    return with_library.checkout.python(*command, cwd=project)


@pytest.fixture(scope="module")
def grown(with_library: Grown, check_of_reports: str) -> Grown:
    """The copy after every guide and `make generate`."""
    checkout = with_library.checkout
    touched = {guide: checkout.follow(f"{guide}.md") for guide in OTHER_GUIDES}
    assert checkout.generate() <= GENERATED
    return Grown(checkout, with_library.touched | touched)


# --- a library: its folder ---------------------------------------------------------------------


def test_a_library_needs_only_its_folder(grown: Grown) -> None:
    touched = grown.touched["add-a-library"]
    assert {name.startswith(f"{NEWTLS}/") for name in touched} == {True}
    for name in ("run", "results"):
        assert '"newtls"' in json.dumps(grown.schema(name))


def test_a_new_library_changes_no_report_chart_or_picture(check_of_reports: str) -> None:
    assert check_of_reports == ""


def test_a_new_library_has_its_label_and_colours(grown: Grown) -> None:
    program = """
import json
from test_figures import DARK, LIGHT, test_colour_blind_readers_can_distinguish_libraries as distinct
from tlsperf.contract.text import shown
from tlsperf.load.importer import implementation_of
from tlsperf.report.charts.theme import CLASSES, COLOUR

new = shown(implementation_of("newtls-2.1.0"))
distinct(LIGHT)
distinct(DARK)
print(json.dumps({
    "shown": [new.library, new.label, new.colour],
    "chart": [CLASSES["#8a0df6"], LIGHT[new.colour], new.colour in COLOUR["scale"]["domain"]],
}))
"""
    assert grown.answers(program) == {
        "shown": ["newtls", "NewTLS 2.1.0", "newtls"],
        "chart": ["library-newtls", "#8a0df6", True],
    }
    style = (grown.folder / "static" / "style.css").read_text()
    for colour in ("#8a0df6", "#dd0c49"):
        assert style.count(f".library-newtls {{ --library: {colour}; }}") == 1


def test_a_new_library_is_built_and_tested(grown: Grown) -> None:
    def printed(*arguments: str) -> list[str]:
        return grown.checkout.python("scripts/libraries", *arguments).split()

    assert printed("id")[-1] == "newtls"
    assert "newtls" in printed("id", "own")
    assert "newtls" not in printed("id", "shared")
    assert "tls-newtls" in printed("programs")
    assert "libnewtls-dev" in printed("debian", "own")
    doctor = subprocess.run(
        [grown.folder / "scripts" / "doctor", "--quiet", "more-libraries"],
        capture_output=True,
        text=True,
    )
    assert doctor.returncode == 1
    assert re.search(r"NewTLS +missing: newtls-headers 2.1 or later", doctor.stderr)
    assert "apt-get install libnewtls-dev" in doctor.stderr


# --- a metric and a kind: an entry, and where they are measured --------------------------------


def test_a_metric_touches_two_files(grown: Grown) -> None:
    metrics = "tools/src/tlsperf/contract/metrics.py"
    assert grown.touched["add-a-metric"] == {metrics, f"{WORKLOADS}/memory.rs"}
    assert "slack" in grown.schema("record")["Observation"]["properties"]["metric"]["enum"]


def test_a_kind_touches_three_files(grown: Grown) -> None:
    assert grown.touched["add-a-scenario"] == {
        f"{WORKLOADS}/construction.rs",
        f"{WORKLOADS}/mod.rs",
        "tools/src/tlsperf/contract/operations.py",
    }
    operations = grown.schema("record")["Scenario"]["properties"]["operation"]["enum"]
    listed = (grown.folder / WORKLOADS / "mod.rs").read_text()
    values = ["".join(word.title() for word in operation.split("-")) for operation in operations]
    assert re.findall(r"^ +Operation::(\w+) => &\w+::\w+,$", listed, re.MULTILINE) == values
    assert operations[-1] == "construction"


def test_reports_show_a_new_metric_and_a_new_kind(grown: Grown) -> None:
    program = """
import json
from synthetic import loaded_run, report_of, with_each
from tlsperf.analysis.changes import changes
from tlsperf.contract.metrics import METRICS
from tlsperf.contract.record import Scenario

def report(run, openssl, **columns):
    handshake = Scenario(operation="handshake", protocol="1.3", side="client")
    rates = {"openssl-3": {handshake: [openssl] * 10}, "rustls-1": {handshake: [300] * 10}}
    made = loaded_run(run, rates)
    [unit] = METRICS[columns["metric"]].units_of(columns["operation"])[-1:]
    scenario = handshake.model_copy(update={"operation": columns["operation"]})
    changed = {"scenario": scenario, "metric": columns["metric"], "unit": unit}
    return report_of(with_each(made, lambda row: row._replace(**changed)), baseline="openssl-3")

def shown(before, **columns):
    now = report("2026-11-21-a", 500, **columns)
    [table] = now.results.tables
    [row] = table.rows
    found = changes(report("2026-11-20-a", before, **columns), now).libraries
    change = [of.statement for of in found if of.unchanged == 0]
    cells = [[cell.text, cell.ratio.text if cell.ratio else None] for cell in row.cells]
    head = [table.anchor, table.title, table.unit, table.better]
    return {"table": head, "row": [row.name, row.anchor], "cells": cells, "changes": change}

print(json.dumps([
    shown(600, operation="memory", metric="slack"),
    shown(400, operation="construction", metric="rate"),
]))
"""
    slack, construction = grown.answers(program)
    faster = ["OpenSSL 3, the same version: 1 faster, 0 slower, 0 unchanged of 1 row"]
    slower = ["rustls 1, the same version: 0 faster, 1 slower, 0 unchanged of 1 row"]
    assert slack == {
        "table": [
            "slack-per-connection",
            "Memory slack per connection",
            "bytes/connection",
            "lower",
        ],
        "row": ["TLS 1.3 memory, client", "memory-1-3-client-slack"],
        "cells": [["500", None], ["300", "1.67x less (1.65 to 1.68)"]],
        "changes": faster,
    }
    assert construction == {
        "table": ["construction", "Construction", "operations/s", "higher"],
        "row": ["TLS 1.3 construction, client", "construction-1-3-client"],
        "cells": [["500.0", None], ["300.0", "1.67x slower (1.65 to 1.68)"]],
        "changes": slower,
    }


@pytest.mark.nightly
def test_the_examples_in_rust_compile_without_a_warning(grown: Grown, tmp_path: Path) -> None:
    folder = ROOT / "bench" / "target"
    folder.mkdir(parents=True, exist_ok=True)
    harness = grown.folder / "bench" / "harness"
    with tempfile.TemporaryDirectory(prefix="extension-", dir=folder) as target:
        # The library's crate has those of the harness, with the metric and the kind.
        manifest = ("--manifest-path", str(grown.folder / NEWTLS / "Cargo.toml"))
        printed = grown.checkout.run("cargo", "check", *manifest, CARGO_TARGET_DIR=target)
        assert re.search("(Checking|Compiling) tls-harness", printed)
        assert "warning" not in printed, printed
    for crate in (grown.folder / NEWTLS, harness):
        grown.checkout.run("cargo", "fmt", "--check", "--manifest-path", str(crate / "Cargo.toml"))
    arrows, source = str(tmp_path / "arrows"), str(harness / "tests" / "arrows.rs")
    command = ("rustc", "--test", "--edition=2024", source, "-o", arrows)
    grown.checkout.run(*command, CARGO_MANIFEST_DIR=str(harness))
    assert re.search(r"[1-9]\d* passed; 0 failed", grown.checkout.run(arrows))


# --- a raw format: its module, and its cases ---------------------------------------------------


def test_a_raw_format_touches_its_module_and_its_cases(grown: Grown, tmp_path: Path) -> None:
    assert grown.touched["add-a-raw-format"] == {
        "tools/src/tlsperf/load/formats/tlstoy.py",
        "tools/tests/formats/tlstoy.toml",
    }
    guide = (grown.folder / "docs" / "add-a-raw-format.md").read_text()
    [output] = re.findall(r"```text\n(.*?)```", guide, re.DOTALL)
    (tmp_path / "toy.txt").write_text(output)
    (tmp_path / "more.txt").write_text(output.replace("90.00", "91.00") + "what is this\n")
    program = """
from pathlib import Path
from cases import CASES
from tlsperf.load.formats import detect
from tlsperf.load.run import load_run
from tlsperf.publish.runs import import_files

assert all(case.outcome() == case.gives for case in CASES["tlstoy"])
file = Path("toy.txt")
print(detect(file.read_bytes(), file.name, str(file)).name)
import_files([file], "openssl-3.6.1", Path("2026-11-21-toy"))
rows = load_run(Path("2026-11-21-toy")).rows
print(*[row.scenario.variant for row in rows], *[row.value for row in rows])
run = import_files([Path("more.txt")], "openssl-3.6.1", Path("2026-11-21-other"))
print(*[warning.message for warning in run.warnings])
"""
    name, rows, left_out = grown.checkout.python("-c", program, cwd=tmp_path).splitlines()
    assert name == "tlstoy"
    assert rows == "aes-256-gcm-seal-16384 aes-256-gcm-open-16384 1843.25 1790.0"
    assert left_out.endswith("more.txt:5: 1 unknown line left out: 'what is this'")


@pytest.mark.nightly
def test_a_new_raw_format_passes_the_tests_of_every_format(grown: Grown) -> None:
    tests = str(grown.folder / "tools" / "tests" / "test_formats.py")
    settings = str(grown.folder / "tools" / "pyproject.toml")
    grown.checkout.python("-m", "pytest", "-c", settings, tests, "-k", "tlstoy or each_table")


# --- a chart: its module, and its line ---------------------------------------------------------


def test_a_chart_touches_its_module_and_the_list(grown: Grown) -> None:
    charts = "tools/src/tlsperf/report/charts"
    assert grown.touched["add-a-chart"] == {f"{charts}/__init__.py", f"{charts}/points.py"}
    changed = grown.checkout.git("diff", "--numstat", f"{charts}/__init__.py").split()
    assert changed[:2] == ["2", "0"]  # its import, and its line
    program = """
import json
import re
from project import EXAMPLE
from tlsperf.contract.results import Results
from tlsperf.report import charts
from tlsperf.report.charts.svg import draw

results = Results.model_validate_json(EXAMPLE.read_bytes())
drawing = next(d for d in charts.charts_of(results) if d.chart.table == "transfer")
svg = draw(drawing.picture, drawing.chart)
table = next(table for table in results.tables if table.anchor == "transfer")
cells = [cell for row in table.rows for cell in row.cells if cell.value is not None]
dots = len(re.findall("M[^A-Za-z]+Z", svg))
print(json.dumps([dots, len(cells), drawing.chart.description]))
"""
    dots, cells, description = grown.answers(program)
    assert dots == cells > 0
    assert description.startswith("Points in MiB/s. ")
