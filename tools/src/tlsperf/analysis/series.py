"""The series of runs: what tables, changes and noise are made of. Pure functions.

A series is one scenario in one phase, metric, statistic and unit; a sample is what one
implementation did in it, round by round. The series of a run are made once, by `measured`, and
handed on; only `validate` reads the rows of a run beside it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import median
from typing import Final, NamedTuple

from tlsperf.analysis.sessions import DEFAULT_SPREADS, Spreads, kind_of
from tlsperf.analysis.statistics import SAME_WITHIN
from tlsperf.analysis.statistics import drift as drift_within
from tlsperf.contract.host import hosts_of
from tlsperf.contract.metric import MetricDefinition
from tlsperf.contract.metrics import METRICS, Metric, Statistic, Unit, as_shown
from tlsperf.contract.names import scenario_anchor, scenario_name
from tlsperf.contract.record import SCENARIO_FIELDS, Identifier, Phase, Scenario
from tlsperf.contract.results import Results, Row, Table
from tlsperf.load.run import LoadedRun

_Kind = tuple[Phase, Metric, Statistic, Unit]
Key = tuple[Scenario, Phase, Metric, Statistic, Unit]


class At(NamedTuple):
    """Where an observation was made; the round is None where a source gives one figure."""

    run: str
    session: int
    round: int | None


@dataclass
class Sample:
    """The observations of one implementation in one row, by run, session and round."""

    valid: dict[At, float] = field(default_factory=dict)
    invalid: list[float] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    has_rounds: bool = True
    statistic: Statistic = "value"
    _sessions: dict[tuple[str, int], list[float]] | None = field(
        default=None, init=False, repr=False, compare=False
    )

    @property
    def is_extreme(self) -> bool:
        """Whether its figure is the least or the largest of all rounds, not a median."""
        return self.statistic in _EXTREMES

    @property
    def counts(self) -> bool:
        """Whether a ratio may use it: something in it is valid, and nothing is zero."""
        return bool(self.valid) and min(self.valid.values()) > 0

    @property
    def rounds(self) -> list[float]:
        """The values that count, in the order of the runs and their rounds."""
        return [value for _, value in sorted(self.valid.items())]

    @property
    def sessions(self) -> dict[tuple[str, int], list[float]]:
        """The values that count by run and session, in the order of time."""
        if self._sessions is None:
            self._sessions = {}
            for at, value in sorted(self.valid.items()):
                self._sessions.setdefault((at.run, at.session), []).append(value)
        return self._sessions

    @property
    def figure(self) -> float:
        """The median of the valid values that readers see; at least one must be valid."""
        return figure(list(self.valid.values()), self.statistic)

    def add(self, at: At, value: float, note: str | None) -> None:
        """Adds an observation; `note` says why it must not count, if it must not."""
        self._sessions = None
        self.has_rounds = self.has_rounds and at.round is not None
        if note is None:
            self.valid[at] = value
        else:
            self.invalid.append(value)
            if note not in self.notes:
                self.notes.append(note)

    def merge(self, other: Sample) -> None:
        """Adds all observations of another sample."""
        self._sessions = None
        self.has_rounds = self.has_rounds and other.has_rounds
        self.statistic = other.statistic
        self.valid |= other.valid
        self.invalid += other.invalid
        self.notes += [note for note in other.notes if note not in self.notes]


_EXTREMES: Final[Mapping[Statistic, Callable[[Sequence[float]], float]]] = {"min": min, "max": max}


def figure(values: Sequence[float], statistic: Statistic = "value") -> float:
    """The median of rounds, or the least of their minima, or the largest of their maxima."""
    return _EXTREMES[statistic](values) if statistic in _EXTREMES else float(median(values))


@dataclass(frozen=True)
class Series:
    """The samples of all implementations that become a row of a table."""

    scenario: Scenario
    phase: Phase
    metric: Metric
    statistic: Statistic
    unit: Unit
    samples: dict[Identifier, Sample]

    @property
    def key(self) -> Key:
        """What distinguishes it from other rows."""
        return self.scenario, self.phase, self.metric, self.statistic, self.unit

    @property
    def is_part(self) -> bool:
        """Whether it is a part of another row: a phase of a handshake, which its total holds."""
        return self.phase != "total" and self.scenario.operation != "memory"

    def counts_for(self, implementation: Identifier) -> bool:
        """Whether a ratio may use what the implementation did in it."""
        return implementation in self.samples and self.samples[implementation].counts

    @property
    def definition(self) -> MetricDefinition:
        """Of its metric."""
        return METRICS[self.metric]


@dataclass(frozen=True, eq=False)
class MeasuredRun:
    """A run with its series, in the order of their first observation."""

    loaded: LoadedRun
    series: tuple[Series, ...]

    @property
    def id(self) -> Identifier:
        return self.loaded.run.id


@dataclass(frozen=True)
class Rules:
    """What the ratios of a report have in common."""

    pairs: frozenset[Identifier] = frozenset()
    """Runs whose rounds measured all implementations side by side."""
    drift: float = 1.0
    """What widens a ratio within a run that is not paired; 1 if the rounds of the only run are pairs."""
    comparisons: int = 1
    """Comparisons of the whole report: each interval is corrected for them."""
    spreads: Spreads = DEFAULT_SPREADS
    """How far another run on this processor model differs."""
    floor: float = SAME_WITHIN
    """The noise floor of times: a smaller ratio is not a difference."""
    count_floor: float = 1.0
    """The noise floor of counts."""
    hosts: Mapping[Identifier, str] = field(default_factory=dict)
    """Hosts of runs that have no ratios to each other; empty if they may have."""

    def widening(self, scenario: Scenario, left: Sample, right: Sample) -> float:
        """What widens a ratio that is not paired: the drift, or how far two runs differ."""
        if {at.run for at in left.valid} & {at.run for at in right.valid}:
            return self.drift
        return max(self.drift, 1 + self.spreads.rates[kind_of(scenario, left.statistic)] / 100)

    def are_comparable(self, *samples: Sample) -> bool:
        """Whether samples are of one host, or a report is to compare hosts."""
        runs = {at.run for sample in samples for at in sample.valid}
        return len({self.hosts[run] for run in runs if run in self.hosts}) < 2


@dataclass(frozen=True, eq=False)
class ReportSeries:
    """The series of all runs of a report, and what their ratios have in common."""

    rows: tuple[Series, ...]
    rules: Rules

    @cached_property
    def by_key(self) -> Mapping[Key, Series]:
        return {row.key: row for row in self.rows}


@dataclass(frozen=True, eq=False)
class MeasuredReport:
    """The tables of a report, and the series behind them."""

    results: Results
    series: ReportSeries

    def rows(self, table: Table) -> list[tuple[Row, Series]]:
        """The rows of one of its tables, each with its series."""
        return [(row, self.series.by_key[key_of(table, row)]) for row in table.rows]


def key_of(table: Table, row: Row) -> Key:
    """The key of the series of a row of a table."""
    return row.scenario, row.phase, row.metric, row.statistic, table.unit


def measured(loaded: LoadedRun) -> MeasuredRun:
    """The run with its series."""
    found: dict[Scenario, dict[_Kind, dict[Identifier, Sample]]] = {}
    for row in loaded.rows:
        value, unit = as_shown(row.scenario.operation, row.value, row.unit)
        kinds = found.setdefault(row.scenario, {})
        samples = kinds.setdefault((row.phase, row.metric, row.statistic, unit), {})
        if row.implementation not in samples:
            samples[row.implementation] = Sample(statistic=row.statistic)
        at = At(loaded.run.id, row.session, row.round)
        samples[row.implementation].add(at, value, row.note)
    series = (
        Series(scenario, *kind, samples)
        for scenario, kinds in found.items()
        for kind, samples in kinds.items()
    )
    return MeasuredRun(loaded, tuple(series))


def report_series(
    runs: Sequence[MeasuredRun],
    spreads: Spreads = DEFAULT_SPREADS,
    floor: float = SAME_WITHIN,
    across_hosts: bool = False,
    count_floor: float = 1.0,
) -> ReportSeries:
    """The series of the runs together, in the order of their first observation.

    `spreads` are those of the host; `floor` and `count_floor` are the noise floors of times and of
    counts. Figures of different hosts have a ratio only `across_hosts`.
    """
    found: dict[Key, dict[Identifier, Sample]] = {}
    for run in runs:
        for row in run.series:
            samples = found.setdefault(row.key, {})
            for implementation, sample in row.samples.items():
                samples.setdefault(implementation, Sample()).merge(sample)
    rows = tuple(Series(*key, samples) for key, samples in found.items())
    pairs = frozenset(run.id for run in runs if run.loaded.rounds_are_pairs)
    all_paired = len(runs) == len(pairs) == 1
    drift = 1.0 if all_paired else drift_of(rows)
    hosts = {} if across_hosts else hosts_of(run.loaded.run for run in runs)
    rules = Rules(
        pairs=pairs,
        drift=drift,
        spreads=spreads,
        floor=floor,
        count_floor=count_floor,
        hosts=hosts,
    )
    return ReportSeries(rows, rules)


def drift_of(rows: Iterable[Series]) -> float:
    """How far the host drifted while series were measured (`statistics.drift`)."""
    return drift_within(
        sample.rounds
        for row in rows
        for sample in row.samples.values()
        if sample.has_rounds and sample.counts and not row.is_part and not row.definition.is_count
    )


def rounded(value: float, digits: int = 7) -> float:
    """To significant digits, so that another machine's mathematics library yields the same."""
    return float(f"{value:.{digits}g}")


def row_names(rows: Sequence[Series]) -> dict[Key, tuple[str, str]]:
    """Name and anchor of each row, unique among them.

    A field that the names of scenarios leave out is added if it alone distinguishes two.
    """
    scenarios = _scenario_names(list(dict.fromkeys(row.scenario for row in rows)))
    return {row.key: _row_name(row, *scenarios[row.scenario]) for row in rows}


def _scenario_names(scenarios: Sequence[Scenario]) -> Mapping[Scenario, tuple[str, str]]:
    alike: dict[str, list[Scenario]] = {}
    for scenario in scenarios:
        alike.setdefault(scenario_anchor(scenario), []).append(scenario)
    names = {}
    for anchor, group in alike.items():
        differing = [f for f in SCENARIO_FIELDS if len({getattr(s, f) for s in group}) > 1]
        for scenario in group:
            values = [f"{getattr(scenario, f) or f'{f} not recorded'}" for f in differing]
            suffix = re.sub(r"[^a-z0-9]+", "-", "-".join(["", *values]).lower())
            names[scenario] = (", ".join([scenario_name(scenario), *values]), anchor + suffix)
    return names


def _row_name(row: Series, name: str, anchor: str) -> tuple[str, str]:
    metric = row.definition
    parts: list[str] = []
    if row.phase != "total":
        parts.append(row.phase)
    if row.statistic != "value":
        parts.append("median-thread" if metric.primary else row.statistic)
    shown = [part.replace("-", " ") for part in parts]
    if not (metric.primary or (metric.implied_in_parts and parts)):
        parts.append(row.metric)
    return ", ".join([name, *shown]), "-".join([anchor, *parts]).replace(".", "-")
