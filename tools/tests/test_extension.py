"""The guides' examples add a library, a metric, a kind, a raw format and a chart.

Each test follows a guide in a scratch copy of the repository, counts the changed files, and checks
that the addition works. Files that `make generate` writes do not count.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from extension import ROOT, Checkout, copied
from new_versions import watched

SCHEMAS = {f"data/schema/{name}.schema.json" for name in ("record", "run", "results", "index")}
REPORT = """\
import json
from synthetic import loaded_run, report_of
from tlsperf.analysis.changes import changes
from tlsperf.contract.metrics import METRICS
from tlsperf.contract.record import Observation, Scenario
from tlsperf.load.run import LoadedRun

def report(run, openssl, **columns):
    handshake = Scenario(operation="handshake", protocol="1.3", side="client")
    rates = {"openssl-3": {handshake: [openssl] * 10}, "rustls-1": {handshake: [300] * 10}}
    made = loaded_run(run, rates)
    [unit] = METRICS[columns["metric"]].units_of(columns["operation"])[-1:]
    frame = made.frame.assign(unit=unit, **columns)
    return report_of(LoadedRun(made.run, frame), baseline="openssl-3")

def show(now, before):
    [table] = now.results.tables
    [row] = table.rows
    print(json.dumps({
        "table": [table.anchor, table.title, table.unit, table.better],
        "row": [row.name, row.anchor],
        "cells": [[cell.text, cell.ratio.text if cell.ratio else None] for cell in row.cells],
        "changes": changes(before, now).libraries[0].statement,
    }))

"""
"""A program that makes a report of two libraries in one scenario, ten rounds each, and prints its
table.
"""


@pytest.fixture(scope="module")
def target() -> Iterator[Path]:
    """The folder in which Cargo builds the scratch copies: they share the built packages."""
    folder = ROOT / "bench" / "target"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="extension-", dir=folder) as name:
        yield Path(name)


def check(checkout: Checkout, folder: str, target: Path) -> None:
    """Compiles the crates of a folder; there must be no warning."""
    manifest = str(checkout.folder / folder / "Cargo.toml")
    printed = checkout.run(
        "cargo", "check", "--manifest-path", manifest, CARGO_TARGET_DIR=str(target)
    )
    assert "warning" not in printed, printed
    checkout.run("cargo", "fmt", "--check", "--manifest-path", manifest)


# --- a library: its folder ---------------------------------------------------------------------


NEWTLS = "bench/libraries/newtls/"
LIBRARY_SCHEMAS = {"data/schema/run.schema.json", "data/schema/results.schema.json"}


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """The whole repository with the library of the guide, after `make generate`."""
    checkout = copied(tmp_path_factory.mktemp("grown"), leave_out=())
    touched = checkout.follow("add-a-library.md")
    shutil.copy(checkout.folder / "bench" / "Cargo.lock", checkout.folder / NEWTLS)
    assert {name for name in touched if not name.startswith(NEWTLS)} == set()
    assert checkout.generate() == {*LIBRARY_SCHEMAS, "static/embed.css", "static/style.css"}
    return checkout


def test_a_library_needs_only_its_folder(grown: Checkout, target: Path) -> None:
    made = {*LIBRARY_SCHEMAS, "static/embed.css", "static/style.css"}
    assert {name for name in grown.touched() - made if not name.startswith(NEWTLS)} == set()
    for name in LIBRARY_SCHEMAS:
        assert '"newtls"' in (grown.folder / name).read_text()
    check(grown, NEWTLS, target)


def test_a_new_library_changes_no_report_chart_or_picture(grown: Checkout) -> None:
    grown.python("-m", "tlsperf.cli", "render", "--check")


def test_a_new_library_has_its_label_and_colours(grown: Checkout) -> None:
    program = """
from tlsperf.contract.text import shown
from tlsperf.load.importer import implementation_of
from tlsperf.report.charts.theme import CLASSES, colour_channel
new = shown(implementation_of("newtls-2.1.0"))
print(new.library, new.label, new.colour, sep="|")
print(CLASSES["#8a0df6"], *colour_channel([new.colour])["scale"]["range"])
"""
    assert grown.python("-c", program).splitlines() == [
        "newtls|NewTLS 2.1.0|newtls",
        "library-newtls #8a0df6",
    ]
    style = (grown.folder / "static" / "style.css").read_text()
    assert style.count(".library-newtls { --library: #8a0df6; }") == 1
    assert style.count("  .library-newtls { --library: #dd0c49; }") == 1
    readers = "tests/test_figures.py::test_colour_blind_readers_can_distinguish_libraries"
    grown.python("-m", "pytest", "-q", "-p", "no:cacheprovider", f"tools/{readers}")


def test_a_new_library_is_built_tested_and_watched(grown: Checkout) -> None:
    def printed(*arguments: str) -> list[str]:
        return grown.python("scripts/libraries", *arguments).split()

    assert printed("id")[-1] == "newtls"
    assert "newtls" in printed("id", "own")
    assert "newtls" not in printed("id", "shared")
    assert "tls-newtls" in printed("programs")
    assert "libnewtls-dev" in printed("debian", "own")
    assert "newtls-sys" in watched(grown.folder / "bench" / "libraries")
    doctor = subprocess.run(
        [grown.folder / "scripts" / "doctor", "--quiet", "more-libraries"],
        capture_output=True,
        text=True,
    )
    assert doctor.returncode == 1
    assert re.search(r"NewTLS +missing: newtls-headers 2.1 or later", doctor.stderr)
    assert "apt-get install libnewtls-dev" in doctor.stderr


# --- a metric: its entry, and where it is measured ---------------------------------------------


def test_a_metric_touches_two_files(tmp_path: Path, target: Path) -> None:
    checkout = copied(tmp_path)
    entry = "tools/src/tlsperf/contract/metrics.py"
    assert checkout.follow("add-a-metric.md") == {entry, "bench/harness/src/workloads/memory.rs"}
    assert checkout.generate() <= SCHEMAS
    schema = json.loads((checkout.folder / "data/schema/record.schema.json").read_text())
    assert "slack" in schema["$defs"]["Observation"]["properties"]["metric"]["enum"]
    check(checkout, "bench/harness", target)
    program = """
Observation(metric="slack", value=1, unit="bytes/connection")
columns = {"operation": "memory", "metric": "slack"}
show(report("2026-11-21-a", 500, **columns), report("2026-11-20-a", 600, **columns))
"""
    assert json.loads(checkout.python("-c", REPORT + program)) == {
        "table": [
            "slack-per-connection",
            "Memory slack per connection",
            "bytes/connection",
            "lower",
        ],
        "row": ["TLS 1.3 memory, client", "memory-1-3-client-slack"],
        "cells": [["500", None], ["300", "1.67x less (1.66 to 1.67)"]],
        "changes": "OpenSSL 3, the same version: 1 faster, 0 slower, 0 unchanged of 1 row",
    }


# --- a kind: its file, its line and its words --------------------------------------------------


def test_a_kind_touches_three_files(tmp_path: Path, target: Path) -> None:
    checkout = copied(tmp_path)
    workloads = "bench/harness/src/workloads"
    assert checkout.follow("add-a-scenario.md") == {
        f"{workloads}/construction.rs",
        f"{workloads}/mod.rs",
        "tools/src/tlsperf/contract/operations.py",
    }
    assert checkout.generate() <= SCHEMAS
    schema = json.loads((checkout.folder / "data/schema/record.schema.json").read_text())
    operations = schema["$defs"]["Scenario"]["properties"]["operation"]["enum"]
    listed = (checkout.folder / workloads / "mod.rs").read_text()
    assert re.findall(r'^    \w+ = "([a-z-]+)" => \w+::\w+,$', listed, re.MULTILINE) == operations
    assert operations[-1] == "construction"
    check(checkout, "bench/harness", target)

    arrows, harness = tmp_path / "arrows", checkout.folder / "bench" / "harness"
    source = str(harness / "tests" / "arrows.rs")
    manifest = {"CARGO_MANIFEST_DIR": str(harness)}
    checkout.run("rustc", "--test", "--edition=2024", source, "-o", str(arrows), **manifest)
    assert "5 passed" in checkout.run(str(arrows))

    program = """
Scenario(operation="construction", protocol="1.3", side="client")
columns = {"operation": "construction", "metric": "rate"}
show(report("2026-11-21-a", 500, **columns), report("2026-11-20-a", 400, **columns))
"""
    assert json.loads(checkout.python("-c", REPORT + program)) == {
        "table": ["construction", "Construction", "operations/s", "higher"],
        "row": ["TLS 1.3 construction, client", "construction-1-3-client"],
        "cells": [["500.0", None], ["300.0", "1.67x slower (1.66 to 1.67)"]],
        "changes": "OpenSSL 3, the same version: 1 faster, 0 slower, 0 unchanged of 1 row",
    }


# --- a raw format: its module, and its grammar -------------------------------------------------


def test_a_raw_format_touches_its_module_and_its_test(tmp_path: Path) -> None:
    checkout = copied(tmp_path)
    assert checkout.follow("add-a-raw-format.md") == {
        "tools/src/tlsperf/load/formats/tlstoy.py",
        "tools/tests/grammars.py",
    }
    assert checkout.generate() == set()
    guide = (checkout.folder / "docs" / "add-a-raw-format.md").read_text()
    [output] = re.findall(r"```text\n(.*?)```", guide, re.DOTALL)
    (tmp_path / "toy.txt").write_text(output)
    (tmp_path / "wrong.txt").write_text(output + "what is this\n")
    program = """
from pathlib import Path
from tlsperf.contract.errors import FormatError
from tlsperf.load.formats import detect
from tlsperf.load.run import load_run
from tlsperf.publish.runs import import_files

file = Path("toy.txt")
print(detect(file.read_bytes(), file.name, str(file)).name)
import_files([file], "openssl-3.6.1", Path("2026-11-21-toy"))
frame = load_run(Path("2026-11-21-toy")).frame
print(*frame["variant"], *frame["value"])
try:
    import_files([Path("wrong.txt")], "openssl-3.6.1", Path("2026-11-21-other"))
except FormatError as error:
    print(error)
"""
    name, rows, error = checkout.python("-c", program).splitlines()
    assert name == "tlstoy"
    assert rows == "aes-256-gcm-seal-16384 aes-256-gcm-open-16384 1843.25 1790.0"
    assert "4: found 'what is this', expected CIPHER" in error
    tests = str(checkout.folder / "tools" / "tests" / "test_formats_fuzz.py")
    settings = str(checkout.folder / "tools" / "pyproject.toml")
    checkout.python("-m", "pytest", "-c", settings, tests, "-k", "tlstoy or no_format")


# --- a chart: its module, and its line ---------------------------------------------------------


def test_a_chart_touches_its_module_and_the_list(tmp_path: Path) -> None:
    checkout = copied(tmp_path)
    charts = "tools/src/tlsperf/report/charts"
    assert checkout.follow("add-a-chart.md") == {f"{charts}/__init__.py", f"{charts}/dots.py"}
    changed = checkout.git("diff", "--numstat", f"{charts}/__init__.py").split()
    assert changed[:2] == ["2", "0"]  # its import, and its line
    assert checkout.generate() == set()
    program = """
import re
from fixture_run import EXAMPLE
from tlsperf.contract.results import Results
from tlsperf.report import charts
from tlsperf.report.charts.svg import draw

results = Results.model_validate_json(EXAMPLE.read_bytes())
drawing = next(d for d in charts.charts_of(results) if d.chart.table == "transfer")
svg = draw(drawing.picture, drawing.chart)
table = next(table for table in results.tables if table.anchor == "transfer")
cells = [cell for row in table.rows for cell in row.cells if cell.value is not None]
dots = svg.count("<circle") + len(re.findall("[Mm][^A-Za-z]+Z", svg))
print(dots == len(cells) > 0, drawing.chart.description)
"""
    assert checkout.python("-c", program).startswith("True Dots in MiB/s. ")
