"""What changed since the last comparable report. Pure functions.

The shift that all libraries share comes first: between two days it is mostly the machine's. A library
is judged by what differs beyond it (`analysis/diff.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from itertools import chain, combinations, product
from typing import Final

from tlsperf.analysis.conditions import (
    changed_build,
    changed_conditions,
    changed_scenarios,
    is_same_program,
    is_unchanged,
    same_processor,
)
from tlsperf.analysis.diff import (
    OTHER_CONDITIONS,
    SAME_PROGRAM,
    Difference,
    Shift,
    comparisons,
    difference,
    implementation_pairs,
    row_pairs,
    shift_of,
)
from tlsperf.analysis.ratios import as_ratio, direction, factor_text, ratio_text, seen_from
from tlsperf.analysis.series import MeasuredReport, Series, row_names
from tlsperf.analysis.statistics import SAME_WITHIN
from tlsperf.contract.host import one_model
from tlsperf.contract.names import cipher_name
from tlsperf.contract.record import Identifier
from tlsperf.contract.results import (
    Change,
    ChangeGroup,
    Changes,
    LibraryChanges,
    ShownImplementation,
    size_text,
)
from tlsperf.contract.run import Implementation, Report, Run, RunWarning
from tlsperf.contract.text import counted, listed, short_version, value_text

SIZE: Final = 1.05
"""From here on a change of single figures is listed: the noisiest of 2023 but a tenth differ by less
than 4.5% in 95 of 100 cases."""


_CHANGED: Final = ("faster", "slower")


# --- which report to compare with ------------------------------------------------------------


def predecessor(
    of: Report, reports: Sequence[Report], runs: Mapping[Identifier, Run]
) -> Report | None:
    """The report that `of` names, else the latest earlier one with a suite family and a library in
    common; None if there is none on the same host of the same processor model. A first look
    precedes only another first look.
    `runs` are those of all reports, by id. One that it names may be left out of `reports`.
    """

    def on_one_host(report: Report) -> list[tuple[Run, Run]]:
        pairs = product((runs[r] for r in report.runs), (runs[r] for r in of.runs))
        return [(a, b) for a, b in pairs if a.host_id == b.host_id and one_model(a.host, b.host)]

    def are_known(report: Report) -> bool:
        return all(run in runs for run in report.runs)

    if of.previous is not None:
        named = next((r for r in reports if r.id == of.previous), None)
        is_other = named and are_known(named) and not on_one_host(named)
        return None if is_other else named

    def libraries(report: Report) -> set[str]:
        return {i.library for r in report.runs for i in runs[r].implementations}

    def when(report: Report) -> tuple[date, str, str]:
        """By date, and on one day by when measuring began."""
        begun = [started.isoformat() for r in report.runs if (started := runs[r].started)]
        return report.date, max(begun, default=""), report.id

    earlier = [
        r
        for r in reports
        if are_known(r)
        and when(r) < when(of)
        and (of.is_first_look(runs) or not r.is_first_look(runs))
        and any(a.suite and b.suite and a.suite.family == b.suite.family for a, b in on_one_host(r))
        and libraries(r) & libraries(of)
    ]
    return max(earlier, key=when, default=None)


# --- changes ---------------------------------------------------------------------------------


def changes(before: MeasuredReport, after: MeasuredReport) -> Changes:
    """The section "changes since last time"."""
    rows = row_pairs(after.series.rows, before.series.rows)
    libraries = implementation_pairs(before.results, after.results)
    conditions = changed_conditions(before.results, after.results)
    unchanged = [pair for pair in libraries if is_unchanged(*pair)]
    builds = {now.id: (then.id, now.id) for then, now in libraries}
    shift = shift_of(rows, [builds[now.id] for _, now in unchanged or libraries])
    one_processor = same_processor(before.results.hosts, after.results.hosts)
    judged = libraries if one_processor else []
    rules = replace(
        after.series.rules,
        pairs=before.series.rules.pairs | after.series.rules.pairs,
        comparisons=comparisons(rows, list(builds.values())),
        floor=1.0,
    )
    found = {now.id: list[Difference]() for _, now in judged}
    for then, now in judged:
        other = OTHER_CONDITIONS if conditions else None
        neutral = SAME_PROGRAM if is_same_program(then, now) else other
        for pair in rows:
            if now.id in pair.row.samples and then.id in pair.other.samples:
                of = difference(pair, builds[now.id], shift, rules, neutral)
                found[now.id] += [of] if of else []
    labels = {now.id: now.label for _, now in libraries}
    return Changes(
        predecessor=before.results.id,
        title=before.results.title,
        date=before.results.date,
        shift=_shift(shift, libraries, unchanged, conditions, found if one_processor else None),
        caveats=[*conditions, *changed_scenarios(rows)],
        rule=_rule(list(chain(*found.values())), rules.comparisons),
        libraries=[
            _library(then, now, found[now.id], labels) for then, now in judged if found[now.id]
        ],
        gone=_only_in(before, [pair.other for pair in rows], [then for then, _ in libraries]),
        new=_only_in(after, [pair.row for pair in rows], [now for _, now in libraries]),
    )


def _shift(
    of: Shift,
    libraries: Sequence[tuple[ShownImplementation, ShownImplementation]],
    unchanged: Sequence[tuple[ShownImplementation, ShownImplementation]],
    conditions: Sequence[RunWarning],
    found: Mapping[Identifier, Sequence[Difference]] | None,
) -> str | None:
    """What all share, in words; `found` is None if the processor is another."""
    if not of.own:
        return None
    text = of.text
    if unchanged and len(unchanged) < len(libraries):
        text = f"Of what did not change ({listed([now.label for _, now in unchanged])}): {text}"
    if found is None:
        return f"{text}. The processor is another one, so no library has a verdict."
    if len(libraries) == 1:
        only = libraries[0][1].label
        return (
            f"{text}. Only {only} is in both reports, so its own change and that of the machine "
            "cannot be told apart."
        )
    beyond = [f for _, now in unchanged for f in found[now.id] if f.shown.verdict in _CHANGED]
    if unchanged and not beyond and abs(of.median) >= math.log(SAME_WITHIN):
        method = " or the method" if any(c.code == "method" for c in conditions) else ""
        text += f": the machine{method}, not a library"
    return f"{text}."


def _rule(found: Sequence[Difference], tests: int) -> str:
    """What counts as a change, in words."""
    parts = []
    if any(f.estimate.low is not None and f.against for f in found):
        parts.append(
            "A change is one of the ratio to another library of the report, of at least "
            f"{100 * (SAME_WITHIN - 1):.0f}%, whose interval excludes 1. The interval has the errors of "
            "both reports and the spread of ratios between days, and is corrected for "
            f"{counted(tests, 'comparison')}."
        )
    if any(f.estimate.low is None for f in found):
        parts.append(
            f"Figures without an interval are listed from {100 * (SIZE - 1):.0f}% on, without "
            "verdict."
        )
    if any(f.neutral == OTHER_CONDITIONS for f in found):
        parts.append("Across a change of host, method or scenario nothing has a verdict.")
    return " ".join(parts)


def _library(
    then: ShownImplementation,
    now: ShownImplementation,
    found: Sequence[Difference],
    labels: Mapping[Identifier, str],
) -> LibraryChanges:
    directions = [_direction(f) for f in found]
    up, down, same = (directions.count(way) for way in (1, -1, 0))
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
        statement=f"{versions}: {up} {words[0]}, {down} {words[1]}, {same} unchanged of "
        f"{counted(len(found), 'row')}{_would_show(found) if tested else ''}",
        details=changed_build(then, now),
        compared=len(found),
        unchanged=same,
        groups=_groups(found, labels),
    )


def _would_show(found: Sequence[Difference]) -> str:
    """The smallest change that each unchanged row would have shown."""
    sizes = [
        seen
        for f in found
        if f.against and f.estimate.verdict == "no difference shown"
        if (seen := seen_from(f.estimate))
    ]
    return f" ({size_text(max(sizes))} would show)" if sizes else ""


def _direction(of: Difference) -> int:
    """1 if better, -1 if worse, 0 if unchanged."""
    return direction(of.estimate, SIZE)


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


def _groups(found: Sequence[Difference], labels: Mapping[Identifier, str]) -> list[ChangeGroup]:
    """Changes that probably share a cause, biggest first.

    A group is what a few features have in common (an operation, a protocol, a role) if all rows
    of the library that have them changed in one direction. The largest such group comes first
    (among equal ones, that with the fewest features), then the largest of the remaining rows. A
    row that fits no group is a group by itself.
    """
    candidates = list(_candidates(found))
    open_ = {i for i, f in enumerate(found) if _direction(f)}
    groups: list[tuple[str, int, list[Difference]]] = []
    while open_:
        title, members = max(
            candidates, key=lambda c: len(open_ & c[1]), default=("", frozenset[int]())
        )
        if len(open_ & members) < 2:
            break
        groups.append((title, len(members), [found[i] for i in sorted(open_ & members)]))
        open_ -= members
    groups += [(found[i].pair.name, 1, [found[i]]) for i in sorted(open_)]
    return sorted(
        (_group(*group, labels) for group in groups),
        key=lambda g: -max(abs(math.log(c.ratio.value)) for c in g.changes),
    )


def _candidates(found: Sequence[Difference]) -> Iterator[tuple[str, frozenset[int]]]:
    """Titles and members of all groups that may be, those with the fewest features first."""
    values = [{k: v for k, of in _FEATURES.items() if (v := of(f.pair.row))} for f in found]
    for count in range(_MOST_FEATURES + 1):
        for features in combinations(_FEATURES, count):
            keys = {tuple(v[k] for k in features) for v in values if v.keys() >= {*features}}
            for key in sorted(keys):
                members = frozenset(
                    i for i, v in enumerate(values) if tuple(v.get(k) for k in features) == key
                )
                directions = {_direction(found[i]) for i in members}
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


def _group(
    title: str, members: int, found: Sequence[Difference], labels: Mapping[Identifier, str]
) -> ChangeGroup:
    ordered = sorted(found, key=lambda f: -abs(math.log(f.estimate.value)))
    return ChangeGroup(
        title=title,
        statement=_group_statement(members, ordered),
        changes=[
            Change(
                anchor=f.pair.anchor,
                name=f.pair.name,
                against=f.against and labels[f.against],
                before=_side_text(f, f.before),
                after=_side_text(f, f.after),
                ratio=as_ratio(f.shown, f.pair.row.metric),
            )
            for f in ordered
        ],
    )


def _side_text(of: Difference, value: float) -> str:
    """A ratio to the reference, or a figure with its unit."""
    unit = of.pair.row.unit
    return factor_text(value) if of.against else f"{value_text(value, unit)} {unit}"


def _group_statement(members: int, found: Sequence[Difference]) -> str:
    if len(found) == 1:
        return ratio_text(found[0].shown, found[0].pair.row.metric)
    verdicts = {f.shown.verdict for f in found}
    values = sorted(f.estimate.value for f in found)
    if verdicts == {"slower"}:
        values = sorted(1 / v for v in values)
    word = f" {verdicts.pop()}" if verdicts in ({"faster"}, {"slower"}) else ""
    many = f"all {members}" if len(found) == members else f"{len(found)}"
    return f"{many} rows, {factor_text(values[0])} to {factor_text(values[-1])}{word}"


def _only_in(
    side: MeasuredReport, paired: Sequence[Series], implementations: Sequence[Implementation]
) -> list[str]:
    """The implementations and the rows of one report that have no counterpart."""
    keys, ids = {row.key for row in paired}, {i.id for i in implementations}
    names = row_names(side.series.rows)
    alone = [i.label for i in side.results.implementations if i.id not in ids]
    rows = (row for row in side.series.rows if row.key not in keys and not row.is_part)
    return alone + [names[row.key][0] for row in rows]
