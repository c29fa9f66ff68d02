"""The sections of a report besides its tables: noise and changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tlsperf.analysis.changes import changes, predecessor
from tlsperf.analysis.noise import noise_of
from tlsperf.analysis.series import MeasuredReport, MeasuredRun
from tlsperf.analysis.sockets import socket_shares
from tlsperf.contract.record import Identifier
from tlsperf.contract.results import Noise
from tlsperf.contract.run import Report, Run
from tlsperf.load.damage import readable


def sections(
    report: Report,
    reports: Sequence[Report],
    runs: Mapping[Identifier, Run],
    noise: Sequence[Noise],
    report_of: Callable[[Identifier], MeasuredReport],
) -> dict[str, Any]:
    """The fields of a report's `Results` from noise, sockets and changes.

    `reports` and `runs` are all that exist; `noise` is that of the report's runs; `report_of`
    returns the tables of a report by id.
    """
    own = report_of(report.id)
    before = predecessor(report, reports, runs)
    compared = next(readable(report_of, [before.id]), None) if before else None
    return {
        "noise": noise,
        "sockets": socket_shares(own) or None,
        "changes": changes(compared, own) if compared else None,
    }


def report_noise(
    of: Iterable[Identifier], run_of: Callable[[Identifier], MeasuredRun]
) -> list[Noise]:
    """The noise of the runs of a report; `run_of` returns the series of a run by id."""
    return [found for run in map(run_of, of) for found in noise_of(run)]
