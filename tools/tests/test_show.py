"""`tlsperf show`, and how the command line finds its project and completes names."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from project import ARM, BOTH, EXAMPLE, OLD, REPORTS
from tlsperf.cli import app
from tlsperf.contract.errors import UserError
from tlsperf.contract.results import Cell, Results
from tlsperf.load import completion
from tlsperf.load.root import find_root, new_run_folder, report_id, run_id
from tlsperf.publish.lines import results_markdown
from tlsperf.publish.terminal import print_results


@pytest.fixture(autouse=True)
def inside(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project / "content")
    for name in ("FORCE_COLOR", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def results() -> Results:
    """Figures of which one is missing and one does not count."""
    return Results.model_validate_json(EXAMPLE.read_bytes())


def output(*arguments: str, **environment: str) -> str:
    result = CliRunner().invoke(app, arguments, env=environment)
    assert result.exit_code == 0, result.output
    return result.output


def test_a_run_is_shown_as_a_report_on_it_shows_it(project: Path) -> None:
    folder = project / "content" / "perf" / OLD
    report = json.loads((folder / "results.json").read_bytes())
    shown = json.loads(output("show", f"../data/runs/{OLD}", "--format", "json"))
    for part in ("tables", "noise", "hosts"):
        assert shown[part] == report[part], part
    of_report = output("show", f"perf/{OLD}", "--format", "json")
    assert of_report == (folder / "results.json").read_text("utf-8")
    assert output("show", OLD, "--format", "csv") == (folder / "results.csv").read_text("utf-8")
    assert output("show", OLD, "--format", "markdown").startswith("### ")
    assert json.loads(output("show", BOTH, "--format", "json"))["id"] == BOTH, "no run has its name"


def texts_of(cell: Cell) -> list[str]:
    """What a reader must find of a figure: its text, its interval, and its ratio or a reason."""
    if cell.value is None or not cell.valid:
        assert cell.note
        return [cell.text, cell.note]
    return [cell.text, cell.interval or "", cell.ratio.text if cell.ratio else "", *cell.warnings]


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_each_figure_is_shown_with_its_interval_and_its_ratio_or_reason(
    form: str, results: Results
) -> None:
    of_two_runs = results.model_copy(update={"warnings": 2 * results.warnings})
    written = io.StringIO(results_markdown(of_two_runs))
    if form == "text":
        written = io.StringIO()
        print_results(of_two_runs, Console(file=written, width=1000))
    text = written.getvalue()
    labels = {i.id: i.label for i in results.implementations}
    tables = [table for table in results.tables if not table.by_phase]
    cells = [cell for table in tables for row in table.rows for cell in row.cells]
    assert {cell.value is not None and cell.valid for cell in cells} == {True, False}
    lines = [
        line
        for line in text.splitlines()
        if line.startswith(("  ", "|")) and any(label in line for label in labels.values())
    ]
    for line, cell in zip((of for of in lines if "median" not in of), cells, strict=True):
        parts = [labels[cell.implementation], *texts_of(cell)]
        assert re.search(".*".join(map(re.escape, parts)), line), parts
    heads = [line for line in text.splitlines() if "median" in line and "95% interval" in line]
    assert len(heads) == len(tables)
    for name in (row.name for table in tables for row in table.rows):
        assert text.count(name) == 1, "the name of a row is printed once"
    for table in tables:
        assert f"{table.title}, {table.unit}" in text
    assert results.runs[0].id in text
    assert text.lower().count("warning: ") == len(results.warnings) > 0


def test_a_terminal_of_80_columns_breaks_no_figure_no_ratio_and_no_name_of_a_row(
    results: Results,
) -> None:
    written = io.StringIO()
    print_results(results, Console(file=written, width=80))
    lines = [line.rstrip() for line in written.getvalue().splitlines()]
    assert max(map(len, lines)) <= 80
    for row in (row for table in results.tables if not table.by_phase for row in table.rows):
        assert row.name in lines
        for cell in row.cells:
            tested = (
                cell.ratio if cell.ratio and cell.ratio.verdict in ("faster", "slower") else None
            )
            texts = (f" {cell.text}  ", cell.interval or "", tested.text if tested else "")
            figure = re.compile(".*".join(map(re.escape, texts)))
            assert any(figure.search(line) for line in lines), texts


def test_markdown_shows_text_of_a_run_as_it_is(results: Results) -> None:
    hostile = results.model_copy(update={"title": "a|b\n<script> {{ nope() }} #1"})
    first = results_markdown(hostile).splitlines()[0]
    assert first == "### a\\|b \\<script\\> &#123;&#123; nope() &#125;&#125; \\#1"


@pytest.mark.parametrize(
    ("notes", "beside", "below"),
    [
        (("unpaired", "unpaired"), 0, 1),
        (("unpaired", "of counts"), 1, 0),
        (("unpaired", None), 1, 0),
    ],
)
def test_the_note_of_a_ratio_is_beside_it_or_below_the_table_if_all_have_it(
    notes: tuple[str | None, ...], beside: int, below: int, results: Results
) -> None:
    table = next(table for table in results.tables if table.baseline)
    cells = [
        cell.model_copy(update={"ratio": cell.ratio.model_copy(update={"note": note})})
        for cell, note in zip((c for c in table.rows[0].cells if c.ratio), notes, strict=False)
        if cell.ratio
    ]
    cells[0] = cells[0].model_copy(update={"warnings": ["11 rounds count where others have 12"]})
    row = table.rows[0].model_copy(update={"cells": cells})
    alone = table.model_copy(update={"rows": [row]})
    text = results_markdown(results.model_copy(update={"tables": [alone]}))
    assert text.count(r" (unpaired)") == beside
    assert text.count(" All ratios are unpaired.") == below
    assert text.count("; 11 rounds count where others have 12 |") == 1


def test_markdown_of_single_figures_has_no_empty_column(results: Results) -> None:
    table = results.tables[0]
    bare = {"ratio": None, "interval": None, "best": False, "tied": False, "count": 1}
    single = table.rows[0].cells[0].model_copy(update=bare)
    rows = [table.rows[0].model_copy(update={"cells": [single]})]
    alone = table.model_copy(update={"baseline": None, "rows": rows})
    figures = results.model_copy(update={"tables": [alone]})
    assert "|  |  | figure |" in results_markdown(figures).splitlines()


@pytest.mark.parametrize(
    ("environment", "colored"),
    [({}, False), ({"FORCE_COLOR": "1"}, True), ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False)],
)
def test_color_is_by_the_usual_rules(environment: dict[str, str], colored: bool) -> None:
    shown = output("show", OLD, **environment)
    assert ("\x1b[32m" in shown) is colored  # green
    assert "1.71x faster" in shown


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
    for given in (OLD, f"data/runs/{OLD}", f"data/runs/{OLD}/", f"data/runs/{OLD}/run.toml"):
        assert run_id(given) == OLD
    assert report_id(f"content/perf/{OLD}/index.md") == OLD
    with pytest.raises(UserError, match="expected a name, or a path data/runs/<name>"):
        run_id(f"content/perf/{OLD}")
    monkeypatch.chdir(project / "data")
    assert run_id(f"runs/{OLD}") == OLD


def test_a_new_run_is_below_data_runs_from_any_folder() -> None:
    root = Path("..")
    for given in ("2026-01-01-a", "data/runs/2026-01-01-a", "../data/runs/2026-01-01-a"):
        assert new_run_folder(root, given) == Path("../data/runs/2026-01-01-a")
    for given in ("perf/2026-01-01-a", "/tmp/2026-01-01-a"):
        with pytest.raises(UserError, match=r"runs are in \.\./data/runs"):
            new_run_folder(root, given)


def test_the_shell_completes_existing_names(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    runs = completion.run_names(OLD[:4])
    assert {OLD, ARM} < {*runs}
    assert runs == sorted(name for name in runs if name.startswith(OLD[:4]))
    assert completion.run_names("2024") == []
    assert completion.report_names("") == sorted(REPORTS)
    assert completion.runs_and_reports(BOTH) == [BOTH]
    assert completion.implementations("boringssl-2") == ["boringssl-29cd934"]
    assert completion.implementations(f"{OLD}/o") == [f"{OLD}/openssl-3.5.5"]
    monkeypatch.chdir(tmp_path)
    assert completion.run_names("") == []


@pytest.mark.parametrize(
    ("shell", "request_of"),
    [
        ("bash", {"COMP_CWORD": "2", "COMP_WORDS": f"tlsperf show {OLD[:9]}"}),
        ("zsh", {"_TYPER_COMPLETE_ARGS": f"tlsperf show {OLD[:9]}"}),
        (
            "fish",
            {
                "_TYPER_COMPLETE_ARGS": f"tlsperf show {OLD[:9]}",
                "_TYPER_COMPLETE_FISH_ACTION": "get-args",
            },
        ),
    ],
)
def test_the_script_of_a_shell_asks_for_names_as_the_command_answers(
    shell: str, request_of: dict[str, str]
) -> None:
    script = output("completions", shell)
    assert f"_TLSPERF_COMPLETE=complete_{shell}" in script
    assert all(name in script for name in request_of)
    environment = {"_TLSPERF_COMPLETE": f"complete_{shell}", **request_of}
    done = CliRunner().invoke(app, [], env=environment, prog_name="tlsperf")
    assert OLD in done.output
