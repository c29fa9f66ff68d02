"""No comparison is typed into the prose of a page: shortcodes print them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pages.fixture import ROOT
from synthetic import TRANSFERS, Rates, loaded_run, report_of
from tlsperf.contract.run import Report
from tlsperf.publish.prose import ALLOWED, PAGES, typed_comparisons, typed_in_pages
from tlsperf.publish.scaffold import report_page

CONTENT = ROOT / "content"

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


def test_no_comparison_is_typed_into_a_page() -> None:
    pages = [path for pattern in PAGES for path in CONTENT.glob(pattern)]
    assert len(pages) > 30
    assert [str(found) for found in typed_in_pages(CONTENT)] == []


def test_each_exception_is_used_and_has_a_reason() -> None:
    texts = [p.read_text(encoding="utf-8") for pattern in PAGES for p in CONTENT.glob(pattern)]
    for pattern, reason in ALLOWED.items():
        assert reason
        assert any(re.search(pattern, text, re.IGNORECASE) for text in texts), pattern


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
