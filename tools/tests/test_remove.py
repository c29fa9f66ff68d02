"""`tlsperf remove` takes out a report and what only it used, and breaks nothing that is left."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from commands import commit
from project import BESIDE, HERE, NOTE, SMALL, files
from tlsperf.contract.errors import UserError
from tlsperf.publish.build import build
from tlsperf.publish.remove import remove_report
from tlsperf.publish.render import render_reports
from tlsperf.publish.scaffold import new_report

FIRST, SECOND = "2026-10-01-small", SMALL.id


@pytest.fixture
def root(two_reports: Path, tmp_path: Path) -> Path:
    root = Path(shutil.copytree(two_reports, tmp_path / "project"))
    commit(root)
    return root


def of_run(lines: list[str], run: str) -> str:
    """What is printed of a run."""
    [found] = [line for line in lines if f"data/runs/{run}" in line]
    return found


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_a_report_goes_with_its_run_and_is_nowhere_afterwards(root: Path) -> None:
    lines = remove_report(root, SECOND)
    assert lines[:2] == [f"removed content/perf/{SECOND}", f"removed data/runs/{SECOND}"]
    assert not (root / "content" / "perf" / SECOND).exists()
    assert not (root / "data" / "runs" / SECOND).exists()
    assert render_reports(root, check=True) == 0, "what git holds is in order"
    build(root)
    render_reports(root, check=False)  # forgets what it recorded of the report
    assert [name for name, data in files(root).items() if SECOND.encode() in data] == []


@pytest.mark.parametrize(
    ("file", "text", "kept"),
    [
        ("data/hosts/another.toml", f"# known from {SECOND}", True),
        ("data/hosts/another.toml", f"# known from {SECOND}-b\n", False),
        ("data/comparisons/theirs.toml", f'run = "{SECOND}"\n', True),
    ],
)
def test_a_run_that_something_else_names_stays_and_the_place_is_printed(
    root: Path, file: str, text: str, kept: bool
) -> None:
    write(root / file, text)
    line = of_run(remove_report(root, SECOND), SECOND)
    assert (root / "data" / "runs" / SECOND).exists() is kept
    assert line.startswith(f"{'kept' if kept else 'removed'} data/runs/{SECOND}")
    assert (file in line) is kept
    assert not (root / "content" / "perf" / SECOND).exists()


def test_a_run_of_two_reports_stays_until_both_are_removed(root: Path) -> None:
    other = new_report(root, [SECOND], slug="other").parent.name
    assert f"content/perf/{other}/index.md" in of_run(remove_report(root, SECOND), SECOND)
    assert (root / "data" / "runs" / SECOND).exists()
    assert remove_report(root, other)[1] == f"removed data/runs/{SECOND}"


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("content/method.md", f"See [it](@/perf/{SECOND}/index.md)."),
        ("content/versions/_index.md", f"See [it](@/perf/{SECOND}/index.md).\n"),
        (
            "content/_index.md",
            f'+++\n[extra.answer]\nparts = [\n  "{FIRST}",\n  "{SECOND}",\n]\n+++\n',
        ),
        ("content/versions/rustls/index.md", f'[extra.versions]\nreport = "{SECOND}"\n'),
        ("docs/a.md", f"See content/perf/{SECOND}"),
        ("content/answers/b/index.md", f'[[extra.claims]]\nreports = ["{FIRST}", "{SECOND}"]\n'),
    ],
)
def test_a_report_that_another_page_needs_is_not_removed(root: Path, file: str, text: str) -> None:
    write(root / file, text)
    before = files(root)
    with pytest.raises(UserError, match=rf"{SECOND}.*{file}"):
        remove_report(root, SECOND)
    assert files(root) == before


@pytest.mark.parametrize("name", [BESIDE, HERE])
def test_a_report_whose_part_an_answer_quotes_is_not_removed(
    name: str, project: Path, tmp_path: Path
) -> None:
    root = Path(shutil.copytree(project, tmp_path / "parts"))
    before = files(root)
    said = "content/_index.md.*content/answers/" if name == BESIDE else f"a part of {BESIDE}"
    with pytest.raises(UserError, match=rf"{name}.*{said}"):
        remove_report(root, name)
    assert files(root) == before


def test_the_predecessor_of_a_report_is_not_removed(root: Path) -> None:
    before = files(root)
    with pytest.raises(UserError, match=rf"{FIRST}.*content/perf/{SECOND}/index.md"):
        remove_report(root, FIRST)
    assert files(root) == before


def test_a_note_that_names_a_run_which_is_gone_is_printed_with_its_line(root: Path) -> None:
    write(root / "data" / "notes.toml", NOTE.format(run=SECOND))
    lines = remove_report(root, SECOND)
    assert any(line.startswith(f"data/notes.toml:6: names {SECOND}") for line in lines)


def test_a_run_on_which_the_noise_of_a_later_run_may_rest_stays(root: Path) -> None:
    page = root / "content" / "perf" / SECOND / "index.md"
    text = page.read_text(encoding="utf-8").replace(f'previous = "{FIRST}"\n', "")
    page.write_text(text.replace("{{ changes() }}", ""), encoding="utf-8")
    commit(root)
    assert SECOND in of_run(remove_report(root, FIRST), FIRST)
    assert (root / "data" / "runs" / FIRST / "run.toml").exists()


def test_a_run_that_git_could_not_restore_stays(root: Path) -> None:
    (root / "data" / "runs" / SECOND / "run.toml").open("a").write("\n")
    assert of_run(remove_report(root, SECOND), SECOND).startswith("kept")


def test_a_report_whose_run_is_missing_is_removed(root: Path) -> None:
    shutil.rmtree(root / "data" / "runs" / SECOND)
    assert remove_report(root, SECOND)[0] == f"removed content/perf/{SECOND}"
    assert SECOND not in (root / "data" / "reports.json").read_text(encoding="utf-8")
