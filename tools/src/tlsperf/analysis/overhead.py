"""What the harness itself costs, as share of what it measured. Pure functions.

`tlsbench` drives a library that does nothing through each block that it measures, and records what
is left per operation (`kind: overhead`): nanoseconds, or bytes of memory.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from statistics import median

from tlsperf.analysis.series import MeasuredRun, Series
from tlsperf.contract.metrics import SCALES
from tlsperf.contract.operations import OPERATIONS
from tlsperf.contract.record import Overhead, Scenario
from tlsperf.contract.text import listed
from tlsperf.contract.variant import parse_variant


def overhead_text(run: MeasuredRun) -> str | None:
    """The largest share of a figure of each kind, and a clock read's cost; None if not known."""
    largest: dict[str, float] = {}
    for kind, share in _shares(run):
        largest[kind] = max(share, largest.get(kind, 0))
    if not largest:
        return None
    shares = [f"{_percent(100 * share)} % of {kind}" for kind, share in largest.items()]
    return (
        f"The harness itself, driving a library that does nothing, takes at most {listed(shares)}; "
        f"{_clock(run.loaded.overheads)}."
    )


def _shares(run: MeasuredRun) -> Iterator[tuple[str, float]]:
    """Each figure's kind, and the harness' share of it."""
    costs: defaultdict[tuple[str, Scenario], list[float]] = defaultdict(list)
    for overhead in run.loaded.overheads:
        cost = overhead.bytes if overhead.nanoseconds is None else overhead.nanoseconds
        if cost is not None:
            costs[overhead.implementation, overhead.scenario].append(cost)
    for row in run.series:
        if row.is_part:
            continue
        for implementation, sample in row.samples.items():
            cost_of = costs.get((implementation, row.scenario))
            whole = _whole(row, sample.figure) if sample.counts else None
            if cost_of is not None and whole is not None:
                yield _kind(row), median(cost_of) / whole


def _whole(row: Series, value: float) -> float | None:
    """What a figure says that one operation takes: nanoseconds, or bytes in its own unit."""
    cost = row.definition.harness_cost
    if cost is None:
        return None
    if cost != "inverse":
        return value * SCALES.get(row.unit, 1)
    nanoseconds = 1e9 * (row.scenario.threads or 1) / value
    if row.unit != "MiB/s":
        return nanoseconds
    size = _bytes(row.scenario)
    return None if size is None else nanoseconds * size / (1 << 20)


def _bytes(scenario: Scenario) -> int | None:
    """Of one operation: its write, or what a primitive takes at once."""
    if scenario.size is not None or scenario.variant is None:
        return scenario.size
    variant = parse_variant(scenario.variant)
    return variant.number if variant.kind == "primitive" else None


def _kind(row: Series) -> str:
    kind = OPERATIONS[row.scenario.operation].noun
    if row.statistic != "value":
        kind += "'s latency"
    if (row.scenario.threads or 1) > 1:
        kind += " on several threads"
    return kind


def _percent(value: float) -> str:
    return f"{value:.2f}" if value < 1 else f"{value:.1f}"


def _clock(overheads: Sequence[Overhead]) -> str:
    clock = median(overhead.clock_nanoseconds for overhead in overheads)
    return f"one read of the clock takes {clock:.0f} ns"
