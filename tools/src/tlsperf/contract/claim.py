"""A claim: a part of a page's text, and what must hold for it to be true."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from tlsperf.contract.record import Identifier, Model


class Claim(Model):
    """An entry of `[[extra.claims]]` in the front matter of a page."""

    text: str = Field(min_length=1, description="stands in the page word for word")
    holds: str | None = Field(
        None, description="evaluated from results.json (`report.claims` has the grammar)"
    )
    reports: list[Identifier] = Field(
        [], description="the reports in which it holds; absent: the page's own"
    )
    source: str | None = Field(
        None, description="where else it is from: an address that the page links to"
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.holds is None) == (self.source is None):
            raise ValueError("either `holds` or `source`")
        if self.reports and self.holds is None:
            raise ValueError("`reports` only beside `holds`")
        return self
