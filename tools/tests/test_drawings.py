"""Every drawing of a site: charts of reports and versions, and the diagrams."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tlsperf.report.charts.theme import CLASSES, FONT_SIZE

ROOT = Path(__file__).parents[2]
SVG = "{http://www.w3.org/2000/svg}"
WIDE = 0.54 * FONT_SIZE
"""Width of a character in Verdana, the widest common font, in pixels."""
MOST_WIDTH = 288 * FONT_SIZE / 11
"""Limit of a panel's width: on a phone of 320 pixels its text is at least 11 pixels high."""


def drawings(root: Path) -> list[Path]:
    """Every drawing. A browser looks at the texts of those in two (`pages/test_pictures.py`)."""
    found = [
        *(root / "content" / "perf").glob("*/*.svg"),
        *(root / "content" / "versions").glob("*/*.svg"),
        *(ROOT / "static" / "diagrams").glob("*.svg"),
    ]
    assert len({path.parent.parent for path in found}) == 3
    return sorted(found)


def panels_of(drawing: ElementTree.Element) -> list[ElementTree.Element]:
    return [panel for panel in drawing.iter(f"{SVG}svg") if panel is not drawing]


@pytest.mark.any_site
def test_a_drawing_has_a_title_needs_no_other_file_and_can_be_recoloured(root: Path) -> None:
    names: set[tuple[Path, str]] = set()
    for path in drawings(root):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"<style|<script|\sstyle=|href=", text), path
        drawing = ElementTree.fromstring(text)
        for tag, name in zip(
            ("title", "desc"), str(drawing.get("aria-labelledby")).split(), strict=True
        ):
            [found] = [e for e in drawing.iter() if e.get("id") == name]
            assert found.tag == f"{SVG}{tag}", path
            assert found.text, path
            assert (path.parent, name) not in names, f"{path}: an id that another drawing has"
            names.add((path.parent, name))
        for element in drawing.iter():
            colours = {element.get(a) for a in ("fill", "stroke")} - {None, "none"}
            classes = set((element.get("class") or "").split()) - {"panel", "panels"}
            assert {CLASSES[c] for c in colours if c} == classes, (path, element.attrib)


@pytest.mark.any_site
def test_no_text_leaves_a_drawing_or_a_panel_even_in_a_wide_font(root: Path) -> None:
    for path in drawings(root):
        if path.with_name(f"{path.stem}-narrow.svg").exists() or path.stem.endswith("-narrow"):
            continue
        drawing = ElementTree.parse(path).getroot()
        panels = panels_of(drawing)
        for frame in panels or [drawing]:
            left, top, width, height = map(float, (frame.get("viewBox") or "").split())
            assert width <= MOST_WIDTH or frame is drawing, path
            for text, start, end in extents(frame):
                assert left - 8 <= start, (path, text.text)
                assert end <= left + width + 8, (path, text.text)
                assert top + 0.7 * FONT_SIZE <= float(text.get("y") or 0) <= top + height, (
                    path,
                    text.text,
                )


def extents(frame: ElementTree.Element) -> Iterator[tuple[ElementTree.Element, float, float]]:
    """Each text of a frame that is not turned, with the ends of its line in a wide font."""
    parents = {child: parent for parent in frame.iter() for child in parent}
    for text in frame.iter(f"{SVG}text"):
        paint = parents[text].attrib | text.attrib
        if "transform" not in paint:
            x, length = float(text.get("x", 0)), len(text.text or "") * WIDE
            before = {"middle": length / 2, "end": length}.get(paint.get("text-anchor", ""), 0)
            yield text, x - before, x - before + length


@pytest.mark.any_site
def test_numbers_of_charts_are_short(root: Path) -> None:
    for path in drawings(root):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"\d\.\d\d", re.sub(r"<(title|desc|text).*?</\1>", "", text)), path
