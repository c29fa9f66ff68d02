"""`tlsperf show`, and how the command line finds its project and completes names."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fixture_run import RUN, write_report
from tlsperf.cli import app
from tlsperf.contract.errors import UserError
from tlsperf.contract.results import Results
from tlsperf.load import completion
from tlsperf.load.root import find_root, new_run_folder, report_id, run_id
from tlsperf.publish.lines import results_markdown
from tlsperf.publish.render import render_reports
from tlsperf.publish.scaffold import new_report

TLSPERF = Path(sys.executable).with_name("tlsperf")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("project")
    write_report(root)
    new_report(root, [RUN], slug="other", title="Another title")
    render_reports(root, check=False)
    return root


@pytest.fixture(autouse=True)
def inside(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project / "content")


def output(*arguments: str) -> str:
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    return result.output


def test_a_run_is_shown_as_a_report_on_it_shows_it(project: Path) -> None:
    report = json.loads((project / "content" / "perf" / RUN / "results.json").read_bytes())
    shown = json.loads(output("show", f"../data/runs/{RUN}", "--json"))
    for part in ("tables", "headlines", "means", "noise", "hosts"):
        assert shown[part] == report[part], part
    assert output("show", f"perf/{RUN}", "--json") == (
        project / "content" / "perf" / RUN / "results.json"
    ).read_text("utf-8")
    assert output("show", RUN, "--csv") == (
        project / "content" / "perf" / RUN / "results.csv"
    ).read_text("utf-8")
    assert json.loads(output("show", "2026-11-21-other", "--json"))["title"] == "Another title"


def test_the_table_has_each_figure_with_its_interval_ratio_and_reason() -> None:
    text = output("show", RUN)
    rows = list(csv.DictReader(io.StringIO(output("show", RUN, "--csv"))))
    report = json.loads(output("show", RUN, "--json"))
    cells = [
        cell
        for table in report["tables"]
        if not table["by_phase"]
        for row in table["rows"]
        for cell in row["cells"]
    ]
    assert len(cells) == sum(not row["table"].endswith("-phases") for row in rows) == 48
    lines = [" ".join(line.split()) for line in text.splitlines()]
    labels = {i["id"]: i["label"] for i in report["implementations"]}
    for cell in cells:
        said = [labels[cell["implementation"]], cell["text"], cell.get("interval", "")]
        if cell.get("value") is None:
            said.append(cell["note"])
        elif not cell["valid"]:
            said.append(f"does not count: {cell['note']}")
        elif "ratio" in cell:
            said.append(cell["ratio"]["text"])
        assert " ".join(filter(None, said)) in lines
    assert "warning: " in text
    medians = [line.index("median") for line in text.splitlines() if "  95% interval  " in line]
    assert len(medians) == 3


def test_markdown_has_the_figures_of_the_table_in_its_order() -> None:
    text = output("show", RUN, "--markdown")
    report = json.loads(output("show", RUN, "--json"))
    labels = {i["id"]: i["label"] for i in report["implementations"]}
    expected: list[list[str]] = []
    for table in report["tables"]:
        if table["by_phase"]:
            continue
        assert f"#### {table['title']}, {table['unit']} ({table['better']} is better)\n" in text
        expected += [["", "", "median", "95% interval", f"against {labels[table['baseline']]}"]]
        expected += [["---", "---", "--:", "---", "---"]]
        for row in table["rows"]:
            for name, cell in zip([row["name"], "", ""], row["cells"], strict=True):
                remark = cell["ratio"]["text"] if "ratio" in cell else ""
                if cell.get("value") is None:
                    remark = cell["note"]
                elif not cell["valid"]:
                    remark = f"does not count: {cell['note']}"
                figure = [cell["text"], cell.get("interval", ""), remark]
                expected += [[name, labels[cell["implementation"]], *figure]]
    lines = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    assert [[cell.strip() for cell in line] for line in lines] == expected
    assert len(expected) == 48 + 2 * 3
    assert f"### {RUN}: " in text
    assert f"- 2026-11-21, standard, 12 rounds, run {RUN}\n" in text
    assert text.count("\n- Warning: ") == len(report["warnings"]) > 0


def test_markdown_shows_text_of_a_run_as_it_is(project: Path) -> None:
    results = Results.model_validate_json(output("show", RUN, "--json"))
    hostile = results.model_copy(update={"title": "a|b\n<script> {{ nope() }} #1"})
    lines = results_markdown(hostile).splitlines()
    assert "|  |  | median | 95% interval | against OpenSSL 3.6.1 |" in lines
    table = results.tables[0]
    bare = {"ratio": None, "interval": None, "best": False, "tied": False}
    single = table.rows[0].cells[0].model_copy(update=bare)
    rows = [table.rows[0].model_copy(update={"cells": [single]})]
    alone = table.model_copy(update={"baseline": None, "rows": rows})
    figures = results.model_copy(update={"tables": [alone]})
    assert "|  |  | median |" in results_markdown(figures).splitlines(), "no column is empty"
    first = lines[0]
    assert first == "### a\\|b \\<script\\> &#123;&#123; nope() &#125;&#125; \\#1"


@pytest.mark.parametrize(
    ("environment", "colored"),
    [({}, False), ({"FORCE_COLOR": "1"}, True), ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False)],
)
def test_color_is_by_the_usual_rules(environment: dict[str, str], colored: bool) -> None:
    inherited = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
    done = subprocess.run(
        [TLSPERF, "show", RUN], env=inherited | environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert ("\x1b[32m" in done.stdout) is colored  # green
    assert "1.70x faster" in done.stdout or "faster (" in done.stdout


# --- the project's folder -------------------------------------------------------------------------


def test_the_project_is_found_from_any_folder_in_it(
    project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for folder, root in (("", "."), ("data", ".."), ("data/runs", "../..")):
        monkeypatch.chdir(project / folder)
        assert find_root() == Path(root)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=f"{tmp_path} is in no folder with config.toml and data/"):
        find_root()


def test_a_name_may_be_a_path(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    for given in (RUN, f"data/runs/{RUN}", f"data/runs/{RUN}/", f"data/runs/{RUN}/run.toml"):
        assert run_id(given) == RUN
    assert report_id(f"content/perf/{RUN}/index.md") == RUN
    with pytest.raises(UserError, match="expected a name, or a path data/runs/<name>"):
        run_id(f"content/perf/{RUN}")
    monkeypatch.chdir(project / "data")
    assert run_id(f"runs/{RUN}") == RUN


def test_a_new_run_is_below_data_runs_from_any_folder(project: Path) -> None:
    root = Path("..")
    for given in ("2026-01-01-a", "data/runs/2026-01-01-a", "../data/runs/2026-01-01-a"):
        assert new_run_folder(root, given) == Path("../data/runs/2026-01-01-a")
    for given in ("perf/2026-01-01-a", "/tmp/2026-01-01-a"):
        with pytest.raises(UserError, match=r"runs are in \.\./data/runs"):
            new_run_folder(root, given)


def test_the_shell_completes_existing_names(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert completion.run_names("2026-11") == [RUN]
    assert completion.run_names("2025") == []
    assert completion.report_names("") == [RUN, "2026-11-21-other"]
    assert completion.runs_and_reports("2026-11-21-o") == ["2026-11-21-other"]
    assert completion.implementations("openssl") == ["openssl-3.6.1"]
    assert completion.implementations(f"{RUN}/o") == [f"{RUN}/openssl-3.6.1"]
    environment = {**os.environ, "_TLSPERF_COMPLETE": "complete_bash", "COMP_CWORD": "2"}
    done = subprocess.run(
        [TLSPERF], env={**environment, "COMP_WORDS": "tlsperf show 2026"}, capture_output=True
    )
    assert done.stdout.decode().split() == [RUN, "2026-11-21-other"]
    monkeypatch.chdir(tmp_path)
    assert completion.run_names("") == []
