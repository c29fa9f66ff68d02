"""Latency distributions on a logarithmic axis: percentiles of each library, one above the other.

Where a histogram is known, its shape stands above the percentiles; its height is the logarithm of
the number of handshakes, so that rare slow ones are seen.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from tlsperf.contract.results import Row, ShownImplementation, Table
from tlsperf.report.charts.kind import Around, Drawing, drawing, groups_of
from tlsperf.report.charts.picture import Picture
from tlsperf.report.charts.theme import WIDTH, colour_channel, text_width

if TYPE_CHECKING:
    from tlsperf.load.histograms import Bin

BAND: Final = 76
SHAPE: Final = 44
AXIS: Final = 46
RIGHT: Final = 28
PERCENTILES: Final = ("p5", "p50", "p90", "p99", "p99.9", "max")


def applies(table: Table) -> bool:
    return table.anchor.endswith("-latency")


def draw(table: Table, around: Around) -> Iterator[Drawing]:
    """A chart for each scenario."""
    implementations = around.implementations
    for scenario, rows in groups_of(table).items():
        # A published histogram is of all threads together.
        without_threads = scenario.model_copy(update={"threads": None})
        shapes = {
            implementation: bins
            for (theirs, implementation), bins in around.histograms.items()
            if theirs in (scenario, without_threads)
        }
        percentiles = [
            f"{shown.label}: "
            + ", ".join(
                f"{row.statistic} {cell.text}"
                for row in rows
                for cell in row.cells
                if cell.value and cell.implementation == shown.id
            )
            for shown in implementations.values()
            if any(c.implementation == shown.id and c.value for row in rows for c in row.cells)
        ]
        yield drawing(
            table,
            latency(rows, implementations, table.unit, shapes),
            f"Percentiles in {table.unit} on a logarithmic axis, a line for each library with the "
            f"median as its largest point. {'; '.join(percentiles)}.",
            scenario,
        )


def latency(
    rows: Sequence[Row],
    implementations: Mapping[str, ShownImplementation],
    unit: str,
    histograms: Mapping[str, Sequence[Bin]],
) -> Picture:
    """Specification and height for the rows of one scenario, which differ in percentile alone.

    `histograms` has the bins of implementations, by id, in ascending order.
    """
    figures = {
        i.id: {
            row.statistic: cell.value
            for row in rows
            for cell in row.cells
            if cell.implementation == i.id and cell.value
        }
        for i in implementations.values()
    }
    present = [i for i in implementations.values() if figures[i.id]]
    left = text_width(max(len(i.label) for i in present)) + 8
    height = BAND * len(present)
    every = [v for f in figures.values() for v in f.values()]
    every += [e for i in present for b in histograms.get(i.id, ()) for e in (b.low, b.high)]
    domain = (min(every) * 0.8, max(every) * 1.25)
    shown = [p for p in PERCENTILES if any(p in f for f in figures.values())]
    shapes = "; shapes: count, logarithmic" if histograms else ""
    colours = sorted({i.colour for i in present})
    colour = colour_channel(colours)
    x = {
        "field": "x",
        "type": "quantitative",
        "scale": {"type": "log", "domain": list(domain), "nice": False},
        "axis": {
            "title": f"{unit}, lower is better; dots: {', '.join(shown)}{shapes}",
            "titleAnchor": "end",
            "values": ticks(*domain),
            "format": ",~f",
            "grid": True,
        },
    }

    def pixel(field: str) -> dict[str, Any]:
        return {"field": field, "type": "quantitative", "scale": None, "axis": None}

    layers: list[dict[str, Any]] = []
    for number, i in enumerate(present):
        base = number * BAND + SHAPE + 10
        bins = histograms.get(i.id, ())
        if bins:
            layers.append(
                {
                    "data": {"values": _shape(bins, base, i.colour)},
                    "mark": {"type": "area", "interpolate": "step-after", "fillOpacity": 0.3},
                    "encoding": {"x": x, "y": pixel("y"), "y2": {"field": "base"}, "color": colour},
                }
            )
        at = base + 9
        known = [s for s in PERCENTILES if s in figures[i.id]]
        values = [
            {"x": figures[i.id][s], "y": at, "colour": i.colour, "name": s, "size": size}
            for s, size in zip(known, (24, 80, 24, 24, 24, 24), strict=False)
        ]
        ends = {"x": figures[i.id][known[0]], "end": figures[i.id][known[-1]], "y": at}
        layers += [
            {
                "data": {"values": [ends | {"colour": i.colour}]},
                "mark": {"type": "rule", "strokeWidth": 3},
                "encoding": {"x": x, "x2": {"field": "end"}, "y": pixel("y"), "color": colour},
            },
            {
                "data": {"values": values},
                "mark": {"type": "point", "filled": True, "opacity": 1},
                "encoding": {
                    "x": x,
                    "y": pixel("y"),
                    "color": colour,
                    "size": {"field": "size", "type": "quantitative", "scale": None},
                },
            },
        ]
    layers.append(
        {
            "data": {
                "values": [
                    {"label": i.label, "y": n * BAND + SHAPE + 10} for n, i in enumerate(present)
                ]
            },
            "mark": {"type": "text", "align": "left", "baseline": "middle", "dy": 4},
            "encoding": {"x": {"value": -left}, "y": pixel("y"), "text": {"field": "label"}},
        }
    )
    specification = {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "autosize": "none",
        "padding": {"left": left, "right": RIGHT, "top": 0, "bottom": AXIS},
        "width": WIDTH - left - RIGHT,
        "height": height,
        "layer": layers,
    }
    return Picture(specification, height + AXIS)


def ticks(low: float, high: float) -> list[float]:
    """1, 2 and 5 of each decade within the ends; 1 and 3, or 1 alone, where those are too many."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1, 2, 5), (1, 3), (1,)):
        found = [s * 10.0**d for d in decades for s in steps if low <= s * 10.0**d <= high]
        if len(found) <= 9:
            break
    return found


def _shape(bins: Sequence[Bin], base: float, colour: str) -> list[dict[str, float | str]]:
    """The outline of a histogram in pixels, down to the base where bins are missing."""
    most = math.log10(max(b.count for b in bins) + 1)
    outline: list[dict[str, float | str]] = []
    end = None
    for b in bins:
        if end is not None and b.low > end * 1.03:
            outline.append({"x": end, "y": base, "base": base, "colour": colour})
        up = base - SHAPE * math.log10(b.count + 1) / most
        outline.append({"x": b.low, "y": round(up, 1), "base": base, "colour": colour})
        end = b.high
    if end is not None:
        outline.append({"x": end, "y": base, "base": base, "colour": colour})
    return outline
