"""Aligned tables on a terminal, in colour unless NO_COLOR is set or the output is not a
terminal.
"""

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
from tlsperf.contract.results import Cell, Results
from tlsperf.publish.lines import INTERVAL, Line, has_intervals, heading, shown_tables

_STYLES: Final = {"faster": "green", "slower": "red", "no difference shown": "dim"}
_WIDE: Final = 10_000
"""Width in columns if the output is not a terminal, so that lines are not broken."""


def terminal() -> Console:
    """A console that does not break lines if the output is a file or pipe."""
    width = None if sys.stdout.isatty() else _WIDE
    return Console(highlight=False, markup=False, emoji=False, width=width)


def print_results(results: Results, console: Console) -> None:
    """Prints the figures of a report or run, each with its interval, its ratio and its verdict."""
    console.print(Text(results.title, style="bold"))
    for line in heading(results):
        console.print(line)
    for table, baseline, lines in shown_tables(results):
        console.print()
        console.print(Text(f"{table.title}, {table.unit}", style="bold"), end="")
        console.print(Text(f"  ({table.better} is better)", style="dim"))
        console.print(_table(baseline, lines))
        console.print(Text(table.caption, style="dim"))
    if results.warnings:
        console.print()
    for warning in results.warnings:
        console.print(Text(f"warning: {warning.message}", style="yellow"))


def _table(baseline: str | None, lines: list[Line]) -> Table:
    intervals = has_intervals(lines)
    columns = ["", "median", *([INTERVAL] if intervals else [])]
    columns.append(f"against {baseline}" if baseline else "")
    laid_out = _laid_out(columns, right={"median"})
    before = None
    for line in lines:
        if line.row != before:
            laid_out.add_row(Text(line.row, style="bold"))
        before = line.row
        texts = [Text(f"  {line.label}"), _figure(line.cell)]
        if intervals:
            texts.append(Text(line.cell.interval or "", style="dim"))
        laid_out.add_row(*texts, Text(line.remark, style=_style(line.cell)))
    return laid_out


def _figure(cell: Cell) -> Text:
    if not cell.valid or cell.value is None:
        return Text(cell.text, style="dim")
    return Text(cell.text, style="bold" if cell.best else "")


def _style(cell: Cell) -> str:
    if cell.value is None or not cell.valid:
        return "yellow"
    return "dim" if cell.ratio is None else _STYLES.get(cell.ratio.verdict, "")


def print_comparison(
    left: ComparedSide,
    right: ComparedSide,
    rows: Sequence[Comparison],
    without: Sequence[LeftOut],
    console: Console,
) -> None:
    """Prints two implementations side by side: figures, factor and verdict."""
    names = ["scenario", "unit", left.label, right.label, "factor", "verdict", "note"]
    if not any(row.note for row in rows):
        names.pop()
    table = _laid_out(names, right=set(names[2:5]))
    for row in rows:
        verdict = row.estimate.verdict if row.estimate else ""
        texts = [row.pair.name, row.pair.row.unit, number_text(row.left), number_text(row.right)]
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
