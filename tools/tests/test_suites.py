"""The files that `make test-suites` expects of a report exist in the committed reports."""

from __future__ import annotations

from pathlib import Path

import pytest

from suites import EXPECTED

PERF = Path(__file__).parents[2] / "content" / "perf"


@pytest.mark.parametrize("suite", EXPECTED)
def test_the_committed_report_of_a_suite_has_the_files_that_are_expected(suite: str) -> None:
    [report] = PERF.glob(f"2026-11-21-{suite}-vm")
    found = {path.name for path in report.iterdir()}
    assert [pattern for pattern in EXPECTED[suite] if not list(report.glob(pattern))] == [], found
