"""Writes a chart as a small, self-contained SVG that can be recoloured.

Vega-Lite computes where each mark is, and its paint. Of that scene, this module writes what is
visible: text stays text, coordinates have one decimal, adjacent marks with the same paint are one
element, and each colour is an attribute (light) with its class. There is no style element and no
style attribute: a strict content security policy blocks both.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple
from xml.sax.saxutils import escape, quoteattr

import vl_convert

from tlsperf.contract.results import Chart
from tlsperf.report.charts.panels import LINE, MARGIN, Picture
from tlsperf.report.charts.theme import (
    CLASSES,
    CONFIG,
    FIGURE_CONFIG,
    FIGURE_SIZE,
    FONT,
    FONT_SIZE,
    PAPER,
)

VEGA_LITE: Final = "6.4"

_CAPS: Final = {"circle": "round", "square": "square"}
_ANCHORS: Final = {"center": "middle", "right": "end"}
_BASELINES: Final = {"top": 0.79, "middle": 0.3}
"""How far the baseline of a text is below its position, in parts of the font size, as Vega has it."""


class _Mark(NamedTuple):
    """A text, or a shape whose text is empty, with its paint (including `class`)."""

    paint: dict[str, str]
    place: dict[str, str]
    text: str = ""


def draw(picture: Picture, chart: Chart) -> str:
    """The SVG of a chart; its ids start with the chart's anchor.

    Each panel is an SVG within it, which a page can arrange. Raises ValueError for a colour that is
    not in the theme, because it could not be recoloured, and for a mark of another type than text,
    rect, rule, line, circle, square and diamond.
    """
    panels = [
        f'<svg class="panel" fill="none" x="{MARGIN + x}" y="{MARGIN + y}" '
        f'width="{panel.width}" height="{panel.height}" '
        f'viewBox="{-panel.left} {-panel.top} {panel.width} {panel.height}">{marks}</svg>'
        for panel, (x, y), marks in zip(
            picture.panels, picture.places, _panels(picture, CONFIG), strict=True
        )
    ]
    # The page of a report takes the text between the tags of this group.
    content = '\n<g class="panels">' + "\n".join(panels) + "</g>"
    size = chart.width, chart.height, FONT_SIZE
    return _file(chart.anchor, size, chart.title, chart.description, content)


def draw_figure(picture: Picture, anchor: str, title: str, description: str) -> str:
    """The SVG of a drawing that a page shows as it is; its ids start with `anchor`.

    All of its text has `FIGURE_SIZE`. Raises ValueError as `draw` does.
    """
    panels = [
        f'<g fill="none" transform="translate({x + panel.left} {y + panel.top})">{marks}</g>'
        for panel, (x, y), marks in zip(
            picture.panels, picture.places, _panels(picture, FIGURE_CONFIG), strict=True
        )
    ]
    size = picture.width, picture.height, FIGURE_SIZE
    return _file(anchor, size, title, description, "\n".join(panels))


def _file(
    anchor: str, size: tuple[int, int, int], title: str, description: str, content: str
) -> str:
    """A file of a width, a height and a font size in pixels."""
    width, height, font = size
    ids = f"{anchor}-title", f"{anchor}-desc"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" aria-labelledby="{" ".join(ids)}" '
        f'font-family={quoteattr(FONT)} font-size="{font}">'
        f'<title id="{ids[0]}">{escape(title)}</title>'
        f'<desc id="{ids[1]}">{escape(description)}</desc>'
        f'<rect class="{CLASSES[PAPER]}" fill="{PAPER}" width="100%" height="100%"/>{content}'
        "</svg>\n"
    )


def _panels(picture: Picture, config: Mapping[str, Any]) -> list[str]:
    """What is visible of each panel, around the origin of its plot."""
    scene = vl_convert.vegalite_to_scenegraph(
        {
            "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
            "vconcat": [panel.view for panel in picture.panels],
            "resolve": {"scale": {"color": "independent", "size": "independent"}},
            "config": config,
        },
        vl_version=VEGA_LITE,
        allowed_base_urls=[],
    )
    views = scene["scenegraph"]["items"][0]["items"]
    return ["\n".join(_written(_marks(view["items"][0]["items"], 0, 0))) for view in views]


# --- reading of a scene --------------------------------------------------------------------------


def _marks(marks: Iterable[Mapping[str, Any]], x: float, y: float) -> Iterator[_Mark]:
    """The visible marks of a group that is at (x, y)."""
    for mark in marks:
        kind, items = mark["marktype"], mark["items"]
        if kind == "group":
            for group in items:
                yield from _marks(group["items"], x + group.get("x", 0), y + group.get("y", 0))
        elif kind == "line":
            if items:
                yield _shape(kind, items[0], [(x + p["x"], y + p["y"]) for p in items])
        else:
            for item in items:
                if item.get("opacity") != 0:
                    yield from _drawn(kind, item, x, y)


def _drawn(kind: str, item: Mapping[str, Any], x: float, y: float) -> Iterator[_Mark]:
    left, top = x + item["x"], y + item["y"]
    match kind:
        case "text":
            lines = item["text"] if isinstance(item["text"], list) else [item["text"]]
            for n, line in enumerate(lines):
                if line:
                    yield _text(line, item, left, top + n * LINE)
        case "symbol" if item["shape"] in _CAPS:
            yield _shape(kind, item, [(left, top)])
        case "symbol" if item["shape"] == "diamond":
            half = math.sqrt(item["size"]) / 2
            corners = [(left, top - half), (left + half, top), (left, top + half)]
            yield _shape("rect", item, [*corners, (left - half, top)])
        case "rule":
            end = x + item.get("x2", item["x"]), y + item.get("y2", item["y"])
            yield _shape(kind, item, [(left, top), end])
        case "rect":
            right, low = left + item["width"], top + item["height"]
            yield _shape(kind, item, [(left, top), (right, top), (right, low), (left, low)])
        case _:
            raise ValueError(f"a mark that cannot be drawn: {item.get('shape', kind)}")


def _shape(kind: str, item: Mapping[str, Any], corners: Sequence[tuple[float, float]]) -> _Mark:
    """A line, an area or a dot. A dot is the end of a line of length zero: round or a square."""
    if kind == "rect":
        paint = {"fill": item["fill"], "fill-opacity": f"{item.get('fillOpacity', 1):g}"}
    elif kind == "symbol":
        paint = {
            "stroke": item["fill"],
            "stroke-width": _number(math.sqrt(item["size"])),
            "stroke-linecap": _CAPS[item["shape"]],
            "stroke-opacity": f"{item.get('fillOpacity', 1):g}",
        }
    else:
        dash = ",".join(map(str, item.get("strokeDash", ())))
        width = _number(item.get("strokeWidth", 1))
        paint = {
            "stroke": item["stroke"],
            "stroke-width": width,
            "stroke-dasharray": dash,
            "stroke-opacity": f"{item.get('strokeOpacity', 1):g}",
        }
    end = "Z" if kind == "symbol" else ""
    return _Mark(_painted(paint), {"d": path(corners) + end})


def _text(line: str, item: Mapping[str, Any], x: float, y: float) -> _Mark:
    below = round(_BASELINES.get(item["baseline"], 0) * item["fontSize"])
    paint = {"fill": item["fill"], "text-anchor": _ANCHORS.get(item["align"], "")}
    if item.get("angle"):  # a quarter turn to the left
        paint["transform"] = "rotate(270)"
        x, y = -y, x
    weight = str(item.get("fontWeight", "normal"))
    place = {"font-weight": weight.replace("normal", ""), "x": _number(x), "y": _number(y + below)}
    return _Mark(_painted(paint), {k: v for k, v in place.items() if v not in ("", "0")}, line)


def _painted(paint: Mapping[str, str]) -> dict[str, str]:
    """The paint without defaults, after the class of its colour."""
    colour = paint.get("fill") or paint["stroke"]
    if colour not in CLASSES:
        raise ValueError(f"a colour that is not the theme's: {colour}")
    return {"class": CLASSES[colour], **{k: v for k, v in paint.items() if v not in ("", "1")}}


# --- writing -------------------------------------------------------------------------------------


def path(corners: Iterable[tuple[float, float]]) -> str:
    """A path through corners, in relative steps.

    Every corner is rounded by itself, so errors do not add up.
    """
    steps: list[str] = []
    at = (0, 0)  # in tenths of a pixel: where the steps written so far end
    for x, y in corners:
        end = round(x * 10), round(y * 10)
        across, down = end[0] - at[0], end[1] - at[1]
        if not steps:
            steps.append(f"M{_decimal(across)},{_decimal(down)}")
        elif across and down:
            steps.append(f"l{_decimal(across)},{_decimal(down)}".replace(",-", "-"))
        elif across or down:
            steps.append(f"h{_decimal(across)}" if across else f"v{_decimal(down)}")
        at = end
    return "".join(steps)


def _decimal(tenths: int) -> str:
    """A number of tenths in the shortest form of SVG: 12, 12.5, .5, -.5."""
    whole, rest = divmod(abs(tenths), 10)
    text = f"{whole or ''}.{rest}" if rest else f"{whole}"
    return f"-{text}" if tenths < 0 else text


def _number(value: float) -> str:
    return _decimal(round(value * 10))


def _written(marks: Iterable[_Mark]) -> Iterator[str]:
    """Each run of marks with the same paint as one element: a path, a text, or a group of texts."""
    for (_, paint), run in itertools.groupby(
        marks, key=lambda mark: ("d" in mark.place, mark.paint)
    ):
        alike = list(run)
        if "d" in alike[0].place:
            yield _element("path", {**paint, "d": "".join(mark.place["d"] for mark in alike)})
        elif len(alike) == 1:
            yield _element("text", {**paint, **alike[0].place}, alike[0].text)
        else:
            texts = "".join(_element("text", mark.place, mark.text) for mark in alike)
            yield f"<g{_attributes(paint)}>{texts}</g>"


def _element(tag: str, attributes: Mapping[str, str], text: str = "") -> str:
    written = f"<{tag}{_attributes(attributes)}"
    return f"{written}>{escape(text)}</{tag}>" if text else f"{written}/>"


def _attributes(attributes: Mapping[str, str]) -> str:
    return "".join(f" {k}={quoteattr(v)}" for k, v in attributes.items())
