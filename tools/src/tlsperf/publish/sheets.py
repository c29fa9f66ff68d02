"""Parts of tables over several reports: rows looked up in results, and cells with links."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from tlsperf.contract.builds import like_builds
from tlsperf.contract.libraries import NAMES
from tlsperf.contract.questions import SheetCell
from tlsperf.contract.record import Identifier
from tlsperf.contract.results import Cell, Results, Row, Table
from tlsperf.contract.text import ABSENT, host_label, listed

NOTHING = SheetCell(text=ABSENT)

_IN_FLIGHT: Final = "-64-kib-in-flight"
"""Part of a transfer's anchor since suites state 64 KiB in flight; earlier ones were 1 MiB."""


class Source:
    """The rows of one report, by their anchors. A transfer is also found without its size in
    flight, so that a question about sending takes the newest reports.
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
        self._found = short | self.rows
        self.shown = {i.id: i for i in results.implementations}
        self.alike = like_builds(results.implementations, results.baseline)

    def has(self, anchors: Iterable[Identifier]) -> bool:
        return set(anchors) <= set(self._found)

    def cell(self, anchor: Identifier, implementation: Identifier) -> Cell | None:
        """The valid figure of an implementation in a row; None if there is none."""
        if anchor not in self._found:
            return None
        for cell in self._found[anchor][1].cells:
            if cell.implementation == implementation and cell.valid and cell.value:
                return cell
        return None

    def value(self, anchor: Identifier, implementation: Identifier) -> float | None:
        cell = self.cell(anchor, implementation)
        return cell.value if cell else None

    def link(self, anchor: Identifier) -> str:
        """The address of a row, or of a table if no row has this anchor."""
        if anchor in self._found:
            anchor = self._found[anchor][1].anchor
        return f"perf/{self.results.id}/#{anchor}"

    def figure(self, anchor: Identifier, implementation: Identifier) -> SheetCell:
        """A figure with its verdict, its interval and a link."""
        cell = self.cell(anchor, implementation)
        if cell is None:
            return NOTHING
        return SheetCell(
            text=cell.text, href=self.link(anchor), mark=mark_of(cell), detail=cell.interval
        )

    def leaders(self, anchor: Identifier) -> str:
        """The verdict of a row in words: `best is rustls (20,010 handshakes/s)`."""
        table, row = self._found[anchor]
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

    def libraries(self, anchors: Sequence[Identifier]) -> set[str]:
        """The libraries with a figure in all of these rows."""
        return {
            shown.library
            for shown in self.shown.values()
            if all(self.cell(anchor, shown.id) for anchor in anchors)
        }


def mark_of(cell: Cell) -> str | None:
    return "best" if cell.best else "tied" if cell.tied else None


def own_sources(ordered: Sequence[Results]) -> list[Source]:
    """Reports of one host that were measured with our harness, in their order."""
    return [
        Source(results)
        for results in ordered
        if len(results.hosts) == 1 and all(run.suite for run in results.runs)
    ]


def with_most_libraries(sources: Sequence[Source], anchors: Sequence[Identifier]) -> Source | None:
    """The report that has these rows for the most libraries; the first one of several."""
    found = [s for s in sources if s.has(anchors) and len(s.libraries(anchors)) > 1]
    return max(found, key=lambda s: len(s.libraries(anchors)), default=None)


def first_with(sources: Sequence[Source], anchors: Sequence[Identifier]) -> Source | None:
    """The first report that has these rows for several libraries."""
    found = (s for s in sources if s.has(anchors) and len(s.libraries(anchors)) > 1)
    return next(found, None)
