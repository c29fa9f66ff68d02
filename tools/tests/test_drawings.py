"""Every committed drawing: charts of reports and trends, and the diagrams."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from test_charts import texts_of
from tlsperf.analysis.ratios import factor_text
from tlsperf.contract.results import Results
from tlsperf.report.charts.heatmap import heat, heatmap
from tlsperf.report.charts.latency import ticks
from tlsperf.report.charts.lines import LABEL_STEP, Point, apart, dashes
from tlsperf.report.charts.memory import slope
from tlsperf.report.charts.theme import CLASSES, HEAT, text_width

ROOT = Path(__file__).parents[2]
SVG = "{http://www.w3.org/2000/svg}"
DRAWINGS = sorted(
    [
        *(ROOT / "content" / "perf").glob("20*/*.svg"),
        *(ROOT / "content" / "trends").glob("*/*.svg"),
        *(ROOT / "static" / "diagrams").glob("*.svg"),
    ]
)


def name(path: Path) -> str:
    return "/".join(path.parts[-2:])


@pytest.mark.parametrize("path", DRAWINGS, ids=name)
def test_a_drawing_stands_alone_can_be_recoloured_and_is_small(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    root = ElementTree.fromstring(text)
    assert len(text) < 20_000
    assert not re.search(r"<style|<script|\sstyle=|href=", text)
    title, description = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    assert title is not None
    assert title.text
    assert description is not None
    assert description.text
    assert root.get("aria-labelledby") == f"{title.get('id')} {description.get('id')}"
    for element in root.iter():
        colours = {element.get(a) for a in ("fill", "stroke")} - {None, "none"}
        classes = set((element.get("class") or "").split())
        assert {CLASSES[c] for c in colours if c} == classes, ElementTree.tostring(element)


@pytest.mark.parametrize("path", DRAWINGS, ids=name)
def test_no_text_leaves_a_drawing(path: Path) -> None:
    root = ElementTree.parse(path).getroot()
    width, height = float(root.get("width") or 0), float(root.get("height") or 0)
    for text, anchor in texts_of(root):
        if text.get("transform"):
            continue
        x, y = float(text.get("x") or 0), float(text.get("y") or 0)
        # Verdana, the widest, needs text_width; the fonts of most readers a tenth less.
        room = text_width(len(text.text or "")) * 0.9
        start = {"middle": x - room / 2, "end": x - room}.get(anchor, x)
        assert start >= -8, text.text
        assert start + room <= width + 8, text.text
        assert 0 <= y <= height, text.text


def test_labels_at_the_ends_of_lines_keep_apart_and_within() -> None:
    moved = apart([10, 11, 12, 318], LABEL_STEP, 320)
    assert all(b - a >= LABEL_STEP for a, b in itertools.pairwise(moved))
    assert moved[-1] <= 320
    assert apart([0.0, 100.0], LABEL_STEP, 320) == [0.0, 100.0]


def test_no_two_lines_of_one_colour_look_alike() -> None:
    found = dashes(["rustls", "rustls", "openssl", "openssl", "boringssl"])
    assert found[0] != found[1]
    assert found[2] != found[3]
    assert found[0] == found[4] == ()


@pytest.mark.parametrize(
    ("factor", "colour"),
    [
        (0.5, "worse-3"),
        (0.7, "worse-2"),
        (0.85, "worse-1"),
        (1.0, "same"),
        (1.2, "better-1"),
        (1.3, "better-2"),
        (2.36, "better-3"),
    ],
)
def test_a_factor_has_the_colour_of_its_step(factor: float, colour: str) -> None:
    assert heat(factor) == colour
    mirrored = tuple(HEAT)[::-1]
    assert heat(1 / factor) == mirrored[tuple(HEAT).index(colour)]


@pytest.mark.parametrize(
    ("report", "table", "rows"),
    [("2026-11-21-history-vm", "transfer", 16), ("2023-12-13-configurations", "transfer", 10)],
)
def test_many_implementations_are_the_rows_of_a_matrix(report: str, table: str, rows: int) -> None:
    text = (ROOT / "content" / "perf" / report / "results.json").read_text(encoding="utf-8")
    results = Results.model_validate_json(text)
    drawn = next(found for found in results.tables if found.anchor == table)
    picture = heatmap(drawn, {i.id: i for i in results.implementations})
    marks, texts, names, _ = picture.specification["layer"]
    assert len(names["data"]["values"]) == rows
    # Each cell stands where its row and column meet.
    shown = {(c["row"], c["column"]): c["text"] for c in texts["data"]["values"]}
    turned = rows == len(drawn.implementations)
    for number, row in enumerate(drawn.rows):
        for position, cell in enumerate(row.cells):
            place = (position, number) if turned else (number, position)
            if cell.ratio:
                assert shown[str(place[0]), str(place[1])] == factor_text(cell.ratio.value)
    assert len(marks["data"]["values"]) == len(drawn.rows) * len(drawn.implementations)


def test_the_slope_is_what_one_session_more_costs() -> None:
    assert slope([Point(100, 15.0), Point(1000, 33.0), Point(5000, 113.0)]) == pytest.approx(0.02)
    assert slope([Point(100, 15.0)]) is None


@pytest.mark.parametrize("ends", [(10, 30_000), (1_000, 12_000), (0.5, 2)])
def test_a_logarithmic_axis_has_few_round_ticks(ends: tuple[float, float]) -> None:
    found = ticks(*ends)
    assert 2 <= len(found) <= 9
    assert all(ends[0] <= t <= ends[1] for t in found)
    assert all(f"{t:e}"[0] in "125 3".replace(" ", "") for t in found)
