"""The pages of versions: what their front matter chooses, and what their template reads."""

from __future__ import annotations

from pydantic import Field

from tlsperf.contract.nightly import NightSteps
from tlsperf.contract.record import Day, Identifier, Model
from tlsperf.contract.results import ReportReference
from tlsperf.contract.run import LibraryId


class ChosenRow(Model):
    """A row of the report that the page shows, in words of its author."""

    row: Identifier = Field(description="its anchor in the report")
    name: str = Field(min_length=1, description="New connections, server")
    strip: bool = Field(True, description="drawn by release; false: only lists of changes name it")
    matrix: bool = Field(False, description="all pairs of versions are shown")


class ChosenVersions(Model):
    """`[extra.versions]` of `content/versions/<page>/index.md`."""

    library: LibraryId
    report: Identifier = Field(description="the part of a report that measured its versions")
    counts: Identifier | None = Field(
        None, description="the folder of data/nightly that counted its releases"
    )
    rows: list[ChosenRow] = Field(min_length=1)


class MatrixCell(Model):
    """From the version of a line to that of a column; `text` is empty if they are not a pair."""

    text: str = Field("", description="the ratio: 0.76×, or = if no difference is shown")
    colour: str | None = Field(None, description="better-1 to better-3, worse-1 to worse-3, same")
    detail: str | None = Field(None, description="the ratio with its interval, in words")


class MatrixVersion(Model):
    """A version with its label, the number alone."""

    id: Identifier
    label: str


class MatrixLine(MatrixVersion):
    """All pairs from one version."""

    cells: list[MatrixCell]


class VersionMatrix(Model):
    """All pairs of versions in one row of the report."""

    row: Identifier
    name: str
    seen: str = Field(description="from what size a difference would have shown; may be empty")
    columns: list[MatrixVersion]
    lines: list[MatrixLine]


class ChangedRow(Model):
    """A difference between two neighbouring versions that is shown."""

    name: str
    text: str = Field(description="the ratio: 1.87×")
    detail: str = Field(description="the ratio with its interval, in words")
    is_better: bool


class VersionChange(Model):
    """What one version changed, against the one before it that was measured."""

    label: str
    before: str
    older: Identifier
    newer: Identifier
    rows: list[ChangedRow] = Field(description="of the rows that the page names, the largest first")
    more: int = Field(description="other rows of the report with a difference")


class CountedReleases(Model):
    """The counts of releases."""

    releases: int
    first: str
    last: str
    processor: str
    counter: str
    rate: str = Field(description="share of releases with a false alarm, at most")
    strip: Identifier
    changes: list[NightSteps] = Field(description="the newest first")


class Versions(Model):
    """`content/versions/<page>/versions.json`."""

    library: LibraryId
    name: str
    report: ReportReference
    host: str
    date: Day = Field(description="when they were measured")
    first: str = Field(description="the oldest version, which ratios of the strip refer to")
    strip: Identifier = Field(description="the name of the drawing, without .svg")
    matrices: list[VersionMatrix]
    changes: list[VersionChange] = Field(description="the newest first")
    counted: CountedReleases | None = None
