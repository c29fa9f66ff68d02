"""Charts show what their tables have: each figure is drawn where its axis says, and is in words."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from project import EXAMPLE, write_report
from synthetic import TRANSFERS, Rates, counted_run, loaded_run, report_of
from test_drawings import SVG, extents, panels_of
from tlsperf.contract.metrics import Metric, Statistic, Unit
from tlsperf.contract.record import Scenario
from tlsperf.contract.results import Cell, Chart, Ratio, Results, Row, ShownImplementation, Table
from tlsperf.report.charts import KINDS, charts_of
from tlsperf.report.charts.bars import bars_of
from tlsperf.report.charts.heatmap import DOWN, UP, _shown, heat, sign
from tlsperf.report.charts.heatmap import draw as heatmaps
from tlsperf.report.charts.kind import Around, Drawing, draw_first
from tlsperf.report.charts.latency import ticks
from tlsperf.report.charts.lines import (
    HEIGHT,
    LEFT,
    RIGHT,
    Line,
    Point,
    lines,
)
from tlsperf.report.charts.memory import slope
from tlsperf.report.charts.panels import LINE, grid, panel, wrapped
from tlsperf.report.charts.svg import draw, path
from tlsperf.report.charts.theme import CLASSES, HEAT

Corners = list[tuple[float, float]]

# --- the charts of a report ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(tmp_path_factory.mktemp("charts"))


@pytest.fixture(scope="module")
def results(report: Path) -> Results:
    return Results.model_validate_json((report / "results.json").read_text(encoding="utf-8"))


def test_the_example_of_results_json_is_in_step(report: Path) -> None:
    found = (report / "results.json").read_bytes()
    assert found == EXAMPLE.read_bytes(), f"{EXAMPLE}: run make generate"


def test_ratios_of_rates_have_no_chart_because_they_are_in_the_picture(results: Results) -> None:
    assert any(table.baseline for table in results.tables)
    assert [chart for chart in results.charts if chart.table == "transfer"] == []


def test_a_bar_for_every_figure_and_each_in_the_text_alternative(results: Results) -> None:
    implementations = {i.id: i for i in results.implementations}
    for table in results.tables:
        drawing = bars_of(table, implementations)
        for cell in (cell for row in table.rows for cell in row.cells):
            shown = cell.text if cell.valid else f"{cell.text} (not counted)"
            label = implementations[cell.implementation].label
            assert f"{label} {shown}" in drawing.chart.description
        for row, of in zip(table.rows, panels_of(drawn(drawing)), strict=True):
            bars = [e for e in of.iter() if "library-" in e.get("class", "")]
            assert len(bars) == sum(cell.value is not None for cell in row.cells)
            pale = [bar for bar in bars if bar.get("fill-opacity")]
            assert len(pale) == sum(not c.valid for c in row.cells if c.value is not None)


def test_counts_have_bars_though_they_have_ratios() -> None:
    counts = {"openssl-1": 1_000.0, "rustls-2": 900.0}
    report = report_of(counted_run("2026-11-21-a", counts, [SERVER]), baseline="openssl-1").results
    [drawing] = charts_of(report)
    assert drawing.chart.table == report.tables[0].anchor
    assert "Bars" in drawing.chart.description


# --- where a figure is drawn ---------------------------------------------------------------------


def drawn(drawing: Drawing) -> ElementTree.Element:
    return ElementTree.fromstring(draw(drawing.picture, drawing.chart))


def paths(root: ElementTree.Element, class_: str) -> list[ElementTree.Element]:
    return [e for e in root.iter(f"{SVG}path") if e.get("class") == class_]


def corners(written: str) -> Corners:
    """The corners of a path with absolute starts and relative steps."""
    found: Corners = []
    x = y = 0.0
    for command, numbers in re.findall(r"([Mhvl])([^A-Za-z]*)", written):
        n = [float(part) for part in re.findall(r"-?(?:\d+\.?\d*|\.\d+)", numbers)]
        match command:
            case "M":
                x, y = n
            case "h":
                x += n[0]
            case "v":
                y += n[0]
            case "l":
                x, y = x + n[0], y + n[1]
        found.append((x, y))
    return found


def lowest(panel: ElementTree.Element) -> list[ElementTree.Element]:
    """The numbers below a panel."""
    texts = [t for t in panel.iter(f"{SVG}text") if re.fullmatch(r"[\d,.]+", t.text or "")]
    y = max(float(t.get("y") or 0) for t in texts)
    return [text for text in texts if float(text.get("y") or 0) == y]


def axis(panel: ElementTree.Element) -> dict[float, float]:
    """The x position in pixels of each number on the axis."""
    return {
        float((text.text or "").replace(",", "")): float(text.get("x") or 0)
        for text in lowest(panel)
    }


VALUES = {"openssl-3.6.3": (900.0, 1000.0), "rustls-1.0": (950.0, 1080.0)}
ROUNDS = np.array([0.98, 0.99, 1, 1, 1.01, 1.02] * 3)


def bars(rates: Rates) -> tuple[Table, Drawing]:
    report = report_of(loaded_run("2026-11-21-a", rates)).results
    table = report.tables[0]
    return table, bars_of(table, {i.id: i for i in report.implementations})


def test_bars_begin_at_zero_and_end_at_their_values_with_the_interval_across() -> None:
    table, drawing = bars(
        {
            i: {s: list(v * ROUNDS) for s, v in zip(TRANSFERS, of, strict=False)}
            for i, of in VALUES.items()
        }
    )
    for row, of in zip(table.rows, panels_of(drawn(drawing)), strict=True):
        places = axis(of)
        zero = places[0]
        scale = max(x - zero for x in places.values()) / max(places)
        [intervals] = [e for e in paths(of, "chart-text") if e.get("stroke")]
        across = corners(intervals.get("d") or "")
        for n, cell in enumerate(row.cells):
            [bar] = paths(of, f"library-{cell.implementation.partition('-')[0]}")
            (left, top), (right, _), (_, low), _ = corners(bar.get("d") or "")
            assert low < min(float(text.get("y") or 0) for text in lowest(of))
            (start, middle), (end, _) = across[2 * n : 2 * n + 2]
            assert middle == pytest.approx((top + low) / 2, abs=0.1)
            values = [0, cell.value, cell.low, cell.high]
            assert [left, right, start, end] == pytest.approx(
                [zero + scale * (value or 0) for value in values], abs=0.6
            )
            assert start < right < end


@pytest.mark.parametrize("top", [1_010.0, 10_020.0, 10_900.0, 100_500.0, 999_990.0])
def test_no_number_of_an_axis_leaves_its_panel(top: float) -> None:
    _, drawing = bars({i: {TRANSFERS[0]: top - n} for n, i in enumerate(VALUES)})
    [of] = panels_of(drawn(drawing))
    left, _, width, _ = map(float, (of.get("viewBox") or "").split())
    numbers = lowest(of)
    assert len(numbers) > 1
    for text, _, end in extents(of):
        assert text not in numbers or end <= left + width + 1, text.text


def test_a_resumption_of_each_protocol_has_a_scale_of_its_own() -> None:
    slow, fast = (
        Scenario(operation="handshake", protocol=p, resumption="ticket", side="server")
        for p in ("1.3", "1.2")
    )
    _, drawing = bars({i: {fast: 40_000.0, slow: 4_000.0} for i in VALUES})
    ends = [max(axis(of)) for of in panels_of(drawn(drawing))]
    assert max(ends) > 20_000
    assert min(ends) < 5_000
    assert "scale of its own" in (drawing.chart.note or "")


SERVER = Scenario(operation="handshake", protocol="1.3", side="server")
THREADS = [SERVER.model_copy(update={"threads": n}) for n in (1, 2, 4)]
IN_FLIGHT = [
    Scenario(operation="transfer", protocol="1.3", in_flight=16384 << n) for n in (0, 1, 2, 6)
]
SESSIONS = [
    Scenario(operation="memory", protocol="1.3", variant=f"sessions-{n}") for n in (100, 200, 400)
]
PERCENTILES: list[Statistic] = ["p5", "p50", "p99", "max"]
AROUND = Around(
    {
        label: ShownImplementation(
            id=label,
            library=label.split("-")[0],
            version="1",
            label=label,
            colour=label.split("-")[0],
        )
        for label in ("openssl-3.0", "openssl-3.5", "rustls-1.0")
    },
    cores=2,
)


def table_of(anchor: str, unit: Unit, metric: Metric, rows: Sequence[Row]) -> Table:
    """A table whose rows have the figures 1000, 2000, ... for all implementations."""
    filled = [
        row.model_copy(
            update={
                "metric": metric,
                "cells": [
                    Cell(
                        implementation=i,
                        value=1000 * n,
                        text=f"{1000 * n}",
                        low=900 * n,
                        high=1100 * n,
                        interval=f"{900 * n} to {1100 * n}",
                    )
                    for i in AROUND.implementations
                ],
            }
        )
        for n, row in enumerate(rows, 1)
    ]
    return Table(
        anchor=anchor,
        title="Lines",
        caption="Example.",
        unit=unit,
        better="lower",
        implementations=list(AROUND.implementations),
        rows=filled,
    )


def row_of(scenario: Scenario, statistic: Statistic = "value") -> Row:
    return Row(
        anchor=f"row-{statistic.replace('.', '-')}",
        name="x",
        scenario=scenario,
        metric="rate",
        statistic=statistic,
        cells=[],
    )


@pytest.mark.parametrize(
    ("table", "places", "below", "said", "note"),
    [
        (
            table_of("full-handshakes-threads", "handshakes/s", "rate", list(map(row_of, THREADS))),
            [1 / 4, 2 / 4, 4 / 4],
            ["1", "2", "3", "4"],
            " from 1000 with 1 thread to 3000 with 4",
            "Dashed: the 2 cores of the host.",
        ),
        (
            table_of("transfer", "MiB/s", "rate", list(map(row_of, IN_FLIGHT))),
            [0, 1 / 6, 2 / 6, 6 / 6],
            ["16 KiB", "256 KiB"],
            " 1000 with 16 KiB, 2000 with 32 KiB, 3000 with 64 KiB, 4000 with 1 MiB",
            "MiB/s over the bytes in flight, lower is better",
        ),
        (
            table_of("sessions", "KiB", "resident", list(map(row_of, SESSIONS))),
            [1 / 4, 2 / 4, 4 / 4],
            ["0", "100", "200", "300", "400"],
            ": 6.4 KiB a session",
            "MiB over the sessions that a process holds, lower is better",
        ),
        (
            table_of(
                "full-handshakes-latency",
                "µs",
                "duration",
                [row_of(SERVER, statistic) for statistic in PERCENTILES],
            ),
            [0.4 / 3.8, 1.4 / 3.8, 2.4 / 3.8, 3.4 / 3.8],
            PERCENTILES,
            ": p5 1000, p50 2000, p99 3000, max 4000",
            "One logarithmic scale for all panels.",
        ),
    ],
    ids=["threads", "in flight", "sessions", "latency"],
)
def test_a_line_has_its_figures_where_the_axes_say_and_the_dash_of_its_key(
    table: Table, places: Sequence[float], below: Sequence[str], said: str, note: str
) -> None:
    [drawing] = draw_first(KINDS, table, AROUND)
    assert "; ".join(f"{i}{said}" for i in AROUND.implementations) in drawing.chart.description
    assert note in (drawing.chart.note or "")
    [plot] = panels_of(drawn(drawing))
    texts = [
        (text.text or "", float(text.get("x") or 0), float(text.get("y") or 0))
        for text in plot.iter(f"{SVG}text")
    ]
    assert [text for text, _, y in texts if y > HEIGHT + 10] == list(below)
    measure = math.log10 if table.unit == "µs" else float
    scale = [(measure(float(t.replace(",", ""))), y - 4) for t, x, y in texts if x < 0 and y > 0]
    (low, start), *_, (high, end) = sorted(scale)
    figures = [1000 * n / (1024 if table.unit == "KiB" else 1) for n in range(1, len(places) + 1)]
    width = drawing.picture.panels[0].width - LEFT - RIGHT
    expected = [
        (place * width, start + (end - start) * (measure(figure) - low) / (high - low))
        for place, figure in zip(places, figures, strict=True)
    ]
    dashed = [e for e in paths(plot, "chart-text") if e.get("stroke-dasharray") == "3,3"]
    at = [corners(e.get("d") or "")[0][0] / width for e in dashed]
    assert at == pytest.approx([0.5] if "Dashed" in note else [], abs=0.01)
    printed = {f"{i}{said}" for i in AROUND.implementations} & {text for text, _, _ in texts}
    assert len(printed) == (3 if table.unit == "KiB" else 0)
    coloured = [e for e in plot.iter(f"{SVG}path") if "library-" in e.get("class", "")]
    rules = sum((e.get("d") or "").count("v") for e in coloured)
    assert rules == (0 if table.unit == "KiB" else len(places) * len(AROUND.implementations))
    within = [0 <= y <= HEIGHT for e in coloured for _, y in corners(e.get("d") or "")]
    assert all(within), "intervals end in the panel too"
    dots = [e for e in coloured if e.get("stroke-linecap") == "round"]
    joined = [e for e in coloured if "l" in (e.get("d") or "")]
    for key, line, points in zip(drawing.chart.keys, joined, dots, strict=True):
        assert re.fullmatch("(M[^A-Za-z]+Z)+", points.get("d") or "")
        assert np.allclose(corners(points.get("d") or ""), expected, atol=1.1)
        assert np.allclose(corners(line.get("d") or "")[: len(expected)], expected, atol=1.1)
        assert (line.get("stroke-dasharray") or "").replace(",", " ") == (key.dash or "")
    assert len({(key.colour, key.dash) for key in drawing.chart.keys}) == 3


@pytest.mark.parametrize(
    ("names", "below"),
    [
        (None, [("0.0", 0, 0), ("0.5", 1 / 2, 0), ("1.0", 1, 0)]),
        (
            {0.25: ["1.1.1 –", "3.5"], 0.75: ["5.4"]},
            [("1.1.1 –", 1 / 4, 0), ("3.5", 1 / 4, 1), ("5.4", 3 / 4, 0)],
        ),
        ({}, []),
    ],
    ids=["numbers", "names", "nothing"],
)
def test_an_axis_has_numbers_or_names(
    names: dict[float, list[str]] | None, below: list[tuple[str, float, int]]
) -> None:
    line = Line("openssl", [Point(0, 1), Point(1, 2)])
    axis = {"tickCount": 3} if names is None else {}
    plot = lines([], [line], x_axis=axis, x_domain=(0, 1), names=names)
    width = plot.width - LEFT - RIGHT
    found = [
        (text.text, float(text.get("x") or 0) / width, (float(text.get("y") or 0) - HEIGHT) / LINE)
        for text in ElementTree.fromstring(draw(grid([plot]), CHART)).iter(f"{SVG}text")
    ]
    numbers = [(text, x, y - 1) for text, x, y in found if y > 0.5 and x > -0.1]
    assert [text for text, _, _ in numbers] == [text for text, _, _ in below]
    for (_, x, row), (_, at, expected) in zip(numbers, below, strict=True):
        assert (x, row) == pytest.approx((at, expected), abs=0.1)
        assert HEIGHT + LINE * (row + 1) < plot.height - plot.top


@pytest.mark.parametrize("ends", [(10, 30_000), (1_000, 12_000), (0.5, 2)])
def test_a_logarithmic_axis_has_few_round_ticks(ends: tuple[float, float]) -> None:
    found = ticks(*ends)
    assert 2 <= len(found) <= 9
    assert all(ends[0] <= t <= ends[1] for t in found)
    assert all(f"{t:e}"[0] in "1253" for t in found)


def test_the_slope_is_the_cost_of_one_more_session() -> None:
    assert slope([Point(100, 15.0), Point(1000, 33.0), Point(5000, 113.0)]) == pytest.approx(0.02)
    assert slope([Point(100, 15.0)]) is None


FACTORS = {
    0.5: "worse-3",
    0.7: "worse-2",
    0.85: "worse-1",
    1.0: "same",
    1.2: "better-1",
    1.3: "better-2",
    2.36: "better-3",
}


@pytest.mark.parametrize(("factor", "colour"), FACTORS.items())
def test_a_factor_has_the_colour_of_its_step(factor: float, colour: str) -> None:
    assert heat(factor) == colour
    mirrored = tuple(HEAT)[::-1]
    assert heat(1 / factor) == mirrored[tuple(HEAT).index(colour)]


def test_a_cell_of_a_matrix_has_the_number_that_the_table_has() -> None:
    factors = {"openssl-1": 1.0, "rustls-2": 1.3, "boringssl-3": 0.8, "gnutls-4": 1.0}
    rounds = np.array([1000.0 + 5 * (n % 3) for n in range(20)])
    rates: Rates = {i: {s: list(f * rounds) for s in TRANSFERS} for i, f in factors.items()}
    results = report_of(loaded_run("2026-11-21-a", rates), baseline="openssl-1").results
    table = results.tables[0]
    [drawing] = heatmaps(table, Around({i.id: i for i in results.implementations}, None))
    texts = [t.text or "" for of in panels_of(drawn(drawing)) for t in of.iter(f"{SVG}text")]
    ratios = [c.ratio for row in table.rows for c in row.cells if c.ratio]
    assert {ratio.verdict for ratio in ratios} == {"faster", "slower", "no difference shown"}
    signs = [text for text in map(sign, ratios) if text]
    assert Counter(t for t in texts if t[0] in f"{UP}{DOWN}") == Counter(signs)
    for ratio in ratios:
        number = sign(ratio).strip(f"{UP}{DOWN}")
        assert ratio.text.startswith(number or "the same within 2%")
    assert "OpenSSL" in (drawing.chart.note or "")
    assert "no difference shown (2% would show)" in (drawing.chart.note or "")
    wide = Ratio(
        value=1.2,
        low=0.9,
        high=1.5,
        verdict="no difference shown",
        text="no difference shown (34% would show)",
    )
    assert "same" in _shown(Cell(implementation="gnutls-4", value=1, text="1", ratio=wide))


# --- how a drawing is written --------------------------------------------------------------------

CHART = Chart(
    anchor="chart-a",
    file="a.svg",
    title="a < b & c",
    description='"quoted" <tag>',
    width=720,
    height=100,
    table="a",
)
OPENSSL = next(colour for colour, class_ in CLASSES.items() if class_ == "library-openssl")
X, Y = (
    {"field": field, "type": "quantitative", "axis": None, "scale": {"domain": [0, 4]}}
    for field in "xy"
)


def written(*layers: dict[str, Any]) -> str:
    return draw(grid([panel([], layers, (100, 100))]), CHART)


def test_a_title_and_a_text_are_escaped() -> None:
    layer = {
        "data": {"values": [{"x": CHART.title}]},
        "mark": {"type": "text", "color": "#1f2328"},
        "encoding": {"text": {"field": "x"}},
    }
    drawing = ElementTree.fromstring(written(layer))
    found = [e.text for tag in ("title", "desc", "text") for e in drawing.iter(f"{SVG}{tag}")]
    assert found == [CHART.title, CHART.description, CHART.title]


def test_a_text_that_is_turned_begins_where_it_is() -> None:
    layer = {
        "data": {"values": [{"x": 1, "y": 2}]},
        "mark": {"type": "text", "color": "#1f2328", "angle": 270, "baseline": "alphabetic"},
        "encoding": {"x": X, "y": Y, "text": {"value": "a"}},
    }
    *_, text = ElementTree.fromstring(written(layer)).iter(f"{SVG}text")
    assert text.get("transform") == "rotate(270)"
    assert (float(text.get("y") or 0), -float(text.get("x") or 0)) == (25, 50)


def test_a_line_and_the_intervals_on_it_are_one_path() -> None:
    data = {"values": [{"x": x, "y": y, "high": y + 1} for x, y in ((0, 0), (1, 2), (2, 1))]}
    encoding = {"x": X, "y": Y}
    layers = (
        {"mark": {"type": "line", "color": OPENSSL}, "encoding": encoding},
        {
            "mark": {"type": "rule", "color": OPENSSL, "strokeWidth": 2},
            "encoding": encoding | {"y2": {"field": "high"}},
        },
    )
    drawing = written(*({"data": data} | layer for layer in layers))
    [path] = re.findall(f'<path [^>]*stroke="{OPENSSL}"[^>]*>', drawing)
    assert "fill" not in path
    assert 'fill="none"' in drawing[: drawing.index(path)]
    assert corners(re.findall(r' d="([^"]*)"', path)[0]) == [
        *[(0, 100), (25, 50), (50, 75)],
        *[(0, 100), (0, 75), (25, 50), (25, 25), (50, 75), (50, 50)],
    ]


@pytest.mark.parametrize(
    ("mark", "message"),
    [
        ({"type": "bar", "color": "#ff0000"}, "a colour that is not the theme's: #ff0000"),
        ({"type": "area", "color": OPENSSL}, "a mark that cannot be drawn: area"),
        (
            {"type": "point", "filled": True, "shape": "cross", "color": OPENSSL},
            "a mark that cannot be drawn: cross",
        ),
    ],
)
def test_what_could_not_be_recoloured_or_drawn_is_rejected(
    mark: dict[str, str], message: str
) -> None:
    data = {"values": [{"x": 1, "y": 1}, {"x": 2, "y": 2}]}
    with pytest.raises(ValueError, match=message):
        written({"data": data, "mark": mark, "encoding": {"x": X, "y": Y}})


@pytest.mark.parametrize(
    ("through", "expected"),
    [
        ([(10, 1), (310, 1), (310, 16), (10, 16)], "M10,1h300v15h-300"),
        ([(0.04, 0), (0.24, 0), (0.44, 0), (0.44, 3)], "M0,0h.2h.2v3"),
        ([(0, -0.5), (1, -1), (2.26, 2)], "M0,-.5l1-.5l1.3,3"),
    ],
)
def test_a_path_is_written_in_short_steps(through: Corners, expected: str) -> None:
    assert path(through) == expected


@given(st.lists(st.tuples(st.floats(-999, 999), st.floats(-999, 999)), min_size=1, unique=True))
def test_no_corner_of_a_path_is_off_by_more_than_its_rounding(through: Corners) -> None:
    apart = [through[0], *(b for a, b in pairwise(through) if tenths(a) != tenths(b))]
    for found, corner in zip(corners(path(through)), apart, strict=True):
        assert found == pytest.approx(corner, abs=0.0501)


def tenths(corner: tuple[float, float]) -> tuple[int, int]:
    return round(corner[0] * 10), round(corner[1] * 10)


def test_a_long_text_is_wrapped_at_spaces() -> None:
    assert wrapped("one two three", 50) == ["one two", "three"]
    assert wrapped("indivisible-words", 20) == ["indivisible-words"]
