"""The order of reports, when each appeared, and how one refers to another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, time, timedelta

from tlsperf.contract.record import Identifier
from tlsperf.contract.results import ReportReference, Results
from tlsperf.contract.run import Report, Run


def newest_first(reports: Iterable[Results]) -> list[Results]:
    """The newest report first; of one day the one of the main series, the others by their ids."""

    def place(report: Results) -> tuple[int, bool, str]:
        main = {run.family for run in report.runs} == {"main"}
        return -report.date.toordinal(), not main, report.id

    return sorted(reports, key=place)


def reference(results: Results) -> ReportReference:
    return ReportReference(id=results.id, title=results.title, date=results.date)


def times(reports: Iterable[Report], runs: Mapping[Identifier, Run]) -> dict[Identifier, datetime]:
    """A time on each report's day for feeds, no two the same: when its last run finished.

    Midnight where that is not known or was another day; a second later for each one already there.
    """
    found: dict[Identifier, datetime] = {}
    for report in sorted(reports, key=lambda r: r.id):
        finished = [runs[run].finished for run in report.runs if run in runs]
        known = [moment.astimezone(UTC) for moment in finished if moment is not None]
        at = datetime.combine(report.date, time(), UTC)
        if known and max(known).date() == report.date:
            at = max(known).replace(microsecond=0)
        while at in found.values():
            at += timedelta(seconds=1)
        found[report.id] = at
    return found
