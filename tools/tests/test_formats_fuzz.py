"""Every foreign format: printed documents are read exactly, and damaged ones are rejected or
marked.

`pytest --hypothesis-profile=nightly` tries thousands of documents for each of the tests below.
"""

from __future__ import annotations

import contextlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammars import GRAMMARS, Document, found
from tlsperf.contract.errors import FormatError
from tlsperf.load.check_rows import check_rows
from tlsperf.load.formats import FOREIGN, detect

every_format = pytest.mark.parametrize("grammar", GRAMMARS.values(), ids=GRAMMARS)


def test_no_format_is_left_out() -> None:
    assert set(GRAMMARS) == set(FOREIGN)


@every_format
@given(data=st.data())
def test_a_document_is_read_exactly_however_its_lines_end(
    grammar: st.SearchStrategy[Document], data: st.DataObject
) -> None:
    document = data.draw(grammar)
    parsed = document.parsed()
    assert found(parsed) == document.figures
    assert [r.note for r in parsed.rows if not r.valid] == []
    assert [remark.message for remark in parsed.remarks] == document.remarks
    assert detect(document.text.encode(), document.name, "x").name == document.format
    text = document.text
    if data.draw(st.booleans(), "tabs to spaces"):
        text = text.expandtabs()
    if data.draw(st.booleans(), "Windows line ends"):
        text = text.replace("\n", "\r\n")
    if data.draw(st.booleans(), "byte-order mark"):
        text = "\ufeff" + text
    assert found(document.parsed(text.encode())) == document.figures
    assert detect(text.encode(), document.name, "x").name == document.format


@every_format
@given(data=st.data())
def test_a_damaged_document_is_rejected_or_marked(
    grammar: st.SearchStrategy[Document], data: st.DataObject
) -> None:
    document = data.draw(grammar)
    interrupted_anywhere(document, data)
    an_unknown_line_stops(document, data)
    hostile_numbers(document, data)
    any_bytes(document, data)


def interrupted_anywhere(document: Document, data: st.DataObject) -> None:
    """A cut file adds no figure; an incomplete figure is marked or rejected."""
    cut = data.draw(st.integers(0, len(document.text)), "cut")
    try:
        parsed = document.parsed(document.text[:cut].encode())
    except FormatError:
        return
    if document.format == "bench-latency":  # these are percentiles of the remaining lines
        lines = document.text[:cut].split("\n")[:-1]
        present = {float(line.split("\t")[1]) for line in lines}
        assert {row.value for row in parsed.rows} <= present
        return
    for row in parsed.rows:
        if row.valid:
            assert (row.scenario, row.statistic, row.value, row.unit) in document.figures


def an_unknown_line_stops(document: Document, data: st.DataObject) -> None:
    lines = document.text.split("\n")[:-1]
    at = data.draw(st.integers(1, len(lines)), "line")
    lines.insert(at, f"{data.draw(_UNKNOWN)} 12.5")
    with pytest.raises(FormatError) as error:
        document.parsed("".join(f"{line}\n" for line in lines).encode())
    assert error.value.line == at + 1
    assert error.value.file == f"raw/{document.name}"


def hostile_numbers(document: Document, data: st.DataObject) -> None:
    chosen = data.draw(st.sampled_from(list(_NUMBER.finditer(document.text))))
    hostile = data.draw(_HOSTILE).decode()
    text = document.text[: chosen.start()] + hostile + document.text[chosen.end() :]
    with contextlib.suppress(FormatError):
        check_rows(document.parsed(text.encode()).rows)


def any_bytes(document: Document, data: st.DataObject) -> None:
    """Rows, or an error of the format that names the file."""
    raw = bytearray(document.text.encode())
    for _ in range(data.draw(st.integers(1, 8), "damages")):
        at = data.draw(st.integers(0, len(raw)))
        length = data.draw(st.integers(0, 12))
        raw[at : at + length] = data.draw(_DAMAGE)
    with contextlib.suppress(FormatError):
        rows = document.parsed(bytes(raw)).rows
        check_rows(rows)
        assert all(row.value >= 0 for row in rows)


_HOSTILE = st.sampled_from(
    [b"0", b"-1", b"1.5", b"nan", b"inf", b"1e999", b"9" * 19, b"9" * 400, b"9" * 5000, b"\x00"]
)
_DAMAGE = st.binary(max_size=12) | _HOSTILE
_NUMBER = re.compile(r"(?<![A-Za-z0-9])[0-9.]+(?![A-Za-z0-9])")
_KNOWN = {"clang", "cc", "gcc", "done"}
"""Lines of make."""
_UNKNOWN = st.text("abcdefghijklmnop", min_size=3, max_size=8).filter(lambda it: it not in _KNOWN)
