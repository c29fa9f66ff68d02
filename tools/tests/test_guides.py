"""Guides name what exists, and what they show works."""

from __future__ import annotations

import itertools
import re
import tomllib
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from tlsperf.cli import app
from tlsperf.contract.names import scenario_name
from tlsperf.contract.record import Scenario

ROOT = Path(__file__).parents[2]
GUIDES = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in (
        ROOT / "CONTRIBUTING.md",
        ROOT / "SECURITY.md",
        *sorted((ROOT / "docs").glob("*.md")),
    )
    if path.name != "import.md"  # names the files and commands of other tools
}
FOLDERS = "bench|tools|data|content|templates|static|scripts|docs"
MADE = ("bench/target/", "data/runs/", "build/")
"""What a guide may name though it is not committed."""


def mentioned(guide: str, pattern: str) -> set[str]:
    return {found[1] for found in re.finditer(pattern, GUIDES[guide], re.MULTILINE)}


@pytest.mark.parametrize("guide", GUIDES)
def test_the_files_that_a_guide_names_exist(guide: str) -> None:
    added = mentioned(guide, r"^```\w+ file=(\S+)$")
    for name in mentioned(guide, rf"(?<![\w./-])((?:{FOLDERS})/[\w./-]*[\w/])") - added:
        if not name.startswith(MADE) and not re.search(r"\b[A-Z]{2,}\b", name):
            assert (ROOT / name).exists(), f"{guide} names {name}"


@pytest.mark.parametrize("guide", GUIDES)
def test_the_pages_that_a_guide_links_to_exist(guide: str) -> None:
    for target in mentioned(guide, r"\]\(([^)#:]+)\)"):
        assert (ROOT / guide).parent.joinpath(target).exists(), f"{guide} links to {target}"


@pytest.mark.parametrize("guide", GUIDES)
def test_the_make_targets_that_a_guide_names_exist(guide: str) -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    assert mentioned(guide, r"(?:^    +|`|sudo )make ([a-z-]+)") <= targets


@pytest.mark.parametrize("guide", GUIDES)
def test_the_commands_of_tlsperf_that_a_guide_names_exist(guide: str) -> None:
    group = typer.main.get_command(app)
    names = set(getattr(group, "commands", {}))
    assert mentioned(guide, r"(?:bin/|`|^    )tlsperf ([a-z]+)") <= names
    for call in mentioned(guide, r"tlsperf ([a-z]+(?:[^`\n]|\\\n)*)"):
        command, *options = re.findall(r"^[a-z]+|--[a-z-]+", call)
        if command in names:
            help_text = CliRunner().invoke(app, [command, "--help"]).output
            for option in options:
                assert option in help_text, f"{guide}: tlsperf {command} {option}"


def test_the_scenarios_of_the_guide_are_some() -> None:
    guide = GUIDES["docs/add-a-scenario.md"]
    tables = re.findall(r"^ +(\[\[scenarios\]\]\n(?: +\S.*\n)+)", guide, re.MULTILINE)
    entries = tomllib.loads(re.sub(r"^ +", "", "".join(tables), flags=re.MULTILINE))["scenarios"]
    names = []
    for entry in entries:  # a list stands for each of its values
        values = [value if isinstance(value, list) else [value] for value in entry.values()]
        for scenario in itertools.product(*values):
            named = dict(zip(entry, scenario, strict=True))
            names.append(scenario_name(Scenario.model_validate(named)))
    assert names == [
        "transfer 1.3, CHACHA20-POLY1305, 64 KiB in flight",
        "primitive, aes-256-gcm-seal-16384",
        "primitive, ml-kem-768-decapsulate",
    ]
