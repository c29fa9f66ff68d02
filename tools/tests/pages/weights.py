"""What a report page weighs, beside rustls.dev's own: `python -m pages.weights <public>`."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

KILO: Final = 1000
PAGE_LIMIT: Final = 120 * KILO
"""Bytes of a report page with all it loads, uncompressed, with up to three figures."""

FIGURE_LIMIT: Final = 20 * KILO
"""More for each figure beyond three. Four panels, a row of a wide page, are a figure."""

A_ROW: Final = 4

HISTOGRAM_LIMIT: Final = 40 * KILO
"""Instead, for a figure of whole distributions."""

CELLS: Final = 50
CELLS_LIMIT: Final = 9 * KILO
"""More for each fifty figures in tables of results beyond two fifties."""

LAYOUTS_LIMIT: Final = 7 * KILO
"""More for each table of the layouts of programs, of seven libraries."""

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
    histograms: int
    layouts: int
    cells: int

    @property
    def total(self) -> int:
        return self.html + self.loaded

    @property
    def limit(self) -> int:
        more = max(0, self.figures + self.histograms - 3)
        histograms = min(more, self.histograms)
        more_figures = histograms * HISTOGRAM_LIMIT + (more - histograms) * FIGURE_LIMIT
        more_cells = -(-max(0, self.cells - 2 * CELLS) // CELLS) * CELLS_LIMIT
        return PAGE_LIMIT + more_figures + self.layouts * LAYOUTS_LIMIT + more_cells


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
    charts = re.findall(r'<figure class="chart[^"]*" id="([^"]*)"(.*?)</figure>', html, re.DOTALL)
    rows = {
        name: max(1, -(-inside.count('<svg class="panel"') // A_ROW)) for name, inside in charts
    }
    histograms = sum(count for name, count in rows.items() if "latenc" in name)
    return Weight(
        page,
        path.stat().st_size,
        sum(file.stat().st_size for file in files),
        sum(rows.values()) - histograms,
        histograms,
        html.count(' layouts">'),
        html.count("<data value="),
    )


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
