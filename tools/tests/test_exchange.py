"""`tlsperf export`: each format is read by its own tool or checked by that tool's schema."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
from pathlib import Path

import frictionless
import jsonschema
import pytest
import yaml
from frictionless.resources import TableResource
from typer.testing import CliRunner

from project import LATENCY, NEW
from reports import reports
from tlsperf.cli import app
from tlsperf.contract.errors import UserError
from tlsperf.contract.metrics import METRICS
from tlsperf.load.config import read_site
from tlsperf.publish.datapackage import datapackage_json
from tlsperf.publish.exchange import FORMS, exported
from tlsperf.publish.exchange.bmf import measure
from tlsperf.publish.exchange.publication import Publication, read_publication

ROOT = Path(__file__).parents[2]
COUNTS = "2026-11-08-calls"
"""A report with metrics of both directions."""

BMF_SCHEMA = {
    "type": "object",
    "minProperties": 1,
    "additionalProperties": {
        "type": "object",
        "minProperties": 1,
        "propertyNames": {"pattern": "^[a-z0-9]+(-[a-z0-9]+)*$", "maxLength": 64},
        "additionalProperties": {
            "type": "object",
            "properties": {
                "value": {"type": "number"},
                "lower_value": {"type": "number"},
                "upper_value": {"type": "number"},
            },
            "required": ["value"],
            "additionalProperties": False,
        },
    },
    "propertyNames": {"maxLength": 1024},
}
"""From https://bencher.dev/docs/reference/bencher-metric-format/, with the limits stated there."""

ACTION_SCHEMA = {
    "type": "array",
    "minItems": 1,
    "items": {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "unit": {"type": "string"},
            "value": {"type": "number"},
            "range": {"type": "string"},
            "extra": {"type": "string"},
        },
        "required": ["name", "unit", "value"],
        "additionalProperties": False,
    },
}
"""From the README of github-action-benchmark, "Custom benchmarks"."""


@pytest.fixture(scope="module")
def standard(project: Path) -> Publication:
    return read_publication(project, NEW)


@pytest.fixture(scope="module")
def benchstat() -> Path:
    version = re.search(r"^BENCHSTAT_VERSION := (\S+)$", (ROOT / "Makefile").read_text(), re.M)
    assert version is not None
    program = ROOT / "build" / "bin" / f"benchstat-{version[1]}"
    assert program.exists(), f"benchstat is missing: run `make {program.relative_to(ROOT)}`"
    return program


def compared(benchstat: Path, file: Path, baseline: str, other: str) -> dict[str, float | None]:
    """benchstat's change in per cent by benchmark; None if it shows none (`~`)."""
    order = f"implementation@({baseline} {other})"
    command = [str(benchstat), "-format", "csv", "-col", order, str(file)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    changes: dict[str, float | None] = {}
    for line in csv.reader(io.StringIO(text)):
        if len(line) == 7 and line[0] not in ("", "geomean") and line[5]:
            changes[line[0]] = None if line[5] == "~" else float(line[5].rstrip("%"))
    return changes


@pytest.mark.nightly
def test_benchstat_shows_every_difference_that_the_page_shows(
    benchstat: Path, standard: Publication, tmp_path: Path
) -> None:
    file = tmp_path / "rounds.bench"
    file.write_text(FORMS["benchfmt"].files(standard)["rounds.bench"])
    baseline = standard.results.baseline
    assert baseline is not None
    seen = 0
    for shown in standard.results.implementations:
        if shown.id == baseline:
            continue
        changes = compared(benchstat, file, baseline, shown.id)
        for figure in standard.figures:
            ratio = figure.cell.ratio
            if figure.cell.implementation != shown.id or ratio is None:
                continue
            change = changes[figure.row.anchor.replace("-", "_").capitalize()]
            if ratio.verdict in ("faster", "slower"):
                assert change is not None, figure.row.name
                assert (change > 0) == (ratio.verdict == "faster"), figure.row.name
                seen += 1
    assert seen


@pytest.mark.nightly
def test_benchstat_reads_every_round_of_every_implementation(
    benchstat: Path, standard: Publication, tmp_path: Path
) -> None:
    file = tmp_path / "rounds.bench"
    file.write_text(FORMS["benchfmt"].files(standard)["rounds.bench"])
    command = [str(benchstat), "-format", "csv", "-col", "implementation", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    # One library has no figure of one row.
    assert all("geomeans may not be comparable" in line for line in done.stderr.splitlines())
    read: dict[tuple[str, str], float] = {}
    heads: list[str] = []
    for line in csv.reader(io.StringIO(done.stdout)):
        if len(line) > 1 and not line[0]:
            heads = line if line[1] in {i.id for i in standard.results.implementations} else heads
        elif len(line) > 1 and line[0] != "geomean":
            read |= {
                (line[0], of): float(line[at]) for at, of in enumerate(heads) if of and line[at]
            }
    figures = list(standard.figures)
    assert len(read) == len(figures) > 0
    for figure in figures:
        name = figure.row.anchor.replace("-", "_").capitalize()
        assert read[name, figure.cell.implementation] == pytest.approx(figure.value, rel=1e-5)
    assert {
        count for text in re.findall(r"n=([\d+]+)", done.stdout) for count in text.split("+")
    } == {str(figure.cell.count) for figure in figures}


def test_counts_are_exact_and_lower_is_better_in_benchfmt(
    standard: Publication, project: Path
) -> None:
    text = FORMS["benchfmt"].files(read_publication(project, COUNTS))["rounds.bench"]
    assert "Unit allocations/handshake better=lower assume=exact\n" in text
    assert "assume" not in FORMS["benchfmt"].files(standard)["rounds.bench"]


@pytest.mark.parametrize("report", [NEW, COUNTS, LATENCY])
def test_bmf_has_every_figure_that_counts_with_its_interval(report: str, project: Path) -> None:
    publication = read_publication(project, report)
    read = json.loads(FORMS["bmf"].files(publication)["bmf.json"])
    jsonschema.Draft202012Validator(BMF_SCHEMA).validate(read)
    figures = list(publication.figures)
    assert sum(len(measures) for measures in read.values()) == len(figures)
    for figure in figures:
        name = f"{figure.cell.implementation}/{figure.row.anchor}"
        found = read[name][measure(figure.table.unit)]
        assert found["value"] == figure.cell.value
        assert found.get("lower_value") == figure.cell.low
        assert found.get("upper_value") == figure.cell.high


def test_every_unit_has_a_measure_of_its_own() -> None:
    units = {unit for m in METRICS.values() for units in m.units.values() for unit in units}
    assert len({measure(unit) for unit in units}) == len(units)
    assert measure("handshakes/s/thread") == "handshakes-per-second-per-thread"


def test_github_action_benchmark_gets_each_direction_in_a_file_of_its_own(project: Path) -> None:
    publication = read_publication(project, LATENCY)
    files = FORMS["github-action"].files(publication)
    better = {"bigger-is-better.json": "higher", "smaller-is-better.json": "lower"}
    assert set(files) == set(better)
    for name, text in files.items():
        entries = json.loads(text)
        jsonschema.Draft202012Validator(ACTION_SCHEMA).validate(entries)
        expected = [f.value for f in publication.figures if f.table.better == better[name]]
        assert [entry["value"] for entry in entries] == expected


def test_series_of_github_action_benchmark_have_names_of_their_own(project: Path) -> None:
    for _, results, _ in reports(project):
        for text in FORMS["github-action"].files(Publication(project, results)).values():
            names = [entry["name"] for entry in json.loads(text)]
            assert len(set(names)) == len(names), results.id


def test_the_csv_is_that_of_the_report(standard: Publication, project: Path) -> None:
    path = project / "content" / "perf" / NEW / "results.csv"
    assert FORMS["csv"].files(standard)["results.csv"] == path.read_text()


def test_frictionless_reads_every_figure_of_the_csv(standard: Publication, tmp_path: Path) -> None:
    (tmp_path / "results.csv").write_text(FORMS["csv"].files(standard)["results.csv"])
    rows = TableResource(path="results.csv", basepath=str(tmp_path)).read_rows()
    found = {(row["anchor"], row["implementation"]): row for row in rows if row["phase"] == "total"}
    figures = list(standard.figures)
    assert figures
    for figure in figures:
        cell = figure.cell
        row = found[figure.row.anchor, cell.implementation]
        expected = [cell.value, cell.low, cell.high]
        assert [float(row[key]) for key in ("value", "low", "high")] == expected, figure.row.name


def test_the_data_package_of_a_report_has_its_values(standard: Publication, tmp_path: Path) -> None:
    for name, text in FORMS["datapackage"].files(standard).items():
        (tmp_path / name).write_text(text)
    package = frictionless.Package(str(tmp_path / "datapackage.json"))
    assert package.name == standard.results.id
    assert package.validate().valid
    resource = package.get_resource("index")
    assert isinstance(resource, TableResource)
    read = {(r["anchor"], r["implementation"], r["phase"]): r for r in resource.read_rows()}
    shown = [(row, cell) for t in standard.results.tables for row in t.rows for cell in row.cells]
    assert len(read) == len([cell for _, cell in shown if cell.value is not None]) > 0
    for row, cell in shown:
        if cell.value is not None:
            found = read[row.anchor, cell.implementation, row.phase]
            assert (float(found["value"]), found["valid"]) == (cell.value, cell.valid), row.name


@pytest.mark.any_site
def test_the_data_package_describes_the_index_as_it_is(root: Path, tmp_path: Path) -> None:
    for name in ("datapackage.json", "index.csv"):
        (tmp_path / name).write_bytes((root / "data" / name).read_bytes())
    report = frictionless.Package(str(tmp_path / "datapackage.json")).validate()
    assert report.valid, report.flatten(["rowNumber", "fieldName", "message"])[:5]
    results = json.loads((root / "data" / "index.json").read_bytes())["results"]
    assert report.tasks[0].stats["rows"] == len(results) > 0


def test_the_data_package_finds_a_text_where_a_number_must_be(
    project: Path, tmp_path: Path
) -> None:
    (tmp_path / "datapackage.json").write_text(datapackage_json("all", "All results", []))
    lines = (project / "data" / "index.csv").read_text().splitlines(keepends=True)[:3]
    header, fields = (next(csv.reader([line])) for line in lines[:2])
    fields[header.index("value")] = "fast"
    broken = io.StringIO()
    csv.writer(broken, lineterminator="\n").writerow(fields)
    (tmp_path / "index.csv").write_text(lines[0] + broken.getvalue() + lines[2])
    assert not frictionless.Package(str(tmp_path / "datapackage.json")).validate().valid


def test_the_licenses_are_the_same_everywhere() -> None:
    names = [licence.name for licence in read_site(ROOT).licences]
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text())["license"] == names
    expression = " OR ".join(names)
    for file in ("LICENSE", "package.json", "tools/pyproject.toml", "bench/Cargo.toml"):
        assert expression in (ROOT / file).read_text(), file
    for name in names:
        assert (ROOT / f"LICENSE-{name.split('-')[0].upper()}").is_file()


def test_several_files_need_a_folder(project: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--out"):
        exported(project, "github-action", LATENCY, None)
    printed = exported(project, "github-action", LATENCY, tmp_path / "new")
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == [
        "bigger-is-better.json",
        "smaller-is-better.json",
    ]
    assert printed.count("wrote ") == 2


def test_without_arguments_the_command_lists_the_formats() -> None:
    listed = CliRunner().invoke(app, ["export"]).stdout
    assert [line.split()[0] for line in listed.splitlines()] == list(FORMS)
