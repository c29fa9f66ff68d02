"""The output of `tlsperf show` and `compare`: files as text, or aligned tables on a terminal.

Tables are in colour unless NO_COLOR is set or the output is not a terminal.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Final, Literal

from rich.console import Console, ConsoleOptions, RenderableType
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from tlsperf.contract.results import Cell, Results
from tlsperf.contract.text import printable
from tlsperf.publish.exports import results_csv, results_json
from tlsperf.publish.lines import Line, ShownTable, heading, results_markdown, shown_tables, warned

_STYLES: Final = {"faster": "green", "slower": "red", "no difference shown": "dim"}
_WIDE: Final = 10_000
"""Width in columns if the output is not a terminal, so that lines are not broken."""
_INDENT: Final = 2
_GAP: Final = 2
_LEAST_LABEL: Final = 20
"""Least width of the labels in columns, also on a narrow terminal."""


class _Terminal(Console):
    """A console whose colours reach the terminal, and no control character of a text."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterator[Segment]:
        for segment in super().render(renderable, options):
            yield Segment(printable(segment.text), segment.style, segment.control)


def terminal() -> Console:
    """A console that does not break lines if the output is a file or pipe."""
    width = None if sys.stdout.isatty() else _WIDE
    beneath = getattr(sys.stdout, "beneath", sys.stdout)
    return _Terminal(file=beneath, highlight=False, markup=False, emoji=False, width=width)


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
        _print_rows(shown, console)
        console.print(Text(shown.caption, style="dim"))
    warnings = warned(results)
    if warnings:
        console.print()
    for message in warnings:
        console.print(Text(f"warning: {message}", style="yellow"))


def _print_rows(shown: ShownTable, console: Console) -> None:
    """Prints the name of each row on a line of its own, and its figures in columns below it."""
    against = f"against {shown.baseline}" if shown.baseline else ""
    heads = [Text(name, style="dim") for name in ("", *shown.heads, against)]
    figures = [_cells(line, has_interval=shown.has_intervals) for line in shown.lines]
    widths = _widths([heads, *figures], console.width)
    _print_line(heads, widths, console)
    before = None
    for line, cells in zip(shown.lines, figures, strict=True):
        if line.row != before:
            console.print(Text(line.row, style="bold"))
        before = line.row
        _print_line(cells, widths, console)


def _cells(line: Line, *, has_interval: bool) -> list[Text]:
    """The label, the figure, its interval if the table has any, and the remark."""
    interval = [Text(line.cell.interval or "", style="dim")] if has_interval else []
    remark = Text(line.remark, style=_style(line.cell))
    return [Text(line.label), _figure(line.cell), *interval, remark]


def _widths(lines: Sequence[Sequence[Text]], room: int) -> list[int | None]:
    """The widths of the columns. Where the room is small, labels are folded; remarks have the rest."""
    label, *figures, remark = (
        max(text.cell_len for text in column) for column in zip(*lines, strict=True)
    )
    room -= _INDENT + sum(figures) + _GAP * (len(figures) + 2)
    return [_INDENT + min(label, max(_LEAST_LABEL, room - remark)), *figures, None]


def _print_line(cells: Sequence[Text], widths: Sequence[int | None], console: Console) -> None:
    laid_out = Table.grid(padding=(0, _GAP, 0, 0))
    for number, width in enumerate(widths):
        justify: Literal["left", "right"] = "right" if number == 1 else "left"
        laid_out.add_column(width=width, justify=justify, overflow="fold")
    laid_out.add_row(Padding(cells[0], (0, 0, 0, _INDENT)), *cells[1:])
    console.print(laid_out)


def _figure(cell: Cell) -> Text:
    if not cell.valid or cell.value is None:
        return Text(cell.text, style="dim")
    return Text(cell.text, style="bold" if cell.best else "")


def _style(cell: Cell) -> str:
    if cell.value is None or not cell.valid:
        return "yellow"
    return "dim" if cell.ratio is None else _STYLES.get(cell.ratio.verdict, "")
