"""The pairs of implementations in a row of a table: tested ones and their ratios."""

from __future__ import annotations

from collections.abc import Sequence

from tlsperf.analysis.ratios import (
    as_ratio,
    can_be_tested,
    prior_of_ratios,
    sample_ratio,
    session_logs,
)
from tlsperf.analysis.series import Rules, Series
from tlsperf.analysis.sessions import Prior
from tlsperf.contract.record import Identifier
from tlsperf.contract.results import Ratio


def tested_in(row: Series) -> list[Identifier]:
    """The implementations with rounds that a test of this row can use."""
    return [i for i, sample in row.samples.items() if can_be_tested(row, sample)]


def prior_to(rows: Sequence[Series], baseline: Identifier | None, rules: Rules) -> Prior:
    """The prior for the ratios of a table to the baseline, from its sessions."""
    return prior_of_ratios(
        session_logs(row.samples[i], row.samples[baseline], rules.pairs)
        for row in rows
        if baseline is not None and baseline in (tested := tested_in(row))
        for i in tested
        if i != baseline
    )


class PairPriors:
    """The priors of the pairs in a table: a pair and its inverse have the same interval.

    The prior is that of the ratios to the baseline if the baseline is one of the two, otherwise
    that of the ratios to the first in order of ids.
    """

    def __init__(self, rows: Sequence[Series], baseline: Identifier | None, rules: Rules) -> None:
        self._rows, self._baseline, self._rules = rows, baseline, rules
        self._found: dict[Identifier | None, Prior] = {}

    def to(self, other: Identifier | None) -> Prior:
        """The prior of all ratios to one implementation."""
        if other not in self._found:
            self._found[other] = prior_to(self._rows, other, self._rules)
        return self._found[other]

    def of(self, one: Identifier, other: Identifier) -> Prior:
        """The prior of the ratio of `one` to `other`."""
        if self._baseline == other or (self._baseline != one and other < one):
            return self.to(other)
        return self.to(one).reversed()


def ratios_to(
    row: Series, baseline: Identifier | None, rules: Rules, prior: Prior
) -> dict[Identifier, Ratio]:
    """The ratio of each other implementation of a row to the baseline."""
    if baseline is None or baseline not in row.samples:
        return {}
    found = {
        i: sample_ratio(sample, row.samples[baseline], row, rules, prior)
        for i, sample in row.samples.items()
        if i != baseline
    }
    return {i: as_ratio(e, row.metric) for i, e in found.items() if e is not None}
