"""The tables of a report: series become rows, samples become cells. Pure functions.

A cell is the median over the rounds of one implementation in one scenario. A figure that does not
count is shown with the reason, and has no ratio.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tlsperf.analysis.intervals import Intervals
from tlsperf.analysis.ratios import sample_ratio, seen_from
from tlsperf.analysis.series import MeasuredRun, Rules, Series, figure, rounded, row_names
from tlsperf.analysis.statistics import Summary, stability_warnings, summary
from tlsperf.contract.builds import like_builds
from tlsperf.contract.metric import MetricDefinition
from tlsperf.contract.metrics import METRICS, STATISTICS, Unit
from tlsperf.contract.names import cipher_name
from tlsperf.contract.operations import OPERATIONS
from tlsperf.contract.record import CERTIFICATES, Identifier, Scenario
from tlsperf.contract.results import Cell, Ratio, Row, Table, size_text
from tlsperf.contract.run import Implementation, Run
from tlsperf.contract.text import (
    ABSENT,
    counted,
    implementation_label,
    interval_text,
    listed,
    value_text,
)
from tlsperf.contract.variant import SetUp, parse_variant
from tlsperf.report.pairs import PairPriors, ratios_to, tested_in

# --- the table of a row --------------------------------------------------------------------------


@dataclass(frozen=True, order=True)
class TableKey:
    """The table of a row; keys are ordered as pages show the tables."""

    order: int
    anchor: str
    title: str
    unit: Unit
    by_phase: bool = False


def _table_key(row: Series, scaled: bool) -> TableKey:
    """The table of a row; `scaled` if its scenario was measured with several numbers of threads."""
    of = _table_of_kind(row, scaled) if row.definition.tables == "kind" else _table_of_metric(row)
    order, anchor, title = of
    is_detail = row.is_part or (row.definition.is_count and row.statistic != "value")
    return TableKey(row.definition.order + order, anchor, title, row.unit, is_detail)


def _table_of_kind(row: Series, scaled: bool) -> tuple[int, str, str]:
    """Order, anchor and title for a rate or a duration: a table for each kind of scenario."""
    s = row.scenario
    operation = OPERATIONS[s.operation]
    order, anchor, title = operation.order, operation.anchor, operation.title
    if s.operation == "set-up":
        return _table_of_set_up(row)
    if s.operation == "handshake" and s.resumption == "none":
        order, anchor, title = order + 1, f"full-{anchor}", "Full handshakes"
    elif s.operation == "handshake" and s.resumption:
        order, anchor, title = order + 2, f"resumed-{anchor}", "Resumed handshakes"
    if not row.definition.primary:
        if row.is_part:
            return order + 20, f"{anchor}-phases", f"{title} by phase"
        if row.statistic == "value":
            noun = row.definition.noun
            return order, f"{anchor}-{noun}", f"{title}, {noun}"
        return order + 10, f"{anchor}-latency", f"{title}, latency"
    if row.statistic == "p50":
        return (
            order + 10,
            f"{anchor}-per-thread",
            f"{title} by threads, of the median thread",
        )
    if scaled and row.unit.endswith("/thread"):
        return order + 10, f"{anchor}-per-thread", f"{title} by threads, of one thread"
    if scaled and s.side is None:
        return (
            order + 10,
            f"{anchor}-both-sides-threads",
            f"{title} by threads, both sides together",
        )
    if scaled:
        order, anchor, title = order + 10, f"{anchor}-threads", f"{title} by threads"
    if s.operation == "primitive" and row.unit == "MiB/s":
        return order + 1, "primitives-throughput", "Primitives, throughput"
    return order, anchor, title


_SET_UPS: Final[Mapping[SetUp, str]] = {
    "clients": "Trust anchors and clients",
    "servers": "Servers and private keys",
    "names": "Servers with many names",
    "processes": "First handshake of a process",
    "slopes": "Fixed time, and time of each item",
}
"""The titles of the tables of set-ups, in their order."""


def _table_of_set_up(row: Series) -> tuple[int, str, str]:
    """Order, anchor and title for a set-up: a table for each group of set-ups."""
    group = parse_variant(row.scenario.variant or "").set_up
    order = OPERATIONS["set-up"].order + list(_SET_UPS).index(group)
    anchor, title = f"set-up-{group}", _SET_UPS[group]
    if row.is_part:
        return order + 20, f"{anchor}-phases", f"{title} by phase"
    return order, anchor, title


def _table_of_metric(row: Series) -> tuple[int, str, str]:
    """Order, anchor and title for another metric: a table for each operation and unit."""
    operation = row.scenario.operation
    definition = OPERATIONS[operation]
    anchor, title = row.metric, row.definition.noun
    _, _, per = row.unit.partition("/")
    if per:
        anchor += f"-per-{operation if per == 'operation' else per.lower()}"
        title += f" per {definition.noun.partition(' ')[2] if per == 'operation' else per}"
    elif operation != "memory":
        anchor, title = f"{operation}-{anchor}", f"{title}, {operation}"
    if row.statistic != "value":
        anchor, title = f"{anchor}-range", f"{title}, smallest and largest"
    if row.is_part:
        anchor, title = f"{anchor}-phases", f"{title} by phase"
    return definition.order, anchor, title[0].upper() + title[1:]


def _without_threads(scenario: Scenario) -> Scenario:
    return scenario.model_copy(update={"threads": None})


_LIFE: Final = ("construction", "handshake", "data")
"""The phases in which a connection holds memory, in the order of time."""
_PROTOCOL_SIDES: Final = ("client", "server", "sender", "receiver")
_RESUMPTION_ORDER: Final = ("none", "session-id", "ticket", "resumed")


def _row_order(row: Series) -> tuple[object, ...]:
    """The sort key of a row, which does not depend on the order of the measurements."""
    s = row.scenario
    return (
        s.protocol or "",
        _position(_RESUMPTION_ORDER, s.resumption),
        _natural(cipher_name(s.cipher_suite or "")),
        _position(tuple(CERTIFICATES), s.certificate),
        _natural(s.key_exchange),
        s.authentication or "",
        _natural(s.variant),
        s.in_flight or 0,
        s.size or 0,
        s.record_size or 0,
        _position(_PROTOCOL_SIDES, s.side),
        s.threads or 0,
        _position(_LIFE, row.phase),
        row.phase,
        _position(STATISTICS, row.statistic),
    )


def _position(order: Sequence[str], value: str | None) -> int:
    return -1 if value is None else order.index(value) if value in order else len(order)


def _natural(text: str | None) -> tuple[tuple[int, str], ...]:
    """A sort key that orders AES-128 before AES-256, and sessions-500 before sessions-1000."""
    return tuple(
        (int(part), "") if part.isdigit() else (0, part)
        for part in re.split(r"(\d+)", text or "")
        if part
    )


# --- cells ---------------------------------------------------------------------------------------


def _cell(
    row: Series,
    implementation: Identifier,
    most_rounds: int,
    reason: str | None,
    ratio: Ratio | None,
    intervals: Intervals,
) -> Cell:
    sample = row.samples.get(implementation)
    if sample is None:
        return Cell(
            implementation=implementation, text=ABSENT, note=reason or "not part of the source"
        )
    if not sample.valid:
        value = figure(sample.invalid, sample.statistic)
        return Cell(
            implementation=implementation,
            value=_kept(value),
            text=value_text(value, row.unit),
            count=len(sample.invalid),
            valid=False,
            note="; ".join(sample.notes),
        )
    figures = summary(list(sample.valid.values()))
    interval = intervals.of(row, sample)
    if row.definition.is_count and interval and interval[0] == interval[1]:
        interval = None  # the count of every round
    warnings = []
    if sample.has_rounds and figures.count < most_rounds:
        why = f": {'; '.join(sample.notes)}" if sample.notes else ""
        count = f"{counted(figures.count, 'round')} {'counts' if figures.count == 1 else 'count'}"
        warnings.append(f"{count} where others have {most_rounds}{why}")
    return Cell(
        implementation=implementation,
        value=_kept(sample.figure),
        text=value_text(sample.figure, row.unit, digits=4 if intervals.reproduces(row) else 3),
        count=figures.count,
        warnings=warnings,
        ratio=ratio,
        **_interval(figures, interval, row.unit),
    )


def _kept(value: float) -> float:
    """A value rounded to seven digits, or to its digits before the decimal point if they
    are more.
    """
    return rounded(value, max(7, len(f"{value:.0f}")))


def _interval(
    figures: Summary, interval: tuple[float, float] | None, unit: Unit
) -> dict[str, float | str]:
    found: dict[str, float | str] = {}
    if interval is not None:
        low, high = interval
        found["low"] = _kept(low)
        found["high"] = _kept(high)
        found["interval"] = interval_text(low, high, figures.median, unit)
    if figures.spread_percent is not None:
        found["spread_percent"] = rounded(figures.spread_percent, 3)
    return found


# --- tables --------------------------------------------------------------------------------------


def tables(
    runs: Sequence[MeasuredRun],
    groups: Mapping[TableKey, Sequence[Series]],
    rules: Rules,
    implementations: Sequence[Implementation],
    baseline: Identifier | None,
) -> list[Table]:
    """The tables of a report in the order in which pages show them; ratios are to `baseline`."""
    gaps = {(g.implementation, g.scenario): g.reason for run in runs for g in run.loaded.gaps}
    names = row_names([row for members in groups.values() for row in members])
    sources = [run.loaded.run for run in runs]
    alike = like_builds(implementations, baseline)
    found = []
    for key, members in groups.items():
        metric = members[0].definition
        involved = [
            i.id
            for i in implementations
            if any(i.id in s.samples or (i.id, s.scenario) in gaps for s in members)
        ]
        most = max(len(sample.valid) for s in members for sample in s.samples.values())
        intervals = Intervals(members, rules.spreads)
        priors = PairPriors(members, baseline, rules)
        rows = []
        seen: list[float] = []
        for s in members:
            ratios = {} if key.by_phase else ratios_to(s, baseline, rules, priors.to(baseline))
            cells = [
                _cell(s, i, most, gaps.get((i, s.scenario)), ratios.get(i), intervals)
                for i in involved
            ]
            if not key.by_phase:
                cells, sizes = _with_leaders(s, cells, alike, baseline, rules, priors)
                seen += sizes
            name, anchor = names[s.key]
            rows.append(
                Row(
                    anchor=anchor,
                    name=name,
                    scenario=s.scenario,
                    phase=s.phase,
                    metric=s.metric,
                    statistic=s.statistic,
                    cells=cells,
                )
            )
        has_ratios = any(c.ratio for row in rows for c in row.cells)
        others = _others_note(rows, [i for i in implementations if i.id in involved], alike)
        shown = next((i for i in implementations if has_ratios and i.id == baseline), None)
        table = Table(
            anchor=key.anchor,
            title=key.title,
            caption=(
                _counted_caption(rows, shown, metric, sources)
                if metric.is_count
                else _caption(rows, shown, rules.comparisons, sources)
            )
            + (f" Tied: a difference of {size_text(max(seen))} would show." if seen else "")
            + others,
            unit=key.unit,
            better=metric.better,
            by_phase=key.by_phase,
            interval_source=intervals.source,
            interval_note=intervals.note,
            warnings=_warnings(members),
            baseline=baseline if has_ratios else None,
            implementations=involved,
            rows=rows,
        )
        found.append(with_dividing(table))
    return found


HIDDEN_PERCENT: Final = 0.5
"""A ratio near 1 with two decimals hides a smaller difference."""


def with_dividing(table: Table) -> Table:
    """The table with how far a quotient of two of its figures may be from their ratio.

    The caption says it, unless the rounding of a ratio hides it.
    """
    apart = [abs(quotient / ratio - 1) for quotient, ratio in _divided(table)]
    if not apart:
        return table
    percent = math.ceil(1000 * max(apart) - 1e-6) / 10
    made = table.model_copy(update={"dividing_percent": percent})
    return made.model_copy(update={"caption": f"{table.caption}{_dividing(made)}"})


def without_dividing(table: Table) -> Table:
    """The table without that, for ratios that are of something else."""
    caption = table.caption.removesuffix(_dividing(table))
    return table.model_copy(update={"dividing_percent": None, "caption": caption})


def _dividing(table: Table) -> str:
    if (table.dividing_percent or 0) < HIDDEN_PERCENT:
        return ""
    return (
        f" {'Losses' if table.compares_rows else 'Ratios'} come from rounds: dividing two figures "
        f"gives up to {table.dividing_percent:g}% more or less."
    )


def _divided(table: Table) -> Iterator[tuple[float, float]]:
    """For each ratio of rounds the quotient of the figures as readers see them, and the ratio.

    A ratio of counts is that quotient.
    """
    rows = {row.anchor: row.cells for row in table.rows}
    for row in (row for row in table.rows if not METRICS[row.metric].is_count):
        texts = {c.implementation: c.text for c in rows[row.against or row.anchor]}
        for cell in row.cells:
            other = cell.implementation if row.against else table.baseline
            if cell.ratio is None or other is None:
                continue
            ours, theirs = (float(of.replace(",", "")) for of in (cell.text, texts[other]))
            if ours and theirs:
                quotient = ours / theirs if table.better == "higher" else theirs / ours
                yield quotient, cell.ratio.value


def grouped(rows: Sequence[Series]) -> dict[TableKey, list[Series]]:
    """The rows of each table; tables and rows in the order in which pages show them."""
    thread_counts: dict[Scenario, set[int | None]] = {}
    for s in rows:
        thread_counts.setdefault(_without_threads(s.scenario), set()).add(s.scenario.threads)
    found: dict[TableKey, list[Series]] = {}
    for s in rows:
        scaled = len(thread_counts[_without_threads(s.scenario)]) > 1
        found.setdefault(_table_key(s, scaled), []).append(s)
    return {key: sorted(members, key=_row_order) for key, members in sorted(found.items())}


def comparisons(
    groups: Iterable[Sequence[Series]], baseline: Identifier | None, rules: Rules
) -> int:
    """The number of tested ratios of the rows on a page, as one family.

    The leader of a row is compared with the next one only if its ratio to the baseline has a
    verdict; then that ratio's share of the error passes on (Bretz et al. 2009, doi
    10.1002/sim.3495). So this comparison counts only in rows without a baseline.
    """
    count = 0
    for row in (row for members in groups for row in members):
        tested = tested_in(row)
        if baseline in tested:
            against = row.samples[baseline]
            count += sum(
                i != baseline and rules.are_comparable(row.samples[i], against) for i in tested
            )
        else:
            count += len(tested) > 1
    return count


def _by_value(row: Series, implementations: Iterable[Identifier]) -> list[Identifier]:
    """The implementations of a row, best first."""
    return sorted(
        implementations,
        key=lambda i: row.samples[i].figure,
        reverse=row.definition.better == "higher",
    )


def _with_leaders(
    row: Series,
    cells: list[Cell],
    alike: Collection[Identifier],
    baseline: Identifier | None,
    rules: Rules,
    priors: PairPriors,
) -> tuple[list[Cell], list[float]]:
    """The cells, with the best one or the tied ones marked, of one build of each library.

    With the ratios from which a difference of each tied one to the first would have been shown.

    The best one must be shown to be better than the baseline and than the next one. A row without
    tests has no mark, nor a row of several hosts without ratios between them, nor a row in which
    another build has a better figure: a mark beside it would contradict it.
    """
    samples = {i: sample for i, sample in row.samples.items() if i in alike}
    valid = {i: sample.rounds for i, sample in samples.items() if sample.valid}
    none = [i for i, rounds in valid.items() if max(rounds) == 0]
    if (
        row.definition.is_count and none and len(valid) > 1
    ):  # no ratio to zero, but fewer is not possible
        return _led_by(none, cells), []
    ranked = _by_value(row, [i for i, sample in samples.items() if sample.counts])
    if len(ranked) < 2 or not rules.are_comparable(*(samples[i] for i in ranked)):
        return cells, []
    first = samples[ranked[0]]
    every = _by_value(row, [i for i, sample in row.samples.items() if sample.counts])
    if row.samples[every[0]].figure != first.figure:
        return cells, []
    estimates = {
        i: estimate
        for i in ranked[1:]
        if (estimate := sample_ratio(first, samples[i], row, rules, priors.of(ranked[0], i)))
        is not None
    }
    verdicts = {i: estimate.verdict for i, estimate in estimates.items()}
    rivals = [i for i in (ranked[1], baseline) if i in verdicts]
    is_best = bool(rivals) and all(verdicts[i] == "faster" for i in rivals)
    level = [i for i, verdict in verdicts.items() if verdict == "no difference shown"]
    is_tied = any(i in level for i in rivals)
    tied = ranked[: 1 + max(map(ranked.index, level))] if is_tied else []
    sizes = [] if row.definition.is_count else [seen_from(estimates[i]) for i in level if i in tied]
    return _led_by(ranked[:1] if is_best else tied, cells), [size for size in sizes if size]


def _led_by(leaders: Sequence[Identifier], cells: list[Cell]) -> list[Cell]:
    """The cells with the best of them, or the tied if there are several."""
    best = leaders if len(leaders) == 1 else []
    tied = leaders if len(leaders) > 1 else []
    return [
        c.model_copy(update={"best": c.implementation in best, "tied": c.implementation in tied})
        for c in cells
    ]


def _others_note(
    rows: Sequence[Row], involved: Sequence[Implementation], alike: Collection[Identifier]
) -> str:
    """Which builds best and tied compare, if a table with such marks has others too."""
    marked = any(c.best or c.tied for row in rows for c in row.cells)
    compared = [implementation_label(i) for i in involved if i.id in alike]
    if not marked or len(compared) == len(involved):
        return ""
    return f" Best and tied compare one build of each library: {listed(compared)}."


def _warnings(rows: Sequence[Series]) -> list[str]:
    """Warnings about the figures of a table; tables by phase do not repeat those of the whole."""
    return stability_warnings(
        [
            summary(sample.rounds)
            for row in rows
            if tested_in(row)
            for sample in row.samples.values()
            if sample.valid and sample.has_rounds
        ]
    )


def _caption(
    rows: Sequence[Row],
    against: Implementation | None,
    comparisons: int,
    runs: Sequence[Run],
) -> str:
    counts = sorted({c.count for row in rows for c in row.cells if c.valid and c.count})
    intervals = any(c.interval for row in rows for c in row.cells)
    if counts == [1] or not counts:
        estimators = {run.source.estimator for run in runs if run.source}
        named = "; ".join(sorted(e for e in estimators if e))
        text = f"Single figures ({named})" if named else "Single figures"
    else:
        span = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else f"{counts[0]}"
        text = f"Median of {span} rounds"
        if intervals:
            text += " with its 95% interval"
        if any(row.statistic == "max" for row in rows):
            text += "; a maximum is that of all rounds, without interval or ratio"
    if against is None:
        return f"{text}."
    tested = any(c.ratio and c.ratio.low for row in rows for c in row.cells)
    label = implementation_label(against)
    if tested and comparisons > 1:
        return f"{text}; ratio to {label}, its interval corrected for {comparisons} comparisons."
    return f"{text}; ratio to {label}."


def _counted_caption(
    rows: Sequence[Row],
    against: Implementation | None,
    metric: MetricDefinition,
    runs: Sequence[Run],
) -> str:
    counts = sorted({c.count for row in rows for c in row.cells if c.count})
    rounds = " to ".join(str(count) for count in sorted({counts[0], counts[-1]}))
    counters = sorted({run.counter.version for run in runs if run.counter})
    tools = sorted({run.tool.name for run in runs})
    how, caution = f"Counted by {', '.join(tools)}", ""
    if "tlsbench" in tools:
        how, caution = metric.caption.format(counter=", ".join(counters)), f". {metric.caution}"
    text = f"{how}; median of {rounds} round{'s' if counts[-1] > 1 else ''}{caution}"
    if against is None:
        return f"{text}."
    return f"{text}. Ratio to {implementation_label(against)}, with its range where rounds differ."
