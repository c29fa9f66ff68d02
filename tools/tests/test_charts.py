"""Charts are self-contained, follow a strict content security policy, and can be recoloured."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixture_run import EXAMPLE, RUN, write_report
from tlsperf.contract.results import Chart, Results
from tlsperf.report.charts.key_exchange import by_key_exchange
from tlsperf.report.charts.picture import Picture
from tlsperf.report.charts.svg import draw, moved_path
from tlsperf.report.charts.theme import CLASSES, FONT_SIZE

SVG = "{http://www.w3.org/2000/svg}"
MOST_WIDTH = 288 * FONT_SIZE / 11
"""Limit of a panel's width: on a phone of 320 pixels its text is at least 11 pixels high."""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(tmp_path_factory.mktemp("charts"))


@pytest.fixture(scope="module")
def results(report: Path) -> Results:
    return Results.model_validate_json((report / "results.json").read_text(encoding="utf-8"))


def test_the_example_of_results_json_is_in_step(report: Path) -> None:
    found = (report / "results.json").read_text(encoding="utf-8")
    assert found == EXAMPLE.read_text(encoding="utf-8"), f"{EXAMPLE}: run make generate"


@pytest.fixture(scope="module")
def drawings(report: Path, results: Results) -> dict[str, ElementTree.Element]:
    """The root element of each chart by its anchor."""
    return {c.anchor: ElementTree.parse(report / c.file).getroot() for c in results.charts}


def elements(drawings: dict[str, ElementTree.Element]) -> Iterator[ElementTree.Element]:
    for drawing in drawings.values():
        yield from drawing.iter()


def texts_of(drawing: ElementTree.Element) -> Iterator[tuple[ElementTree.Element, str]]:
    """Each text of a drawing with its text-anchor, its own or that of its group."""
    parents = {child: parent for parent in drawing.iter() for child in parent}
    for text in drawing.iter(f"{SVG}text"):
        yield text, text.get("text-anchor") or parents[text].get("text-anchor") or "start"


def test_each_main_table_has_a_chart(results: Results) -> None:
    assert [(c.anchor, c.file, c.table) for c in results.charts] == [
        (f"chart-{name}", f"{name}.svg", name)
        for name in ("transfer", "full-handshakes", "resumed-handshakes")
    ]
    assert results.id == RUN


def test_a_bar_for_every_figure_and_each_in_the_text_alternative(
    results: Results, drawings: dict[str, ElementTree.Element]
) -> None:
    tables = {t.anchor: t for t in results.tables}
    labels = {i.id: i.label for i in results.implementations}
    for chart in results.charts:
        for row in tables[chart.table].rows:
            for cell in row.cells:
                shown = cell.text if cell.valid else f"{cell.text} (not counted)"
                assert f"{labels[cell.implementation]} {shown}" in chart.description
        panels = list(drawings[chart.anchor].iter(f"{SVG}svg"))[1:]
        assert len(panels) == len(tables[chart.table].rows)
        bars = [
            e
            for group in drawings[chart.anchor].iter()
            if "library-" in group.get("class", "")
            for e in (list(group) or [group])
        ]
        assert len(bars) == sum(len(row.cells) for row in tables[chart.table].rows) - sum(
            cell.value is None for row in tables[chart.table].rows for cell in row.cells
        )


def test_variants_of_certificates_and_early_data_are_rows_and_a_hello_retry_is_not(
    results: Results,
) -> None:
    table = next(table for table in results.tables if table.anchor == "full-handshakes")
    row = table.rows[0]
    rows = [
        row.model_copy(update={"scenario": row.scenario.model_copy(update={"variant": variant})})
        for variant in (None, "chain-3", "compressed-zlib", "early-data", "hello-retry")
    ]
    turned, columns = by_key_exchange(
        table.model_copy(update={"rows": rows}), {i.id: i for i in results.implementations}
    )
    found = [row.scenario.variant for row in turned.rows]
    assert found == [None, "chain-3", "compressed-zlib", "early-data"]
    labels = [column.label for column in columns.values()]
    assert any(label.endswith(", hello retry") for label in labels)
    assert not any("chain" in label or "zlib" in label for label in labels)


def test_each_chart_has_a_title_and_a_description(
    results: Results, drawings: dict[str, ElementTree.Element]
) -> None:
    for chart in results.charts:
        drawing = drawings[chart.anchor]
        names = (drawing.get("aria-labelledby") or "").split()
        found = {e.get("id"): e for e in drawing.iter() if e.get("id")}
        assert drawing.get("role") == "img"
        assert [found[n].text for n in names] == [chart.title, chart.description]
        assert drawing.get("viewBox") == f"0 0 {chart.width} {chart.height}"


def test_ids_are_unique_over_all_charts_of_a_page(
    drawings: dict[str, ElementTree.Element],
) -> None:
    ids = [e.get("id") for e in elements(drawings) if e.get("id")]
    assert len(set(ids)) == len(ids)


def test_colours_are_attributes_with_the_class_that_recolours_them(
    drawings: dict[str, ElementTree.Element],
) -> None:
    for element in elements(drawings):
        assert element.tag.removeprefix(SVG) in {
            *("svg", "title", "desc", "g"),
            *("path", "circle", "text", "rect"),
        }
        assert "style" not in element.attrib
        colours = {element.get(a) for a in ("fill", "stroke")} - {None, "none"}
        assert {CLASSES[c] for c in colours if c} == (
            set(element.get("class", "").split()) - {"panel", "panels"}
        )


def test_no_text_leaves_its_panel_even_in_a_wide_font(
    drawings: dict[str, ElementTree.Element],
) -> None:
    for drawing in drawings.values():
        for panel in list(drawing.iter(f"{SVG}svg"))[1:]:
            left, top, width, height = map(float, (panel.get("viewBox") or "").split())
            assert width <= MOST_WIDTH
            for text, anchor in texts_of(panel):
                x, y = float(text.get("x", 0)), float(text.get("y", 0))
                length = len(text.text or "") * FONT_SIZE * 0.58
                start = {"start": x, "middle": x - length / 2, "end": x - length}[anchor]
                assert start >= left - 1, text.text
                assert start + length <= left + width + 1, text.text
                assert top + FONT_SIZE * 0.7 <= y <= top + height, text.text


def test_numbers_of_charts_are_short(report: Path, results: Results) -> None:
    for chart in results.charts:
        text = (report / chart.file).read_text(encoding="utf-8")
        assert not re.search(r"\d\.\d\d", re.sub(r"<(title|desc|text).*?</\1>", "", text))


@pytest.mark.parametrize(
    ("shape", "moved"),
    [
        ("M0,0h300v15h-300Z", "M10,1h300v15h-300Z"),
        ("M.04,0L.24,0L.44,0L.44,3", "M10,1h.4v3"),
        ("M0,0L4,0L4,0L-2,0", "M10,1h4h-6"),
        ("M0,0L1,-1L2.26,2M5,5L5,6", "M10,1l1-1l1.3,3M15,6v1"),
        ("M2,0A2,2,0,1,1,-2,0", None),
    ],
)
def test_a_path_is_written_in_steps_that_end_where_it_ended(shape: str, moved: str | None) -> None:
    assert moved_path(shape, 10, 1) == moved


@given(st.lists(st.tuples(st.floats(-999, 999), st.floats(-999, 999)), min_size=2))
def test_no_corner_of_a_path_is_off_by_more_than_its_rounding(
    corners: list[tuple[float, float]],
) -> None:
    written = moved_path("M" + "L".join(f"{x:f},{y:f}" for x, y in corners), 0, 0) or ""
    ends, at = [], (0.0, 0.0)
    for command, numbers in re.findall(r"([MLhvl])([^A-Za-z]*)", written):
        n = [float(x) for x in re.findall(r"-?(?:\d+\.?\d*|\.\d+)", numbers)]
        dx, dy = {"h": (n[0], 0.0), "v": (0.0, n[0])}.get(command) or (n[0], n[1])
        at = (dx, dy) if command == "M" else (at[0] + dx, at[1] + dy)
        ends.append(at)
    last = corners[-1]
    assert ends[-1] == pytest.approx(last, abs=0.0501)
    assert all(
        any(abs(x - a) < 0.0501 and abs(y - b) < 0.0501 for a, b in corners) for x, y in ends
    )


def test_a_colour_that_is_not_the_themes_is_rejected(results: Results) -> None:
    specification = {
        "data": {"values": [{"x": 1}]},
        "mark": {"type": "bar", "color": "#ff0000"},
        "encoding": {"x": {"field": "x", "type": "quantitative"}},
    }
    with pytest.raises(ValueError, match="colours that are not the theme's: #ff0000"):
        draw(Picture(specification, 100), results.charts[0])


def test_a_line_and_the_intervals_on_it_are_one_path(results: Results) -> None:
    values = [{"x": x, "low": y, "high": y + 1} for x, y in ((0, 0), (1, 2), (2, 1))]
    x = {"field": "x", "type": "quantitative", "axis": None}
    y = {"field": "low", "type": "quantitative", "axis": None}
    colour = next(colour for colour, class_ in CLASSES.items() if class_ == "library-openssl")
    layers = [
        {"mark": {"type": "line", "color": colour}, "encoding": {"x": x, "y": y}},
        {
            "mark": {"type": "rule", "color": colour, "strokeWidth": 2},
            "encoding": {"x": x, "y": y, "y2": {"field": "high"}},
        },
    ]
    drawing = draw(Picture({"data": {"values": values}, "layer": layers}, 100), results.charts[0])
    (path,) = re.findall(f'<path [^>]*stroke="{colour}"[^>]*>', drawing)
    assert "fill" not in path
    assert 'fill="none"' in drawing[: drawing.index(path)]
    assert path.count("M") == 4


def test_titles_are_escaped(results: Results) -> None:
    chart = Chart(
        anchor="chart-a",
        file="a.svg",
        title="a < b & c",
        description='"quoted" <tag>',
        width=720,
        height=100,
        table="a",
    )
    specification = {
        "data": {"values": [{"x": "a < b & c"}]},
        "mark": "text",
        "encoding": {"text": {"field": "x"}},
    }
    drawing = ElementTree.fromstring(draw(Picture(specification, 100), chart))
    found = [e.text for e in drawing.iter() if e.tag in {f"{SVG}{t}" for t in ("title", "desc")}]
    assert found == [chart.title, chart.description]
    assert [t.text for t in drawing.iter(f"{SVG}text")] == ["a < b & c"] * 2
