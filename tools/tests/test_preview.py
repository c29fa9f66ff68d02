"""The picture of links to a page: the same bytes everywhere, readable, and with its dots."""

from __future__ import annotations

import io
from itertools import pairwise

import numpy as np
import pytest
from PIL import Image, ImageColor

from figures import example_dots
from tlsperf.contract.libraries import LIGHT
from tlsperf.report import preview
from tlsperf.report.charts.dots import MARKS, Dot, DotPanel, DotRow, Dots
from tlsperf.report.preview import HEIGHT, MOST_DOTS, WIDTH, report_preview, site_preview

SITE = "TLS performance reports"
ABOUT = "21 November 2026 · Intel VM and AMD Zen 4 VM"
HOSTS = ["Intel VM", "AMD Zen 4 VM"]


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """All drawn texts, after they are cut to fit."""
    texts: list[str] = []
    draw = preview._cut

    def noted(*arguments: object) -> str:
        texts.append(draw(*arguments))  # type: ignore[arg-type]
        return texts[-1]

    monkeypatch.setattr(preview, "_cut", noted)
    return texts


def test_a_picture_states_what_was_compared_where_and_when(written: list[str]) -> None:
    dots = example_dots(5, ["rustls", "AWS-LC", "BoringSSL"], HOSTS)
    made = report_preview("rustls leads", ABOUT, dots, SITE)
    assert Image.open(io.BytesIO(made.png)).size == (WIDTH, HEIGHT)
    said = {"rustls leads", SITE, ABOUT, *HOSTS, dots.baseline, dots.panels[0].title, "1×"}
    assert {*said, "rustls", "AWS-LC", "BoringSSL"} <= set(written)
    assert not any("…" in text for text in written)
    for text in ("rustls leads", ABOUT, *HOSTS, dots.baseline, "AWS-LC"):
        assert text in made.alt


def test_the_same_figures_have_the_same_bytes() -> None:
    dots = example_dots(2, ["rustls", "AWS-LC"], HOSTS)
    assert report_preview("a", ABOUT, dots, SITE) == report_preview("a", ABOUT, dots, SITE)


@pytest.mark.parametrize("panels", [1, 5])
@pytest.mark.parametrize("rows", [1, 2, 9])
def test_few_rows_of_a_picture_are_drawn(panels: int, rows: int, written: list[str]) -> None:
    dots = example_dots(panels, [f"row {n}" for n in range(rows)], HOSTS)
    report_preview("a", ABOUT, dots, SITE)
    drawn = [text for text in written if "row " in text or text in {p.title for p in dots.panels}]
    assert min(rows, MOST_DOTS) <= len(drawn) <= MOST_DOTS + 1


def test_a_page_without_dots_has_its_title(written: list[str]) -> None:
    made = report_preview("rustls leads", ABOUT, None, SITE)
    assert {"rustls leads", ABOUT, SITE} <= set(written)
    assert made.alt.startswith("rustls leads")


def test_the_sites_own_picture_has_the_size_that_pages_say() -> None:
    png = site_preview(SITE, "Measured comparisons, each figure one click from its raw output.")
    assert Image.open(io.BytesIO(png)).size == (WIDTH, HEIGHT)


def middle_of(png: bytes, colour: str) -> float:
    """The middle column of the pixels of a colour."""
    pixels = np.asarray(Image.open(io.BytesIO(png)).convert("RGB"))
    columns = np.flatnonzero((pixels == ImageColor.getrgb(colour)).all(axis=2).any(axis=0))
    return float(columns[0] + columns[-1]) / 2


def test_a_dot_is_where_its_ratio_is_on_the_log_scale() -> None:
    ratios = dict(zip(LIGHT, (0.5, 1.0, 2.0, 4.0), strict=False))
    rows = [DotRow(name, name, [Dot(0, ratio)]) for name, ratio in ratios.items()]
    dots = Dots("a", "A", "OpenSSL", ["Host"], [DotPanel("", rows)])
    made = report_preview("a", ABOUT, dots, SITE)
    places = [middle_of(made.png, LIGHT[name]) for name in ratios]
    steps = [b - a for a, b in pairwise(places)]
    assert steps == pytest.approx([steps[0]] * 3, abs=1.5)
    assert steps[0] > 100


def test_marks_of_hosts_differ() -> None:
    pictures = set()
    for host in range(len(MARKS)):
        row = DotRow("rustls", "rustls", [Dot(host, 2.0)])
        hosts = [f"Host {n}" for n in range(len(MARKS))]
        dots = Dots("a", "A", "OpenSSL", hosts, [DotPanel("", [row])])
        pictures.add(report_preview("a", ABOUT, dots, SITE).png)
    assert len(pictures) == len(MARKS)


def drawn(title: str, site: str = SITE) -> bytes:
    dots = example_dots(1, ["rustls", "AWS-LC"], HOSTS[:1])
    return report_preview(title, ABOUT, dots, site).png


def right_of(png: bytes, top: int, bottom: int) -> int:
    """How far to the right anything is drawn between two heights."""
    dark = np.asarray(Image.open(io.BytesIO(png)).convert("L"))[top:bottom] < 128
    return int(np.flatnonzero(dark.max(axis=0)).max())


def test_letters_that_the_sites_typeface_lacks_are_drawn_each_as_itself() -> None:
    """As what no typeface has is a box, the pictures of two such letters would be the same."""
    titles = ["", "漢", *"ÜßčřệŁΩЖ→≠½"]
    assert len({drawn(f"rustls {letter}") for letter in titles}) == len(titles)
    assert drawn("漢") == drawn("字"), "a box"
    assert drawn("č") == drawn("c\u030c")


def test_text_of_two_typefaces_follows_on_and_ends_where_it_should(written: list[str]) -> None:
    title = (0, 105)
    ends = [right_of(drawn(text), *title) for text in ("rustls", "rustls č", "rustls č rustls")]
    assert ends == sorted(set(ends))
    signature = (HEIGHT - 80, HEIGHT)
    margin = WIDTH - preview.MARGIN
    for site in (SITE, "Žluťoučký kůň řešil ďábla"):
        assert right_of(drawn("a", site), *signature) == pytest.approx(margin, abs=5)
    drawn("č" * 200)
    assert any(text.endswith("č…") for text in written)


@pytest.mark.parametrize(("times", "whole"), [(5, True), (12, False)])
def test_a_long_title_is_drawn_smaller_and_cut_only_where_no_size_is_small_enough(
    written: list[str], times: int, whole: bool
) -> None:
    drawn("rustls and OpenSSL " * times)
    assert written[1].endswith("OpenSSL" if whole else "…")
