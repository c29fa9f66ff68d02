"""`tlsperf export`: each format is read by its own tool or checked by that tool's schema."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import frictionless
import jsonschema
import pytest
import yaml
from frictionless.resources import TableResource
from typer.testing import CliRunner

from project import (
    BORING,
    BOTH,
    HOST,
    LATENCY,
    NEW,
    OF_HISTORY,
    OLD,
    OPENSSL,
    OTHER_HOST,
    RUSTLS,
)
from reports import reports
from tlsperf.cli import app
from tlsperf.contract.errors import FormatError, UsageError, UserError
from tlsperf.contract.metrics import METRICS
from tlsperf.load.config import read_site
from tlsperf.publish.datapackage import datapackage_json
from tlsperf.publish.exchange import FORMS, exported
from tlsperf.publish.exchange.bmf import bencher_run, measure
from tlsperf.publish.exchange.data_js import appended
from tlsperf.publish.exchange.publication import Publication, read_publication

ROOT = Path(__file__).parents[2]
COUNTS = "2026-11-08-calls"
"""A report with metrics of both directions."""

SUBJECTS = {BORING: "boringssl", OPENSSL: "openssl", RUSTLS: "rustls-aws-lc-rs"}

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


CSV = ("-format", "csv", "-ignore", "subject,version,commit")


def compared(benchstat: Path, file: Path, baseline: str, other: str) -> dict[str, float | None]:
    """benchstat's change in per cent by benchmark; None if it shows none (`~`)."""
    order = f"implementation@({baseline} {other})"
    command = [str(benchstat), *CSV, "-col", order, str(file)]
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
    command = [str(benchstat), *CSV, "-col", "implementation", str(file)]
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
        name = f"{SUBJECTS[figure.cell.implementation]}/{figure.row.anchor}"
        found = read[name][measure(figure.table.unit)]
        assert found["value"] == figure.cell.value
        assert found.get("lower_value") == figure.cell.low
        assert found.get("upper_value") == figure.cell.high


def test_every_unit_has_a_measure_of_its_own() -> None:
    units = {unit for m in METRICS.values() for units in m.units.values() for unit in units}
    assert len({measure(unit) for unit in units}) == len(units)
    assert measure("µs") == "microseconds"
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


def names(form: str, publication: Publication) -> list[str]:
    """The names of all series; each file has each once."""
    found = []
    for text in FORMS[form].files(publication).values():
        read = json.loads(text)
        of = list(read) if isinstance(read, dict) else [entry["name"] for entry in read]
        assert len(set(of)) == len(of)
        found += of
    return found


@pytest.mark.parametrize("form", ["bmf", "github-action"])
def test_another_version_continues_the_series(
    form: str, standard: Publication, project: Path
) -> None:
    older = read_publication(project, OLD)
    versions = [{i.version for i in it.results.implementations} for it in (older, standard)]
    assert not versions[0] & versions[1]
    # The older report has a figure in two rows more.
    assert set(names(form, standard)) <= set(names(form, older))


@pytest.mark.parametrize("form", ["bmf", "github-action"])
def test_the_name_of_a_series_has_no_version(form: str, project: Path) -> None:
    for _, results, _ in reports(project):
        for name in names(form, Publication(project, results)):
            subject = name.partition("/")[0]
            assert not [i.version for i in results.implementations if i.version in subject], name


def test_github_action_benchmark_gets_version_host_and_row_of_each_point(
    standard: Publication,
) -> None:
    text = FORMS["github-action"].files(standard)["bigger-is-better.json"]
    entry = next(it for it in json.loads(text) if it["name"].startswith("openssl/"))
    version, host, row = entry["extra"].splitlines()
    assert version == "version: 3.6.1"
    assert host.startswith(f"host: {HOST}, ")
    assert row == f"report: {NEW}#{entry['name'].partition('/')[2]}"


def with_versions(publication: Publication, versions: dict[str, str]) -> Publication:
    """The same with other versions, by the id of the implementation."""
    shown = [
        i.model_copy(update={"version": versions.get(i.id, i.version)})
        for i in publication.results.implementations
    ]
    results = publication.results.model_copy(update={"implementations": shown})
    return Publication(publication.root, results)


def points_of_openssl(publication: Publication) -> dict[str, float]:
    found = json.loads(FORMS["github-action"].files(publication)["bigger-is-better.json"])
    return {it["name"]: it["value"] for it in found if it["name"].startswith("openssl/")}


def test_of_two_versions_in_a_report_the_newest_has_the_series(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    publication = read_publication(project, OF_HISTORY)
    figures = [f.value for f in publication.figures if f.cell.implementation == OPENSSL]
    assert list(points_of_openssl(publication).values()) == figures
    exported(project, "github-action", OF_HISTORY, None)
    said = capsys.readouterr().err
    assert "left out OpenSSL 3.0.8, OpenSSL 3.5.5, rustls 0.22.4" in said
    assert "3.6.1" not in said


@pytest.mark.parametrize(
    ("older", "newest"),
    [("3.9.0", "3.10.0"), ("4.0.0-beta1", "3.6.1"), ("1.1.1v", "1.1.1w"), ("29cd934", "1.0")],
)
def test_a_release_is_newer_than_its_number_or_trial_says(
    older: str, newest: str, project: Path
) -> None:
    publication = with_versions(
        read_publication(project, OF_HISTORY),
        {"openssl-3.0.8": newest, "openssl-3.5.5": older, "openssl-3.6.1": older},
    )
    figures = [f.value for f in publication.figures if f.cell.implementation == "openssl-3.0.8"]
    assert list(points_of_openssl(publication).values()) == figures


def test_of_two_commits_the_last_of_the_report_has_the_series(project: Path) -> None:
    versions = {"openssl-3.0.8": "76968bb", "openssl-3.5.5": "30cd935", OPENSSL: "128fb80"}
    publication = with_versions(read_publication(project, OF_HISTORY), versions)
    figures = [f.value for f in publication.figures if f.cell.implementation == OPENSSL]
    assert list(points_of_openssl(publication).values()) == figures


def test_each_host_of_a_report_has_files_of_its_own(project: Path) -> None:
    publication = read_publication(project, BOTH)
    for form, file in (("bmf", "bmf.json"), ("github-action", "bigger-is-better.json")):
        files = FORMS[form].files(publication)
        assert set(files) == {f"{HOST}/{file}", f"{OTHER_HOST}/{file}"}
        assert "openssl/" in files[f"{HOST}/{file}"]


def test_unknown_hosts_of_two_reports_are_two_hosts(
    standard: Publication, project: Path, tmp_path: Path
) -> None:
    file = tmp_path / "data.js"
    for publication in (standard, read_publication(project, OLD)):
        hosts = [it.model_copy(update={"id": "unknown"}) for it in publication.results.hosts]
        results = publication.results.model_copy(update={"hosts": hosts})
        file.write_text(appended(file, Publication(project, results)))
    sets = json.loads(file.read_text().removeprefix(BEFORE))["entries"]
    assert [len(points) for points in sets.values()] == [1, 1]


def test_another_certificate_is_another_series(standard: Publication) -> None:
    table = next(t for t in standard.results.tables if t.anchor == "resumed-handshakes")
    usual, other = (
        table.model_copy(
            update={
                "rows": [
                    row.model_copy(
                        update={"scenario": row.scenario.model_copy(update={"certificate": of})}
                    )
                    for row in table.rows
                ]
            }
        )
        for of in ("rsa-2048", "ecdsa-p256")
    )
    of_both = [
        set(names("bmf", Publication(standard.root, results)))
        for results in (standard.results.model_copy(update={"tables": [t]}) for t in (usual, other))
    ]
    assert of_both[0] == {name.removesuffix("-ecdsa-p256") for name in of_both[1]}
    assert not of_both[0] & of_both[1]


def test_a_build_named_after_the_architecture_continues_the_series(standard: Publication) -> None:
    [host] = standard.results.hosts
    shown = [
        i.model_copy(update={"build": host.architecture}) for i in standard.results.implementations
    ]
    results = standard.results.model_copy(update={"implementations": shown})
    assert names("bmf", Publication(standard.root, results)) == names("bmf", standard)


def test_the_version_of_boringssl_is_not_that_of_its_package(standard: Publication) -> None:
    built = with_versions(standard, {BORING: "boring-sys 5.4.0, API 44"})
    assert "\nversion: 0.20261020.0\n" in FORMS["benchfmt"].files(built)["rounds.bench"]
    points = json.loads(FORMS["github-action"].files(built)["bigger-is-better.json"])
    said = [it["extra"] for it in points if it["name"].startswith("boringssl/")]
    assert said
    assert all(extra.startswith("version: 0.20261020.0\n") for extra in said)


def test_a_rate_of_one_thread_is_another_series_than_that_of_all(standard: Publication) -> None:
    tables = [t.model_copy(update={"unit": f"{t.unit}/thread"}) for t in standard.results.tables]
    results = standard.results.model_copy(update={"tables": tables})
    of_threads = names("bmf", Publication(standard.root, results))
    assert of_threads == [f"{name}-per-thread" for name in names("bmf", standard)]


def test_bencher_is_told_the_host_and_the_only_commit(
    project: Path, standard: Publication, capsys: pytest.CaptureFixture[str]
) -> None:
    exported(project, "bmf", NEW, None)
    said = capsys.readouterr().err
    assert f"--testbed {HOST} " in said
    assert "--hash" not in said
    commit = "30cd935" + 33 * "0"
    shown = [i.model_copy(update={"commit": commit}) for i in standard.results.implementations]
    results = standard.results.model_copy(update={"implementations": shown})
    (command,) = bencher_run(Publication(project, results), Path("to send"))
    assert f"--hash {commit}" in command
    assert "--file 'to send/bmf.json'" in command


BEFORE = "window.BENCHMARK_DATA = "


def add(project: Path, file: Path, *added: str) -> dict[str, Any]:
    """What data.js has after the reports were added to it."""
    for report in added:
        exported(project, "data-js", report, None, file)
    found: dict[str, Any] = json.loads(file.read_text().removeprefix(BEFORE))
    return found


def test_data_js_has_a_point_for_each_report_of_a_host_by_date(
    project: Path, tmp_path: Path
) -> None:
    sets = add(project, tmp_path / "data.js", NEW, OLD, BOTH, LATENCY)["entries"]
    assert set(sets) == {HOST, OTHER_HOST}
    points = [(of["commit"]["id"], of["tool"]) for of in sets[HOST]]
    bigger, smaller = "customBiggerIsBetter", "customSmallerIsBetter"
    assert points == [
        *((OLD, bigger), (BOTH, bigger)),
        *((LATENCY, bigger), (LATENCY, smaller), (NEW, bigger)),
    ]
    first, last = ({bench["name"] for bench in sets[HOST][at]["benches"]} for at in (0, -1))
    assert last <= first
    # What the page reads besides.
    assert sets[HOST][-1]["date"] == 1000 * datetime(2026, 11, 21, tzinfo=UTC).timestamp()
    commit = sets[HOST][-1]["commit"]
    assert commit["url"] == ""  # the site of the tests has no address
    assert {"message", "timestamp"} < set(commit)
    assert commit["committer"]["username"]


def test_reports_of_one_day_are_sorted_by_their_time(
    standard: Publication, project: Path, tmp_path: Path
) -> None:
    file = tmp_path / "data.js"
    for report, hour in (("2026-11-21-a", 18), ("2026-11-21-b", 9)):
        at = {"id": report, "time": datetime(2026, 11, 21, hour, tzinfo=UTC)}
        results = standard.results.model_copy(update=at)
        file.write_text(appended(file, Publication(project, results)))
    (points,) = json.loads(file.read_text().removeprefix(BEFORE))["entries"].values()
    assert [of["commit"]["id"] for of in points] == ["2026-11-21-b", "2026-11-21-a"]


def test_a_report_is_added_once_in_any_order(project: Path, tmp_path: Path) -> None:
    for name, order in (("a", (OLD, NEW, LATENCY)), ("b", (LATENCY, NEW, OLD, NEW))):
        add(project, tmp_path / name, *order)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_link_to_data_js_stays_a_link(project: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("data.js")
    assert add(project, tmp_path / "link", NEW) == add(project, tmp_path / "data.js", NEW)
    assert (tmp_path / "link").is_symlink()


def test_data_js_keeps_what_others_wrote(project: Path, tmp_path: Path) -> None:
    file = tmp_path / "data.js"
    bench = {"name": "BM_Seal", "value": 3.65, "unit": "us/iter", "extra": "half \ud83d"}
    entry = {"commit": {"id": "0123", "author": {}}, "date": 1, "tool": "go", "benches": [bench]}
    theirs = {"lastUpdate": 5, "repoUrl": "https://example.org", "entries": {"Theirs": [entry]}}
    file.write_text(BEFORE + json.dumps(theirs))
    found = add(project, file, NEW)
    assert found["entries"]["Theirs"] == [entry]
    assert found["repoUrl"] == theirs["repoUrl"]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("[]", "data.js:1: found '[]', expected 'window.BENCHMARK_DATA = '"),
        (BEFORE + '{\n"entries": {},\n', "data.js:3: found the end, expected JSON"),
        (BEFORE + "{};", "data.js:1: found ';', expected JSON"),
        (BEFORE + '{"repoUrl": "", "entries": []}', "data.js:1: found entries [], expected"),
        (
            BEFORE + '{"repoUrl": "", "entries": {\n"A": [{"commit": {"id": 1}}]}}',
            "data.js:2: found entries.A.0.commit.id 1, expected a valid string",
        ),
        (BEFORE + "\udce9", "data.js:1: found byte 0xe9, expected UTF-8"),
    ],
)
def test_a_damaged_data_js_is_refused_and_stays(
    text: str, error: str, project: Path, tmp_path: Path
) -> None:
    file = tmp_path / "data.js"
    data = text.encode(errors="surrogateescape")
    file.write_bytes(data)
    with pytest.raises(FormatError, match=re.escape(error)):
        add(project, file, NEW)
    assert file.read_bytes() == data


@pytest.mark.parametrize(("form", "option"), [("bmf", "append"), ("data-js", "out")])
def test_only_data_js_is_added_to(form: str, option: str, project: Path, tmp_path: Path) -> None:
    where = {"out": None, "append": None, option: tmp_path}
    with pytest.raises(UsageError, match="--append FILE with the format data-js"):
        exported(project, form, NEW, where["out"], where["append"])
    assert not list(tmp_path.iterdir())


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
    assert exported(project, "github-action", LATENCY, tmp_path / "new").count("replaced ") == 2
    with pytest.raises(UserError, match=r"smaller-is-better.json: of another report"):
        exported(project, "github-action", NEW, tmp_path / "new")


def test_without_arguments_the_command_lists_the_formats() -> None:
    listed = CliRunner().invoke(app, ["export"]).stdout
    assert [line.split()[0] for line in listed.splitlines()] == list(FORMS)
