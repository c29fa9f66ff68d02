"""Figures in two drawings for tests: dots and a strip of every kind and size."""

from __future__ import annotations

from hypothesis import strategies as st

from tlsperf.contract.libraries import LIGHT
from tlsperf.report.charts.dots import MARKS, Dot, DotPanel, DotRow, Dots
from tlsperf.report.charts.strip import Strip, StripPoint, StripSeries

RATIOS = st.floats(0.01, 900)
WORDS = st.sampled_from(
    [
        "rustls",
        "BoringSSL",
        "TLS 1.3 full handshake, ECDSA P-256, X25519MLKEM768, server",
        "Sending, AES-128-GCM",
    ]
)
COLOURS = st.sampled_from(sorted(LIGHT))


@st.composite
def some_dots(draw: st.DrawFn) -> Dots:
    hosts = [f"Host {n}, 80 cores" for n in range(draw(st.integers(1, len(MARKS))))]

    def dot(host: int) -> Dot:
        ratio = draw(RATIOS)
        width = draw(st.one_of(st.none(), st.floats(1, 3)))
        low, high = (None, None) if width is None else (ratio / width, ratio * width)
        return Dot(host, ratio, low, high, draw(st.booleans()))

    def row() -> DotRow:
        on = draw(st.sets(st.integers(0, len(hosts) - 1)))
        return DotRow(draw(WORDS), draw(COLOURS), [dot(host) for host in sorted(on)])

    panels = [
        DotPanel(
            draw(st.one_of(st.just(""), WORDS)), [row() for _ in range(draw(st.integers(1, 4)))]
        )
        for _ in range(draw(st.integers(1, 6)))
    ]
    panels[0] = DotPanel("First", [DotRow("measured", "openssl", [dot(0)]), *panels[0].rows])
    return Dots(
        "ratios", "Ratios", "OpenSSL 3.6.3", hosts, panels, draw(st.lists(WORDS, max_size=1))
    )


def example_dots(panels: int, labels: list[str], hosts: list[str]) -> Dots:
    """A figure whose panels have the same rows, from a third as good to 13 times."""
    ratios = [1 / 3, 0.97, 1.0, 1.4, 2.1, 6.5, 13.0]

    def row(panel: int, number: int, label: str) -> DotRow:
        dots = [
            Dot(host, ratio, ratio * 0.93, ratio * 1.08, ratio not in (0.97, 1.0))
            for host in range(len(hosts))
            for ratio in [ratios[(panel + number + host) % len(ratios)]]
        ]
        return DotRow(label, sorted(LIGHT)[number % len(LIGHT)], dots)

    titles = ["New connections", "Returning connections", "Sending", "Receiving", "Memory"]
    return Dots(
        "ratios",
        "Ratios to OpenSSL 3.6.3",
        "OpenSSL 3.6.3",
        hosts,
        [
            DotPanel(titles[p % 5], [row(p, n, label) for n, label in enumerate(labels)])
            for p in range(panels)
        ],
        ["X25519, server"],
    )


def example_strip(releases: int, series: int) -> Strip:
    """A strip with a step in every seventh release, and a gap before the last."""

    def line(number: int) -> StripSeries:
        points = [
            StripPoint(n, ratio, ratio * 0.98, ratio * 1.02)
            for n in range(releases)
            if n != releases - 2 or releases < 5
            for ratio in [(0.8 if number % 2 else 1.3) ** (n // 7)]
        ]
        steps = {point.release for point in points if point.release and point.release % 7 == 0}
        return StripSeries(f"Returning connections, ticket, {number}", "rustls", points, steps)

    return Strip(
        "strip",
        "rustls",
        [f"0.{20 + n // 9}.{n}" for n in range(releases)],
        [line(n) for n in range(series)],
        "rustls 0.20.0",
    )
