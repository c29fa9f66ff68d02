"""Checks look at what changed since it was recorded, and find what is wrong there."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from project import SMALL
from tlsperf.publish import checked
from tlsperf.publish.render import check_changed
from tlsperf.publish.validate import check

NEW, OLD = SMALL.id, "2026-10-01-small"


@pytest.fixture(scope="module")
def recorded(two_reports: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two reports, of which the later names the earlier, with everything found in order."""
    root = tmp_path_factory.mktemp("recorded") / "project"
    shutil.copytree(two_reports, root)
    assert check(root, changed=False)[0] == []
    return root


@pytest.fixture
def root(recorded: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(recorded, tmp_path / "project"))


def page(root: Path, report: str) -> Path:
    return root / "content" / "perf" / report / "index.md"


def looked_at(root: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, int]:
    """The exit code of the check, and how many reports it rendered."""
    code = check_changed(root)
    return code, int(capsys.readouterr().out.split()[0])


def test_what_is_recorded_is_not_looked_at_again(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert looked_at(root, capsys) == (0, 0)
    assert check(root, changed=True) == ([], 0)


def test_a_changed_sentence_has_its_report_alone_rendered(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = page(root, NEW)
    text = path.read_text("utf-8").replace("by tlsbench.", "by tlsbench, as an example.")
    path.write_text(text, encoding="utf-8")
    assert looked_at(root, capsys) == (0, 1)


@pytest.mark.parametrize(
    "name",
    [f"content/perf/{OLD}/page.json", f"content/perf/{OLD}/ratios.svg", "data/reports.json"],
)
def test_a_generated_file_that_was_edited_is_found(
    root: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = root / name
    path.write_text(path.read_text("utf-8").replace("2", "3", 1), encoding="utf-8")
    assert check_changed(root) == 1
    assert name in capsys.readouterr().err


def test_a_report_is_looked_at_when_one_that_it_names_changes(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert OLD in page(root, NEW).read_text("utf-8")
    path = page(root, OLD).with_name("page.json")
    path.write_text(path.read_text("utf-8") + "\n", encoding="utf-8")
    assert looked_at(root, capsys)[1] == 2


def test_reports_are_looked_at_when_the_spreads_between_runs_change(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    every = looked_at(root, capsys)[1]
    (root / "data" / "spreads.json").write_text('{"schema": 1, "models": []}', encoding="utf-8")
    assert looked_at(root, capsys)[1] > every


def test_what_is_recorded_is_known_from_every_folder(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root / "data")
    assert looked_at(Path(".."), capsys) == (0, 0)
    assert check(Path(".."), changed=True) == ([], 0)


def test_damaged_raw_data_are_found_though_their_run_was_valid(root: Path) -> None:
    raw = root / "data" / "runs" / NEW / "raw" / "records.jsonl"
    raw.write_bytes(raw.read_bytes().replace(b"5", b"6", 1))
    problems, runs = check(root, changed=True)
    assert runs == 1
    assert any("sha256" in problem for problem in problems)


def test_other_code_has_everything_looked_at(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = root / "config.toml"
    code.write_text(code.read_text("utf-8") + "\n# changed\n", encoding="utf-8")
    assert looked_at(root, capsys)[1] == 2
    assert check(root, changed=True)[1] == 2


def test_what_is_wrong_is_not_recorded(root: Path) -> None:
    record = root / checked.FILE
    before = record.read_bytes()
    (root / "data" / "runs" / NEW / "run.toml").write_text("schema = 2\n", encoding="utf-8")
    assert check(root, changed=False)[0]
    assert record.read_bytes() == before


def test_a_record_that_cannot_be_read_has_everything_looked_at(root: Path) -> None:
    (root / checked.FILE).write_text("<<<<<<< ours\n", encoding="utf-8")
    assert check(root, changed=True)[1] == 2
