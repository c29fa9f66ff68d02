"""`[extra.answer]` of a page that quotes reports: the home page, and those of content/answers."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from tlsperf.contract.record import Identifier, Model


class Costs(Model):
    """The rows with what one connection costs a server: rates of one core, or times of it."""

    ecdsa: Identifier
    rsa: Identifier
    resumed: Identifier


class Cores(Model):
    """The rows from which a page computes cores."""

    alone: Costs = Field(description="TLS alone, in memory")
    socket: Costs = Field(description="through a socket, with the kernel's part")


class AnswerRow(Model):
    """A row of reports, as a line or a column of the table and as a part of the picture."""

    row: Identifier
    label: str = Field(min_length=1, description="what the page calls it")
    table: Identifier | None = Field(
        None, description="anchor of its table; absent: the first table that has the row"
    )
    drawn: bool = Field(True, description="whether the picture shows it")


class Answer(Model):
    """What a page quotes."""

    parts: list[Identifier] = Field(
        min_length=1, description="of reports, in order of precedence; their hosts are the columns"
    )
    rows: list[AnswerRow] = Field(min_length=1)
    caption: str | None = Field(None, description="what all rows share: protocol, sizes, threads")
    implementations: list[Identifier] = Field([], description="absent: all")
    baseline: Identifier | None = Field(
        None, description="what ratios are to; absent: the baseline of each part"
    )
    against: str | None = Field(
        None, description="what each library is compared with where its rows are compared"
    )
    cores: Cores | None = Field(None, description="absent: the page computes no cores")

    @model_validator(mode="after")
    def _check(self) -> Self:
        labels = [row.label for row in self.rows]
        if doubled := sorted({label for label in labels if labels.count(label) > 1}):
            raise ValueError(f"a label of its own for each row, not {', '.join(doubled)} twice")
        return self
