"""Guides name what exists, and what they show works."""

from __future__ import annotations

import itertools
import re
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import cast

import pytest
import typer
from typer.testing import CliRunner

from fixture_run import EXAMPLE
from tlsperf.cli import app
from tlsperf.contract.errors import FormatError
from tlsperf.contract.names import scenario_name
from tlsperf.contract.record import Scenario
from tlsperf.contract.results import Results
from tlsperf.load import formats
from tlsperf.load.formats import detect
from tlsperf.load.run import load_run
from tlsperf.publish.runs import import_files
from tlsperf.report import charts
from tlsperf.report.charts.kind import Kind
from tlsperf.report.charts.svg import draw

ROOT = Path(__file__).parents[2]
GUIDES = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in (
        ROOT / "CONTRIBUTING.md",
        ROOT / "SECURITY.md",
        *sorted((ROOT / "docs").glob("*.md")),
    )
    if path.name != "import.md"  # names the files and commands of other tools
}
FOLDERS = "bench|tools|data|content|templates|static|scripts|docs"
MADE = ("bench/target/", "data/runs/", "build/")
"""What a guide may name though it is not committed."""


def mentioned(guide: str, pattern: str) -> set[str]:
    return {found[1] for found in re.finditer(pattern, GUIDES[guide], re.MULTILINE)}


@pytest.mark.parametrize("guide", GUIDES)
def test_the_files_that_a_guide_names_exist(guide: str) -> None:
    for name in mentioned(guide, rf"(?<![\w./-])((?:{FOLDERS})/[\w./-]*[\w/])"):
        if not name.startswith(MADE) and not re.search(r"\b[A-Z]{2,}\b", name):
            assert (ROOT / name).exists(), f"{guide} names {name}"


@pytest.mark.parametrize("guide", GUIDES)
def test_the_pages_that_a_guide_links_to_exist(guide: str) -> None:
    for target in mentioned(guide, r"\]\(([^)#:]+)\)"):
        assert (ROOT / guide).parent.joinpath(target).exists(), f"{guide} links to {target}"


@pytest.mark.parametrize("guide", GUIDES)
def test_the_make_targets_that_a_guide_names_exist(guide: str) -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    assert mentioned(guide, r"(?:^    +|`|sudo )make ([a-z-]+)") <= targets


@pytest.mark.parametrize("guide", GUIDES)
def test_the_commands_of_tlsperf_that_a_guide_names_exist(guide: str) -> None:
    group = typer.main.get_command(app)
    names = set(getattr(group, "commands", {}))
    assert mentioned(guide, r"(?:bin/|`|^    )tlsperf ([a-z]+)") <= names
    for call in mentioned(guide, r"tlsperf ([a-z]+(?:[^`\n]|\\\n)*)"):
        command, *options = re.findall(r"^[a-z]+|--[a-z-]+", call)
        if command in names:
            help_text = CliRunner().invoke(app, [command, "--help"]).output
            for option in options:
                assert option in help_text, f"{guide}: tlsperf {command} {option}"


def test_the_raw_format_of_the_guide_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    guide = GUIDES["docs/add-a-raw-format.md"]
    (code,) = re.findall(r"```python\n(.*?)```", guide, re.DOTALL)
    (output,) = re.findall(r"```text\n(.*?)```", guide, re.DOTALL)
    module = ModuleType("tlstoy")
    monkeypatch.setitem(sys.modules, "tlstoy", module)
    exec(code, module.__dict__)
    (toy,) = module.FORMATS
    monkeypatch.setitem(formats.FOREIGN, toy.name, toy)

    file = tmp_path / "toy.txt"
    file.write_text(output)
    assert detect(output.encode(), file.name, str(file)) is toy
    run = tmp_path / "2026-11-21-toy"
    import_files([file], "openssl-3.6.1", run)
    frame = load_run(run).frame
    assert frame["variant"].tolist() == ["aes-256-gcm-seal-16384", "aes-256-gcm-open-16384"]
    assert frame["value"].tolist() == [1843.25, 1790.0]

    file.write_text(output + "what is this\n")
    with pytest.raises(FormatError, match="4: found 'what is this', expected CIPHER"):
        import_files([file], "openssl-3.6.1", tmp_path / "2026-11-21-other")


def test_the_chart_of_the_guide_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", GUIDES["docs/add-a-chart.md"], re.DOTALL)
    module = ModuleType("dots")
    monkeypatch.setitem(sys.modules, "dots", module)
    exec(code, module.__dict__)
    results = Results.model_validate_json(EXAMPLE.read_bytes())
    monkeypatch.setattr(charts, "KINDS", (cast(Kind, module), *charts.KINDS))
    drawing = next(d for d in charts.charts_of(results, {}) if d.chart.table == "transfer")
    assert drawing.chart.description.startswith("Dots in MiB/s. ")
    svg = draw(drawing.picture.specification, drawing.chart)
    table = next(table for table in results.tables if table.anchor == "transfer")
    cells = [cell for row in table.rows for cell in row.cells if cell.value is not None]
    assert svg.count("<circle") == len(cells)


def test_the_scenarios_of_the_guide_are_some() -> None:
    guide = GUIDES["docs/add-a-scenario.md"]
    tables = re.findall(r"^ +(\[\[scenarios\]\]\n(?: +\S.*\n)+)", guide, re.MULTILINE)
    entries = tomllib.loads(re.sub(r"^ +", "", "".join(tables), flags=re.MULTILINE))["scenarios"]
    names = []
    for entry in entries:  # a list stands for each of its values
        values = [value if isinstance(value, list) else [value] for value in entry.values()]
        for scenario in itertools.product(*values):
            named = dict(zip(entry, scenario, strict=True))
            names.append(scenario_name(Scenario.model_validate(named)))
    assert names == [
        "transfer 1.3, CHACHA20-POLY1305",
        "primitive, aes-256-gcm-seal-16384",
        "primitive, ml-kem-768-decapsulate",
    ]
