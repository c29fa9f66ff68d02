"""Pictures of every kind of page and chart, kept to see when one changes.

Those of committed pages also change with new data; `make screenshots` writes all anew.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

from PIL import Image

from pages.fixture import NEWER

HERE = Path(__file__).parent
KEPT = HERE / "pictures"
PAGES = (
    *("index.html", f"perf/{NEWER}/", "explore/"),
    *("blog/2026-10-01-clock/", "methodology/", "data/"),
    *("perf/", "scenarios/", "scenarios/transfer-1-3-aes-256-gcm-sending/"),
    *("libraries/", "tags/", "404.html", "about/", "blog/", "feeds/", "hosts/"),
    *("feeds/performance/", "tags/rustls/", "hosts/example-host/", "libraries/rustls/"),
)
VIEWS = ((320, "light"), (1280, "light"), (1280, "dark"))

KINDS = (
    *("questions/", "questions/server/", "questions/cores/", "questions/post-quantum/"),
    *("questions/upgrade/", "questions/memory/", "questions/scaling/", "questions/tail/"),
    *("nightly/", "nightly/rustls-releases-rustls-aws-lc-rs/"),
    "nightly/rustls-releases-rustls-aws-lc-rs-rustls-0-23-22/",
    *("upgrades/", "upgrades/openssl-1-1-1w-to-openssl-3-0-8/"),
    *("trends/", "trends/xeon-e-2386g-main/", "hosts/i5-6500/"),
    *("perf/2023-12-13-configurations/", "perf/2026-11-21-latency-vm/"),
)
"""Pages that the example has not, as they are committed."""

CHARTS = (
    "perf/2026-11-21-history-vm/#chart-transfer",
    "perf/2026-11-21-threads-vm/#chart-full-handshakes-threads",
    "perf/2026-11-21-latency-vm/#chart-full-handshakes-latency",
    "perf/2026-11-21-configurations-vm/#chart-transfer",
    "perf/2026-11-21-memory-vm/#chart-resident-per-connection",
    "perf/2026-11-21-post-quantum-vm/#chart-full-handshakes",
    "perf/2026-11-21-post-quantum-vm/#chart-client-hello",
    "perf/2026-11-22-layout-vm/#chart-resumed-handshakes",
    "perf/2026-11-22-working-set-vm/#chart-transfer",
    "perf/2026-11-23-set-up-vm/#chart-set-up-processes",
    "perf/2026-11-24-post-quantum-vm/#chart-prices",
)
"""A chart of each form, but those that the example and the pages above show."""

COMMITTED_VIEWS = ((320, "light"), (1280, "dark"))

COLOURS = 64
"""Of a kept picture: a third of the bytes, and no difference that COLOUR_THRESHOLD sees."""
HEIGHT = 1600

COLOUR_THRESHOLD = 48
"""By how much a channel of a pixel, of 255, may differ: text is smoothed differently elsewhere."""

TOLERANCE = 0.02
"""Share of pixels that may differ by more."""


class NoBrowserError(Exception):
    """A program that is missing to check pages, with how to install it."""


def chromium() -> str:
    """Chromium's path."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    raise NoBrowserError("no Chromium: install one, on Debian with `apt-get install chromium`")


def node(script: str, request: dict[str, Any], folder: Path) -> Any:
    """What a script of this folder answers to a request, through Chromium."""
    path = folder / "request.json"
    path.write_text(json.dumps({"chromium": chromium(), **request}), encoding="utf-8")
    command = ["node", str(HERE / script), str(path)]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        raise NoBrowserError(f"{' '.join(command)} failed; is `npm ci` done?\n{result.stderr}")
    return json.loads(result.stdout)


def take(example: str, committed: str, folder: Path) -> list[Path]:
    """Takes a picture of each page in each view into a folder; returns their paths."""
    return [
        *_taken(example, PAGES, VIEWS, folder),
        *_taken(committed, (*KINDS, *CHARTS), COMMITTED_VIEWS, folder),
    ]


def keep(picture: Path) -> None:
    """Keeps a picture, in few colours."""
    with Image.open(picture) as image:
        image.convert("RGB").quantize(COLOURS).save(KEPT / picture.name, optimize=True)


def _taken(
    base: str, pages: tuple[str, ...], views: tuple[tuple[int, str], ...], folder: Path
) -> list[Path]:
    request = {"base": base, "pages": pages, "views": views, "height": HEIGHT, "shots": str(folder)}
    return [Path(seen["shot"]) for seen in node("browser.mjs", request, folder)]


def differences(pairs: list[tuple[Path, Path]], scratch: Path) -> list[float]:
    """Share of pixels that differ, 0 to 1, of each pair of pictures; 1 if their sizes do."""
    request = {
        "pairs": [[str(a), str(b)] for a, b in pairs],
        "threshold": COLOUR_THRESHOLD,
    }
    shares: list[float] = node("compare.mjs", request, scratch)
    return shares
