"""page.json: what the templates of a report read, arranged as they show it. It is not published.

Zola copies a file for each shortcode that loads it, and a part of it for each mention of the part.
So page.json has no more than pages show, with labels, colours and groups looked up here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from tlsperf.contract.layouts import LAYOUT_KINDS
from tlsperf.contract.record import Identifier
from tlsperf.contract.results import (
    Caveat,
    Cell,
    Noise,
    Results,
    Row,
    ShownImplementation,
    Table,
)
from tlsperf.contract.text import counted, listed
from tlsperf.contract.warnings import WEIGHTS
from tlsperf.load.shortcodes import Call
from tlsperf.report.charts.panels import short_names
from tlsperf.report.pivot import Group, pivot

MOST_FILES: Final = 12
"""Raw files of a run that a report's page lists."""

MOST_NOISE: Final = 170
"""Rows of a noise floor that a page shows."""

_FEW: Final = 5
"""Implementations of a table whose cells stand below each other on a phone, each with its label."""

_DENSE: Final = 4
"""Columns of a group beyond which its cells are narrow."""

_COLUMNS: Final = 8
"""Columns of figures that a page of 1050 pixels has room for, beside the names of the rows."""


_Shown = Mapping[Identifier, ShownImplementation]


def page_json(results: Results, notes: Sequence[Caveat] = (), calls: Sequence[Call] = ()) -> str:
    """The text of page.json. `notes` are all known; `calls` are the shortcodes of the page.

    It has the tables that shortcodes name; where they name none, all but those by phase.
    """
    shown = {i.id: i for i in results.implementations}
    named = {call.arguments.get("id") for call in calls if call.name == "table"}
    tables = [t for t in results.tables if t.anchor in named or not (named or t.by_phase)]
    other = {"schema_", "time", "comparisons", "tables", "noise", "headlines", "warnings"}
    page = results.model_dump(mode="json", by_alias=True, exclude_none=True, exclude=other)
    page["circumstances"] = _circumstances(results)
    page["said"] = _said(results)
    page["headlines"] = _headlines(results, shown)
    page["tables"] = {table.anchor: _table(table, shown) for table in tables}
    _say_once(page["tables"], calls)
    page["noise"] = [_noise(noise, results) for noise in results.noise]
    by_id = {note.id: note for note in notes}
    for note in page["notes"]:
        known = by_id[note["id"]]
        note |= {"title": known.title, "text": known.text}
        note["sources"] = [source.model_dump(mode="json") for source in known.sources]
    for run in page["runs"]:
        del run["warnings"]
        run["count"] = len(run["files"])
        if run["count"] > MOST_FILES:
            run["files"] = []
    for line in page["efficiency"]:
        if line["primitive_of"] != line["implementation"]:
            line["primitive"] += f" of {line['primitive_of']}"
        line["label"] = shown[line["implementation"]].label
    for mean in page["means"]:
        mean["label"] = shown[mean["implementation"]].label
        mean["against"] = shown[mean["baseline"]].label
        mean["ratio"] = mean["ratio"]["text"]
    text = json.dumps(page, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace('{"anchor":', '\n{"anchor":') + "\n"


def _circumstances(results: Results) -> str:
    """Where the figures were measured, and in how many rounds where all runs have as many."""
    hosts = (f"{h.cpu}{' (virtual machine)' if h.virtual else ''}" for h in results.hosts)
    rounds = {run.rounds for run in results.runs}
    of_all = rounds.pop() if len(rounds) == 1 else None
    return "; ".join(hosts) + (f", {counted(of_all, 'round')}" if of_all else "")


def _said(results: Results) -> dict[str, list[str]]:
    """The messages of warnings, each once, by their weight."""
    warnings = [*results.warnings, *(w for run in results.runs for w in run.warnings)]
    return {
        weight: list(dict.fromkeys(w.message for w in warnings if WEIGHTS[w.code] == weight))
        for weight in ("figures", "host")
    }


def _headlines(results: Results, shown: _Shown) -> list[dict[str, Any]]:
    return [
        {
            **headline.model_dump(mode="json", exclude={"bars"}),
            "bars": [
                {"colour": shown[bar.implementation].colour}
                | bar.model_dump(mode="json", include={"label", "text", "percent"})
                for bar in headline.bars
                if not bar.folded
            ],
            "others": sum(bar.folded for bar in headline.bars),
        }
        for headline in results.headlines
    ]


# --- tables --------------------------------------------------------------------------------------


def _table(table: Table, shown: _Shown) -> dict[str, Any]:
    """A table with its heads; each has a line where they are more than the scenarios."""
    ratios = [cell.ratio for row in table.rows for cell in row.cells if cell.ratio]
    notes = {ratio.note for ratio in ratios}
    shared = notes.pop() if len(notes) == 1 else None
    many = len(table.implementations) > _FEW
    kept = {"anchor", "title", "caption", "unit", "better", "interval_note", "warnings"}
    made = table.model_dump(mode="json", exclude_none=True, include=kept)
    turned = len(table.implementations) > min(len(table.rows), _COLUMNS)
    made |= {"many": many, "wide": many and turned}
    if shared:
        made["ratio_note"] = shared
    made["heads"] = [
        _head(shown[implementation], baseline=implementation == table.baseline)
        for implementation in table.implementations
    ]
    cells = [[_cell(cell, alike=shared is not None) for cell in row.cells] for row in table.rows]
    made["of_columns"] = _of_columns(cells, [shown[i].label for i in table.implementations])
    groups = pivot(table)
    if not many and not groups:
        for row in cells:
            for cell, implementation in zip(row, table.implementations, strict=True):
                cell["label"] = shown[implementation].label
    rows = [
        {"anchor": row.anchor, "name": row.name, "short": short}
        for row, short in zip(table.rows, short_names(table), strict=True)
    ]
    if groups:
        made["dense"] = len(groups[0].rows) > _DENSE
        made["groups"] = [_group(group, made["heads"], cells, table) for group in groups]
    elif made["wide"]:
        made["blocks"] = list(_blocks(rows, made["heads"], cells))
        if not table.harness:
            del made["heads"]
    else:
        made["rows"] = [row | {"cells": line} for row, line in zip(rows, cells, strict=True)]
    if table.harness:
        made["harness"] = table.harness_statement
        made["shares"] = [_shares(row, table) for row in table.rows]
    if table.layouts:
        made["layouts"] = _layouts(table, shown)
    return made


def _of_columns(cells: Sequence[Sequence[dict[str, Any]]], labels: Sequence[str]) -> list[str]:
    """The warnings that all figures of an implementation have, taken out of its cells."""
    found: dict[str, list[str]] = {}
    for label, column in zip(labels, zip(*cells, strict=True), strict=True):
        figures = [cell for cell in column if "value" in cell]
        texts = {"; ".join(cell.get("warnings", ())) for cell in figures}
        if len(figures) < 2 or len(texts) > 1 or not any(texts):
            continue
        for cell in figures:
            del cell["warnings"]
        found.setdefault(texts.pop(), []).append(label)
    return [f"{listed(of)}: {text}." for text, of in found.items()]


def _say_once(tables: dict[str, dict[str, Any]], calls: Sequence[Call]) -> None:
    """Leaves a sentence that several tables have only in the one that the page shows first."""
    called = [call.arguments.get("id", "") for call in calls if call.name == "table"]
    order = [anchor for anchor in dict.fromkeys([*called, *tables]) if anchor in tables]
    first: dict[str, dict[str, Any]] = {}
    said: set[str] = set()
    for table in map(tables.__getitem__, order):
        note = table.get("interval_note")
        if note in first:
            del table["interval_note"]
            table["intervals_of"] = {key: first[note][key] for key in ("anchor", "title")}
        elif note:
            first[note] = table
        of_columns = table.pop("of_columns")
        table["warnings"] += [text for text in of_columns if text not in said]
        said.update(of_columns)
        if "layouts" in table and "layouts" not in said:
            table["layouts"][0]["first"] = True
            said.add("layouts")


def _blocks(
    rows: Sequence[dict[str, Any]], heads: Sequence[dict[str, Any]], cells: Sequence[Sequence[Any]]
) -> Iterator[dict[str, Any]]:
    """A table that is turned, with a line for each head: as many tables as a page has room for."""
    count = -(-len(rows) // _COLUMNS)
    size = -(-len(rows) // count)
    for first in range(0, len(rows), size):
        lines = [
            head | {"cells": [row[n] for row in cells[first : first + size]]}
            for n, head in enumerate(heads)
        ]
        yield {"rows": rows[first : first + size], "lines": lines}


def _group(
    group: Group, heads: Sequence[dict[str, Any]], cells: Sequence[Sequence[Any]], table: Table
) -> dict[str, Any]:
    """A group of rows as columns, with a line for each implementation."""
    columns = [
        {"anchor": table.rows[at].anchor, "name": table.rows[at].name, "head": head}
        for at, head in zip(group.rows, group.heads, strict=True)
    ]
    lines = [
        {
            **head,
            "cells": [cells[at][n] for at in group.rows],
        }
        for n, head in enumerate(heads)
    ]
    return {"name": group.name, "columns": columns, "lines": lines}


def _head(implementation: ShownImplementation, *, baseline: bool) -> dict[str, Any]:
    head = {"label": implementation.label, "colour": implementation.colour}
    if implementation.provider:
        head["provider"] = implementation.provider
    return head | ({"baseline": True} if baseline else {})


def _cell(cell: Cell, *, alike: bool) -> dict[str, Any]:
    """What readers see of a cell; `alike`: the note of its ratio is said once, of all."""
    kept = {"value", "text", "note"}
    made = cell.model_dump(mode="json", exclude_none=True, include=kept)
    if not cell.valid:
        made["invalid"] = True
        made["note"] = f"not counted: {cell.note or 'no reason given'}"
    elif cell.best or cell.tied:
        made["mark"] = "best" if cell.best else "tied"
    intervals = [cell.interval] if cell.interval else []
    if cell.ratio:
        short, _, bracket = cell.ratio.text.partition(" (")
        made["ratio"] = short
        if cell.ratio.note and not alike:
            made["ratio"] += f" ({cell.ratio.note})"
        if bracket:
            intervals.append(f"ratio {bracket.removesuffix(')')}")
    if intervals:
        made["intervals"] = "; ".join(intervals)
    if cell.warnings:
        made["warnings"] = [
            warning.replace(" %", "\N{NO-BREAK SPACE}%") for warning in cell.warnings
        ]
    return made


def _shares(row: Row, table: Table) -> dict[str, Any]:
    """What of a transfer is the harness, by implementation."""
    of_row = {s.implementation: s.text for s in table.harness or () if s.anchor == row.anchor}
    texts = [of_row.get(implementation, "") for implementation in table.implementations]
    return {"anchor": row.anchor, "name": row.name, "texts": texts}


def _layouts(table: Table, shown: _Shown) -> list[dict[str, Any]]:
    """The layouts of each kind, by scenario."""
    texts = {"beyond", "text", "median_text", "same_text"}
    found: list[dict[str, Any]] = []
    for kind in LAYOUT_KINDS:
        rows: dict[Identifier, dict[str, Any]] = {}
        for effect in table.layouts or ():
            if effect.kind == kind:
                empty = {"anchor": effect.anchor, "name": effect.name, "effects": []}
                rows.setdefault(effect.anchor, empty)["effects"].append(
                    effect.model_dump(mode="json", include=texts)
                    | {"label": shown[effect.implementation].label, "count": len(effect.percents)}
                )
        if rows:
            found.append({"kind": kind, "rows": list(rows.values())})
    return found


def _noise(noise: Noise, results: Results) -> dict[str, Any]:
    """A noise floor; of many rows, and of pairs of sessions, without them."""
    kept = {"source", "run", "statement"}
    made = noise.model_dump(mode="json", include=kept)
    paired = noise.source in ("another layout", "other sessions")
    if noise.rows and (paired or len(noise.rows) > MOST_NOISE):
        return made | {"left_out": True}
    rows: dict[Identifier, dict[str, Any]] = {}
    order = [implementation.id for implementation in results.implementations]
    for row in noise.rows:
        empty = {"anchor": row.anchor, "name": row.name, "texts": [""] * len(order)}
        texts = rows.setdefault(row.anchor, empty)["texts"]
        texts[order.index(row.implementation)] += f"{row.ratio.text} "
    return made | {"rows": list(rows.values())}
