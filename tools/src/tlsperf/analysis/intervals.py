"""The interval of each figure of a table: where the median of another run would be.

Pure functions. With at least five sessions, the interval comes from the sessions of the run. With
fewer it comes from the rounds, widened by the host's known spread between sessions or by a default.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from tlsperf.analysis.series import Sample, Series
from tlsperf.analysis.sessions import (
    FEWEST_SESSIONS,
    NO_PRIOR,
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
    """The parameters that the intervals of a table share."""

    spreads: Spreads
    prior: Prior = NO_PRIOR

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
            return another_run(of.median, log_medians(sessions), self.prior)
        spread = self.spreads.of_median(row.scenario)
        return another_run_by_spread(of.median, of.low, of.high, len(sessions), spread)


def intervals_of(rows: Sequence[Series], spreads: Spreads) -> Intervals:
    """The parameters for the rows of a table."""
    sessions = [
        log_medians(sample.sessions.values()) for row in rows for sample in _of_sessions(row)
    ]
    return Intervals(spreads, fit_prior(sessions))


def source_of(rows: Sequence[Series], spreads: Spreads) -> IntervalSource | None:
    """Where the intervals of rows come from: the weakest source of any; None without intervals."""
    samples = [
        sample
        for row in rows
        for sample in row.samples.values()
        if not row.definition.is_count and Intervals(spreads).of(row, sample) is not None
    ]
    if not samples:
        return None
    if all(len(sample.sessions) >= FEWEST_SESSIONS for sample in samples):
        return "sessions"
    return "host" if spreads.of_host else "default"


def note_of(
    rows: Sequence[Series],
    source: IntervalSource,
    spreads: Spreads,
    runs: Sequence[Run],
) -> str:
    """The sentence that explains the intervals of rows of some runs to readers."""
    predicts = "An interval predicts another run."
    if source == "sessions":
        counting = [s for row in rows for s in row.samples.values() if s.counts]
        most = [len(s.sessions) for s in counting]
        number = f"{min(most)} to {max(most)}" if min(most) < max(most) else f"{max(most)}"
        used = {at.run for s in counting for at in s.valid}
        spans = [_span(run.sessions) for run in runs if run.id in used and run.sessions]
        when = f", which began within {_time(max(spans))} of each other" if spans else ""
        return (
            f"{predicts} Its width comes from the spread between the {number} sessions of the "
            f"run{when}. If the host changes more over a longer time, the interval is too narrow."
        )
    known = sorted({spreads.medians[kind_of(row.scenario)] for row in rows})
    percent = " or ".join(f"{value:.2f}%" for value in known)
    if source == "host":
        return (
            f"{predicts} It is widened by a spread between sessions of {percent}, which earlier "
            "runs on this host measured. If the spread is now larger, the interval is too narrow."
        )
    return (
        f"{predicts} No spread between sessions was measured on this host, "
        f"so intervals are widened by a default of {percent}. If the spread on this host is "
        "larger, they are too narrow."
    )


def _span(sessions: Sequence[Session]) -> timedelta:
    """The time from the start of the first session to that of the last."""
    return sessions[-1].started - sessions[0].started


def _time(span: timedelta) -> str:
    """A time in words: rounded up to minutes, at least one, or to hours from two hours on."""
    minutes = max(1, math.ceil(span / timedelta(minutes=1)))
    return counted(minutes, "minute") if minutes < 120 else counted(math.ceil(minutes / 60), "hour")


def _of_sessions(row: Series) -> list[Sample]:
    if row.definition.is_count or row.statistic == "max":
        return []
    return [
        sample
        for sample in row.samples.values()
        if sample.counts and sample.has_rounds and len(sample.sessions) >= FEWEST_SESSIONS
    ]
