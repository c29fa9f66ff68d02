"""What the layout of a program in memory does to a figure."""

from __future__ import annotations

from typing import Final, Literal, get_args

from pydantic import Field

from tlsperf.contract.record import Identifier, Model

LayoutKind = Literal["shifted", "shuffled", "shared"]
LAYOUT_KINDS: Final[tuple[LayoutKind, ...]] = get_args(LayoutKind)
"""In the order in which readers see them."""


class LayoutEffect(Model):
    """What the layout of one program does to one row: rates against the linker's own order."""

    anchor: Identifier = Field(description="the row")
    name: str
    implementation: Identifier
    kind: LayoutKind = Field(description="how the layouts differ")
    percents: list[float] = Field(description="of each layout against the own order, ascending")
    same_percent: float = Field(
        ge=0, description="A/A: 95% of equal layouts are within, by the sessions of each"
    )
    beyond: int = Field(ge=0, description="layouts that differ from the own order by more than A/A")
    text: str = Field(description="lowest to highest as readers see them: −9.6 to +0.4%")
    median_text: str = Field(description="of the layouts: −3.1%")
    same_text: str
