"""What a chart draws lies where its value is: bars begin at zero, dots and shapes on their axis."""

from __future__ import annotations

import base64
import math
import re
import struct
from collections.abc import Callable, Iterator
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthetic import HANDSHAKES, TRANSFERS, Rates, loaded_run, report_of
from test_hdr import WRITTEN, encoded
from tlsperf.contract.errors import FormatError
from tlsperf.contract.metrics import Statistic
from tlsperf.contract.record import Scenario
from tlsperf.contract.results import Cell, Row, ShownImplementation, Table
from tlsperf.load import hdr
from tlsperf.load.histograms import Bin, _edge, _number, _recorded
from tlsperf.load.tlsbench import EncodedHistogram
from tlsperf.report.charts.bars import bars_of
from tlsperf.report.charts.kind import Around, Drawing
from tlsperf.report.charts.latency import BAND, SHAPE
from tlsperf.report.charts.latency import draw as latency_charts
from tlsperf.report.charts.svg import draw

SVG = "{http://www.w3.org/2000/svg}"
Points = list[tuple[float, float]]


def drawn(drawing: Drawing) -> ElementTree.Element:
    return ElementTree.fromstring(draw(drawing.picture.specification, drawing.chart))


def of_library(root: ElementTree.Element, colour: str, tag: str) -> Iterator[ElementTree.Element]:
    """The elements with the colour of a library, in the order of the file."""
    for element in root.iter():
        if element.get("class") == f"library-{colour}":
            yield from (e for e in (list(element) or [element]) if e.tag == f"{SVG}{tag}")


def corners(path: str) -> Points:
    """The corners of a path of absolute starts and relative steps."""
    found: Points = []
    x = y = 0.0
    for command, numbers in re.findall(r"([MhvlZ])([^A-Za-z]*)", path):
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


def axis(root: ElementTree.Element) -> dict[float, float]:
    """Where each number of the axis stands, in pixels."""
    return {
        float((text.text or "").replace(",", "")): float(text.get("x") or 0)
        for text in root.iter(f"{SVG}text")
        if re.fullmatch(r"[\d,.]+", text.text or "") and text.get("y") == lowest(root)
    }


def lowest(root: ElementTree.Element) -> str | None:
    """The height of the line of numbers below a chart: the one above the axis' title."""
    heights = {float(t.get("y") or 0) for t in root.iter(f"{SVG}text")}
    return f"{sorted(heights)[-2]:g}"


VALUES = {"openssl-3.6.3": (900.0, 1000.0), "rustls-1.0": (950.0, 1080.0)}


def test_bars_begin_at_zero_and_are_as_long_as_their_values() -> None:
    rates: Rates = {i: dict(zip(TRANSFERS, v, strict=False)) for i, v in VALUES.items()}
    report = report_of(loaded_run("2026-11-21-a", rates)).results
    shown = {i.id: i for i in report.implementations}
    root = drawn(bars_of(report.tables[0], shown))
    places = axis(root)
    zero = places[0]
    scale = max(x - zero for x in places.values()) / max(places)
    for implementation, values in VALUES.items():
        paths = [
            corners(e.get("d") or "")
            for e in of_library(root, shown[implementation].colour, "path")
        ]
        bars = [p for p in paths if len(p) == 5]
        assert [min(x for x, _ in bar) for bar in bars] == pytest.approx([zero] * 2, abs=0.6)
        lengths = [max(x for x, _ in bar) - min(x for x, _ in bar) for bar in bars]
        assert lengths == pytest.approx([scale * v for v in values], abs=0.6)


LATENCY: dict[Statistic, float] = {"p5": 1000.0, "p50": 1500.0, "p99": 4000.0, "max": 90000.0}
BINS = [Bin(900, 1000, 9), Bin(1000, 2000, 999), Bin(8000, 9000, 99)]
IMPLEMENTATION = "openssl-3.6.3"


@pytest.fixture(scope="module")
def latency() -> tuple[ElementTree.Element, Callable[[float], float]]:
    """A chart of percentiles and a histogram, and where a time is on its axis."""
    shown = ShownImplementation(
        id=IMPLEMENTATION, library="openssl", version="3.6.3", label="OpenSSL", colour="openssl"
    )
    scenario = HANDSHAKES[0]
    rows = [
        Row(
            anchor=f"x-{statistic.replace('.', '-')}",
            name="x",
            scenario=scenario,
            metric="duration",
            statistic=statistic,
            cells=[Cell(implementation=IMPLEMENTATION, value=value, text=f"{value:g}")],
        )
        for statistic, value in LATENCY.items()
    ]
    table = Table(
        anchor="full-handshakes-latency",
        title="Latency",
        caption="Example.",
        unit="µs",
        better="lower",
        implementations=[IMPLEMENTATION],
        rows=rows,
    )
    around = Around({IMPLEMENTATION: shown}, 2, {(scenario, IMPLEMENTATION): BINS})
    [chart] = latency_charts(table, around)
    root = drawn(chart)
    places = axis(root)
    (low, left), (high, right) = min(places.items()), max(places.items())
    assert high > low
    a_decade = (right - left) / math.log10(high / low)
    return root, lambda value: left + a_decade * math.log10(value / low)


def test_each_percentile_is_a_dot_at_its_time_and_the_median_is_the_largest(
    latency: tuple[ElementTree.Element, Callable[[float], float]],
) -> None:
    root, place = latency
    dots = list(of_library(root, "openssl", "circle"))
    assert [float(dot.get("cx") or 0) for dot in dots] == pytest.approx(
        [place(value) for value in LATENCY.values()], abs=0.6
    )
    sizes = [float(dot.get("r") or 0) for dot in dots]
    assert sizes.index(max(sizes)) == list(LATENCY).index("p50")
    assert sorted(sizes)[-1] > 1.5 * sorted(sizes)[-2]
    [line] = [e for e in of_library(root, "openssl", "path") if e.get("stroke-width") == "3"]
    ends = [x for x, _ in corners(line.get("d") or "")]
    assert ends == pytest.approx([place(1000), place(90000)], abs=0.6)


def test_each_bin_of_a_histogram_stands_at_its_times_with_the_logarithm_of_its_count(
    latency: tuple[ElementTree.Element, Callable[[float], float]],
) -> None:
    root, place = latency
    [shape] = [e for e in of_library(root, "openssl", "path") if e.get("fill-opacity") == "0.3"]
    outline = corners(shape.get("d") or "")
    base = SHAPE + 10
    assert max(y for _, y in outline) == pytest.approx(base, abs=0.6)
    edges = sorted({x for x, _ in outline})
    for edge in (900, 1000, 2000, 8000, 9000):
        assert min(abs(x - place(edge)) for x in edges) < 0.6, edge

    def height(time: float) -> float:
        """Of the step that is above a time; the last edge of the path is its base."""
        return max(
            base - y
            for (x, y), (after, up) in pairwise(outline)
            if y == up and x < place(time) < after
        )

    for of in BINS:
        expected = SHAPE * math.log10(of.count + 1) / 3
        assert height((of.low + of.high) / 2) == pytest.approx(expected, abs=0.6)
    assert all(abs(base - y) < 0.6 for x, y in outline if place(2100) < x < place(7900))
    assert BAND > SHAPE + 10


@given(st.floats(0.01, 1e7))
def test_a_time_is_in_the_bin_whose_edges_are_around_it(time: float) -> None:
    number = _number(time)
    assert _edge(number) <= time * (1 + 1e-12)
    assert time < _edge(number + 1) * (1 + 1e-12)
    assert _edge(number + 60) == pytest.approx(10 * _edge(number))


SCENARIO = Scenario(operation="handshake", protocol="1.3", side="server")


def test_recorded_histograms_keep_every_handshake_at_its_time() -> None:
    written = EncodedHistogram(1, IMPLEMENTATION, SCENARIO, WRITTEN)
    once, twice = (_recorded([written] * n, "f")[SCENARIO, IMPLEMENTATION] for n in (1, 2))
    assert sum(of.count for of in once) == 2312
    assert twice == [Bin(of.low, of.high, 2 * of.count) for of in once]
    assert once == sorted(once)
    middle = next(of for n, of in enumerate(once) if sum(b.count for b in once[: n + 1]) >= 1156)
    assert middle.low * 0.995 <= 82.623 <= middle.high * 1.005, "the median that the record has"
    for low, high, count in hdr.decode(WRITTEN):
        [of] = [b for b in once if b.low <= (low + high) / 2000 < b.high]
        assert of.count >= count


def test_histograms_of_two_scenarios_are_kept_apart() -> None:
    client = SCENARIO.model_copy(update={"side": "client"})
    found = _recorded(
        [
            EncodedHistogram(1, IMPLEMENTATION, SCENARIO, encoded({1000: 3})),
            EncodedHistogram(2, IMPLEMENTATION, client, encoded({1500: 4})),
            EncodedHistogram(3, "rustls-1.0", client, encoded({2000: 5})),
        ],
        "f",
    )
    assert {key: [of.count for of in bins] for key, bins in found.items()} == {
        (SCENARIO, IMPLEMENTATION): [3],
        (client, IMPLEMENTATION): [4],
        (client, "rustls-1.0"): [5],
    }
    [of] = found[client, "rustls-1.0"]
    assert of.low <= 2.0005 < of.high


def test_a_text_that_is_no_histogram_is_named_with_its_line() -> None:
    broken = base64.b64encode(struct.pack(">i", 1)).decode()
    with pytest.raises(FormatError, match=r"records.jsonl:7: .*V2"):
        _recorded([EncodedHistogram(7, IMPLEMENTATION, SCENARIO, broken)], "records.jsonl")
