"""What the harness itself costs, as share of what it measured. Pure functions.

`tlsbench` drives a library that does nothing through each block that it measures, and records the
time per handshake or per write that is left (`kind: overhead`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from statistics import median

from tlsperf.model import Overhead, Scenario
from tlsperf.run import LoadedRun
from tlsperf.series import series


def overhead_text(run: LoadedRun) -> str | None:
    """The largest share of any figure of a run, and the cost of a clock read; None if not known."""
    costs: defaultdict[tuple[str, Scenario], list[float]] = defaultdict(list)
    for overhead in run.overheads:
        costs[overhead.implementation, overhead.scenario].append(overhead.nanoseconds)
    shares = [
        (median(costs[implementation, row.scenario]) / nanoseconds, row.scenario.operation)
        for row in series([run])
        if row.metric == "rate" and row.phase == "total" and row.statistic == "value"
        for implementation, sample in row.samples.items()
        if sample.counts
        and (implementation, row.scenario) in costs
        and (nanoseconds := _nanoseconds(row.scenario, sample.median)) is not None
    ]
    if not shares:
        return None
    share, operation = max(shares)
    return (
        f"The harness itself, driving a library that does nothing, takes at most "
        f"{_percent(100 * share)} % of a figure (a {operation}); {_clock(run.overheads)}."
    )


def _nanoseconds(scenario: Scenario, rate: float) -> float | None:
    """Of one handshake or of one write, from its rate (handshakes/s, or MiB/s)."""
    if scenario.operation == "transfer":
        return None if scenario.size is None else 1e9 * scenario.size / (rate * (1 << 20))
    return 1e9 / rate


def _percent(value: float) -> str:
    return f"{value:.2f}" if value < 1 else f"{value:.1f}"


def _clock(overheads: Sequence[Overhead]) -> str:
    clock = median(overhead.clock_nanoseconds for overhead in overheads)
    return f"one read of the clock takes {clock:.0f} ns"
