"""`make quick` takes the tests and packages that a change can break, and no others."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from quick import CHECKS, affected_tests, crates, dependents, own_workspaces, shared_libraries

LIBRARIES = shared_libraries('workspace.members = ["harness", "libraries/x", "libraries/y"]')

GRAPH = {
    "src/tlsperf/a.py": ["src/tlsperf/b.py", "tests/test_a.py"],
    "src/tlsperf/b.py": ["tests/project.py", "tests/test_b.py", "tests/pages/test_c.py"],
    "src/tlsperf/publish/d.py": ["tests/pages/test_c.py"],
    "tests/project.py": ["tests/test_e.py"],
    "src/tlsperf/load/formats/f.py": ["tests/test_f.py"],
    "src/tlsperf/load/formats/__init__.py": ["tests/test_g.py"],
}
"""The importers of each module."""

TEXTS = {
    "tests/test_guide.py": 'ROOT / "docs" / "x.md"; ROOT / "Makefile"',
    "tests/test_run.py": '"run.toml"; "documents"',
}


@pytest.mark.parametrize(
    ("changed", "tests"),
    [
        ("tools/src/tlsperf/a.py", ["tests/test_a.py", "tests/test_b.py"]),
        ("tools/src/tlsperf/publish/d.py", ["tests/pages/test_c.py"]),
        ("tools/src/tlsperf/load/formats/f.py", ["tests/test_f.py", "tests/test_g.py"]),
        ("tools/tests/test_e.py", ["tests/test_e.py"]),
        ("tools/tests/project.py", ["tests"]),
        ("docs/any.md", ["tests/test_guide.py"]),
        ("Makefile", ["tests/test_guide.py"]),
        ("data/runs/x/run.toml", []),
        ("bench/harness/src/clock.rs", []),
    ],
)
def test_a_change_has_the_tests_that_depend_on_it(changed: str, tests: list[str]) -> None:
    assert affected_tests([changed], GRAPH, TEXTS) == tests


@pytest.mark.parametrize("changed", ["templates/base.html", "static/style.css", "content/a.md"])
def test_what_pages_are_made_of_has_pages_tested(changed: str) -> None:
    found = affected_tests([changed], GRAPH, TEXTS)
    assert "tests/pages/test_build.py" in found
    assert ("tests/pages/test_browser.py" in found) is not changed.startswith("content/")


def test_a_cycle_of_imports_ends() -> None:
    assert dependents({"a.py": ["b.py"], "b.py": ["a.py"]}, ["a.py"]) == {"a.py", "b.py"}


@pytest.mark.parametrize(
    ("changed", "packages"),
    [
        ("bench/runner/src/plan.rs", ["tlsbench"]),
        ("bench/libraries/x/src/lib.rs", ["tls-x"]),
        ("bench/libraries/shared/wire.rs", ["tls-x", "tls-y"]),
        (
            "bench/harness/src/clock.rs",
            ["tls-harness", "tls-x", "tls-y", "tlsbench"],
        ),
        ("bench/libraries/z/src/lib.rs", []),
        ("tools/src/tlsperf/cli.py", []),
    ],
)
def test_a_change_of_bench_has_its_packages_tested(changed: str, packages: list[str]) -> None:
    assert crates([changed], LIBRARIES) == packages


def test_a_library_outside_the_workspace_is_named() -> None:
    changed = [f"bench/libraries/{name}/src/lib.rs" for name in ("z", "x", "shared")]
    assert own_workspaces(changed, LIBRARIES) == ["z"]


def test_every_part_of_make_check_is_one_of_its_checks() -> None:
    makefile = (Path(__file__).parents[2] / "Makefile").read_text(encoding="utf-8")
    [parts] = re.findall(r"^check: (.*?) ##", makefile, re.M)
    assert {*parts.split()} == {"doctor-check", *CHECKS}
