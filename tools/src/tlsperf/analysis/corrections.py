"""What a report corrects in an earlier one that it replaces. Pure functions of both results."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from tlsperf.analysis.changes import pairs
from tlsperf.contract.corrections import CorrectedRatio, CorrectedRows, Corrections
from tlsperf.contract.metrics import METRICS
from tlsperf.contract.names import size_name
from tlsperf.contract.record import Identifier, Scenario
from tlsperf.contract.results import Ratio, Results, Row
from tlsperf.contract.run import Run
from tlsperf.contract.text import counted, host_label, listed

MOST_ROWS: Final = 24
"""Limit of the ratios that a page lists for one earlier report."""

_SHOWN: Final = ("faster", "slower")
_UNTESTED: Final = {"not tested", "too few rounds"}
_NONE: Final = "no difference in writes, bytes in flight, sessions, layouts, programs or hosts"
_WHOLE: Final = 1 << 20
"""Bytes that a transfer writes and has in flight if its scenario does not have them."""

Key = tuple[Scenario, str, str, str]


class _Pair(NamedTuple):
    """One ratio in both reports."""

    then: Row
    now: Row
    name: str
    label: str
    before: Ratio
    after: Ratio

    @property
    def outside(self) -> bool:
        """Whether the new ratio, as printed, is outside the interval printed with the old one."""
        low, high = self.before.low, self.before.high
        if low is None or high is None:
            return False
        return not _printed(low) <= _printed(self.after.value) <= _printed(high)

    @property
    def counted(self) -> bool:
        """Whether it is of counts, not of times."""
        return METRICS[self.now.metric].is_count

    @property
    def other_transfer(self) -> bool:
        """Whether the two transfers write or have in flight other numbers of bytes."""
        return _bytes(self.then) != _bytes(self.now)

    @property
    def opposite(self) -> bool:
        return {self.before.verdict, self.after.verdict} == {*_SHOWN}

    @property
    def lost(self) -> bool:
        return self.before.verdict in _SHOWN and self.after.verdict not in _SHOWN

    @property
    def gained(self) -> bool:
        return self.before.verdict not in _SHOWN and self.after.verdict in _SHOWN

    @property
    def changed(self) -> bool:
        return self.outside or self.opposite or self.lost or self.gained

    @property
    def size(self) -> float:
        return abs(math.log(self.after.value / self.before.value))


def _printed(ratio: float) -> float:
    """A ratio with the decimals of a page, in the order of ratios: 1.25 is 0.25, 0.8 is -0.25."""
    return round(ratio - 1, 2) if ratio >= 1 else -round(1 / ratio - 1, 2)


def corrections(
    before: Results,
    after: Results,
    runs_before: Sequence[Run],
    runs_after: Sequence[Run],
) -> Corrections:
    """The ratios of `before` that `after` has too, and how the two differ.

    A row has its counterpart in the same scenario, whatever a transfer writes at a time and has in
    flight; an implementation, in the same version of a library. Ratios without a test, such as
    those of maxima, are left out. Reports whose baselines have no counterpart have no ratio in
    common.
    """
    found = list(_pairs(before, after))
    changed = sorted(
        (pair for pair in found if pair.changed), key=lambda pair: (not pair.opposite, -pair.size)
    )
    repeated = _repeated(runs_before, runs_after)
    always = [
        *_other_tools(runs_before, runs_after),
        *_other_hosts(before, after, runs_before, runs_after),
    ]
    groups: dict[str, list[CorrectedRatio]] = {}
    for pair in changed[:MOST_ROWS]:
        # What is counted is not timed in sessions and layouts.
        of_times = [] if pair.counted else repeated
        reason = "; ".join([*_scenario(pair), *of_times, *always]) or _NONE
        corrected = CorrectedRatio(
            anchor=pair.now.anchor,
            name=pair.name,
            implementation=pair.label,
            before=pair.before.text,
            after=pair.after.text,
            opposite=pair.opposite,
        )
        groups.setdefault(reason, []).append(corrected)
    return Corrections(
        report=before.id,
        title=before.title,
        date=before.date,
        compared=len(found),
        outside=sum(pair.outside for pair in found),
        opposite=sum(pair.opposite for pair in found),
        lost=sum(pair.lost for pair in found),
        gained=sum(pair.gained for pair in found),
        statement=_statement(found),
        other_host=_models(before, after),
        groups=[CorrectedRows(reason=reason, rows=rows) for reason, rows in groups.items()],
        left_out=max(0, len(changed) - MOST_ROWS),
    )


def _pairs(before: Results, after: Results) -> Iterator[_Pair]:
    same = (pair for pair in pairs(before, after) if pair[0].version == pair[1].version)
    then_of = {now.id: then.id for then, now in same}
    if after.baseline is None or then_of.get(after.baseline) != before.baseline:
        return
    labels = {i.id: i.label for i in after.implementations}
    old = _rows(before)
    names = _names_of_rows(after)
    for key, now in _rows(after).items():
        if (then := old.get(key)) is None:
            continue
        ratios = {cell.implementation: cell.ratio for cell in then.cells}
        for cell in now.cells:
            earlier = ratios.get(then_of.get(cell.implementation, ""))
            if cell.ratio and earlier and not _UNTESTED & {cell.ratio.verdict, earlier.verdict}:
                label = labels[cell.implementation]
                yield _Pair(then, now, names[now.anchor], label, earlier, cell.ratio)


def _rows(results: Results) -> Mapping[Key, Row]:
    """The rows by scenario, without what a transfer writes at a time; none that share a key."""
    found: dict[Key, list[Row]] = {}
    for table in results.tables:
        for row in table.rows:
            scenario = row.scenario
            if scenario.operation == "transfer":
                scenario = scenario.model_copy(update={"size": None, "in_flight": None})
            found.setdefault((scenario, row.phase, row.metric, row.statistic), []).append(row)
    return {key: rows[0] for key, rows in found.items() if len(rows) == 1}


def _names_of_rows(results: Results) -> Mapping[Identifier, str]:
    """The name of each row, with the title of its table where two tables have one of that name."""
    rows = [(table, row) for table in results.tables for row in table.rows]
    count = Counter(row.name for _, row in rows)
    return {
        row.anchor: row.name if count[row.name] == 1 else f"{row.name}, {table.title}"
        for table, row in rows
    }


def _bytes(row: Row) -> tuple[int, int] | None:
    """What a transfer writes at a time and has in flight, in bytes; None for other rows."""
    scenario = row.scenario
    if scenario.operation != "transfer":
        return None
    return scenario.size or _WHOLE, scenario.in_flight or _WHOLE


def _scenario(pair: _Pair) -> list[str]:
    """How the scenarios of a transfer differ."""
    then, now = _bytes(pair.then), _bytes(pair.now)
    if then is None or now is None or then == now:
        return []
    texts = (f"writes of {size_name(w)} and {size_name(f)} in flight" for w, f in (now, then))
    return [" instead of ".join(texts)]


def _repeated(runs_before: Sequence[Run], runs_after: Sequence[Run]) -> list[str]:
    """How the numbers of sessions and layouts differ."""
    found = []
    for noun, count in (("session", _sessions), ("layout", _layouts)):
        then, now = (max(map(count, runs)) for runs in (runs_before, runs_after))
        if then != now:
            found.append(f"{counted(now, noun)} instead of {then}")
    return found


def _other_tools(runs_before: Sequence[Run], runs_after: Sequence[Run]) -> list[str]:
    """Whether the programs that measured differ, in so far as the runs record them."""
    then, now = ({(r.tool.name, r.tool.sha256) for r in runs} for runs in (runs_before, runs_after))
    return [] if then & now else [f"another build of {listed(sorted({name for name, _ in now}))}"]


def _other_hosts(
    before: Results, after: Results, runs_before: Sequence[Run], runs_after: Sequence[Run]
) -> list[str]:
    """How the hosts differ, as far as the runs record them."""
    if {host.id for host in before.hosts} != {host.id for host in after.hosts}:
        return [f"{_hosts(after)} instead of {_hosts(before)}"]
    if not _boots(runs_before) & _boots(runs_after):
        # The hash of a virtual machine's id may be that of its image.
        return ["perhaps another machine of the same model"]
    return []


def _models(before: Results, after: Results) -> str | None:
    """The hosts of both reports in a sentence; None if they are of one model."""
    then, now = _hosts(before), _hosts(after)
    return None if then == now else f"It was measured on {then}, this report on {now}"


def _hosts(results: Results) -> str:
    return " and ".join(host_label(host) for host in results.hosts)


def _boots(runs: Sequence[Run]) -> set[str]:
    return {session.boot for run in runs for session in run.sessions if session.boot}


def _sessions(run: Run) -> int:
    return len(run.sessions) or 1


def _layouts(run: Run) -> int:
    return len(run.layouts) or 1


def _statement(found: Sequence[_Pair]) -> str:
    """How many ratios changed; those of counts, which seldom do, in a sentence of their own."""
    if not found:
        return "No tested ratio of the earlier report was measured again"
    counts = [pair for pair in found if pair.counted]
    times = [pair for pair in found if not pair.counted]
    text = _changed(times or counts)
    if times and counts:
        changed = sum(pair.changed for pair in counts)
        text += (
            f". Of {counted(len(counts), 'ratio')} of counts, {changed or 'none'} "
            f"{'is' if changed < 2 else 'are'} outside that interval or "
            f"{'has' if changed < 2 else 'have'} another verdict"
        )
    return text


def _changed(found: Sequence[_Pair]) -> str:
    outside, opposite, lost, gained, others = (
        sum(getattr(pair, what) for pair in found)
        for what in ("outside", "opposite", "lost", "gained", "other_transfer")
    )
    other = f" ({others} of them with other writes and bytes in flight)" if others else ""
    text = (
        f"Of {counted(len(found), 'ratio')} that were measured again{other}, {outside or 'none'} "
        f"{'is' if outside < 2 else 'are'} outside the interval of the earlier report; "
        f"{opposite or 'none'} {'has' if opposite < 2 else 'have'} the opposite verdict"
    )
    verdicts = [f"{n} {word}" for n, word in ((lost, "lost"), (gained, "gained")) if n]
    if verdicts:
        words = "fewer or more" if all(pair.counted for pair in found) else "faster or slower"
        text += f"; {' and '.join(verdicts)} a verdict of {words}"
    return text
