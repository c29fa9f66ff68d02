"""What changed since the last comparable report. Pure functions.

Two reports are compared row by row and library by library. The two were measured at different
times, so pairing by round is not possible: the interval of an unpaired ratio is widened by what
the same builds differ between runs on that host (`noise.other_runs`), as far as that is known.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import combinations
from typing import Final, NamedTuple

from tlsperf.analysis.series import Sample, Series, as_ratio, better_of, wander_of
from tlsperf.analysis.statistics import (
    RatioEstimate,
    counted_ratio,
    factor_text,
    unpaired_ratio,
    untested_ratio,
)
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
from tlsperf.contract.run import HostFacts, Implementation, Report, Run, RunWarning
from tlsperf.contract.text import value_text
from tlsperf.load.run import is_first_look

SIZE: Final = 1.05
"""Ratio from which a change between single figures is listed. Single runs of a figure with the
largest relative standard deviation but a tenth of the 2023 figures (1.6 %) differ by less than
1.96 x sqrt(2) x 1.6 % = 4.5 % in 95 of 100 cases."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two reports: what it shows, and the series behind it."""

    results: Results
    series: Sequence[Series]


# --- which report to compare with ------------------------------------------------------------


def predecessor(
    of: Report, reports: Sequence[Report], runs: Mapping[Identifier, Run]
) -> Report | None:
    """The report that `of` names, else the latest earlier one with a host and suite family and
    a library in common; None if there is none. A first look comes before none but another.
    `runs` are those of all reports, by id.

    Raises UserError if the one it names does not exist.
    """
    if of.previous is not None:
        named = [r for r in reports if r.id == of.previous]
        if not named:
            raise UserError(f"report {of.id}: its previous report {of.previous!r} does not exist")
        return named[0]

    def settings(report: Report) -> set[tuple[str, str]]:
        told = [runs[r] for r in report.runs]
        return {(run.host_id, run.suite.family) for run in told if run.suite}

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
        if when(r) < when(of)
        and (first_look(of) or not first_look(r))
        and settings(r) & settings(of)
        and libraries(r) & libraries(of)
    ]
    return max(earlier, key=when, default=None)


# --- which figures stand against each other --------------------------------------------------

_MAY_BE_UNTOLD: Final = (
    "cipher_suite",
    "certificate",
    "authentication",
    "resumption",
    "threads",
    "size",
    "record_size",
)
_MAY_DIFFER: Final = ("key_exchange",)
_UNTOLD: Final = "not told"


class _Match(NamedTuple):
    """A row of both reports; `differences` are those of its scenario."""

    name: str
    anchor: str
    before: Series
    after: Series
    differences: tuple[str, ...]


def _matches(before: Side, after: Side) -> Iterator[_Match]:
    """Rows of the same scenario, else of the only one that differs in what may differ."""
    names = {
        (row.scenario, row.phase, row.metric, row.statistic): (row.name, row.anchor)
        for table in after.results.tables
        for row in table.rows
    }
    there, here = (
        {row.key: row for row in side.series if not row.is_part} for side in (before, after)
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
        untold = field in _MAY_BE_UNTOLD and (
            None in (then, now) or (field == "resumption" and _says_more(then, now))
        )
        if then != now and field not in _MAY_DIFFER and not untold:
            return False
    return before.key[1:] == after.key[1:]


def _says_more(then: str | None, now: str | None) -> bool:
    """`resumed` is a source that does not say whether by ticket or by session id."""
    return "resumed" in (then, now) and "none" not in (then, now)


def _differences(then: Scenario, now: Scenario) -> tuple[str, ...]:
    return tuple(
        f"{field.replace('_', ' ')} {_told(getattr(then, field))} before, "
        f"{_told(getattr(now, field))} now"
        for field in Scenario.model_fields
        if getattr(then, field) != getattr(now, field)
    )


def _told(value: object) -> str:
    return _UNTOLD if value is None else str(value)


def _pairs(
    before: Results, after: Results
) -> list[tuple[ShownImplementation, ShownImplementation]]:
    """Each implementation with what stood for it before: same provider and build, if need be
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


# --- what was not the same on the two days ---------------------------------------------------

_HOST_FACTS: Final = (
    "cpu",
    "cores",
    "threads",
    "memory_bytes",
    "os",
    "kernel",
    "virtualization",
    "container",
    "microcode",
    "smt",
    "governor",
    "turbo",
    "frequency_min_mhz",
    "frequency_max_mhz",
    "isolated_cpus",
    "transparent_hugepages",
    "mitigations",
)


def _caveats(before: Results, after: Results) -> list[RunWarning]:
    """Changes of host and method: whatever both reports tell and tell differently."""
    found = []
    then, now = _by_id(before.hosts), _by_id(after.hosts)
    if not then.keys() & now.keys():
        found.append(("host", f"{', '.join(then)} before, {', '.join(now)} now"))
    for host in then.keys() & now.keys():
        found += [
            ("host", f"{host}, {fact.replace('_', ' ')}: {a} before, {b} now")
            for fact in _HOST_FACTS
            if (a := getattr(then[host], fact)) != (b := getattr(now[host], fact)) and a and b
        ]
    methods: dict[str, Callable[[Results], set[str | None]]] = {
        "tool": lambda r: {f"{run.tool.name} {run.tool.version or ''}".strip() for run in r.runs},
        "tool commit": lambda r: {run.tool.commit and run.tool.commit[:8] for run in r.runs},
        "suite": lambda r: {run.suite for run in r.runs},
        "allocator": lambda r: {run.allocator for run in r.runs},
        "estimator": lambda r: {run.source.estimator if run.source else None for run in r.runs},
    }
    for what, of in methods.items():
        a, b = of(before) - {None}, of(after) - {None}
        if a and b and a != b:
            found.append(("method", f"{what}: {_joined(a)} before, {_joined(b)} now"))
    return [RunWarning(code=code, message=f"The {code} changed. {m}.") for code, m in found]


def _by_id(hosts: Sequence[HostFacts]) -> dict[str, HostFacts]:
    return {host.id: host for host in hosts}


def _joined(values: set[str | None]) -> str:
    return " and ".join(sorted(v for v in values if v))


def _scenario_caveats(matches: Sequence[_Match]) -> list[RunWarning]:
    counted: dict[str, int] = {}
    for match in matches:
        for difference in match.differences:
            counted[difference] = counted.get(difference, 0) + 1
    return [
        RunWarning(
            code="scenario",
            message=f"The scenario {'may differ' if _UNTOLD in difference else 'changed'} in "
            f"{n} rows: {difference}.",
        )
        for difference, n in counted.items()
    ]


_BUILD_FACTS: Final = (
    "provider",
    "provider_version",
    "rust_compiler",
    "c_compiler",
    "flags",
    "allocator",
    "linkage",
)


def _build_changes(then: Implementation, now: Implementation) -> list[str]:
    return [
        f"{fact.replace('_', ' ')}: {a} before, {b} now"
        for fact in _BUILD_FACTS
        if (a := getattr(then, fact)) != (b := getattr(now, fact)) and a and b
    ]


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
        """1 for better, -1 for worse, 0 for a change that is none."""
        e = self.estimate
        if e.low is not None and e.high is not None:
            return 1 if e.low > 1 else -1 if e.high < 1 else 0
        return 1 if e.value >= SIZE else -1 if e.value <= 1 / SIZE else 0

    @property
    def size(self) -> float:
        return abs(math.log(self.estimate.value))

    def ratio(self) -> Ratio:
        metric = self.match.after.metric
        if self.neutral and self.estimate.verdict != "not tested":
            return as_ratio(self.estimate.untested("measured under other conditions"), metric)
        return as_ratio(self.estimate, metric)


def _estimate(
    then: Sample, now: Sample, row: Series, comparisons: int, between: float
) -> RatioEstimate:
    if row.is_count:
        return counted_ratio(now.rounds, then.rounds)
    if now.has_rounds and then.has_rounds:
        tested = unpaired_ratio(
            now.rounds, then.rounds, comparisons, better_of(row.metric), between
        )
        if tested.verdict != "too few rounds":
            return tested
    return untested_ratio(
        now.median, then.median, "no rounds to test on both sides", better_of(row.metric)
    )


def changes(before: Side, after: Side, noise: Noise | None = None) -> Changes:
    """The section "changes since last time"; `noise` is that of other runs on the host."""
    matches = list(_matches(before, after))
    caveats = _caveats(before.results, after.results)
    pairs = _pairs(before.results, after.results)
    known = 1 + noise.floor_percent / 100 if noise else 1.0
    between = max(known, wander_of(before.series), wander_of(after.series))
    samples = [
        (then, now, match, match.before.samples[then.id], match.after.samples[now.id])
        for then, now in pairs
        for match in matches
        if then.id in match.before.samples and now.id in match.after.samples
    ]
    samples = [s for s in samples if all(sample.counts for sample in s[3:])]
    found: dict[str, list[_Found]] = {now.id: [] for _, now in pairs}
    for _, now, match, old, new in samples:
        estimate = _estimate(old, new, match.after, len(samples), between)
        neutral = bool(caveats or match.differences)
        found[now.id].append(_Found(match, old, new, estimate, neutral))
    libraries = [_library(then, now, found[now.id]) for then, now in pairs if found[now.id]]
    return Changes(
        predecessor=before.results.id,
        title=before.results.title,
        date=before.results.date,
        caveats=[*caveats, *_scenario_caveats(matches), *_common_causes(libraries)],
        rule=_rule([f for rows in found.values() for f in rows], len(samples), noise, between),
        libraries=libraries,
        gone=_only_in(before, [m.before for m in matches], [then for then, _ in pairs]),
        new=_only_in(after, [m.after for m in matches], [now for _, now in pairs]),
    )


def _rule(found: Sequence[_Found], comparisons: int, noise: Noise | None, between: float) -> str:
    parts = []
    if any(f.estimate.low is not None for f in found):
        percent = f"{100 * (between - 1):.1f} %"
        if noise is not None and 1 + noise.floor_percent / 100 >= between:
            widened = f"{percent} that the same builds differ between runs on this host"
        else:
            widened = f"{percent} that the host moved within a run"
        if noise is None:
            widened += " (what it moves from run to run is not known)"
        parts.append(
            "A change is a ratio whose interval excludes 1: unpaired, corrected for "
            f"{comparisons} comparisons, widened for the {widened}."
        )
    if any(f.estimate.low is None for f in found):
        parts.append(
            "Figures without rounds have no interval: their changes are listed from "
            f"{100 * (SIZE - 1):.0f} % on and are no verdicts."
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
        else f"{then.label} to {now.version}"
    )
    return LibraryChanges(
        before=then,
        after=now,
        statement=f"{versions}: {up} {words[0]}, {down} {words[1]}, {len(found) - up - down} "
        f"the same of {len(found)}",
        details=_build_changes(then, now),
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
        if row.scenario.operation == "transfer" and row.scenario.cipher_suite
        else None
    ),
    "side": lambda row: _SIDES.get(row.scenario.side or "", row.scenario.side),
    "metric": lambda row: None if row.metric == "rate" else row.metric,
}
_MOST_FEATURES: Final = 3


def _groups(found: Sequence[_Found]) -> list[ChangeGroup]:
    """Changes that probably share a cause, biggest first.

    A group is what a few features have in common (an operation, a protocol, a role) if all rows
    of the library that have them changed in one direction. The largest such group is taken, of
    equal ones that with the fewest features, and so on with what remains; a change without
    company stands alone.
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
    """What a group shares, as scenarios are named: full handshake 1.3, client."""
    operation = shared.get("operation", "handshake" if "resumption" in shared else None)
    protocol = shared.get("protocol")
    head = [shared.get("resumption"), operation, protocol if operation else None]
    rest = [f"TLS {protocol}" if protocol and not operation else None]
    rest += [shared.get(feature) for feature in ("certificate", "cipher", "side", "metric")]
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
                before=_value(f.then, f.match.after),
                after=_value(f.now, f.match.after),
                ratio=f.ratio(),
            )
            for f in ordered
        ],
    )


def _value(sample: Sample, row: Series) -> str:
    return value_text(sample.median, row.unit)


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


def _common_causes(libraries: Sequence[LibraryChanges]) -> list[RunWarning]:
    """Groups that all libraries share: a cause outside of them is likelier than one in each."""
    if len(libraries) < 2:
        return []
    directions = [
        {(g.title, g.changes[0].ratio.value > 1) for g in library.groups if len(g.changes) > 1}
        for library in libraries
    ]
    return [
        RunWarning(
            code="common-cause",
            message=f"{title[0].upper()}{title[1:]} went {'up' if up else 'down'} in all "
            f"{len(libraries)} libraries alike, which points to a cause they share (host, "
            "method or a default) rather than to each of them.",
        )
        for title, up in sorted(set.intersection(*directions))
    ]


def _only_in(
    side: Side, matched: Sequence[Series], implementations: Sequence[Implementation]
) -> list[str]:
    keys, ids = {s.key for s in matched}, {i.id for i in implementations}
    rows = {
        (row.scenario, row.phase, row.metric, row.statistic): row.name
        for table in side.results.tables
        for row in table.rows
    }
    alone = [i.label for i in side.results.implementations if i.id not in ids]
    return alone + [rows[s.key[:4]] for s in side.series if s.key not in keys and not s.is_part]
