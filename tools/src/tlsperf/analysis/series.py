"""The figures of runs, row by row: what tables, changes and noise are made of. Pure functions.

A row is one scenario in one phase, metric, statistic and unit; a sample is what one implementation
did in it, round by round.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

import numpy as np
import pandas as pd

from tlsperf.analysis.statistics import (
    Better,
    RatioEstimate,
    counted_ratio,
    paired_ratio,
    ratio_text,
    unpaired_ratio,
    untested_ratio,
    wander,
)
from tlsperf.contract.names import scenario_anchor, scenario_name
from tlsperf.contract.record import (
    SCENARIO_FIELDS,
    Identifier,
    Metric,
    Phase,
    Scenario,
    Statistic,
    Unit,
)
from tlsperf.contract.results import Ratio
from tlsperf.load.frame import scenario_groups
from tlsperf.load.run import LoadedRun

_OBSERVATION: Final = (
    *("phase", "metric", "statistic", "unit"),
    *("implementation", "round", "value", "valid", "note"),
)
"""The columns of an observation besides its scenario, in the order of `rows_of`."""

Key = tuple[Scenario, Phase, Metric, Statistic, Unit]


@dataclass
class Sample:
    """The observations of one implementation in one row, by run and round.

    Where a source gives one figure without a round, that figure's round is None.
    """

    valid: dict[tuple[str, int | None], float] = field(default_factory=dict)
    invalid: list[float] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    has_rounds: bool = True

    @property
    def counts(self) -> bool:
        """Whether it may stand in a ratio: something in it is valid, and nothing is zero."""
        return bool(self.valid) and min(self.valid.values()) > 0

    @property
    def rounds(self) -> list[float]:
        """The values that count, in the order of the runs and their rounds."""
        return [value for _, value in sorted(self.valid.items())]

    @property
    def median(self) -> float:
        """Of what is valid, which must be something."""
        return float(np.median(list(self.valid.values())))

    def add(self, run: str, round_: int | None, value: float, note: str | None) -> None:
        """Adds an observation; `note` says why it must not count, if it must not."""
        self.has_rounds = self.has_rounds and round_ is not None
        if note is None:
            self.valid[run, round_] = value
        else:
            self.invalid.append(value)
            if note not in self.notes:
                self.notes.append(note)

    def merge(self, other: Sample) -> None:
        """Adds all observations of another sample."""
        self.has_rounds = self.has_rounds and other.has_rounds
        self.valid |= other.valid
        self.invalid += other.invalid
        self.notes += [note for note in other.notes if note not in self.notes]


@dataclass(frozen=True)
class Series:
    """A row to be, over all implementations."""

    scenario: Scenario
    phase: Phase
    metric: Metric
    statistic: Statistic
    unit: Unit
    samples: dict[Identifier, Sample]

    @property
    def key(self) -> Key:
        """What tells it from other rows."""
        return self.scenario, self.phase, self.metric, self.statistic, self.unit

    @property
    def is_part(self) -> bool:
        """Whether it is a part of another row: a phase of a handshake, which its total holds."""
        return self.phase != "total" and self.scenario.operation != "memory"

    @property
    def is_count(self) -> bool:
        """Whether its figures are counts: they do not move with the host, and need no test."""
        return self.metric == "instructions"


def series(runs: Sequence[LoadedRun]) -> list[Series]:
    """The rows of runs, in the order of their first observation."""
    found: dict[Key, dict[Identifier, Sample]] = {}
    for run in runs:
        for row in rows_of(run):
            samples = found.setdefault(row.key, {})
            for implementation, sample in row.samples.items():
                samples.setdefault(implementation, Sample()).merge(sample)
    return [Series(*key, samples) for key, samples in found.items()]


@lru_cache(maxsize=64)
def rows_of(run: LoadedRun) -> tuple[Series, ...]:
    """The rows of a run. Kept, since every section of a report goes through them: not to be
    changed."""
    found: dict[Key, dict[Identifier, Sample]] = {}
    for scenario, rows in scenario_groups(run.frame):
        plain = rows[list(_OBSERVATION)].astype(object).itertuples(False, None)
        for phase, metric, statistic, unit, implementation, in_round, value, valid, note in plain:
            if scenario.operation == "memory" and unit == "bytes":
                # Of a whole process: nobody reads nine digits.
                value, unit = value / 1024, "KiB"
            samples = found.setdefault((scenario, phase, metric, statistic, unit), {})
            samples.setdefault(implementation, Sample()).add(
                run.run.id,
                None if pd.isna(in_round) else int(in_round),
                float(value),
                None if valid else str(note),
            )
    return tuple(Series(*key, samples) for key, samples in found.items())


def better_of(metric: Metric) -> Better:
    """More of a rate is better, less of everything else."""
    return "higher" if metric == "rate" else "lower"


NO_ROUNDS: Final = "single figures, without rounds to test"


def wander_of(rows: Iterable[Series]) -> float:
    """How far the host moved while rows were measured (`statistics.wander`)."""
    return wander(
        sample.rounds
        for row in rows
        for sample in row.samples.values()
        if sample.has_rounds and sample.counts and not row.is_part and not row.is_count
    )


def sample_ratio(
    left: Sample,
    right: Sample,
    pairs: frozenset[str],
    comparisons: int,
    metric: Metric,
    between: float,
) -> RatioEstimate | None:
    """Left over right; in pairs where they share rounds of a run whose rounds are pairs.

    `pairs` are the ids of such runs; `between` is what widens an unpaired ratio. None where a
    side has nothing that may stand in a ratio.
    """
    if not (left.counts and right.counts):
        return None
    if metric == "instructions":
        return counted_ratio(left.rounds, right.rounds)
    better = better_of(metric)
    if not (left.has_rounds and right.has_rounds):
        return untested_ratio(left.median, right.median, NO_ROUNDS, better)
    common = [key for key in left.valid if key[0] in pairs and key in right.valid]
    if common:
        return paired_ratio(
            [left.valid[k] for k in common], [right.valid[k] for k in common], comparisons, better
        )
    return unpaired_ratio(left.rounds, right.rounds, comparisons, better, between)


def rounded(value: float, digits: int = 7) -> float:
    """To significant digits, so that another machine's mathematics library yields the same."""
    return float(f"{value:.{digits}g}")


def as_ratio(estimate: RatioEstimate, metric: Metric) -> Ratio:
    """A ratio as results.json has it."""
    return Ratio(
        value=rounded(estimate.value, 6),
        low=None if estimate.low is None else rounded(estimate.low, 6),
        high=None if estimate.high is None else rounded(estimate.high, 6),
        verdict=estimate.verdict,
        paired=estimate.paired,
        text=ratio_text(estimate, metric),
        note=estimate.note,
    )


def row_names(rows: Sequence[Series]) -> dict[Key, tuple[str, str]]:
    """Name and anchor of each row, unique among them.

    A field that the names of scenarios leave out is added where it alone tells two apart.
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
            told = [f"{getattr(scenario, f) or f'{f} not told'}" for f in differing]
            suffix = re.sub(r"[^a-z0-9]+", "-", "-".join(["", *told]).lower())
            names[scenario] = (", ".join([scenario_name(scenario), *told]), anchor + suffix)
    return names


def _row_name(row: Series, name: str, anchor: str) -> tuple[str, str]:
    parts: list[str] = []
    if row.phase != "total":
        parts.append(row.phase)
    if row.statistic != "value":
        parts.append("median-thread" if row.metric == "rate" else row.statistic)
    shown = [part.replace("-", " ") for part in parts]
    # A rate, and a duration that is a part of it, are what their row is about.
    if not (row.metric == "rate" or (row.metric == "duration" and parts)):
        parts.append(row.metric)
    return ", ".join([name, *shown]), "-".join([anchor, *parts]).replace(".", "-")
