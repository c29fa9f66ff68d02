"""The order of reports, the hosts they were measured on, and references to reports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, time
from typing import Final, TypeVar

from tlsperf.contract.errors import UserError
from tlsperf.contract.record import Identifier
from tlsperf.contract.results import ReportReference, Results, ShownImplementation
from tlsperf.contract.run import HostFacts, Report, Run
from tlsperf.load.page import Page

AnyReport = TypeVar("AnyReport", Report, Results)
MAIN: Final = "main"
"""The family of suites whose reports are the main series."""


def moment(day: date, at: datetime | None) -> datetime:
    """When a report appeared; midnight if its page has no time."""
    return at or datetime.combine(day, time(), UTC)


def by_time(reports: Iterable[AnyReport]) -> list[AnyReport]:
    """The newest report first. Zola has the same order in lists, feeds and neighbours."""
    by_id = sorted(reports, key=lambda report: report.id)
    return sorted(by_id, key=lambda report: moment(report.date, report.time), reverse=True)


def newest_first(reports: Iterable[Results]) -> list[Results]:
    """The newest day first; within a day, the main series first, then the others by time."""

    def place(report: Results) -> tuple[int, bool]:
        return -report.date.toordinal(), not is_main(report)

    return sorted(by_time(reports), key=place)


def featured(reports: Iterable[Report], runs: Mapping[Identifier, Run]) -> Identifier | None:
    """The report of pages that show only one: the newest of the main series, or else the newest."""

    def is_of_main(report: Report) -> bool:
        suites = (runs[run].suite for run in report.runs)
        return {suite.family if suite else None for suite in suites} == {MAIN}

    ordered = by_time(reports)
    return next((r.id for r in [*filter(is_of_main, ordered), *ordered]), None)


def is_first_look(page: Page, runs: Mapping[Identifier, Run]) -> bool:
    """Whether all parts of a report are of the quick suite."""
    return all(part.is_first_look(runs) for part in page.reports)


def is_main(report: Results) -> bool:
    """Whether a report is of the main series: all its runs are."""
    return {run.family for run in report.runs} == {MAIN}


def same_time(reports: Iterable[Report]) -> dict[str, str]:
    """The reports with the same time as another one, each with that other report."""
    first: dict[datetime, str] = {}
    found: dict[str, str] = {}
    for report in reports:
        other = first.setdefault(moment(report.date, report.time), report.id)
        if other != report.id:
            found |= {report.id: other, other: report.id}
    return found


def reference(results: Results) -> ReportReference:
    return ReportReference(id=results.of, title=results.title, date=results.date)


def host_of(results: Results, implementation: ShownImplementation) -> HostFacts:
    """The host on which an implementation of a report was measured. Raises UserError."""
    if implementation.host is None and len(results.hosts) > 1:
        raise UserError(
            f"content/perf/{results.id}/results.json: the host of {implementation.id} is missing: "
            "run tlsperf build"
        )
    wanted = implementation.host or results.hosts[0].id
    return next(host for host in results.hosts if host.id == wanted)
