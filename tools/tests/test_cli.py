"""The command line starts quickly and prints a user's error as one message."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from commands import tlsperf
from tlsperf import cli
from tlsperf.contract.errors import FormatError, UsageError

GO_ON = "the reports written so far stay; the same command goes on"
FAILED = [
    (
        FormatError("raw/records.jsonl", 3, "schema 2", "schema 1"),
        1,
        "raw/records.jsonl:3: found schema 2, expected schema 1",
    ),
    (UsageError("--date: found 'x', expected a date"), 2, "--date: found 'x', expected a date"),
    (PermissionError(13, "Permission denied", "build"), 1, "build: Permission denied"),
    (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad start"), 1, "'utf-8' codec can't decode"),
    (RuntimeError("Symlink loop from 'data'"), 1, "Symlink loop from 'data'"),
    (KeyboardInterrupt(), 130, f"interrupted: {GO_ON}"),
]


@pytest.mark.parametrize(("error", "code", "says"), FAILED, ids=lambda it: type(it).__name__)
def test_an_error_is_one_line_and_an_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, says: str
) -> None:
    def fail(_: Path) -> None:
        raise error

    monkeypatch.setattr("tlsperf.publish.build.build", fail)
    (tmp_path / "data").mkdir()
    (tmp_path / "config.toml").touch()
    done = tlsperf(tmp_path, "build")
    assert done.code == code
    assert done.errors.startswith(f"tlsperf: {says}")
    assert done.errors.count("\n") == 1


@pytest.mark.parametrize(("command", "code"), [("--help", 1), ("export", 1), ("compare --help", 2)])
def test_a_command_ends_quietly_when_nobody_reads_on(command: str, code: int) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    ended = subprocess.run(
        [sys.executable, "-m", "tlsperf", *command.split()],
        env=os.environ | {"PYTHONUNBUFFERED": ""},
        stdout=writer,
        stderr=subprocess.PIPE,
    )
    os.close(writer)
    assert (ended.returncode, ended.stderr) == (code, b"")


def test_a_command_needs_no_output() -> None:
    command = [sys.executable, "-m", "tlsperf", "export"]
    ended = subprocess.run(["sh", "-c", '"$@" >&-', "sh", *command], stderr=subprocess.PIPE)
    assert (ended.returncode, ended.stderr) == (0, b"")


def test_the_help_has_a_whole_sentence_for_each_command() -> None:
    shown = CliRunner().invoke(cli.app, ["--help"], env={"COLUMNS": "80"}).stdout
    _, commands = shown.split("Commands:\n")
    lines = commands.strip().splitlines()
    assert len(lines) == len(cli.app.registered_commands)
    assert all(line.endswith(".") and not line.endswith("...") for line in lines), commands


def test_help_names_arguments_in_words_of_the_project() -> None:
    for command in cli.app.registered_commands:
        name = command.name or command.callback.__name__  # type: ignore[union-attr]
        shown = CliRunner().invoke(cli.app, [name, "--help"], env={"COLUMNS": "200"}).stdout
        assert f"Usage: tlsperf {name}" in shown.replace("Usage: root", "Usage: tlsperf"), shown
        assert not re.search(r"^  --[a-z-]+ <(?:str|path|int|float|%)", shown, re.MULTILINE), shown


def test_help_does_not_load_the_heavy_modules() -> None:
    script = "import sys, tlsperf.cli; print({'pandas', 'scipy', 'vl_convert'} & set(sys.modules))"
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert result.stdout == "set()\n"
