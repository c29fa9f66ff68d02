"""One text for one value."""

from __future__ import annotations

import pytest

from tlsperf.figures import colour_of, implementation_label, interval_text, value_text
from tlsperf.model import Implementation, Unit


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
    ],
)
def test_values_have_four_significant_digits(value: float, unit: Unit, text: str) -> None:
    assert value_text(value, unit) == text


def test_an_interval_has_the_decimals_of_its_value() -> None:
    assert interval_text(995.5, 1004.5, 1000.0, "handshakes/s") == "996 to 1,004"
    assert interval_text(99.5, 100.5, 99.9, "µs") == "99.50 to 100.50"


def test_labels_and_colours() -> None:
    rustls = Implementation(id="r", library="rustls", version="0.23.40", provider="aws-lc-rs")
    ring = rustls.model_copy(update={"provider": "ring", "build": "jemalloc"})
    openssl = Implementation(id="o", library="openssl", version="3.6.1")
    assert implementation_label(rustls) == "rustls 0.23.40 (aws-lc-rs)"
    assert implementation_label(ring) == "rustls 0.23.40 (ring, jemalloc)"
    assert implementation_label(openssl) == "OpenSSL 3.6.1"
    assert [colour_of(i) for i in (rustls, ring, openssl)] == ["rustls", "rustls-ring", "openssl"]
