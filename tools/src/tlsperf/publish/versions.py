"""The pages about versions of a library: what each release changed, by time and by counts.

A person writes `content/versions/<page>/index.md`, whose `[extra.versions]` names a library, the report
that measured its versions, and the rows to draw. `tlsperf render` writes beside it versions.json, which
the template reads, and the drawings of strips. Each ratio is one that the report's estimator computes.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from tlsperf.analysis.ratios import shown_from
from tlsperf.contract.errors import FormatError, alternatives, mismatch
from tlsperf.contract.libraries import NAMES
from tlsperf.contract.nightly import NightSteps
from tlsperf.contract.record import Identifier
from tlsperf.contract.results import Ratio, ReportReference, ShownImplementation
from tlsperf.contract.run import Report
from tlsperf.contract.text import hosts_text, short_version
from tlsperf.contract.versions import (
    ChangedRow,
    ChosenRow,
    ChosenVersions,
    CountedReleases,
    MatrixCell,
    MatrixLine,
    MatrixVersion,
    VersionChange,
    VersionMatrix,
    Versions,
)
from tlsperf.load.damage import readable
from tlsperf.load.nights import Nights, night_folders, read_nights
from tlsperf.load.page import Document, Page, read_document, version_pages
from tlsperf.load.spreads import SPREADS
from tlsperf.publish.assemble import Assembled
from tlsperf.publish.checked import digest
from tlsperf.publish.nightly import nightly, strip_of
from tlsperf.report.charts.strip import Strip, StripPoint, StripSeries, strip_files

FILE: Final = "versions.json"
FEWEST: Final = 2
COUNTED: Final = "-instructions"
"""The anchor of a counted row ends so, and is else that of the row of rates."""
_UNSHOWN: Final = {"counted": {"changes": {"__all__": {"id", "time", "answer", "issue"}}}}
STEPS: Final = {
    0.625: "worse-3",
    0.8: "worse-2",
    1.0: "worse-1",
    1.25: "better-1",
    1.6: "better-2",
    math.inf: "better-3",
}
"""The colour of a ratio below each factor; 0.8 and 1.25 are one difference."""


@dataclass(frozen=True)
class VersionsPage:
    """A page of versions, and what its front matter chooses."""

    document: Document
    chosen: ChosenVersions

    @property
    def folder(self) -> Path:
        return self.document.path.parent

    @property
    def id(self) -> str:
        """The name of its digest."""
        return f"versions/{self.folder.name}"

    def unknown(self, name: str, known: Sequence[str], what: str) -> FormatError:
        """The error for a name in its front matter that is not known."""
        file, line = str(self.document.path), self.document.line_of(f'"{name}"')
        return FormatError(file, line, f"the {what} {name!r}", alternatives(name, known))


def read_versions(root: Path) -> list[VersionsPage]:
    """The pages of versions that can be read."""
    return list(readable(_read, version_pages(root)))


def _read(path: Path) -> VersionsPage:
    document = read_document(path)
    extra = document.head.get("extra")
    table = extra.get("versions") if isinstance(extra, dict) else None
    if not isinstance(table, dict):
        expected = "one with library, report and rows"
        raise FormatError(str(path), None, "no [extra.versions]", expected)
    try:
        return VersionsPage(document, ChosenVersions.model_validate(table))
    except ValidationError as error:
        raise mismatch(error, str(path), model=ChosenVersions) from None


def version_outputs(
    root: Path,
    page: VersionsPage,
    reports: Mapping[Identifier, tuple[Page, Report]],
    assemble: Callable[[Report], Assembled],
) -> dict[Path, bytes | None]:
    """The files of a page of versions, and the older ones to remove.

    `reports` are the parts of reports with their pages, by the ids of the parts. Raises FormatError
    for a report, a folder of counts or a row that is not there.
    """
    chosen = page.chosen
    if chosen.report not in reports:
        raise page.unknown(chosen.report, list(reports), "report")
    of, part = reports[chosen.report]
    reference = ReportReference(id=of.id, title=part.title, date=part.date)
    made = _files(page, assemble(part), reference, _nights(root, page))
    found: dict[Path, bytes | None] = {
        it: None for it in page.folder.glob("*.svg") if it.name not in made
    }
    return found | {page.folder / name: text.encode() for name, text in made.items()}


def version_digests(
    root: Path, versions: Sequence[VersionsPage], pages: Sequence[Page]
) -> dict[str, str]:
    """A digest of each page of versions: what it is made from, and what was made."""
    data = root / "data"
    runs = {part.id: part.runs for page in pages for part in page.reports}

    def inputs(page: VersionsPage) -> list[Path]:
        counted = data / "nightly" / (page.chosen.counts or "-")
        return [
            *page.folder.iterdir(),
            *(data / "runs" / run / "run.toml" for run in runs.get(page.chosen.report, ())),
            *(path for pattern in ("*/run.toml", "*.toml") for path in counted.glob(pattern)),
            *data.glob("hosts/*.toml"),
            data / "notes.toml",
            root / SPREADS,
        ]

    return {page.id: digest(root, inputs(page)) for page in versions}


def _nights(root: Path, page: VersionsPage) -> Nights | None:
    if page.chosen.counts is None:
        return None
    folders = {folder.name: folder for folder in night_folders(root)}
    if page.chosen.counts not in folders:
        raise page.unknown(page.chosen.counts, list(folders), "folder of counts")
    return read_nights(folders[page.chosen.counts])


# --- from results to the page --------------------------------------------------------------------


class _Pairs:
    """The versions of a library in one report, oldest first, and the ratios between them."""

    def __init__(self, library: str, assembled: Assembled) -> None:
        results = assembled.results
        self.versions = [it for it in results.implementations if it.library == library]
        tables = [table for table in results.tables if not table.by_phase]
        self.rows = [row.anchor for table in tables for row in table.rows]
        self._of = {
            (row, baseline): ratios
            for (_, row), by_baseline in assembled.ratios().items()
            for baseline, ratios in by_baseline.items()
        }

    def ratio(self, row: Identifier, older: Identifier, newer: Identifier) -> Ratio | None:
        """The newer version to the older one, above 1 if it is better; None if there is none."""
        return self._of.get((row, older), {}).get(newer)

    def measured(self, row: Identifier) -> list[ShownImplementation]:
        """The versions that have a ratio in a row."""
        found = {end for of, i in self._of if of == row for end in (i, *self._of[of, i])}
        return [it for it in self.versions if it.id in found]

    def changed(self, row: Identifier, at: int) -> Ratio | None:
        """The difference of a version from the one before it, if it is shown."""
        ratio = self.ratio(row, self.versions[at - 1].id, self.versions[at].id) if at else None
        return ratio if ratio and _is_shown(ratio) else None


def _files(
    of: VersionsPage, assembled: Assembled, reference: ReportReference, nights: Nights | None
) -> dict[str, str]:
    chosen = of.chosen
    pairs = _Pairs(chosen.library, assembled)
    if len(pairs.versions) < FEWEST:
        found = f"{len(pairs.versions)} of {chosen.library} in {chosen.report}"
        raise FormatError(str(of.document.path), None, found, "two versions of it or more")
    for row in chosen.rows:
        if row.row not in pairs.rows:
            raise of.unknown(row.row, pairs.rows, "row")
    name = NAMES[chosen.library]
    strips = [_strip(chosen, pairs, f"{name} over its releases, by time")]
    counted = None
    if nights is not None:
        counted, drawn = _counted(of, nights)
        strips.append(drawn)
    page = Versions(
        library=chosen.library,
        name=name,
        report=reference,
        host=hosts_text(assembled.results.hosts),
        date=max(run.date for run in assembled.results.runs),
        first=_version(pairs.versions[0]),
        strip=strips[0].anchor,
        matrices=[_matrix(row, pairs) for row in chosen.rows if row.matrix],
        changes=[_change(chosen.rows, pairs, at) for at in range(len(pairs.versions) - 1, 0, -1)],
        counted=counted,
    )
    table = page.model_dump(mode="json", exclude_defaults=True, exclude=_UNSHOWN)
    files = {FILE: json.dumps(table, indent=1, ensure_ascii=False) + "\n"}
    for strip in strips:
        files |= strip_files(strip)
    return files


def _is_shown(ratio: Ratio) -> bool:
    return ratio.verdict in ("faster", "slower")


def _version(shown: ShownImplementation) -> str:
    """The version as columns and axes name it: 3.6.3."""
    return short_version(shown).split(" ")[-1]


def _times(ratio: Ratio) -> str:
    return f"{ratio.value:.2f}×"


def _detail(ratio: Ratio) -> str:
    """The ratio with its interval; of no difference, the size that would have shown."""
    if not _is_shown(ratio) or ratio.low is None or ratio.high is None:
        return ratio.text
    return f"{_times(ratio)} ({ratio.low:.2f} to {ratio.high:.2f})"


def _strip(chosen: ChosenVersions, pairs: _Pairs, title: str) -> Strip:
    first, *others = pairs.versions
    series = []
    for row in (row for row in chosen.rows if row.strip):
        found = ((at, pairs.ratio(row.row, first.id, it.id)) for at, it in enumerate(others, 1))
        points = [StripPoint(at, it.value, it.low, it.high) for at, it in found if it]
        steps = [at for at in range(len(pairs.versions)) if pairs.changed(row.row, at)]
        if points:
            start = [StripPoint(0, 1.0), *points]
            series.append(StripSeries(row.name, first.colour, start, steps))
    labels = [_version(it) for it in pairs.versions]
    anchor = f"{chosen.library}-by-time"
    return Strip(anchor, title, labels, series, labels[0])


def _matrix(row: ChosenRow, pairs: _Pairs) -> VersionMatrix:
    ratios: list[Ratio] = []

    def cell(older: ShownImplementation, newer: ShownImplementation) -> MatrixCell:
        ratio = pairs.ratio(row.row, older.id, newer.id)
        if ratio is None:
            return MatrixCell()
        ratios.append(ratio)
        colour = next(name for below, name in STEPS.items() if ratio.value < below)
        return MatrixCell(
            text=f"{ratio.value:.2f}" if _is_shown(ratio) else "=",
            colour=colour if _is_shown(ratio) else "same",
            detail=_detail(ratio),
        )

    versions = pairs.measured(row.row)
    lines = [
        MatrixLine(
            id=older.id,
            label=_version(older),
            cells=[MatrixCell()] * at + [cell(older, newer) for newer in versions[at + 1 :]],
        )
        for at, older in enumerate(versions[:-1])
    ]
    return VersionMatrix(
        row=row.row,
        name=row.name,
        seen=shown_from(ratio.text for ratio in ratios if not _is_shown(ratio)),
        columns=[MatrixVersion(id=it.id, label=_version(it)) for it in versions[1:]],
        lines=lines,
    )


def _change(chosen: Sequence[ChosenRow], pairs: _Pairs, at: int) -> VersionChange:
    before, after = pairs.versions[at - 1], pairs.versions[at]
    changed = {row: ratio for row in pairs.rows if (ratio := pairs.changed(row, at))}
    named = [(row.name, changed[row.row]) for row in chosen if row.row in changed]
    named.sort(key=lambda of: -abs(math.log(of[1].value)))
    return VersionChange(
        label=_version(after),
        before=_version(before),
        older=before.id,
        newer=after.id,
        rows=[
            ChangedRow(
                name=name,
                text=_times(ratio),
                detail=_detail(ratio),
                is_better=ratio.verdict == "faster",
            )
            for name, ratio in named
        ],
        more=len(changed) - len(named),
    )


# --- from counts to the page ---------------------------------------------------------------------


def _counted(of: VersionsPage, nights: Nights) -> tuple[CountedReleases, Strip]:
    chosen = of.chosen
    pages = {page.library: page for page in nightly(nights)}
    if chosen.library not in pages:
        raise of.unknown(chosen.library, list(pages), "library of the counts")
    page = pages[chosen.library]
    names = {f"{row.row}{COUNTED}": row.name for row in chosen.rows}
    drawn = {f"{row.row}{COUNTED}": row.name for row in chosen.rows if row.strip}
    strip = strip_of(page, f"{chosen.library}-by-counts", drawn)
    if not strip.series:
        counted = [scenario.anchor.removesuffix(COUNTED) for scenario in page.scenarios]
        raise of.unknown(chosen.rows[0].row, counted, "row of the counts")
    return (
        CountedReleases(
            releases=len(page.nights),
            first=page.nights[0].label,
            last=page.nights[-1].label,
            processor=page.host.cpu,
            counter=page.counter,
            rate=page.rate,
            strip=strip.anchor,
            changes=[_renamed(change, names) for change in page.changes],
        ),
        strip,
    )


def _renamed(change: NightSteps, names: Mapping[Identifier, str]) -> NightSteps:
    """The steps with the names that the page gives to their rows."""
    steps = [
        step.model_copy(update={"name": names.get(step.anchor, step.name)}) for step in change.steps
    ]
    return change.model_copy(update={"steps": steps})
