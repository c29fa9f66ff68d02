"""What the tools decide by a metric: the fields of an entry in `metrics.py`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

Better = Literal["higher", "lower"]

PAGES: Final[Mapping[str, float]] = {"bytes": 16 * 4096, "KiB": 16 * 4}
"""Sixteen pages of memory on x86-64 Linux, the step of resident memory, by unit."""

ANY: Final = "*"
"""The operations that `MetricDefinition.units` does not name."""


@dataclass(frozen=True, slots=True)
class MetricDefinition:
    """One metric."""

    noun: str
    """As titles name it: memory allocated."""
    units: Mapping[str, tuple[str, ...]]
    """Units that an observation may have, by operation; an absent operation has none."""
    order: int
    """Place of its tables among those of other metrics."""
    better: Better = "lower"
    words: tuple[str, str] = ("fewer", "more")
    """For a better and for a worse value, in ratios: faster, slower."""
    tables: Literal["kind", "operation"] = "operation"
    """Whether a kind of handshake (full, resumed) has a table of its own, or an operation."""
    amount: str = ""
    """In sentences, after `words`: memory, instructions."""
    primary: bool = False
    """Rows, anchors and groups of the primary metric do not name it; libraries are ranked by it."""
    implied_in_parts: bool = False
    """Rows of its parts (phases, percentiles) do not name it."""
    whole: bool = False
    """Printed as a whole number; otherwise with four significant digits."""
    whole_in: tuple[str, ...] = ()
    """Operations in which it is printed as a whole number, where it is not in all of them."""
    same_within: float | None = None
    """Of counts, which need no test: the ratio up to which two of them are equal."""
    plausible_within: Mapping[str, float] = field(default_factory=dict)
    """By unit: figures that differ by no more are plausible, whatever their ratio."""
    of_process: bool = False
    """Time of a whole process, with the phases `user` and `system`."""
    charts: Mapping[str, Literal["sessions"]] = field(default_factory=dict)
    """The chart of a table, by unit; absent where implementations are compared."""
    price: Literal["flight", "segments", "memory"] | None = None
    """What it is in the price list of a report."""
    harness_cost: Literal["inverse", "time", "memory"] | None = None
    """How a value gives what one operation takes, to compare the harness' own cost with."""
    caption: str = ""
    """Of its tables: what is counted and how; `{counter}` is the counter's version."""
    caution: str = ""
    """Of its tables, after the rounds: what a reader must know of the counter."""

    @property
    def is_count(self) -> bool:
        """Whether it is a count: it does not move with the host."""
        return self.same_within is not None

    @property
    def is_time(self) -> bool:
        """Whether it is of time, which moves with the speed of the host, unlike bytes."""
        return not (self.is_count or self.whole)

    def units_of(self, operation: str) -> tuple[str, ...]:
        """The units that an observation of an operation may have; empty if there is none."""
        return self.units.get(operation, self.units.get(ANY, ()))
