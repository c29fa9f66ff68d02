"""Writes the colours of the libraries into static/style.css: `python -m tlsperf.publish.style`.

With --check it reports whether the style sheet is out of step instead.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from tlsperf.contract.libraries import COLOURS

STYLE: Final = Path("static/style.css")
BEGIN: Final = "/* --- colours of libraries, written by `make generate` from library.toml --- */\n"
END: Final = "/* --- end of what is written --- */\n"


def colours_css() -> str:
    """A variable for each colour, with another value on a dark page, and a class that takes it."""
    light = "".join(f"  --{name}: {colour.light};\n" for name, colour in COLOURS.items())
    dark = "".join(f"    --{name}: {colour.dark};\n" for name, colour in COLOURS.items())
    classes = "".join(f".library-{name} {{ --library: var(--{name}); }}\n" for name in COLOURS)
    return (
        f"\n:root {{\n{light}}}\n\n"
        f"@media (prefers-color-scheme: dark) {{\n  :root {{\n{dark}  }}\n}}\n\n{classes}\n"
    )


def with_colours(style: str) -> str:
    """The style sheet with the block between the two marks replaced."""
    before, rest = style.split(BEGIN)
    _, after = rest.split(END)
    return before + BEGIN + colours_css() + END + after


def main(arguments: list[str]) -> int:
    style = STYLE.read_text(encoding="utf-8")
    wanted = with_colours(style)
    if style == wanted:
        return 0
    if "--check" in arguments:
        print(f"{STYLE}: differs from the libraries; run `make generate`", file=sys.stderr)
        return 1
    STYLE.write_text(wanted, encoding="utf-8")
    print(f"wrote {STYLE}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
