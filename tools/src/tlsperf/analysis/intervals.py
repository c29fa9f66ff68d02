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
from tlsperf.contract.run import FigureKind
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
        return not (self.spreads.virtual and row.definition.is_time)

    @cached_property
    def source(self) -> IntervalSource | None:
        """Where the spread between runs comes from; None where no row has one."""
        if not self._kinds:
            return None
        return "measured" if self._kinds <= self.spreads.pairs.keys() else "assumed"

    @cached_property
    def _kinds(self) -> set[FigureKind]:
        """The kinds of the rows with a ratio or an interval that is no count's."""
        return {
            kind_of(row.scenario, row.statistic)
            for row in self.rows
            if not row.definition.is_count
            and any(s.counts and s.has_rounds and not s.is_extreme for s in row.samples.values())
        }

    @property
    def note(self) -> str | None:
        """The sentences that say what intervals and rates promise."""
        if self.source is None:
            return None
        ratios = max(self.spreads.ratios[kind] for kind in self._kinds)
        rates = max(self.spreads.rates[kind] for kind in self._kinds)
        known = min(self.spreads.pairs.get(kind, 0) for kind in self._kinds)
        steady = all(map(self.reproduces, self.rows))
        differ = f"95% of the ratios of two runs differ by less than {ratios:.1f}%"
        if steady:
            differ += f", and 95% of the figures by less than {rates:.1f}%"
        found = [
            f"An interval predicts another run on this processor model: {differ} "
            f"({counted(known, 'pair')} of runs of the same builds)."
            if known
            else "An interval predicts another run on this processor model, of which no two runs of "
            f"the same builds are known: it is assumed that {differ}."
        ]
        if not steady:
            found.append(
                "Rates are of the days of measurement: on this virtual machine 9 of 10 rates of two "
                f"runs differ by less than {rates:.0f}%, mostly for all libraries alike. Compare "
                "ratios."
            )
        return " ".join(found)
