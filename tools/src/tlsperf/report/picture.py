"""Which ratios stand in the picture of a report, an answer or Home. Pure functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from tlsperf.contract.errors import UserError, alternatives
from tlsperf.contract.libraries import NAMES
from tlsperf.contract.record import Identifier
from tlsperf.contract.results import Ratio, Results, Row, ShownImplementation, Table
from tlsperf.report.charts.dots import Dot, DotPanel, DotRow, Dots
from tlsperf.report.hosts import HostKey, host_of_part, hosts_of

FILE: Final = "ratios"
"""The files are `ratios.svg` and `ratios-narrow.svg`."""

MOST_ROWS: Final = 12
"""Limit of the rows of a picture that nobody chose, with one implementation."""
MANY_ROWS: Final = 6
"""With more scenarios than this, few implementations have a panel each."""
FEW_IMPLEMENTATIONS: Final = 2


class _Chosen(NamedTuple):
    """A row of a picture, and its name there; None: made from that of the row."""

    table: Identifier
    anchor: Identifier
    name: str | None
    is_price: bool
    added: str = ""
    """What follows the names of a table's rows."""


class _Found(NamedTuple):
    """A row of a part, and what its ratios are to."""

    part: Results
    table: Table
    row: Row

    @property
    def ratios(self) -> list[tuple[ShownImplementation, Ratio]]:
        shown = {i.id: i for i in self.part.implementations}
        return [(shown[c.implementation], c.ratio) for c in self.row.cells if c.ratio and c.valid]


def picture(
    parts: Sequence[Results],
    chosen: Sequence[str] = (),
    implementations: Sequence[Identifier] | None = None,
    anchor: str = FILE,
) -> Dots | None:
    """The picture of parts, which are in order of precedence; None without a ratio.

    `chosen` are anchors of rows or of tables, also of a price list, whose rows are compared with
    each other. A name after a colon is the row's in the picture:
    `full-handshake-1-3-ecdsa-p256-x25519-server: New connections`; that of a table follows the names
    of its rows. None chosen: at most `MOST_ROWS`
    of the first tables. `implementations` are those to show in their order; None: all. Rows of one
    anchor on several hosts are dots of one row; of two parts of a host, the first that has the row
    counts. Raises UserError for an unknown anchor or implementation, for ratios to several
    libraries, and for chosen rows without a ratio.
    """
    if not chosen:
        parts = _of_one_baseline(parts)
    rows = _named(parts, chosen) if chosen else _default(parts)
    found = [(row, list(_of_hosts(parts, row))) for row in rows]
    known = {i.id: i for part in parts for i in part.implementations}
    ids = _shown(found, known, implementations)
    found = [(row, of) for row, of in found if any(i.id in ids for f in of for i, _ in f.ratios)]
    if not found:
        if chosen:
            anchors = ", ".join(row.anchor for row in rows)
            raise UserError(f"picture: found no ratio in {anchors}, expected rows with ratios")
        return None
    hosts = hosts_of(f.part for _, of in found for f in of)
    labels = _labels([known[i] for i in ids], _baselines([f for _, of in found for f in of]))
    names, common = _names([(row, of[0]) for row, of in found])

    def dots_of(of: Sequence[_Found], implementation: Identifier) -> list[Dot]:
        return [
            dot_of(list(hosts).index(_host(f)), ratio)
            for f in of
            for i, ratio in f.ratios
            if i.id == implementation
        ]

    each = [(name, of) for name, (_, of) in zip(names, found, strict=True)]
    colours = {i: known[i].colour for i in ids}
    if len(ids) == 1 or (len(found) > MANY_ROWS and len(ids) <= FEW_IMPLEMENTATIONS):
        panels = [
            DotPanel(labels[i], [DotRow(name, colours[i], dots_of(of, i)) for name, of in each])
            for i in ids
        ]
    else:
        panels = [
            DotPanel(name, [DotRow(labels[i], colours[i], dots_of(of, i)) for i in ids])
            for name, of in each
        ]
    baseline = _baseline([f for _, of in found for f in of])
    untested = any(r.verdict == "not tested" for _, of in found for f in of for _, r in f.ratios)
    notes = [common[:1].upper() + common[1:]] if common else []
    return Dots(
        anchor=anchor,
        title=f"Ratios to {baseline}",
        baseline=baseline,
        hosts=list(hosts.values()),
        panels=panels,
        notes=[*notes, *(["single figures, not tested"] if untested else [])],
    )


def dot_of(host: int, ratio: Ratio) -> Dot:
    """The dot of a ratio; `host` is its place among those of the picture."""
    is_shown = ratio.verdict not in ("no difference shown", "too few rounds")
    return Dot(host, ratio.value, ratio.low, ratio.high, is_shown)


def _host(found: _Found) -> HostKey:
    return host_of_part(found.part)


# --- which rows ----------------------------------------------------------------------------------


def _named(parts: Sequence[Results], chosen: Sequence[str]) -> list[_Chosen]:
    """The rows that are chosen, each once."""
    tables = {t.anchor: (t, False) for part in reversed(parts) for t in part.tables}
    tables |= {t.anchor: (t, True) for part in reversed(parts) for t in part.prices or ()}
    own = {r.anchor: t for part in reversed(parts) for t in part.tables for r in t.rows}
    found: list[_Chosen] = []
    for text in chosen:
        anchor, _, name = (words.strip() for words in text.partition(":"))
        if anchor in tables:
            table, is_price = tables[anchor]
            found += [
                _Chosen(anchor, row.anchor, None, is_price, name)
                for row in table.rows
                if row.against or not is_price
            ]
        elif anchor in own:
            found.append(_Chosen(own[anchor].anchor, anchor, name or None, False))
        else:
            expected = alternatives(anchor, [*tables, *own])
            raise UserError(f"picture: found the row or table {anchor!r}, expected {expected}")
    return list(dict.fromkeys(found))


def _of_one_baseline(parts: Sequence[Results]) -> list[Results]:
    """The parts whose ratios are to the library that those of the first one are to."""
    found = [
        (part, {i.library for i in part.implementations for t in part.tables if i.id == t.baseline})
        for part in parts
        if any(map(_ratios, part.tables))
    ]
    return [part for part, libraries in found if libraries == found[0][1]]


def _default(parts: Sequence[Results]) -> list[_Chosen]:
    """A row of each table in turn, until there are enough; in the order of the tables.

    Of a table TLS 1.3, sending and serving are first. Tables without tested ratios count only if no
    table has any.
    """
    tables = [t for part in parts[:1] for t in part.tables if not t.by_phase and _ratios(t)]
    if not tables:
        return []
    tested = [t for t in tables if any(r.verdict != "not tested" for r in _ratios(t))]
    tables = tested or tables
    most = max(len({c.implementation for r in t.rows for c in r.cells if c.ratio}) for t in tables)
    limit = MOST_ROWS if most <= FEW_IMPLEMENTATIONS else MANY_ROWS
    turns = sorted(
        (turn, number, row.anchor)
        for number, table in enumerate(tables)
        for turn, row in enumerate(sorted(table.rows, key=_importance))
        if any(cell.ratio for cell in row.cells)
    )
    kept = {anchor for _, _, anchor in turns[:limit]}
    return [
        _Chosen(table.anchor, row.anchor, None, False)
        for table in tables
        for row in table.rows
        if row.anchor in kept
    ]


def _importance(row: Row) -> tuple[bool, bool]:
    return row.scenario.protocol != "1.3", row.scenario.side not in ("sender", "server")


def _ratios(table: Table) -> list[Ratio]:
    return [cell.ratio for row in table.rows for cell in row.cells if cell.ratio]


def _of_hosts(parts: Sequence[Results], chosen: _Chosen) -> Iterator[_Found]:
    """A row on each host that has ratios of it."""
    hosts = set()
    for part in parts:
        tables = (part.prices or ()) if chosen.is_price else part.tables
        for table in tables:
            for row in table.rows:
                if row.anchor != chosen.anchor or table.by_phase:
                    continue
                if chosen.is_price and table.anchor != chosen.table:
                    continue
                found = _Found(part, table, row)
                if found.ratios and _host(found) not in hosts:
                    hosts.add(_host(found))
                    yield found


def _shown(
    found: Iterable[tuple[_Chosen, Sequence[_Found]]],
    known: Mapping[Identifier, ShownImplementation],
    implementations: Sequence[Identifier] | None,
) -> list[Identifier]:
    """The implementations of a picture: those with a ratio, in order."""
    if implementations is not None:
        for name in implementations:
            if name not in known:
                expected = alternatives(name, known)
                raise UserError(f"picture: found implementation {name!r}, expected {expected}")
    measured = {i.id for _, of in found for f in of for i, _ in f.ratios}
    return [i for i in (known if implementations is None else implementations) if i in measured]


# --- names ---------------------------------------------------------------------------------------


def _names(rows: Sequence[tuple[_Chosen, _Found]]) -> tuple[list[str], str]:
    """The names of rows without the words that all share, and those words.

    A name that somebody chose stays as it is.
    """
    words = {n: f.row.name.split(", ") for n, (chosen, f) in enumerate(rows) if not chosen.name}
    common = []
    if len(words) > 1:
        first, *others = words.values()
        common = [word for word in first if all(word in other for other in others)]
        if any(set(of) <= set(common) for of in words.values()):
            common = []
    names = [
        chosen.name
        or ", ".join([*(w for w in words[n] if w not in common), *filter(None, [chosen.added])])
        for n, (chosen, _) in enumerate(rows)
    ]
    return [name[:1].upper() + name[1:] for name in names], ", ".join(common)


def _baselines(found: Iterable[_Found]) -> list[ShownImplementation]:
    """The baselines of rows, each once; empty if rows are compared with other rows."""
    every = {
        f.table.baseline: i
        for f in found
        for i in f.part.implementations
        if i.id == f.table.baseline and not f.row.against
    }
    return list(every.values())


def _baseline(found: Sequence[_Found]) -> str:
    """What the line at 1 is: an implementation, its library if versions differ, or another row."""
    baselines = _baselines(found)
    against = [f for f in found if f.row.against]
    libraries = {i.library for i in baselines}
    if len(libraries) + bool(against) != 1:
        names = ", ".join([i.label for i in baselines] + [f.table.title for f in against[:1]])
        raise UserError(f"picture: found ratios to {names}, expected those to one of them")
    if against:
        return _against(against)
    return baselines[0].label if len(baselines) == 1 else NAMES[libraries.pop()]


def _against(found: Sequence[_Found]) -> str:
    """The row that others are compared with, or what each lacks that it is compared with."""
    pairs = {
        (f.row.name, other.name)
        for f in found
        for other in f.table.rows
        if other.anchor == f.row.against
    }
    others = {other for _, other in pairs}
    if len(others) == 1:
        return others.pop()
    lacking = {
        ", ".join(w for w in name.split(", ") if w not in o.split(", ")) for name, o in pairs
    }
    return f"without {lacking.pop()}" if len(lacking) == 1 else "its pair"


_LABELS: Final[Sequence[Callable[[ShownImplementation], str]]] = (
    lambda i: NAMES[i.library],
    lambda i: f"{NAMES[i.library]} ({i.provider})" if i.provider else NAMES[i.library],
    lambda i: f"{NAMES[i.library]} ({i.build})" if i.build else NAMES[i.library],
    lambda i: f"{NAMES[i.library]} {i.version}" if i.version[:1].isdecimal() else i.label,
)
"""Labels of an implementation from the shortest on."""


def _labels(
    shown: Sequence[ShownImplementation], baselines: Sequence[ShownImplementation]
) -> dict[Identifier, str]:
    """The shortest labels that tell the implementations of each library apart."""
    labels = {}
    for i in shown:
        of = {j.id: j for j in (*shown, *baselines) if j.library == i.library}
        label = next(
            (label for label in _LABELS if len({*map(label, of.values())}) == len(of)), None
        )
        labels[i.id] = label(i) if label else i.label
    return labels
