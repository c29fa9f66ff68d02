"""Pictures of the main pages, kept to see when one changes: `make screenshots` writes them anew."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

from pages.fixture import NEWER

HERE = Path(__file__).parent
KEPT = HERE / "pictures"
PAGES = (
    *("index.html", f"perf/{NEWER}/", "explore/"),
    *("blog/2026-10-01-clock/", "methodology/", "data/"),
    *("perf/", "scenarios/", "scenarios/transfer-1-3-aes-256-gcm-sending/"),
    *("libraries/", "tags/", "404.html"),
)
VIEWS = ((320, "light"), (1280, "light"), (1280, "dark"))
HEIGHT = 1600

COLOUR_THRESHOLD = 48
"""By how much a channel of a pixel, of 255, may differ: text is smoothed differently elsewhere."""

TOLERANCE = 0.02
"""Share of pixels that may differ by more."""


class NoBrowserError(Exception):
    """What is missing to look at pages; says how to get it."""


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


def take(base: str, folder: Path, scratch: Path) -> list[Path]:
    """Takes a picture of each page in each view into a folder; returns their paths."""
    request = {"base": base, "pages": PAGES, "views": VIEWS, "height": HEIGHT, "shots": str(folder)}
    return [Path(seen["shot"]) for seen in node("browser.mjs", request, scratch)]


def differences(pairs: list[tuple[Path, Path]], scratch: Path) -> list[float]:
    """Share of pixels that differ, 0 to 1, of each pair of pictures; 1 if their sizes do."""
    request = {
        "pairs": [[str(a), str(b)] for a, b in pairs],
        "threshold": COLOUR_THRESHOLD,
    }
    shares: list[float] = node("compare.mjs", request, scratch)
    return shares
