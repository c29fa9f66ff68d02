"""Figures as a browser shows them: text as large as prose, and none over another or cut off."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations

import pytest

from figures import example_dots, example_strip
from pages.conftest import Browser
from project import ROOT
from tlsperf.report.charts.dots import picture_files
from tlsperf.report.charts.strip import strip_files

LIBRARIES = ["rustls", "rustls (ring)", "BoringSSL", "AWS-LC", "s2n-tls", "GnuTLS", "wolfSSL"]
SCENARIOS = [
    f"TLS 1.3 full handshake, {certificate}, {group}, {side}"
    for certificate in ("ECDSA P-256", "RSA-2048")
    for group in ("X25519", "X25519MLKEM768")
    for side in ("client", "server")
]
HOSTS = ["Intel VM", "AMD Zen 4 VM", "Altra, 80 cores", "Xeon E-2386G"]

FIGURES: Mapping[str, Callable[[], dict[str, str]]] = {
    "libraries by task": lambda: picture_files(example_dots(5, LIBRARIES, HOSTS[:2])),
    "one library": lambda: picture_files(example_dots(1, SCENARIOS, HOSTS[:1])),
    "two libraries": lambda: picture_files(example_dots(2, SCENARIOS, HOSTS)),
    "many panels": lambda: picture_files(example_dots(8, LIBRARIES[:3], HOSTS[:3])),
    "a strip": lambda: strip_files(example_strip(51, 3)),
    "a strip of few": lambda: strip_files(example_strip(4, 1)),
}


def page(files: Mapping[str, str]) -> str:
    css = (ROOT / "static" / "style.css").read_text(encoding="utf-8")
    wide, narrow = files.values()
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<style>{css}</style><body><main><figure class=picture>"
        f"<div class=wide>{wide}</div><div class=narrow>{narrow}</div></figure></main>"
    )


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_texts_of_a_figure_are_as_large_as_prose_apart_and_inside(
    browser: Browser, name: str, width: int
) -> None:
    seen = browser.ask("texts", html=page(FIGURES[name]()), width=width)
    assert seen["width"] <= width
    [figure] = seen["figures"]
    left, top, right, bottom = figure["box"]
    for text in figure["texts"]:
        assert text["size"] >= (12.5 if width < 390 else 15.5), text
        x, y, end, low = text["box"]
        assert left - 1 <= x, text
        assert end <= right + 1, text
        assert top - 1 <= y, text
        assert low <= bottom + 1, text
    for one, other in combinations(figure["texts"], 2):
        a, b = one["box"], other["box"]
        across, down = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
        assert across <= 1 or down <= 5, (one, other)
