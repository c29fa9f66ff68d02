"""How far two runs of the same builds on one processor model differ, and whether each is within
what the other promises. Pure functions.

Builds are the same if id, version and commit are; figures are those that a reader sees: the median
of a build, and the ratio of each two builds. Counts do not change with the day and are left out, as
are runs whose programs were linked in a random order to see what that does.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property
from itertools import combinations
from typing import Final, NamedTuple

import numpy as np

from tlsperf.analysis.intervals import Intervals
from tlsperf.analysis.ratios import prior_of_ratios, sample_ratio, session_logs
from tlsperf.analysis.series import MeasuredRun, Rules, Series
from tlsperf.analysis.sessions import (
    DEFAULT_SPREADS,
    VIRTUAL_SPREADS,
    Spreads,
    kind_of,
    spreads_of,
    spreads_of_model,
)
from tlsperf.analysis.statistics import ALPHA, Floats, RatioEstimate
from tlsperf.contract.host import one_model
from tlsperf.contract.record import Identifier
from tlsperf.contract.run import FigureKind, HostFacts, Run
from tlsperf.contract.spreads import ModelSpreads, Spread

WITHIN: Final = 0.9
"""The part of the figures of two runs that each must have within what the other promises."""

_APART: Final = ("shuffled", "shared")


class Difference(NamedTuple):
    """How far a figure of two runs differs."""

    kind: FigureKind
    log: float


_Side = tuple[tuple[Series, Series], Identifier]
"""A row in both runs, and a build."""


class _Compared(NamedTuple):
    """Two sides of a ratio that both runs have."""

    kind: FigureKind
    left: _Side
    right: _Side
    logs: list[Floats]
    """The log ratios of the sessions of each run."""


@dataclass(frozen=True, eq=False)
class PairOfRuns:
    """Two runs of the same builds, the earlier one first."""

    one: MeasuredRun
    other: MeasuredRun
    rows: Sequence[tuple[Series, Series]]
    builds: Sequence[Identifier]
    one_model: bool
    """Whether both were measured on one processor model: only then one foretells the other."""

    @property
    def days(self) -> frozenset[date]:
        """When the two were measured."""
        return frozenset(run.loaded.run.date for run in (self.one, self.other))

    @property
    def apart(self) -> timedelta | None:
        """The time between their beginnings, if both record it."""
        begun = self.one.loaded.run.started, self.other.loaded.run.started
        return None if None in begun else begun[1] - begun[0]  # type: ignore[operator]

    @cached_property
    def rates(self) -> list[Difference]:
        """Of each build in each row."""
        return [
            Difference(_kind(row), math.log(there.samples[i].figure / row.samples[i].figure))
            for row, there in self.rows
            for i in self.builds
            if row.counts_for(i) and there.counts_for(i)
        ]

    @cached_property
    def compared(self) -> list[_Compared]:
        """Each two builds in each row, and each build in each two rows that differ in their key
        exchange, if both runs measured them side by side.
        """
        found: list[tuple[FigureKind, _Side, _Side]] = [
            (_kind(both[0]), (both, a), (both, b))
            for both in self.rows
            for a, b in combinations(self.builds, 2)
        ]
        alike: dict[object, list[tuple[Series, Series]]] = {}
        for both in self.rows:
            row = both[0]
            if row.definition.primary and _kind(row) in ("full-handshake", "resumed-handshake"):
                others = row.scenario.model_copy(update={"key_exchange": None})
                alike.setdefault((others, *row.key[1:]), []).append(both)
        found += [
            ("key-exchange", (one, i), (other, i))
            for rows in alike.values()
            for one, other in combinations(rows, 2)
            for i in self.builds
        ]
        made = (
            _Compared(kind, left, right, self._logs(left, right)) for kind, left, right in found
        )
        return [of for of in made if all(map(len, of.logs))]

    def _logs(self, ours: _Side, theirs: _Side) -> list[Floats]:
        """Of the sessions of each run; empty where one side does not count."""
        (left, a), (right, b) = ours, theirs
        return [
            session_logs(left[at].samples[a], right[at].samples[b], frozenset([run.id]))
            if left[at].counts_for(a) and right[at].counts_for(b)
            else np.array([])
            for at, run in enumerate((self.one, self.other))
        ]

    @cached_property
    def ratios(self) -> list[Difference]:
        """Of what they compare."""
        return [
            Difference(of.kind, float(of.logs[1].mean() - of.logs[0].mean()))
            for of in self.compared
        ]


class Agreement(NamedTuple):
    """How many figures of two runs are within what the other one promises, in both directions."""

    ratios: int
    ratios_within: int
    rates: int
    rates_within: int
    verdicts: int
    """Ratios with a verdict in both runs."""
    contradictions: int

    @property
    def ratios_hold(self) -> bool:
        return self.ratios_within >= WITHIN * self.ratios and not self.contradictions

    @property
    def holds(self) -> bool:
        return self.ratios_hold and self.rates_within >= WITHIN * self.rates


# --- pairs of runs -------------------------------------------------------------------------------


def is_repeatable(run: Run) -> bool:
    """Whether another run could repeat its figures: times of this project's harness on a known
    host, whose programs have the layout of the linker.
    """
    return (
        run.host is not None
        and run.source is None
        and run.counter is None
        and not any(layout.kind in _APART for layout in run.layouts)
    )


def pairs_of(runs: Iterable[MeasuredRun], *, across_models: bool = False) -> list[PairOfRuns]:
    """Each two runs that have rows of the same builds, on one processor model or across models."""
    ordered = sorted(runs, key=lambda run: run.loaded.run.when)
    timed = {run.id: {row.key: row for row in run.series if _is_timed(row)} for run in ordered}
    found = []
    for one, other in combinations(ordered, 2):
        hosts = one.loaded.run.host, other.loaded.run.host
        if hosts[0] is None or hosts[1] is None:
            continue
        same = one_model(hosts[0], hosts[1])
        if not (same or across_models):
            continue
        builds = _same_builds(one.loaded.run, other.loaded.run)
        there = timed[other.id]
        rows = [(row, there[key]) for key, row in timed[one.id].items() if key in there]
        pair = PairOfRuns(one, other, rows, builds, same)
        if builds and rows and pair.rates:
            found.append(pair)
    return found


def _same_builds(one: Run, other: Run) -> list[Identifier]:
    there = {i.id: (i.version, i.commit) for i in other.implementations}
    return [i.id for i in one.implementations if there.get(i.id) == (i.version, i.commit)]


def _is_timed(row: Series) -> bool:
    extreme = row.statistic in ("min", "max")
    return not (row.is_part or row.definition.is_count or extreme)


def _kind(row: Series) -> FigureKind:
    return kind_of(row.scenario, row.statistic)


# --- the spreads of a model ----------------------------------------------------------------------


def spreads_of_models(pairs: Sequence[PairOfRuns]) -> list[ModelSpreads]:
    """The spreads of each processor model that has a pair, by the name of its processor."""
    groups: list[tuple[HostFacts, list[PairOfRuns]]] = []
    # A host that records its model first: one that does not belongs to the first that fits.
    by_facts = sorted(pairs, key=lambda pair: _host(pair).cpu_model is None)
    for pair in by_facts:
        group = next((of for of in groups if one_model(of[0], _host(pair))), None)
        if group is None:
            group = (_host(pair), [])
            groups.append(group)
        group[1].append(pair)
    found = []
    for host, own in groups:
        ids = {of.id for pair in own for of in (pair.one, pair.other)}
        kinds = sorted({of.kind for pair in own for of in (*pair.rates, *pair.ratios)})
        model = ModelSpreads(
            host=_identity(host),
            runs=len(ids),
            days=len(frozenset().union(*(pair.days for pair in own))),
            pairs=len(own),
            kinds={kind: _spread(own, kind) for kind in kinds},
        )
        found.append(_wide_enough(model, own))
    return sorted(found, key=lambda of: (of.host.cpu, of.host.cpu_model or ""))


def _wide_enough(model: ModelSpreads, pairs: Sequence[PairOfRuns]) -> ModelSpreads:
    """The model with ratios so wide that each two runs keep what their intervals promise.

    95% of all ratios may leave two runs apart of which one was measured while the host changed.
    """
    assumed = VIRTUAL_SPREADS if model.host.virtual else DEFAULT_SPREADS
    for pair in pairs:
        while not _agreement(pair, spreads_of_model(model, assumed)).ratios_hold:
            kinds = {of.kind for of in pair.ratios}
            model = model.model_copy(
                update={
                    "kinds": {
                        kind: of.model_copy(update={"ratios": round(1.05 * of.ratios + 0.05, 1)})
                        if kind in kinds and of.ratios is not None
                        else of
                        for kind, of in model.kinds.items()
                    }
                }
            )
    return model


def _host(pair: PairOfRuns) -> HostFacts:
    """The facts of the run that records more of the model."""
    hosts = [run.loaded.run.host for run in (pair.one, pair.other)]
    return next((of for of in hosts if of and of.cpu_model), None) or hosts[0]  # type: ignore[return-value]


def _identity(host: HostFacts) -> HostFacts:
    """What distinguishes the model, without the state of the machine."""
    kept = {"id", "cpu", "cpu_model", "architecture", "cores", "threads", "virtual"}
    return HostFacts(**host.model_dump(include={*kept, "virtualization"}, exclude_none=True))


def _spread(pairs: Sequence[PairOfRuns], kind: FigureKind) -> Spread:
    rates = [_of_kind(pair.rates, kind) for pair in pairs]
    ratios = [log for pair in pairs for log in _of_kind(pair.ratios, kind)]
    of_pairs = [_quantile(of, WITHIN) for of in rates if of]
    every = [log for of in rates for log in of]
    return Spread(
        rates=_percent(max([_quantile(every, 1 - ALPHA), *of_pairs])) if every else None,
        ratios=_percent(_quantile(ratios, 1 - ALPHA)) if ratios else None,
        pairs=sum(any(of.kind == kind for of in (*it.rates, *it.ratios)) for it in pairs),
    )


def _of_kind(differences: Sequence[Difference], kind: FigureKind) -> list[float]:
    return [abs(of.log) for of in differences if of.kind == kind]


def _percent(log: float) -> float:
    """Rounded up to a tenth."""
    return math.ceil(1000 * math.expm1(log)) / 10


def _quantile(logs: Sequence[float], part: float) -> float:
    return float(np.quantile(logs, part, method="inverted_cdf"))


# --- whether two runs agree ----------------------------------------------------------------------


def agreement(pair: PairOfRuns, known: Sequence[ModelSpreads]) -> Agreement:
    """How many figures of each run are within what the other promises with these spreads."""
    return _agreement(pair, spreads_of(_host(pair), known))


def _agreement(pair: PairOfRuns, spreads: Spreads) -> Agreement:
    ratios = within = verdicts = contradictions = 0
    for mine, yours in _estimates(pair, spreads):
        for own, other in ((mine, yours), (yours, mine)):
            if own.low is not None and own.high is not None:
                ratios += 1
                within += own.low <= other.value <= own.high
        if {mine.verdict, yours.verdict} <= {"faster", "slower"}:
            verdicts += 1
            contradictions += mine.verdict != yours.verdict
    inside = list(_rates_within(pair, spreads))
    return Agreement(ratios, within, len(inside), sum(inside), verdicts, contradictions)


def foretold(pairs: Sequence[PairOfRuns]) -> list[Agreement]:
    """The agreement of each pair with spreads that know nothing of one of its days.

    So does a reader who expects on another day what a page of that day promises.
    """
    found = []
    for day in sorted({day for pair in pairs for day in pair.days}):
        known = spreads_of_models([pair for pair in pairs if day not in pair.days])
        found += [agreement(pair, known) for pair in pairs if day in pair.days]
    return found


def _estimates(pair: PairOfRuns, spreads: Spreads) -> Iterator[tuple[RatioEstimate, RatioEstimate]]:
    """Each ratio of two builds or of two key exchanges, as each run by itself would print it."""
    rules = [
        Rules(
            pairs=frozenset([run.id]),
            spreads=spreads,
            comparisons=max(1, len(pair.rows) * (len(pair.builds) - 1)),
        )
        for run in (pair.one, pair.other)
    ]
    groups: dict[object, list[_Compared]] = {}
    for of in pair.compared:
        (_, a), (_, b) = of.left, of.right
        groups.setdefault((of.kind == "key-exchange" or (a, b)), []).append(of)
    for group in groups.values():
        priors = [prior_of_ratios(logs) for logs in zip(*(of.logs for of in group), strict=True)]
        for _, (left, a), (right, b), _ in group:
            found = [
                sample_ratio(
                    left[at].samples[a],
                    right[at].samples[b],
                    left[at],
                    rules[at],
                    priors[at],
                    against=right[at],
                )
                for at in (0, 1)
            ]
            if found[0] is not None and found[1] is not None:
                yield found[0], found[1]


def _rates_within(pair: PairOfRuns, spreads: Spreads) -> Iterator[bool]:
    """Whether each rate is within what the other run's page says of rates."""
    for row, there in pair.rows:
        sides = [(row, Intervals([row], spreads)), (there, Intervals([there], spreads))]
        for i in pair.builds:
            if not (row.counts_for(i) and there.counts_for(i)):
                continue
            for (mine, intervals), (yours, _) in (sides, sides[::-1]):
                value = yours.samples[i].figure
                if not intervals.reproduces(mine):
                    most = 1 + spreads.rates[_kind(mine)] / 100
                    ratio = value / mine.samples[i].figure
                    yield max(ratio, 1 / ratio) <= most
                elif interval := intervals.of(mine, mine.samples[i]):
                    yield interval[0] <= value <= interval[1]
