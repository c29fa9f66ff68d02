"""Tables of a page: the figures of all parts of a report, hosts side by side.

A cell has a ratio and a figure, both as readers see them; no template formats a number. Of counts
the figure is large, of rates and times the ratio.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tlsperf.contract.metrics import METRICS
from tlsperf.contract.record import Identifier
from tlsperf.contract.results import Cell, Ratio, Results, Row, ShownImplementation, Table
from tlsperf.contract.text import ABSENT, counted
from tlsperf.publish.footnotes import footnotes
from tlsperf.report.charts.panels import short_names
from tlsperf.report.hosts import first_cell, host_of_part, hosts_of
from tlsperf.report.prices import WINDOW

MOST_COLUMNS: Final = 14
"""A table with more columns of figures is turned: each implementation has a line."""

SHORT: Final = 10_000
"""A count below it is as easy to read as a factor."""

DENSE_COLUMNS: Final = 8
"""A table with more columns of figures has narrow ones."""

TURNED_COLUMNS: Final = 8
"""Limit of the columns of figures of a turned table, beside the names of the implementations."""

_IN_FLIGHT: Final = re.compile(r", \d+ [KM]iB in flight")
_BETWEEN_SENTENCES: Final = re.compile(r"(?<=\.) (?=[A-Z])")
_SIZE: Final = re.compile(r"([0-9,.]+)(%|x)")
_MARKS: Final = {"faster": "better", "slower": "worse", "no difference shown": "same"}


@dataclass(frozen=True)
class _OfHost:
    """A host, and its tables in the order of the parts."""

    name: str
    tables: Sequence[tuple[Results, Table]]

    def rows(self, anchor: Identifier) -> Iterator[tuple[Table, Row]]:
        """A row in each table that has it."""
        for _, table in self.tables:
            yield from ((table, row) for row in table.rows if row.anchor == anchor)


def tables_of(part: Results) -> list[Table]:
    """The tables of a part that pages can show, with its price list."""
    return [*part.tables, *(part.prices or ())]


def side_by_side(
    parts: Sequence[Results],
    anchor: Identifier,
    rows: Sequence[Identifier] = (),
    own: Collection[Identifier] = (),
) -> dict[str, Any]:
    """The table `anchor` of all parts that have it, for templates.

    Of two parts of one host the first that has a figure stands. An implementation without any is
    named below the table, as is a part whose ratios, unit or kind are others, unless a part of that
    kind is one of `own`, which begin other tables of it on the page. `rows` chooses among those of
    the table, in this order; absent: all. Raises KeyError if no part has it.
    """
    having = [
        (part, table) for part in parts for table in tables_of(part) if table.anchor == anchor
    ]
    if not having:
        raise KeyError(anchor)
    _, first = having[0]
    alike = [(part, table) for part, table in having if _kind(table) == _kind(first)]
    names = hosts_of(part for part, _ in having)
    hosts = [
        _OfHost(names[host], [(part, table) for part, table in alike if host_of_part(part) == host])
        for host in dict.fromkeys(host_of_part(part) for part, _ in alike)
    ]
    shown = {i.id: i for part, _ in alike for i in part.implementations}
    named = dict.fromkeys(i for _, table in alike for i in table.implementations)
    known = {row.anchor: row for _, table in reversed(alike) for row in table.rows}
    order = dict.fromkeys(row.anchor for _, table in alike for row in table.rows)
    chosen = [known[row] for row in rows or order if row in known]
    anchors = {row.anchor for row in chosen}
    cells = [c for _, t in alike for row in t.rows if row.anchor in anchors for c in row.cells]
    figured = {cell.implementation for cell in cells if cell.value is not None}
    of = [i for i in named if i in figured] or list(named)
    why = {i: next((c.note for c in cells if c.implementation == i and c.note), "") for i in named}
    without = {shown[i].label: why[i] for i in named if i not in of}
    made = _Made(hosts, [shown[i] for i in of], chosen, first, [t for _, t in alike]).table()
    made["notes"] += [f"{label}: {note or 'no figures'}." for label, note in without.items()]
    begun = {_kind(table) for part, table in having if part.id in own} | {_kind(first)}
    made["notes"] += [
        f"Also measured on {names[host_of_part(part)]}, {_apart(part, table, first)}: "
        "see results.csv."
        for part, table in having
        if _kind(table) not in begun
    ]
    return made


def _kind(table: Table) -> tuple[Identifier | None, str, bool]:
    """What tables have in common that stand side by side."""
    return table.baseline, table.unit, table.compares_rows


def _apart(part: Results, table: Table, first: Table) -> str:
    """Why a table does not stand beside the first one."""
    if table.unit != first.unit:
        return f"in {table.unit}"
    labels = {i.id: i.label for i in part.implementations}
    return f"with ratios to {labels[table.baseline]}" if table.baseline else "without these ratios"


@dataclass(frozen=True)
class _Made:
    hosts: Sequence[_OfHost]
    implementations: Sequence[ShownImplementation]
    rows: Sequence[Row]
    first: Table
    tables: Sequence[Table]

    def table(self) -> dict[str, Any]:
        """The texts of the table, by rows or turned."""
        first = self.first
        baselines = {table.baseline for table in self.tables}
        baseline = baselines.pop() if len(baselines) == 1 else None
        columns = len(self.implementations) * len(self.hosts)
        turned = first.compares_rows or (columns > MOST_COLUMNS and len(self.implementations) > 2)
        cells = [
            [[self._cell(host, row, of.id) for host in self.hosts] for of in self.implementations]
            for row in self.rows
        ]
        flat = [cell for row in cells for of in row for cell in of]
        notes = footnotes(flat)
        heads = [
            {"label": i.label, "colour": i.colour}
            | ({"baseline": True} if i.id == baseline else {})
            for i in self.implementations
        ]
        merged = first.model_copy(update={"rows": list(self.rows)})
        rows = [
            {"anchor": row.anchor, "name": row.name, "short": short}
            for row, short in zip(
                self.rows, _without_shared(short_names(merged), first.title), strict=True
            )
        ]
        label = next((i.label for i in self.implementations if i.id == baseline), None)
        made: dict[str, Any] = {
            "anchor": first.anchor,
            "title": first.title,
            "unit": first.unit,
            "better": first.better,
            "hosts": [host.name for host in self.hosts],
            "dense": columns > DENSE_COLUMNS and not turned,
            "heads": heads,
            "notes": notes,
            "made": self._captions(),
            "marks": sorted({cell["mark"] for cell in flat if "mark" in cell}),
        }
        if first.compares_rows:
            made["change"] = "the rate" if _is_shown(first) else first.unit
            made["against"] = self._against()
        elif label:
            made["baseline"] = label
        if turned:
            size = max(1, TURNED_COLUMNS // len(self.hosts))
            count = -(-len(rows) // size)
            size = -(-len(rows) // count)
            made["blocks"] = [
                {
                    "rows": rows[at : at + size],
                    "lines": [
                        head | {"cells": [row[n] for row in cells[at : at + size]]}
                        for n, head in enumerate(heads)
                    ],
                }
                for at in range(0, len(rows), size)
            ]
        else:
            made["rows"] = [row | {"cells": line} for row, line in zip(rows, cells, strict=True)]
        return made

    def _against(self) -> str:
        """What the rows are compared with: the one row of all, or each its own."""
        names = {row.anchor: row.name for table in self.tables for row in table.rows}
        compared = {row.against for row in self.rows if row.against}
        if len(compared) == 1 and (name := names.get(compared.pop() or "")):
            return name
        return "the nearest column on its left without a change"

    def _cell(self, host: _OfHost, row: Row, implementation: Identifier) -> dict[str, Any]:
        found = first_cell(host.rows(row.anchor), implementation)
        if found is None:
            return {"text": ABSENT}
        table, of, cell = found
        return cell_texts(of, cell, table)

    def _captions(self) -> list[dict[str, Any]]:
        """How the figures of each part were made, in sentences."""
        return [
            {"host": host.name, "run": part.id, "said": _sentences(table)}
            for host in self.hosts
            for part, table in host.tables
        ]


def _sentences(table: Table) -> list[str]:
    texts = [table.caption, table.interval_note, *table.warnings, table.harness_statement]
    return [of for text in texts if text for of in _BETWEEN_SENTENCES.split(text)]


def _without_shared(names: Sequence[str], title: str) -> list[str]:
    """The names without the title of the table and the bytes in flight, if all have the same."""
    if all(name.startswith(f"{title}, ") for name in names):
        names = [name.removeprefix(f"{title}, ") for name in names]
    sizes = {found[0] if (found := _IN_FLIGHT.search(name)) else "" for name in names}
    shared = sizes.pop() if len(sizes) == 1 else ""
    return [name.replace(shared, "") for name in names] if shared else list(names)


def cell_texts(row: Row, cell: Cell, table: Table) -> dict[str, Any]:
    """The visible part of a cell: `figure`, or `text` if there is none; `ratio` with its `mark`
    (better, worse, same), `large` if the ratio stands first, `intervals`, notes and warnings.
    """
    made: dict[str, Any] = {}
    if cell.note:
        made["note"] = cell.note
    made["text" if cell.value is None else "figure"] = cell.text
    if not cell.valid:
        made |= {"invalid": True, "note": f"not counted: {cell.note or 'no reason given'}"}
    intervals = [cell.interval] if cell.interval and cell.low != cell.high else []
    if cell.ratio:
        made |= ratio_texts(cell.ratio, table)
        if METRICS[row.metric].is_count and (cell.value or 0) < SHORT and "mark" in made:
            del made["ratio"]  # 26 beside 338 says more than 13×
        if not METRICS[row.metric].is_count:
            made["large"] = True
        low, high = cell.ratio.low, cell.ratio.high
        if low and high and low != high and made.get("mark") != "same":
            intervals.append(_interval_text(low, high, table))
    if cell.segments:
        over = ": over the window" if cell.segments > WINDOW else ""
        made["ratio"] = f"{counted(cell.segments, 'segment')}{over}"
    if intervals:
        made["intervals"] = "; ".join(intervals)
    if cell.warnings:
        made["warnings"] = list(cell.warnings)
    return made


def ratio_texts(ratio: Ratio, table: Table) -> dict[str, str]:
    """The text of a ratio in a cell, and its mark if it was tested.

    Above 1 is better, as in pictures: 2× of a time is half of it. In a table that compares rows it is
    the change in %, of a time that of its rate: in 20% more time a sixth fewer are made. `= 7%`: no
    difference shown, 7% would have shown.
    """
    mark = _MARKS.get(ratio.verdict)
    if mark == "same":
        size = _SIZE.search(ratio.text)
        return {"mark": mark, "ratio": f"= {size[1]}{size[2].replace('x', '×')}" if size else "="}
    value = ratio.value if _is_shown(table) else 1 / ratio.value
    text = change_text(value) if table.compares_rows else f"{_factor(value)}×"
    return {"ratio": text} | ({"mark": mark} if mark else {})


def _is_shown(table: Table) -> bool:
    """Whether a table shows its ratios as they are: not in one that compares bytes or counts."""
    is_time = all(METRICS[row.metric].is_time for row in table.rows)
    return not table.compares_rows or table.better == "higher" or is_time


def _interval_text(low: float, high: float, table: Table) -> str:
    """The interval of a ratio, as that is shown."""
    ends = (low, high) if _is_shown(table) else (1 / high, 1 / low)
    shown = [change_text(of) if table.compares_rows else _factor(of) for of in ends]
    return f"{'change' if table.compares_rows else 'ratio'} {' to '.join(shown)}"


def _factor(value: float) -> str:
    """Three digits of a small number, two decimals near 1."""
    if value < 0.1:
        return f"{value:.3f}"
    return f"{value:.2f}" if value < 10 else f"{value:,.1f}" if value < 100 else f"{value:,.0f}"


def change_text(value: float) -> str:
    """A ratio as a change: −18%, +1.5%."""
    percent = 100 * (value - 1)
    digits = 1 if abs(percent) < 10 else 0
    sign = "\N{MINUS SIGN}" if percent < 0 else "+"
    return f"{sign}{abs(percent):,.{digits}f}%"


def rows_of(tables: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The rows of tables of a page."""
    for table in tables.values():
        for block in table.get("blocks", [table]):
            yield from block["rows"]
