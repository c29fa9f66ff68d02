"""Figures that a note withdraws are nowhere, as if nobody had measured them; its text says why."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from project import LATENCY, RUN, write_report, write_run
from records import BULK
from synthetic import HANDSHAKES, TRANSFERS, Rates, loaded_run, report_of
from tlsperf.cli import app
from tlsperf.contract.errors import FormatError, UserError
from tlsperf.contract.results import Caveat, Results
from tlsperf.load.histograms import read_histograms
from tlsperf.load.notes import read_caveats
from tlsperf.load.run import (
    load_run,
    load_whole_run,
    read_run,
    read_runs,
    read_whole_run,
    without_withdrawn,
)
from tlsperf.publish.compare import compared
from tlsperf.publish.runs import import_files
from tlsperf.publish.validate import problems
from tlsperf.report.notes import caveats_for

GONE = "boringssl"
WHY = "BoringSSL is not shown: a made-up reason."


NOTE = f"""\
[[note]]
id = "a-note"
kind = "setup"
title = "A note"
text = "{WHY}"
runs = ["{{run}}"]
libraries = ["{{library}}"]
{{more}}
sources = [{{{{ title = "a source", url = "https://example.org" }}}}]
"""


def note_text(run: str = RUN, library: str = GONE, more: str = "withdraws = true") -> str:
    return NOTE.format(run=run, library=library, more=more)


def note(run: str = RUN, library: str = GONE) -> Caveat:
    [table] = tomllib.loads(note_text(run, library))["note"]
    return Caveat.model_validate(table)


def write_note(root: Path, **of: str) -> Path:
    path = root / "data" / "notes.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(note_text(**of), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def noted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("withdrawn")
    write_note(root)
    write_report(root)
    return root


def results_of(root: Path) -> Results:
    path = root / "content" / "perf" / RUN / "results.json"
    return Results.model_validate_json(path.read_bytes())


def generated(root: Path) -> dict[str, str]:
    """The text of each generated file, without the reason and without the library's page."""
    paths = [*(root / "content").rglob("*"), *(root / "data").glob("*")]
    return {
        path.relative_to(root).as_posix(): path.read_text(encoding="utf-8").replace(WHY, "")
        for path in paths
        if path.is_file() and path.suffix != ".png" and path.name != "notes.toml"
        if path.parent.name != GONE
    }


def test_no_table_picture_comparison_or_index_has_them(noted: Path) -> None:
    files = generated(noted)
    assert {f"content/perf/{RUN}/comparisons.json", "data/index.csv"} < files.keys()
    assert [name for name in files if name.endswith(".svg")] != []
    assert [name for name, text in files.items() if GONE in text.lower()] == []
    results = results_of(noted)
    assert {i.library for i in results.implementations} == {"openssl", "rustls"}


def test_the_report_says_why_and_links_the_raw_files(noted: Path) -> None:
    results = results_of(noted)
    assert [w.message for w in results.warnings if w.code == "withdrawn"] == [WHY]
    assert [shown.id for shown in results.notes] == ["a-note"]
    assert [file.path for file in results.runs[0].files] == ["raw/records.jsonl"]
    page = json.loads((noted / "content/perf" / RUN / "page.json").read_text("utf-8"))
    [part] = page["parts"]
    assert part["said"]["figures"][0] == WHY
    assert [shown["text"] for shown in page["notes"]] == [WHY]


def test_compare_and_its_list_of_builds_do_not_have_them(noted: Path) -> None:
    for name in ("newest.json", "libraries.json", "short.json"):
        assert GONE not in (noted / "content" / "compare" / name).read_text("utf-8").lower()


@pytest.mark.parametrize(
    "how", [{"more": ""}, {"run": "2026-11-22-another"}], ids=["without the flag", "another run"]
)
def test_figures_that_no_note_withdraws_are_shown(tmp_path: Path, how: dict[str, str]) -> None:
    write_note(tmp_path, **how)
    write_report(tmp_path)
    results = results_of(tmp_path)
    assert GONE in {i.library for i in results.implementations}
    assert [w for w in results.warnings if w.code == "withdrawn"] == []
    libraries = json.loads((tmp_path / "content/compare/libraries.json").read_text("utf-8"))
    assert GONE in libraries


def test_what_remains_is_computed_as_if_they_had_not_been_measured() -> None:
    scenarios = [*TRANSFERS, *HANDSHAKES]
    kept: Rates = {
        name: {s: [base + n + k / 7 for n in range(8)] for k, s in enumerate(scenarios)}
        for name, base in (("openssl-1", 900.0), ("rustls-1", 930.0))
    }
    best: Rates = {"boringssl-1": {s: [2000.0 + n for n in range(8)] for s in scenarios}}
    never = report_of(loaded_run(RUN, kept), baseline="openssl-1").results
    whole = loaded_run(RUN, {**best, **kept})
    assert report_of(whole, baseline="openssl-1").results != never
    left = without_withdrawn(whole, [note()])
    assert report_of(left, baseline="openssl-1").results == never
    assert [of.id for of in left.withdrawn] == ["boringssl-1"]


def test_a_note_is_only_on_a_report_that_would_show_the_library() -> None:
    results = report_of(loaded_run(RUN, {"openssl-1": {TRANSFERS[0]: [1.0, 2.0]}})).results
    assert caveats_for(results, [note()], {RUN: set()}) == []
    assert caveats_for(results, [note()], {"2026-11-22-another": {GONE}}) == []
    assert [shown.id for shown in caveats_for(results, [note()], {RUN: {GONE}})] == ["a-note"]


def output(*arguments: str) -> str:
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    return result.output


def test_the_commands_agree(noted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(noted)
    shown = Results.model_validate_json(output("show", f"data/runs/{RUN}", "--format", "json"))
    assert shown.tables == results_of(noted).tables
    for text in (output("show", RUN), output("show", RUN, "--format", "markdown")):
        assert WHY in text
        assert GONE not in text.replace(WHY, "").lower()
    assert GONE not in output("export", "benchfmt", RUN).lower()
    with pytest.raises(UserError, match=f"'boringssl-30cd935' has no figures: {WHY}"):
        compared(noted, "boringssl-30cd935", "openssl-3.6.1")


def test_all_raw_figures_are_still_checked(noted: Path) -> None:
    folder = noted / "data" / "runs" / RUN
    assert problems(noted / "data") == []
    assert GONE in {i.library for i in load_whole_run(folder).run.implementations}
    assert GONE not in {i.library for i in load_run(folder).run.implementations}
    assert GONE in {i.library for i in read_whole_run(folder).implementations}
    assert read_run(folder) == read_runs(folder.parent)[RUN] == load_run(folder).run


def test_an_import_keeps_what_a_note_withdraws(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "runs" / "2026-01-02-a-run"
    given = tmp_path / "output"
    given.write_text(BULK, encoding="utf-8")
    import_files([given], "boringssl-1", folder)
    write_note(tmp_path, run=folder.name)
    given.write_text(BULK.replace("6512.01", "6500.01"), encoding="utf-8")
    import_files([given], "openssl-3.6.1", folder)
    assert [of.id for of in read_run(folder).implementations] == ["openssl-3.6.1"]
    assert "boringssl-1" in {of.id for of in read_whole_run(folder).implementations}


def test_a_run_of_which_nothing_is_left_is_an_error_of_its_own(tmp_path: Path) -> None:
    folder = write_run(tmp_path)
    path = write_note(tmp_path)
    every = path.read_text("utf-8").replace(f'["{GONE}"]', '["boringssl", "openssl", "rustls"]')
    path.write_text(every, encoding="utf-8")
    assert read_runs(folder.parent)[RUN].implementations == []
    with pytest.raises(UserError, match=f"run {RUN} has no figures to show: .*a-note"):
        load_run(folder)


def test_published_histograms_are_withdrawn_too(project: Path) -> None:
    folder = project / "data" / "runs" / LATENCY
    whole = load_whole_run(folder)
    left = without_withdrawn(whole, [note(LATENCY, "openssl")])
    of = {i.id: i.library for i in whole.run.implementations}
    assert {of[id_] for _, id_ in read_histograms(folder, whole)} > {"openssl"}
    assert "openssl" not in {of[id_] for _, id_ in read_histograms(folder, left)}


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        (f'libraries = ["{GONE}"]\n', "", "note 'a-note': withdraws"),
        ("sources", 'scenarios = [{ side = "client" }]\nsources', "note 'a-note': withdraws"),
        (f'["{GONE}"]', '["boringsll"]', "note 'a-note': boringsll"),
    ],
)
def test_a_note_that_withdraws_needs_known_libraries_and_no_scenarios(
    tmp_path: Path, old: str, new: str, found: str
) -> None:
    path = write_note(tmp_path)
    path.write_text(path.read_text("utf-8").replace(old, new, 1), encoding="utf-8")
    with pytest.raises(FormatError, match=f"{re.escape(str(path))}.*{found}"):
        read_caveats(path)
