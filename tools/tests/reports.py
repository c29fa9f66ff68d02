"""The reports of a site, each read once."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

from tlsperf.contract.results import Results
from tlsperf.load.page import Page, read_page
from tlsperf.load.results import read_results
from tlsperf.publish.build import downloads_folder


class Report(NamedTuple):
    """A part of a report: its page, the results that it shows, and where its downloads are.

    Tests must not change them.
    """

    page: Page
    results: Results
    folder: Path


@cache
def reports(root: Path) -> tuple[Report, ...]:
    """All parts of all reports of a site."""
    pages = sorted((root / "content" / "perf").glob("*/index.md"))
    assert pages
    return tuple(
        Report(page, read_results(folder / "results.json"), folder)
        for page in map(read_page, pages)
        for part in page.reports
        for folder in [downloads_folder(page, part)]
    )


def report(root: Path, id_: str) -> Report:
    """The part with an id."""
    return next(it for it in reports(root) if it.results.id == id_)
