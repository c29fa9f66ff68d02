"""The price list of a report: tables from today's algorithms to post-quantum ones. Pure functions.

A row is a choice of a key exchange and of certificates. Each library is compared with itself: the
handshakes that a side loses are those of its rate against its rate in another row, in the same
rounds. Its times come from the same ratios, so that they agree with what is lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from tlsperf.analysis.intervals import Intervals
from tlsperf.analysis.ratios import as_loss, prior_of_ratios, sample_ratio, session_logs
from tlsperf.analysis.series import Key, Rules, Series, key_of, rounded
from tlsperf.contract.record import Identifier, Side
from tlsperf.contract.results import Cell, Ratio, Row, Table
from tlsperf.contract.text import ABSENT, interval_text, value_text
from tlsperf.report.pairs import tested_in
from tlsperf.report.price_list import (
    MEMORY,
    PRICE_TABLES,
    RATE,
    Choice,
    PriceTable,
    segments_of,
)
from tlsperf.report.tables import with_dividing

SEGMENT: Final = 1_460
"""Bytes of a TCP segment over Ethernet and IPv4."""

WINDOW: Final = 10
"""Segments that fit the initial window of TCP (RFC 6928)."""


class _Column(NamedTuple):
    choice: Choice
    series: Series
    against: Series | None
    """The one that its samples are compared with."""


class _Listed(NamedTuple):
    """A table with the columns that were measured."""

    table: PriceTable
    columns: Sequence[_Column]

    @property
    def is_post_quantum(self) -> bool:
        """Whether it goes from today's algorithms to a certificate of ML-DSA."""
        choices = [of.choice for of in self.columns]
        return choices[:1] == list(self.table.choices[:1]) and any(
            choice.certificate.startswith("ml-dsa") for choice in choices
        )


# --- which series ---------------------------------------------------------------------------------


def _listed(rows: Sequence[Series]) -> list[_Listed]:
    """The tables of a report, each with its first column and another one.

    The tables from today's algorithms to post-quantum ones need a server that was timed with both;
    memory is also shown alone. Tables of pairs need a pair.
    """
    series = {row.key: row for row in rows}
    found = [_Listed(table, _columns(table, series)) for table in PRICE_TABLES]
    timed = found[0].is_post_quantum
    return [
        of
        for of in found
        if of.columns
        and of.columns[0].choice == of.table.choices[0]
        and any(column.against for column in of.columns)
        and (timed or of.table.in_pairs or (of.table.figure == MEMORY and of.is_post_quantum))
    ]


def _columns(table: PriceTable, series: Mapping[Key, Series]) -> list[_Column]:
    found = {
        choice: series[key] for choice in table.choices if (key := table.key(choice)) in series
    }
    return [
        _Column(choice, row, found.get(first) if (first := table.against(choice)) else None)
        for choice, row in found.items()
    ]


_Pairs = Mapping[tuple[Key, Key], tuple[Series, Series]]


def _pairs(listed: Iterable[_Listed]) -> _Pairs:
    """The series of rates that are compared, each with its first; once, if several tables do."""
    return {
        (column.series.key, column.against.key): (column.series, column.against)
        for of in listed
        if of.table.figure == RATE
        for column in of.columns
        if column.against
    }


def _tested(series: Series, first: Series, rules: Rules) -> list[Identifier]:
    """The implementations with rounds in both."""
    both = tested_in(first)
    return [
        i
        for i in tested_in(series)
        if i in both and rules.are_comparable(series.samples[i], first.samples[i])
    ]


def tested_prices(rows: Sequence[Series], rules: Rules) -> int:
    """The number of tested losses: they count as comparisons of the page."""
    return sum(len(_tested(*pair, rules)) for pair in _pairs(_listed(rows)).values())


# --- the tables -----------------------------------------------------------------------------------


def price_tables(
    rows: Sequence[Series],
    tables: Sequence[Table],
    rules: Rules,
    implementations: Sequence[Identifier],
) -> list[Table]:
    """The price list of a report, empty if it has none of its tables.

    `tables` have the rows of the series: their anchors, intervals and reasons.
    """
    listed = _listed(rows)
    losses, times = _losses(_pairs(listed), rules), _times(listed, rules)
    shown = {key_of(table, row): (table, row) for table in tables for row in table.rows}
    return [_table(of, shown, losses, times, rules, implementations) for of in listed]


_Times = Mapping[Key, Mapping[Identifier, float]]


def _times(listed: Iterable[_Listed], rules: Rules) -> _Times:
    """Microseconds of a handshake by library, the same in all tables.

    They are that of the side's first column, divided by the ratio to it.
    """
    firsts: dict[Side, Series] = {}
    found: dict[Key, dict[Identifier, float]] = {}
    for table, columns in listed:
        for series in (column.series for column in columns if table.figure == RATE):
            first = firsts.setdefault(table.side, series)
            if series.key in found:
                continue
            of_column = found[series.key] = {}
            for i, sample in series.samples.items():
                if not sample.counts:
                    continue
                other = first.samples.get(i)
                ratio = other and sample_ratio(sample, other, series, rules, against=first)
                rate = other.figure * ratio.value if other and ratio else sample.figure
                of_column[i] = 1e6 / rate
    return found


_Losses = Mapping[tuple[Key, Key], Mapping[Identifier, Ratio]]


def _losses(pairs: _Pairs, rules: Rules) -> _Losses:
    """The losses by library. One prior for all, so that a loss has one interval in all tables."""
    prior = prior_of_ratios(
        session_logs(series.samples[i], first.samples[i], rules.pairs)
        for series, first in pairs.values()
        for i in _tested(series, first, rules)
    )
    return {
        keys: {
            i: as_loss(estimate)
            for i, sample in series.samples.items()
            if i in first.samples
            and (
                estimate := sample_ratio(
                    sample, first.samples[i], series, rules, prior, against=first
                )
            )
        }
        for keys, (series, first) in pairs.items()
    }


def _table(
    of: _Listed,
    shown: Mapping[Key, tuple[Table, Row]],
    losses: _Losses,
    times: _Times,
    rules: Rules,
    implementations: Sequence[Identifier],
) -> Table:
    table, columns = of
    known = {
        column.choice: {cell.implementation: cell for cell in shown[column.series.key][1].cells}
        for column in columns
    }
    involved = [i for i in implementations if any(i in cells for cells in known.values())]
    rows = []
    for choice, series, against in columns:
        row = shown[series.key][1]
        lost = losses.get((series.key, against.key), {}) if against else {}
        segments = _segments(series, shown)
        of_column = times.get(series.key, {})
        digits = 4 if Intervals([series], rules.spreads).reproduces(series) else 3
        cells = [
            _cell(i, known[choice].get(i), of_column.get(i), digits).model_copy(
                update={"ratio": lost.get(i), "segments": segments.get(i)}
            )
            for i in involved
        ]
        against_row = shown[against.key][1].anchor if against else None
        rows.append(
            row.model_copy(update={"name": choice.name, "against": against_row, "cells": cells})
        )
    first = shown[columns[0].series.key][0]
    note = first.interval_note
    if any(cell.ratio and cell.ratio.low for row in rows for cell in row.cells):
        of_losses = (
            "Intervals of losses come from ratios of the same rounds, and are corrected for "
            f"{rules.comparisons} comparisons."
        )
        note = f"{note} {of_losses}" if note else of_losses
    made = Table(
        anchor=table.anchor,
        title=table.title,
        caption=_caption(table),
        unit="µs" if table.figure == RATE else "bytes",
        better="lower",
        interval_source=first.interval_source,
        interval_note=note,
        implementations=involved,
        rows=rows,
    )
    return with_dividing(made)


def _cell(implementation: Identifier, cell: Cell | None, micros: float | None, digits: int) -> Cell:
    """A cell of the price list from that of the row; of one with a time, it has the time."""
    if cell is None or cell.value is None or not cell.valid:
        note = (cell and cell.note) or "not measured"
        return Cell(implementation=implementation, text=ABSENT, note=note)
    if micros is None:
        return cell.model_copy(update={"best": False, "tied": False})
    interval: dict[str, float | str] = {}
    if cell.low and cell.high:
        low, high = (micros * cell.value / end for end in (cell.high, cell.low))
        interval = {
            "low": rounded(low),
            "high": rounded(high),
            "interval": interval_text(low, high, micros, "µs"),
        }
    return Cell(
        implementation=implementation,
        value=rounded(micros),
        text=value_text(micros, "µs", digits=digits),
        count=cell.count,
        spread_percent=cell.spread_percent,
        warnings=cell.warnings,
        **interval,
    )


def _segments(series: Series, shown: Mapping[Key, tuple[Table, Row]]) -> dict[Identifier, int]:
    """The segments of a flight, by library; none of other series."""
    key = segments_of(series.key)
    cells = shown[key][1].cells if key and key in shown else []
    return {cell.implementation: round(cell.value) for cell in cells if cell.value}


# --- captions -------------------------------------------------------------------------------------


def _caption(table: PriceTable) -> str:
    if table.figure == RATE:
        handshake = "full" if table.choices[0].resumption == "none" else "resumed"
        other = "the column before" if table.in_pairs else "its own first column"
        return (
            f"Processor time of one {handshake} TLS 1.3 handshake, and the part of its handshakes "
            f"per second that a library loses against {other}, both from the same ratios. Times "
            "follow the ratio to the first column, so they are not the inverse of the rates of "
            "other tables."
        )
    if table.figure == MEMORY:
        return "Bytes that one more idle connection has allocated on this side, after data."
    return (
        "Bytes that this side sends until the peer answers, and the TCP segments of "
        f"{SEGMENT:,} bytes that they fill; the initial window has {WINDOW} (RFC 6928)."
    )
