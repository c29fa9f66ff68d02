"""Pictures, one of each kind of page, compared with those that are kept.

It runs before a release (`make release-checks`), not with other tests. `make pictures` writes all of
them anew, for a person to look at.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from pages.conftest import Browser
from project import AHEAD, CORES, NEW, PUBLISHED

KEPT = Path(__file__).parent / "pictures"
PHONE, DESK = (390, "light"), (1280, "dark")
PICTURES = {
    "index.html": DESK,
    "perf/": PHONE,
    f"perf/{NEW}/": DESK,
    f"perf/{PUBLISHED}/": PHONE,
    "compare/": DESK,
    f"answers/{AHEAD}/": PHONE,
    f"answers/{CORES}/": DESK,
    "libraries/rustls/": DESK,
    "versions/nights-main-branch-rustls-aws-lc-rs/": PHONE,
    "method/": DESK,
    "data/": PHONE,
}
HEIGHT = 1600
COLOURS = 64
"""Of a kept picture: a third of the bytes, and no difference that COLOUR_THRESHOLD sees."""
COLOUR_THRESHOLD = 48
"""By how much a channel of a pixel, of 255, may differ: text is smoothed differently elsewhere."""
TOLERANCE = 0.02
"""Share of pixels that may differ by more."""


@pytest.fixture(scope="module")
def taken(
    served: str, browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    """The picture of each page as it is."""
    folder = tmp_path_factory.mktemp("pictures")
    found: dict[str, Path] = {}
    for view in (PHONE, DESK):
        pages = [page for page, of in PICTURES.items() if of == view]
        request: dict[str, Any] = {"pages": pages, "views": [view], "height": HEIGHT}
        answer = browser.ask("look", base=served, shots=str(folder), **request)
        found |= {seen["page"]: Path(seen["shot"]) for seen in answer}
    return found


@pytest.mark.parametrize("page", PICTURES)
def test_a_page_looks_as_it_did(
    page: str, taken: dict[str, Path], browser: Browser, request: pytest.FixtureRequest
) -> None:
    now = taken[page]
    kept = KEPT / now.name
    if request.config.getoption("--write-pictures"):
        KEPT.mkdir(exist_ok=True)
        with Image.open(now) as image:
            image.convert("RGB").quantize(COLOURS).save(kept, optimize=True)
    pairs = [[str(kept), str(now)]]
    [share] = browser.ask("compare", pairs=pairs, threshold=COLOUR_THRESHOLD)
    assert share <= TOLERANCE, f"compare {now} with {kept}"


def test_a_changed_page_is_seen_as_changed(taken: dict[str, Path], browser: Browser) -> None:
    one, other = taken["index.html"], taken[f"perf/{NEW}/"]
    pairs = [[str(one), str(one)], [str(one), str(other)]]
    same, different = browser.ask("compare", pairs=pairs, threshold=COLOUR_THRESHOLD)
    assert same == 0
    assert different > TOLERANCE
