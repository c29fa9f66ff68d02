"""Two sets of results side by side: which rows belong together, and how they differ. Pure functions.

The changes of a report since the last one, and `tlsperf compare` of two runs, follow these rules. Rates
of two days differ by what the host does, which all libraries share. So the shift of all is stated first,
and a library is judged by its ratio to a build that both sides measured.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Final, NamedTuple

from tlsperf.analysis.ratios import can_be_tested, common_rounds, figure_ratio, sample_ratio
from tlsperf.analysis.series import Key, Rules, Sample, Series, row_names
from tlsperf.analysis.statistics import (
    SAME_WITHIN,
    RatioEstimate,
    normal_quantile,
    paired_ratio,
    verdict,
)
from tlsperf.contract.record import SCENARIO_FIELDS, Identifier, Scenario
from tlsperf.contract.results import Results, ShownImplementation
from tlsperf.contract.text import counted

NOT_RECORDED: Final = "not recorded"
"""The text for a field that a source does not record."""

OTHER_CONDITIONS: Final = "measured under other conditions"
"""Why a ratio has no verdict if something else differs too."""

SAME_PROGRAM: Final = "the same program on both sides"
"""Why a difference is not one of the library."""

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

Build = tuple[Identifier, Identifier]
"""The ids of a build on the earlier and on the later side."""


@dataclass(frozen=True)
class Shift:
    """How much faster the references are on the later side, in logs."""

    logs: Mapping[Key, Mapping[Build, float]]
    """By the row of the later side."""
    own: tuple[float, ...]
    """Those of rows whose scenarios do not differ."""
    of_rates: bool
    """Whether all of them are of rates."""

    @property
    def median(self) -> float:
        return median(self.own) if self.own else 0.0

    def reference(self, row: Series) -> Build | None:
        """The build that changed in a row as most did: others are compared with it."""
        logs = self.logs.get(row.key, {})
        middle = median([*logs.values(), self.median])
        return min(logs, key=lambda build: round(abs(logs[build] - middle), 9), default=None)

    @property
    def text(self) -> str:
        """All 48 rates are higher by 11 to 18% (median 14%)."""
        noun, *words = (
            ("rate", "higher", "lower") if self.of_rates else ("figure", "better", "worse")
        )
        low, middle, high = (100 * math.expm1(of(self.own)) for of in (min, median, max))
        if low < 0 < high:
            return (
                f"{counted(len(self.own), noun)} changed by {_percent(low)} to +{_percent(high)}% "
                f"(median {'+' if middle > 0 else ''}{_percent(middle)}%)"
            )
        many = f"All {len(self.own)} {noun}s are" if len(self.own) > 1 else f"The {noun} is"
        near, typical, far = map(_percent, sorted(map(abs, (low, middle, high))))
        by = f"{near}%" if near == far else f"{near} to {far}% (median {typical}%)"
        return f"{many} {words[high <= 0]} by {by}" if low or high else f"{many} the same"


def _percent(value: float) -> str:
    rounded = round(value, 1 if abs(value) < 9.95 else None)
    return f"{rounded or 0.0}".replace("-", "−")


def shift_of(pairs: Iterable[RowPair], references: Iterable[Build]) -> Shift:
    """The shift of some builds; `pairs` are rows of the later side, each with its earlier one."""
    logs: dict[Key, dict[Build, float]] = {}
    own, metrics = [], set()
    references = list(references)
    for pair in filter(lambda pair: pair.row.definition.is_time, pairs):
        for then, now in references:
            over, under = pair.row.samples.get(now), pair.other.samples.get(then)
            if over and under and over.counts and under.counts and not over.is_extreme:
                log = math.log(over.figure / under.figure)
                log = log if pair.row.definition.better == "higher" else -log
                logs.setdefault(pair.row.key, {})[then, now] = log
                if all(NOT_RECORDED in field for field in pair.fields):
                    own.append(log)
                    metrics.add(pair.row.metric)
    return Shift(logs, tuple(own), of_rates=metrics == {"rate"})


class Difference(NamedTuple):
    """How one implementation changed in a row: by its ratio to a reference, or by its figures."""

    pair: RowPair
    before: float
    after: float
    against: Identifier | None
    """The reference on the later side; None if `before` and `after` are figures."""
    estimate: RatioEstimate
    """After over before, tested if there are rounds."""
    neutral: str | None
    """Why readers get no verdict, if they get none."""

    @property
    def shown(self) -> RatioEstimate:
        """The ratio as readers see it."""
        if self.neutral and self.estimate.verdict != "not tested":
            return self.estimate.untested(self.neutral)
        return self.estimate


def difference(
    pair: RowPair, build: Build, shift: Shift, rules: Rules, neutral: str | None = None
) -> Difference | None:
    """The difference of a build beyond the shift; None if a side has no usable figure, or if no other
    build tells its change from that of the host.

    `rules` are those of the later side, with the runs of both whose rounds are pairs.
    """
    neutral = OTHER_CONDITIONS if pair.fields else neutral
    under, over = pair.other.samples[build[0]], pair.row.samples[build[1]]
    if not pair.row.definition.is_time:
        found = sample_ratio(over, under, pair.row, rules, untested=_NO_ROUNDS)
        if found is None:
            return None
        return Difference(pair, under.figure, over.figure, None, found, neutral)
    reference = shift.reference(pair.row)
    if reference is None or (reference == build and len(shift.logs[pair.row.key]) == 1):
        return None
    before = _within(pair.other, under, pair.other.samples[reference[0]], rules)
    after = _within(pair.row, over, pair.row.samples[reference[1]], rules)
    if before is None or after is None:
        return None
    estimate = _change(before, after, pair.row, rules)
    return Difference(pair, before.value, after.value, reference[1], estimate, neutral)


def _within(row: Series, left: Sample, right: Sample, rules: Rules) -> RatioEstimate | None:
    """A ratio of one side, with the error of its rounds alone: the spread between days, which `_change`
    adds, has that between sessions.
    """
    found = sample_ratio(left, right, row, rules, untested=_NO_ROUNDS)
    common = common_rounds(left, right, rules.pairs)
    if found is None or not common or not (left.has_rounds and right.has_rounds):
        return found and figure_ratio(left, right, row.metric, _NO_ROUNDS)
    ours, theirs = ([side.valid[at] for at in common] for side in (left, right))
    of = paired_ratio(ours, theirs, rules.comparisons, row.definition.better)
    if of.low is None or of.high is None:
        return of
    by = found.value / of.value
    return replace(of, value=found.value, low=by * of.low, high=by * of.high)


def _change(
    before: RatioEstimate, after: RatioEstimate, row: Series, rules: Rules
) -> RatioEstimate:
    """After over before: the errors of both, and the spread between days of both, in squares."""
    value, rounds = after.value / before.value, min(before.rounds, after.rounds)
    if not (before.low and before.high and after.low and after.high):
        weakest = min(before, after, key=lambda of: (of.low is not None, of.rounds))
        return RatioEstimate(value, None, None, weakest.verdict, False, rounds, weakest.note)
    spread = rules.spreads.of_ratio(row.scenario, row.statistic)
    between = math.sqrt(2) * normal_quantile(rules.comparisons) * spread
    below = math.hypot(
        math.log(after.value / after.low), math.log(before.high / before.value), between
    )
    above = math.hypot(
        math.log(after.high / after.value), math.log(before.value / before.low), between
    )
    low, high = value * math.exp(-below), value * math.exp(above)
    decided, note = verdict(low, high, value, max(SAME_WITHIN, rules.floor))
    return RatioEstimate(value, low, high, decided, False, rounds, note)


def comparisons(pairs: Iterable[RowPair], builds: Sequence[Build]) -> int:
    """The number of tests, for which each interval is corrected."""
    tested = (
        can_be_tested(pair.row, pair.row.samples[now], pair.other.samples[then])
        for pair in pairs
        for then, now in builds
        if now in pair.row.samples and then in pair.other.samples
    )
    return max(1, sum(tested))
