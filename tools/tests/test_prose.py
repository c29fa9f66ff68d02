"""No comparison and no figure is typed into the prose of a page: shortcodes print them."""

from __future__ import annotations

from pathlib import Path

import pytest

from reports import reports
from synthetic import TRANSFERS, Rates, loaded_run, report_of
from tlsperf.contract.run import Report
from tlsperf.load.page import read_page
from tlsperf.publish.page_check import text_of, typed_numbers
from tlsperf.publish.prose import PAGES, typed_comparisons, typed_in_pages
from tlsperf.publish.scaffold import report_page

SENTENCES = [
    "its server is slower, while its client is faster",
    "half of it is not back",
    "sending grew by far",
    "rustls' handshakes are as fast now",
    "after that, neither changes",
    "level with OpenSSL",
    "OpenSSL is the same built by either",
    "a provider matters less than the library",
    "level or nearly so",
    "the longest of all",
    "leads by more than on x86-64",
    "rustls has the tightest distributions",
    "shakes hands a little faster",
    "Receiving is a draw.",
    "BoringSSL caught up",
    "OpenSSL and BoringSSL hold still",
    "The key pair dominates the ClientHello",
    "it takes twice the time",
    "the smallest margin",
    "all else is alike",
    "OpenSSL 3.4 recovered most of it",
    "rustls trails",
    "costs next to nothing",
    "the cost is unchanged",
    "the best figure",
    "Fewer instructions",
    "at the same speed",
]


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_typed_comparison_is_found_with_its_line(sentence: str) -> None:
    (first, *_) = typed_comparisons(f"+++\nbaseline = 'best'\n+++\n\nWell, {sentence}.\n", "f.md")
    assert (first.file, first.line) == ("f.md", 5)
    assert f"f.md:5: found the typed comparison {first.words!r}, expected a shortcode" in str(first)


@pytest.mark.parametrize(
    "sentence",
    [
        '{{ verdict(row="faster-than", implementation="best") }}',
        "does {{ factor(id='x') }} as many as with X25519 and {{ factor(id='y') }} as fast as RSA",
        "“rustls is faster”, as they write",
        "> the original says faster",
        "`--faster` and [a thread](https://example.org/slower)",
        "```\nfaster\n```",
        "it does the same work with the same certificates",
        "the lesson of mostly harmless ledgers",
    ],
)
def test_quotations_and_shortcodes_are_not_typed_comparisons(sentence: str) -> None:
    assert typed_comparisons(sentence, "f.md") == []


def test_titles_and_descriptions_are_prose_and_generated_lines_are_not() -> None:
    text = '+++\ntitle = "A"\ndescription = "rustls gained"\nheadlines = ["1.2x faster"]\n+++\n'
    assert [(found.line, found.words) for found in typed_comparisons(text, "f")] == [(3, "gained")]


@pytest.mark.any_site
def test_no_comparison_is_typed_into_a_page(root: Path) -> None:
    content = root / "content"
    assert any(path for pattern in PAGES for path in content.glob(pattern))
    assert [str(found) for found in typed_in_pages(content)] == []


@pytest.mark.any_site
def test_no_figure_is_typed_into_a_report(root: Path) -> None:
    found = [str(of) for page, _ in reports(root) for of in typed_numbers(text_of(page))]
    assert found == []


@pytest.mark.any_site
def test_a_report_has_every_part(root: Path) -> None:
    parts = {"headline", "host", "versions", "commands", "raw"}
    for page, _ in reports(root):
        assert parts <= {call.name for call in page.calls}, page.path


def numbers_in(folder: Path, prose: str) -> list[str]:
    """The typed numbers that are found in a page with this prose."""
    path = folder / "2026-11-21-a" / "index.md"
    path.parent.mkdir()
    front = 'title = "9 ms"\ndate = 2026-11-21\n[extra.report]\nruns = ["2026-11-21-a"]\n'
    path.write_text(f"+++\n{front}+++\n{prose}\n", encoding="utf-8")
    return [str(found) for found in typed_numbers(text_of(read_page(path)))]


@pytest.mark.parametrize(
    "text",
    ["1.70x faster", "8,292 MiB/s", "4.3% more", "80 threads", "12 times", "5 ms", "3×"],
)
def test_a_typed_number_is_found_with_its_line(tmp_path: Path, text: str) -> None:
    (found,) = numbers_in(tmp_path, f"It is {text}, as said.")
    assert "index.md:7: found the typed number" in found


@pytest.mark.parametrize(
    "text",
    ["TLS 1.3 and AES-128-GCM", "rustls 0.23.31", "`make -j12 x`", '{{ ratio(row="a-5-ms") }}'],
)
def test_versions_names_and_shortcodes_are_not_typed_numbers(tmp_path: Path, text: str) -> None:
    assert numbers_in(tmp_path, text) == []


def test_the_draft_of_a_report_types_no_comparison() -> None:
    rates: Rates = {"openssl-1": {TRANSFERS[0]: 1000.0}, "rustls-2": {TRANSFERS[0]: 1100.0}}
    results = report_of(loaded_run("2026-11-21-a", rates), baseline="openssl-1").results
    report = Report(id=results.id, title=results.title, date=results.date, runs=["2026-11-21-a"])
    assert typed_comparisons(report_page(report, results), "index.md") == []


def test_a_page_that_types_a_comparison_fails_the_check(tmp_path: Path) -> None:
    page = tmp_path / "content" / "blog" / "post.md"
    page.parent.mkdir(parents=True)
    page.write_text('+++\ntitle = "A"\n+++\nrustls is faster.\n', encoding="utf-8")
    (found,) = typed_in_pages(tmp_path / "content")
    assert found == ("content/blog/post.md", 4, "faster")
