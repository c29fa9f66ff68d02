"""The figures and ratios that shortcodes print in a page's prose, from its results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NoReturn

from tlsperf.analysis.ratios import against_text
from tlsperf.contract.errors import FormatError, alternatives
from tlsperf.contract.record import Identifier
from tlsperf.contract.results import Quoted, Results, Row, Table
from tlsperf.contract.text import with_unit
from tlsperf.load.shortcodes import Call

SHORTCODES: Final = ("figure", "ratio")


def quoted(results: Results, calls: Sequence[Call]) -> list[Quoted]:
    """The text of each `figure` and `ratio`, once for equal calls.

    `7,565 MiB/s`, and `1.30x faster than OpenSSL 3.6.3 (1.28 to 1.31)`. Raises FormatError for a
    row or an implementation without such a figure.
    """
    named = {call.arguments.get("id") for call in calls if call.name == "table"}
    rows = {row.anchor: (table, row) for table in results.tables for row in table.rows}
    listed = {row.anchor for of in results.prices or () if of.anchor in named for row in of.rows}
    labels = {i.id: i.label for i in results.implementations}
    found: dict[str, Quoted] = {}
    for call in (call for call in calls if call.name in SHORTCODES):
        text = _text(call, rows, labels)
        anchor = call.arguments["row"]
        table, _ = rows[anchor]
        is_shown = (table.anchor in named if named else not table.by_phase) or anchor in listed
        key = f"{call.name}({anchor}, {call.arguments['implementation']})"
        found[key] = Quoted(key=key, text=text, place=f"#{anchor}" if is_shown else "results.csv")
    return list(found.values())


def _text(
    call: Call,
    rows: Mapping[Identifier, tuple[Table, Row]],
    labels: Mapping[Identifier, str],
) -> str:
    def fail(what: str, expected: str) -> NoReturn:
        raise FormatError(call.file, call.line, f"{call.name}() with {what}", expected)

    anchor, implementation = (call.arguments.get(k, "") for k in ("row", "implementation"))
    if anchor not in rows:
        fail(f"row {anchor!r}", alternatives(anchor, rows))
    table, row = rows[anchor]
    cells = {cell.implementation: cell for cell in row.cells if cell.value is not None}
    if implementation not in cells:
        fail(f"{implementation!r} in row {anchor!r}", alternatives(implementation, cells))
    text = with_unit(cells[implementation].text, table.unit)
    if call.name == "ratio":
        ratio = cells[implementation].ratio
        if ratio is None or table.baseline is None:
            fail(f"{implementation!r} in row {anchor!r}", "one with a ratio to the baseline")
        text = against_text(ratio, row.metric, labels[table.baseline])
    return text
