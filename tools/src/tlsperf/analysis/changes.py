"""What changed since the last comparable report. Pure functions.

Two reports are compared row by row and library by library. The two were measured at different
times, so pairing by round is not possible: the interval of an unpaired ratio is widened by what
the same builds differ between runs on that host (`noise.other_sessions`), if that is known.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from itertools import combinations
from typing import Final, NamedTuple

from tlsperf.analysis.conditions import (
    NOT_RECORDED,
    changed_build,
    changed_conditions,
    changed_scenarios,
    common_causes,
)
from tlsperf.analysis.ratios import as_ratio, direction, factor_text, figure_ratio, sample_ratio
from tlsperf.analysis.series import MeasuredReport, Rules, Sample, Series, widening
from tlsperf.analysis.statistics import RatioEstimate
from tlsperf.contract.errors import UserError
from tlsperf.contract.names import cipher_name
from tlsperf.contract.record import Identifier, Scenario
from tlsperf.contract.results import (
    Change,
    ChangeGroup,
    Changes,
    LibraryChanges,
    Noise,
    Ratio,
    Results,
    ShownImplementation,
)
from tlsperf.contract.run import Implementation, Report, Run
from tlsperf.contract.text import counted, short_version, value_text
from tlsperf.load.run import is_first_look

SIZE: Final = 1.05
"""Ratio from which a change between single figures is listed. Single runs of a figure with the
largest relative standard deviation but a tenth of the 2023 figures (1.6%) differ by less than
1.96 x sqrt(2) x 1.6% = 4.5% in 95 of 100 cases."""


# --- which report to compare with ------------------------------------------------------------


def predecessor(
    of: Report, reports: Sequence[Report], runs: Mapping[Identifier, Run]
) -> Report | None:
    """The report that `of` names, else the latest earlier one with a host and suite family and
    a library in common that it does not replace; None if there is none. A quick run is compared
    with quick runs only. `runs` are those of all reports, by id.

    Raises UserError if the one it names does not exist.
    """
    if of.previous is not None:
        named = [r for r in reports if r.id == of.previous]
        if not named:
            raise UserError(f"report {of.id}: its previous report {of.previous!r} does not exist")
        return named[0]

    def settings(report: Report) -> set[tuple[str, str]]:
        own = [runs[r] for r in report.runs]
        return {(run.host_id, run.suite.family) for run in own if run.suite}

    def first_look(report: Report) -> bool:
        suites = [runs[r].suite for r in report.runs]
        return is_first_look(suite.name if suite else None for suite in suites)

    def libraries(report: Report) -> set[str]:
        return {i.library for r in report.runs for i in runs[r].implementations}

    def when(report: Report) -> tuple[date, str, str]:
        """By date, and on one day by when measuring began."""
        begun = [started.isoformat() for r in report.runs if (started := runs[r].started)]
        return report.date, max(begun, default=""), report.id

    earlier = [
        r
        for r in reports
        if all(run in runs for run in r.runs)
        and when(r) < when(of)
        and (first_look(of) or not first_look(r))
        and settings(r) & settings(of)
        and libraries(r) & libraries(of)
    ]
    return max(earlier, key=when, default=None)


# --- which rows are compared -----------------------------------------------------------------

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


class _Match(NamedTuple):
    """A row of both reports; `differences` are those of its scenario."""

    name: str
    anchor: str
    before: Series
    after: Series
    differences: tuple[str, ...]


def _matches(before: MeasuredReport, after: MeasuredReport) -> Iterator[_Match]:
    """Rows of the same scenario, else of the only one that differs in what may differ."""
    names = {
        (row.scenario, row.phase, row.metric, row.statistic): (row.name, row.anchor)
        for table in after.results.tables
        for row in table.rows
    }
    there, here = (
        {row.key: row for row in side.series.rows if not row.is_part} for side in (before, after)
    )
    then = [row for key, row in there.items() if key not in here]
    now = [row for key, row in here.items() if key not in there]
    alike = {row.key: [other for other in then if _alike(other, row)] for row in now}
    claims = Counter(other.key for others in alike.values() for other in others)
    for key, row in here.items():
        name, anchor = names[row.scenario, row.phase, row.metric, row.statistic]
        if key in there:
            yield _Match(name, anchor, there[key], row, ())
        elif len(alike[key]) == 1 and claims[alike[key][0].key] == 1:
            [other] = alike[key]
            yield _Match(name, anchor, other, row, _differences(other.scenario, row.scenario))


def _alike(before: Series, after: Series) -> bool:
    for field in Scenario.model_fields:
        then, now = getattr(before.scenario, field), getattr(after.scenario, field)
        unrecorded = field in _MAY_BE_UNRECORDED and (
            None in (then, now) or (field == "resumption" and _says_more(then, now))
        )
        if then != now and field not in _MAY_DIFFER and not unrecorded:
            return False
    return before.key[1:] == after.key[1:]


def _says_more(then: str | None, now: str | None) -> bool:
    """`resumed` is a source that does not say whether by ticket or by session id."""
    return "resumed" in (then, now) and "none" not in (then, now)


def _differences(then: Scenario, now: Scenario) -> tuple[str, ...]:
    return tuple(
        f"{field.replace('_', ' ')} {_recorded(getattr(then, field))} before, "
        f"{_recorded(getattr(now, field))} now"
        for field in Scenario.model_fields
        if getattr(then, field) != getattr(now, field)
    )


def _recorded(value: object) -> str:
    return NOT_RECORDED if value is None else str(value)


def pairs(before: Results, after: Results) -> list[tuple[ShownImplementation, ShownImplementation]]:
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


# --- changes ---------------------------------------------------------------------------------


class _Found(NamedTuple):
    """A row of a library in both reports, with its ratio, now over before."""

    match: _Match
    then: Sample
    now: Sample
    estimate: RatioEstimate
    neutral: bool

    @property
    def direction(self) -> int:
        """1 if better, -1 if worse, 0 if unchanged."""
        return direction(self.estimate, SIZE)

    @property
    def size(self) -> float:
        return abs(math.log(self.estimate.value))

    def ratio(self) -> Ratio:
        metric = self.match.after.metric
        if self.neutral and self.estimate.verdict != "not tested":
            return as_ratio(self.estimate.untested("measured under other conditions"), metric)
        return as_ratio(self.estimate, metric)


def _estimate(then: Sample, now: Sample, row: Series, rules: Rules) -> RatioEstimate | None:
    """Now over before; without a test where a side has too few rounds for a verdict."""
    note = "no rounds to test on both sides"
    tested = sample_ratio(now, then, row, rules, untested=note)
    if tested is not None and tested.verdict == "too few rounds":
        return figure_ratio(now, then, row.metric, note)
    return tested


def changes(before: MeasuredReport, after: MeasuredReport, noise: Noise | None = None) -> Changes:
    """The section "changes since last time"; `noise` is that of other runs on the host."""
    matches = list(_matches(before, after))
    conditions = changed_conditions(before.results, after.results)
    matched = pairs(before.results, after.results)
    known = 1 + (noise.floor_percent or 0) / 100 if noise else 1.0
    spreads = after.series.rules.spreads
    drift = max(known, *(widening(side.series.rows, spreads) for side in (before, after)))
    samples = [
        (now, match, match.before.samples[then.id], match.after.samples[now.id])
        for then, now in matched
        for match in matches
        if then.id in match.before.samples and now.id in match.after.samples
    ]
    samples = [s for s in samples if all(sample.counts for sample in s[2:])]
    rules = Rules(comparisons=len(samples), drift=drift)
    found: dict[str, list[_Found]] = {now.id: [] for _, now in matched}
    for now, match, old, new in samples:
        estimate = _estimate(old, new, match.after, rules)
        if estimate is not None:
            neutral = bool(conditions or match.differences)
            found[now.id].append(_Found(match, old, new, estimate, neutral))
    libraries = [_library(then, now, found[now.id]) for then, now in matched if found[now.id]]
    differences = [difference for match in matches for difference in match.differences]
    return Changes(
        predecessor=before.results.id,
        title=before.results.title,
        date=before.results.date,
        caveats=[*conditions, *changed_scenarios(differences), *common_causes(libraries)],
        rule=_rule([f for rows in found.values() for f in rows], len(samples), noise, drift),
        libraries=libraries,
        gone=_only_in(before, [m.before for m in matches], [then for then, _ in matched]),
        new=_only_in(after, [m.after for m in matches], [now for _, now in matched]),
    )


def _rule(found: Sequence[_Found], comparisons: int, noise: Noise | None, drift: float) -> str:
    parts = []
    if any(f.estimate.low is not None for f in found):
        percent = f"{100 * (drift - 1):.1f}%"
        if noise is not None and 1 + (noise.floor_percent or 0) / 100 >= drift:
            widened = (
                f"{percent}, the difference of other sessions of the same programs on this host"
            )
        else:
            widened = f"{percent}, the drift of medians within a run or between sessions"
        if noise is None:
            widened += " (a default between sessions, which were not measured here)"
        parts.append(
            "A change is an unpaired ratio whose interval excludes 1. The interval is corrected "
            f"for {comparisons} comparisons and widened by {widened}."
        )
    if any(f.estimate.low is None for f in found):
        parts.append(
            "Figures without rounds have no interval. Their changes of "
            f"{100 * (SIZE - 1):.0f}% or more are listed, and are not verdicts."
        )
    if any(f.neutral for f in found):
        parts.append("Ratios across a change of host, method or scenario are not speed-ups.")
    return " ".join(parts)


def _library(
    then: ShownImplementation, now: ShownImplementation, found: Sequence[_Found]
) -> LibraryChanges:
    up, down = (sum(f.direction == way for f in found) for way in (1, -1))
    tested = any(f.estimate.low is not None and not f.neutral for f in found)
    words = ("faster", "slower") if tested else ("up", "down")
    versions = (
        f"{now.label}, the same version"
        if then.version == now.version
        else f"{then.label} to {short_version(now)}"
    )
    return LibraryChanges(
        before=then,
        after=now,
        statement=f"{versions}: {up} {words[0]}, {down} {words[1]}, {len(found) - up - down} "
        f"unchanged of {counted(len(found), 'row')}",
        details=changed_build(then, now),
        compared=len(found),
        unchanged=len(found) - up - down,
        groups=_groups(found),
    )


# --- groups ----------------------------------------------------------------------------------

_SIDES: Final = {"sender": "sending", "receiver": "receiving"}
_FEATURES: Final[dict[str, Callable[[Series], str | None]]] = {
    "operation": lambda row: row.scenario.operation.replace("-", " "),
    "resumption": lambda row: (
        {None: None, "none": "full"}.get(row.scenario.resumption, "resumed")
        if row.scenario.operation == "handshake"
        else None
    ),
    "protocol": lambda row: row.scenario.protocol,
    "certificate": lambda row: (
        row.scenario.certificate
        if row.scenario.operation == "handshake" and row.scenario.resumption == "none"
        else None
    ),
    "cipher": lambda row: (
        cipher_name(row.scenario.cipher_suite)
        if row.scenario.operation in ("transfer", "quic-packet") and row.scenario.cipher_suite
        else None
    ),
    "side": lambda row: _SIDES.get(row.scenario.side or "", row.scenario.side),
    "metric": lambda row: None if row.definition.primary else row.metric,
}
_MOST_FEATURES: Final = 3


def _groups(found: Sequence[_Found]) -> list[ChangeGroup]:
    """Changes that probably share a cause, biggest first.

    A group is what a few features have in common (an operation, a protocol, a role) if all rows
    of the library that have them changed in one direction. The largest such group comes first
    (among equal ones, that with the fewest features), then the largest of the remaining rows. A
    row that fits no group is a group by itself.
    """
    candidates = list(_candidates(found))
    open_ = {i for i, f in enumerate(found) if f.direction}
    groups: list[tuple[str, int, list[_Found]]] = []
    while open_:
        title, members = max(
            candidates, key=lambda c: len(open_ & c[1]), default=("", frozenset[int]())
        )
        if len(open_ & members) < 2:
            break
        groups.append((title, len(members), [found[i] for i in sorted(open_ & members)]))
        open_ -= members
    groups += [(found[i].match.name, 1, [found[i]]) for i in sorted(open_)]
    return sorted(
        (_group(*group) for group in groups),
        key=lambda g: -max(abs(math.log(c.ratio.value)) for c in g.changes),
    )


def _candidates(found: Sequence[_Found]) -> Iterator[tuple[str, frozenset[int]]]:
    """Titles and members of all groups that may be, those with the fewest features first."""
    values = [{k: v for k, of in _FEATURES.items() if (v := of(f.match.after))} for f in found]
    for count in range(_MOST_FEATURES + 1):
        for features in combinations(_FEATURES, count):
            keys = {tuple(v[k] for k in features) for v in values if v.keys() >= {*features}}
            for key in sorted(keys):
                members = frozenset(
                    i for i, v in enumerate(values) if tuple(v.get(k) for k in features) == key
                )
                directions = {found[i].direction for i in members}
                if len(members) > 1 and directions in ({1}, {-1}):
                    yield _title(dict(zip(features, key, strict=True))), members


def _title(shared: dict[str, str]) -> str:
    """What a group shares, as scenarios are named: TLS 1.3 full handshake, client."""
    operation = shared.get("operation", "handshake" if "resumption" in shared else None)
    protocol = shared.get("protocol")
    head = [f"TLS {protocol}" if protocol else None, shared.get("resumption"), operation]
    rest = [shared.get(feature) for feature in ("certificate", "cipher", "side", "metric")]
    parts = [" ".join(h for h in head if h), *(r for r in rest if r)]
    return ", ".join(part for part in parts if part) or "everything"


def _group(title: str, members: int, found: Sequence[_Found]) -> ChangeGroup:
    ordered = sorted(found, key=lambda f: -f.size)
    return ChangeGroup(
        title=title,
        statement=_group_statement(members, ordered),
        changes=[
            Change(
                anchor=f.match.anchor,
                name=f.match.name,
                unit=f.match.after.unit,
                before=value_text(f.then.figure, f.match.after.unit),
                after=value_text(f.now.figure, f.match.after.unit),
                ratio=f.ratio(),
            )
            for f in ordered
        ],
    )


def _group_statement(members: int, found: Sequence[_Found]) -> str:
    if len(found) == 1:
        return found[0].ratio().text
    verdicts = {f.ratio().verdict for f in found}
    values = sorted(f.estimate.value for f in found)
    if verdicts == {"slower"}:
        values = sorted(1 / v for v in values)
    word = f" {verdicts.pop()}" if verdicts in ({"faster"}, {"slower"}) else ""
    many = f"all {members}" if len(found) == members else f"{len(found)}"
    return f"{many} rows, {factor_text(values[0])} to {factor_text(values[-1])}{word}"


def _only_in(
    side: MeasuredReport, matched: Sequence[Series], implementations: Sequence[Implementation]
) -> list[str]:
    keys, ids = {s.key for s in matched}, {i.id for i in implementations}
    rows = {
        (row.scenario, row.phase, row.metric, row.statistic): row.name
        for table in side.results.tables
        for row in table.rows
    }
    alone = [i.label for i in side.results.implementations if i.id not in ids]
    return alone + [
        rows[s.key[:4]] for s in side.series.rows if s.key not in keys and not s.is_part
    ]
