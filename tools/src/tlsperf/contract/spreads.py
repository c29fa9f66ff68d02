"""`data/spreads.json`: how far two runs of the same builds differ, by processor model.

`tlsperf spreads` makes it from all pairs of runs below data/runs.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from tlsperf.contract.record import Model
from tlsperf.contract.run import FigureKind, HostFacts


class Spread(Model):
    """How far figures of a kind differ between two runs, in per cent.

    95% of all are within, and 90% of those of each two runs: rates by themselves, ratios with the
    intervals that come of it.
    """

    rates: float | None = Field(None, ge=0, description="of one build; absent of key exchanges")
    ratios: float | None = Field(None, ge=0, description="of two builds, measured side by side")
    pairs: int = Field(ge=1, description="pairs of runs with such figures")


class ModelSpreads(Model):
    """The spreads of one processor model."""

    host: HostFacts = Field(description="what distinguishes the model, from its first run")
    runs: int = Field(ge=2)
    days: int = Field(ge=1, description="different days on which the runs were measured")
    pairs: int = Field(ge=1)
    kinds: dict[FigureKind, Spread]


class SpreadsFile(Model):
    """The content of `data/spreads.json`."""

    schema_: Literal[1] = Field(1, alias="schema")
    models: list[ModelSpreads]
