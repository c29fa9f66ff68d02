"""One scenario through the nights: a line, and a dashed rule before each night with a step."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from tlsperf.contract.metrics import Unit
from tlsperf.report.charts.kind import Drawing, titled
from tlsperf.report.charts.lines import AS_MANY_AS_FIT, Point, broken, lines
from tlsperf.report.charts.panels import SINGLE, grid

HEIGHT: Final = 170
LABELS: Final = 6
"""Nights that the axis names, at most: a label has room for ten characters."""
AROUND: Final = 0.02
"""Part of the figures left free above and below the line, so that a line without steps is flat."""


def nights(
    anchor: str,
    title: str,
    description: str,
    colour: str,
    labels: Sequence[str],
    values: Sequence[float | None],
    firsts: Collection[int],
    unit: Unit,
) -> Drawing:
    """The chart of `values` by night; `firsts` are the nights with which a step begins."""
    points = [None if v is None else Point(night, v) for night, v in enumerate(values)]
    known = [value for value in values if value is not None]
    every = -(-len(labels) // LABELS)
    plot = lines(
        [],
        broken(colour, points),
        names={night: [label] for night, label in enumerate(labels) if night % every == 0},
        x_axis=AS_MANY_AS_FIT,
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
    return titled(anchor, title, grid([plot]), description, note)
