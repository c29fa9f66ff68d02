"""Runs of two hosts in one report: no ratio between them unless the report requests it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from project import ARM, BOTH, HOST, LIBRARIES, NEW, OLD, OLDER, OPENSSL, OTHER_HOST, ROW
from tlsperf.contract.results import Results
from tlsperf.load.page import read_page
from tlsperf.publish.assemble import assembler
from tlsperf.report.claims import failing, figures_of

BASELINE = "openssl-3.5.5"
AGAINST_IT = {*OLDER} - {BASELINE}
BETWEEN = f"{ROW}: {OPENSSL} / {BASELINE} in 0..9"
"""Of the builds of the report of two hosts, OLDER was measured on one and LIBRARIES on the other."""


def report_of(project: Path, *runs: str, **more: Any) -> Results:
    """The results of a report like that of two hosts, on these runs."""
    page = read_page(project / "content" / "perf" / BOTH / "index.md")
    made = {"runs": list(runs), "baseline": BASELINE, "previous": None, "headlines": [], **more}
    report = page.first.model_copy(update=made)
    return assembler(project, [], [report])(report).results


def with_ratio(results: Results) -> set[str]:
    cells = (c for table in results.tables for row in table.rows for c in row.cells)
    return {cell.implementation for cell in cells if cell.ratio}


def about_hosts(results: Results) -> list[str]:
    return [warning.message for warning in results.warnings if warning.code == "host"]


def test_there_is_no_ratio_and_no_leader_across_hosts(project: Path) -> None:
    data = (project / "content" / "perf" / BOTH / "results.json").read_bytes()
    results = Results.model_validate_json(data)
    assert [host.id for host in results.hosts] == [HOST, OTHER_HOST]
    assert results.baseline == BASELINE
    assert with_ratio(results) == AGAINST_IT
    cells = [c for table in results.tables for row in table.rows for c in row.cells]
    assert {c.implementation for c in cells} == {*OLDER, *LIBRARIES}
    assert not [c for c in cells if c.best or c.tied]
    [warning] = about_hosts(results)
    assert "no ratio and no verdict" in warning


def test_a_report_with_ratios_across_hosts_states_that(project: Path) -> None:
    results = report_of(project, OLD, ARM, across_hosts=True)
    assert with_ratio(results) == {*AGAINST_IT, *LIBRARIES}
    assert failing(BETWEEN, [figures_of(results)]) is None
    [warning] = about_hosts(results)
    assert "compare the hosts as well" in warning


def test_a_quotient_across_hosts_is_no_claim_unless_the_report_compares_them(project: Path) -> None:
    error = failing(BETWEEN, [figures_of(report_of(project, OLD, ARM))])
    assert "of two hosts" in str(error)


def test_runs_of_one_host_have_ratios_between_them(project: Path) -> None:
    results = report_of(project, OLD, NEW)
    assert with_ratio(results) == {*AGAINST_IT, *LIBRARIES}
    assert about_hosts(results) == []
