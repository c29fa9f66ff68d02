"""Raw formats: every case gives what its table says, and a damaged file is refused or marked.

`pytest --hypothesis-profile=nightly` tries thousands of damages of each format's cases.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import CASES, RUN, Case
from tlsperf.contract.errors import FormatError, UserError
from tlsperf.contract.run import RawFile
from tlsperf.load.formats import FOREIGN, detect
from tlsperf.load.histograms import read_histograms
from tlsperf.load.rows import MOST_IN_LINE, Parsed
from tlsperf.load.run import LoadedRun

EVERY = [case for cases in CASES.values() for case in cases]
READ = {
    format: [
        replace(case, forced=True)  # damage may hide of which format the file is
        for case in cases
        if not case.gives.startswith("refused") and not case.forced
    ]
    for format, cases in CASES.items()
}
"""The cases that are read, by format."""
every_format = pytest.mark.parametrize("format", CASES)


@pytest.mark.parametrize("case", EVERY, ids=lambda case: f"{case.format}: {case.says}")
def test_a_case_gives_what_its_table_says(case: Case) -> None:
    assert case.outcome() == case.gives


def test_each_table_is_of_a_format() -> None:
    tables = {path.stem for path in (Path(__file__).parent / "formats").glob("*.toml")}
    assert tables == {format.replace("/", "-") for format in FOREIGN}


TWO_TOOLS = """\
env ./bench bulk ECDHE-RSA-AES128-GCM-SHA256
send: 5 MB/s
handshakes TLSv1_3 Rsa TLS13_AES_256_GCM_SHA384 client server-auth no-resume 4695.01 handshake/s
"""


@pytest.mark.parametrize(
    ("data", "name", "said"),
    [
        (b"hello\n", "output_1", "output_1: no line of a known format"),
        (b"", "output_1", "output_1: no line of a known format"),
        (
            b"sha256  123.45k\n",
            "output_1",
            "known format .*; figures of openssl speed need its line",
        ),
        (b"1795230099.5 1\n", "latency.txt", "latency.txt: no line of a known format"),
        (
            TWO_TOOLS.encode(),
            "output_1",
            "output_1: could be openssl-bench/2023, rustls-bench/2023; choose one with --from",
        ),
        (TWO_TOOLS.encode("utf-16"), "output_1", "output_1:1: found UTF-16 text, expected UTF-8"),
        (
            b"a\n" + b"x" * (MOST_IN_LINE + 1),
            "output_1",
            "output_1:2: found a line of more than 16,384 bytes, expected UTF-8",
        ),
    ],
)
def test_a_file_of_no_format_or_of_two_is_refused(data: bytes, name: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        detect(data, name, name)


# --- damage ------------------------------------------------------------------------------------


def figures(parsed: Parsed) -> list[tuple[object, ...]]:
    return [(r.scenario, r.statistic, r.value, r.unit) for r in parsed.rows if r.valid]


def edited(case: Case, edit: Callable[[str], str]) -> dict[str, bytes]:
    """The case's files, edited."""
    return {name: edit(data.decode()).encode() for name, data in case.files.items()}


@pytest.mark.parametrize(
    "edit",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\ufeff" + text,
        lambda text: text.expandtabs(),
    ],
    ids=["Windows line ends", "byte-order mark", "spaces for tabs"],
)
def test_an_editor_does_not_change_a_figure(edit: Callable[[str], str]) -> None:
    for case in EVERY:
        if not case.gives.startswith("refused"):
            assert case.read(edited(case, edit)).rows == case.read().rows, case


@every_format
def test_a_file_cut_anywhere_has_no_figure_that_was_not_printed(format: str) -> None:
    for case in READ[format]:
        if format != "bench-latency":  # its percentiles are of the lines that are left
            cut_anywhere(case)


def cut_anywhere(case: Case) -> None:
    whole = set(figures(case.read()))
    for name, data in case.files.items():
        for end in range(0, len(data), 1 + len(data) // 500):
            with contextlib.suppress(UserError):
                cut = case.files | {name: data[:end]}
                assert set(figures(case.read(cut))) <= whole, (case, data[:end])


@every_format
@given(data=st.data())
def test_a_damaged_file_is_refused_or_marked(
    format: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    case = data.draw(st.sampled_from(READ[format]))
    name = data.draw(st.sampled_from(list(case.files)))
    text = case.files[name].decode()
    an_unknown_line_is_listed(case, name, text, data)
    number = data.draw(st.sampled_from(list(_NUMBER.finditer(text))))
    hostile = data.draw(_HOSTILE)
    with contextlib.suppress(UserError):
        changed = text[: number.start()] + hostile.decode() + text[number.end() :]
        case.read(case.files | {name: changed.encode()})
    raw = bytearray(text.encode())
    for _ in range(data.draw(st.integers(1, 8), "damages")):
        at = data.draw(st.integers(0, len(raw)))
        raw[at : at + data.draw(st.integers(0, 12))] = data.draw(st.binary(max_size=12) | _HOSTILE)
    with contextlib.suppress(UserError):
        assert all(row.value >= 0 for row in case.read(case.files | {name: bytes(raw)}).rows)
        if format == "published":
            read_published(tmp_path_factory.getbasetemp(), bytes(raw))


def read_published(folder: Path, data: bytes) -> None:
    """Reads the histograms of a run with this file."""
    (folder / "raw").mkdir(exist_ok=True)
    (folder / "raw" / "x").write_bytes(data)
    checksum = hashlib.sha256(data).hexdigest()
    file = RawFile(path="raw/x", sha256=checksum, bytes=len(data), format="published")
    read_histograms(folder, LoadedRun(RUN.model_copy(update={"files": [file]}), []))


def an_unknown_line_is_listed(case: Case, name: str, text: str, data: st.DataObject) -> None:
    """A line that the tool does not print is left out and listed, and no figure changes."""
    lines = text.split("\n")
    at = data.draw(st.integers(1, max(1, len(lines) - 1)), "line")
    words = data.draw(st.sampled_from([1, 1000]))
    lines.insert(at, data.draw(_UNKNOWN) + words * " 12.5")
    files = case.files | {name: "\n".join([*lines, ""]).encode()}
    if case.format in WHOLE:
        with pytest.raises(FormatError) as error:
            case.read(files)
        assert error.value.file.endswith(name)
        assert len(str(error.value)) < 700
        return
    ended = case.read(case.files | {name: f"{text}\n".encode()})
    parsed = case.read(files)
    assert figures(parsed) == figures(ended)
    known = {remark.message for remark in ended.remarks}
    [listed] = [r for r in parsed.remarks if r.code == "left-out" and r.message not in known]
    assert listed.file.endswith(name)
    assert listed.line <= at + 1
    assert len(listed.message) < 200


WHOLE = {
    *("bmf", "criterion/estimates", "data-js", "google-benchmark", "hyperfine", "published"),
}
"""Formats whose files are one JSON text or, of our own, a table without lines of a tool."""


_HOSTILE = st.sampled_from(
    [
        *(b"0", b"-1", b"1.5", b"nan", b"inf", b"1e999", b"1e400", b"9" * 19, b"9" * 400),
        *(b"9" * 5000, b"\x00", b"\r", b"\n", b'"', b",", b"[" * 900 + b"]" * 900),
    ]
)
_NUMBER = re.compile(r"(?<![A-Za-z0-9])[0-9.]+(?![A-Za-z0-9])")
_KNOWN = {"clang", "cc", "gcc", "done"}
"""Lines of make."""
_UNKNOWN = st.text("abcdefghijklmnop", min_size=3, max_size=8).filter(lambda it: it not in _KNOWN)
