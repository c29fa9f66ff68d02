"""The price list of a report: what a handshake costs with each choice of algorithms, by library."""

from __future__ import annotations

from typing import Final, Literal, Self

from pydantic import Field, model_validator

from tlsperf.contract.agreement import agrees
from tlsperf.contract.metrics import Unit
from tlsperf.contract.record import Authentication, Identifier, Model, Side
from tlsperf.contract.verdict import Verdict

SEGMENT: Final = 1_460
"""Bytes of a TCP segment over Ethernet and IPv4."""

WINDOW: Final = 10
"""Segments that fit the initial window of TCP (RFC 6928)."""

PriceKind = Literal["time", "flight", "memory"]


class Lost(Model):
    """The part of its handshakes per second that a side loses, against another column.

    It is below 0 if the side gains handshakes. The verdict is that of the ratio of the rates.
    """

    percent: float = Field(lt=100)
    low: float | None = Field(None, lt=100)
    high: float | None = Field(None, lt=100)
    verdict: Verdict
    text: str = Field(description="as readers see it: 31.2% lost (30.8 to 31.6%)")

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.low is None) != (self.high is None):
            raise ValueError("both low and high, or neither")
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError(f"low up to high, not {self.low:g} and {self.high:g}")
        bounds = [abs(bound) for bound in (self.low, self.high) if bound is not None]
        if self.verdict == "faster":
            bounds.reverse()
        middle = [] if self.verdict == "no difference shown" and bounds else [abs(self.percent)]
        if not agrees(self.text, *middle, *bounds, stored=5e-6):
            raise ValueError(f"a text of {self.percent:g}%, not {self.text!r}")
        return self


class PriceCell(Model):
    """One implementation in one column. `value` is absent if there is no measurement."""

    implementation: Identifier
    value: float | None = Field(None, ge=0)
    text: str = Field(description="the value as readers see it, without the unit; – if absent")
    interval: str | None = Field(
        None, description="predicts the median of another run; as readers see it"
    )
    lost: Lost | None = Field(
        None, description="of a time, against the column that its own is compared with"
    )
    segments: int | None = Field(None, ge=1, description="TCP segments that a flight fills")
    note: str | None = Field(None, description="why absent")

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not agrees(self.text, *([] if self.value is None else [self.value]), stored=5e-7):
            raise ValueError(f"a text of {self.value!r}, not {self.text!r}")
        return self

    @property
    def fits(self) -> bool | None:
        """Whether a flight fits the initial window of TCP; None if it is no flight."""
        return None if self.segments is None else self.segments <= WINDOW


class PriceColumn(Model):
    """A choice of algorithms, with the cell of each implementation."""

    id: Identifier = Field(description="x25519, x25519mlkem768, ml-dsa-44-leaf, ml-dsa-44, …")
    name: str = Field(description="X25519MLKEM768, ML-DSA-44")
    row: Identifier = Field(description="the row of a table that has its figures")
    against: Identifier | None = Field(
        None, description="the column that a library's figures are compared with; absent for that"
    )
    cells: list[PriceCell]


class PriceTable(Model):
    """A table of the price list, of one side. Its columns go from today's algorithms to
    post-quantum ones, or are pairs without and with early data or compressed certificates.
    """

    anchor: Identifier
    title: str
    caption: str
    kind: PriceKind
    side: Side
    authentication: Authentication
    unit: Unit
    implementations: list[Identifier]
    columns: list[PriceColumn] = Field(min_length=2)
