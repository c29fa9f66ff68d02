"""Draws a Vega-Lite specification as a small SVG that stands alone and can be recoloured.

vl-convert writes nested groups with accessibility notes for each mark. Here only what can be seen
is kept, in one flat group: text stays text, translations become coordinates with one decimal, each
colour stays an attribute (light) and gets its class. No style element and no style attribute: a
strict content security policy refuses both.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final
from xml.etree import ElementTree
from xml.sax.saxutils import escape, quoteattr

import vl_convert

from tlsperf.charts.theme import CLASSES, CONFIG, FONT, FONT_SIZE
from tlsperf.model import Chart

VEGA_LITE: Final = "6.4"
_TRANSLATE: Final = re.compile(r"translate\((-?[\d.e-]+),\s*(-?[\d.e-]+)\)")
_NUMBER: Final = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")
_INHERITED: Final = ("fill", "stroke", "stroke-miterlimit")
_KEPT: Final = (
    "d",
    "fill",
    "fill-opacity",
    "stroke",
    "stroke-width",
    "stroke-dasharray",
    "text-anchor",
    "font-weight",
)


def draw(specification: Mapping[str, Any], chart: Chart) -> str:
    """The SVG of a specification; its ids begin with the chart's anchor.

    Raises ValueError at a colour that is not the theme's: it could not be recoloured.
    """
    drawn = vl_convert.vegalite_to_svg(
        {**specification, "config": CONFIG},
        vl_version=VEGA_LITE,
        allowed_base_urls=[],
    )
    marks: list[str] = []
    _flatten(ElementTree.fromstring(drawn), 0.0, 0.0, {}, marks)
    title, description = f"{chart.anchor}-title", f"{chart.anchor}-desc"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{chart.width}" height="{chart.height}" '
        f'viewBox="0 0 {chart.width} {chart.height}" role="img" '
        f'aria-labelledby="{title} {description}" '
        f'font-family={quoteattr(FONT)} font-size="{FONT_SIZE}">'
        f'<title id="{title}">{escape(chart.title)}</title>'
        f'<desc id="{description}">{escape(chart.description)}</desc>\n'
        + "\n".join(marks)
        + "\n</svg>\n"
    )


def _flatten(
    element: ElementTree.Element,
    x: float,
    y: float,
    inherited: Mapping[str, str],
    marks: list[str],
) -> None:
    """Appends what is visible below an element, moved to where its ancestors' transforms put it."""
    attributes = {**inherited, **element.attrib}
    if attributes.get("display") == "none" or attributes.get("opacity") == "0":
        return
    transform = attributes.pop("transform", "")
    if move := _TRANSLATE.match(transform):
        x, y = x + float(move.group(1)), y + float(move.group(2))
    rest = _TRANSLATE.sub("", transform, count=1).strip()
    tag = element.tag.rpartition("}")[2]
    if tag in {"svg", "g"}:
        below = {k: v for k, v in attributes.items() if k in _INHERITED}
        for child in element:
            _flatten(child, x, y, below, marks)
        return
    paints = [attributes.get("stroke", "none")]
    if tag != "line":
        paints.append(attributes.get("fill", "black"))
    if all(paint in {"none", "transparent"} for paint in paints):
        return
    kept: dict[str, str] = {k: attributes[k] for k in _KEPT if k in attributes}
    if tag == "line":
        kept |= {
            "x1": f"{x}",
            "y1": f"{y}",
            "x2": f"{x + float(attributes['x2'])}",
            "y2": f"{y + float(attributes['y2'])}",
        }
        kept.pop("fill", None)
    elif tag == "text" and not rest:
        kept |= {"x": f"{x}", "y": f"{y}"}
    elif x or y or rest:
        kept["transform"] = f"translate({x:.1f},{y:.1f}){rest}"
    kept = {k: v for k, v in kept.items() if (k, v) not in _DEFAULTS}
    if tag == "path" and "fill" not in attributes:
        raise ValueError("a path without a fill")
    colours = {v for k, v in kept.items() if k in {"fill", "stroke"} and v != "none"}
    unknown = colours - set(CLASSES)
    if unknown:
        raise ValueError(f"colours that are not the theme's: {', '.join(sorted(unknown))}")
    classes = {"class": " ".join(sorted(CLASSES[c] for c in colours))}
    written = "".join(f" {k}={quoteattr(_short(v))}" for k, v in (classes | kept).items())
    text = "".join(element.itertext())
    marks.append(f"<{tag}{written}>{escape(text)}</{tag}>" if text else f"<{tag}{written}/>")


_DEFAULTS: Final = {
    ("stroke", "none"),
    ("stroke-width", "1"),
    ("text-anchor", "start"),
    ("font-weight", "normal"),
    ("fill-opacity", "1"),
}


def _short(text: str) -> str:
    """Its numbers with one decimal at most."""
    return _NUMBER.sub(lambda n: f"{float(n.group()):.1f}".removesuffix(".0"), text)
