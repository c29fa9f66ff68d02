"""`data/comparisons/<name>.toml`: which table a source published, and where it is in error."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from tlsperf.contract.record import Identifier, Model
from tlsperf.contract.run import Source

Estimator = Literal["median", "upper-median", "best"]
"""Which figure of several rounds a table shows."""


class ComparedTable(Model):
    """One table: which two, under which names, and which scenarios (patterns of names)."""

    title: str
    left: Identifier
    left_label: str
    right: Identifier
    right_label: str
    scenarios: list[str] = Field(min_length=1)
    without: tuple[str, ...] = ()


class Erratum(Model):
    """A cell that is wrong in the source: its line and column in the CSV, and both readings."""

    line: int = Field(ge=2)
    column: str
    printed: str
    correct: str
    reason: str


class Definition(Model):
    """`data/comparisons/<name>.toml`."""

    run: Identifier
    published: str = Field(description="the CSV beside this file")
    layout: Literal["factor", "memory"]
    estimator: Estimator
    include_invalid: bool = False
    source: Source
    table: list[ComparedTable] = Field(min_length=1)
    errata: tuple[Erratum, ...] = ()
