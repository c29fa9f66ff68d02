"""What a report corrects in an earlier one that it replaces."""

from __future__ import annotations

from datetime import date

from pydantic import Field

from tlsperf.contract.record import Identifier, Model


class CorrectedRatio(Model):
    """A ratio of the earlier report that was measured again."""

    anchor: Identifier = Field(description="the row in the report that replaces it")
    name: str = Field(description="with the title of its table where two have one of that name")
    implementation: str = Field(description="as readers see it")
    before: str = Field(description="the ratio of the earlier report, as its page has it")
    after: str
    opposite: bool = Field(False, description="faster in one report, slower in the other")


class CorrectedRows(Model):
    """Corrected ratios whose measurements differ in the same ways."""

    reason: str = Field(description="how the measurements differ: 5 sessions instead of 1; …")
    rows: list[CorrectedRatio] = Field(min_length=1)


class Corrections(Model):
    """How the ratios of an earlier report changed in the report that replaces it."""

    report: Identifier = Field(description="id of the earlier report")
    title: str
    date: date
    compared: int = Field(ge=0, description="ratios that both reports have")
    outside: int = Field(
        ge=0, description="of these, not within the interval that the earlier report printed"
    )
    opposite: int = Field(ge=0, description="of these, with the opposite verdict")
    lost: int = Field(
        ge=0, description="of these, faster or slower before, not shown to differ now"
    )
    gained: int = Field(
        ge=0, description="of these, not shown to differ before, faster or slower now"
    )
    statement: str
    other_host: str | None = Field(
        None, description="which models of hosts the two reports have, if they are not the same"
    )
    groups: list[CorrectedRows] = Field(
        [], description="those outside or with another verdict: opposite verdicts, then by size"
    )
    left_out: int = Field(0, ge=0, description="ratios like those of `groups` that it leaves out")
