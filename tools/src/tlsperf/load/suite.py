"""Reads the name and checksum of a suite of bench/suites."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import NamedTuple

from tlsperf.load.toml_text import read_toml


class SuiteFile(NamedTuple):
    """A suite's name, and the checksum that identifies its version."""

    name: str
    sha256: str


def read_suite(path: Path) -> SuiteFile:
    """Name and checksum of a suite. `tlsbench` records the same checksum: over the file, followed
    by the files that it includes.
    """
    content = read_toml(path)
    digest = hashlib.sha256(path.read_bytes())
    for include in content.get("include", []):
        name = include if isinstance(include, str) else include["file"]
        digest.update((path.parent / name).read_bytes())
    return SuiteFile(content["name"], digest.hexdigest())
