"""The figures and ratios that shortcodes print in a page's prose, from its results."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Final, NoReturn

from tlsperf.analysis.ratios import against_text
from tlsperf.contract.errors import FormatError, alternatives
from tlsperf.contract.record import Identifier
from tlsperf.contract.results import Quoted, Results, Row, Table
from tlsperf.contract.text import with_unit
from tlsperf.load.shortcodes import Call

SHORTCODES: Final = ("figure", "ratio")

DOWNLOADS: Final = "reproduce"
"""The part of a page that links all figures."""


def quoted(
    parts: Sequence[Results], calls: Sequence[Call], on_page: Container[Identifier] = ()
) -> list[Quoted]:
    """The text of each `figure` and `ratio`, once for equal calls, of the first part that has it.

    `7,565 MiB/s`, and `1.30x faster than OpenSSL 3.6.3 (1.28 to 1.31)`. It links the row if it is
    `on_page`, or else
    the downloads. Raises FormatError for a row or an implementation without such
    a figure.
    """
    rows: dict[Identifier, list[tuple[Table, Row]]] = {}
    for table in (table for results in parts for table in results.tables):
        for row in table.rows:
            rows.setdefault(row.anchor, []).append((table, row))
    labels = {i.id: i.label for results in parts for i in results.implementations}
    found: dict[str, Quoted] = {}
    for call in (call for call in calls if call.name in SHORTCODES):
        text = _text(call, rows, labels)
        anchor = call.arguments["row"]
        key = f"{call.name}({anchor}, {call.arguments['implementation']})"
        found[key] = Quoted(
            key=key, text=text, place=f"#{anchor if anchor in on_page else DOWNLOADS}"
        )
    return list(found.values())


def _text(
    call: Call,
    rows: Mapping[Identifier, Sequence[tuple[Table, Row]]],
    labels: Mapping[Identifier, str],
) -> str:
    def fail(what: str, expected: str) -> NoReturn:
        raise FormatError(call.file, call.line, f"{call.name}() with {what}", expected)

    anchor, implementation = (call.arguments.get(k, "") for k in ("row", "implementation"))
    if anchor not in rows:
        fail(f"row {anchor!r}", alternatives(anchor, rows))
    found = [
        (cell, table, row)
        for table, row in rows[anchor]
        for cell in row.cells
        if cell.implementation == implementation and cell.value is not None
    ]
    if not found:
        cells = [c for _, row in rows[anchor] for c in row.cells if c.value is not None]
        known = alternatives(implementation, [cell.implementation for cell in cells])
        fail(f"{implementation!r} in row {anchor!r}", known)
    if call.name == "figure":
        cell, table, _ = found[0]
        return with_unit(cell.text, table.unit)
    for cell, table, row in found:
        if cell.ratio is not None and table.baseline is not None:
            return against_text(cell.ratio, row.metric, labels[table.baseline])
    return fail(f"{implementation!r} in row {anchor!r}", "one with a ratio to the baseline")
