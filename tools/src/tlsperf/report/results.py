"""From tidy frames to `Results`: everything that the page of a report shows. Pure functions.

A cell is the median over the rounds of one implementation in one scenario; what must not count is
shown with its reason and left out of ratios. All floats are rounded, so that another machine's
mathematics library yields the same file.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tlsperf.analysis.overhead import overhead_text
from tlsperf.analysis.series import (
    Sample,
    Series,
    as_ratio,
    better_of,
    rounded,
    row_names,
    sample_ratio,
    series,
    wander_of,
)
from tlsperf.analysis.statistics import (
    UNSTABLE_SPREAD_PERCENT,
    Better,
    Summary,
    stability_warnings,
    summary,
)
from tlsperf.contract.errors import UserError
from tlsperf.contract.names import cipher_name
from tlsperf.contract.record import Identifier, Scenario, Unit
from tlsperf.contract.results import Bar, Cell, Headline, Results, Row, RunReference, Table
from tlsperf.contract.run import HostFacts, Implementation, Report, RunWarning
from tlsperf.contract.text import ABSENT, implementation_label, interval_text, shown, value_text
from tlsperf.load.run import LoadedRun

HEADLINES: Final = 3


# --- which table a row belongs to ----------------------------------------------------------------


@dataclass(frozen=True, order=True)
class _TableKey:
    order: int
    anchor: str
    title: str
    unit: Unit
    by_phase: bool = False


_MEMORY_TITLES: Final = {
    "allocated": "memory allocated",
    "resident": "resident memory",
    "peak-resident": "peak resident memory",
}


_INSTRUCTIONS: Final[Mapping[str, tuple[int, str, str]]] = {
    "transfer": (50, "instructions-per-mib", "Instructions per MiB"),
    "handshake": (51, "instructions-per-handshake", "Instructions per handshake"),
    "client-hello": (52, "instructions-per-client-hello", "Instructions per ClientHello"),
}


def _table_key(row: Series, scaled: bool) -> _TableKey:
    """The table of a row; `scaled` if its scenario was measured at several thread counts."""
    s = row.scenario
    match s.operation:
        case "transfer":
            order, anchor, title = 0, "transfer", "Transfer"
        case "handshake" if s.resumption is None:
            order, anchor, title = 1, "handshakes", "Handshakes"
        case "handshake" if s.resumption == "none":
            order, anchor, title = 2, "full-handshakes", "Full handshakes"
        case "handshake":
            order, anchor, title = 3, "resumed-handshakes", "Resumed handshakes"
        case "client-hello":
            order, anchor, title = 4, "client-hello", "ClientHello"
        case "memory":
            order, anchor, title = 5, "memory", "Memory"
        case "primitive":
            order, anchor, title = 6, "primitives", "Primitives"
    if row.metric == "rate":
        if row.statistic == "p50":
            order, anchor = order + 10, f"{anchor}-per-thread"
            title = f"{title} by threads, of the median thread"
        elif scaled and row.unit == "handshakes/s/thread":
            order, anchor = order + 10, f"{anchor}-per-thread"
            title = f"{title} by threads, of one thread"
        elif scaled and s.side is None:
            order, anchor = order + 10, f"{anchor}-both-sides-threads"
            title = f"{title} by threads, both sides together"
        elif scaled:
            order, anchor, title = order + 10, f"{anchor}-threads", f"{title} by threads"
        if s.operation == "primitive" and row.unit == "MiB/s":
            order, anchor, title = order + 1, "primitives-throughput", "Primitives, throughput"
    elif row.metric == "duration":
        if row.is_part:
            order, anchor, title = order + 40, f"{anchor}-phases", f"{title} by phase"
        elif row.statistic == "value":
            order, anchor, title = order + 20, f"{anchor}-duration", f"{title}, duration"
        else:
            order, anchor, title = order + 30, f"{anchor}-latency", f"{title}, latency"
    elif row.metric == "instructions":
        order, anchor, title = _INSTRUCTIONS[s.operation]
    else:
        each = " per connection" if row.unit == "bytes/connection" else ""
        name = f"{_MEMORY_TITLES[row.metric]}{each}"
        order, anchor = order + 60, f"{row.metric}{each}".replace(" ", "-")
        title = name[0].upper() + name[1:]
        if s.operation != "memory":
            anchor, title = f"{s.operation}-{anchor}", f"{title}, {s.operation}"
    return _TableKey(order, anchor, title, row.unit, row.is_part)


def _without_threads(scenario: Scenario) -> Scenario:
    return scenario.model_copy(update={"threads": None})


_PROTOCOL_SIDES: Final = ("client", "server", "sender", "receiver")
_CERTIFICATE_ORDER: Final = ("rsa-2048", "rsa-4096", "ecdsa-p256", "ecdsa-p384", "ed25519")
_RESUMPTION_ORDER: Final = ("none", "session-id", "ticket", "resumed")
_STATISTIC_ORDER: Final = ("value", "p5", "p50", "p90", "p99", "p99.9", "max")


def _row_order(row: Series) -> tuple[object, ...]:
    """Rows stand in one order whatever the order of the measurements."""
    s = row.scenario
    return (
        s.protocol or "",
        _position(_RESUMPTION_ORDER, s.resumption),
        _natural(cipher_name(s.cipher_suite or "")),
        _position(_CERTIFICATE_ORDER, s.certificate),
        _natural(s.key_exchange),
        s.authentication or "",
        _natural(s.variant),
        s.size or 0,
        s.record_size or 0,
        _position(_PROTOCOL_SIDES, s.side),
        s.threads or 0,
        row.phase,
        _position(_STATISTIC_ORDER, row.statistic),
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
    implementation: Identifier,
    sample: Sample | None,
    row: Series,
    better: Better,
    most_rounds: int,
    reason: str | None,
) -> Cell:
    if sample is None:
        return Cell(
            implementation=implementation, text=ABSENT, note=reason or "not part of the source"
        )
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
    # What is said of a whole is not said again of each of its phases.
    told = sample.has_rounds and not row.is_part and not row.is_count
    warnings = stability_warnings(figures) if told else []
    if sample.has_rounds and figures.count < most_rounds:
        why = f": {'; '.join(sample.notes)}" if sample.notes else ""
        warnings.append(f"{figures.count} rounds count where others have {most_rounds}{why}")
    return Cell(
        implementation=implementation,
        value=rounded(figures.median),
        text=value_text(figures.median, row.unit),
        count=figures.count,
        warnings=warnings,
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


def _tables(
    runs: Sequence[LoadedRun], implementations: Sequence[Implementation], baseline: str | None
) -> list[Table]:
    found = series(runs)
    gaps = {(g.implementation, g.scenario): g.reason for run in runs for g in run.gaps}
    pairs = frozenset(run.run.id for run in runs if run.rounds_are_pairs)
    between = 1.0 if len(runs) == len(pairs) == 1 else wander_of(found)
    names = row_names(found)
    thread_counts: dict[Scenario, set[int | None]] = {}
    for s in found:
        thread_counts.setdefault(_without_threads(s.scenario), set()).add(s.scenario.threads)
    grouped: dict[_TableKey, list[Series]] = {}
    for s in found:
        scaled = len(thread_counts[_without_threads(s.scenario)]) > 1
        grouped.setdefault(_table_key(s, scaled), []).append(s)
    comparisons = sum(
        1
        for key, members in grouped.items()
        if baseline and not key.by_phase
        for s in members
        if not s.is_count
        and baseline in s.samples
        and s.samples[baseline].valid
        and s.samples[baseline].has_rounds
        for other, sample in s.samples.items()
        if other != baseline and sample.valid and sample.has_rounds
    )
    estimators = {run.run.source.estimator for run in runs if run.run.source}
    counters = {run.run.counter.version for run in runs if run.run.counter}
    tables = []
    for key, members in sorted(grouped.items()):
        better = better_of(members[0].metric)
        involved = [
            i.id
            for i in implementations
            if any(i.id in s.samples or (i.id, s.scenario) in gaps for s in members)
        ]
        most = max(len(sample.valid) for s in members for sample in s.samples.values())
        rows = []
        for s in sorted(members, key=_row_order):
            cells = [
                _cell(i, s.samples.get(i), s, better, most, gaps.get((i, s.scenario)))
                for i in involved
            ]
            if baseline and not key.by_phase:
                cells = _with_ratios(cells, s, baseline, pairs, comparisons, between)
            name, anchor = names[s.key]
            rows.append(
                Row(
                    anchor=anchor,
                    name=name,
                    scenario=s.scenario,
                    phase=s.phase,
                    metric=s.metric,
                    statistic=s.statistic,
                    cells=_with_best(cells, better),
                )
            )
        has_ratios = any(c.ratio for row in rows for c in row.cells)
        against = next((i for i in implementations if i.id == baseline), None)
        tables.append(
            Table(
                anchor=key.anchor,
                title=key.title,
                caption=_counted_caption(rows, against if has_ratios else None, counters)
                if members[0].is_count
                else _caption(rows, against if has_ratios else None, comparisons, estimators),
                unit=key.unit,
                better=better,
                by_phase=key.by_phase,
                baseline=baseline if has_ratios else None,
                implementations=involved,
                rows=rows,
            )
        )
    return tables


def _with_ratios(
    cells: list[Cell],
    row: Series,
    baseline: str,
    pairs: frozenset[str],
    comparisons: int,
    between: float,
) -> list[Cell]:
    against = row.samples.get(baseline)
    if against is None:
        return cells
    result = []
    for cell in cells:
        sample = row.samples.get(cell.implementation)
        if sample is not None and cell.implementation != baseline:
            estimate = sample_ratio(
                sample, against, pairs, max(comparisons, 1), row.metric, between
            )
            if estimate is not None:
                cell = cell.model_copy(update={"ratio": as_ratio(estimate, row.metric)})
        result.append(cell)
    return result


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
    estimators: set[str | None],
) -> str:
    counts = sorted({c.count for row in rows for c in row.cells if c.valid and c.count})
    intervals = any(c.interval for row in rows for c in row.cells)
    if counts == [1] or not counts:
        told = "; ".join(sorted(e for e in estimators if e))
        text = f"Single figures ({told})" if told else "Single figures"
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
    rows: Sequence[Row], against: Implementation | None, valgrinds: set[str]
) -> str:
    counts = sorted({c.count for row in rows for c in row.cells if c.count})
    rounds = " to ".join(str(count) for count in sorted({counts[0], counts[-1]}))
    text = (
        "Instructions in user space of the calls that are timed otherwise, counted on one thread "
        f"by callgrind (valgrind {', '.join(sorted(valgrinds))}); median of {rounds} "
        f"round{'s' if counts[-1] > 1 else ''}. "
        "Under valgrind the libraries choose code without AVX-512"
    )
    if against is None:
        return f"{text}."
    return f"{text}. Ratio to {implementation_label(against)}, with its range over all rounds."


# --- the rest of a page --------------------------------------------------------------------------


def _headlines(
    tables: Sequence[Table], labels: Mapping[str, str], report: Report
) -> list[Headline]:
    """The rows that the report names, or one of each of the first tables: TLS1.3, sending or
    serving, with the most to compare."""
    if report.headlines:
        rows = {row.anchor: (table, row) for table in tables for row in table.rows}
        unknown = [anchor for anchor in report.headlines if anchor not in rows]
        if unknown:
            raise UserError(f"report {report.id}: headlines: no row {', '.join(unknown)}")
        chosen = [_headline(*rows[anchor], labels) for anchor in report.headlines]
        return [headline for headline in chosen if headline]
    headlines = []
    for table in tables:
        if table.by_phase:
            continue
        row = max(
            table.rows,
            key=lambda r: (
                sum(1 for c in r.cells if c.valid and c.value),
                r.scenario.protocol == "1.3",
                r.scenario.side in ("sender", "server"),
            ),
        )
        headline = _headline(table, row, labels)
        if headline is not None:
            headlines.append(headline)
    return headlines[:HEADLINES]


def _headline(table: Table, row: Row, labels: Mapping[str, str]) -> Headline | None:
    counted = [(c, c.value) for c in row.cells if c.valid and c.value]
    if not counted:
        return None
    longest = max(value for _, value in counted)
    return Headline(
        anchor=row.anchor,
        title=row.name,
        unit=table.unit,
        bars=[
            Bar(
                implementation=cell.implementation,
                label=labels[cell.implementation],
                text=cell.text,
                percent=round(100 * value / longest, 1),
            )
            for cell, value in counted
        ],
        statement=_statement(table, row, labels),
    )


_BEST: Final = {"higher": "highest", "lower": "lowest"}


def _statement(table: Table, row: Row, labels: Mapping[str, str]) -> str:
    """What the bars say in words: all ratios if they are few, else the largest."""
    ratios = [(c, c.ratio) for c in row.cells if c.ratio]
    if len(ratios) > HEADLINES:
        ratios = [max(ratios, key=lambda pair: pair[1].value)]
    if ratios and table.baseline:
        told = "; ".join(f"{labels[c.implementation]} {r.text}" for c, r in ratios)
        return f"Against {labels[table.baseline]}: {told}"
    best = [c for c in row.cells if c.best]
    if best:
        return f"{labels[best[0].implementation]}: {_BEST[table.better]} of {len(row.cells)}"
    return " and ".join(
        f"{labels[c.implementation]}: {c.text} {table.unit}" for c in row.cells if c.value
    )


def _warnings(runs: Sequence[LoadedRun], tables: Sequence[Table]) -> list[RunWarning]:
    found = []
    for run in runs:
        if not run.run.complete:
            message = f"Run {run.run.id} was interrupted before its last round."
            found.append(RunWarning(code="incomplete", message=message))
        found += run.warnings
    cells = [
        c
        for t in tables
        for row in t.rows
        if row.metric != "instructions"
        for c in row.cells
        if c.valid and c.value
    ]
    fewest = Counter(c.count for c in cells if c.spread_percent is not None and not c.interval)
    if fewest:
        message = f"{fewest.total()} of {len(cells)} figures have too few rounds for an interval."
        found.append(RunWarning(code="too-few-rounds", message=message))
    shown = [
        c
        for t in tables
        if not t.by_phase
        for row in t.rows
        for c in row.cells
        if c.valid and c.value
    ]
    unstable = sum(1 for c in shown if (c.spread_percent or 0) >= UNSTABLE_SPREAD_PERCENT)
    if unstable:
        message = (
            f"{unstable} of {len(shown)} figures are unstable: their relative standard deviation "
            f"is at or above {UNSTABLE_SPREAD_PERCENT:.0f} %. They are marked in the tables."
        )
        found.append(RunWarning(code="unstable", message=message))
    return found


def _implementations(report: Report, runs: Sequence[LoadedRun]) -> list[Implementation]:
    found: dict[str, Implementation] = {}
    for run in runs:
        for implementation in run.run.implementations:
            earlier = found.setdefault(implementation.id, implementation)
            if earlier != implementation:
                raise UserError(
                    f"report {report.id}: {implementation.id} is another build in run {run.run.id} "
                    "than in an earlier one; give the builds ids of their own"
                )
    return list(found.values())


def _hosts(runs: Sequence[LoadedRun], known: Mapping[str, HostFacts]) -> list[HostFacts]:
    """Each host once: as captured by its first run, completed by what is known of it."""
    found: dict[str, HostFacts] = {}
    for run in (r.run for r in runs):
        described = known.get(run.host_id)
        if run.host_id in found:
            continue
        if run.host is None and described is None:
            raise UserError(f"run {run.id}: host {run.host_id} is not in data/hosts")
        facts: dict[str, object] = {}
        for source in (described, run.host):
            if source is not None:
                told = source.model_dump(include=set(HostFacts.model_fields), exclude_none=True)
                facts |= {k: v for k, v in told.items() if v not in ({}, [])}
        found[run.host_id] = HostFacts.model_validate(facts | {"id": run.host_id})
    return list(found.values())


def _reference(loaded: LoadedRun) -> RunReference:
    run = loaded.run
    return RunReference(
        id=run.id,
        date=run.date,
        suite=run.suite.name if run.suite else None,
        family=run.suite.family if run.suite else None,
        rounds=run.rounds,
        allocator=run.allocator,
        host_id=run.host_id,
        tool=run.tool,
        source=run.source,
        files=run.files,
        # A report says this of itself, by `virtual`.
        warnings=[w for w in run.warnings if w.code != "virtual-machine"],
        overhead=overhead_text(loaded),
    )


def make_results(
    report: Report, runs: Sequence[LoadedRun], known_hosts: Mapping[str, HostFacts]
) -> Results:
    """All that a report shows of its runs, but for the charts (`charts.draw` adds them).

    Raises UserError if the baseline is in no run, a host is not known, or one id names two builds.
    """
    implementations = _implementations(report, runs)
    ids = [i.id for i in implementations]
    if report.baseline is not None and report.baseline not in ids:
        raise UserError(
            f"report {report.id}: baseline {report.baseline!r} is none of {', '.join(ids)}"
        )
    labels = {i.id: implementation_label(i) for i in implementations}
    tables = _tables(runs, implementations, report.baseline)
    hosts = _hosts(runs, known_hosts)
    return Results(
        id=report.id,
        title=report.title,
        date=report.date,
        virtual=_any(h.virtual for h in hosts),
        baseline=report.baseline,
        runs=[_reference(run) for run in runs],
        hosts=hosts,
        implementations=[shown(i) for i in implementations],
        headlines=_headlines(tables, labels, report),
        tables=tables,
        charts=[],
        warnings=_warnings(runs, tables),
    )


def _any(facts: Iterable[bool | None]) -> bool | None:
    told = [fact for fact in facts if fact is not None]
    return any(told) if told else None
