"""What changed since the last comparable report. Pure functions.

The shift that all libraries share comes first: between two days it is mostly the machine's. A library
is judged by what differs beyond it (`analysis/diff.py`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from itertools import chain, product
from typing import Final

from tlsperf.analysis.conditions import (
    changed_build,
    changed_conditions,
    changed_scenarios,
    is_same_program,
    is_unchanged,
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
from tlsperf.analysis.ratios import as_ratio, direction, factor_text, seen_from
from tlsperf.analysis.series import MeasuredReport, Series, row_names
from tlsperf.analysis.statistics import SAME_WITHIN
from tlsperf.contract.host import one_model
from tlsperf.contract.record import Identifier
from tlsperf.contract.results import (
    Change,
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
    one_processor = any(
        one_model(*pair) for pair in product(before.results.hosts, after.results.hosts)
    )
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
        if not unchanged and len(libraries) == 2:
            other = other or _BOTH_CHANGED
        neutral = SAME_PROGRAM if is_same_program(then, now) else other
        for pair in rows:
            if now.id in pair.row.samples and then.id in pair.other.samples:
                of = difference(pair, builds[now.id], shift, rules, neutral)
                found[now.id] += [of] if of else []
    labels = {now.id: now.label for _, now in libraries}
    return Changes(
        predecessor=before.results.of,
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


_BOTH_CHANGED: Final = "of two builds that both changed: which one differs is not known"


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
        changes=[
            _change(f, labels)
            for f in sorted(found, key=lambda f: -abs(math.log(f.estimate.value)))
            if _direction(f)
        ],
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


def _change(of: Difference, labels: Mapping[Identifier, str]) -> Change:
    return Change(
        anchor=of.pair.anchor,
        name=of.pair.name,
        against=of.against and labels[of.against],
        before=_side_text(of, of.before),
        after=_side_text(of, of.after),
        ratio=as_ratio(of.shown, of.pair.row.metric),
    )


def _side_text(of: Difference, value: float) -> str:
    """A ratio to the reference, or a figure with its unit."""
    unit = of.pair.row.unit
    return factor_text(value) if of.against else f"{value_text(value, unit)} {unit}"


def _only_in(
    side: MeasuredReport, paired: Sequence[Series], implementations: Sequence[Implementation]
) -> list[str]:
    """The implementations and the rows of one report that have no counterpart."""
    keys, ids = {row.key for row in paired}, {i.id for i in implementations}
    names = row_names(side.series.rows)
    alone = [i.label for i in side.results.implementations if i.id not in ids]
    rows = (row for row in side.series.rows if row.key not in keys and not row.is_part)
    return alone + [names[row.key][0] for row in rows]
