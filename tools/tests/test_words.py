"""Finds words that the project does not use, in texts and in code.

Frozen data, texts of others and the generated results are not searched, nor are the pages below
content/, which `make prose` reads.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

import pytest

from fixture_run import ROOT

INSTEAD: Final = {
    r"\b(?:told|tells)\b": "reports, records, states, prints",
    r"\bheed(?:s|ed|ing)?\b|\blistens? to\b": "honors, respects, supports",
    r"\bwander(?:s|ed|ing)?\b|what the host moved": "drift",
    r"\bliars?\b": "faulty adapters",
    r"\btwins?\b": "duplicates, counterpart",
    r"\bby turns\b": "round-robin, interleaved",
    r"\bdo(?:es)? not suit\b|\bsuits? valgrind": "Valgrind does not emulate",
    r"\bon their way\b": "Loading …",
    r"\b[0-9]+ of 20 of [0-9]+\b": "95% of the 138 ratios are within",
    r"\bneighbou?rs may have taken part\b": "other guests may have affected the result",
    r"\bthey are no time\b": "an instruction count is not a time",
    r"\blevel with\b|\bgive or take\b": "no difference shown, within N%",
    r"\bhow-manieth\b": "a number",
    r"\bSpeaker\b": "ClientHelloBench",
    r"\bTLS1\.[23]\b": "TLS 1.2, TLS 1.3",
    r"\b[0-9.]+ %(?=[ .,;:)]|$)(?! \d| \()": "95%, without a space",
}
"""By pattern: the words to write instead."""

QUOTED: Final = {
    "bench/libraries/gnutls/src/vocabulary.rs": "GnuTLS' own names of the versions",
    "tools/src/tlsperf/load/formats/h1load.py": "an option of h1load",
    "tools/src/tlsperf/load/formats/openssl_bench.py": "a line that openssl-bench prints",
    "tools/tests/grammars.py": "an option of h1load",
    "tools/tests/test_formats.py": "a line that openssl-bench prints",
    "tools/tests/test_formats_of_tools.py": "an option of h1load",
    "tools/tests/test_formats_of_tools_exact.py": "an option of h1load",
    "tools/tests/test_openssl_bench.py": "a line that openssl-bench prints",
    "tools/tests/test_published_figures.py": "labels of published figures",
    "tools/tests/test_prose.py": "sentences that the check of prose must find",
    ".vale/tlsperf/Words.yml": "the same list, for prose",
    "tools/tests/test_words.py": "the list itself",
}
"""Files that quote such words, with the origin of the quotation."""

FROZEN: Final = (
    "data/runs/",
    "data/comparisons/",
    "tools/tests/captured/",
    "content/",
    "data/index",
    "data/explore",
    "data/schema/",
    "data/reports.json",
    "data/replaced.json",
    "data/scenarios.json",
)
TEXTS: Final = frozenset(
    {".md", ".py", ".rs", ".toml", ".html", ".js", ".mjs", ".ts", ".yml", ".css", ".sh", ""}
)


def texts() -> Iterator[str]:
    """The paths of files that people write, relative to the root."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    for name in listed.splitlines():
        written = not name.startswith(FROZEN) and PurePosixPath(name).suffix in TEXTS
        if written and name not in QUOTED and (ROOT / name).is_file():
            yield name


def found(pattern: str, text: str) -> list[tuple[int, str]]:
    """Number and text of each line with the word."""
    word = re.compile(pattern, re.IGNORECASE)
    if not word.search(text):
        return []
    return [(n, line.strip()) for n, line in enumerate(text.splitlines(), 1) if word.search(line)]


def test_the_words_to_avoid_occur_nowhere() -> None:
    lines = [
        f"{name}:{number}: {line[:120]} (write: {instead})"
        for name in texts()
        for text in [(ROOT / name).read_text(encoding="utf-8")]
        for pattern, instead in INSTEAD.items()
        for number, line in found(pattern, text)
        if "not-told" not in line  # part of an address
    ]
    assert lines == []


@pytest.mark.parametrize(
    "text",
    ["The library is told so.", "it heeds the mask", "TLS1.3", "up to 5 % of it", "level with it"],
)
def test_a_word_to_avoid_is_found(text: str) -> None:
    assert any(found(pattern, text) for pattern in INSTEAD)


@pytest.mark.parametrize(
    "text", ["i % 2 == 0", "95% of it", "{%- if x %}", "TLS 1.3", "i * 31 % 251"]
)
def test_other_words_are_not_found(text: str) -> None:
    assert not any(found(pattern, text) for pattern in INSTEAD)
