"""The picture for link previews of a report, as a PNG: its title and its first headline.

The bytes are the same on every machine: the typeface is the site's own file, letters that it lacks
are those of DejaVu Sans, and both are laid out without libraries of the host. The palette has only
the colours that the picture uses. The compressor is part of its package (zlib's output would depend
on the zlib of the host, and zlib-ng's on the processor).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Final, NamedTuple
from unicodedata import normalize

import oxipng
from PIL import Image, ImageColor, ImageDraw, ImageFont

from tlsperf.contract.libraries import LIGHT
from tlsperf.contract.questions import Scoreboard, SheetCell
from tlsperf.contract.results import Bar, Headline, Results
from tlsperf.contract.shipped import SITE, THEME
from tlsperf.contract.text import host_label, listed
from tlsperf.report.headlines import headline_of, shown_bars
from tlsperf.report.prices import drawn_prices

FILE: Final = "preview.png"
WIDTH: Final = 1200
HEIGHT: Final = 630
"""Size of the picture in pixels that readers of Open Graph expect."""

MOST_ROWS: Final = 8
"""Limit of the scoreboard's rows."""
MOST_LABEL: Final = 540
"""Limit in pixels for the labels of bars; longer labels get a smaller font."""
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
"""Number of steps between the background and a text colour, for smooth edges."""

_TYPEFACE: Final = SITE / THEME / "static" / "fonts" / "public-sans.woff2"
_OTHER_LETTERS: Final = Path(__file__).with_name("typefaces")
_TITLE_SIZES: Final = (52, 48, 44, 40)
_ABOUT_SIZES: Final = (30, 27, 24, 21)
_NORMAL: Final = 400
_BOLD: Final = 700


class Preview(NamedTuple):
    png: bytes
    alt: str


def report_preview(results: Results, site: str) -> Preview | None:
    """The picture of a report's first headline, with the site's name; None without a headline.

    A report with a price list has times of its server instead.
    """
    if not results.headlines:
        return None
    headline, scale = _times(results) or _first(results)
    libraries = {i.id: i.library for i in results.implementations}
    bars = shown_bars(headline.bars, libraries)
    hidden = len(headline.bars) - len(bars)
    about = _about(results)

    canvas = _Canvas()
    size, lines = _largest(results.title, _TITLE_SIZES, _BOLD, 2)
    below = MARGIN - 8.0
    for line in lines:
        below += 1.14 * size
        canvas.text((MARGIN, below - 0.2 * size), line, size, _BOLD)
    canvas.text((MARGIN, below + 34), about, _largest(about, _ABOUT_SIZES)[0], colour=_SOFT)
    canvas.box(MARGIN, below + 56, INNER, 2, _RULE)
    canvas.text((MARGIN, below + 102), headline.title, 32, _BOLD)
    more = f"; {hidden} more" if hidden else ""
    canvas.text((MARGIN, FOOT), scale + more, 28, colour=_SOFT, width=650)
    canvas.signed(site)
    colours = {i.id: LIGHT[i.colour] for i in results.implementations}
    bars_top, bars_bottom = below + 120, FOOT - 46
    canvas.bars(bars, [colours[bar.implementation] for bar in bars], bars_top, bars_bottom)
    figures = "; ".join(f"{bar.label} {bar.text}" for bar in bars)
    return Preview(canvas.png(), f"{headline.title}, in {scale}: {figures}{more}. {about}.")


def _first(results: Results) -> tuple[Headline, str]:
    """The first headline of a report, and its scale."""
    headline = results.headlines[0]
    better = next(t.better for t in results.tables for r in t.rows if r.anchor == headline.anchor)
    return headline, f"{headline.unit}, {better} is better"


def _times(results: Results) -> tuple[Headline, str] | None:
    """The last drawn times of a server, and what it loses; None without a price list."""
    drawn = drawn_prices(results.prices or ())
    if not drawn:
        return None
    table, row = drawn[0], drawn[0].rows[-1]
    headline = headline_of(table, row, {i.id: i.label for i in results.implementations})
    if headline is None:
        return None
    lost = {c.implementation: f", {c.ratio.text.partition(' (')[0]}" for c in row.cells if c.ratio}
    bars = [
        bar.model_copy(update={"text": bar.text + lost.get(bar.implementation, "")})
        for bar in headline.bars
    ]
    title = f"A handshake of a server: {row.name}"
    scale = f"{table.unit}, {table.better} is better; against {table.rows[0].name}"
    return headline.model_copy(update={"title": title, "bars": bars}), scale


def _about(results: Results) -> str:
    """Date and hosts of a report."""
    day = f"{results.date.day} {results.date:%B %Y}"
    return f"{day} · {listed(list(map(host_label, results.hosts)))}"


def site_preview(title: str, description: str) -> bytes:
    """The picture for all pages that are not reports."""
    canvas = _Canvas()
    canvas.text((MARGIN, 250), title, 80, _BOLD)
    for number, line in enumerate(_wrapped(description, 40, _NORMAL, 3)):
        canvas.text((MARGIN, 336 + 58 * number), line, 40, colour=_SOFT)
    canvas.icon(MARGIN, FOOT, 72)
    return canvas.png()


def scoreboard_preview(score: Scoreboard, site: str) -> bytes:
    """The scoreboard as a picture: each cell has a factor and its verdict."""
    canvas = _Canvas()
    canvas.text((MARGIN, 84), f"Scoreboard: factors to {score.baseline}", 44, _BOLD)
    runs = (
        f"run {score.sources[0].run}" if len(score.sources) == 1 else (f"{len(score.sources)} runs")
    )
    canvas.text((MARGIN, 122), f"{score.host} · {runs}", 26, colour=_SOFT)
    rows = score.board.rows[:MOST_ROWS]
    first, top = 346, 216
    step = min(53, 322 // len(rows))
    width = (WIDTH - MARGIN - first) / len(score.board.columns)
    for number, column in enumerate(score.board.columns):
        for line, words in enumerate(_wrapped(column, 16, _BOLD, 3, width - 8)):
            canvas.text((first + number * width, 160 + 19 * line), words, 16, _BOLD)
    for place, row in enumerate(rows):
        y = top + place * step
        canvas.text((MARGIN, y + 0.6 * step), row.label, 18, width=first - MARGIN - 12)
        for number, cell in enumerate(row.cells):
            x = first + number * width
            if cell.mark:
                canvas.box(round(x - 5), y + 2, round(width - 6), step - 6, _RULE)
            head, word = _in_two(cell)
            sizes = (22, 15) if head[:1].isdigit() else (13, 11) if word else (17, 15)
            weight = _BOLD if cell.mark == "best" else _NORMAL
            canvas.text((x, y + 0.47 * step), head, sizes[0], weight, width=width - 8)
            canvas.text((x, y + 0.81 * step), word, sizes[1], colour=_SOFT, width=width - 8)
    canvas.text((MARGIN, FOOT), "shaded: best or tied; – not measured", 26, colour=_SOFT, width=650)
    canvas.signed(site)
    return canvas.png()


def _in_two(cell: SheetCell) -> tuple[str, str]:
    """The two lines of a cell: `1.70x` and `faster`, `no difference` and `8% would show`."""
    if cell.text == "no difference":
        return cell.text, cell.detail or ""
    if cell.text.startswith("the same"):
        return "the same", cell.text.removeprefix("the same ")
    head, _, word = cell.text.partition(" ")
    return head, word


class _Canvas:
    """An empty picture with methods to draw text and boxes; sizes in pixels."""

    def __init__(self) -> None:
        self._image = Image.new("RGB", (WIDTH, HEIGHT), _PAPER)
        self._draw = ImageDraw.Draw(self._image)
        self._bar_colours: list[str] = []

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

    def bars(self, bars: Sequence[Bar], colours: Sequence[str], top: float, bottom: float) -> None:
        """Draws bars in their colours, each with its label before it and its value after it."""
        self._bar_colours = list(dict.fromkeys(colours))
        step = min(84.0, (bottom - top) / len(bars))
        size = round(min(32.0, step * 0.62))
        while (widest := self._widest(bars, size)) > MOST_LABEL and size > LEAST_SIZE:
            size -= 1
        widest = min(widest, MOST_LABEL)
        left = MARGIN + 20 + widest
        longest = WIDTH - MARGIN - 14 - max(_width(bar.text, size, _BOLD) for bar in bars) - left
        for number, (bar, colour) in enumerate(zip(bars, colours, strict=True)):
            y = round(top + step * number)
            line = y + round(step / 2 + size * 0.36)
            thick = round(step * 0.62)
            length = round(longest * bar.percent / 100)
            self.text((MARGIN, line), bar.label, size, width=left - MARGIN - 20)
            self.box(round(left), y + round((step - thick) / 2), length, thick, colour)
            self.text((round(left) + length + 14, line), bar.text, size, _BOLD)

    @staticmethod
    def _widest(bars: Sequence[Bar], size: int) -> float:
        return max(_width(bar.label, size, _NORMAL) for bar in bars)

    def png(self) -> bytes:
        palette = _palette(self._bar_colours)
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


def _palette(bars: Sequence[str]) -> list[tuple[int, int, int]]:
    """The colours of one picture only, so that another library does not change older pictures."""
    flat = [ImageColor.getrgb(colour) for colour in (_PAPER, _RULE, *bars)]
    shades = [
        tuple(round(p + (c - p) * n / _SHADES) for p, c in zip(flat[0], text, strict=True))
        for text in map(ImageColor.getrgb, (_INK, _SOFT))
        for n in range(1, _SHADES + 1)
    ]
    return [(r, g, b) for r, g, b in (*flat, *shades)]


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
