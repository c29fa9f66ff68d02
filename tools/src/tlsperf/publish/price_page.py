"""The price list in page.json: a line for each library, in the arrangement of the page."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from tlsperf.contract.prices import PriceCell, PriceTable
from tlsperf.contract.record import Identifier
from tlsperf.contract.results import ShownImplementation
from tlsperf.contract.text import counted
from tlsperf.load.shortcodes import Call
from tlsperf.publish.footnotes import footnotes


def price_page(
    tables: Sequence[PriceTable],
    shown: Mapping[Identifier, ShownImplementation],
    calls: Sequence[Call],
    rows: Collection[Identifier],
) -> dict[str, Any]:
    """The tables that shortcodes name, by anchor, in their order; all if they name none.

    A column has the anchor of its row, if no table of the page has that row (`rows`) and no price
    list before it: an id is unique.
    """
    by_anchor = {table.anchor: table for table in tables}
    named = [call.arguments.get("id", "") for call in calls if call.name == "prices"]
    order = [anchor for anchor in dict.fromkeys(named or by_anchor) if anchor in by_anchor]
    found: dict[str, Any] = {}
    anchored = set(rows)
    for table in map(by_anchor.__getitem__, order):
        found[table.anchor] = _table(table, shown, anchored)
        anchored.update(column.row for column in table.columns)
    return found


def _table(
    table: PriceTable,
    shown: Mapping[Identifier, ShownImplementation],
    anchored: Collection[Identifier],
) -> dict[str, Any]:
    """A table; `anchored` are the rows whose anchors the page has in another one."""
    columns = [[_cell(cell) for cell in column.cells] for column in table.columns]
    notes = footnotes(columns)
    return {
        "anchor": table.anchor,
        "title": table.title,
        "caption": " ".join([table.caption, *notes]),
        "unit": table.unit,
        "timed": table.kind == "time",
        "heads": [
            {"name": column.name} | ({} if column.row in anchored else {"id": column.row})
            for column in table.columns
        ],
        "lines": [
            {
                "label": shown[implementation].label,
                "colour": shown[implementation].colour,
                "cells": [column[number] for column in columns],
            }
            for number, implementation in enumerate(table.implementations)
        ],
    }


def _cell(cell: PriceCell) -> dict[str, Any]:
    """The visible part of a cell: its figure, and below it the loss or the segments."""
    if cell.value is None:
        return {"text": cell.text, "note": cell.note}
    made: dict[str, Any] = {"figure": cell.text}
    intervals = [cell.interval] if cell.interval else []
    if cell.lost:
        made["ratio"], _, bracket = cell.lost.text.partition(" (")
        intervals += [f"handshakes {bracket.removesuffix(')')}"] if bracket else []
    elif cell.segments is not None:
        over = "" if cell.fits else ": over the window"
        made["ratio"] = f"{counted(cell.segments, 'segment')}{over}"
    if intervals:
        made["intervals"] = "; ".join(intervals)
    return made
