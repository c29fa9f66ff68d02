"""The command line starts quickly and prints a user's error as one message."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.core import TyperGroup
from typer.testing import CliRunner

from commands import tlsperf
from project import OPENSSL, RUSTLS, SMALL, write_small
from records import BULK
from tlsperf import cli
from tlsperf.contract.errors import FormatError, UsageError
from tlsperf.exits import Printed

EARLIER = f"2026-10-01{SMALL.id[10:]}"
GO_ON = "the reports written so far stay; the same command goes on"
FAILED = [
    (
        FormatError("raw/records.jsonl", 3, "schema 2", "schema 1"),
        1,
        "raw/records.jsonl:3: found schema 2, expected schema 1",
    ),
    (UsageError("--date: found 'x', expected a date"), 2, "--date: found 'x', expected a date"),
    (PermissionError(13, "Permission denied", "build"), 1, "build: Permission denied"),
    (
        shutil.Error([("a", "b", "[Errno 28] No space left on device: 'b'"), ("c", "d", "e")]),
        1,
        "No space left on device: 'b'",
    ),
    (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad start"), 1, "'utf-8' codec can't decode"),
    (RuntimeError("Symlink loop from 'data'"), 1, "Symlink loop from 'data'"),
    (KeyboardInterrupt(), 130, f"interrupted: {GO_ON}"),
]


def commands_of_tlsperf() -> TyperGroup:
    group = typer.main.get_command(cli.app)
    assert isinstance(group, TyperGroup)
    return group


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


@pytest.mark.parametrize(
    ("command", "closed", "code"),
    [
        ("export", ">&-", 0),
        (f"show {SMALL.id}", ">&-", 0),
        (f"show {SMALL.id}", ">&- 2>&-", 0),
        ("show none", "2>&-", 1),
        ("show --none", "2>&-", 2),
    ],
)
def test_a_command_needs_no_output(two_reports: Path, command: str, closed: str, code: int) -> None:
    program = [sys.executable, "-m", "tlsperf", *command.split()]
    ended = subprocess.run(
        ["sh", "-c", f'"$@" {closed}', "sh", *program], cwd=two_reports, capture_output=True
    )
    assert (ended.returncode, ended.stdout + ended.stderr) == (code, b"")


def test_the_help_lists_each_command_once_in_a_group_with_a_whole_sentence() -> None:
    shown = CliRunner().invoke(cli.app, ["--help"], env={"COLUMNS": "80"}).stdout
    groups = re.findall(r"^([A-Z][a-z ]+):\n((?:  [a-z].*\n)+)", shown, re.MULTILINE)
    assert [title for title, _ in groups] == [
        "Make a report",
        "Read figures",
        "Keep the data",
        "Other commands",
    ]
    lines = [line for _, commands in groups for line in commands.splitlines()]
    assert sorted(line.split()[0] for line in lines) == sorted(commands_of_tlsperf().commands)
    assert all(line.endswith(".") and not line.endswith("...") for line in lines), lines


def test_the_help_of_each_command_ends_with_one_line_that_it_accepts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for file in ("quick.tar.gz", "2026-11-26-quick.tar.gz", "bench/suites/quick.toml"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    for name, command in commands_of_tlsperf().commands.items():
        shown = CliRunner().invoke(cli.app, [name, "--help"], env={"COLUMNS": "80"}).stdout
        [example] = re.findall(r"^  Example: (.*)$", shown, re.MULTILINE)
        assert shown.endswith(f"{example}\n"), shown
        program, called, *arguments = shlex.split(example)
        assert (program, called) == ("tlsperf", name)
        with command.make_context(name, arguments) as context:
            assert not context.args


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


# --- what a terminal would obey --------------------------------------------------------------------

ATTACK = "\x1b[2J\x9b8m\x07\x7f\r\u202e"
"""Clears a screen, hides text, rings, overwrites a line, turns text around."""
AS_TEXT = r"\u001b[2J\u009b8m\u0007\u007f\u000d\u202e"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose runs and raw files have control characters in every text that allows them."""
    root = tmp_path_factory.mktemp("hostile")
    write_small(root, EARLIER[:10])
    for path in root.glob("data/runs/*/run.toml"):
        text = path.read_text(encoding="utf-8")
        for key in ("cpu", "os", "c_compiler", "allocator"):
            text = text.replace(f'\n{key} = "', f'\n{key} = "{AS_TEXT}')
        more = f'[[warnings]]\ncode = "method"\nmessage = "{AS_TEXT}"\n\n[[files]]\n'
        path.write_text(text.replace("[[files]]\n", more, 1), encoding="utf-8")
    for path in root.glob("data/hosts/*.toml"):
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace('\nname = "', f'\nname = "{AS_TEXT}', 1), encoding="utf-8")
    (root / "raw").write_text(f"{BULK}{ATTACK}\n", encoding="utf-8")
    (root / "odd.toml").write_text(f"{ATTACK} = 1\n", encoding="utf-8")
    (root / f"{ATTACK}.tar.gz").write_bytes(b"")
    odd = root / "data" / "runs" / "2026-01-01-odd"
    odd.mkdir()
    (odd / "run.toml").write_text(f'id = "{AS_TEXT}"\n', encoding="utf-8")
    return root


@pytest.mark.parametrize(
    "command",
    [
        *(f"show data/runs/{SMALL.id} --format {form}" for form in ("text", "markdown", "json")),
        f"show {SMALL.id} --format csv",
        f"compare {EARLIER}/{OPENSSL} {SMALL.id}/{OPENSSL} --across-hosts",
        f"compare {OPENSSL} {RUSTLS}",
        f"noise {SMALL.id}",
        "show 2026-01-01-odd",
        f"show {ATTACK}",
        f"import {ATTACK}.tar.gz",
        "import raw --out 2026-01-02-a --implementation openssl-3.6.1 --from openssl-bench/2023",
        "compare --tables odd.toml",
        f"export csv {SMALL.id}",
        "validate",
        "render",
    ],
)
def test_no_control_character_of_a_file_reaches_the_terminal(hostile: Path, command: str) -> None:
    done = tlsperf(hostile, *command.split(" "))
    printed = done.out + done.errors
    assert printed
    assert [c for c in printed if not c.isprintable() and c not in "\n\t"] == []


def test_no_control_character_of_several_lines_reaches_it_either() -> None:
    beneath = io.StringIO()
    Printed(beneath).writelines([ATTACK, "\n"])
    assert beneath.getvalue() == f"{AS_TEXT}\n"


def test_what_a_file_has_instead_is_printed_as_text(hostile: Path) -> None:
    for form in ("text", "markdown"):
        assert "u001b" in tlsperf(hostile, "show", f"data/runs/{SMALL.id}", "--format", form).out
    shown = json.loads(tlsperf(hostile, "show", f"data/runs/{SMALL.id}", "--format", "json").out)
    assert shown["hosts"][0]["cpu"].startswith(ATTACK), "a program reads what the file has"


def test_a_terminal_still_has_colours(monkeypatch: pytest.MonkeyPatch, hostile: Path) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    printed = tlsperf(hostile, "show", f"data/runs/{SMALL.id}").out
    assert "\x1b[1m" in printed
    assert "\x1b[2J" not in printed
