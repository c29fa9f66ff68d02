"""Every committed drawing: charts of reports and trends, and the diagrams."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

from test_charts import texts_of
from tlsperf.contract.results import Results
from tlsperf.report.charts import svg
from tlsperf.report.charts.heatmap import DOWN, UP, heat, sign
from tlsperf.report.charts.heatmap import draw as heatmaps
from tlsperf.report.charts.kind import Around
from tlsperf.report.charts.latency import ticks
from tlsperf.report.charts.lines import Point
from tlsperf.report.charts.memory import slope
from tlsperf.report.charts.panels import dashes, wrapped
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
def test_a_drawing_needs_no_other_file_can_be_recoloured_and_is_small(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    root = ElementTree.fromstring(text)
    panels = len(list(root.iter(f"{SVG}svg"))) - 1
    points = text.count("<circle") + len(re.findall(r"[Mm][^A-Za-z]+Z", text))
    texts = text.count("<text")  # of a matrix, whose cells have one each
    assert len(text) < max(24_000, 4_000 * panels, 120 * points, 70 * texts)
    assert not re.search(r"<style|<script|\sstyle=|href=", text)
    title, description = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    assert title is not None
    assert title.text
    assert description is not None
    assert description.text
    assert root.get("aria-labelledby") == f"{title.get('id')} {description.get('id')}"
    for element in root.iter():
        colours = {element.get(a) for a in ("fill", "stroke")} - {None, "none"}
        classes = set((element.get("class") or "").split()) - {"panel", "panels"}
        assert {CLASSES[c] for c in colours if c} == classes, ElementTree.tostring(element)


@pytest.mark.parametrize("path", DRAWINGS, ids=name)
def test_no_text_leaves_a_drawing_or_a_panel(path: Path) -> None:
    root = ElementTree.parse(path).getroot()
    panels = [e for e in root.iter(f"{SVG}svg") if e is not root]
    inside = {text for panel in panels for text in panel.iter(f"{SVG}text")}
    for frame in panels or [root]:
        left, top, width, height = map(float, (frame.get("viewBox") or "").split())
        turned = {t for g in frame.iter(f"{SVG}g") if g.get("transform") for t in g}
        for text, anchor in texts_of(frame):
            if text in turned:
                continue
            x, y = float(text.get("x") or 0), float(text.get("y") or 0)
            # text_width is for Verdana, the widest font; most readers' fonts are 10% narrower.
            room = text_width(len(text.text or "")) * 0.9
            start = {"middle": x - room / 2, "end": x - room}.get(anchor, x)
            assert start >= left - 8, text.text
            assert start + room <= left + width + 8, text.text
            assert top <= y <= top + height, text.text
    for text, _ in texts_of(root):
        if panels and text not in inside:
            room = text_width(len(text.text or "")) * 0.9
            assert float(text.get("x") or 0) + room <= float(root.get("width") or 0) + 8


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
    "report",
    ["2026-11-21-libraries-vm", "2026-11-21-configurations-vm", "2023-12-13-configurations"],
)
def test_a_cell_of_a_matrix_has_the_number_that_the_table_has(report: str) -> None:
    text = (ROOT / "content" / "perf" / report / "results.json").read_text(encoding="utf-8")
    results = Results.model_validate_json(text)
    table = next(found for found in results.tables if found.anchor == "transfer")
    around = Around({i.id: i for i in results.implementations}, None)
    [(chart, picture)] = heatmaps(table, around)
    root = ElementTree.fromstring(svg.draw(picture, chart))
    panels = list(root.iter(f"{SVG}svg"))[1:]
    texts = [t.text or "" for panel in panels for t in panel.iter(f"{SVG}text")]
    ratios = [c.ratio for row in table.rows for c in row.cells if c.ratio]
    signs = [text for text in map(sign, ratios) if text]
    assert Counter(t for t in texts if t[0] in f"{UP}{DOWN}") == Counter(signs)
    for ratio in ratios:
        number = sign(ratio).strip(f"{UP}{DOWN}")
        assert ratio.text.startswith(number or "no difference shown")
    assert "OpenSSL" in (chart.note or "")


def test_a_long_text_is_wrapped_at_spaces() -> None:
    assert wrapped("one two three", 50) == ["one two", "three"]
    assert wrapped("indivisible-words", 20) == ["indivisible-words"]


def test_the_slope_is_the_cost_of_one_more_session() -> None:
    assert slope([Point(100, 15.0), Point(1000, 33.0), Point(5000, 113.0)]) == pytest.approx(0.02)
    assert slope([Point(100, 15.0)]) is None


@pytest.mark.parametrize("ends", [(10, 30_000), (1_000, 12_000), (0.5, 2)])
def test_a_logarithmic_axis_has_few_round_ticks(ends: tuple[float, float]) -> None:
    found = ticks(*ends)
    assert 2 <= len(found) <= 9
    assert all(ends[0] <= t <= ends[1] for t in found)
    assert all(f"{t:e}"[0] in "125 3".replace(" ", "") for t in found)
