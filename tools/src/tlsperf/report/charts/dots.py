"""Dots of ratios to a baseline on one log scale: the picture of a report, an answer and Home.

A row for each scenario or library, with a dot for each host and its interval as a line through it.
All panels of a figure share the scale. The baseline is a strong line at 1; better is to the right.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from tlsperf.report.charts.figure import (
    LINE,
    NARROW,
    SIDE,
    TICK,
    WIDE,
    Scale,
    Text,
    figure_files,
    in_rows,
    lines_of,
    paper,
    ratio_words,
    rules,
    texts,
    widest,
)
from tlsperf.report.charts.panels import Panel, Picture, pixel
from tlsperf.report.charts.theme import COLOUR, figure_text_width

MARKS: Final = (
    ("circle", False),
    ("circle", True),
    ("square", False),
    ("square", True),
    ("diamond", False),
    ("diamond", True),
)
"""The marks of hosts in their order: a shape, and whether it is hollow."""

MOST_BESIDE: Final = 5
"""Limit of panels side by side."""
MOST_LABEL: Final = 300
MOST_LABEL_ALONE: Final = 440
MOST_LABEL_NARROW: Final = 150
"""Limits of the width of labels beside their dots, in pixels: beside panels side by side, beside one
panel, and on phones. Longer ones are wrapped on wide screens, and above the dots on phones.
"""

SEEN: Final = 1.03
"""An interval whose ends are less apart is behind its dot."""

DOT: Final = 12
HOLE: Final = 6.5
PALE: Final = 0.4
"""Opacity of a dot that shows no difference."""
STEP: Final = 11
"""Distance in pixels between the dots of two hosts in a row."""
ROW: Final = 26
"""Least height of a row in pixels."""
GAP: Final = 14
"""Room between rows of panels in pixels."""
LONG: Final = 4
"""A panel with this many rows has the numbers of the axis, though another one is below it."""


@dataclass(frozen=True)
class Dot:
    """The ratio of a row on a host, by its place in `Dots.hosts`; above 1 is better.

    `low` and `high` are its interval; absent: it has none. `is_shown` is whether its verdict is
    faster or slower.
    """

    host: int
    ratio: float
    low: float | None = None
    high: float | None = None
    is_shown: bool = True


@dataclass(frozen=True)
class DotRow:
    """A label, its dots, and the colour class of the library."""

    label: str
    colour: str
    dots: Sequence[Dot]


@dataclass(frozen=True)
class DotPanel:
    """Rows under a title. An empty title is not drawn."""

    title: str
    rows: Sequence[DotRow]


@dataclass(frozen=True)
class Dots:
    """A figure. `anchor` begins the names of its files and the ids in them.

    `baseline` is the label of the line at 1, `hosts` the names of the hosts in order, `notes` what
    holds of all rows.
    """

    anchor: str
    title: str
    baseline: str
    hosts: Sequence[str]
    panels: Sequence[DotPanel]
    notes: Sequence[str] = ()

    @property
    def better(self) -> str:
        """The words of the axis for ratios above 1."""
        return f"better than {self.baseline}"

    @property
    def every(self) -> list[Dot]:
        return [dot for panel in self.panels for row in panel.rows for dot in row.dots]

    @property
    def description(self) -> str:
        """The text alternative: the ratio of each row on each host."""
        panels = [
            (f"{panel.title}: " if panel.title else "")
            + "; ".join(f"{row.label} {self.words(row)}" for row in panel.rows)
            for panel in self.panels
        ]
        return f"Ratios to {self.baseline}, above 1 is better. {'. '.join([*self.notes, *panels])}."

    def words(self, row: DotRow) -> str:
        """The ratios of a row: `1.97 on Intel VM, 1.02 on AMD Zen 4 VM (no difference shown)`."""
        if not row.dots:
            return "not measured"
        return ", ".join(
            ratio_words(dot.ratio)
            + (f" on {self.hosts[dot.host]}" if len(self.hosts) > 1 else "")
            + ("" if dot.is_shown else " (no difference shown)")
            for dot in row.dots
        )


def picture_files(dots: Dots) -> dict[str, str]:
    """The two drawings by the names of their files, `<anchor>.svg` and `<anchor>-narrow.svg`.

    Raises ValueError for a figure without a dot, and for more hosts than there are marks.
    """
    if not dots.every:
        raise ValueError(f"{dots.anchor}: a figure with a dot, not one without")
    if len(dots.hosts) > len(MARKS):
        raise ValueError(f"{dots.anchor}: at most {len(MARKS)} hosts, not {len(dots.hosts)}")
    return figure_files(
        dots.anchor, dots.title, dots.description, _drawn(dots, WIDE), _drawn(dots, NARROW)
    )


# --- layout --------------------------------------------------------------------------------------


class _Place(NamedTuple):
    """How a panel is drawn."""

    plot: int
    """Width of its plot in pixels."""
    label: int
    """Width of labels beside the dots; 0: labels are above the dots."""
    is_first: bool
    """Whether it is the first of its row: labels beside the dots are there alone."""
    is_alone: bool
    """Whether no panel is beside it."""
    title: Sequence[str]
    """Lines of its title, as many as those of the panels beside it."""
    is_named: bool
    """Whether the line at 1 has its label, above the plot."""
    is_numbered: bool
    """Whether the axis has its numbers."""
    has_words: bool
    """Whether the better side of the axis is named."""


def _drawn(dots: Dots, width: int) -> Picture:
    """The drawing of a width."""
    rows = _beside(dots, width)
    scale = Scale.of(
        bound for dot in dots.every for bound in (dot.ratio, dot.low, dot.high) if bound is not None
    )
    labels = [row.label for panel in dots.panels for row in panel.rows]
    count = max(map(len, rows))
    most = MOST_LABEL if count > 1 else MOST_LABEL_ALONE
    is_above = width == NARROW and widest(labels) > MOST_LABEL_NARROW
    label = 0 if is_above else widest(line for text in labels for line in lines_of(text, most))
    plot = (width - label - 2 * SIDE * count) // count
    legend = _legend(dots, width)
    drawn = [[legend]] if legend else []
    room = width if count == 1 else plot + SIDE
    for number, panels in enumerate(rows):
        is_last = number == len(rows) - 1
        titles = [lines_of(p.title, room, "bold") if p.title else [] for p in panels]
        titled = max(map(len, titles))
        drawn.append(
            [
                _panel(
                    panel,
                    dots,
                    scale,
                    _Place(
                        plot=plot,
                        label=label,
                        is_first=n == 0,
                        is_alone=count == 1,
                        title=[*[""] * (titled - len(title)), *title],
                        is_named=n == 0 and (count > 1 or number == 0),
                        is_numbered=is_last or count > 1 or len(panel.rows) >= LONG,
                        has_words=is_last or count > 1,
                    ),
                )
                for n, (panel, title) in enumerate(zip(panels, titles, strict=True))
            ]
        )
    return in_rows(drawn, GAP, width)


def _beside(dots: Dots, width: int) -> list[list[DotPanel]]:
    """The panels in rows: those with the same labels side by side if the drawing is wide."""
    panels = dots.panels
    alike = {tuple(row.label for row in panel.rows) for panel in panels}
    if width == NARROW or len(alike) > 1:
        return [[panel] for panel in panels]
    rows = -(-len(panels) // MOST_BESIDE)
    count = -(-len(panels) // rows)
    return [list(panels[n : n + count]) for n in range(0, len(panels), count)]


def _panel(panel: DotPanel, dots: Dots, scale: Scale, place: _Place) -> Panel:
    plot, one = place.plot, scale.at(1, place.plot)
    left = SIDE + (place.label if place.is_first else 0)
    labels: list[Text] = []
    hairs: list[dict[str, float]] = []
    values: list[dict[str, Any]] = []
    y = 0.0
    for row in panel.rows:
        lines = lines_of(row.label, place.label or plot + 2 * SIDE)
        height = STEP * len(dots.hosts) + 8
        if place.label:
            height = max(ROW, height, LINE * len(lines) + 4)
            middle = y + height / 2
            first = middle + 6 - LINE * (len(lines) - 1) / 2
        else:
            middle = y + LINE * len(lines) + height / 2
            first = y + 15
            height += LINE * len(lines) + 4
        if place.is_first:
            labels += [Text(-left, first + LINE * n, line) for n, line in enumerate(lines)]
        hairs.append({"x": -SIDE, "x2": plot + SIDE, "y": middle, "y2": middle})
        for dot in row.dots:
            values.append(
                {
                    "ratio": dot.ratio,
                    "low": dot.low,
                    "high": dot.high,
                    "colour": row.colour,
                    "opacity": 1 if dot.is_shown else PALE,
                    "host": dot.host,
                    "y": middle + (dot.host - (len(dots.hosts) - 1) / 2) * STEP,
                }
            )
        y += height
    words: list[Text] = []
    top = 0
    if place.is_named or not place.is_alone:
        top = LINE + 4
    if place.is_named:
        words.append(_within(dots.baseline, one, plot, -8, "center"))
    words += [
        Text(-left if place.is_alone else -SIDE, -top - 6 - LINE * n, line, weight="bold")
        for n, line in enumerate(reversed(place.title))
        if line
    ]
    top += LINE * len(place.title) + 4
    bottom = 0
    if place.is_numbered:
        bottom = TICK
    if place.has_words:
        better = dots.better if place.is_alone else "better"
        words.append(_within(f"{better} →", one, plot, y + TICK + 14, "left"))
        bottom = TICK + LINE
    ticks = scale.ticks(plot)
    axis = {"labels": place.is_numbered}
    layers = [
        rules(hairs),
        _intervals(values, scale.channel("low", ticks, **axis)),
        rules([{"x": one, "x2": one, "y": -3, "y2": y}], strong=True),
        *([] if place.label else [paper(labels)]),
        *_marks(values, scale.channel("ratio", ticks, **axis)),
        texts([*words, *labels]),
    ]
    view = {"width": plot, "height": y, "layer": layers}
    return Panel(view, left + plot + SIDE, round(top + y + bottom), left, top)


def _within(text: str, x: float, plot: float, y: float, align: str) -> Text:
    """A text at x if it ends inside the panel, or else at the panel's end."""
    width = figure_text_width(text)
    left, right = (x - width / 2, x + width / 2) if align == "center" else (x, x + width)
    if right > plot + SIDE:
        return Text(plot + SIDE, y, text, "right")
    if left < -SIDE:
        return Text(-SIDE, y, text)
    return Text(x, y, text, align)


def _intervals(values: Sequence[dict[str, Any]], x: dict[str, Any]) -> dict[str, Any]:
    return {
        "data": {"values": [value for value in values if value["low"] is not None]},
        "mark": {"type": "rule", "strokeWidth": 3},
        "encoding": {
            "x": x,
            "x2": {"field": "high"},
            "y": pixel("y"),
            "color": COLOUR,
            "strokeOpacity": {"field": "opacity", "type": "quantitative", "scale": None},
        },
    }


def _marks(values: Sequence[dict[str, Any]], x: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The layers of dots; a hollow one has a smaller dot of paper on it."""
    for host, (shape, is_hollow) in enumerate(MARKS):
        of = [value for value in values if value["host"] == host]
        if not of:
            continue
        yield _points(of, x, shape, DOT)
        if is_hollow:
            hole = [{**value, "colour": "paper", "opacity": 1} for value in of]
            yield _points(hole, x, shape, HOLE)


def _points(
    values: Sequence[dict[str, Any]], x: dict[str, Any], shape: str, size: float
) -> dict[str, Any]:
    across = size * {"circle": 1.0, "square": 0.9, "diamond": 1.3}[shape]
    return {
        "data": {"values": list(values)},
        "mark": {"type": "point", "filled": True, "shape": shape, "size": across**2},
        "encoding": {
            "x": x,
            "y": pixel("y"),
            "color": COLOUR,
            "fillOpacity": {"field": "opacity", "type": "quantitative", "scale": None},
        },
    }


def _legend(dots: Dots, width: int) -> Panel | None:
    """The marks of hosts, and how to read lines and pale dots; None if there is nothing to say."""
    said = _how_to_read(dots)
    entries: list[tuple[int | None, str]] = []
    if len(dots.hosts) > 1:
        entries += list(enumerate(dots.hosts))
    entries += [(None, text) for text in said]
    if not entries:
        return None
    words: list[Text] = []
    values: list[dict[str, Any]] = []
    x, y = 0.0, 15
    for host, text in entries:
        for n, line in enumerate(lines_of(text, width - 20)):
            room = figure_text_width(line) + (18 if host is not None else 0)
            if x and (x + room > width or n):
                x, y = 0.0, y + LINE + 2
            if host is not None:
                values.append(
                    {"ratio": x + 7, "y": y - 6, "host": host, "colour": "text", "opacity": 1}
                )
                words.append(Text(x + 18, y, line))
            else:
                words.append(Text(x, y, line))
            x += room + 24
    layers = [*_marks(values, pixel("ratio")), texts(words)]
    view = {"width": width, "height": y, "layer": layers}
    return Panel(view, width, y + 8, 0, 0)


def _how_to_read(dots: Dots) -> Iterator[str]:
    yield from dots.notes
    if any(dot.low and dot.high and dot.high / dot.low > SEEN for dot in dots.every):
        yield "line: uncertainty"
    if any(not dot.is_shown for dot in dots.every):
        yield "pale: no difference shown"
