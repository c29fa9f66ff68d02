"""The command line starts quickly and prints a user's error as one message."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys

import pytest
import typer
from typer.core import TyperGroup
from typer.testing import CliRunner

from tlsperf import cli
from tlsperf.contract.errors import FormatError


def commands_of_tlsperf() -> TyperGroup:
    group = typer.main.get_command(cli.app)
    assert isinstance(group, TyperGroup)
    return group


def test_an_error_is_one_message_and_exit_code_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise FormatError("raw/records.jsonl", 3, "schema 2", "schema 1")

    monkeypatch.setattr(cli, "app", fail)
    with pytest.raises(SystemExit) as caught:
        cli.main()
    assert caught.value.code == 1
    assert capsys.readouterr().err == (
        "tlsperf: raw/records.jsonl:3: found schema 2, expected schema 1\n"
    )


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


def test_the_help_of_each_command_ends_with_one_line_that_it_accepts() -> None:
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
