"""The series of a report, for tools that keep a history and compare the points of equal names.

A name has the library and what makes it another subject, its provider and its build, never a version
or a commit: those differ from report to report. The points of a host are apart from those of others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, time
from pathlib import Path
from typing import Any, Final, NamedTuple

from natsort import natsort_keygen

from tlsperf.contract.libraries import LIBRARIES
from tlsperf.contract.names import anchor_of
from tlsperf.contract.results import Results, Row, ShownImplementation, Table
from tlsperf.contract.run import HostFacts, Implementation
from tlsperf.contract.text import host_label, listed, short_version
from tlsperf.load.importer import UNKNOWN_HOST
from tlsperf.publish.exchange.publication import Figure, Publication

_NUMBER: Final = re.compile(r"[0-9]\.[0-9]")
_BEFORE_RELEASE: Final = re.compile(r"[0-9][-.]?(alpha|beta|dev|pre|rc)")
_BUILT: Final = {
    f"{releases.package} {version}": built
    for library in LIBRARIES
    if (releases := library.releases)
    for version, built in releases.builds.items()
}
"""Versions of libraries, by the packages that build them."""
_natural: Final = natsort_keygen()
_USUAL_CERTIFICATE: Final = "rsa-2048"


class Point(NamedTuple):
    """A figure of a report in its series."""

    name: str
    """openssl/full-handshake-1-3-ecdsa-p256-x25519-server: the same in all reports."""
    implementation: ShownImplementation
    figure: Figure


class HostSeries(NamedTuple):
    """What was measured on one host."""

    key: str
    """The id of the host, the same in all reports; an unknown one is another in each."""
    name: str
    folder: str
    """Where its files are, with a slash at the end; empty if the report has no other host."""
    points: list[Point]


def series_of(publication: Publication) -> list[HostSeries]:
    """The points by host, in the order of the page."""
    results = publication.results
    newest = {shown.id: shown for shown in _newest(results)}
    points = [
        Point(
            f"{subject(shown, host_of(results, shown))}/{_row(figure.table, figure.row)}",
            shown,
            figure,
        )
        for figure in publication.figures
        if (shown := newest.get(figure.cell.implementation))
    ]
    found = []
    for host in results.hosts:
        key = host_key(results, host)
        folder = f"{key}/" if len(results.hosts) > 1 else ""
        # Only an implementation of a report with several hosts names its own.
        of = [point for point in points if point.implementation.host in (None, host.id)]
        if of:
            found.append(HostSeries(key, host_label(host), folder, of))
    return found


def left_out(publication: Publication, _: Path) -> Iterator[str]:
    """A line that names the older versions of a report: they have no points."""
    newest = _newest(publication.results)
    older = [shown.label for shown in publication.results.implementations if shown not in newest]
    if older:
        yield f"left out {listed(older)}: a series has the newest version of a report"


def host_of(results: Results, shown: ShownImplementation) -> HostFacts:
    return next(host for host in results.hosts if shown.host in (None, host.id))


def host_key(results: Results, host: HostFacts) -> str:
    return host.id if host.id != UNKNOWN_HOST else f"{host.id}-{results.id}"


def subject(implementation: Implementation, host: HostFacts) -> str:
    """What stays when the version changes: openssl, rustls-aws-lc-rs, openssl-gcc.

    A build that is named after the host's architecture is no other subject.
    """
    build = implementation.build if implementation.build != host.architecture else None
    parts = (implementation.library, implementation.provider, build)
    return "-".join(anchor_of(part) for part in parts if part)


def version_of(implementation: Implementation) -> str:
    """The library's own version, also if a package with another number builds it."""
    version = short_version(implementation)
    return _BUILT.get(version, version)


def measured_at(results: Results) -> datetime:
    """The last day of its runs, at the time of its page if that is of this day."""
    day = max(run.date for run in results.runs)
    if results.time and results.date == day:
        return results.time
    return datetime.combine(day, time(), UTC)


def _newest(results: Results) -> list[ShownImplementation]:
    """The newest version of each subject on each host."""
    newest: dict[tuple[str | None, str], ShownImplementation] = {}
    for shown in results.implementations:
        key = shown.host, subject(shown, host_of(results, shown))
        if key not in newest or _age(shown) >= _age(newest[key]):
            newest[key] = shown
    return list(newest.values())


def _age(implementation: Implementation) -> tuple[bool, Any]:
    """What sorts versions: a release is newer than what is not one, or has no number."""
    version = short_version(implementation)
    if not _NUMBER.search(version):
        return False, ()
    return not _BEFORE_RELEASE.search(version), _natural(version)


def _row(table: Table, row: Row) -> str:
    """The anchor of a row, with what it leaves out though it makes another series."""
    name, certificate = row.anchor, row.scenario.certificate or _USUAL_CERTIFICATE
    if certificate != _USUAL_CERTIFICATE and certificate not in name:
        name += f"-{certificate}"
    return f"{name}-per-thread" if table.unit.endswith("/thread") else name
