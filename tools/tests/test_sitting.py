"""A sitting interleaves the sessions of several suites, and can be resumed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from project import ROOT

TLSBENCH = """#!/usr/bin/env bash
# Measures 3 sessions of the suite "long" and 2 of any other; the session in `broken` fails.
suite=$(basename "$3" .toml) out=$5
echo "$suite" >> calls
mkdir -p "$out"
[ ! -e broken ] || [ "$(wc -l < calls)" != "$(cat broken)" ] || exit 1
echo >> "$out/sessions"
sessions=2
[ "$suite" != long ] || sessions=3
[ "$(wc -l < "$out/sessions")" -lt $sessions ] || touch "$out/run.toml"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("scripts", "bench/suites", "bench/target/release"):
        (tmp_path / name).mkdir(parents=True)
    shutil.copy(ROOT / "scripts" / "sitting", tmp_path / "scripts")
    program = tmp_path / "bench" / "target" / "release" / "tlsbench"
    program.write_text(TLSBENCH)
    program.chmod(0o755)
    for suite in ("short", "long"):
        (tmp_path / "bench" / "suites" / f"{suite}.toml").touch()
    return tmp_path


def sit(folder: Path, *suites: str) -> subprocess.CompletedProcess[str]:
    command = ["scripts/sitting", "2026-11-22", "vm", *suites]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def calls(folder: Path) -> list[str]:
    return (folder / "calls").read_text().split()


def test_session_1_of_each_suite_comes_before_session_2_of_any(folder: Path) -> None:
    assert sit(folder, "short", "long").returncode == 0
    assert calls(folder) == ["short", "long", "short", "long", "long"]
    assert (folder / "data" / "runs" / "2026-11-22-long-vm" / "run.toml").exists()


def test_a_sitting_that_failed_resumes_with_the_session_that_failed(folder: Path) -> None:
    (folder / "broken").write_text("2")
    assert sit(folder, "short", "long").returncode == 1
    (folder / "broken").unlink()
    assert sit(folder, "short", "long").returncode == 0
    assert calls(folder) == ["short", "long", "short", "long", "long", "long"]


def test_an_unknown_suite_is_rejected_before_anything_is_measured(folder: Path) -> None:
    found = sit(folder, "short", "lnog")
    assert (found.returncode, found.stderr) == (
        2,
        "bench/suites/lnog.toml is missing: expected the name of a suite\n",
    )
    assert not (folder / "calls").exists()
