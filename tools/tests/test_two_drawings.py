"""Figures for wide screens and phones: dots of ratios and strips."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings

from figures import example_dots, example_strip, some_dots
from test_drawings import SVG
from tlsperf.report.charts.dots import MARKS, PALE, Dot, DotPanel, DotRow, Dots, picture_files
from tlsperf.report.charts.figure import Scale
from tlsperf.report.charts.strip import Strip, StripPoint, StripSeries, strip_files


def drawings(files: Mapping[str, str]) -> Iterator[ElementTree.Element]:
    assert len(files) == 2
    for text in files.values():
        yield ElementTree.fromstring(text)


def dots_in(drawing: ElementTree.Element) -> list[ElementTree.Element]:
    """The marks in the colour of a library: the ends of lines without length, and diamonds."""
    marks = []
    for path in drawing.iter(f"{SVG}path"):
        is_mark = path.get("stroke-linecap") or path.get("fill")
        if is_mark and (path.get("class") or "").startswith("library-"):
            marks += [path] * (path.get("d") or "").count("M")
    return marks


def texts_in(drawing: ElementTree.Element) -> list[str]:
    return [text.text or "" for text in drawing.iter(f"{SVG}text")]


# --- dots ----------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=25)
@given(some_dots())
def test_every_dot_is_drawn_and_the_text_alternative_names_every_row(dots: Dots) -> None:
    for drawing in drawings(picture_files(dots)):
        assert len(dots_in(drawing)) == len(dots.every)
        [words] = [element.text or "" for element in drawing.iter(f"{SVG}desc")]
        for panel in dots.panels:
            assert panel.title in words
            for row in panel.rows:
                assert f"{row.label} " in words
        shown = " ".join(texts_in(drawing))
        for host in dots.hosts if len(dots.hosts) > 1 else ():
            assert host in shown
        assert dots.baseline in shown
        assert "better" in shown


@settings(deadline=None, max_examples=25)
@given(some_dots())
def test_a_mark_of_a_figure_is_inside_its_drawing(dots: Dots) -> None:
    for drawing in drawings(picture_files(dots)):
        width, height = (float(drawing.get(name) or 0) for name in ("width", "height"))
        for group in drawing.iter(f"{SVG}g"):
            if "translate" not in (group.get("transform") or ""):
                continue
            left, top = map(float, re.findall(r"-?[\d.]+", group.get("transform") or ""))
            for path in group.iter(f"{SVG}path"):
                for x, y in re.findall(r"M(-?[\d.]+),(-?[\d.]+)", path.get("d") or ""):
                    assert 0 <= left + float(x) <= width
                    assert 0 <= top + float(y) <= height


def test_a_dot_is_where_its_ratio_is_on_the_log_scale() -> None:
    rows = [DotRow(f"{ratio}", "openssl", [Dot(0, ratio)]) for ratio in (0.5, 1.0, 2.0, 4.0)]
    dots = Dots("a", "A", "rustls", ["Host"], [DotPanel("", rows)])
    for drawing in drawings(picture_files(dots)):
        [marks] = {path.get("d") or "": path for path in dots_in(drawing)}
        places = [float(x) for x in re.findall(r"M(-?[\d.]+),", marks)]
        steps = [b - a for a, b in pairwise(places)]
        assert steps == pytest.approx([steps[0]] * 3, abs=0.3)
        assert steps[0] > 20


def test_a_dot_without_a_shown_difference_is_pale_and_the_figure_says_so() -> None:
    rows = [
        DotRow("a", "openssl", [Dot(0, 2.0)]),
        DotRow("b", "openssl", [Dot(0, 1.1, 0.9, 1.3, False)]),
    ]
    dots = Dots("a", "A", "rustls", ["Host"], [DotPanel("", rows)])
    for drawing in drawings(picture_files(dots)):
        assert [path.get("stroke-opacity") for path in dots_in(drawing)] == [None, f"{PALE:g}"]
        assert any("no difference" in text for text in texts_in(drawing))
    assert "1.10 (no difference shown)" in dots.description


def test_hosts_have_marks_of_their_own() -> None:
    hosts = [f"Host {n}" for n in range(len(MARKS))]
    row = DotRow("a", "openssl", [Dot(n, 1.5) for n in range(len(hosts))])
    dots = Dots("a", "A", "rustls", hosts, [DotPanel("", [row])])
    for drawing in drawings(picture_files(dots)):
        assert len(dots_in(drawing)) == len(hosts)
        assert set(hosts) <= set(texts_in(drawing))
    with pytest.raises(ValueError, match=f"at most {len(MARKS)} hosts"):
        picture_files(Dots("a", "A", "rustls", [*hosts, "one more"], dots.panels))


def test_a_figure_without_a_dot_is_rejected() -> None:
    with pytest.raises(ValueError, match="with a dot"):
        picture_files(
            Dots("a", "A", "rustls", ["Host"], [DotPanel("", [DotRow("b", "openssl", [])])])
        )


def test_panels_of_the_same_rows_are_side_by_side_on_a_wide_screen_alone() -> None:
    wide, narrow = drawings(picture_files(example_dots(5, ["rustls", "AWS-LC"], ["Host"])))
    assert float(narrow.get("height") or 0) > 2 * float(wide.get("height") or 0)
    assert texts_in(wide).count("AWS-LC") == 1
    assert texts_in(narrow).count("AWS-LC") == 5


@pytest.mark.parametrize(
    "ratios", [(0.99, 1.01), (0.3, 13.0), (0.001, 2.0), (1.2, 1.3), (1, 90_000)]
)
@pytest.mark.parametrize("length", [130, 300, 700])
def test_an_axis_names_the_baseline_and_no_number_touches_another(
    ratios: tuple[float, float], length: int
) -> None:
    scale = Scale.of(ratios)
    ticks = scale.ticks(length)
    assert 1 in ticks
    places = [scale.at(tick, length) for tick in ticks]
    assert places == sorted(places)
    assert all(0 <= place <= length for place in places)
    assert scale.at(1.01, length) - scale.at(1, length) < 0.05 * length
    assert math.isclose(scale.at(scale.high, length), length)


# --- a strip -------------------------------------------------------------------------------------


def test_a_strip_has_a_dot_for_every_release_and_a_larger_one_for_a_step() -> None:
    strip = example_strip(51, 3)
    points = sum(len(series.points) for series in strip.series)
    steps = sum(len(series.steps) for series in strip.series)
    for drawing in drawings(strip_files(strip)):
        assert len(dots_in(drawing)) == points + steps
        shown = texts_in(drawing)
        assert strip.releases[-1] in shown
        for series in strip.series:
            assert series.label.split(", ")[0] in " ".join(shown)
            last = series.points[-1].ratio
            assert any(text.startswith(f"{last:.2f}") for text in shown)
    for series in strip.series:
        for step in series.steps:
            assert strip.releases[step] in strip.description


def test_a_line_is_broken_where_a_release_was_not_measured() -> None:
    points = [StripPoint(n, 1 + n / 10) for n in (0, 1, 2, 4, 5)]
    strip = Strip("s", "S", list("abcdef"), [StripSeries("x", "rustls", points)], "a")
    for drawing in drawings(strip_files(strip)):
        lines = [
            path.get("d") or ""
            for path in drawing.iter(f"{SVG}path")
            if path.get("class") == "library-rustls" and not path.get("stroke-linecap")
        ]
        assert sum(line.count("M") for line in lines) == 2


def test_a_strip_without_a_point_is_rejected() -> None:
    with pytest.raises(ValueError, match="with a point"):
        strip_files(Strip("s", "S", ["a"], [StripSeries("x", "rustls", [])], "a"))
