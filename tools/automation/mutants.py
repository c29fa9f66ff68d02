"""`make mutants-tools`: mutation testing of the pure cores, with the score in tools/mutants.toml.

`python tools/automation/mutants.py [--write] [MODULE…]`: mutmut changes each module in a scratch
copy, one place at a time, and runs the tests that tools/mutants.toml names for it. A mutant that
they do not notice survives. The command fails if a survivor is not listed there with a reason, or
if fewer mutants are noticed than the file states. A module that has no score there is reported and
fails nothing. `--write` writes what was found into the file; it refuses a lower score. Without a
name, all modules.

mutmut changes neither decorated functions nor what is outside functions. In the copy `@cache` is
taken away and `@property` becomes a call, so that these functions are mutated too.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Final

import tomlkit
from mutmut.mutation.diff_apply import get_diff_for_mutant

from mutation_score import MutantsError, below, exit_code, percent, run

ROOT: Final = Path(__file__).resolve().parents[2]
TOOLS: Final = ROOT / "tools"
SCORE: Final = TOOLS / "mutants.toml"
SCRATCH: Final = ROOT / "build" / "mutants"
READ: Final = ("bench", "config.toml", "content", "data", "docs", "static", "templates", "tools")
"""What tests read of the repository."""
MUTMUT: Final = Path(sys.executable).with_name("mutmut")
LATE: Final = frozenset({24, 36, 152, 255, -24})
"""Exit codes of mutmut's tests that took many times as long as usual."""
NOTICED: Final = frozenset({1, 3, -9, -11, *LATE})
"""Exit codes of mutmut's tests that failed, crashed, or were late in both of two attempts."""

SETTINGS: Final = """
[tool.mutmut]
source_paths = ["src"]
only_mutate = ["src/tlsperf/{module}"]
also_copy = ["benchmarks", "automation"]
pytest_add_cli_args = {arguments}
pytest_add_cli_args_test_selection = {tests}
timeout_multiplier = 5.0
use_git_change_detection = false
"""


@dataclass(frozen=True, order=True)
class Survivor:
    """A mutant that no test notices, by what was changed."""

    function: str
    was: str
    becomes: str


@dataclass(frozen=True)
class Found:
    """What mutmut found in a module."""

    mutants: int
    survivors: tuple[Survivor, ...]

    @property
    def killed(self) -> int:
        return self.mutants - len(self.survivors)


# --- the scratch copy ----------------------------------------------------------------------------


def mutable(source: str) -> str:
    """A module whose cached functions and properties are functions that mutmut changes."""
    lines: list[str | None] = [*source.splitlines(keepends=True)]
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.FunctionDef(decorator_list=[ast.Name(id="cache" | "property" as name)]):
                assert node.end_lineno
                lines[node.decorator_list[0].lineno - 1] = None
                if name == "property":
                    made = f"{' ' * node.col_offset}{node.name} = property({node.name})\n"
                    lines[node.end_lineno - 1] = f"{lines[node.end_lineno - 1]}{made}"
    return "".join(line for line in lines if line is not None)


def prepare(folder: Path, module: str, tests: Sequence[str], slow: Sequence[str]) -> None:
    """A copy of tools/ in which mutmut works; what tests read of the repository is linked."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in ("src", "tests", "benchmarks", "automation"):
        ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", ".hypothesis")
        shutil.copytree(TOOLS / name, folder / name, ignore=ignored)
    for name in READ:
        (folder / name).symlink_to(ROOT / name)
    source = folder / "src" / "tlsperf" / module
    source.write_text(mutable(source.read_text(encoding="utf-8")), encoding="utf-8")
    settings = (TOOLS / "pyproject.toml").read_text(encoding="utf-8")
    selected = json.dumps([f"tests/{test}" for test in tests])
    arguments = ["--hypothesis-seed=0", "-p", "no:cacheprovider"]
    arguments += [f"--deselect=tests/{test}" for test in slow]
    settings += SETTINGS.format(module=module, tests=selected, arguments=json.dumps(arguments))
    (folder / "pyproject.toml").write_text(settings, encoding="utf-8")


# --- mutmut --------------------------------------------------------------------------------------


def mutate(module: str, tests: Sequence[str], slow: Sequence[str]) -> Found:
    """Runs mutmut over a module, with one process.

    A mutant whose tests were late is tried once more: other work on the machine delays tests too.
    """
    folder = SCRATCH / module.removesuffix(".py").replace("/", "-")
    prepare(folder, module, tests, slow)
    codes = run_mutmut(folder, module)
    if late := [name for name, code in codes.items() if code in LATE]:
        codes = run_mutmut(folder, module, late)
    survived = [name for name, code in codes.items() if code not in NOTICED]
    with contextlib.chdir(folder):
        survivors = tuple(sorted(survivor(name, f"src/tlsperf/{module}") for name in survived))
    return Found(len(codes), survivors)


def run_mutmut(folder: Path, module: str, mutants: Sequence[str] = ()) -> dict[str, int | None]:
    """Tries mutants of a module, by default all. The exit code of each mutant's tests."""
    command = [str(MUTMUT), "run", "--max-children", "1", *mutants]
    environment = {**os.environ, "PYTHONPATH": ""}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        raise MutantsError(f"{module}: mutmut failed\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    meta = folder / "mutants" / "src" / "tlsperf" / f"{module}.meta"
    codes: dict[str, int | None] = json.loads(meta.read_text("utf-8"))["exit_code_by_key"]
    return codes


def survivor(mutant: str, path: str) -> Survivor:
    """What a mutant of a file changes."""
    lines = get_diff_for_mutant(mutant, path=path).splitlines()[2:]
    was, becomes = (
        " ".join(line[1:].strip() for line in lines if line.startswith(sign)) for sign in "-+"
    )
    function = mutant.rpartition(".")[2].partition("__mutmut_")[0]
    return Survivor(function.removeprefix("x_").removeprefix("xǁ").replace("ǁ", "."), was, becomes)


# --- the score -----------------------------------------------------------------------------------


def listed(entry: dict[str, Any]) -> list[Survivor]:
    """The survivors that the score file lists for a module."""
    return [Survivor(s["function"], s["was"], s["becomes"]) for s in entry.get("survivors", [])]


def problems(module: str, entry: dict[str, Any], found: Found) -> Iterator[str]:
    """Where a module's score is below the one in the file, and which survivors it does not list."""
    known = listed(entry)
    for new in found.survivors:
        if new not in known:
            yield (
                f"{module}: no test of {', '.join(entry['tests'])} notices that in {new.function} "
                f"`{new.was}` becomes `{new.becomes}`"
            )
    before = (entry["killed"], entry["mutants"]) if "mutants" in entry else None
    yield from below(module, found.killed, found.mutants, before)


def write(entry: Any, found: Found) -> None:
    """Writes what was found into the entry of a module; reasons that are there stay."""
    reasons = {
        known: s["reason"]
        for known, s in zip(listed(entry), entry.get("survivors", []), strict=True)
    }
    entry["scored"] = date.today()
    entry["mutants"] = found.mutants
    entry["killed"] = found.killed
    entry.pop("survivors", None)
    if found.survivors:
        tables = tomlkit.aot()
        for of in found.survivors:
            fields = {"function": of.function, "was": of.was, "becomes": of.becomes}
            tables.append(tomlkit.item({**fields, "reason": reasons.get(of, "")}))
        entry["survivors"] = tables


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--write", action="store_true", help="write what is found into the score")
    parser.add_argument("modules", nargs="*", help="such as analysis/ratios.py")
    options = parser.parse_args(arguments)
    score = tomlkit.parse(SCORE.read_text(encoding="utf-8"))
    modules: Any = score["modules"]
    unknown = [module for module in options.modules if module not in modules]
    if unknown:
        raise MutantsError(f"found {', '.join(unknown)}, expected of {', '.join(modules)}")
    wrong: list[str] = []
    for module in options.modules or modules:
        entry = modules[module]
        found = mutate(module, entry["tests"], score["slow"])
        print(
            f"{module}: {found.killed} of {found.mutants} mutants noticed, "
            f"{percent(found.killed, found.mutants)}%",
            flush=True,
        )
        here = list(problems(module, entry, found))
        if options.write and not any("expected at least" in problem for problem in here):
            write(entry, found)
            SCORE.write_text(tomlkit.dumps(score), encoding="utf-8")
        if "mutants" in entry:
            wrong += here
        else:
            print("\n".join([f"{module} is not scored yet:", *here]), flush=True)
    return exit_code(wrong)


if __name__ == "__main__":
    run(main)
