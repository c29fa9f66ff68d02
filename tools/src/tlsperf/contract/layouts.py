"""How the layout of a program in memory affects its figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, get_args

from pydantic import Field

from tlsperf.contract.record import Identifier, Model

LayoutKind = Literal["shifted", "shuffled", "shared"]
LAYOUT_KINDS: Final[tuple[LayoutKind, ...]] = get_args(LayoutKind)
"""The kinds in the order in which pages show them."""


def span_text(percents: Sequence[float]) -> str:
    """The lowest to the highest of some percents, as readers see them: −9.6 to +0.4%."""
    return f"{signed(min(percents))} to {signed(max(percents))}%"


def signed(percent: float) -> str:
    """With a sign that is as wide as the other."""
    return f"{percent:+.1f}".replace("-", "−")


class LayoutEffect(Model):
    """Change of one row's rate by the layout of one program, against the linker's own order."""

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
