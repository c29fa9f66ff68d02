"""A strip: what each release of a library changed, with the releases on the x axis.

A band for each series, one above the other; all bands of a strip share the log scale of ratios to the
first release. Steps are marked by a dot and their release. Drawn twice: for wide screens and phones.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tlsperf.contract.libraries import LIGHT
from tlsperf.report.charts.figure import (
    LINE,
    NARROW,
    WIDE,
    Scale,
    Text,
    figure_files,
    lines_of,
    paper,
    ratio_words,
    rules,
    stacked,
    texts,
    widest,
)
from tlsperf.report.charts.panels import Panel, Picture, pixel
from tlsperf.report.charts.theme import figure_text_width

HEIGHT: Final = 104
"""Height of a band in pixels."""
AXIS: Final = 56
RIGHT: Final = 62
"""Room for the numbers of the axis, and for that of the last release, in pixels."""
INSET: Final = 14
MOST_LABEL: Final = 210
GAP: Final = 18
DOT: Final = 5
STEP: Final = 12


@dataclass(frozen=True)
class StripPoint:
    """A release by its place in `Strip.releases`; `ratio` to the first release, above 1 is better.

    `low` and `high` are its interval; absent: a count, or not tested.
    """

    release: int
    ratio: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class StripSeries:
    """One scenario through the releases; its points are in their order, and may have gaps.

    A line holds until the next release, and is broken at a gap. `steps` are the places of releases that changed the figure.
    """

    label: str
    colour: str
    """A colour class, as `ShownImplementation.colour`."""
    points: Sequence[StripPoint]
    steps: Collection[int] = ()


@dataclass(frozen=True)
class Strip:
    """The releases of a library in order, and its series.

    `anchor` begins the names of the files and the ids in them. `first` is the label of the release
    that ratios are to, "rustls 0.20.0".
    """

    anchor: str
    title: str
    releases: Sequence[str]
    series: Sequence[StripSeries]
    first: str

    @property
    def description(self) -> str:
        """The text alternative: the first and last ratio of each series, and its steps."""
        return f"Ratios to {self.first}, above 1 is better. {'; '.join(map(self._words, self.series))}."

    def _words(self, series: StripSeries) -> str:
        if not series.points:
            return f"{series.label} not measured"
        last = series.points[-1]
        words = f"{series.label} {ratio_words(last.ratio)} in {self.releases[last.release]}"
        steps = ", ".join(self.releases[step] for step in sorted(series.steps))
        return f"{words}, steps at {steps}" if steps else words


def strip_files(strip: Strip) -> dict[str, str]:
    """The two drawings by the names of their files, `<anchor>.svg` and `<anchor>-narrow.svg`.

    `picture(...)` of `templates/macros/picture.html` shows both. Raises ValueError without a point.
    """
    if not any(series.points for series in strip.series):
        raise ValueError(f"{strip.anchor}: a strip with a point, not one without")
    drawn = (_drawn(strip, width) for width in (WIDE, NARROW))
    return figure_files(strip.anchor, strip.title, strip.description, *drawn)


def _drawn(strip: Strip, width: int) -> Picture:
    scale = Scale.of(
        bound
        for series in strip.series
        for point in series.points
        for bound in (point.ratio, point.low, point.high)
        if bound is not None
    )
    # Names of steps are above the line.
    scale = Scale(scale.low, scale.high * (scale.high / scale.low) ** 0.2)
    label = 0
    if width == WIDE:
        label = widest(line for s in strip.series for line in lines_of(s.label, MOST_LABEL)) + 16
    last = len(strip.series) - 1
    bands = [
        _band(strip, series, scale, label, width, n == 0, n == last)
        for n, series in enumerate(strip.series)
    ]
    return stacked(bands, GAP, width)


def _band(
    strip: Strip,
    series: StripSeries,
    scale: Scale,
    label: int,
    width: int,
    is_first: bool,
    is_last: bool,
) -> Panel:
    """The band of one series; its label is beside it, or above it without room for labels."""
    left = label + AXIS
    plot = width - left - RIGHT
    places = {p.release: _place(strip, p.release, plot) for p in series.points}
    words: list[Text] = []
    top = 0
    if is_first:
        words.append(Text(-AXIS, -8, f"better than {strip.first} ↑"))
        top += LINE + 6
    if label:
        lines = lines_of(series.label, label)
        words += [
            Text(-left, HEIGHT / 2 + 6 - LINE * ((len(lines) - 1) / 2 - n), line)
            for n, line in enumerate(lines)
        ]
    else:
        lines = lines_of(series.label, width)
        words = [word._replace(y=word.y - LINE * len(lines)) for word in words]
        words = [
            *words,
            *(
                Text(-left, LINE * (n + 1 - len(lines)) - 10, line, weight="bold")
                for n, line in enumerate(lines)
            ),
        ]
        top += LINE * len(lines) + 6
    if series.points:
        end = series.points[-1]
        y = HEIGHT - scale.at(end.ratio, HEIGHT)
        x = places[end.release] + 12
        words.append(Text(x, y + 5, f"{ratio_words(end.ratio)}×", weight="bold"))
    one = HEIGHT - scale.at(1, HEIGHT)
    named = _named(strip, series, plot)
    bottom = 0
    if is_last:
        words += [
            Text(_place(strip, n, plot), HEIGHT + LINE + 2, strip.releases[n], "center")
            for n in named
        ]
        bottom = LINE + 8
    channel = scale.channel("ratio", scale.ticks(HEIGHT, LINE + 2), grid=True)
    values = [
        {
            "x": places[point.release],
            "ratio": point.ratio,
            "low": point.low,
            "high": point.high,
            "step": point.release in series.steps,
        }
        for point in series.points
    ]
    colour = LIGHT[series.colour]
    steps = [value for value in values if value["step"]]
    names = _steps(strip, series, scale, places) if len(named) < len(strip.releases) else []
    layers: list[dict[str, Any]] = [
        rules([{"x": 0, "x2": plot, "y": one, "y2": one}], strong=True),
        paper(names),
        {
            "data": {"values": [value for value in values if value["low"] is not None]},
            "mark": {"type": "rule", "strokeWidth": 3, "color": colour},
            "encoding": {
                "x": pixel("x"),
                "y": {**channel, "field": "low"},
                "y2": {"field": "high"},
            },
        },
        *(
            {
                "data": {"values": run},
                "mark": {"type": "line", "strokeWidth": 2, "color": colour},
                "encoding": {"x": pixel("x"), "y": channel},
            }
            for run in map(_stairs, _runs(series, values))
        ),
        *(
            {
                "data": {"values": of},
                "mark": {"type": "point", "filled": True, "size": size**2, "color": colour},
                "encoding": {"x": pixel("x"), "y": channel, "fillOpacity": {"value": 1}},
            }
            for of, size in ((values, DOT), (steps, STEP))
            if of
        ),
        texts(words),
        texts(names),
    ]
    view = {"width": plot, "height": HEIGHT, "layer": layers}
    return Panel(view, width, top + HEIGHT + bottom, left, top)


def _place(strip: Strip, release: int, plot: float) -> float:
    """Where a release is, in pixels from the left of the plot."""
    return INSET + (plot - 2 * INSET) * release / max(1, len(strip.releases) - 1)


def _runs(series: StripSeries, values: Sequence[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """The points of each piece of a line with more than one."""
    run: list[dict[str, Any]] = []
    before = None
    for point, value in zip(series.points, values, strict=True):
        if before is not None and point.release != before + 1:
            yield from [run] if len(run) > 1 else []
            run = []
        run.append(value)
        before = point.release
    yield from [run] if len(run) > 1 else []


def _stairs(run: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The corners of a line on which each figure holds until the next release."""
    corners = [{**before, "x": after["x"]} for before, after in itertools.pairwise(run)]
    return [place for pair in zip(run, corners, strict=False) for place in pair] + [run[-1]]


def _named(strip: Strip, series: StripSeries, plot: float) -> list[int]:
    """The releases that the axis names: the last, the first, and those between that fit."""
    last = len(strip.releases) - 1
    chosen: list[int] = []
    spans: list[tuple[float, float]] = []
    every = max(1, -(-last // 12))
    for n in dict.fromkeys([last, 0, *range(every, last, every)]):
        half = figure_text_width(strip.releases[n]) / 2 + 6
        at = _place(strip, n, plot)
        if all(at + half <= left or at - half >= right for left, right in spans):
            chosen.append(n)
            spans.append((at - half, at + half))
    return sorted(chosen)


def _steps(strip: Strip, series: StripSeries, scale: Scale, places: dict[int, float]) -> list[Text]:
    """The releases of steps beside their dots, as far as there is room for them.

    A name is above the lower end of its step: before a rise, and after a fall. It is after a rise
    that has no room before it. No name is on the line, on another one or on the last figure.
    """
    at = [(places[p.release], HEIGHT - scale.at(p.ratio, HEIGHT)) for p in series.points]
    taken = [
        (min(x, x2), min(y, y2), max(x, x2), max(y, y2))
        for (x, y), (x2, y2) in itertools.pairwise(at)
        for x, y, x2, y2 in ((x, y, x2, y), (x2, y, x2, y2))
    ]
    x, y = at[-1]
    taken.append((x + 12, y - LINE / 2, x + RIGHT, y + LINE / 2))
    found: list[Text] = []
    pairs = itertools.pairwise(zip(series.points, at, strict=True))
    for (_, (_, y_before)), (point, (x, y)) in pairs:
        name = strip.releases[point.release]
        width = figure_text_width(name)
        is_rise = y < y_before
        choices = (
            [(x - width - 9, y_before - 9), (x + 9, y + LINE)] if is_rise else [(x + 9, y - 9)]
        )
        for left, below in choices:
            box = (left, below - 14, left + width, below + 4)
            is_inside = left >= 0 and box[2] <= places[series.points[-1].release] + RIGHT
            if (
                point.release in series.steps
                and is_inside
                and not any(_meet(box, other) for other in taken)
            ):
                taken.append(box)
                found.append(Text(left, below, name))
                break
    return found


_Box = tuple[float, float, float, float]


def _meet(a: _Box, b: _Box) -> bool:
    """Whether two boxes (left, top, right, bottom) have a point in common."""
    return a[0] <= b[2] and b[0] <= a[2] and a[1] <= b[3] and b[1] <= a[3]
