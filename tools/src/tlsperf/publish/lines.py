"""The output of `tlsperf show`, with the same texts for a terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from tlsperf.contract.results import Cell, Results, ShownImplementation, Table
from tlsperf.contract.text import counted, host_label, markdown

INTERVAL: Final = "95% interval"


class Line(NamedTuple):
    row: str
    label: str
    cell: Cell
    remark: str


def heading(results: Results) -> list[str]:
    """The runs and hosts of the figures, one line each."""
    lines = []
    for run in results.runs:
        rounds = f", {counted(run.rounds, 'round')}" if run.rounds else ""
        lines.append(f"{run.date}, {run.suite or run.tool.name}{rounds}, run {run.id}")
    return [*lines, *map(host_label, results.hosts)]


def shown_tables(results: Results) -> Iterator[tuple[Table, str | None, list[Line]]]:
    """Each table except those by phase, with the label of its baseline and its figures."""
    labels = _labels(results.implementations)
    for table in results.tables:
        if not table.by_phase:
            lines = [
                Line(row.name, labels[cell.implementation], cell, _remark(cell, table.baseline))
                for row in table.rows
                for cell in row.cells
            ]
            yield table, labels[table.baseline] if table.baseline else None, lines


def has_intervals(lines: list[Line]) -> bool:
    """Whether a table needs a column for intervals."""
    return any(line.cell.interval for line in lines)


def _labels(implementations: list[ShownImplementation]) -> dict[str, str]:
    return {implementation.id: implementation.label for implementation in implementations}


def _remark(cell: Cell, baseline: str | None) -> str:
    """The ratio and its verdict, or why there is none."""
    if cell.value is None:
        return cell.note or ""
    if not cell.valid:
        return f"does not count: {cell.note or ''}"
    if cell.ratio is not None:
        return cell.ratio.text
    return "" if baseline else "best" if cell.best else "tied" if cell.tied else ""


# --- as Markdown ---------------------------------------------------------------------------------


def results_markdown(results: Results) -> str:
    """The figures as tables that GitHub renders in a pull request, an issue or a comment."""
    parts = [f"### {markdown(results.title)}\n"]
    parts.append("".join(f"- {markdown(line)}\n" for line in heading(results)))
    for table, baseline, lines in shown_tables(results):
        title = f"{table.title}, {table.unit} ({table.better} is better)"
        parts.append(f"#### {markdown(title)}\n")
        intervals = has_intervals(lines)
        remarks = [f"against {baseline}" if baseline else ""] if _has_remarks(lines) else []
        names = ["", "", "median", *([INTERVAL] if intervals else []), *remarks]
        text = _row(names) + "|---|---|--:|" + "---|" * (len(names) - 3) + "\n"
        before = None
        for line in lines:
            interval = [line.cell.interval or ""] if intervals else []
            name = line.row if line.row != before else ""
            remark = [line.remark] if remarks else []
            text += _row([name, line.label, line.cell.text, *interval, *remark])
            before = line.row
        parts += [text, f"{markdown(table.caption)}\n"]
    if results.warnings:
        parts.append("".join(f"- Warning: {markdown(it.message)}\n" for it in results.warnings))
    return "\n".join(parts)


def _has_remarks(lines: list[Line]) -> bool:
    return any(line.remark for line in lines)


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(map(markdown, cells))} |\n"
