"""page.json: the data that a report's templates read, in the arrangement of the page.

Zola copies a file for each shortcode that loads it, and a part of it for each mention of the part.
So page.json has only what pages show, with labels, colours and groups resolved. It is not
published.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from tlsperf.contract.libraries import NAMES
from tlsperf.contract.record import Identifier
from tlsperf.contract.results import (
    LAYOUT_KINDS,
    Caveat,
    Cell,
    LayoutKind,
    Noise,
    Results,
    Row,
    ShownImplementation,
    Table,
)
from tlsperf.contract.text import counted, host_label, listed, span_text
from tlsperf.contract.warnings import ABOUT_HOST
from tlsperf.load.shortcodes import Call
from tlsperf.publish.footnotes import footnotes
from tlsperf.publish.lines import ratio_note
from tlsperf.publish.sheets import of_pairs
from tlsperf.report.charts.panels import short_names
from tlsperf.report.pivot import Group, pivot, working_sets
from tlsperf.report.prices import WINDOW

MOST_FILES: Final = 12
"""Limit of the raw files that a report's page lists. If there are more, /data/ lists them."""

MOST_NOISE: Final = 48
"""Limit of the figures of noise floors on a page: three libraries in sixteen scenarios."""

MOST_SHARES: Final = 12
"""Limit of the shares of harness and transport on a page: three libraries."""

_FEW: Final = 5
"""Up to this number of implementations, a phone shows a row's cells below each other, each with its
label.
"""

_DENSE: Final = 4
"""A group with more columns than this has narrow cells."""

_COLUMNS: Final = 8
"""Limit of the columns of figures on a page of 1050 pixels, beside the names of the rows."""


_FACTS: Final = (
    *("rust_compiler", "c_compiler", "flags", "allocator", "cpu_mask", "linkage", "source", "note"),
)
"""Facts of a build that several builds may share."""

_Shown = Mapping[Identifier, ShownImplementation]


def page_json(results: Results, notes: Sequence[Caveat] = (), calls: Sequence[Call] = ()) -> str:
    """The text of page.json. `notes` are all caveats; `calls` are the shortcodes of the page.

    It has the tables that shortcodes name; if they name none, all tables except those by phase.
    """
    shown = {i.id: i for i in results.implementations}
    named = {call.arguments.get("id") for call in calls if call.name == "table"}
    every = [*results.tables, *(results.prices or ())]
    tables = [t for t in every if t.anchor in named or not (named or t.by_phase)]
    other = {"schema_", "time", "comparisons", "tables", "prices", "noise", "headlines", "warnings"}
    page = results.model_dump(mode="json", by_alias=True, exclude_none=True, exclude=other)
    page["circumstances"] = _circumstances(results)
    page["said"] = _said(results)
    page["headlines"] = _headlines(results, shown)
    large = {headline.anchor for headline in results.headlines}
    page["headline_notes"] = of_pairs(
        table for table in results.tables if large & {row.anchor for row in table.rows}
    )
    exact = any(run.source for run in results.runs)
    page["tables"] = {table.anchor: _table(table, shown, exact=exact) for table in tables}
    order = _order(page["tables"], calls)
    _say_once(page["tables"], order)
    _anchor_once(page["tables"], order, results)
    noisy = sum(len(noise.rows) for noise in results.noise if noise.source != "another layout")
    page["noise"] = [_noise(noise, results, few=noisy <= MOST_NOISE) for noise in results.noise]
    by_id = {note.id: note for note in notes}
    for note in page["notes"]:
        known = by_id[note["id"]]
        note |= {"title": known.title, "text": known.text}
        note["sources"] = [source.model_dump(mode="json") for source in known.sources]
    files = sum(len(run["files"]) for run in page["runs"])
    for run in page["runs"]:
        del run["warnings"]
        run["count"] = len(run["files"])
        if files > MOST_FILES:
            run["files"] = []
    page["shared"] = _shared(page["implementations"], results.implementations)
    for line in page.get("sockets", ()):
        line["label"] = shown[line["implementation"]].label
    text = json.dumps(page, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace('{"anchor":', '\n{"anchor":') + "\n"


def _circumstances(results: Results) -> str:
    """Where the figures were measured, and the number of rounds if it is the same for all runs."""
    rounds = {run.rounds for run in results.runs}
    of_all = rounds.pop() if len(rounds) == 1 else None
    return "; ".join(map(host_label, results.hosts)) + (
        f", {counted(of_all, 'round')}" if of_all else ""
    )


def _said(results: Results) -> dict[str, list[str]]:
    """The messages of warnings about figures and about hosts, each once."""
    warnings = [*results.warnings, *(w for run in results.runs for w in run.warnings)]
    return {
        about: list(
            dict.fromkeys(
                w.message for w in warnings if (w.code in ABOUT_HOST) == (about == "host")
            )
        )
        for about in ("figures", "host")
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


def _shared(
    facts: Sequence[dict[str, Any]], implementations: Sequence[ShownImplementation]
) -> list[dict[str, Any]]:
    """Facts that all builds share, or all of a library; they are removed from `facts`."""
    ids = [i.id for i in implementations]
    groups = {"All builds": ids}
    for library in dict.fromkeys(i.library for i in implementations):
        builds = [i.id for i in implementations if i.library == library]
        groups[f"All of {NAMES[library]}"] = builds
    found = []
    for title, members in groups.items():
        own = [of for of in facts if of["id"] in members]
        alike = {
            field: value
            for field in _FACTS
            if (value := own[0].get(field)) and all(of.get(field) == value for of in own)
        }
        if len(own) < 2 or not alike:
            continue
        for build in own:
            for field in alike:
                del build[field]
        found.append({"title": title, "facts": alike})
    return found


# --- tables --------------------------------------------------------------------------------------


def _table(table: Table, shown: _Shown, *, exact: bool) -> dict[str, Any]:
    """A table with its heads; it is turned if it has more implementations than scenarios, and if
    its rows are compared.

    `exact`: its figures were published elsewhere, and the page has their exact text.
    """
    shared = ratio_note(table)
    many = table.compares_rows or len(table.implementations) > _FEW
    kept = {"anchor", "title", "caption", "unit", "better", "interval_note", "warnings"}
    made = table.model_dump(mode="json", exclude_none=True, include=kept)
    turned = table.compares_rows or len(table.implementations) > min(len(table.rows), _COLUMNS)
    made |= {"many": many, "wide": many and turned}
    if shared:
        made["ratio_note"] = shared
    made["heads"] = [
        _head(shown[implementation], baseline=implementation == table.baseline)
        for implementation in table.implementations
    ]
    alike = shared is not None
    cells = [[_cell(cell, alike=alike, exact=exact) for cell in row.cells] for row in table.rows]
    made["of_columns"] = _of_columns(cells, [shown[i].label for i in table.implementations])
    made["warnings"] += footnotes(cells, often=1) if table.compares_rows else footnotes(cells)
    groups = pivot(table)
    if not many and not groups:
        for row in cells:
            for cell, implementation in zip(row, table.implementations, strict=True):
                cell["label"] = shown[implementation].label
    rows = [
        {"anchor": row.anchor, "name": row.name, "short": short}
        for row, short in zip(table.rows, short_names(table), strict=True)
    ]
    if made["wide"] and not groups:
        _say_common_words(made, rows)
    if groups:
        made["dense"] = len(groups[0].rows) > _DENSE
        made["groups"] = [_group(group, made["heads"], cells, table) for group in groups]
    elif made["wide"]:
        made["blocks"] = list(_blocks(rows, made["heads"], cells))
        if not table.harness:
            del made["heads"]
    else:
        lines = [row | {"cells": line} for row, line in zip(rows, cells, strict=True)]
        made["sets"] = _sets(table, lines)
    if table.harness:
        made["harness"] = table.harness_statement
        if len(table.harness) <= MOST_SHARES:
            made["shares"] = [_shares(row, table) for row in table.rows]
    if table.layouts:
        made["layouts"] = _layouts(table, shown)
    return made


def _say_common_words(made: dict[str, Any], rows: Sequence[dict[str, Any]]) -> None:
    """Moves the words that all heads of columns begin or end with into the caption."""
    names = [row["short"].split(", ") for row in rows]
    most = min(map(len, names)) - 1
    first = _in_common(names, most)
    last = _in_common([name[::-1] for name in names], most - first)
    common = [*names[0][:first], *names[0][len(names[0]) - last :]]
    if common and len(names) > 1:
        made["caption"] += f" Every column is of {', '.join(common)}."
        for row, name in zip(rows, names, strict=True):
            row["short"] = ", ".join(name[first : len(name) - last])


def _in_common(names: Sequence[Sequence[str]], most: int) -> int:
    """How many first words all names have, up to `most`."""
    return max(n for n in range(most + 1) if all(name[:n] == names[0][:n] for name in names))


def _of_columns(cells: Sequence[Sequence[dict[str, Any]]], labels: Sequence[str]) -> list[str]:
    """Warnings that all figures of an implementation share; they are removed from its cells."""
    found: dict[str, list[str]] = {}
    for label, column in zip(labels, zip(*cells, strict=True), strict=True):
        figures = [cell for cell in column if "figure" in cell]
        texts = {"; ".join(cell.get("warnings", ())) for cell in figures}
        if len(figures) < 2 or len(texts) > 1 or not any(texts):
            continue
        for cell in figures:
            del cell["warnings"]
        found.setdefault(texts.pop(), []).append(label)
    return [f"{listed(of)}: {text}." for text, of in found.items()]


def _order(tables: Mapping[str, Any], calls: Sequence[Call]) -> list[str]:
    """The tables in the order of the page."""
    called = [call.arguments.get("id", "") for call in calls if call.name == "table"]
    return [anchor for anchor in dict.fromkeys([*called, *tables]) if anchor in tables]


def _say_once(tables: Mapping[str, dict[str, Any]], order: Sequence[str]) -> None:
    """Keeps a sentence that several tables have only in the table that the page shows first."""
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
            table["layouts"]["first"] = True
            said.add("layouts")


def _anchor_once(
    tables: Mapping[str, dict[str, Any]], order: Sequence[str], results: Results
) -> None:
    """Marks the columns of price lists whose row has its anchor in another table of the page.

    All get the unit of that row: the page of its scenario has figures of that unit.
    """
    units = {row.anchor: table.unit for table in results.tables for row in table.rows}
    shown = {row.anchor for table in results.tables if table.anchor in tables for row in table.rows}
    prices = {table.anchor for table in results.prices or ()}
    for table in (tables[anchor] for anchor in order if anchor in prices):
        for row in (row for block in table["blocks"] for row in block["rows"]):
            row["unit"] = units[row["anchor"]]
            if row["anchor"] in shown:
                row["again"] = True
            shown.add(row["anchor"])


def _blocks(
    rows: Sequence[dict[str, Any]], heads: Sequence[dict[str, Any]], cells: Sequence[Sequence[Any]]
) -> Iterator[dict[str, Any]]:
    """A turned table, with a line for each head, divided into tables that fit on a page."""
    count = -(-len(rows) // _COLUMNS)
    size = -(-len(rows) // count)
    for first in range(0, len(rows), size):
        lines = [
            head | {"cells": [row[n] for row in cells[first : first + size]]}
            for n, head in enumerate(heads)
        ]
        yield {"rows": rows[first : first + size], "lines": lines}


def _sets(table: Table, lines: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of a table as a page shows them: all, or those of working sets by scenario."""
    groups = working_sets(table)
    if groups is None:
        return [{"rows": lines}]
    return [
        {
            "name": group.name,
            "rows": [
                lines[at] | {"short": head}
                for at, head in zip(group.rows, group.heads, strict=True)
            ],
        }
        for group in groups
    ]


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


def _cell(cell: Cell, *, alike: bool, exact: bool) -> dict[str, Any]:
    """The visible part of a cell. `alike`: the table shows the note of its ratio once.

    A figure has its text as `figure`; a single one that was published elsewhere also has its value.
    A range from a number to itself is left out; counts that are equal in all rounds are *equal*.
    """
    kept = {"note", "value"} if exact and cell.low is None else {"note"}
    made = cell.model_dump(mode="json", exclude_none=True, include=kept)
    made["text" if cell.value is None else "figure"] = cell.text
    if not cell.valid:
        made["invalid"] = True
        made["note"] = f"not counted: {cell.note or 'no reason given'}"
    elif cell.best or cell.tied:
        made["mark"] = "best" if cell.best else "tied"
    intervals = [cell.interval] if cell.interval and cell.low != cell.high else []
    if cell.ratio:
        same = cell.ratio.verdict == "no difference shown"  # with the size that would show
        short, _, bracket = (cell.ratio.text, "", "") if same else cell.ratio.text.partition(" (")
        made["ratio"] = "equal" if cell.ratio.low == cell.ratio.high == 1 else short
        if cell.ratio.note and not alike:
            made["ratio"] += f" ({cell.ratio.note})"
        if bracket and cell.ratio.low != cell.ratio.high:
            word = "loss" if "%" in bracket else "ratio"
            intervals.append(f"{word} {bracket.removesuffix(')')}")
    if cell.segments:
        over = ": over the window" if cell.segments > WINDOW else ""
        made["ratio"] = f"{counted(cell.segments, 'segment')}{over}"
    if intervals:
        made["intervals"] = "; ".join(intervals)
    if cell.warnings:
        made["warnings"] = [
            warning.replace(" %", "\N{NO-BREAK SPACE}%") for warning in cell.warnings
        ]
    return made


def _shares(row: Row, table: Table) -> dict[str, Any]:
    """The harness' share of a transfer, by implementation."""
    of_row = {s.implementation: s.text for s in table.harness or () if s.anchor == row.anchor}
    texts = [of_row.get(implementation, "") for implementation in table.implementations]
    return {"anchor": row.anchor, "name": row.name, "texts": texts}


def _layouts(table: Table, shown: _Shown) -> dict[str, Any]:
    """The layouts of each kind over all rows: a line for each implementation."""
    effects = table.layouts or ()
    kinds = [kind for kind in LAYOUT_KINDS if any(effect.kind == kind for effect in effects)]
    lines = [
        {
            "label": shown[implementation].label,
            "colour": shown[implementation].colour,
            "cells": [_over_rows(table, implementation, kind) for kind in kinds],
        }
        for implementation in table.implementations
        if any(effect.implementation == implementation for effect in effects)
    ]
    return {"kinds": kinds, "lines": lines}


def _over_rows(table: Table, implementation: Identifier, kind: LayoutKind) -> dict[str, Any]:
    """The lowest and highest effect of one program's layouts, and how many are beyond A/A."""
    effects = [
        effect
        for effect in table.layouts or ()
        if effect.implementation == implementation and effect.kind == kind
    ]
    percents = [percent for effect in effects for percent in effect.percents]
    if not percents:
        return {}
    beyond = sum(effect.beyond for effect in effects)
    return {"text": span_text(percents), "beyond": beyond, "count": len(percents)}


def _noise(noise: Noise, results: Results, *, few: bool) -> dict[str, Any]:
    """A noise floor; without rows if they are many, or if they are pairs of sessions."""
    kept = {"source", "run", "statement"}
    made = noise.model_dump(mode="json", include=kept)
    if noise.rows and (noise.source == "another layout" or not few):
        return made | {"left_out": True}
    rows: dict[Identifier, dict[str, Any]] = {}
    order = [implementation.id for implementation in results.implementations]
    for row in noise.rows:
        empty = {"anchor": row.anchor, "name": row.name, "texts": [""] * len(order)}
        texts = rows.setdefault(row.anchor, empty)["texts"]
        texts[order.index(row.implementation)] += f"{row.ratio.text} "
    return made | {"rows": list(rows.values())}
