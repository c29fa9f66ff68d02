"""The tests that SECURITY.md names for its guarantees exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tools" / "tests"
SECURITY = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in SECURITY.partition("## The tests that hold this")[2].splitlines()
    if line.startswith("|")
][2:]


def named(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


@pytest.mark.parametrize(("guarantee", "tests"), ROWS, ids=[row[0] for row in ROWS])
def test_each_guarantee_has_tests_that_exist(guarantee: str, tests: str) -> None:
    names = named(tests)
    files = [name for name in names if name.endswith(".py")]
    functions = [name for name in names if name.startswith("test_") and name not in files]
    assert names, f"{guarantee}: no test is named"
    text = "".join((TESTS / file).read_text(encoding="utf-8") for file in files)
    assert [f for f in functions if f"def {f}(" not in text] == []
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    rust = [name for name in names if name.endswith(".rs")]
    assert [name for name in rust if not (ROOT / name).is_file()] == []
    for name in set(names) - {*files, *functions, *rust}:
        target = re.fullmatch(r"make ([a-z-]+)", name)
        assert target, f"{guarantee}: {name} is no test"
        assert f"\n{target[1]}:" in makefile


@pytest.mark.parametrize(
    "subject",
    [
        "addresses",
        "raw paths",
        "types of files",
        "labels",
        "Markdown",
        "Chromium",
        "what an archive",
    ],
)
def test_input_from_strangers_has_a_row(subject: str) -> None:
    assert any(subject in " ".join(row) for row in ROWS)
