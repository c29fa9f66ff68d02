"""One scenario through the nights: a line, and a dashed rule before each night with a step."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

from tlsperf.contract.metrics import Unit
from tlsperf.report.charts.lines import Line, Point, lines
from tlsperf.report.charts.panels import SINGLE, grid
from tlsperf.report.charts.picture import Picture

HEIGHT: Final = 170
LABELS: Final = 6
"""Nights that the axis names, at most: a label has room for ten characters."""
AROUND: Final = 0.02
"""Part of the figures left free above and below the line, so that a line without steps is flat."""


class Nights(NamedTuple):
    """The picture, and how to read it."""

    picture: Picture
    note: str


def nights(
    colour: str,
    labels: Sequence[str],
    values: Sequence[float | None],
    firsts: Collection[int],
    unit: Unit,
) -> Nights:
    """The chart of `values` by night; `firsts` are the nights with which a step begins."""
    drawn: list[list[Point]] = [[]]
    for night, value in enumerate(values):
        if value is None:
            drawn.append([])
        else:
            drawn[-1].append(Point(night, value))
    known = [value for value in values if value is not None]
    every = -(-len(labels) // LABELS)
    named = {night: label for night, label in enumerate(labels) if night % every == 0}
    names = ",".join(f"{night}:'{label}'" for night, label in named.items())
    plot = lines(
        [],
        [Line(colour, points) for points in drawn if points],
        x_axis={
            "values": list(named),
            "labelExpr": f"{{{names}}}[datum.value]",
            "labelOverlap": "parity",
            "labelSeparation": 8,
        },
        x_domain=(-0.5, len(labels) - 0.5),
        y_scale={
            "domain": [min(known) * (1 - AROUND), max(known) * (1 + AROUND)],
            "nice": False,
            "zero": False,
        },
        marks=[night - 0.5 for night in sorted(firsts)],
        width=SINGLE,
        height=HEIGHT,
    )
    note = f"{unit} by night, lower is better; the scale does not begin at zero."
    if firsts:
        marked = ", ".join(labels[night] for night in sorted(firsts))
        note += f" Dashed: a step at {marked}."
    return Nights(grid([plot]), note)
