"""The price list in page.json: a line for each library, in the arrangement of the page."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from tlsperf.contract.prices import PriceCell, PriceTable
from tlsperf.contract.record import Identifier
from tlsperf.contract.results import ShownImplementation
from tlsperf.contract.text import counted, listed
from tlsperf.load.shortcodes import Call
from tlsperf.publish.footnotes import footnotes

_WHOLE: Final = ("prices-server", "prices-client")
"""Tables of times with the intervals of the times too; others have those of the losses alone."""


def price_page(
    tables: Sequence[PriceTable],
    shown: Mapping[Identifier, ShownImplementation],
    calls: Sequence[Call],
    rows: Collection[Identifier],
    units: Mapping[Identifier, str],
) -> dict[str, Any]:
    """The tables that shortcodes name, by anchor, in their order; all if they name none.

    A column has the anchor of its row, if no table of the page has that row (`rows`) and no price
    list before it: an id is unique. Such a column links to the page of its scenario, which has
    figures of one unit: `units` are those of the rows. A caption that several tables have is in the
    first of them.
    """
    by_anchor = {table.anchor: table for table in tables}
    named = [call.arguments.get("id", "") for call in calls if call.name == "prices"]
    order = [anchor for anchor in dict.fromkeys(named or by_anchor) if anchor in by_anchor]
    found: dict[str, Any] = {}
    anchored = set(rows)
    first: dict[str, PriceTable] = {}
    for table in map(by_anchor.__getitem__, order):
        like = first.setdefault(table.caption, table)
        caption = table.caption if like is table else f"As in “{like.title}”."
        found[table.anchor] = _table(table, caption, shown, anchored, units)
        anchored.update(column.row for column in table.columns)
    return found


def _table(
    table: PriceTable,
    caption: str,
    shown: Mapping[Identifier, ShownImplementation],
    anchored: Collection[Identifier],
    units: Mapping[Identifier, str],
) -> dict[str, Any]:
    """A table; `anchored` are the rows whose anchors the page has in another one."""
    numbers = [
        number
        for number in range(len(table.implementations))
        if any(column.cells[number].value is not None for column in table.columns)
    ]
    columns = [[_cell(column.cells[n], table) for n in numbers] for column in table.columns]
    notes = [*footnotes(columns, often=1), *_left_out(table, numbers, shown)]
    return {
        "anchor": table.anchor,
        "title": table.title,
        "caption": " ".join([caption, *notes]),
        "unit": table.unit,
        "timed": table.kind == "time",
        "heads": [
            {"name": name}
            | (
                {"id": row, "unit": units[row]}
                if table.kind == "time" and row not in anchored
                else {}
            )
            for name, row in zip(_names(table), (of.row for of in table.columns), strict=True)
        ],
        "lines": [
            {
                "label": shown[table.implementations[n]].label,
                "colour": shown[table.implementations[n]].colour,
                "cells": [column[at] for column in columns],
            }
            for at, n in enumerate(numbers)
        ],
    }


def _names(table: PriceTable) -> list[str]:
    """The names of the columns, without the words that all of them begin or end with."""
    names = [column.name.split(", ") for column in table.columns]
    while len({name[0] for name in names}) == 1 and min(map(len, names)) > 1:
        names = [name[1:] for name in names]
    while len({name[-1] for name in names}) == 1 and min(map(len, names)) > 1:
        names = [name[:-1] for name in names]
    return [", ".join(name) for name in names]


def _left_out(
    table: PriceTable,
    numbers: Sequence[int],
    shown: Mapping[Identifier, ShownImplementation],
) -> list[str]:
    """Sentences about the libraries without any figure in a table, with their reasons."""
    found = []
    for number, implementation in enumerate(table.implementations):
        if number not in numbers:
            notes = dict.fromkeys(column.cells[number].note or "" for column in table.columns)
            found.append(f"Without {shown[implementation].label}: {listed(list(notes))}.")
    return found


def _cell(cell: PriceCell, table: PriceTable) -> dict[str, Any]:
    """The visible part of a cell: its figure, and below it the loss or the segments."""
    if cell.value is None:
        return {"text": cell.text, "note": cell.note}
    made: dict[str, Any] = {"figure": cell.text}
    intervals = [cell.interval] if cell.interval and table.anchor in _WHOLE else []
    if cell.lost:
        made["ratio"], _, bracket = cell.lost.text.partition(" (")
        intervals += [f"loss {bracket.removesuffix(')')}"] if bracket else []
    elif cell.segments is not None:
        over = "" if cell.fits else ": over the window"
        made["ratio"] = f"{counted(cell.segments, 'segment')}{over}"
    if intervals:
        made["intervals"] = "; ".join(intervals)
    return made
