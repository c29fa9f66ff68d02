"""The sections of a report beside its tables: means, noise, efficiency, changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tlsperf.analysis.changes import Side, changes, predecessor
from tlsperf.analysis.efficiency import efficiency
from tlsperf.analysis.means import group_means
from tlsperf.analysis.noise import earlier, noise_of
from tlsperf.analysis.series import series
from tlsperf.contract.record import Identifier
from tlsperf.contract.results import Noise, Results
from tlsperf.contract.run import Report, Run
from tlsperf.load.run import LoadedRun


def sections(
    report: Report,
    reports: Sequence[Report],
    runs: Mapping[Identifier, Run],
    load: Callable[[Identifier], LoadedRun],
    results_of: Callable[[Identifier], Results],
) -> dict[str, Any]:
    """The fields means, noise, efficiency and changes of a report's `Results`.

    `reports` are all there are, and `runs` all runs there are; `load` and `results_of` give a
    run's figures and a report's tables by id.
    """
    own = [load(run) for run in report.runs]
    results = results_of(report.id)
    noise = [
        found
        for run in own
        for found in noise_of(run, [load(r.id) for r in earlier(run.run, runs.values())])
    ]
    pairs = frozenset(run.run.id for run in own if run.rounds_are_pairs)
    rows = series(own)
    before = predecessor(report, reports, runs)
    return {
        "means": group_means(results, rows, pairs),
        "noise": noise,
        "efficiency": efficiency(results, rows, pairs),
        "changes": None
        if before is None
        else changes(
            Side(results_of(before.id), series([load(run) for run in before.runs])),
            Side(results, rows),
            _between_runs(noise),
        ),
    }


def _between_runs(noise: Sequence[Noise]) -> Noise | None:
    """The largest noise between runs on the host, if any is known."""
    known = [n for n in noise if n.source == "other runs on this host"]
    return max(known, key=lambda n: n.floor_percent, default=None)
