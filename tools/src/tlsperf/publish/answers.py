"""What an answer shows: a picture and a table of rows of several reports, hosts side by side.

All of it is quoted from the results of parts; no figure is computed here but cores (`report.cores`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from tlsperf.contract.answer import AnswerRow, Cores
from tlsperf.contract.errors import FormatError, UserError, alternatives
from tlsperf.contract.libraries import NAMES
from tlsperf.contract.metrics import METRICS
from tlsperf.contract.record import Identifier
from tlsperf.contract.results import Caveat, Results, Row, ShownImplementation, Table
from tlsperf.contract.text import ABSENT
from tlsperf.load.answers import AnswerPage
from tlsperf.load.page import Page
from tlsperf.publish.footnotes import footnotes
from tlsperf.publish.side_by_side import cell_texts, tables_of
from tlsperf.report.charts.dots import Dot, DotPanel, DotRow, Dots, picture_files
from tlsperf.report.cores import cores_of
from tlsperf.report.hosts import HostKey, Place, first_cell, host_of_part, hosts_of
from tlsperf.report.notes import below_table
from tlsperf.report.picture import dot_of

PICTURE: Final = "ratios"
"""Begins the names of the two drawings."""
FEW: Final = 6
"""Up to this number of rows each has a panel, with a line for each library."""


def answer_files(
    page: AnswerPage, parts: Sequence[tuple[Page, Results]], notes: Sequence[Caveat] = ()
) -> dict[str, str]:
    """The files beside an answer by their names: page.json and the drawings.

    `parts` are those that the answer names, with the pages that they are on. Raises FormatError for
    a row or an implementation that no part has.
    """
    made = _Made(page, parts, notes)
    made.check()
    dots = made.dots()
    files = picture_files(dots)
    table = made.table() | {"picture": dots.description}
    text = json.dumps(table, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return {"page.json": text.replace('{"label":', '\n{"label":') + "\n", **files}


@dataclass(frozen=True)
class _Made:
    page: AnswerPage
    placed: Sequence[tuple[Page, Results]]
    about: Sequence[Caveat] = ()

    @cached_property
    def parts(self) -> list[Results]:
        return [results for _, results in self.placed]

    @cached_property
    def hosts(self) -> dict[HostKey, str]:
        """Their names."""
        return hosts_of(self.parts)

    @cached_property
    def every(self) -> dict[Identifier, ShownImplementation]:
        return {i.id: i for part in reversed(self.parts) for i in part.implementations}

    @cached_property
    def shown(self) -> list[ShownImplementation]:
        """The implementations with a figure in a row, in their order."""
        order = dict.fromkeys(i.id for part in self.parts for i in part.implementations)
        chosen = self.page.answer.implementations or order
        return [
            self.every[i]
            for i in chosen
            if i in self.every
            and any(self.cell(h, row, i) for h in self.hosts for row in self.page.answer.rows)
        ]

    @cached_property
    def baseline(self) -> ShownImplementation | None:
        of = {part.baseline for part in self.parts}
        return self.every[name] if len(of) == 1 and (name := of.pop()) else None

    def check(self) -> None:
        for quoted in self.page.answer.rows:
            if not any(_found(part, quoted) for part in self.parts):
                tables = [t for part in self.parts for t in tables_of(part)]
                known = [row.anchor for table in tables for row in table.rows]
                if quoted.row in known:
                    names = [t.anchor for t in tables if _row(t, quoted.row)]
                    self._refuse(f"{quoted.table}", alternatives(str(quoted.table), names))
                self._refuse(quoted.row, alternatives(quoted.row, known))
        for name in self.page.answer.implementations:
            if name not in self.every:
                self._refuse(name, alternatives(name, self.every))

    def _refuse(self, name: str, expected: str) -> None:
        raise FormatError(str(self.page.path), self.page.line_of(name), repr(name), expected)

    def cell(self, host: HostKey, quoted: AnswerRow, implementation: Identifier) -> Place | None:
        """The cell that stands for an implementation on a host."""
        of_host = (part for part in self.parts if host_of_part(part) == host)
        return first_cell(filter(None, (_found(part, quoted) for part in of_host)), implementation)

    # --- the table -------------------------------------------------------------------------------

    def table(self) -> dict[str, Any]:
        """page.json: a line for each implementation, or for each row if those are more."""
        answer = self.page.answer
        cells = {
            (host, quoted.label, i.id): self._texts(host, quoted, i.id)
            for host in self.hosts
            for quoted in answer.rows
            for i in self.shown
        }
        notes = footnotes(cells.values())
        notes += below_table(self.about, self.parts, {quoted.row for quoted in answer.rows})
        columns = [self._head(quoted) for quoted in answer.rows]
        names = _names(self.shown)
        heads = [{"label": names[i.id], "colour": i.colour} for i in self.shown]
        by_row = len(self.shown) < len(answer.rows)
        lines: list[dict[str, Any]]
        if by_row:
            lines = [
                column
                | {"cells": [[cells[h, q.label, i.id] for i in self.shown] for h in self.hosts]}
                for column, q in zip(columns, answer.rows, strict=True)
            ]
        else:
            lines = [
                head
                | {"cells": [[cells[h, q.label, i.id] for q in answer.rows] for h in self.hosts]}
                for head, i in zip(heads, self.shown, strict=True)
            ]
        made: dict[str, Any] = {
            "hosts": [self._host(host) for host in self.hosts],
            "versions": [i.label for i in self.shown],
            "by_row": by_row,
            "units": list(dict.fromkeys(column["unit"] for column in columns)),
            "heads": heads if by_row else columns,
            "lines": lines,
            "notes": notes,
            "same": any(cell.get("mark") == "same" for cell in cells.values()),
        }
        if answer.caption:
            made["caption"] = answer.caption
        if answer.against:
            made["against"] = answer.against
        elif self.baseline:
            made["baseline"] = self.baseline.label
        if answer.cores:
            made["cores"] = self._cores(answer.cores)
        return made

    def _cores(self, rows: Cores) -> dict[str, Any]:
        try:
            return cores_of(self.parts, rows, self.page.answer.implementations)
        except UserError as error:
            line = self.page.line_of("[extra.answer.cores]")
            raise UserError(f"{self.page.path}:{line}: {error}") from None

    def _head(self, quoted: AnswerRow) -> dict[str, Any]:
        table, _ = next(at for part in self.parts if (at := _found(part, quoted)))
        return {"label": quoted.label, "unit": table.unit, "better": table.better}

    def _texts(
        self, host: HostKey, quoted: AnswerRow, implementation: Identifier
    ) -> dict[str, Any]:
        place = self.cell(host, quoted, implementation)
        if place is None:
            return {"text": ABSENT}
        table, row, cell = place
        if row.against and METRICS[row.metric].primary:
            # The figure is a time; the change that readers ask for is that of the rate.
            table = table.model_copy(update={"better": "higher"})
        return cell_texts(row, cell.model_copy(update={"segments": None}), table)

    def _host(self, host: HostKey) -> dict[str, Any]:
        """The parts of a host, with the address of their page and of their figures."""
        parts = []
        for page, part in self.placed:
            if host_of_part(part) != host:
                continue
            address = f"perf/{page.id}/"
            folder = f"{part.id}/" if len(page.reports) > 1 else ""
            parts.append(
                {
                    "title": page.first.title,
                    "date": min(run.date for run in part.runs).isoformat(),
                    "address": address,
                    "csv": f"{address}{folder}results.csv",
                }
            )
        return {"name": self.hosts[host], "parts": parts}

    # --- the picture -----------------------------------------------------------------------------

    def dots(self) -> Dots:
        """The picture: a panel for each row, or for each library, or a single one."""
        answer = self.page.answer
        rows = [quoted for quoted in answer.rows if quoted.drawn]
        drawn = [i for i in self.shown if any(list(self._dots(quoted, i)) for quoted in rows)]
        names = _names(drawn)
        if len(drawn) == 1 or (len(rows) > FEW and len(drawn) == 2):
            panels = [
                DotPanel(
                    names[i.id] if len(drawn) > 1 else "",
                    [DotRow(q.label, i.colour, list(self._dots(q, i))) for q in rows],
                )
                for i in drawn
            ]
        else:
            panels = [
                DotPanel(
                    q.label,
                    [DotRow(names[i.id], i.colour, list(self._dots(q, i))) for i in drawn],
                )
                for q in rows
            ]
        baseline = answer.against or (self.baseline.label if self.baseline else "")
        title = str(self.page.head.get("title") or "")
        return Dots(PICTURE, title, baseline, [*self.hosts.values()], panels)

    def _dots(self, quoted: AnswerRow, i: ShownImplementation) -> Iterator[Dot]:
        for number, host in enumerate(self.hosts):
            place = self.cell(host, quoted, i.id)
            ratio = place[2].ratio if place else None
            if ratio:
                yield dot_of(number, ratio)


def _names(of: Sequence[ShownImplementation]) -> Mapping[Identifier, str]:
    """The names of libraries; versions and builds only where they tell some apart."""
    count = [i.library for i in of]
    return {i.id: NAMES[i.library] if count.count(i.library) == 1 else i.label for i in of}


def _found(part: Results, quoted: AnswerRow) -> tuple[Table, Row] | None:
    """The row in its table; None if a part does not have it."""
    tables = (t for t in tables_of(part) if quoted.table in (None, t.anchor))
    return next(((t, row) for t in tables if (row := _row(t, quoted.row))), None)


def _row(table: Table, anchor: Identifier) -> Row | None:
    return next((row for row in table.rows if row.anchor == anchor), None)
