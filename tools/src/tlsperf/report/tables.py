"""The tables of a report: series become rows, samples become cells. Pure functions.

A cell is the median over the rounds of one implementation in one scenario; what must not count is
shown with its reason and left out of ratios.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tlsperf.analysis.ratios import as_ratio, sample_ratio
from tlsperf.analysis.series import MeasuredRun, ReportSeries, Series, rounded, row_names
from tlsperf.analysis.statistics import Summary, stability_warnings, summary
from tlsperf.contract.metrics import STATISTICS, Better, MetricDefinition, Unit
from tlsperf.contract.names import cipher_name
from tlsperf.contract.operations import OPERATIONS
from tlsperf.contract.record import Identifier, Scenario
from tlsperf.contract.results import Cell, Ratio, Row, Table
from tlsperf.contract.run import Implementation, Run
from tlsperf.contract.text import ABSENT, implementation_label, interval_text, value_text

# --- which table a row belongs to ----------------------------------------------------------------


@dataclass(frozen=True, order=True)
class _TableKey:
    order: int
    anchor: str
    title: str
    unit: Unit
    by_phase: bool = False


def _table_key(row: Series, scaled: bool) -> _TableKey:
    """The table of a row; `scaled` if its scenario was measured at several thread counts."""
    of = _table_of_kind(row, scaled) if row.definition.tables == "kind" else _table_of_metric(row)
    order, anchor, title = of
    return _TableKey(row.definition.order + order, anchor, title, row.unit, row.is_part)


def _table_of_kind(row: Series, scaled: bool) -> tuple[int, str, str]:
    """Of a rate or a duration: a table for each kind of scenario."""
    s = row.scenario
    operation = OPERATIONS[s.operation]
    order, anchor, title = operation.order, operation.anchor, operation.title
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


def _table_of_metric(row: Series) -> tuple[int, str, str]:
    """Of another metric: a table for each operation and unit."""
    operation = row.scenario.operation
    definition = OPERATIONS[operation]
    anchor, title = row.metric, row.definition.noun
    _, _, per = row.unit.partition("/")
    if per:
        anchor += f"-per-{operation if per == 'operation' else per.lower()}"
        title += f" per {definition.name if per == 'operation' else per}"
    elif operation != "memory":
        anchor, title = f"{operation}-{anchor}", f"{title}, {operation}"
    return definition.order, anchor, title[0].upper() + title[1:]


def _without_threads(scenario: Scenario) -> Scenario:
    return scenario.model_copy(update={"threads": None})


_PROTOCOL_SIDES: Final = ("client", "server", "sender", "receiver")
_CERTIFICATE_ORDER: Final = ("rsa-2048", "rsa-4096", "ecdsa-p256", "ecdsa-p384", "ed25519")
_RESUMPTION_ORDER: Final = ("none", "session-id", "ticket", "resumed")


def _row_order(row: Series) -> tuple[object, ...]:
    """Rows are in one order whatever the order of the measurements."""
    s = row.scenario
    return (
        s.protocol or "",
        _position(_RESUMPTION_ORDER, s.resumption),
        _natural(cipher_name(s.cipher_suite or "")),
        _position(_CERTIFICATE_ORDER, s.certificate),
        _natural(s.key_exchange),
        s.authentication or "",
        _natural(s.variant),
        s.in_flight or 0,
        s.size or 0,
        s.record_size or 0,
        _position(_PROTOCOL_SIDES, s.side),
        s.threads or 0,
        row.phase,
        _position(STATISTICS, row.statistic),
    )


def _position(order: Sequence[str], value: str | None) -> int:
    return -1 if value is None else order.index(value) if value in order else len(order)


def _natural(text: str | None) -> tuple[tuple[int, str], ...]:
    """AES-128 before AES-256, sessions-500 before sessions-1000."""
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
) -> Cell:
    sample = row.samples.get(implementation)
    if sample is None:
        return Cell(
            implementation=implementation, text=ABSENT, note=reason or "not part of the source"
        )
    better = row.definition.better
    if not sample.valid:
        figures = summary(sample.invalid, better)
        return Cell(
            implementation=implementation,
            value=rounded(figures.median),
            text=value_text(figures.median, row.unit),
            count=figures.count,
            valid=False,
            note="; ".join(sample.notes),
        )
    figures = summary(list(sample.valid.values()), better)
    # A warning of a whole is not repeated for each of its phases.
    unstable = sample.has_rounds and not row.is_part and not row.definition.is_count
    warnings = stability_warnings(figures) if unstable else []
    if sample.has_rounds and figures.count < most_rounds:
        why = f": {'; '.join(sample.notes)}" if sample.notes else ""
        warnings.append(f"{figures.count} rounds count where others have {most_rounds}{why}")
    return Cell(
        implementation=implementation,
        value=rounded(figures.median),
        text=value_text(figures.median, row.unit),
        count=figures.count,
        warnings=warnings,
        ratio=ratio,
        **_interval(figures, row.unit),
    )


def _interval(figures: Summary, unit: Unit) -> dict[str, float | str]:
    found: dict[str, float | str] = {}
    if figures.low is not None and figures.high is not None:
        found["low"] = rounded(figures.low)
        found["high"] = rounded(figures.high)
        found["interval"] = interval_text(figures.low, figures.high, figures.median, unit)
    if figures.spread_percent is not None:
        found["spread_percent"] = rounded(figures.spread_percent, 3)
    return found


# --- tables --------------------------------------------------------------------------------------


def tables(
    runs: Sequence[MeasuredRun],
    series: ReportSeries,
    implementations: Sequence[Implementation],
    baseline: Identifier | None,
) -> list[Table]:
    """The tables of a report in the order to be shown; ratios are to `baseline`."""
    thread_counts: dict[Scenario, set[int | None]] = {}
    for s in series.rows:
        thread_counts.setdefault(_without_threads(s.scenario), set()).add(s.scenario.threads)
    grouped: dict[_TableKey, list[Series]] = {}
    for s in series.rows:
        scaled = len(thread_counts[_without_threads(s.scenario)]) > 1
        grouped.setdefault(_table_key(s, scaled), []).append(s)
    gaps = {(g.implementation, g.scenario): g.reason for run in runs for g in run.loaded.gaps}
    comparisons = _comparisons(series.rows, baseline)
    names = row_names(series.rows)
    sources = [run.loaded.run for run in runs]
    found = []
    for key, members in sorted(grouped.items()):
        metric = members[0].definition
        against = None if key.by_phase else baseline
        involved = [
            i.id
            for i in implementations
            if any(i.id in s.samples or (i.id, s.scenario) in gaps for s in members)
        ]
        most = max(len(sample.valid) for s in members for sample in s.samples.values())
        rows = []
        for s in sorted(members, key=_row_order):
            cells = [
                _cell(
                    s,
                    implementation,
                    most,
                    gaps.get((implementation, s.scenario)),
                    _ratio(s, implementation, against, series, comparisons),
                )
                for implementation in involved
            ]
            name, anchor = names[s.key]
            rows.append(
                Row(
                    anchor=anchor,
                    name=name,
                    scenario=s.scenario,
                    phase=s.phase,
                    metric=s.metric,
                    statistic=s.statistic,
                    cells=_with_best(cells, metric.better),
                )
            )
        has_ratios = any(c.ratio for row in rows for c in row.cells)
        shown = next((i for i in implementations if has_ratios and i.id == baseline), None)
        found.append(
            Table(
                anchor=key.anchor,
                title=key.title,
                caption=_counted_caption(rows, shown, metric, sources)
                if metric.is_count
                else _caption(rows, shown, comparisons, sources),
                unit=key.unit,
                better=metric.better,
                by_phase=key.by_phase,
                baseline=baseline if has_ratios else None,
                implementations=involved,
                rows=rows,
            )
        )
    return found


def _comparisons(rows: Sequence[Series], baseline: Identifier | None) -> int:
    """How many ratios to the baseline are tested."""
    return sum(
        1
        for s in rows
        if not s.is_part
        and not s.definition.is_count
        and baseline in s.samples
        and s.samples[baseline].valid
        and s.samples[baseline].has_rounds
        for other, sample in s.samples.items()
        if other != baseline and sample.valid and sample.has_rounds
    )


def _ratio(
    row: Series,
    implementation: Identifier,
    baseline: Identifier | None,
    series: ReportSeries,
    comparisons: int,
) -> Ratio | None:
    if baseline is None or implementation == baseline:
        return None
    sample, against = row.samples.get(implementation), row.samples.get(baseline)
    if sample is None or against is None:
        return None
    estimate = sample_ratio(
        sample,
        against,
        row.metric,
        pairs=series.paired_runs,
        comparisons=max(comparisons, 1),
        drift=series.drift,
    )
    return None if estimate is None else as_ratio(estimate, row.metric)


def _with_best(cells: list[Cell], better: Better) -> list[Cell]:
    counted = [c.value for c in cells if c.valid and c.value is not None]
    if len(counted) < 2:
        return cells
    best = max(counted) if better == "higher" else min(counted)
    return [c.model_copy(update={"best": c.valid and c.value == best}) for c in cells]


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
            text += " with its 95 % interval"
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
    text = (
        f"{metric.caption.format(counter=', '.join(counters))}; median of {rounds} "
        f"round{'s' if counts[-1] > 1 else ''}. {metric.caution}"
    )
    if against is None:
        return f"{text}."
    return f"{text}. Ratio to {implementation_label(against)}, with its range over all rounds."
