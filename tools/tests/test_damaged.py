"""A damaged text file gives `tlsperf render` one message, not a traceback."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from project import HOST, NOTE, OPENSSL, RUSTLS, SMALL, write_small
from test_compare import DEFINITION as PUBLISHED
from tlsperf.cli import main
from tlsperf.contract.errors import UserError
from tlsperf.load.comparisons import read_definition, read_printed
from tlsperf.publish.render import render_reports

RUN = SMALL.id
PAGE = f"content/perf/{RUN}/index.md"
COMPARED = "data/comparisons/theirs.toml"
NOTES = NOTE.format(run="2026-01-01-x")
BETWEEN = {"run": RUN, "layout": "factor", "left": OPENSSL, "right": RUSTLS}
DEFINITION = PUBLISHED.format(**BETWEEN, errata="", scenarios='["bulk_*"]')
HEAD = f'+++\ntitle = "x"\ndate = {RUN[:10]}\n'
DECIDED = f'[extra.report]\nruns = ["{RUN}"]\n'


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("rendered")
    write_small(root)
    (root / "data" / "notes.toml").write_text(NOTES, encoding="utf-8")
    (root / COMPARED).parent.mkdir()
    (root / COMPARED).write_text(DEFINITION, encoding="utf-8")
    render_reports(root, check=False)
    return root


FILES = (
    "config.toml",
    "data/notes.toml",
    f"data/hosts/{HOST}.toml",
    f"data/runs/{RUN}/run.toml",
    f"data/runs/{RUN}/raw/records.jsonl",
    COMPARED,
    PAGE,
)
CONTENTS = {
    "bytes": b"\xff\xfe\x00\x01",
    "nothing": b"",
    "a page": b"<html></html>",
    "no TOML": b"a = [1,\n",
    "a NUL": b"a = 1\n\0",
    "JSON": b'{"note": [{}]}',
    "other keys": b"another = 1\n",
}


def refused(root: Path, file: str, content: bytes) -> str:
    """The message of rendering with this content in a file; the file is restored."""
    path = root / file
    before = path.read_bytes()
    path.write_bytes(content)
    try:
        with pytest.raises(UserError) as caught:
            render_reports(root, check=True)
    finally:
        path.write_bytes(before)
    return str(caught.value)


@pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS)
@pytest.mark.parametrize("file", FILES)
def test_a_file_with_other_content_is_reported(rendered: Path, file: str, content: bytes) -> None:
    message = refused(rendered, file, content)
    assert Path(file).name in message
    assert len(message.splitlines()) < 4


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("data/notes.toml", "note = 'x'\n", "notes.toml: found note 'x', expected [[note]]"),
        ("data/notes.toml", "note = 1\n", "notes.toml: found note 1, expected [[note]]"),
        ("data/notes.toml", "[note]\nid = 'n'\n", "notes.toml: found note {'id': 'n'}, expected"),
        ("data/notes.toml", "note = ['x']\n", "notes.toml: found note 'x', expected [[note]]"),
        ("data/notes.toml", f"{NOTES}mark = 1\n", "notes.toml: found note 'n': mark, expected"),
        ("data/notes.toml", f"{NOTES}scenarios = 'x'\n", "note 'n': scenarios, expected"),
        ("data/notes.toml", f"{NOTES}\n{NOTES}", "notes.toml: found note 'n' twice, expected"),
        ("config.toml", "title = 1\ndescription = ''\n", "config.toml: found title 1, expected"),
        ("config.toml", "title = 'x'\n", "config.toml: found no description, expected"),
        (PAGE, f"{HEAD}extra = 1\n+++\n", "index.md: found no [extra.report]"),
        (PAGE, f"{HEAD}[extra]\nreport = 1\n+++\n", "index.md: found no [extra.report]"),
        (
            PAGE,
            f"{HEAD}{DECIDED}[extra]\ngenerated = 1\n+++\n",
            "index.md: found extra.generated 1, expected a table",
        ),
        (
            PAGE,
            f"{HEAD}{DECIDED}[extra.generated]\nfiles = 1\n+++\n",
            "index.md: found extra.generated.files 1, expected a list of names",
        ),
        (
            PAGE,
            f"{HEAD}{DECIDED}[extra.generated]\nfiles = [1]\n+++\n",
            "index.md: found extra.generated.files [1], expected a list of names",
        ),
        (PAGE, f"+++\ntitle = 1\ndate = {RUN[:10]}\n{DECIDED}+++\n", "index.md: found title 1"),
        (PAGE, f"+++\ntitle = 'x'\ndate = 'x'\n{DECIDED}+++\n", "index.md: found date 'x'"),
    ],
)
def test_a_file_with_a_wrong_value_is_reported_with_the_expected_one(
    rendered: Path, file: str, content: str, said: str
) -> None:
    assert said in refused(rendered, file, content.encode())


@pytest.mark.parametrize("name", ["../../../README.md", "/etc/passwd", "a/b", "..", ""])
def test_rendering_removes_no_file_outside_a_reports_folder(rendered: Path, name: str) -> None:
    content = f"{HEAD}{DECIDED}[extra.generated]\nfiles = ['{name}']\n+++\n"
    assert f"extra.generated.files ['{name}']" in refused(rendered, PAGE, content.encode())


def test_a_published_table_that_is_not_text_is_reported(rendered: Path, tmp_path: Path) -> None:
    definition = read_definition(rendered / COMPARED)
    (tmp_path / definition.published).write_bytes(b"\xff\xfe")
    with pytest.raises(UserError, match=definition.published):
        read_printed(tmp_path / "theirs.toml", definition)


@pytest.mark.parametrize("file", ["data/notes.toml", PAGE])
def test_a_folder_in_place_of_a_file_is_one_message_of_the_command(
    rendered: Path,
    file: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    root = Path(shutil.copytree(rendered, tmp_path / "site"))
    (root / file).unlink()
    (root / file).mkdir()
    monkeypatch.chdir(root)
    monkeypatch.setattr(sys, "argv", ["tlsperf", "render"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    assert capsys.readouterr().err == f"tlsperf: {file}: Is a directory\n"
