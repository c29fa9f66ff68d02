"""Sentences about a report's price list, for the shortcodes of its prose."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from tlsperf.contract.prices import WINDOW, Lost, PriceCell, PriceColumn, PriceTable
from tlsperf.contract.text import counted, listed, with_unit
from tlsperf.contract.verdict import Verdict

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
    found = [cell for cell in column.cells if cell.implementation == implementation]
    if not found or found[0].value is None:
        facts.fail(f"{implementation} in column {column.id!r}", "a cell with a figure")
    return table, found[0]


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
    """What all libraries lose, by verdict: `loses from 12.1% (OpenSSL 3.6.3) to 45.0% (rustls …) of
    its handshakes in 5 of 6 libraries, and shows no difference in 1`.
    """
    table, cells = _with_figures(facts)
    found = [(cell, cell.lost) for cell in cells if cell.lost is not None]
    if not found:
        facts.fail(f"column {facts.argument('column')!r} of {table.anchor}", "losses")
    parts: list[str] = []
    for verdict, verb in _BY_VERDICT.items():
        of = [
            (facts.labels[c.implementation], lost) for c, lost in found if lost.verdict == verdict
        ]
        if of:
            total = "" if parts else f" of {counted_libraries(len(found))}"
            parts.append(_by_verdict(verb, of, total if len(of) < len(found) else None))
    return ", and ".join(parts)


_BY_VERDICT: Final[Mapping[Verdict, str]] = {
    "slower": "loses",
    "faster": "gains",
    "no difference shown": "shows no difference",
    "too few rounds": "has too few rounds for a verdict",
    "not tested": "is not tested",
}


def _by_verdict(verb: str, of: list[tuple[str, Lost]], total: str | None) -> str:
    """The libraries of one verdict; `total` follows their number, None if they are all."""
    count = every_library(len(of)) if total is None else f"{len(of)}{total}"
    if verb not in ("loses", "gains"):
        return f"{verb} in {count}"
    of = sorted(of, key=lambda each: abs(each[1].percent))
    ends = [f"{lost.text.partition(' ')[0]} ({label})" for label, lost in of]
    amount = ends[0] if len(ends) == 1 else f"from {ends[0]} to {ends[-1]}"
    return f"{verb} {amount} of its handshakes in {count}"


def _between(named: list[str]) -> str:
    return f"from {named[0]} to {named[1]}" if len(named) > 1 else named[0]


def counted_libraries(count: int) -> str:
    return "1 library" if count == 1 else f"{count} libraries"


def every_library(count: int) -> str:
    match count:
        case 1:
            return "1 library"
        case 2:
            return "both libraries"
        case _:
            return f"all {count} libraries"


def flights(facts: Facts) -> str:
    """The bytes and segments of a flight over all libraries, and whether it fits the window."""
    table, cells = _with_figures(facts)
    if table.kind != "flight":
        facts.fail(f"table {table.anchor!r}", "a table of flights")
    by_size = sorted(cells, key=lambda cell: cell.value or 0.0)
    texts = list(dict.fromkeys(cell.text for cell in (by_size[0], by_size[-1])))
    segments = sorted({cell.segments for cell in cells if cell.segments is not None})
    if not segments:
        facts.fail(f"table {table.anchor!r}", "a table with segments")
    counts = list(dict.fromkeys(f"{of}" for of in (segments[0], segments[-1])))
    noun = "segment" if segments[-1] == 1 else "segments"
    text = f"takes {_between(texts)} {table.unit} in {_between(counts)} TCP {noun}, and "
    fits = sum(cell.fits is True for cell in cells)
    window = f"the initial window of {WINDOW}"
    if fits == 0:
        return f"{text}exceeds {window} in {_all(len(cells))}"
    where = _all(fits) if fits == len(cells) else f"{fits} of {counted_libraries(len(cells))}"
    return f"{text}fits {window} in {where}"


def _all(count: int) -> str:
    return "the 1 library" if count == 1 else every_library(count)


def absent(facts: Facts) -> str:
    """The libraries without a figure in a column, with their reasons."""
    _, column = _column(facts)
    reasons: dict[str, list[str]] = {}
    for cell in column.cells:
        if cell.value is None:
            reasons.setdefault(cell.note or "", []).append(facts.labels[cell.implementation])
    if not reasons:
        return "none"
    return "; ".join(f"{listed(labels)}: {reason}" for reason, labels in reasons.items())


KINDS: Final[Mapping[str, tuple[Callable[[Facts], str], tuple[str, ...]]]] = {
    "price": (price, ("table", "column", "implementation")),
    "lost": (lost, ("table", "column", "implementation")),
    "losses": (losses, ("table", "column")),
    "flights": (flights, ("table", "column")),
    "absent": (absent, ("table", "column")),
}
"""The function of each shortcode, and its arguments in the order of its key."""
