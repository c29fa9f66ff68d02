"""Comparisons of a report's prose in which neither side is the baseline.

No table has them. They are tested like those of the tables, and counted with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import NamedTuple

from tlsperf.analysis.ratios import as_ratio, sample_ratio
from tlsperf.analysis.series import Rules, Series, row_names
from tlsperf.contract.record import Identifier
from tlsperf.contract.results import Comparison
from tlsperf.load.shortcodes import Call
from tlsperf.report.pairs import PairPriors, tested_in


class Pair(NamedTuple):
    """Two implementations in the row of an anchor."""

    row: Identifier
    implementation: Identifier
    over: Identifier


def matching(patterns: str, anchors: Iterable[Identifier]) -> list[Identifier]:
    """The anchors that match one of the patterns; patterns after ! exclude anchors."""
    wanted = [p for p in patterns.split() if not p.startswith("!")]
    unwanted = [p[1:] for p in patterns.split() if p.startswith("!")]
    return [
        anchor
        for anchor in anchors
        if any(fnmatchcase(anchor, p) for p in wanted)
        and not any(fnmatchcase(anchor, p) for p in unwanted)
    ]


def asked_pairs(
    calls: Sequence[Call], anchors: Sequence[Identifier], baseline: Identifier | None
) -> list[Pair]:
    """The comparisons of the calls that no table has; each pair once."""
    found = [
        pair
        for call in calls
        for pair in _pairs(call, anchors)
        if pair.over and baseline not in (pair.implementation, pair.over)
    ]
    return list(dict.fromkeys(found))


def _pairs(call: Call, anchors: Sequence[Identifier]) -> Iterator[Pair]:
    given = call.arguments
    row, over = given.get("row", ""), given.get("over", "")
    match call.name:
        case "verdict" | "unchanged":
            yield Pair(row, given.get("implementation", ""), over)
        case "change":
            before, after, later = (given.get(name, "") for name in ("before", "after", "later"))
            yield Pair(row, after, before)
            if later:
                yield Pair(row, later, after)
        case "agree" | "extreme" | "standing":
            for anchor in matching(given.get("rows", ""), anchors):
                yield Pair(anchor, given.get("implementation", ""), over)


@dataclass(frozen=True)
class Asked:
    """The pairs that prose compares, with the series of their rows."""

    pairs: Sequence[Pair]
    rows: Mapping[Identifier, Series]
    tables: Mapping[Identifier, Sequence[Series]]
    """All rows of the table that a row belongs to, by the row's anchor."""
    baseline: Identifier | None

    @property
    def tested(self) -> int:
        """Number of pairs with rounds to test: they count as comparisons of the page."""
        return sum(
            {pair.implementation, pair.over} <= set(tested_in(self.rows[pair.row]))
            for pair in self.pairs
            if pair.row in self.rows
        )

    def compared(self, rules: Rules) -> list[Comparison]:
        """The ratio of each pair that has one."""
        priors = {
            id(table): PairPriors(table, self.baseline, rules) for table in self.tables.values()
        }
        found = []
        for pair in self.pairs:
            row = self.rows.get(pair.row)
            if row is None or not {pair.implementation, pair.over} <= set(row.samples):
                continue
            ours, theirs = (row.samples[i] for i in (pair.implementation, pair.over))
            prior = priors[id(self.tables[pair.row])].of(pair.implementation, pair.over)
            estimate = sample_ratio(ours, theirs, row, rules, prior)
            if estimate is not None:
                found.append(Comparison(**pair._asdict(), ratio=as_ratio(estimate, row.metric)))
        return found


def asked_for(
    calls: Sequence[Call], tables: Iterable[Sequence[Series]], baseline: Identifier | None
) -> Asked:
    """The comparisons of the calls in the tables of a report."""
    placed = [(row, table) for table in tables for row in table]
    names = row_names([row for row, _ in placed])
    rows = {names[row.key][1]: row for row, _ in placed}
    whole = [anchor for anchor, row in rows.items() if not row.is_part]
    table_of = {names[row.key][1]: table for row, table in placed}
    return Asked(asked_pairs(calls, whole, baseline), rows, table_of, baseline)
