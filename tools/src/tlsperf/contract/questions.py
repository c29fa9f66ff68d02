"""Data of the scoreboard and of the pages that answer one question each."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from tlsperf.contract.record import Identifier, Model
from tlsperf.contract.results import ReportReference, RowReference


class SheetCell(Model):
    """A figure or a verdict, with a link to the row that it comes from."""

    text: str = Field(description="as readers see it; – if nothing was measured")
    href: str | None = Field(None, description="link to the row, relative to the site's root")
    mark: Literal["best", "tied"] | None = None
    detail: str | None = Field(
        None, description="its interval as readers see it, or the difference that would show"
    )
    quotes: Literal["figure", "ratio"] | None = Field(
        None, description="what it repeats of the row that it links to"
    )


class SheetRow(Model):
    """One line of a table."""

    label: str
    colour: Identifier | None = Field(None, description="class of a library's colour")
    cells: list[SheetCell]


class Sheet(Model):
    """A table whose cells are final texts."""

    id: Identifier
    caption: str
    corner: str = Field(description="head of the first column")
    host: str | None = Field(None, description="of all its figures, as readers see it")
    columns: list[str]
    rows: list[SheetRow]


class ScoreboardSource(Model):
    """A report that the scoreboard uses, with the columns that come from it."""

    report: ReportReference
    run: str
    host_id: Identifier
    columns: str


class Scoreboard(Model):
    """`data/scoreboard.json`: a factor to one baseline for each library and task."""

    baseline: str
    host: str
    host_id: Identifier
    board: Sheet
    sources: list[ScoreboardSource] = Field(min_length=1)
    withdrawn: list[str] = Field([], description="which libraries the reports do not show, and why")

    @model_validator(mode="after")
    def _one_host(self) -> Self:
        for source in self.sources:
            if source.host_id != self.host_id:
                raise ValueError(
                    f"the scoreboard is of {self.host_id}: found {source.columns} of run "
                    f"{source.run} on {source.host_id}, expected one host"
                )
        return self


class Question(Model):
    """`content/questions/<id>/question.json`: a page that answers one question."""

    id: Identifier
    title: str
    description: str
    answer: list[str] = Field(min_length=1, description="what holds on each host: a line for each")
    sheets: list[Sheet]
    meaning: list[str] = Field(description="what the figures mean")
    limits: list[str] = Field(description="what they do not mean")
    host: str
    reports: list[ReportReference]
    scenarios: list[RowReference] = Field([], description="of its rows those that have a page")


class ListedQuestion(Model):
    """An entry of `data/questions.json`: what the home page shows of a question."""

    id: Identifier
    title: str
    answer: str


class Upgrade(Model):
    """`content/upgrades/<before>-to-<after>/upgrade.json`: changes from one version to another."""

    id: Identifier
    library: str
    before: str
    after: str
    answer: str
    sheet: Sheet
    host: str
    report: ReportReference
