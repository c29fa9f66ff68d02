"""Comparisons that a page claims, in which neither side is the baseline.

No table has them. They are tested like those of the tables, and counted with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tlsperf.analysis.ratios import as_ratio, sample_ratio
from tlsperf.analysis.series import Rules, Series, row_names
from tlsperf.contract.claim import Claim
from tlsperf.contract.record import Identifier
from tlsperf.contract.results import Comparison
from tlsperf.contract.run import HostFacts, Implementation
from tlsperf.report.claims import Figures, Pair, asked_pairs, place_of
from tlsperf.report.pairs import PairPriors, tested_in


@dataclass(frozen=True)
class Asked:
    """The pairs that claims compare, with the series of their rows."""

    pairs: Sequence[Pair]
    rows: Mapping[Identifier, Series]
    tables: Sequence[Sequence[Series]]
    """All tables of the page: a pair has the priors of the one that its row is in."""
    baseline: Identifier | None

    @property
    def tested(self) -> int:
        """Number of pairs with rounds to test: they count as comparisons of the page."""
        return sum(
            {pair.implementation, pair.over} <= set(tested_in(self.rows[pair.row]))
            for pair in self.pairs
        )

    def compared(self, rules: Rules) -> list[Comparison]:
        """The ratio of each pair that has one."""
        by_table = [PairPriors(table, self.baseline, rules) for table in self.tables]
        priors = {
            row.key: of for table, of in zip(self.tables, by_table, strict=True) for row in table
        }
        found = []
        for pair in self.pairs:
            row = self.rows[pair.row]
            ours, theirs = (row.samples[i] for i in (pair.implementation, pair.over))
            prior = priors[row.key].of(pair.implementation, pair.over)
            estimate = sample_ratio(ours, theirs, row, rules, prior)
            if estimate is not None:
                found.append(Comparison(**pair._asdict(), ratio=as_ratio(estimate, row.metric)))
        return found


def asked_for(
    claims: Iterable[Claim],
    tables: Sequence[Sequence[Series]],
    implementations: Sequence[Implementation],
    baseline: Identifier | None,
    hosts: Sequence[HostFacts] = (),
) -> Asked:
    """The comparisons of a page's claims in the tables of its report."""
    placed = [row for table in tables for row in table]
    names = row_names(placed)
    rows = {names[row.key][1]: row for row in placed}
    whole = [anchor for anchor, row in rows.items() if not row.is_part]
    measured = {
        anchor: {i: (1.0, 1.0) for i, sample in row.samples.items() if sample.valid}
        for anchor, row in rows.items()
    }
    place = place_of(hosts)
    figures = Figures(implementations, baseline, whole, lambda _: measured, place=place)
    own = [claim.holds for claim in claims if claim.holds and not claim.reports]
    pairs = dict.fromkeys(pair for holds in own for pair in asked_pairs(holds, figures))
    return Asked(list(pairs), rows, tables, baseline)
