"""Every drawing of a site: charts of reports and trends, and the diagrams."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from synthetic import TRANSFERS, Rates, loaded_run, report_of
from test_charts import texts_of
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


def drawings(root: Path) -> list[Path]:
    found = [
        *(root / "content" / "perf").glob("*/*.svg"),
        *(root / "content" / "trends").glob("*/*.svg"),
        *(ROOT / "static" / "diagrams").glob("*.svg"),
    ]
    assert len({path.parent.parent for path in found}) == 3
    return sorted(found)


@pytest.mark.any_site
def test_a_drawing_has_a_title_needs_no_other_file_and_can_be_recoloured(root: Path) -> None:
    for path in drawings(root):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"<style|<script|\sstyle=|href=", text), path
        drawing = ElementTree.fromstring(text)
        title, description = drawing.find(f"{SVG}title"), drawing.find(f"{SVG}desc")
        assert title is not None, path
        assert title.text, path
        assert description is not None, path
        assert description.text, path
        assert drawing.get("aria-labelledby") == f"{title.get('id')} {description.get('id')}", path
        for element in drawing.iter():
            colours = {element.get(a) for a in ("fill", "stroke")} - {None, "none"}
            classes = set((element.get("class") or "").split()) - {"panel", "panels"}
            assert {CLASSES[c] for c in colours if c} == classes, (path, element.attrib)


@pytest.mark.any_site
def test_no_text_leaves_a_drawing_or_a_panel(root: Path) -> None:
    for path in drawings(root):
        drawing = ElementTree.parse(path).getroot()
        panels = [e for e in drawing.iter(f"{SVG}svg") if e is not drawing]
        inside = {text for panel in panels for text in panel.iter(f"{SVG}text")}
        for frame in panels or [drawing]:
            left, top, width, height = map(float, (frame.get("viewBox") or "").split())
            turned = {t for g in frame.iter(f"{SVG}g") if g.get("transform") for t in g}
            for text, anchor in texts_of(frame):
                if text in turned:
                    continue
                x, y = float(text.get("x") or 0), float(text.get("y") or 0)
                room = room_of(text)
                start = {"middle": x - room / 2, "end": x - room}.get(anchor, x)
                assert start >= left - 8, (path, text.text)
                assert start + room <= left + width + 8, (path, text.text)
                assert top <= y <= top + height, (path, text.text)
        for text, _ in texts_of(drawing):
            if panels and text not in inside:
                end = float(text.get("x") or 0) + room_of(text)
                assert end <= float(drawing.get("width") or 0) + 8, (path, text.text)


def room_of(text: ElementTree.Element) -> float:
    """text_width is for Verdana, the widest font; most readers' fonts are 10% narrower."""
    return text_width(len(text.text or "")) * 0.9


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


def test_a_cell_of_a_matrix_has_the_number_that_the_table_has() -> None:
    factors = {"openssl-1": 1.0, "rustls-2": 1.3, "boringssl-3": 0.8, "gnutls-4": 1.0}
    rounds = np.array([1000.0 + 5 * (n % 3) for n in range(20)])
    rates: Rates = {i: {s: list(f * rounds) for s in TRANSFERS} for i, f in factors.items()}
    results = report_of(loaded_run("2026-11-21-a", rates), baseline="openssl-1").results
    table = results.tables[0]
    around = Around({i.id: i for i in results.implementations}, None)
    [(chart, picture)] = heatmaps(table, around)
    drawing = ElementTree.fromstring(svg.draw(picture, chart))
    panels = list(drawing.iter(f"{SVG}svg"))[1:]
    texts = [t.text or "" for panel in panels for t in panel.iter(f"{SVG}text")]
    ratios = [c.ratio for row in table.rows for c in row.cells if c.ratio]
    assert {ratio.verdict for ratio in ratios} == {"faster", "slower", "no difference shown"}
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
