"""`make quick`: formats what changed, and checks what the change can break, in a minute or two.

`python tools/automation/quick.py [SINCE]` takes the files that differ from the commit SINCE, by
default HEAD, with those that git does not know. It formats them, runs the linters and type checkers
of their languages, and the tests that import what changed. `make check test` runs everything.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

ROOT: Final = Path(__file__).parents[2]
BIN: Final = Path(sys.executable).parent
MODULES: Final = ROOT / "node_modules" / ".bin"
SHARED: Final = frozenset({"tests/project.py", "tests/kept.py", "tests/conftest.py"})
"""All tests depend on these, and these on most modules: a change of a module is not one of all."""
FOUND_BY_NAME: Final = ("src/tlsperf/load/formats/", "src/tlsperf/publish/exchange/")
"""Packages that import their modules by name, which an import graph does not show."""
OF_PAGES: Final = ("templates/", "static/", "content/", "config.toml")
PAGE_TESTS: Final = ("tests/pages/test_build.py", "tests/pages/test_html.py")


@dataclass(frozen=True)
class Step:
    """A command, run in a folder of the repository."""

    command: Sequence[str]
    folder: str = "."

    def run(self) -> bool:
        """Whether it succeeds; what it printed is shown with its time."""
        started = time.monotonic()
        print(f"  {' '.join(str(part) for part in self.command)[:96]}", flush=True)
        environment = {**os.environ, "CARGO_TERM_PROGRESS_WHEN": "never"}
        done = subprocess.run(self.command, cwd=ROOT / self.folder, env=environment)
        print(f"  … {time.monotonic() - started:.0f} s", flush=True)
        return done.returncode == 0


def changed_files(since: str) -> list[str]:
    """The files that differ from a commit and still exist, and new ones."""
    names: set[str] = set()
    for command in (
        ["git", "diff", "--name-only", "-z", since],
        ["git", "ls-files", "--others", "--exclude-standard", "-z"],
    ):
        done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
        names |= {name for name in done.stdout.split("\0") if name}
    return sorted(name for name in names if (ROOT / name).is_file())


def dependents(graph: Mapping[str, Sequence[str]], modules: Iterable[str]) -> set[str]:
    """The modules and what imports them; not through SHARED, unless one of those changed."""
    found, todo = set(modules), list(modules)
    while todo:
        module = todo.pop()
        importers = list(graph.get(module, ()))
        importers += [f"{p}__init__.py" for p in FOUND_BY_NAME if module.startswith(p)]
        for importer in importers:
            if importer not in found and importer not in SHARED:
                found.add(importer)
                todo.append(importer)
    return found


def import_graph() -> dict[str, list[str]]:
    """The importers of each Python file, both relative to tools/."""
    command = [str(BIN / "ruff"), "analyze", "graph", "--direction", "dependents"]
    folders = ["src", "tests", "benchmarks", "automation"]
    done = subprocess.run(
        [*command, *folders], cwd=ROOT / "tools", check=True, capture_output=True, text=True
    )
    graph: dict[str, list[str]] = json.loads(done.stdout)
    return graph


def affected_tests(changed: Sequence[str], graph: Mapping[str, Sequence[str]]) -> list[str]:
    """The test files, relative to tools/, that a change of these files can break."""
    modules = [name.removeprefix("tools/") for name in changed if name.startswith("tools/")]
    if SHARED & set(modules):
        return ["tests"]
    found = dependents(graph, [name for name in modules if name.endswith(".py")])
    tests = {name for name in found if PurePosixPath(name).name.startswith("test_")}
    if any(name.startswith(OF_PAGES) for name in changed):
        tests |= {*PAGE_TESTS}
    if any(name.startswith(("templates/", "static/")) for name in changed):
        tests.add("tests/pages/test_browser.py")
    if any(name.startswith("static/explore/") for name in changed):
        tests.add("tests/pages/test_explore.py")
    if any(name.startswith((".github/", "action.yml", "Makefile")) for name in changed):
        tests.add("tests/test_workflows.py")
    if any(name.startswith("scripts/") for name in changed):
        tests |= {"tests/test_scripts.py", "tests/test_night_scripts.py"}
    return sorted(tests)


def crates(changed: Sequence[str]) -> list[str]:
    """The packages of bench/ with a changed file; all for a file that they share."""
    found: set[str] = set()
    for name in changed:
        match PurePosixPath(name).parts:
            case ("bench", "harness", *_):
                found.add("tls-harness")
            case ("bench", "runner", *_):
                found.add("tlsbench")
            case ("bench", "libraries", "openssl" | "boringssl" | "rustls" as library, *_):
                found.add(f"tls-{library}")
            case ("bench", "libraries", "shared", *_):
                found |= {"tls-openssl", "tls-boringssl", "tls-rustls"}
            case ("bench", "Cargo.toml" | "Cargo.lock"):
                found |= {"tls-harness", "tlsbench"}
    return sorted(found)


def steps(changed: Sequence[str]) -> Iterator[Step]:
    """What to run for these files, cheapest first."""
    python = [name for name in changed if name.endswith(".py")]
    if python:
        ruff = str(BIN / "ruff")
        settings = ["--config", "tools/pyproject.toml"]
        yield Step([ruff, "format", "--quiet", *settings, *python])
        yield Step([ruff, "check", "--quiet", "--fix", *settings, *python])
    if packages := crates(changed):
        yield Step(["cargo", "fmt", "--all"], "bench")
    if any(name.endswith((".md", ".html", ".py", ".rs", ".js")) for name in changed):
        yield Step([str(BIN / "typos"), "--quiet", *changed])
    if any(name.startswith("static/explore/") for name in changed):
        yield Step([str(MODULES / "biome"), "ci", "static/explore"])
        yield Step([str(MODULES / "tsc")])
    if any(name.startswith(".github/") for name in changed):
        yield Step([str(BIN / "zizmor"), "--offline", "--quiet", ".github/workflows", "action.yml"])
    if python:
        yield Step([str(BIN / "mypy")], "tools")
        yield Step([str(BIN / "lint-imports"), "--no-cache"], "tools")
    if any(name.startswith(("content/", "data/")) for name in changed):
        yield Step([str(BIN / "tlsperf"), "validate", "--changed"])
        yield Step([str(BIN / "tlsperf"), "render", "--check", "--changed"])
    of_packages = [argument for name in packages for argument in ("--package", name)]
    if packages:
        lint = ["cargo", "clippy", "--quiet", "--locked", "--all-targets", *of_packages]
        yield Step([*lint, "--", "-D", "warnings"], "bench")
    if tests := affected_tests(changed, import_graph()):
        pytest = [sys.executable, "-m", "pytest", "-n", "2"]
        yield Step([*pytest, *tests], "tools")
    if packages:
        yield Step(["cargo", "test", "--quiet", "--locked", *of_packages], "bench")


def main(arguments: Sequence[str]) -> int:
    since = arguments[0] if arguments else "HEAD"
    changed = changed_files(since)
    print(f"{len(changed)} files differ from {since}")
    started = time.monotonic()
    failed = [step for step in steps(changed) if not step.run()]
    for step in failed:
        print(f"failed: {' '.join(str(part) for part in step.command)[:200]}", file=sys.stderr)
    print(f"{time.monotonic() - started:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
