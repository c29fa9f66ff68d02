"""Reads the name and checksum of a suite of bench/suites."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, ValidationError

from tlsperf.contract.errors import mismatch
from tlsperf.contract.toml_text import read_toml


class SuiteFile(NamedTuple):
    """A suite's name, and the checksum that identifies its version."""

    name: str
    sha256: str


def read_suite(path: Path) -> SuiteFile:
    """Name and checksum of a suite. `tlsbench` records the same checksum: over the file, followed
    by the files that it includes. Raises UserError.
    """
    try:
        suite = _Suite.model_validate(read_toml(path))
    except ValidationError as error:
        raise mismatch(error, str(path), model=_Suite) from None
    digest = hashlib.sha256(path.read_bytes())
    for include in suite.include:
        name = include if isinstance(include, str) else include.file
        digest.update((path.parent / name).read_bytes())
    return SuiteFile(suite.name, digest.hexdigest())


class _Include(BaseModel):
    file: str


class _Suite(BaseModel):
    """What is read of a suite; `tlsbench` knows the rest."""

    name: str
    include: list[str | _Include] = []
