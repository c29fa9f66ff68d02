"""Parts of tables over several reports: the newest figure of each row, and cells with links.

A page over several reports takes a row from `newest`, so that it has one figure everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from tlsperf.contract.builds import like_builds
from tlsperf.contract.host import one_model
from tlsperf.contract.libraries import NAMES
from tlsperf.contract.questions import SheetCell
from tlsperf.contract.record import Identifier
from tlsperf.contract.results import Cell, ReportReference, Results, Row, Table
from tlsperf.contract.text import ABSENT, host_label, listed
from tlsperf.publish.reports import newest_first, reference
from tlsperf.report.tables import HIDDEN_PERCENT

NOTHING = SheetCell(text=ABSENT)

OF_PAIRS: Final = "Ratios come from pairs of rounds, not from dividing these figures."
_OF_DAYS: Final = (
    "On a virtual machine, rates and times of two days differ by far more than ratios do."
)

_IN_FLIGHT: Final = "-64-kib-in-flight"
"""Part of a transfer's anchor since suites state 64 KiB in flight; earlier ones were 1 MiB."""


class Source:
    """The rows of one report, or of several of one host, by their anchors. A transfer is also found
    without its size in flight, so that a question about sending takes the newest reports.
    """

    def __init__(self, results: Results) -> None:
        self.results = results
        self.rows: dict[Identifier, tuple[Table, Row]] = {
            row.anchor: (table, row)
            for table in results.tables
            if not table.by_phase
            for row in table.rows
        }
        short = {a.replace(_IN_FLIGHT, ""): found for a, found in self.rows.items()}
        self._found = {
            anchor: (results, table, row) for anchor, (table, row) in (short | self.rows).items()
        }
        self.shown = {i.id: i for i in results.implementations}
        self.alike = like_builds(results.implementations, results.baseline)

    @classmethod
    def of_rows(cls, by_row: Mapping[Identifier, Source]) -> Source:
        """Each of these rows from a report of its own, all of one host."""
        sources = list(by_row.values())
        made = cls(sources[0].results)
        made._found = {anchor: of._found[anchor] for anchor, of in by_row.items()}
        made.shown = {id_: shown for of in sources for id_, shown in of.shown.items()}
        made.alike = list(dict.fromkeys(id_ for of in sources for id_ in of.alike))
        return made

    def has(self, anchors: Iterable[Identifier]) -> bool:
        return set(anchors) <= set(self._found)

    def cell(self, anchor: Identifier, implementation: Identifier) -> Cell | None:
        """The valid figure of an implementation in a row; None if there is none."""
        if anchor not in self._found:
            return None
        for cell in self._found[anchor][2].cells:
            if cell.implementation == implementation and cell.valid and cell.value:
                return cell
        return None

    def value(self, anchor: Identifier, implementation: Identifier) -> float | None:
        cell = self.cell(anchor, implementation)
        return cell.value if cell else None

    def link(self, anchor: Identifier) -> str:
        """The address of a row, or of a table if no row has this anchor."""
        if anchor not in self._found:
            return f"perf/{self.results.id}/#{anchor}"
        results, _, row = self._found[anchor]
        return f"perf/{results.id}/#{row.anchor}"

    def figure(self, anchor: Identifier, implementation: Identifier) -> SheetCell:
        """A figure with its verdict, its interval and a link."""
        cell = self.cell(anchor, implementation)
        if cell is None:
            return NOTHING
        return SheetCell(
            text=cell.text,
            href=self.link(anchor),
            mark=mark_of(cell),
            detail=cell.interval,
            quotes="figure",
        )

    def leaders(self, anchor: Identifier) -> str:
        """The verdict of a row in words: `best is rustls (20,010 handshakes/s)`."""
        _, table, row = self._found[anchor]
        leading = [c for c in row.cells if c.valid and (c.best or c.tied)]
        named = [f"{self.label(c.implementation)} ({c.text} {table.unit})" for c in leading]
        if not named:
            return "no library is shown to be best"
        return f"{'best is' if leading[0].best else 'tied are'} {listed(named)}"

    def label(self, implementation: Identifier) -> str:
        return self.shown[implementation].label

    def name(self, implementation: Identifier) -> str:
        return NAMES[self.shown[implementation].library]

    @property
    def host(self) -> str:
        return listed(list(map(host_label, self.results.hosts)))

    @property
    def reports(self) -> list[ReportReference]:
        """The reports of its rows, the newest first."""
        of_rows = {results.id: results for results, _, _ in self._found.values()}
        return [reference(results) for results in newest_first(of_rows.values())]

    @property
    def place(self) -> str:
        """Where and when its rows were measured, as captions say it."""
        days = dict.fromkeys(f"{of.date:%-d %B %Y}" for of in self.reports)
        return f"{self.host}, {listed(list(days))}"

    def libraries(self, anchors: Sequence[Identifier]) -> set[str]:
        """The libraries with a figure in all of these rows."""
        return {
            shown.library
            for shown in self.shown.values()
            if all(self.cell(anchor, shown.id) for anchor in anchors)
        }


def of_days(results: Iterable[Results]) -> list[str]:
    """What rates and times in a table of these reports do not say of another day."""
    virtual = any(host.virtual for of in results for host in of.hosts)
    return [_OF_DAYS] if virtual else []


def of_pairs(tables: Iterable[Table]) -> list[str]:
    """That figures of these tables stand beside ratios that are not their quotients."""
    return [OF_PAIRS] if any((of.dividing_percent or 0) >= HIDDEN_PERCENT for of in tables) else []


def mark_of(cell: Cell) -> str | None:
    return "best" if cell.best else "tied" if cell.tied else None


def ratio_parts(of: str) -> tuple[str, str | None]:
    """The text of a ratio without its interval, and that; of no difference, the size that would show."""
    text, _, rest = of.partition(" (")
    return text.removesuffix(" shown"), rest.rstrip(")") or None


def is_own(results: Results) -> bool:
    """Whether a report is of one host and was measured with our harness."""
    return len(results.hosts) == 1 and all(run.suite for run in results.runs)


def own_sources(ordered: Sequence[Results]) -> list[Source]:
    """Reports of one host that were measured with our harness, in their order."""
    return [Source(results) for results in ordered if is_own(results)]


def by_host(sources: Sequence[Source]) -> list[list[Source]]:
    """The reports of each host, in their order; another processor model is another host."""
    found: list[list[Source]] = []
    for source in sources:
        [host] = source.results.hosts
        for group in found:
            others = [of.results.hosts[0] for of in group]
            if host.id == others[0].id and all(one_model(host, of) for of in others):
                group.append(source)
                break
        else:
            found.append([source])
    return found


def newest(
    sources: Sequence[Source], anchors: Sequence[Identifier], least: int = 2
) -> Source | None:
    """The report of one host that has these rows for the most libraries, the newest of several;
    None if none has them for at least so many.
    """
    counted = [(len(of.libraries(anchors)), of) for of in sources if of.has(anchors)]
    most, found = max(counted, key=lambda of: of[0], default=(0, None))
    return found if most >= least else None


def newest_of_each(sources: Sequence[Source], anchors: Sequence[Identifier]) -> Source | None:
    """Each of these rows from its newest report; None without one of them."""
    found = {anchor: newest(sources, [anchor]) for anchor in anchors}
    known = {anchor: source for anchor, source in found.items() if source}
    return Source.of_rows(known) if len(known) == len(found) else None
