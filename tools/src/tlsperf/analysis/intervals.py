"""The interval of each figure of a table: where the median of another run would be.

Pure functions. The run's own error comes from its sessions if they are at least five, else from its
rounds; the spread between runs is that of the processor model (`data/spreads.json`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from tlsperf.analysis.series import Sample, Series
from tlsperf.analysis.sessions import (
    FEWEST_SESSIONS,
    Prior,
    Spreads,
    another_run,
    another_run_by_spread,
    fit_prior,
    kind_of,
    log_medians,
)
from tlsperf.analysis.statistics import summary
from tlsperf.contract.results import IntervalSource
from tlsperf.contract.text import counted


@dataclass(frozen=True)
class Intervals:
    """The intervals of a table, from what its rows share."""

    rows: Sequence[Series]
    spreads: Spreads

    @cached_property
    def _prior(self) -> Prior:
        """Of the samples with sessions enough whose medians can be moderated."""
        timed = (row for row in self.rows if not row.definition.is_count and row.statistic != "max")
        sessions = [
            s.sessions.values()
            for row in timed
            for s in row.samples.values()
            if s.counts and s.has_rounds
        ]
        return fit_prior([log_medians(of) for of in sessions if len(of) >= FEWEST_SESSIONS])

    def of(self, row: Series, sample: Sample) -> tuple[float, float] | None:
        """The interval of a sample; None if it has too few rounds or is an extreme, or a rate of a
        virtual machine, whose speed changes from day to day for all libraries.
        """
        if sample.is_extreme or not (sample.valid and sample.has_rounds):
            return None
        if not self.reproduces(row):
            return None
        of = summary(sample.rounds)
        if of.low is None or of.high is None:
            return None
        if row.definition.is_count or of.low <= 0:
            return of.low, of.high
        sessions = list(sample.sessions.values())
        spread = self.spreads.of_median(row.scenario, row.statistic)
        if len(sessions) >= FEWEST_SESSIONS:
            return another_run(of.median, log_medians(sessions), self._prior, spread)
        return another_run_by_spread(of.median, of.low, of.high, spread)

    def reproduces(self, row: Series) -> bool:
        """Whether figures of a row are the same on another day. A rate of a virtual machine is not:
        it has no interval, and three digits.
        """
        return not (self.spreads.virtual and moves_with_host(row))

    @cached_property
    def source(self) -> IntervalSource | None:
        """Where the spread between runs comes from; None where no row has one."""
        tested = (
            sample.counts and sample.has_rounds and not sample.is_extreme
            for row in self.rows
            for sample in row.samples.values()
            if not row.definition.is_count
        )
        if not any(tested):
            return None
        return "measured" if self.spreads.pairs else "assumed"

    @property
    def note(self) -> str | None:
        """The sentences that say what intervals and rates promise."""
        if self.source is None:
            return None
        kinds = {(row.scenario, row.statistic) for row in self.rows if not row.definition.is_count}
        ratios, rates = (
            max(of[kind_of(*kind)] for kind in kinds)
            for of in (self.spreads.ratios, self.spreads.rates)
        )
        found = [self._of_ratios(ratios)]
        if not all(map(self.reproduces, self.rows)):
            found.append(
                "Rates are of the days of measurement: on this virtual machine, those of two runs "
                f"differ by up to {rates:.0f}%, for all libraries alike. Compare ratios."
            )
        return " ".join(found)

    def _of_ratios(self, percent: float) -> str:
        predicts = "A ratio's interval predicts another run on this processor model"
        if self.spreads.pairs:
            return (
                f"{predicts}: in {counted(self.spreads.pairs, 'pair')} of runs, on "
                f"{counted(self.spreads.days, 'day')}, ratios of the same builds differ by up to "
                f"{percent:.1f}%."
            )
        return (
            f"{predicts}, of which no two runs are known: it is assumed that their ratios differ by "
            f"up to {percent:.1f}%."
        )


def moves_with_host(row: Series) -> bool:
    """Whether a figure is of time, which changes with the speed of the host."""
    return not (row.definition.is_count or row.definition.whole)
