"""The cost of harness and transport as a share of each figure. Pure functions.

`tlsbench` runs each block also with a library that does nothing, and records the remaining cost per
operation (`kind: overhead`): nanoseconds, or bytes of memory. For transfers it also runs a library
that frames and copies instead of encrypting: the difference is the cost of the transport. A table
of transfers shows clock, calls and copies separately.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from statistics import median
from typing import NamedTuple

from tlsperf.analysis.series import MeasuredRun, Series, rounded
from tlsperf.contract.metrics import METRICS, SCALES, Metric, Unit
from tlsperf.contract.operations import OPERATIONS
from tlsperf.contract.record import Identifier, Scenario
from tlsperf.contract.results import HarnessShare, Row, Table
from tlsperf.contract.text import listed
from tlsperf.contract.variant import parse_variant


def overhead_text(run: MeasuredRun) -> str | None:
    """The largest share for each kind of figure, and the cost of reading the clock.

    None if no cost is recorded.
    """
    largest: dict[str, float] = {}
    for kind, share in _shares(run):
        largest[kind] = max(share, largest.get(kind, 0))
    if not largest:
        return None
    shares = [f"{_percent(100 * share)}% of {kind}" for kind, share in largest.items()]
    clock = median(overhead.clock_nanoseconds for overhead in run.loaded.overheads)
    return (
        f"The harness itself, driving a library that does nothing, takes at most {listed(shares)}; "
        f"one read of the clock takes {clock:.0f} ns."
    )


class _Cost(NamedTuple):
    """Nanoseconds per write that the library does not cause."""

    clock: float
    calls: float
    copies: float

    @property
    def rest(self) -> float:
        """What is not of the transport."""
        return self.clock + self.calls


Costs = Mapping[tuple[Identifier, Scenario], _Cost]
"""Costs by implementation and scenario."""


def transfer_costs(runs: Iterable[MeasuredRun]) -> Costs:
    """The cost of harness and transport per write, for runs that record both."""
    found: defaultdict[tuple[Identifier, Scenario], list[_Cost]] = defaultdict(list)
    for run in runs:
        for of in run.loaded.overheads:
            if of.nanoseconds is None or of.copies_nanoseconds is None or not of.scenario.size:
                continue
            # A side reads the clock once for all writes that are in flight.
            writes = max(1, (of.scenario.in_flight or 1 << 20) // of.scenario.size)
            clock = min(of.clock_nanoseconds / writes, of.nanoseconds)
            cost = _Cost(clock, of.nanoseconds - clock, of.copies_nanoseconds)
            found[of.implementation, of.scenario].append(cost)
    return {
        key: _Cost(*(median(parts) for parts in zip(*costs, strict=True)))
        for key, costs in found.items()
    }


def with_harness(table: Table, costs: Costs) -> Table:
    """The table with the shares of harness and transport in its transfers, if they are recorded."""
    found = [
        (_share(row, cell.implementation, nanoseconds, cost), cost.rest / nanoseconds)
        for row in table.rows
        for cell in row.cells
        if cell.valid
        and cell.value is not None
        and (cost := costs.get((cell.implementation, row.scenario))) is not None
        and row.phase == "total"
        and (nanoseconds := _whole(row.scenario, row.metric, table.unit, cell.value)) is not None
    ]
    if not found:
        return table
    shares = [share for share, _ in found]
    copies = sorted(share.copies_percent for share in shares)
    span = dict.fromkeys(_percent(share) for share in (copies[0], copies[-1]))
    rest = 100 * max(rest for _, rest in found)
    statement = (
        f"Of these times, copies to and from the transport take {' to '.join(span)}%; the calls "
        f"and the clock of the harness take at most {_at_most(rest)}% together."
    )
    return table.model_copy(update={"harness": shares, "harness_statement": statement})


def _share(row: Row, implementation: Identifier, nanoseconds: float, cost: _Cost) -> HarnessShare:
    clock, calls, copies = (100 * part / nanoseconds for part in cost)
    return HarnessShare(
        anchor=row.anchor,
        name=row.name,
        implementation=implementation,
        clock_percent=rounded(clock, 3),
        calls_percent=rounded(calls, 3),
        copies_percent=rounded(copies, 3),
    )


def _shares(run: MeasuredRun) -> Iterator[tuple[str, float]]:
    """The kind of each figure, and the harness' share of it."""
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
            if cost_of is None or not sample.counts:
                continue
            whole = _whole(row.scenario, row.metric, row.unit, sample.figure)
            if whole is not None:
                yield _kind(row), median(cost_of) / whole


def _whole(scenario: Scenario, metric: Metric, unit: Unit, value: float) -> float | None:
    """The cost of one operation according to a figure: nanoseconds, or bytes; None if unknown."""
    cost = METRICS[metric].harness_cost
    if cost is None:
        return None
    if cost != "inverse":
        return value * SCALES.get(unit, 1)
    nanoseconds = 1e9 * (scenario.threads or 1) / value
    if unit != "MiB/s":
        return nanoseconds
    size = _bytes(scenario)
    return None if size is None else nanoseconds * size / (1 << 20)


def _bytes(scenario: Scenario) -> int | None:
    """The bytes of one operation: the size of its write, or the input of a primitive."""
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


def _at_most(value: float) -> str:
    """Like `_percent`, but rounded up."""
    step = 0.01 if value < 1 else 0.1
    return _percent(math.ceil(value / step - 1e-9) * step)


def _percent(value: float) -> str:
    return f"{value:.2f}" if value < 1 else f"{value:.1f}"
