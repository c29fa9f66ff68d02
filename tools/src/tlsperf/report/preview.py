"""The picture for link previews of a report, as a PNG: its title and the first rows of its dots.

The bytes are the same on every machine: the typeface is the site's own file, letters that it lacks
are those of DejaVu Sans, and both are laid out without libraries of the host. The palette has only
the colours that the picture uses. The compressor is part of its package (zlib's output would depend
on the zlib of the host, and zlib-ng's on the processor).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Final, NamedTuple
from unicodedata import normalize

import oxipng
from PIL import Image, ImageColor, ImageDraw, ImageFont

from tlsperf.contract.libraries import LIGHT
from tlsperf.contract.results import Results
from tlsperf.contract.shipped import SITE, THEME
from tlsperf.contract.text import host_label, listed
from tlsperf.report.charts.dots import MARKS, PALE, DotPanel, DotRow, Dots
from tlsperf.report.charts.figure import Scale, times

FILE: Final = "preview.png"
WIDTH: Final = 1200
HEIGHT: Final = 630
"""Size of the picture in pixels that readers of Open Graph expect."""

MOST_DOTS: Final = 6
"""Limit of rows of dots: text is to be readable in a preview of half the size."""
FEW_ROWS: Final = 3
"""A first panel with fewer rows than this is drawn with those of the next ones."""
MOST_LABEL: Final = 520
"""Limit in pixels for the labels of rows; longer labels get a smaller font."""
LEAST_SIZE: Final = 16
"""Smallest font size of those labels; longer text is cut off."""

MARGIN: Final = 56
INNER: Final = WIDTH - 2 * MARGIN
FOOT: Final = HEIGHT - 46

_PAPER: Final = "#fdfdfb"
_INK: Final = "#1b1c1e"
_SOFT: Final = "#5b5d61"
_RULE: Final = "#dedcd4"
_SHADES: Final = 16
"""Number of steps between the background and a colour, for smooth edges."""
_FINER: Final = 4
"""Marks are drawn so many times as large, and made smaller."""

_TYPEFACE: Final = SITE / THEME / "static" / "fonts" / "public-sans.woff2"
_OTHER_LETTERS: Final = Path(__file__).with_name("typefaces")
_TITLE_SIZES: Final = (52, 48, 44, 40)
_ABOUT_SIZES: Final = (30, 27, 24, 21)
_NORMAL: Final = 400
_BOLD: Final = 700


class Preview(NamedTuple):
    png: bytes
    alt: str


def report_preview(title: str, about: str, dots: Dots | None, site: str) -> Preview:
    """The picture of a link to a page: its title, `about`, the first rows of its dots, and the name
    of the site. Without dots it is the title alone.
    """
    heading, rows = _rows(dots) if dots else ("", [])
    canvas = _Canvas([LIGHT[row.colour] for row in rows])
    size, lines = _largest(title, _TITLE_SIZES, _BOLD, 2)
    below = MARGIN - 8.0 if dots else 220.0
    for line in lines:
        below += 1.14 * size
        canvas.text((MARGIN, below - 0.2 * size), line, size, _BOLD)
    canvas.text((MARGIN, below + 34), about, _largest(about, _ABOUT_SIZES)[0], colour=_SOFT)
    canvas.signed(site)
    if dots is None:
        return Preview(canvas.png(), f"{title}. {about}.")
    canvas.box(MARGIN, below + 54, INNER, 2, _RULE)
    canvas.text((MARGIN, below + 94), heading, 28, _BOLD)
    canvas.dots(dots, rows, below + 72, FOOT - 46)
    drawn = replace(dots, panels=[DotPanel(heading, rows)], notes=[])
    return Preview(canvas.png(), f"{title}. {drawn.description} {about}.")


def about(parts: Sequence[Results]) -> str:
    """Date and hosts of a report: `21 November 2026 · Intel VM and AMD Zen 4 VM`."""
    day = max(part.date for part in parts)
    hosts = dict.fromkeys(host_label(host) for part in parts for host in part.hosts)
    return f"{day.day} {day:%B %Y} · {listed(list(hosts))}"


def _rows(dots: Dots) -> tuple[str, list[DotRow]]:
    """The rows that have room, and what they are: those of the first panel, if it has several."""
    first, *others = dots.panels
    if not others or len(first.rows) >= FEW_ROWS:
        return first.title, [row for row in first.rows if row.dots][:MOST_DOTS]
    named = [
        DotRow(
            f"{panel.title}, {row.label}" if len(panel.rows) > 1 else panel.title,
            row.colour,
            row.dots,
        )
        for panel in dots.panels
        for row in panel.rows
        if row.dots
    ]
    return "", named[:MOST_DOTS]


def site_preview(title: str, description: str) -> bytes:
    """The picture for all pages that are not reports."""
    canvas = _Canvas()
    canvas.text((MARGIN, 250), title, 80, _BOLD)
    for number, line in enumerate(_wrapped(description, 40, _NORMAL, 3)):
        canvas.text((MARGIN, 336 + 58 * number), line, 40, colour=_SOFT)
    canvas.icon(MARGIN, FOOT, 72)
    return canvas.png()


class _Canvas:
    """An empty picture with methods to draw text and boxes; sizes in pixels."""

    def __init__(self, colours: Iterable[str] = ()) -> None:
        self._image = Image.new("RGB", (WIDTH, HEIGHT), _PAPER)
        self._draw = ImageDraw.Draw(self._image)
        self._colours = list(dict.fromkeys(colours))

    def text(
        self,
        at: tuple[float, float],
        text: str,
        size: int,
        weight: int = _NORMAL,
        *,
        colour: str = _INK,
        width: float = INNER,
    ) -> None:
        """One line whose baseline starts at `at`, cut to `width`."""
        x, y = at
        for part, font in _parts(_cut(text, size, weight, width), size, weight):
            self._draw.text((x, y), part, colour, font, anchor="ls")
            x += font.getlength(part)

    def box(self, x: float, y: float, width: float, height: float, colour: str) -> None:
        self._draw.rectangle((x, y, x + max(width, 2) - 1, y + height - 1), colour)

    def icon(self, x: float, bottom: float, height: float) -> None:
        """Draws the site's icon as static/icon.svg defines it."""
        top, unit = bottom - height, height / 16
        corners = (x, top, x + height - 1, bottom - 1)
        self._draw.rounded_rectangle(corners, 3 * unit, _INK)
        for y, width in ((5, 10), (8, 7), (11, 4)):
            thick = 1.8 * unit
            self.box(x + 3 * unit, top + y * unit - thick / 2, width * unit, thick, _PAPER)

    def signed(self, site: str) -> None:
        """Draws the site's name and icon at the lower right."""
        left = WIDTH - MARGIN - _width(site, 30, _BOLD)
        self.text((left, FOOT), site, 30, _BOLD)
        self.icon(left - 44, FOOT + 4, 32)

    def dots(self, dots: Dots, rows: Sequence[DotRow], top: float, bottom: float) -> None:
        """Draws rows of dots on a log scale, with its axis below and the hosts at the lower left."""
        labels = [row.label for row in rows]
        step = min(52.0, (bottom - top - 92) / len(rows))
        size = round(min(28.0, step * 0.68))
        while (widest := max(_width(of, size, _NORMAL) for of in labels)) > MOST_LABEL and (
            size > LEAST_SIZE
        ):
            size -= 1
        left = MARGIN + min(widest, MOST_LABEL) + 44
        length = WIDTH - MARGIN - 30 - left
        bounds = [b for row in rows for d in row.dots for b in (d.ratio, d.low, d.high) if b]
        scale = Scale.of(bounds)
        first, end = top + 36, top + 36 + step * len(rows)
        for tick in scale.ticks(length, 96):
            x = left + scale.at(tick, length)
            self.box(round(x), first, 1, end - first, _RULE)
            self.text((x - _width(times(tick), 24, _NORMAL) / 2, end + 24), times(tick), 24)
        one = left + scale.at(1, length)
        for number, row in enumerate(rows):
            y = first + step * (number + 0.5)
            self.box(left - 16, round(y), length + 32, 1, _RULE)
            self.text((MARGIN, y + size * 0.36), row.label, size, width=left - MARGIN - 30)
        self.box(round(one) - 1, first - 4, 3, end - first + 4, _INK)
        self._within(dots.baseline, one - _width(dots.baseline, 24, _NORMAL) / 2, first - 10)
        self._within(f"{dots.better} →", one, end + 52)
        apart = min(14.0, step / max(2, len(dots.hosts)))
        for number, row in enumerate(rows):
            for dot in row.dots:
                y = first + step * (number + 0.5) + (dot.host - (len(dots.hosts) - 1) / 2) * apart
                colour = LIGHT[row.colour] if dot.is_shown else _mixed(LIGHT[row.colour], PALE)
                if dot.low and dot.high:
                    start = left + scale.at(dot.low, length)
                    width = left + scale.at(dot.high, length) - start
                    self.box(round(start), round(y) - 1, round(width), 3, colour)
                self.mark(left + scale.at(dot.ratio, length), y, dot.host, colour)
        if len(dots.hosts) > 1:
            x = MARGIN + 8.0
            for host, name in enumerate(dots.hosts):
                self.mark(x, FOOT - 8, host, _INK)
                self.text((x + 16, FOOT), name, 24, colour=_SOFT, width=max(1, 760 - x))
                x += _width(name, 24, _NORMAL) + 52

    def _within(self, text: str, x: float, y: float) -> None:
        """A line of text from x, or so that it ends at the margin."""
        width = _width(text, 24, _NORMAL)
        self.text((max(MARGIN, min(x, WIDTH - MARGIN - width)), y), text, 24)

    def mark(self, x: float, y: float, host: int, colour: str) -> None:
        """The mark of a host around a point, with smooth edges."""
        shape, is_hollow = MARKS[host]
        for radius, fill in ((9.0, colour), *(((5.0, _PAPER),) if is_hollow else ())):
            whole = round(radius) + 2
            mask = Image.new("L", (2 * whole * _FINER, 2 * whole * _FINER))
            draw, middle, reach = ImageDraw.Draw(mask), whole * _FINER, radius * _FINER
            if shape == "diamond":
                reach *= 1.2
                draw.polygon(
                    [
                        (middle, middle - reach),
                        (middle + reach, middle),
                        (middle, middle + reach),
                        (middle - reach, middle),
                    ],
                    255,
                )
            else:
                corners = (middle - reach, middle - reach, middle + reach, middle + reach)
                (draw.ellipse if shape == "circle" else draw.rectangle)(corners, 255)
            small = mask.resize((2 * whole, 2 * whole), Image.Resampling.BOX)
            self._image.paste(fill, (round(x) - whole, round(y) - whole), small)

    def png(self) -> bytes:
        palette = _palette(self._colours)
        colours = Image.new("P", (1, 1))
        colours.putpalette([value for colour in palette for value in colour])
        flat = self._image.quantize(palette=colours, dither=Image.Dither.NONE)
        kind = oxipng.ColorType.indexed([(*colour, 255) for colour in palette])
        image = oxipng.RawImage(flat.tobytes(), WIDTH, HEIGHT, color_type=kind, bit_depth=8)
        # A single filter: oxipng tries several in threads, and its choice between equal sizes is
        # random. More effort saves 2 KB of 24 and takes four times as long.
        return bytes(
            image.create_optimized_png(
                level=0,
                filter=[oxipng.RowFilter.NoOp],
                bit_depth_reduction=False,
                color_type_reduction=False,
                palette_reduction=False,
                grayscale_reduction=False,
                deflate=oxipng.Deflaters.libdeflater(9),
            )
        )


def _palette(of: Sequence[str]) -> list[tuple[int, int, int]]:
    """The colours of one picture only, so that another library does not change older pictures."""
    shades = [
        ImageColor.getrgb(_mixed(colour, n / _SHADES))
        for colour in (_INK, _SOFT, *of)
        for n in range(1, _SHADES + 1)
    ]
    found = [*map(ImageColor.getrgb, (_PAPER, _RULE)), *shades]
    return [(of[0], of[1], of[2]) for of in found]


def _mixed(colour: str, part: float) -> str:
    """A part of a colour, on paper."""
    pairs = zip(ImageColor.getrgb(_PAPER), ImageColor.getrgb(colour), strict=True)
    return "#" + "".join(f"{round(p + (c - p) * part):02x}" for p, c in pairs)


@cache
def _font(size: int, weight: int) -> ImageFont.FreeTypeFont:
    font = ImageFont.truetype(_TYPEFACE, size, layout_engine=ImageFont.Layout.BASIC)
    font.set_variation_by_axes([weight])
    return font


@cache
def _font_of_others(size: int, weight: int) -> ImageFont.FreeTypeFont:
    file = _OTHER_LETTERS / f"dejavu-sans-{weight}.woff2"
    return ImageFont.truetype(file, size, layout_engine=ImageFont.Layout.BASIC)


@cache
def _in_typeface(character: str) -> bool:
    """Whether the site's typeface has a character. It draws nothing where it has none."""
    return character.isspace() or _font(20, _NORMAL).getmask(character).getbbox() is not None


def _parts(text: str, size: int, weight: int) -> Iterator[tuple[str, ImageFont.FreeTypeFont]]:
    """The parts of a text, each with the font that draws it. What no typeface has is a box."""
    for has, characters in groupby(normalize("NFC", text), _in_typeface):
        yield "".join(characters), (_font if has else _font_of_others)(size, weight)


def _width(text: str, size: int, weight: int) -> float:
    return sum(font.getlength(part) for part, font in _parts(text, size, weight))


def _cut(text: str, size: int, weight: int, width: float) -> str:
    """The text, or as much of it as fits with an ellipsis."""
    if _width(text, size, weight) <= width:
        return text
    while text and _width(f"{text}…", size, weight) > width:
        text = text[:-1]
    return f"{text.rstrip()}…"


def _largest(
    text: str, sizes: Sequence[int], weight: int = _NORMAL, most: int = 1
) -> tuple[int, list[str]]:
    """The largest size in which a text fits into `most` lines, and those; or else the smallest."""
    for size in sizes:
        lines = _wrapped(text, size, weight, most)
        if _width(lines[-1], size, weight) <= INNER:
            break
    return size, lines


def _wrapped(text: str, size: int, weight: int, most: int, width: float = INNER) -> list[str]:
    """The text in at most `most` lines; the last one may be too long and is cut when drawn."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if not lines[-1] or _width(longer, size, weight) <= width or len(lines) == most:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines
