"""The options of both command lines: each type is parsed here, before anything is read.

A parser returns the value, or raises UserError with what was found and what was expected.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Final, NoReturn, TypeVar

from tlsperf.contract.errors import UserError
from tlsperf.contract.identifier import IDENTIFIER, MOST_OF_IDENTIFIER, YEARS
from tlsperf.load.root import find_root, new_run_folder, report_id, run_id

MOST_OF_TITLE: Final = 200
_SLUG: Final = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?")
_RUN: Final = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})-[a-z0-9._-]+")
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MOST_SHOWN: Final = 60

Value = TypeVar("Value")


def raising(
    parse: Callable[[str], Value], error: Callable[[str], Exception]
) -> Callable[[str], Value]:
    """A parser that raises the error of argparse or Typer, which adds the name of the option."""

    def parsed(text: str) -> Value:
        try:
            return parse(text)
        except UserError as wrong:
            raise error(str(wrong)) from None

    return parsed


def slug(text: str) -> str:
    """The part of a report's name after its date."""
    if not _SLUG.fullmatch(text) or len(text) > MOST_OF_IDENTIFIER // 2:
        _refuse(text, "lower-case letters, digits, hyphens and dots, such as tls-1.3-server")
    return text


def title(text: str) -> str:
    if not text.strip() or not text.isprintable() or len(text) > MOST_OF_TITLE:
        _refuse(text, f"a line of text with at most {MOST_OF_TITLE} characters")
    return text.strip()


def day(text: str) -> date:
    """A date on which something may have happened, wherever it is already that day."""
    try:
        found = date.fromisoformat(text if _DAY.fullmatch(text) else "")
    except ValueError:
        _refuse(text, "a date such as 2026-11-21")
    if found > (datetime.now(UTC) + timedelta(hours=14)).date():
        _refuse(text, "a date that is not in the future")
    if found.year not in YEARS:
        _refuse(text, f"a date from {YEARS[0]} on")
    return found


def name(text: str) -> str:
    """What names something, perhaps with its folder."""
    if not text.strip() or not text.isprintable() or len(text) > MOST_OF_IDENTIFIER:
        _refuse(text, "a name")
    return text


def run(text: str) -> str:
    """The id of a run, given by its id or folder."""
    return name(run_id(name(text)))


def report(text: str) -> str:
    """The id of a report, given by its id or folder."""
    return name(report_id(name(text)))


def new_run(text: str) -> Path:
    """The folder of a run that an import makes or extends."""
    folder = new_run_folder(find_root(), name(text))
    if not folder.exists():
        dated = _RUN.fullmatch(folder.name) or _refuse(
            text,
            "a name in lower case that begins with the day of measurement, such as "
            "2026-03-07-x86-64",
        )
        day(dated[1])
    return folder


def host(text: str) -> str:
    """The id of a host."""
    if not re.fullmatch(IDENTIFIER, text):
        _refuse(text, "the id of a host, lower-case letters, digits, dots, hyphens and _")
    return name(text)


def commit(text: str) -> str:
    """What git takes for a commit, and not for an option of its own."""
    if text.startswith("-"):
        _refuse(text, "a commit, such as origin/main")
    return name(text)


def file(text: str) -> Path:
    """A file that is there."""
    path = Path(text)
    try:
        if path.is_dir():
            _refuse(text, "a file, not a folder")
        if not path.exists():
            raise UserError(f"{text}: there is no such file")
    except OSError as error:
        raise UserError(f"{text}: {error.strerror}") from None
    return path


def folder(text: str) -> Path:
    """A folder to write to; it need not be there."""
    path = Path(text)
    there = next(of for of in (path, *path.absolute().parents) if of.exists())
    if not text or not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        _refuse(text, "a folder that can be written to")
    return path


def percentage(text: str) -> float:
    """The share for a percentage such as 5%."""
    try:
        share = float(text.removesuffix("%")) / 100
    except ValueError:
        share = -1.0
    if not text.endswith("%") or not 0 <= share < math.inf:
        _refuse(text, "a percentage such as 5%")
    return share


def port(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,5}", text) or not 1 <= int(text) <= 65535:
        _refuse(text, "a port from 1 to 65535")
    return int(text)


def address(text: str) -> str:
    """The address of a site."""
    if not re.fullmatch(r"https?://[^\s/?#\"'<>]+(/[^\s?#\"'<>]*)?", text):
        _refuse(text, "an address such as https://example.org/perf")
    return text


def _refuse(text: str, expected: str) -> NoReturn:
    shown = text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"
    raise UserError(f"found {shown!r}, expected {expected}")
