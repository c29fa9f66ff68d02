"""Positions in charts match values: bars start at zero, dots and shapes are on their axis."""

from __future__ import annotations

import base64
import csv
import math
import re
import struct
from collections import Counter
from collections.abc import Iterator
from itertools import accumulate, pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from encoded_histogram import encoded
from reports import report
from synthetic import HANDSHAKES, TRANSFERS, Rates, loaded_run, report_of
from test_hdr import WRITTEN
from tlsperf.contract.errors import FormatError
from tlsperf.contract.metrics import Statistic
from tlsperf.contract.record import Scenario
from tlsperf.contract.results import Cell, Row, ShownImplementation, Table
from tlsperf.load import hdr
from tlsperf.load.histograms import Bin, _edge, _number, _recorded
from tlsperf.load.tlsbench import EncodedHistogram
from tlsperf.report.charts.bars import bars_of
from tlsperf.report.charts.kind import Around, Drawing
from tlsperf.report.charts.latency import draw as latency_charts
from tlsperf.report.charts.svg import draw
from tlsperf.report.charts.theme import text_width

SVG = "{http://www.w3.org/2000/svg}"
Points = list[tuple[float, float]]


def drawn(drawing: Drawing) -> ElementTree.Element:
    return ElementTree.fromstring(draw(drawing.picture, drawing.chart))


def of_library(root: ElementTree.Element, colour: str, tag: str) -> Iterator[ElementTree.Element]:
    """The elements with a library's colour, in the order of the file."""
    for element in root.iter():
        if element.get("class") == f"library-{colour}":
            yield from (e for e in (list(element) or [element]) if e.tag == f"{SVG}{tag}")


def corners(path: str) -> Points:
    """The corners of a path with absolute starts and relative steps."""
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
    """The x position in pixels of each number on the axis."""
    return {
        float((text.text or "").replace(",", "")): float(text.get("x") or 0)
        for text in root.iter(f"{SVG}text")
        if re.fullmatch(r"[\d,.]+", text.text or "") and text.get("y") == lowest(root)
    }


def lowest(root: ElementTree.Element) -> str | None:
    """The y position of the line of numbers below a panel."""
    return f"{max(float(t.get('y') or 0) for t in root.iter(f'{SVG}text')):g}"


def panels(root: ElementTree.Element) -> list[ElementTree.Element]:
    return list(root.iter(f"{SVG}svg"))[1:]


VALUES = {"openssl-3.6.3": (900.0, 1000.0), "rustls-1.0": (950.0, 1080.0)}


def test_bars_begin_at_zero_and_are_as_long_as_their_values() -> None:
    rates: Rates = {i: dict(zip(TRANSFERS, v, strict=False)) for i, v in VALUES.items()}
    report = report_of(loaded_run("2026-11-21-a", rates)).results
    shown = {i.id: i for i in report.implementations}
    root = drawn(bars_of(report.tables[0], shown))
    for number, panel in enumerate(panels(root)):
        places = axis(panel)
        zero = places[0]
        scale = max(x - zero for x in places.values()) / max(places)
        for implementation, values in VALUES.items():
            paths = [
                corners(e.get("d") or "")
                for e in of_library(panel, shown[implementation].colour, "path")
            ]
            [bar] = [p for p in paths if len(p) == 4]
            assert min(x for x, _ in bar) == pytest.approx(zero, abs=0.6)
            length = max(x for x, _ in bar) - min(x for x, _ in bar)
            assert length == pytest.approx(scale * values[number], abs=0.6)


@pytest.mark.parametrize("top", [1_010.0, 10_020.0, 10_900.0, 100_500.0, 999_990.0])
def test_no_number_of_an_axis_leaves_its_panel(top: float) -> None:
    rates: Rates = {i: {TRANSFERS[0]: top - n} for n, i in enumerate(VALUES)}
    report = report_of(loaded_run("2026-11-21-a", rates)).results
    drawing = bars_of(report.tables[0], {i.id: i for i in report.implementations})
    [panel] = panels(drawn(drawing))
    left, _, width, _ = map(float, (panel.get("viewBox") or "").split())
    groups = {text: group for group in panel.iter(f"{SVG}g") for text in group}
    numbers = [t for t in panel.iter(f"{SVG}text") if t.get("y") == lowest(panel)]
    assert len(numbers) > 1
    for text in numbers:
        anchor = {**(groups[text].attrib if text in groups else {}), **text.attrib}
        room = text_width(len(text.text or ""))
        after = {"start": room, "middle": room / 2, "end": 0}[anchor.get("text-anchor", "start")]
        assert float(text.get("x") or 0) + after <= left + width + 1, text.text


def test_a_resumption_of_each_protocol_has_a_scale_of_its_own() -> None:
    slow, fast = (
        Scenario(operation="handshake", protocol=p, resumption="ticket", side="server")
        for p in ("1.3", "1.2")
    )
    rates: Rates = {i: {fast: 40_000.0, slow: 4_000.0} for i in VALUES}
    report = report_of(loaded_run("2026-11-21-a", rates)).results
    drawing = bars_of(report.tables[0], {i.id: i for i in report.implementations})
    ends = [max(axis(panel)) for panel in panels(drawn(drawing))]
    assert max(ends) > 20_000
    assert min(ends) < 5_000
    assert "scale of its own" in (drawing.chart.note or "")


LATENCY: dict[Statistic, float] = {"p5": 1000.0, "p50": 1500.0, "p99": 4000.0, "max": 90000.0}
IMPLEMENTATION = "openssl-3.6.3"


def test_percentiles_are_columns_on_a_logarithmic_scale_up_to_the_maximum() -> None:
    shown = ShownImplementation(
        id=IMPLEMENTATION, library="openssl", version="3.6.3", label="OpenSSL", colour="openssl"
    )
    rows = [
        Row(
            anchor=f"x-{statistic.replace('.', '-')}",
            name="x",
            scenario=HANDSHAKES[0],
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
    [chart] = latency_charts(table, Around({IMPLEMENTATION: shown}, 2))
    [panel] = panels(drawn(chart))
    texts = {t.text: t for t in panel.iter(f"{SVG}text")}
    columns = [float(texts[p].get("x") or 0) for p in LATENCY]
    [dots] = [
        dots_of(path.get("d") or "")
        for path in of_library(panel, "openssl", "path")
        if path.get("stroke-linecap") == "round"
    ]
    assert [x for x, _ in dots] == pytest.approx(columns, abs=0.6)
    heights = [y for _, y in dots]
    a_decade = float(texts["1,000"].get("y") or 0) - float(texts["10,000"].get("y") or 0)
    for (low, y), (high, up) in pairwise(zip(LATENCY.values(), heights, strict=True)):
        assert y - up == pytest.approx(a_decade * math.log10(high / low), abs=1)


def dots_of(path: str) -> list[tuple[float, float]]:
    """Where the dots of a path are: each is a step from the one before, and no line."""
    steps = [tuple(map(float, re.findall(r"-?[\d.]+", step))) for step in path.split("Z")[:-1]]
    return list(accumulate(steps, lambda at, step: (at[0] + step[0], at[1] + step[1])))


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


def test_a_file_beside_the_page_has_every_handshake_of_a_histogram(project: Path) -> None:
    (path,) = (project / "content" / "perf").glob("*/latency-histogram.csv")
    with path.open(newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    counts: Counter[tuple[str, str]] = Counter()
    for line in lines:
        assert float(line["low_us"]) < float(line["high_us"])
        counts[line["name"], line["implementation"]] += int(line["count"])
    results = report(project, path.parent.name).results
    assert {name for _, name in counts} == {it.id for it in results.implementations}
    rounds = {cell.count for table in results.tables for row in table.rows for cell in row.cells}
    assert {count / 1000 for count in counts.values()} == rounds, "1,000 handshakes a round"


def test_an_invalid_histogram_is_reported_with_its_line() -> None:
    broken = base64.b64encode(struct.pack(">i", 1)).decode()
    with pytest.raises(FormatError, match=r"records.jsonl:7: .*V2"):
        _recorded([EncodedHistogram(7, IMPLEMENTATION, SCENARIO, broken)], "records.jsonl")
