"""The texts of values and labels, and the colours of libraries."""

from __future__ import annotations

import itertools
import math
import re
from pathlib import Path

import pytest

from tlsperf.contract.libraries import COLOURS, LIBRARIES
from tlsperf.contract.metrics import Unit
from tlsperf.contract.run import Implementation
from tlsperf.contract.text import (
    colour_of,
    implementation_label,
    interval_text,
    value_text,
    with_unit,
)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (8133.85, "MiB/s", "8,134"),
        (1234567.0, "handshakes/s", "1,234,567"),
        (812.34, "handshakes/s", "812.3"),
        (78.7, "µs", "78.70"),
        (6.5, "µs", "6.500"),
        (0.0, "µs", "0.000"),
        (999.99, "µs", "1,000"),
        (13412.4, "bytes", "13,412"),
        (37.5, "bytes/connection", "38"),
        (1.5, "round trips", "1.500"),
        (2.0, "round trips", "2"),
        (0.0, "allocations/MiB", "0"),
        (137.25, "allocations/handshake", "137.2"),
    ],
)
def test_values_have_four_significant_digits(value: float, unit: Unit, text: str) -> None:
    assert value_text(value, unit) == text


@pytest.mark.parametrize(
    ("text", "unit", "expected"),
    [
        ("7,565", "MiB/s", "7,565 MiB/s"),
        ("1", "reads/handshake", "1 read/handshake"),
        ("13", "reads/handshake", "13 reads/handshake"),
        ("1", "bytes", "1 byte"),
        ("1", "round trips", "1 round trip"),
        ("1.000", "µs", "1.000 µs"),
    ],
)
def test_one_of_a_count_has_a_singular_unit(text: str, unit: Unit, expected: str) -> None:
    assert with_unit(text, unit) == expected


def test_an_interval_has_the_decimals_of_its_value() -> None:
    assert interval_text(995.5, 1004.5, 1000.0, "handshakes/s") == "996 to 1,004"
    assert interval_text(99.5, 100.5, 99.9, "µs") == "99.50 to 100.50"


def test_labels_and_colours() -> None:
    rustls = Implementation(id="r", library="rustls", version="0.23.40", provider="aws-lc-rs")
    ring = rustls.model_copy(update={"provider": "ring", "build": "jemalloc"})
    graviola = rustls.model_copy(update={"provider": "graviola"})
    openssl = Implementation(id="o", library="openssl", version="3.6.1")
    assert implementation_label(rustls) == "rustls 0.23.40 (aws-lc-rs)"
    assert implementation_label(ring) == "rustls 0.23.40 (ring, jemalloc)"
    assert implementation_label(openssl) == "OpenSSL 3.6.1"
    assert [colour_of(i) for i in (rustls, ring, graviola, openssl)] == [
        "rustls",
        "rustls-ring",
        "rustls-graviola",
        "openssl",
    ]


def linear(colour: str) -> list[float]:
    """Red, green and blue of `#rrggbb` in linear light (IEC 61966-2-1)."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]


def luminance(rgb: list[float]) -> float:
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), rgb, strict=True))


def lab(rgb: list[float]) -> list[float]:
    """CIE L*a*b* under D65."""
    rows = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
    xyz = [sum(w * p for w, p in zip(row, rgb, strict=True)) for row in rows]
    scaled = [max(v, 0) / white for v, white in zip(xyz, (0.9505, 1, 1.089), strict=True)]
    x, y, z = (v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in scaled)
    return [116 * y - 16, 500 * (x - y), 200 * (y - z)]


def seen(colour: str, eyes: tuple[tuple[float, ...], ...]) -> list[float]:
    rgb = [sum(w * p for w, p in zip(row, linear(colour), strict=True)) for row in eyes]
    return lab([min(1.0, max(0.0, part)) for part in rgb])


EYES = {
    "all cones": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    "no L cones": ((0.152, 1.053, -0.205), (0.115, 0.786, 0.099), (-0.004, -0.048, 1.052)),
    "no M cones": ((0.367, 0.861, -0.228), (0.280, 0.673, 0.047), (-0.012, 0.043, 0.969)),
    "no S cones": ((1.256, -0.077, -0.179), (-0.078, 0.931, 0.148), (0.005, 0.691, 0.304)),
}
"""Machado, Oliveira and Fernandes, "A Physiologically-based Model for Simulation of Color Vision
Deficiency", 2009, severity 1."""

STYLE = (Path(__file__).parents[2] / "static" / "style.css").read_text()
PAPERS = re.findall(r"--paper: (#[0-9a-f]{6});", STYLE)
LIGHT, DARK = (
    {"paper": paper} | {name: getattr(colour, page) for name, colour in COLOURS.items()}
    for page, paper in zip(("light", "dark"), PAPERS, strict=True)
)


def test_the_style_sheet_has_the_colours_of_charts() -> None:
    light, dark = (
        dict(re.findall(r"\.library-([a-z0-9-]+) { --library: (#[0-9a-f]{6}); }", part))
        for part in STYLE.split("/* from library.toml */")[1].split("@media")[:2]
    )
    assert light == {name: colour.light for name, colour in COLOURS.items()}
    assert dark == {name: colour.dark for name, colour in COLOURS.items()}


@pytest.mark.parametrize("page", [LIGHT, DARK], ids=["light", "dark"])
def test_colour_blind_readers_can_distinguish_libraries(page: dict[str, str]) -> None:
    for name in COLOURS:
        pair = sorted(luminance(linear(page[key])) for key in (name, "paper"))
        assert (pair[1] + 0.05) / (pair[0] + 0.05) >= 3, name  # WCAG 2.2, 1.4.11
    for eyes, matrix in EYES.items():
        for one, other in itertools.combinations([library.id for library in LIBRARIES], 2):
            distance = math.dist(seen(page[one], matrix), seen(page[other], matrix))
            assert distance >= 10, f"{one} and {other} with {eyes}: {distance:.1f}"
