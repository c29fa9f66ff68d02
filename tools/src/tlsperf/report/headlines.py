"""The headlines of a report: a few important figures, as bars and as text. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from tlsperf.contract.errors import UserError, alternatives
from tlsperf.contract.metrics import METRICS
from tlsperf.contract.results import Bar, Cell, Headline, Ratio, Row, ShownImplementation, Table
from tlsperf.contract.run import Report
from tlsperf.contract.text import listed

HEADLINES: Final = 3
MOST_BARS: Final = 6

SHORT: Final = 10_000
"""A count below it is as easy to read as a factor."""


def headlines(
    tables: Sequence[Table], shown: Sequence[ShownImplementation], report: Report
) -> list[Headline]:
    """The rows that the report names, or one row of each of the first tables.

    That row is the one with the most figures; among equals TLS 1.3, sending or serving. Raises
    UserError if a named row does not exist.
    """
    labels = {i.id: i.label for i in shown}
    found = _headlines(tables, labels, report)
    return [_folded(headline, {i.id: i.library for i in shown}) for headline in found]


def _folded(headline: Headline, libraries: Mapping[str, str]) -> Headline:
    """The headline with those bars marked that only the table shows."""
    kept = {bar.implementation for bar in shown_bars(headline.bars, libraries)}
    bars = [
        bar.model_copy(update={"folded": bar.implementation not in kept}) for bar in headline.bars
    ]
    return headline.model_copy(update={"bars": bars})


def shown_bars(bars: Sequence[Bar], libraries: Mapping[str, str]) -> list[Bar]:
    """The bars that a page shows: all, or of too many the first and last of each library."""
    if len(bars) <= MOST_BARS:
        return list(bars)
    found = [libraries[bar.implementation] for bar in bars]
    ends = [
        bar
        for number, (bar, library) in enumerate(zip(bars, found, strict=True))
        if library not in found[:number] or library not in found[number + 1 :]
    ]
    return ends[:MOST_BARS]


def _headlines(
    tables: Sequence[Table], labels: Mapping[str, str], report: Report
) -> list[Headline]:
    if report.headlines:
        rows = {row.anchor: (table, row) for table in tables for row in table.rows}
        unknown = [anchor for anchor in report.headlines if anchor not in rows]
        if unknown:
            expected = alternatives(unknown[0], rows, f"results.csv of {report.id}")
            raise UserError(
                f"report {report.id}: found the headline {unknown[0]!r}, expected {expected}"
            )
        chosen = [headline_of(*rows[anchor], labels) for anchor in report.headlines]
        return [headline for headline in chosen if headline]
    found = []
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
        headline = headline_of(table, row, labels)
        if headline is not None:
            found.append(headline)
    return found[:HEADLINES]


def headline_of(table: Table, row: Row, labels: Mapping[str, str]) -> Headline | None:
    """The figures of a row as bars; None without a figure."""
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
    """The bars as text: all ratios if they are few, else those of the best or the tied ones, or
    else the lowest and the highest.
    """
    ratios = [(c, c.ratio) for c in row.cells if c.ratio]
    leading = [c for c in row.cells if c.best or c.tied]
    if len(ratios) > HEADLINES:
        low, *_, high = sorted(ratios, key=lambda pair: pair[1].value)
        ratios = [pair for pair in ratios if pair[0] in leading] if leading else [low, high]
    if ratios and table.baseline:
        of = next(c for c in row.cells if c.implementation == table.baseline)
        ratios_text = "; ".join(
            f"{labels[c.implementation]} {_against(c, r, of, row)}" for c, r in ratios
        )
        return f"Against {labels[table.baseline]}: {ratios_text}"
    if leading:
        tied = ", tied" if len(leading) > 1 else ""
        named = listed([labels[c.implementation] for c in leading])
        return f"{named}: {_BEST[table.better]}{tied}"
    return " and ".join(
        f"{labels[c.implementation]}: {c.text} {table.unit}" for c in row.cells if c.value
    )


def _against(cell: Cell, ratio: Ratio, other: Cell, row: Row) -> str:
    """The text of a ratio, or that of two counts of few digits: `26 instead of 338`."""
    short = max(cell.value or 0, other.value or 0) < SHORT
    if METRICS[row.metric].is_count and ratio.verdict in ("faster", "slower") and short:
        return f"{cell.text} instead of {other.text}"
    return ratio.text
