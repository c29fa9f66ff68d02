"""Sentences about a report's price list, for the shortcodes of its prose."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from tlsperf.contract.prices import WINDOW, Lost, PriceCell, PriceColumn, PriceTable
from tlsperf.contract.text import counted, listed, with_unit

if TYPE_CHECKING:
    from tlsperf.report.statements import Facts


def _table(facts: Facts) -> PriceTable:
    known = {table.anchor: table for table in facts.prices}
    if (anchor := facts.argument("table")) not in known:
        facts.fail(f"table {anchor!r}", f"one of {listed(list(known)) or 'a price list'}")
    return known[anchor]


def _column(facts: Facts) -> tuple[PriceTable, PriceColumn]:
    table = _table(facts)
    known = {column.id: column for column in table.columns}
    if (name := facts.argument("column")) not in known:
        facts.fail(f"column {name!r}", f"one of {listed(list(known))}")
    return table, known[name]


def _cell(facts: Facts) -> tuple[PriceTable, PriceCell]:
    table, column = _column(facts)
    implementation = facts.implementation()
    for cell in column.cells:
        if cell.implementation == implementation and cell.value is not None:
            return table, cell
    facts.fail(f"{implementation} in column {column.id!r}", "a cell with a figure")


def _with_figures(facts: Facts) -> tuple[PriceTable, list[PriceCell]]:
    table, column = _column(facts)
    found = [cell for cell in column.cells if cell.value is not None]
    if not found:
        facts.fail(f"column {column.id!r} of {table.anchor}", "a column with figures")
    return table, found


def price(facts: Facts) -> str:
    """A figure with its unit: `110.2 µs`, `11,344 bytes in 8 segments`."""
    table, cell = _cell(facts)
    text = with_unit(cell.text, table.unit)
    return text if cell.segments is None else f"{text} in {counted(cell.segments, 'segment')}"


def lost(facts: Facts) -> str:
    """What a library loses: `loses 31.2% of its handshakes (30.8 to 31.6%)`."""
    table, cell = _cell(facts)
    if cell.lost is None:
        facts.fail(f"the first column of {table.anchor}", "a column that is compared with it")
    head, bracket, interval = cell.lost.text.partition(" (")
    if cell.lost.verdict == "no difference shown":
        return f"shows no difference in its handshakes{bracket}{interval}"
    amount, _, rest = head.partition(" ")
    direction, comma, verdict = rest.partition(",")
    return f"{_VERBS[direction]} {amount} of its handshakes{bracket}{interval}{comma}{verdict}"


_VERBS: Final = {"lost": "loses", "gained": "gains"}


def losses(facts: Facts) -> str:
    """What all libraries lose: `loses from 12.1% (OpenSSL 3.6.3) to 45.0% (rustls …) of its
    handshakes, in 7 libraries`.
    """
    table, cells = _with_figures(facts)
    found = [(cell, cell.lost) for cell in cells if cell.lost is not None]
    if not found:
        facts.fail(f"column {facts.argument('column')!r} of {table.anchor}", "losses")
    found.sort(key=lambda each: each[1].percent)
    ends = [found[0], found[-1]] if len(found) > 1 else found
    verdicts = {of.verdict for _, of in found}
    count = _libraries(len(found))
    for verdict, verb in (("slower", "loses"), ("faster", "gains")):
        if verdicts == {verdict}:
            if verdict == "faster":
                ends.reverse()
            named = [f"{_amount(of)} ({facts.labels[c.implementation]})" for c, of in ends]
            return f"{verb} {_between(named)} of its handshakes, in {count}"
    named = [f"{_change(of)} ({facts.labels[c.implementation]})" for c, of in ends]
    return f"has its handshakes changed: {_between(named)}, in {count}"


def _amount(of: Lost) -> str:
    return of.text.partition(" ")[0]


def _change(of: Lost) -> str:
    return of.text.partition(" (")[0]


def _between(named: list[str]) -> str:
    return f"from {named[0]} to {named[1]}" if len(named) > 1 else named[0]


def _libraries(count: int) -> str:
    return "1 library" if count == 1 else f"{count} libraries"


def flights(facts: Facts) -> str:
    """The bytes and segments of a flight over all libraries, and whether it fits the window."""
    table, cells = _with_figures(facts)
    if table.kind != "flight":
        facts.fail(f"table {table.anchor!r}", "a table of flights")
    by_size = sorted(cells, key=lambda cell: cell.value or 0.0)
    texts = list(dict.fromkeys(cell.text for cell in (by_size[0], by_size[-1])))
    segments = sorted({cell.segments for cell in cells if cell.segments is not None})
    counts = list(dict.fromkeys(f"{of}" for of in (segments[0], segments[-1])))
    noun = "segment" if segments[-1] == 1 else "segments"
    text = (
        f"takes {_between(texts)} {table.unit} in {_between(counts)} TCP {noun}, and "
    )
    fits = sum(cell.fits is True for cell in cells)
    window = f"the initial window of {WINDOW}"
    if fits == 0:
        return f"{text}exceeds {window} in {_all(len(cells))}"
    where = _all(fits) if fits == len(cells) else f"{fits} of {_libraries(len(cells))}"
    return f"{text}fits {window} in {where}"


def _all(count: int) -> str:
    return "the 1 library" if count == 1 else f"all {count} libraries"


def absent(facts: Facts) -> str:
    """The libraries without a figure in a column, with their reasons."""
    _, column = _column(facts)
    reasons: dict[str, list[str]] = {}
    for cell in column.cells:
        if cell.value is None:
            reasons.setdefault(cell.note or "", []).append(facts.labels[cell.implementation])
    if not reasons:
        return "none"
    return "; ".join(f"{listed(labels)} ({reason})" for reason, labels in reasons.items())


KINDS: Final[Mapping[str, tuple[Callable[[Facts], str], tuple[str, ...]]]] = {
    "price": (price, ("table", "column", "implementation")),
    "lost": (lost, ("table", "column", "implementation")),
    "losses": (losses, ("table", "column")),
    "flights": (flights, ("table", "column")),
    "absent": (absent, ("table", "column")),
}
"""The function of each shortcode, and its arguments in the order of its key."""
