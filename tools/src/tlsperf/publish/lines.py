"""The output of `tlsperf show` and `compare`, with the same texts for a terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tlsperf.contract.results import Cell, Results, Table
from tlsperf.contract.text import counted, host_label, markdown, markdown_table


class Line(NamedTuple):
    """A figure of a table: `row` and `label` say of what, `remark` has its ratio and notes."""

    row: str
    label: str
    cell: Cell
    remark: str


class ShownTable(NamedTuple):
    """A table as lines of text, with the label of its baseline."""

    table: Table
    baseline: str | None
    lines: list[Line]
    caption: str

    @property
    def heads(self) -> list[str]:
        """The heads of the columns with figures: the figure, and its interval if there are any."""
        has_rounds = any((line.cell.count or 0) > 1 for line in self.lines)
        figure = "median" if has_rounds else "figure"
        return [figure, "95% interval"] if self.has_intervals else [figure]

    @property
    def has_intervals(self) -> bool:
        return any(line.cell.interval for line in self.lines)


def heading(results: Results) -> list[str]:
    """The runs and hosts of the figures, and what two runs share, one line each."""
    lines = []
    for run in results.runs:
        rounds = f", {counted(run.rounds, 'round')}" if run.rounds else ""
        lines.append(f"{run.date}, {run.suite or run.tool.name}{rounds}, run {run.id}")
    shared = [of.message for of in results.warnings if of.code == "common-cause"]
    return [*lines, *map(host_label, results.hosts), *shared]


def warned(results: Results) -> list[str]:
    """The messages of its other warnings, each once: two runs may have the same."""
    messages = (of.message for of in results.warnings if of.code != "common-cause")
    return list(dict.fromkeys(messages))


def shown_tables(results: Results) -> Iterator[ShownTable]:
    """Each table except those by phase."""
    labels = {implementation.id: implementation.label for implementation in results.implementations}
    for table in results.tables:
        if not table.by_phase:
            note = ratio_note(table)
            lines = [
                Line(row.name, labels[cell.implementation], cell, _remark(cell, table, note))
                for row in table.rows
                for cell in row.cells
            ]
            baseline = labels[table.baseline] if table.baseline else None
            said = [table.caption, f"All ratios are {note}." if note else "", table.interval_note]
            caption = " ".join(filter(None, said))
            yield ShownTable(table, baseline, lines, caption)


def ratio_note(table: Table) -> str | None:
    """The note that all ratios of a table have: it is shown once."""
    notes = {cell.ratio.note for row in table.rows for cell in row.cells if cell.ratio}
    return notes.pop() if len(notes) == 1 else None


def _remark(cell: Cell, table: Table, shared: str | None) -> str:
    """The ratio and its verdict, or why there is none; then what a reader must know about it."""
    if cell.value is None:
        return cell.note or ""
    if not cell.valid:
        return f"does not count: {cell.note or ''}"
    found = "" if table.baseline else "best" if cell.best else "tied" if cell.tied else ""
    if cell.ratio is not None:
        note = cell.ratio.note if cell.ratio.note != shared else None
        found = cell.ratio.text + (f" ({note})" if note else "")
    return "; ".join(filter(None, [found, *cell.warnings]))


# --- as Markdown ---------------------------------------------------------------------------------


def results_markdown(results: Results) -> str:
    """The figures as tables that GitHub renders in a pull request, an issue or a comment."""
    parts = [f"### {markdown(results.title)}\n"]
    parts.append("".join(f"- {markdown(line)}\n" for line in heading(results)))
    parts += map(_table_markdown, shown_tables(results))
    if warnings := warned(results):
        parts.append("".join(f"- Warning: {markdown(message)}\n" for message in warnings))
    return "\n".join(parts)


def _table_markdown(shown: ShownTable) -> str:
    """A table with its title and caption."""
    title = f"{shown.table.title}, {shown.table.unit} ({shown.table.better} is better)"
    has_remarks = any(line.remark for line in shown.lines)
    heads = ["", "", *shown.heads]
    heads += [f"against {shown.baseline}" if shown.baseline else ""] if has_remarks else []
    rows = []
    before = None
    for line in shown.lines:
        cells = [line.row if line.row != before else "", line.label, line.cell.text]
        cells += [line.cell.interval or ""] if shown.has_intervals else []
        rows.append([*cells, line.remark] if has_remarks else cells)
        before = line.row
    table = markdown_table(heads, rows, shown.heads[:1])
    return f"#### {markdown(title)}\n\n{table}\n{markdown(shown.caption)}\n"
