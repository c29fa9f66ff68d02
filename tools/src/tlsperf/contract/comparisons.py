"""`data/comparisons/<name>.toml`: the tables that a source published, and its errors in them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from tlsperf.contract.record import Identifier, Model
from tlsperf.contract.run import Source

Estimator = Literal["median", "upper-median", "best"]
"""Which figure of several rounds the source's table shows."""


class ComparedTable(Model):
    """One published table: its two implementations, their labels, and its scenarios.

    `scenarios` and `without` are patterns of scenario names.
    """

    title: str
    left: Identifier
    left_label: str
    right: Identifier
    right_label: str
    scenarios: list[str] = Field(min_length=1)
    without: tuple[str, ...] = ()


class Erratum(Model):
    """A wrong cell of the source: its place in the CSV, the printed value and the correct one."""

    line: int = Field(ge=2)
    column: str
    printed: str
    correct: str
    reason: str


class Definition(Model):
    """The content of `data/comparisons/<name>.toml`."""

    run: Identifier
    published: str = Field(description="the CSV beside this file")
    layout: Literal["factor", "memory"]
    estimator: Estimator
    include_invalid: bool = False
    source: Source
    table: list[ComparedTable] = Field(min_length=1)
    errata: tuple[Erratum, ...] = ()
