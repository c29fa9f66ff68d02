"""What a report page weighs, beside rustls.dev's own: `python -m pages.weights <public>`."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

KILO: Final = 1000
PAGE_LIMIT: Final = 121 * KILO
"""Bytes of a report page with all it loads, uncompressed, with up to three figures."""

CORRECTIONS_LIMIT: Final = 11 * KILO
"""More for the old and new ratios of a report that replaces others."""

FIGURE_LIMIT: Final = 20 * KILO
"""More for each figure beyond three. Four panels, a row of a wide page, are a figure."""

A_ROW: Final = 4

STYLE_LIMIT: Final = 21 * KILO

RUSTLS_DEV: Final = (
    ("rustls.dev, ARM64 report: chart images alone", 668.0),
    ("rustls.dev, list: page + logo + font", 31.6 + 65.9 + 38.0),
)
"""Measured on rustls.dev, in KB."""


@dataclass(frozen=True)
class Weight:
    """A page and all that a browser loads for it, in bytes, uncompressed."""

    page: str
    html: int
    loaded: int
    figures: int
    corrects: bool

    @property
    def total(self) -> int:
        return self.html + self.loaded

    @property
    def limit(self) -> int:
        corrections = CORRECTIONS_LIMIT if self.corrects else 0
        return PAGE_LIMIT + corrections + max(0, self.figures - 3) * FIGURE_LIMIT


def weigh(public: Path, page: str) -> Weight:
    """Weighs a page of a built site: its HTML, its style sheet, typeface, icon, images, scripts."""
    path = public / page
    html = path.read_text(encoding="utf-8")
    loads = {"fonts/public-sans.woff2"}
    names = re.findall(
        r'<(?:link rel="(?:stylesheet|icon)" href|img src|script src)="([^"?]*)', html
    )
    files = {(path.parent / name).resolve() for name in names}
    files |= {(public / name).resolve() for name in loads}
    charts = re.findall(r'<figure class="chart[^"]*"(.*?)</figure>', html, re.DOTALL)
    rows = [max(1, -(-chart.count('<svg class="panel"') // A_ROW)) for chart in charts]
    loaded = sum(file.stat().st_size for file in files)
    corrects = "<summary>Old and new ratios</summary>" in html
    return Weight(page, path.stat().st_size, loaded, sum(rows), corrects)


def table(weights: list[Weight]) -> str:
    """The weights as lines of text, in KB of 1000 bytes, rustls.dev's last."""
    lines = [f"{'page':58} {'HTML':>7} {'all':>7} {'limit':>7}"]
    lines += [
        f"{w.page:58} {w.html / KILO:7.1f} {w.total / KILO:7.1f} {w.limit / KILO:7.0f}"
        for w in weights
    ]
    return "\n".join([*lines, *(f"{name:58} {'':7} {kilo:7.1f}" for name, kilo in RUSTLS_DEV)])


def reports(public: Path) -> list[str]:
    """The report pages of a built site."""
    return sorted(str(p.relative_to(public)) for p in public.glob("perf/*/index.html"))


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    print(table([weigh(folder, page) for page in reports(folder)]))
