"""Draws a Vega-Lite specification as a small, self-contained SVG that can be recoloured.

vl-convert writes nested groups with accessibility notes for each mark. This module keeps only what
is visible: text stays text, transforms become coordinates with one decimal, adjacent marks with the
same paint share a group, and each colour is an attribute (light) with its class. There is no style
element and no style attribute: a strict content security policy blocks both.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from xml.etree import ElementTree
from xml.sax.saxutils import escape, quoteattr

import vl_convert

from tlsperf.contract.results import Chart
from tlsperf.report.charts.head import MARGIN, head_of
from tlsperf.report.charts.picture import Box, Picture
from tlsperf.report.charts.theme import CLASSES, CONFIG, FONT, FONT_SIZE, PAPER

VEGA_LITE: Final = "6.4"
_TRANSLATE: Final = re.compile(r"translate\((-?[\d.e-]+),\s*(-?[\d.e-]+)\)")
_NUMBER: Final = re.compile(r"-?\d*\.?\d+(?:e-?\d+)?")
_VIEW: Final = re.compile(r"\bconcat_(\d+)_group\b")
_TURNED: Final = re.compile(r"rotate\(270\)\s*translate\((-?[\d.e-]+),\s*(-?[\d.e-]+)\)")
_TURN: Final = "rotate(270)"
_SVG: Final = "{http://www.w3.org/2000/svg}"
_STEP: Final = re.compile(r"([A-Za-z])([^A-Za-z]*)")
_CIRCLE: Final = re.compile(
    r"M([\d.]+),0A\1,\1,0,1,1,-\1,0A\1,\1,0,1,1,\1,0"  # how Vega draws one
)
_INHERITED: Final = ("fill", "stroke", "stroke-miterlimit")
_PAINT: Final = (
    "fill",
    "fill-opacity",
    "stroke",
    "stroke-width",
    "stroke-dasharray",
    "text-anchor",
)
_DEFAULTS: Final = {
    ("fill", "none"),  # of a panel
    ("stroke", "none"),
    ("stroke-width", "1"),
    ("text-anchor", "start"),
    ("font-weight", "normal"),
    ("fill-opacity", "1"),
}


@dataclass
class _Mark:
    """An element of the SVG: its position, and its paint (including `class`)."""

    tag: str
    place: dict[str, str]
    paint: dict[str, str]
    text: str = field(default="")


def draw(picture: Picture, chart: Chart) -> str:
    """The SVG of a chart; its ids start with the chart's anchor.

    Each panel is an SVG within it, which a page can arrange. Raises ValueError for a colour that is
    not in the theme, because it could not be recoloured.
    """
    drawn = vl_convert.vegalite_to_svg(
        {**picture.specification, "config": CONFIG},
        vl_version=VEGA_LITE,
        allowed_base_urls=[],
    )
    root = ElementTree.fromstring(drawn)
    title, description = f"{chart.anchor}-title", f"{chart.anchor}-desc"
    head = head_of(chart)
    boxes = picture.boxes or (Box(0, 0, picture.width, picture.height, 0, 0),)
    views = _panels(root) if picture.boxes else [root]
    panels = []
    for box, view in zip(boxes, views, strict=True):
        marks: list[_Mark] = []
        _flatten(view, 0.0, 0.0, {"fill": "none"}, marks)
        panels.append(
            f'<svg class="panel" fill="none" x="{MARGIN + box.x}" y="{box.y + head.height}" '
            f'width="{box.width}" height="{box.height}" '
            f'viewBox="{-box.left} {-box.top} {box.width} {box.height}">'
            + "\n".join(_written(marks))
            + "</svg>"
        )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{chart.width}" height="{chart.height}" '
        f'viewBox="0 0 {chart.width} {chart.height}" role="img" '
        f'aria-labelledby="{title} {description}" '
        f'font-family={quoteattr(FONT)} font-size="{FONT_SIZE}">'
        f'<title id="{title}">{escape(chart.title)}</title>'
        f'<desc id="{description}">{escape(chart.description)}</desc>'
        f'<rect class="{CLASSES[PAPER]}" fill="{PAPER}" width="100%" height="100%"/>{head.svg}\n'
        f"{PANELS}" + "\n".join(panels) + f"{END}</svg>\n"
    )


FEWEST_DOTS: Final = 3

PANELS: Final = '<g class="panels">'
END: Final = "</g>"
"""PANELS and END enclose the panels: a page takes the text between them."""


# --- reading of Vega's SVG ---------------------------------------------------------------------


def _panels(root: ElementTree.Element) -> list[ElementTree.Element]:
    """The group of each view of a concatenation, without its own transform."""
    groups = {
        int(found.group(1)): group
        for group in root.iter(f"{_SVG}g")
        if (found := _VIEW.search(group.get("class", "")))
    }
    for group in groups.values():
        group[0].attrib.pop("transform", None)
    return [groups[number] for number in sorted(groups)]


def _flatten(
    element: ElementTree.Element,
    x: float,
    y: float,
    inherited: Mapping[str, str],
    marks: list[_Mark],
) -> None:
    """Appends the visible elements below an element, moved by the transforms of its ancestors."""
    attributes = {**inherited, **element.attrib}
    if attributes.get("display") == "none" or attributes.get("opacity") == "0":
        return
    transform = attributes.pop("transform", "")
    if move := _TRANSLATE.match(transform):
        x, y = x + float(move.group(1)), y + float(move.group(2))
    rest = _TRANSLATE.sub("", transform, count=1).strip()
    if turned := _TURNED.fullmatch(rest):
        x, y, rest = x + float(turned.group(2)), y - float(turned.group(1)), _TURN
    tag = element.tag.rpartition("}")[2]
    if tag in {"svg", "g"}:
        below = {k: v for k, v in attributes.items() if k in _INHERITED}
        for child in element:
            _flatten(child, x, y, below, marks)
        return
    if tag == "line":
        attributes.pop("fill", None)
    elif tag == "path" and "fill" not in attributes:
        raise ValueError("a path without a fill")
    paints = {attributes.get("stroke", "none"), attributes.get("fill", "none")}
    if paints <= {"none", "transparent"}:
        return
    mark = _mark(tag, attributes, x, y, rest)
    mark.text = "".join(element.itertext())
    marks.append(mark)


def _mark(tag: str, attributes: Mapping[str, str], x: float, y: float, rest: str) -> _Mark:
    paint = {k: attributes[k] for k in _PAINT if k in attributes}
    paint = {k: v for k, v in paint.items() if (k, v) not in _DEFAULTS}
    colours = {v for k, v in paint.items() if k in {"fill", "stroke"}}
    if unknown := colours - set(CLASSES):
        raise ValueError(f"colours that are not the theme's: {', '.join(sorted(unknown))}")
    paint = {"class": " ".join(sorted(CLASSES[c] for c in colours)), **paint}
    if tag == "line":
        end = f"M0,0L{attributes['x2']},{attributes['y2']}"
        return _Mark("path", {"d": moved_path(end, x, y) or ""}, paint)
    if tag == "path" and not rest:
        shape = attributes["d"]
        if circle := _CIRCLE.fullmatch(shape):
            place = {"cx": _number(x), "cy": _number(y), "r": _number(float(circle.group(1)))}
            paint.pop("stroke-width", None)
            return _Mark("circle", place, paint)
        if moved := moved_path(shape, x, y):
            return _Mark("path", {"d": moved}, paint)
    place = {k: attributes[k] for k in ("d", "font-weight") if k in attributes}
    place = {k: _short(v) for k, v in place.items() if (k, v) not in _DEFAULTS}
    if tag == "text" and rest in ("", _TURN):
        if rest:  # of all texts of a group
            x, y, paint = -y, x, paint | {"transform": rest}
        place |= {k: _number(v) for k, v in (("x", x), ("y", y)) if _number(v) != "0"}
    elif x or y or rest:
        place["transform"] = f"translate({_number(x)},{_number(y)}){_short(rest)}"
    return _Mark(tag, place, paint)


def moved_path(shape: str, x: float, y: float) -> str | None:
    """A path of straight lines in relative steps, moved by (x, y); None if it has curves.

    Every corner is rounded by itself, so errors do not add up.
    """
    steps: list[str] = []
    at = start = (x, y)
    drawn = (0, 0)  # in tenths of a pixel: where the steps written so far end
    last = ("", 0)  # the command and length of the last of them, if it was along an axis
    for command, written in _STEP.findall(shape):
        numbers = [float(n) for n in _NUMBER.findall(written)]
        match command:
            case "M" | "L":
                at = (x + numbers[0], y + numbers[1])
            case "h":
                at = (at[0] + numbers[0], at[1])
            case "v":
                at = (at[0], at[1] + numbers[0])
            case "Z":
                steps.append("Z")
                at, drawn, last = start, _tenths(start), ("", 0)
                continue
            case _:
                return None
        end = _tenths(at)
        across, down = end[0] - drawn[0], end[1] - drawn[1]
        drawn = end
        if command == "M":
            start, last = at, ("", 0)
            steps.append(f"M{_decimal(end[0])},{_decimal(end[1])}")
        elif across and down:
            last = ("", 0)
            steps.append(f"l{_decimal(across)},{_decimal(down)}".replace(",-", "-"))
        elif across or down:
            axis, length = ("h", across) if across else ("v", down)
            if last[0] == axis and last[1] * length > 0:
                steps.pop()
                length += last[1]
            last = (axis, length)
            steps.append(f"{axis}{_decimal(length)}")
    return "".join(steps)


def _tenths(point: tuple[float, float]) -> tuple[int, int]:
    return round(point[0] * 10), round(point[1] * 10)


def _decimal(tenths: int) -> str:
    """A number of tenths in the shortest form of SVG: 12, 12.5, .5, -.5."""
    whole, rest = divmod(abs(tenths), 10)
    text = f"{whole or ''}.{rest}" if rest else f"{whole}"
    return f"-{text}" if tenths < 0 else text


def _number(value: float) -> str:
    return _decimal(round(value * 10))


def _short(text: str) -> str:
    """The text with each of its numbers rounded to one decimal."""
    return _NUMBER.sub(lambda n: _number(float(n.group())), text)


# --- writing -------------------------------------------------------------------------------------


def _written(marks: Iterable[_Mark]) -> Iterable[str]:
    for _, alike in itertools.groupby(marks, key=lambda mark: mark.paint):
        group = _joined(_dotted(list(alike)))
        if len(group) == 1:
            yield _element(group[0], group[0].paint)
        else:
            shared = "".join(f" {k}={quoteattr(v)}" for k, v in group[0].paint.items())
            yield f"<g{shared}>" + "".join(_element(mark, {}) for mark in group) + "</g>"


def _dotted(alike: list[_Mark]) -> list[_Mark]:
    """Dots of one size as one path, a third as long: round ends of lines of length zero."""
    radii = {mark.place.get("r") for mark in alike}
    fill = alike[0].paint.get("fill")
    if len(alike) < FEWEST_DOTS or len(radii) > 1 or {m.tag for m in alike} != {"circle"}:
        return alike
    if fill is None or set(alike[0].paint) != {"class", "fill"}:
        return alike
    width = _number(2 * float(radii.pop() or 0))
    paint = {"class": alike[0].paint["class"], "stroke": fill, "stroke-width": width}
    path = "".join(_dots([(float(m.place["cx"]), float(m.place["cy"])) for m in alike]))
    return [_Mark("path", {"d": path}, paint | {"stroke-linecap": "round"})]


def _dots(places: Sequence[tuple[float, float]]) -> Iterable[str]:
    """The steps from dot to dot."""
    x, y = 0, 0
    for command, place in zip(itertools.chain("M", itertools.repeat("m")), places, strict=False):
        across, down = _tenths(place)
        yield f"{command}{_decimal(across - x)},{_decimal(down - y)}Z".replace(",-", "-")
        x, y = across, down


def _joined(alike: Sequence[_Mark]) -> list[_Mark]:
    """Merges adjacent strokes, and adjacent opaque areas, into one path."""
    joined: list[_Mark] = []
    for mark in alike:
        path = mark.tag == "path" and "fill-opacity" not in mark.paint
        if path and joined and joined[-1].tag == "path" and "transform" not in mark.place:
            joined[-1].place["d"] += mark.place["d"]
        else:
            joined.append(mark)
    for mark in joined:
        if "stroke" not in mark.paint and "d" in mark.place:  # a filled path is closed
            mark.place["d"] = mark.place["d"].replace("Z", "")
    return joined


def _element(mark: _Mark, paint: Mapping[str, str]) -> str:
    attributes = "".join(f" {k}={quoteattr(v)}" for k, v in (*paint.items(), *mark.place.items()))
    if not mark.text:
        return f"<{mark.tag}{attributes}/>"
    return f"<{mark.tag}{attributes}>{escape(mark.text)}</{mark.tag}>"
