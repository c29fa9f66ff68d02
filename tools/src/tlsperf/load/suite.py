"""Reads a suite of bench/suites, as far as a run names it."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import NamedTuple

from tlsperf.load.run import read_toml


class SuiteFile(NamedTuple):
    """What distinguishes a suite, and a version of it."""

    name: str
    sha256: str


def read_suite(path: Path) -> SuiteFile:
    """Name and checksum of a suite's file."""
    return SuiteFile(read_toml(path)["name"], hashlib.sha256(path.read_bytes()).hexdigest())
