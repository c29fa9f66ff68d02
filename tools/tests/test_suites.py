"""The files that `make test-suites` expects of a report are those that a report of its suite has."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from suites import EXPECTED, KINDS, one_of_each_kind
from tlsperf.contract.operations import OPERATIONS


@pytest.mark.parametrize("suite", [name for name in EXPECTED if name != KINDS])
def test_a_report_of_a_suite_has_the_files_that_are_expected(project: Path, suite: str) -> None:
    [report] = (project / "content" / "perf").glob(f"*-{suite}")
    found = {path.name for path in report.iterdir()}
    assert [pattern for pattern in EXPECTED[suite] if not list(report.glob(pattern))] == [], found


def test_the_suite_that_every_change_runs_has_every_kind() -> None:
    scenarios = tomllib.loads(one_of_each_kind())["scenarios"]
    assert {scenario["operation"] for scenario in scenarios} == set(OPERATIONS)
