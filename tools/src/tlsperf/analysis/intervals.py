"""The interval of each figure of a table: where the median of another run would be.

Pure functions. With at least five sessions, the interval comes from the sessions of the run. With
fewer it comes from the rounds, widened by the host's known spread between sessions or by a default.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
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
from tlsperf.contract.run import Run, Session
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
        """The interval of a sample; None if it has too few rounds or is an extreme."""
        if sample.is_extreme or not (sample.valid and sample.has_rounds):
            return None
        of = summary(sample.rounds)
        if of.low is None or of.high is None:
            return None
        if row.definition.is_count or of.low <= 0:
            return of.low, of.high
        sessions = list(sample.sessions.values())
        if len(sessions) >= FEWEST_SESSIONS:
            return another_run(of.median, log_medians(sessions), self._prior)
        spread = self.spreads.of_median(row.scenario)
        return another_run_by_spread(of.median, of.low, of.high, len(sessions), spread)

    @cached_property
    def source(self) -> IntervalSource | None:
        """Where they come from: the weakest source of any; None without intervals."""
        samples = [
            sample
            for row in self.rows
            for sample in row.samples.values()
            if not row.definition.is_count and self.of(row, sample) is not None
        ]
        if not samples:
            return None
        if all(len(sample.sessions) >= FEWEST_SESSIONS for sample in samples):
            return "sessions"
        return "host" if self.spreads.of_host else "default"

    def note(self, runs: Sequence[Run]) -> str | None:
        """The sentence that explains them to readers, for figures of some runs."""
        predicts = "An interval predicts another run."
        known = sorted({self.spreads.medians[kind_of(row.scenario)] for row in self.rows})
        percent = " or ".join(f"{value:.2f}%" for value in known)
        match self.source:
            case None:
                return None
            case "sessions":
                number, when = self._sessions(runs)
                return (
                    f"{predicts} Its width comes from the spread between the {number} sessions of "
                    f"the run{when}. If the host changes more over a longer time, the interval is "
                    "too narrow."
                )
            case "host":
                return (
                    f"{predicts} It is widened by a spread between sessions of {percent}, which "
                    "earlier runs on this host measured. If the spread is now larger, the interval "
                    "is too narrow."
                )
            case "default":
                return (
                    f"{predicts} No spread between sessions was measured on this host, so "
                    f"intervals are widened by a default of {percent}. If the spread on this host "
                    "is larger, they are too narrow."
                )

    def _sessions(self, runs: Sequence[Run]) -> tuple[str, str]:
        """The number of sessions, and the time within which they began if it is recorded."""
        counting = [s for row in self.rows for s in row.samples.values() if s.counts]
        most = [len(s.sessions) for s in counting]
        number = f"{min(most)} to {max(most)}" if min(most) < max(most) else f"{max(most)}"
        used = {at.run for s in counting for at in s.valid}
        spans = [_span(run.sessions) for run in runs if run.id in used and run.sessions]
        when = f", which began within {_time(max(spans))} of each other" if spans else ""
        return number, when


def _span(sessions: Sequence[Session]) -> timedelta:
    """The time from the start of the first session to that of the last."""
    return sessions[-1].started - sessions[0].started


def _time(span: timedelta) -> str:
    """A time in words: rounded up to minutes, at least one, or to hours from two hours on."""
    minutes = max(1, math.ceil(span / timedelta(minutes=1)))
    return counted(minutes, "minute") if minutes < 120 else counted(math.ceil(minutes / 60), "hour")
