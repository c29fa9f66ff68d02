"""Writes the library colours into static/style.css, and static/embed.css: `python -m
tlsperf.publish.style`.

static/embed.css is the style sheet of a report inside another site. With --check it reports whether
a style sheet is out of date.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Final

from tlsperf.contract.libraries import COLOURS
from tlsperf.publish.files import write_generated

STYLE: Final = Path("static/style.css")
EMBED: Final = Path("static/embed.css")
BEGIN: Final = "/* from library.toml */\n"
END: Final = "/* end */\n"


def colours_css() -> str:
    """A class for each colour, with another value for a dark page."""
    light = "".join(f".library-{name} {{ --library: {c.light}; }}\n" for name, c in COLOURS.items())
    dark = "".join(f"  .library-{name} {{ --library: {c.dark}; }}\n" for name, c in COLOURS.items())
    return f"\n{light}\n@media (prefers-color-scheme: dark) {{\n{dark}}}\n\n"


def with_colours(style: str) -> str:
    """The style sheet with the block between the two marks replaced."""
    before, rest = style.split(BEGIN)
    _, after = rest.split(END)
    return before + BEGIN + colours_css() + END + after


_EMBED_HEAD: Final = """\
/* A report inside another site (docs/embed.md), written from style.css by `make generate`. Each
   rule is below one class, named three times to win over the rules of the site; what the site says
   of elements below it is undone first. Without a doctype a table inherits nothing by itself. */

.tls-performance.tls-performance.tls-performance {
:where(:not(svg, svg *)) { all: revert; }
& { all: initial; display: block; padding: clamp(1rem, 3vw, 2rem); overflow-wrap: break-word; }
table { color: inherit; font: inherit; text-align: inherit; white-space: inherit; }
svg.bar { width: 100%; height: 8px; }
img { display: block; max-width: 100%; height: auto; padding: 0.5rem; background: #ffffff; }
"""
_PAGES_OWN: Final = re.compile(
    r"^(?:@font-face|@page[^{]*|@media print|body|\.skip[^{]*|(?:header|footer|:is\(header, footer\))\.site[^{]*) "
    r"\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}\n",
    re.M,
)
"""Rules that apply to a whole page: its typeface, its paper, its frame."""


def embedded(style: str) -> str:
    """The style sheet below the class `tls-performance`, without the rules for a whole page."""
    rules = _PAGES_OWN.sub("", re.sub(r"/\*.*?\*/\n*", "", style, flags=re.S))
    rules = re.sub(r"^( *)(?::root|html) \{", r"\1& {", rules, flags=re.M)
    lines = [line for line in rules.splitlines() if line]
    return _EMBED_HEAD + "\n".join([*lines, "}", ""])


def main(arguments: list[str]) -> int:
    style = with_colours(STYLE.read_text(encoding="utf-8"))
    return write_generated({STYLE: style, EMBED: embedded(style)}, arguments)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
