"""Two sets of results side by side: which rows belong together, and how they differ. Pure functions.

The changes of a report since the last one, and `tlsperf compare`, pair by these rules.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from tlsperf.analysis.ratios import can_be_tested, sample_ratio
from tlsperf.analysis.series import Key, Rules, Sample, Series, row_names
from tlsperf.analysis.statistics import RatioEstimate
from tlsperf.contract.record import SCENARIO_FIELDS, Scenario
from tlsperf.contract.results import Results, ShownImplementation

NOT_RECORDED: Final = "not recorded"
"""The text for a field that a source does not record."""

OTHER_CONDITIONS: Final = "measured under other conditions"
"""Why a ratio has no verdict if something else differs too."""

_MAY_BE_UNRECORDED: Final = (
    "cipher_suite",
    "certificate",
    "authentication",
    "resumption",
    "threads",
    "size",
    "record_size",
)
_MAY_DIFFER: Final = ("key_exchange",)
_NO_ROUNDS: Final = "no rounds to test on both sides"


# --- which rows belong together ------------------------------------------------------------------


class Field(NamedTuple):
    """A field in which the scenarios of a pair differ, as text."""

    name: str
    own: str
    other: str


class RowPair(NamedTuple):
    """A row and its counterpart on the other side."""

    row: Series
    other: Series
    name: str
    anchor: str
    fields: tuple[Field, ...]
    """The fields in which their scenarios differ: then a ratio has no verdict."""


def row_pairs(rows: Sequence[Series], others: Sequence[Series]) -> list[RowPair]:
    """Each row with its counterpart, in the order and with the names of `rows`; no parts of rows.

    A counterpart has the same scenario; else the same name, which leaves out what seldom differs;
    else it is the only one that differs at most in what a source may not record, or in the key
    exchange.
    """
    names, theirs = row_names(rows), row_names(others)

    def same_name(row: Series, other: Series) -> bool:
        return names[row.key] == theirs[other.key]

    own = [row for row in rows if not row.is_part]
    there = {other.key: other for other in others}
    found = {row.key: there[row.key] for row in own if row.key in there}
    for agree in (same_name, _alike):
        found |= _only_ones(own, list(there.values()), found, agree)
    return [
        RowPair(row, found[row.key], *names[row.key], _fields(row, found[row.key]))
        for row in own
        if row.key in found
    ]


def _only_ones(
    rows: Sequence[Series],
    others: Sequence[Series],
    found: dict[Key, Series],
    agree: Callable[[Series, Series], bool],
) -> dict[Key, Series]:
    """The other row of each row that is in no pair yet, if each is the only one for the other."""
    taken = {other.key for other in found.values()}
    free = [other for other in others if other.key not in taken]
    candidates = {
        row.key: [o for o in free if row.key[1:] == o.key[1:] and agree(row, o)]
        for row in rows
        if row.key not in found
    }
    claims = Counter(other.key for of in candidates.values() for other in of)
    return {key: of[0] for key, of in candidates.items() if len(of) == 1 and claims[of[0].key] == 1}


def _alike(row: Series, other: Series) -> bool:
    return all(
        getattr(row.scenario, field) == getattr(other.scenario, field)
        or field in _MAY_DIFFER
        or (field in _MAY_BE_UNRECORDED and _says_less(field, row.scenario, other.scenario))
        for field in SCENARIO_FIELDS
    )


def _says_less(field: str, *scenarios: Scenario) -> bool:
    """Whether one does not record a field, or not the kind of resumption: only `resumed`."""
    values = [getattr(scenario, field) for scenario in scenarios]
    return None in values or ("resumed" in values and "none" not in values)


def _fields(row: Series, other: Series) -> tuple[Field, ...]:
    def text(of: Series, field: str) -> str:
        value = getattr(of.scenario, field)
        return NOT_RECORDED if value is None else str(value)

    return tuple(
        Field(field.replace("_", " "), text(row, field), text(other, field))
        for field in SCENARIO_FIELDS
        if getattr(row.scenario, field) != getattr(other.scenario, field)
    )


def implementation_pairs(
    before: Results, after: Results
) -> list[tuple[ShownImplementation, ShownImplementation]]:
    """Each implementation with its counterpart before: same provider and build, if need be
    the only one of its library."""

    def kind(i: ShownImplementation) -> tuple[str | None, ...]:
        return i.library, i.provider, i.build

    def alone(i: ShownImplementation, among: Results) -> bool:
        return [o.library for o in among.implementations].count(i.library) == 1

    pairs = []
    for now in after.implementations:
        there = before.implementations
        same = [then for then in there if then.id == now.id]
        like = [then for then in there if kind(then) == kind(now)]
        only = [then for then in there if alone(then, before) and then.library == now.library]
        for found in (same, like, only if alone(now, after) else []):
            if len(found) == 1:
                pairs.append((found[0], now))
                break
    return pairs


# --- how they differ -----------------------------------------------------------------------------


class Difference(NamedTuple):
    """A pair of rows with the ratio of one side to the other."""

    pair: RowPair
    over: Sample
    under: Sample
    estimate: RatioEstimate
    """The ratio of `over` to `under`, tested if there are rounds."""
    neutral: bool
    """Whether something else differs too, so that readers get no verdict."""

    @property
    def shown(self) -> RatioEstimate:
        """The ratio as readers see it."""
        if self.neutral and self.estimate.verdict != "not tested":
            return self.estimate.untested(OTHER_CONDITIONS)
        return self.estimate


Samples = tuple[RowPair, Sample, Sample]
"""A pair of rows with the samples of the two sides, of which the first is over the second."""


def differences(
    samples: Sequence[Samples], rules: Rules, neutral: bool = False
) -> list[Difference]:
    """The ratios of the samples that have one."""
    found = []
    for pair, over, under in samples:
        estimate = sample_ratio(over, under, pair.row, rules, untested=_NO_ROUNDS)
        if estimate is not None:
            found.append(Difference(pair, over, under, estimate, neutral or bool(pair.fields)))
    return found


def comparisons(samples: Iterable[Samples]) -> int:
    """The number of tests, for which each interval is corrected."""
    return max(1, sum(can_be_tested(pair.row, *both) for pair, *both in samples))
