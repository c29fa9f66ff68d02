"""Guides name only things that exist, and their examples work."""

from __future__ import annotations

import itertools
import re
import subprocess
import tomllib
from functools import cache
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from tlsperf.cli import app
from tlsperf.contract.names import scenario_name
from tlsperf.contract.record import Scenario
from tlsperf.publish.build import LISTS

ROOT = Path(__file__).parents[2]
GUIDES = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in (
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        ROOT / "SECURITY.md",
        *sorted((ROOT / "docs").rglob("*.md")),
    )
    if path.name != "import.md"  # it names the files and commands of other tools
}
FOLDERS = "bench|tools|data|content|templates|static|scripts|docs"
MADE = (
    *("bench/target/", "data/runs/", "data/nightly/main-branch/", "build/"),
    *("content/compare/", "content/versions/nights"),
    *(f"data/{name}" for name in LISTS),
)
"""Folders that a guide may name although they are not committed."""


def mentioned(guide: str, pattern: str) -> set[str]:
    return {found[1] for found in re.finditer(pattern, GUIDES[guide], re.MULTILINE)}


each_guide = pytest.mark.parametrize("guide", GUIDES)


@each_guide
def test_the_files_that_a_guide_names_exist(guide: str) -> None:
    added = mentioned(guide, r"^```\w+ file=(\S+)$")
    for name in mentioned(guide, rf"(?<![\w./-])((?:{FOLDERS})/[\w./-]*[\w/])") - added:
        if not name.startswith(MADE) and not re.search(r"\b[A-Z]{2,}\b", name):
            assert (ROOT / name).exists(), f"{guide} names {name}"
    for target in mentioned(guide, r"\]\(([^)#:]+)\)"):
        assert (ROOT / guide).parent.joinpath(target).exists(), f"{guide} links to {target}"


@each_guide
def test_the_make_targets_that_a_guide_names_exist(guide: str) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert mentioned(guide, r"(?:^    +|`|sudo )make ([a-z-]+)\b") <= targets


@pytest.mark.parametrize(
    ("target", "printed"),
    [
        ("tools", ["--editable tools", ".venv/bin/tlsperf --version"]),
        ("report", ["tlsbench run", "tlsperf.site build", "public/perf/a-run/index.html"]),
    ],
)
def test_the_targets_of_the_readme_end_with_what_it_promises(
    target: str, printed: list[str]
) -> None:
    assert f"`make {target}`" in GUIDES["README.md"]
    command = ["make", "--no-print-directory", "--dry-run", "--always-make", target, "RUN=a-run"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    places = [done.stdout.rfind(text) for text in printed]
    assert -1 not in places
    assert places == sorted(places)
    assert done.stdout.count("\n", places[-1]) == 1, "it is the last line"


def test_the_help_lists_the_targets_of_people_and_on_request_those_of_workflows() -> None:
    def printed(target: str) -> str:
        return subprocess.run(["make", target], cwd=ROOT, capture_output=True, text=True).stdout

    short, full = (
        set(re.findall(r"^  make ([a-z-]+) ", printed(target), re.MULTILINE))
        for target in ("help", "help-all")
    )
    assert {"report", "serve", "test", "check"} <= short
    assert {"draft", "nights", "pages", "test-matrix", "bench-host"} <= full - short
    assert short < full
    assert max(map(len, printed("help").splitlines())) <= 100


@each_guide
def test_the_commands_of_tlsperf_that_a_guide_names_exist(guide: str) -> None:
    group = typer.main.get_command(app)
    names = set(getattr(group, "commands", {}))
    assert mentioned(guide, r"(?:bin/|`|^    )tlsperf ([a-z]+)") <= names
    for call in mentioned(guide, r"tlsperf ([a-z]+(?:[^`\n]|\\\n)*)"):
        command, *options = re.findall(r"^[a-z]+|--[a-z-]+", call)
        if command in names:
            for option in options:
                assert option in help_text(command), f"{guide}: tlsperf {command} {option}"


@cache
def help_text(command: str) -> str:
    return CliRunner().invoke(app, [command, "--help"]).output


def test_the_set_up_of_a_bench_host_names_what_must_be_set() -> None:
    guide = GUIDES["docs/bench-host.md"]
    config = tomllib.loads((ROOT / "config.toml").read_text(encoding="utf-8"))
    assert {"base_url", "repository"} <= {*config, *config["extra"]}
    workflow = (ROOT / ".github" / "workflows" / "bench.yml").read_text(encoding="utf-8")
    variables = set(re.findall(r"vars\.(\w+)", workflow))
    assert variables == {"BENCH_HOSTS", "BENCH_SOURCES"}
    for name in ("base_url", "repository", *variables):
        assert f"`{name}`" in guide, name


def test_the_scenarios_of_the_guide_are_some() -> None:
    guide = GUIDES["docs/add-a-scenario.md"]
    tables = re.findall(r"^ +(\[\[scenarios\]\]\n(?: +\S.*\n)+)", guide, re.MULTILINE)
    entries = tomllib.loads(re.sub(r"^ +", "", "".join(tables), flags=re.MULTILINE))["scenarios"]
    assert entries
    for entry in entries:  # a list means each of its values
        values = [value if isinstance(value, list) else [value] for value in entry.values()]
        for scenario in itertools.product(*values):
            named = dict(zip(entry, scenario, strict=True))
            assert scenario_name(Scenario.model_validate(named))
