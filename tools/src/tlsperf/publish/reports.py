"""The order of reports, and how one refers to another."""

from __future__ import annotations

from collections.abc import Iterable

from tlsperf.contract.results import ReportReference, Results


def newest_first(reports: Iterable[Results]) -> list[Results]:
    """The newest report first; of one day the one of the main series, the others by their ids."""

    def place(report: Results) -> tuple[int, bool, str]:
        main = {run.family for run in report.runs} == {"main"}
        return -report.date.toordinal(), not main, report.id

    return sorted(reports, key=place)


def reference(results: Results) -> ReportReference:
    return ReportReference(id=results.id, title=results.title, date=results.date)
