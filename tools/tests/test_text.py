"""Markdown and Zola show text from a run unchanged, and a spreadsheet runs none."""

from __future__ import annotations

import csv
import io
import re

import pytest

from project import ROOT
from tlsperf.contract.text import csv_text, markdown


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tlsbench 0.1.0", "tlsbench 0.1.0"),
        ("{{ warnings() }}", "&#123;&#123; warnings() &#125;&#125;"),
        ("{% raw %}", "&#123;% raw %&#125;"),
        ("<b>&lt;", r"\<b\>\&lt;"),
        ("[x](javascript:1)", r"\[x\](javascript:1)"),
        ("*a* _b_ `c` ~d~ | # ! $ \\", r"\*a\* \_b\_ \`c\` \~d\~ \| \# \! \$ \\"),
        ("one\n+++\n\n# two", r"one +++ \# two"),
    ],
)
def test_markup_is_escaped(text: str, expected: str) -> None:
    assert markdown(text) == expected


def test_a_spreadsheet_runs_no_cell_and_reads_numbers() -> None:
    hostile = ["=1+1", "+cmd|' /C calc'!A0", "-1+1", "@SUM(A1)", "\t=1", "\n=1", "-", "-1e", "-e5"]
    harmless = ["a=1", "-0.5", "+4.2%", "-1e-05", "-1e5", "-1.5E+3", "1,000", "", "−0.5", "'=1"]
    numbers = [-0.5, -3, None, 1e-9]
    text = csv_text([hostile, harmless, numbers])
    first, second, third = csv.reader(io.StringIO(text, newline=""))
    assert first == [f"'{cell}" for cell in hostile]
    assert second == harmless
    [carriage] = csv.reader(io.StringIO(csv_text([["a\r=1+1"]]), newline=""))
    assert carriage == ["a\n=1+1"], "no cell of its own"
    assert third == ["-0.5", "-3", "", "1e-09"]


def test_every_csv_file_is_written_by_one_function() -> None:
    sources = (ROOT / "tools" / "src").rglob("*.py")
    writing = re.compile(r"csv\.(writer|DictWriter)|to_csv")
    assert [p.name for p in sources if writing.search(p.read_text("utf-8"))] == ["text.py"]
