"""`make quick`: formats what changed, and checks what the change can break, in a minute or two.

`python tools/automation/quick.py [SINCE]` takes the files that differ from the commit SINCE, by
default HEAD, with those that git does not know. It formats them, runs the linters and type checkers
of their languages, and the tests that import what changed. `make check test` runs everything.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Final

ROOT: Final = Path(__file__).parents[2]
BIN: Final = Path(sys.executable).parent
MODULES: Final = ROOT / "node_modules" / ".bin"
SHARED: Final = frozenset({"tests/project.py", "tests/conftest.py"})
"""All tests depend on these, and these on most modules: a change of a module is not one of all."""
FOUND_BY_NAME: Final = ("src/tlsperf/load/formats/", "src/tlsperf/publish/exchange/")
"""Packages that import their modules by name, which an import graph does not show."""
FOLDERS: Final = frozenset({"docs", "formats", "scripts", "suites", "workflows"})
"""Tests that name one of these folders read what is in it."""
STARTER: Final = "tools/src/tlsperf/shipped/"
OF_PAGES: Final = ("templates/", "static/", "content/", "config.toml", STARTER)
PAGES: Final = "tests/pages/"
"""Tests of pages take a minute or two: a module has them run only if it writes pages."""
WRITES_PAGES: Final = ("src/tlsperf/publish/", "src/tlsperf/site.py", PAGES)


@dataclass(frozen=True)
class Step:
    """A command, run in a folder of the repository."""

    command: Sequence[str]
    folder: str = "."

    def __str__(self) -> str:
        program, *arguments = self.command
        return " ".join([Path(program).name, *arguments])[:96]

    def run(self) -> bool:
        """Whether it succeeds; what it printed is shown with its time."""
        started = time.monotonic()
        print(f"  {self}", flush=True)
        environment = {**os.environ, "CARGO_TERM_PROGRESS_WHEN": "never"}
        done = subprocess.run(self.command, cwd=ROOT / self.folder, env=environment)
        print(f"  … {time.monotonic() - started:.0f} s", flush=True)
        return done.returncode == 0


def differing(since: str) -> list[str]:
    """The files that differ from a commit, with removed and new ones."""
    names: set[str] = set()
    for command in (
        ["git", "diff", "--name-only", "--no-renames", "-z", since],
        ["git", "ls-files", "--others", "--exclude-standard", "-z"],
    ):
        done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
        names |= {name for name in done.stdout.split("\0") if name}
    return sorted(names)


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


def naming(changed: Sequence[str], texts: Mapping[str, str]) -> set[str]:
    """The test files with the name of a changed file, or of its folder, in a text or a path."""
    words = {PurePosixPath(name).name for name in changed}
    words |= {PurePosixPath(name).parent.name for name in changed} & FOLDERS
    if not words:
        return set()
    pattern = re.compile(f'["/](?:{"|".join(map(re.escape, sorted(words)))})["/]')
    return {test for test, text in texts.items() if pattern.search(text)}


def affected_tests(
    changed: Sequence[str], graph: Mapping[str, Sequence[str]], texts: Mapping[str, str]
) -> list[str]:
    """The test files, relative to tools/, that a change of these files can break.

    `graph` has the importers of each module, `texts` the text of each test file.
    """
    modules = [name.removeprefix("tools/") for name in changed if name.startswith("tools/")]
    if SHARED & set(modules):
        return ["tests"]
    code = [name for name in modules if name.endswith(".py")]
    found = dependents(graph, [name for name in code if name.startswith(WRITES_PAGES)])
    tests = found | {name for name in dependents(graph, code) if not name.startswith(PAGES)}
    tests = {name for name in tests if PurePosixPath(name).name.startswith("test_")}
    apart = (*OF_PAGES, "bench/runner/", "bench/harness/", "data/runs/")
    others = {name for name in changed if not name.startswith(apart) and not name.endswith(".py")}
    tests |= naming(sorted(others), texts)
    if any(name.startswith(OF_PAGES) for name in changed):
        tests |= {f"{PAGES}test_{name}.py" for name in ("build", "html", "own_site")}
    if any(name.startswith(("templates/", "static/")) for name in changed):
        tests.add(f"{PAGES}test_browser.py")
    if any(name.startswith(f"tools/{PAGES}") and name.endswith(".mjs") for name in changed):
        tests |= {f"{PAGES}test_{name}.py" for name in ("browser", "embed", "compare")}
    if any(name.startswith("static/compare/") for name in changed):
        tests.add(f"{PAGES}test_compare.py")
    return sorted(tests)


def shared_libraries(manifest: str) -> list[str]:
    """The libraries in the workspace of bench/, whose Cargo.toml is given; others have their own."""
    members = tomllib.loads(manifest)["workspace"]["members"]
    return [name.removeprefix("libraries/") for name in members if name.startswith("libraries/")]


def crates(changed: Sequence[str], libraries: Sequence[str]) -> list[str]:
    """The packages of the workspace in bench/ whose tests a change of these files can break."""
    adapters = {f"tls-{library}" for library in libraries}
    found: set[str] = set()
    for name in changed:
        match PurePosixPath(name).parts:
            case ("bench", "harness", *_) | ("bench", "Cargo.toml" | "Cargo.lock"):
                found |= {"tls-harness", "tlsbench", *adapters}
            case ("bench", "runner" | "suites", *_):
                found.add("tlsbench")
            case ("bench", "libraries", "shared", *_):
                found |= adapters
            case ("bench", "libraries", library, *_) if library in libraries:
                found.add(f"tls-{library}")
    return sorted(found)


def own_workspaces(changed: Sequence[str], libraries: Sequence[str]) -> list[str]:
    """The changed libraries that are not among those in the workspace of bench/."""
    parts = [PurePosixPath(name).parts for name in changed]
    found = {it[2] for it in parts if it[:2] == ("bench", "libraries") and len(it) > 3}
    return sorted(found - {"shared", *libraries})


def formats(changed: Sequence[str]) -> Iterator[Step]:
    """Formatters, and files that are made from others."""
    python = [name for name in changed if name.endswith(".py")]
    if python:
        ruff = str(BIN / "ruff")
        settings = ["--config", "tools/pyproject.toml"]
        yield Step([ruff, "format", "--quiet", *settings, *python])
        yield Step([ruff, "check", "--quiet", "--fix", *settings, *python])
    if any(name.endswith(".rs") for name in changed):
        yield Step(["cargo", "fmt", "--all"], "bench")
    if any(name.startswith("static/compare/") for name in changed):
        yield Step([str(MODULES / "biome"), "format", "--write", "static/compare"])
    if any(name.startswith("static/") and name.endswith(".css") for name in changed):
        yield Step([sys.executable, "-m", "tlsperf.publish.style"])
    if any(name.startswith("tools/src/tlsperf/contract/") for name in changed):
        yield Step([sys.executable, "-m", "tlsperf.publish.schema"])
    if any(name.startswith("bench/libraries/") for name in changed):
        yield Step([sys.executable, "-m", "tlsperf.publish.maintainers"])


CHECKS: Final = {
    "check-words": ("",),
    "check-compare": ("static/compare/",),
    "zizmor": (".github/", "action.yml", "docs/pull-requests.md"),
    "check-tools": ("tools/", "scripts/libraries"),
    "check-data": ("content/", "data/"),
    "check-bench": ("bench/harness/", "bench/runner/", "bench/libraries/", "bench/Cargo"),
}
"""The targets of `make check`, cheapest first, with the beginnings of the files that they look at."""


def checks(names: Sequence[str], libraries: Sequence[str]) -> Iterator[Step]:
    """Linters, types, data and tests, cheapest first."""
    if wanted := [it for it, of in CHECKS.items() if any(name.startswith(of) for name in names)]:
        yield Step(["make", "--no-print-directory", "--keep-going", *wanted])
    texts = {
        str(path.relative_to(ROOT / "tools")): path.read_text(encoding="utf-8")
        for path in (ROOT / "tools" / "tests").rglob("test_*.py")
    }
    if tests := affected_tests(names, import_graph(), texts):
        yield Step([sys.executable, "-m", "pytest", "--quiet", "-n", "2", *tests], "tools")
    if packages := crates(names, libraries):
        # Tests of tlsbench start the programs of the libraries.
        yield Step(["cargo", "build", "--quiet", "--locked", "--workspace"], "bench")
        of_packages = [argument for name in packages for argument in ("--package", name)]
        yield Step(["cargo", "test", "--quiet", "--locked", *of_packages], "bench")


def main(arguments: Sequence[str]) -> int:
    since = arguments[0] if arguments else "HEAD"
    names = differing(since)
    libraries = shared_libraries((ROOT / "bench" / "Cargo.toml").read_text(encoding="utf-8"))
    changed = [name for name in names if (ROOT / name).is_file()]
    print(f"{len(names)} files differ from {since}")
    started = time.monotonic()
    failed = [step for step in chain(formats(changed), checks(names, libraries)) if not step.run()]
    for library in own_workspaces(names, libraries):
        print(f"not tried here: make more-libraries test-libraries LIBRARY={library}")
    for step in failed:
        print(f"failed: {step}", file=sys.stderr)
    print(f"{time.monotonic() - started:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
