"""The picture of a report: the same bytes everywhere, readable, and with the figures of its
results.
"""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageColor

from project import EXAMPLE
from reports import reports
from tlsperf.contract.libraries import LIGHT
from tlsperf.contract.questions import SheetCell
from tlsperf.contract.results import Bar, Headline, Results
from tlsperf.report import preview
from tlsperf.report.headlines import shown_bars
from tlsperf.report.preview import HEIGHT, WIDTH, _in_two, report_preview, site_preview

SITE = "TLS performance reports"


def results(path: Path = EXAMPLE) -> Results:
    return Results.model_validate_json(path.read_bytes())


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


@pytest.mark.any_site
def test_the_bytes_of_a_picture_are_those_that_another_process_drew(root: Path) -> None:
    for page, report in reports(root):
        made = report_preview(report, SITE)
        assert made is not None
        assert made.png == page.path.with_name(preview.FILE).read_bytes(), report.id


@pytest.mark.any_site
def test_a_picture_states_what_was_compared_where_and_when(root: Path, written: list[str]) -> None:
    kinds = {"prices": 0, "bars": 0, "virtual": 0}
    for _, report in reports(root):
        written.clear()
        made = report_preview(report, SITE)
        assert made is not None
        assert Image.open(io.BytesIO(made.png)).size == (WIDTH, HEIGHT)
        assert " ".join(written).startswith(report.title)
        assert [text for text in written if "…" in text] == [], report.id
        said = "\n".join(written)
        hidden = 0
        prices = [table for table in report.prices or () if table.anchor == "prices-server"]
        if prices:
            rows = {row.name: row for row in prices[0].rows}
            name = "X25519MLKEM768, ML-DSA-44"
            labels = {i.id: i.label for i in report.implementations}
            lost = [(c, c.ratio.text.partition(" (")[0]) for c in rows[name].cells if c.ratio]
            expected = [name, "X25519, ECDSA P-256", "µs, lower is better"]
            bars = [(labels[c.implementation], f"{c.text}, {text}") for c, text in lost]
        else:
            headline = report.headlines[0]
            shown = shown_bars(headline.bars, {i.id: i.library for i in report.implementations})
            expected = [headline.title, headline.unit]
            bars = [(bar.label, bar.text) for bar in shown]
            hidden = len(headline.bars) - len(shown)
        assert bars
        for label, text in bars:
            assert {label, text} <= set(written), report.id
            assert f"{label} {text}" in made.alt, report.id
        assert all(text in said for text in [SITE, *expected]), report.id
        assert f"{report.date:%B %Y}" in said
        for host in report.hosts:
            assert host.cpu in said
        assert ("(virtual machine)" in said) is bool(report.virtual), report.id
        assert ("(virtual machine)" in made.alt) is bool(report.virtual), report.id
        assert (f"; {hidden} more" in said) is (hidden > 0), report.id
        kinds["prices" if prices else "bars"] += 1
        kinds["virtual"] += bool(report.virtual)
    assert all(kinds.values()), kinds


def test_of_many_bars_the_ends_of_each_library_are_drawn() -> None:
    bars = [
        Bar(implementation=name, label=name, text="1", percent=1)
        for name in ("a-1", "a-2", "a-3", "b-1", "b-2", "c-1", "b-3")
    ]
    headline = Headline(anchor="row", title="row", unit="MiB/s", bars=bars, statement="")
    shown = shown_bars(headline.bars, {bar.label: bar.label[0] for bar in bars})
    assert [bar.label for bar in shown] == ["a-1", "a-3", "b-1", "c-1", "b-3"]


def test_the_sites_own_picture_has_the_size_that_pages_say() -> None:
    png = site_preview(SITE, "Measured comparisons, each figure one click from its raw output.")
    assert Image.open(io.BytesIO(png)).size == (WIDTH, HEIGHT)


def test_bars_are_as_long_as_their_values_say() -> None:
    """Counts the pixels of a library's colour in the row of its bar."""
    report = results()
    headline = report.headlines[0]
    made = report_preview(report, SITE)
    assert made is not None
    pixels = np.asarray(Image.open(io.BytesIO(made.png)).convert("RGB"))
    colours = {i.id: i.colour for i in report.implementations}
    lengths = []
    for bar in headline.bars:
        colour = ImageColor.getrgb(LIGHT[colours[bar.implementation]])
        lengths.append(int((pixels == colour).all(axis=2).sum(axis=1).max()))
    longest = max(lengths)
    for bar, length in zip(headline.bars, lengths, strict=True):
        assert 100 * length / longest == pytest.approx(bar.percent, abs=0.5)


def test_a_report_without_a_headline_has_no_picture() -> None:
    assert report_preview(results().model_copy(update={"headlines": []}), SITE) is None


def drawn(title: str, site: str = SITE) -> bytes:
    made = report_preview(results().model_copy(update={"title": title}), site)
    assert made is not None
    return made.png


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
    long = results().model_copy(update={"title": "rustls and OpenSSL " * times})
    assert report_preview(long, SITE) is not None
    assert written[1].endswith("OpenSSL" if whole else "…")


@pytest.mark.parametrize(
    ("text", "detail", "lines"),
    [
        ("1.70x faster", "1.60 to 1.80", ("1.70x", "faster")),
        ("no difference", "8% would show", ("no difference", "8% would show")),
        ("the same within 2%", None, ("the same", "within 2%")),
        ("baseline", None, ("baseline", "")),
    ],
)
def test_a_cell_of_the_scoreboard_has_two_lines(
    text: str, detail: str | None, lines: tuple[str, str]
) -> None:
    assert _in_two(SheetCell(text=text, detail=detail)) == lines
