"""The tools replace only their own table in a report's page."""

from __future__ import annotations

import tomllib
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tlsperf.contract.errors import FormatError, UserError
from tlsperf.load.page import read_page
from tlsperf.publish.page import with_generated

FRONT = """\
title = 'One "quoted" title'   # kept
date = 2026-11-21
[extra.report]
runs   = [ "2026-11-21-run" ]
"""
GENERATED = '[extra.generated] # by hand?\nversions = ["old"]\n'


def write(folder: Path, text: str) -> Path:
    path = folder / "2026-11-21-report" / "index.md"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.encode())
    return path


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(prose=st.text(st.characters(codec="utf-8")), generated=st.sampled_from(["", GENERATED]))
def test_hand_written_bytes_are_kept(tmp_path: Path, prose: str, generated: str) -> None:
    page = read_page(write(tmp_path, f"+++\n{FRONT}{generated}+++\n{prose}"))
    text = with_generated(page, {"versions": ["new"]})
    assert text.startswith(f"+++\n{FRONT}\n[extra.generated]")
    assert text.endswith(f'versions = ["new"]\n+++\n{prose}')
    assert "old" not in text.removesuffix(prose)
    again = read_page(write(tmp_path, text))
    assert again.generated == {"versions": ["new"]}
    assert with_generated(again, {"versions": ["new"]}) == text


def test_a_date_may_have_a_time_in_utc(tmp_path: Path) -> None:
    timed = FRONT.replace("date = 2026-11-21", "date = 2026-11-21T16:02:39Z")
    report = read_page(write(tmp_path, f"+++\n{timed}+++\n")).first
    assert (report.date, report.time) == (
        date(2026, 11, 21),
        datetime(2026, 11, 21, 16, 2, 39, tzinfo=UTC),
    )
    assert read_page(write(tmp_path, f"+++\n{FRONT}+++\n")).first.time is None


def test_windows_line_ends_are_kept(tmp_path: Path) -> None:
    text = f"+++\n{FRONT}+++\nprose\n".replace("\n", "\r\n")
    written = with_generated(read_page(write(tmp_path, text)), {"versions": ["new"]})
    assert "\n" not in written.replace("\r\n", "")
    assert tomllib.loads(written.split("+++")[1])["extra"]["generated"] == {"versions": ["new"]}


def test_tables_after_the_generated_one_are_kept(tmp_path: Path) -> None:
    page = read_page(write(tmp_path, f"+++\n{FRONT}{GENERATED}[extra.other]\nkey = 1\n+++\n"))
    written = with_generated(page, {"versions": ["new"]})
    assert tomllib.loads(written.split("+++")[1])["extra"]["other"] == {"key": 1}
    assert "old" not in written


def test_a_generated_table_that_is_not_its_own_is_rejected(tmp_path: Path) -> None:
    front = (
        'title = "t"\ndate = 2026-11-21\n'
        'extra = { report = { runs = ["r"] }, generated = { versions = ["old"] } }\n'
    )
    page = read_page(write(tmp_path, f"+++\n{front}+++\n"))
    with pytest.raises(UserError):
        with_generated(page, {"versions": ["new"]})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("prose\n", ":1: found no front matter, expected a line +++"),
        ("+++\ntitle = \n+++\n", ":2: this is not TOML: invalid value"),
        ('+++\ntitle = "t"\n+++\n', ": found no [extra.report]"),
        (f"+++\n{FRONT}".replace("date = 2026-11-21\n", "") + "+++\n", ": found date nothing"),
        (f"+++\n{FRONT}".replace("2026-11-21\n", "2026-11-20\n") + "+++\n", ": found date 2026"),
        (
            f"+++\n{FRONT}+++\n".replace("11-21\n", "11-21T16:02:39+01:00\n"),
            ": found date 2026-11-21T16:02:39+01:00, expected a time in UTC, with Z at its end",
        ),
        (
            f"+++\n{FRONT}+++\n".replace("11-21\n", "11-21T16:02:39\n"),
            ": found date 2026-11-21T16:02:39, expected a time in UTC, with Z at its end",
        ),
        (
            f"+++\n{FRONT}basline = 1\n+++\n",
            ": found the unknown key basline, expected baseline or",
        ),
    ],
)
def test_other_pages_are_rejected_as_reports(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(FormatError) as caught:
        read_page(path)
    assert str(caught.value).startswith(f"{path}{message}")
