"""The head of a chart's file: its title, how to read it, and the legend of its lines.

On the page of a report, the same head is HTML, which wraps.
"""

from __future__ import annotations

from typing import Final, NamedTuple
from xml.sax.saxutils import escape, quoteattr

from tlsperf.contract.libraries import LIGHT
from tlsperf.contract.results import Chart, Key
from tlsperf.report.charts.panels import LINE, wrapped
from tlsperf.report.charts.theme import CLASSES, TEXT, text_width

SAMPLE: Final = 26
BELOW: Final = 14
MARGIN: Final = 12
"""Margin of a chart's file in pixels, on all sides."""


class Head(NamedTuple):
    """The lines of a head as SVG, and their height in pixels."""

    svg: str
    height: int


def head_of(chart: Chart) -> Head:
    """The head of a chart's file, inside its margins."""
    width = chart.width - 2 * MARGIN
    words = [(line, ' font-weight="600"') for line in wrapped(chart.title, width)]
    words += [(line, "") for line in wrapped(chart.note, width)] if chart.note else []
    lines = [
        f'<text x="{MARGIN}" y="{MARGIN + LINE * n}"{weight}>{escape(line)}</text>'
        for n, (line, weight) in enumerate(words, start=1)
    ]
    y = MARGIN + LINE * len(words)
    for row in _rows(chart, width):
        y += LINE + 2
        lines += [_key(key, x, y) for key, x in row]
    group = f'<g class="{CLASSES[TEXT]}" fill="{TEXT}">' + "".join(lines) + "</g>"
    return Head(group, y + BELOW)


def _rows(chart: Chart, width: int) -> list[list[tuple[Key, int]]]:
    """The keys with their x positions, in rows that fit into the chart's width."""
    rows: list[list[tuple[Key, int]]] = []
    x = width
    for key in chart.keys:
        room = SAMPLE + text_width(len(key.label)) + 12
        if x + room > width + 12:
            rows.append([])
            x = 0
        rows[-1].append((key, MARGIN + x))
        x += room
    return rows


def _key(key: Key, x: int, y: int) -> str:
    dash = f" stroke-dasharray={quoteattr(key.dash)}" if key.dash else ""
    colour = LIGHT[key.colour]
    line = f'fill="none" stroke="{colour}" stroke-width="2"{dash}'
    return (
        f'<path class="{CLASSES[colour]}" {line} d="M{x},{y - 4}h{SAMPLE - 6}"/>'
        f'<text x="{x + SAMPLE}" y="{y}">{escape(key.label)}</text>'
    )
