"""Each bias and each fault has an entry that restores it; only a failed test counts as noticing."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import put_back
from fixture_run import ROOT
from put_back import Change, NotShownError, PutBack

ENTRIES = put_back.entries((ROOT / put_back.ENTRIES).read_text(encoding="utf-8"))
FAULTS = put_back.entries((ROOT / put_back.FAULTS).read_text(encoding="utf-8"))
TABLE = (ROOT / put_back.TABLE).read_text(encoding="utf-8")


def test_every_test_of_the_table_has_its_bias() -> None:
    assert put_back.missing(TABLE, ENTRIES) == []
    (first, *others) = ENTRIES
    (problem,) = put_back.missing(TABLE, others)
    assert problem.startswith(f"{put_back.ENTRIES}: no entry for {first.tests[0]} of ")
    unknown = PutBack("Nobody ever", first.tests, first.changes)
    (problem,) = put_back.missing(TABLE, [*ENTRIES, unknown])
    assert problem == f"{put_back.TABLE}: no row 'Nobody ever' with {first.tests[0]}"


@pytest.mark.parametrize("entry", [*ENTRIES, *FAULTS], ids=lambda entry: entry.bias)
def test_each_changed_text_occurs_once_in_the_code(entry: PutBack) -> None:
    for change in entry.changes:
        assert (ROOT / change.file).read_text(encoding="utf-8").count(change.before) == 1
        assert change.before != change.after


@pytest.mark.parametrize("entry", FAULTS, ids=lambda entry: entry.bias)
def test_the_tests_of_a_fault_exist(entry: PutBack) -> None:
    assert entry.tests
    for test in entry.tests:
        file, _, name = test.partition("::")
        text = (ROOT / file).read_text(encoding="utf-8")
        assert re.search(rf"^\s*(?:fn|def) {name}\(", text, re.MULTILINE), test


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ("bench/harness/src/workloads/memory.rs::a", ["tls-harness", "--lib", "a"]),
        ("bench/harness/tests/clock.rs::a", ["tls-harness", "--test", "clock", "a"]),
        (
            "bench/libraries/rustls/tests/faulty_adapters/primitives.rs::a",
            ["tls-rustls", "--test", "faulty_adapters", "a"],
        ),
        (
            "bench/libraries/shared/conformance/mod.rs::a",
            ["tls-rustls", "--test", "conformance", "aws_lc_rs::a"],
        ),
        ("bench/runner/tests/runner/runs.rs::a", ["tlsbench", "--test", "runner", "a"]),
    ],
)
def test_the_command_of_a_test(test: str, expected: list[str]) -> None:
    assert put_back.command(test) == ["cargo", "test", "--locked", "--package", *expected]


def test_the_command_of_a_test_of_the_tools() -> None:
    found = put_back.command("tools/tests/pages/test_build.py::test_a")
    assert found[:3] == [sys.executable, "-m", "pytest"]
    assert found[-1] == "tests/pages/test_build.py::test_a"


@pytest.mark.parametrize(
    ("status", "last", "expected"),
    [
        (0, "2 passed in 0.1s", "ok"),
        (1, "1 failed, 1 passed in 0.1s", "FAILED"),
        (0, "1 passed, 1 skipped in 0.1s", None),
        (1, "1 error in 0.1s", None),
        (4, "no tests ran in 0.0s", None),
        (2, "", None),
    ],
)
def test_a_test_of_the_tools_that_did_not_run_has_no_result(
    status: int, last: str, expected: str | None
) -> None:
    if expected:
        assert put_back.result_of_pytest(status, f"...\n{last}\n") == expected
    else:
        with pytest.raises(NotShownError, match=f"pytest ended with {status}"):
            put_back.result_of_pytest(status, f"...\n{last}\n")


def test_changes_are_always_reverted(tmp_path: Path) -> None:
    (tmp_path / "one.rs").write_text("let a = 1;\nlet b = 1;\n")
    one, other = Change("one.rs", "a = 1", "a = 2"), Change("one.rs", "b = 1", "b = 2")
    with put_back.made([one, other], tmp_path):
        assert (tmp_path / "one.rs").read_text() == "let a = 2;\nlet b = 2;\n"
    twice = Change("one.rs", "let", "var")
    expected = re.escape("one.rs has 2 times, not once: 'let'")
    with pytest.raises(NotShownError, match=expected), put_back.made([one, twice], tmp_path):
        raise AssertionError("what is there twice was changed")
    assert (tmp_path / "one.rs").read_text() == "let a = 1;\nlet b = 1;\n"


@pytest.mark.parametrize(
    ("built", "output", "problem"),
    [
        (0, "test tests::x ... FAILED\n", None),
        (0, "test tests::x ... ok\n", "is ok, expected FAILED"),
        (0, "running 0 tests\n", "x came out [], once expected"),
        (0, "test a::x ... FAILED\ntest b::x ... ok\n", "x came out ['FAILED', 'ok'], once"),
        (0, "test tests::x ... ignored\n", "x came out ['ignored'], once expected"),
        (1, "error[E0425]: no x\n", "it does not compile: error[E0425]: no x"),
    ],
)
def test_only_a_test_that_ran_and_failed_counts_as_failed(
    monkeypatch: pytest.MonkeyPatch, built: int, output: str, problem: str | None
) -> None:
    monkeypatch.setattr(put_back, "output_of", lambda _: (built, output))
    found = put_back.expect("bench/harness/src/a.rs::x", "FAILED")
    assert (found is None) == (problem is None)
    assert (problem or "") in (found or "")


def test_a_test_that_does_not_end_counts_as_not_failed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "bench").mkdir()
    monkeypatch.setattr(put_back, "COPY", tmp_path)
    monkeypatch.setattr(put_back, "MOST_SECONDS", 0.2)
    with pytest.raises(NotShownError, match=r"no end after 0\.2 seconds"):
        put_back.output_of(["sh", "-c", "echo $$ > pid; sleep 60 & wait"])
    process = int((tmp_path / "bench" / "pid").read_text())
    left = subprocess.run(["ps", "-o", "stat=", "-g", str(process)], capture_output=True, text=True)
    alive = [state for state in left.stdout.split() if not state.startswith("Z")]
    assert alive == [], "what has ended may still be listed, as Z"
