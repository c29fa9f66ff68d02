"""The output of `tlsperf show` and `compare`: files as text, or aligned tables on a terminal.

Tables are in colour unless NO_COLOR is set or the output is not a terminal.
"""

from __future__ import annotations

import sys
from typing import Final, Literal

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tlsperf.contract.results import Cell, Results
from tlsperf.publish.exports import results_csv, results_json
from tlsperf.publish.lines import ShownTable, heading, results_markdown, shown_tables, warned

_STYLES: Final = {"faster": "green", "slower": "red", "no difference shown": "dim"}
_WIDE: Final = 10_000
"""Width in columns if the output is not a terminal, so that lines are not broken."""


def terminal() -> Console:
    """A console that does not break lines if the output is a file or pipe."""
    width = None if sys.stdout.isatty() else _WIDE
    return Console(highlight=False, markup=False, emoji=False, width=width)


def print_as(form: Literal["text", "csv", "json", "markdown"], results: Results) -> None:
    """Prints the figures of a report or run."""
    match form:
        case "json":
            print(results_json(results), end="")
        case "csv":
            print(results_csv(results), end="")
        case "markdown":
            print(results_markdown(results), end="")
        case "text":
            print_results(results, terminal())


def print_results(results: Results, console: Console) -> None:
    """Prints the figures of a report or run, each with its interval, its ratio and its verdict."""
    console.print(Text(results.title, style="bold"))
    for line in heading(results):
        console.print(line)
    for shown in shown_tables(results):
        table = shown.table
        console.print()
        console.print(Text(f"{table.title}, {table.unit}", style="bold"), end="")
        console.print(Text(f"  ({table.better} is better)", style="dim"))
        console.print(_table(shown))
        console.print(Text(shown.caption, style="dim"))
    warnings = warned(results)
    if warnings:
        console.print()
    for message in warnings:
        console.print(Text(f"warning: {message}", style="yellow"))


def _table(shown: ShownTable) -> Table:
    laid_out = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    against = f"against {shown.baseline}" if shown.baseline else ""
    for name in ["", *shown.heads, against]:
        justify: Literal["left", "right"] = "right" if name == shown.heads[0] else "left"
        laid_out.add_column(Text(name), justify=justify, overflow="fold")
    before = None
    for line in shown.lines:
        if line.row != before:
            laid_out.add_row(Text(line.row, style="bold"))
        before = line.row
        texts = [Text(f"  {line.label}"), _figure(line.cell)]
        if shown.has_intervals:
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
