"""Aligned tables on a terminal, in color unless NO_COLOR is set or the output is no terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tlsperf.analysis.compare import (
    ComparedSide,
    Comparison,
    LeftOut,
    footnotes,
    left_out_text,
    number_text,
    right_over_left,
)
from tlsperf.contract.results import Cell, Results, ShownImplementation
from tlsperf.contract.results import Table as ResultsTable
from tlsperf.contract.text import counted, host_label

_STYLES: Final = {"faster": "green", "slower": "red", "no difference shown": "dim"}
_WIDE: Final = 10_000
"""Columns where the output is no terminal: lines are not broken."""


def terminal() -> Console:
    """What prints to a terminal, or to a file or pipe without breaking lines."""
    width = None if sys.stdout.isatty() else _WIDE
    return Console(highlight=False, markup=False, emoji=False, width=width)


def print_results(results: Results, console: Console) -> None:
    """The figures of a report or a run: each with its interval, its ratio and its verdict."""
    console.print(Text(results.title, style="bold"))
    for run in results.runs:
        rounds = f", {counted(run.rounds, 'round')}" if run.rounds else ""
        console.print(f"{run.date}, {run.suite or run.tool.name}{rounds}, run {run.id}")
    for host in results.hosts:
        console.print(host_label(host))
    shown = {implementation.id: implementation for implementation in results.implementations}
    for table in results.tables:
        if not table.by_phase:
            console.print()
            console.print(Text(f"{table.title}, {table.unit}", style="bold"), end="")
            console.print(Text(f"  ({table.better} is better)", style="dim"))
            console.print(_table(table, shown))
            console.print(Text(table.caption, style="dim"))
    if results.warnings:
        console.print()
    for warning in results.warnings:
        console.print(Text(f"warning: {warning.message}", style="yellow"))


def _table(table: ResultsTable, shown: dict[str, ShownImplementation]) -> Table:
    columns = ["", "median", "95% interval"]
    columns.append(f"against {shown[table.baseline].label}" if table.baseline else "")
    if not any(cell.interval for row in table.rows for cell in row.cells):
        columns.remove("95% interval")
    laid_out = _laid_out(columns, right={"median"})
    for row in table.rows:
        laid_out.add_row(Text(row.name, style="bold"))
        for cell in row.cells:
            texts = [Text(f"  {shown[cell.implementation].label}"), _figure(cell)]
            if "95% interval" in columns:
                texts.append(Text(cell.interval or "", style="dim"))
            laid_out.add_row(*texts, _remark(cell, table.baseline))
    return laid_out


def _figure(cell: Cell) -> Text:
    if not cell.valid or cell.value is None:
        return Text(cell.text, style="dim")
    return Text(cell.text, style="bold" if cell.best else "")


def _remark(cell: Cell, baseline: str | None) -> Text:
    """The ratio and its verdict, or why there is none."""
    if cell.value is None or not cell.valid:
        reason = cell.note or ""
        return Text(reason if cell.value is None else f"does not count: {reason}", style="yellow")
    if cell.ratio is not None:
        return Text(cell.ratio.text, style=_STYLES.get(cell.ratio.verdict, ""))
    mark = "best" if cell.best else "tied" if cell.tied else ""
    return Text(mark if baseline is None else "", style="dim")


def print_comparison(
    left: ComparedSide,
    right: ComparedSide,
    rows: Sequence[Comparison],
    without: Sequence[LeftOut],
    console: Console,
) -> None:
    """Two implementations side by side: figures, factor and verdict."""
    names = ["scenario", "unit", left.label, right.label, "factor", "verdict", "note"]
    if not any(row.note for row in rows):
        names.pop()
    table = _laid_out(names, right=set(names[2:5]))
    for row in rows:
        verdict = row.estimate.verdict if row.estimate else ""
        texts = [row.name, row.unit, number_text(row.left), number_text(row.right)]
        style = _STYLES.get(verdict, "")
        cells = [*map(Text, texts), Text(right_over_left(row.factor), style=style)]
        cells += [Text(row.verdict, style=style), Text(row.note or "", style="yellow")]
        table.add_row(*cells[: len(names)])
    console.print(table)
    for line in footnotes(left, right, rows):
        console.print(Text(line, style="dim"))
    console.print(Text("".join(left_out_text(without)), style="dim"), end="")


def _laid_out(columns: Iterable[str], right: set[str]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for name in columns:
        table.add_column(Text(name), justify="right" if name in right else "left", overflow="fold")
    return table
