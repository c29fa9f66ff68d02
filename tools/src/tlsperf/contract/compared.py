"""The data of the page Compare: every pair of implementations in the rows of a report's part.

`tlsperf build` writes compare.json beside the results.json of each part. The page first loads
`content/compare/newest.json`, which has the newest of all of them.
"""

from __future__ import annotations

from typing import Final, Literal, get_args

from pydantic import Field

from tlsperf.contract.metric import Better
from tlsperf.contract.metrics import Unit
from tlsperf.contract.record import Day, Identifier, Model

Pair = float | tuple[float] | tuple[float, float, float] | tuple[float, float, float, str] | None
"""One implementation over another in a row; above 1 is better.

A number: of exact counts; 0 if they are equal. `[ratio]`: of single figures, not tested.
`[ratio, low, high]`: a difference, with its interval. `[ratio, low, high, size]`: no difference
shown, and one of `size` ("7%") would have shown; not tested if `size` is empty. None: no ratio.
"""


Group = Literal["speed", "latency", "set-up", "primitives", "memory", "counts"]
GROUPS: Final[tuple[Group, ...]] = get_args(Group)
"""What readers filter rows by; `speed` is of connections and data."""


class ComparedRow(Model):
    """A row of reports. Those of one anchor and unit are one row."""

    anchor: Identifier
    unit: Unit
    better: Better
    name: str
    kind: str = Field(description="title of its table")
    group: Group
    path: str = Field(description="pattern for `tlsbench run --only`")


class ComparedFigures(Model):
    """A row in a part. Lists have the order of the part's implementations."""

    row: ComparedRow
    runs: list[int] = Field(description="places in the part's runs of those that measured it")
    texts: list[str] = Field(description="figures as readers see them; empty if there is none")
    pairs: list[Pair] = Field(
        description="each implementation over each before it: second over first, third over first, "
        "third over second, …; those missing at the end are None"
    )


class ComparedRun(Model):
    """A run of a part: how to measure it again, and its raw files."""

    id: Identifier
    command: str = Field(
        description="of tlsbench, without the folder of the run; empty: another tool measured it"
    )
    files: list[tuple[str, str]] = Field(
        description="paths below its folder, and the implementation that is alone in it, or empty"
    )


class ComparedImplementation(Model):
    """An implementation as readers see it."""

    id: Identifier
    label: str
    library: str
    plain: bool = Field(description="built as users get it")


class ComparedPart(Model):
    """What one host measured for a part of a report. Its baseline is the first implementation."""

    id: Identifier
    page: Identifier = Field(description="the report")
    folder: str = Field(description="of its downloads, below content/")
    title: str
    date: Day = Field(description="of its newest run")
    main: bool = Field(description="of the main series")
    host: Identifier
    host_name: str
    implementations: list[ComparedImplementation]
    runs: list[ComparedRun]
    rows: list[ComparedFigures]
