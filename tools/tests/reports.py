"""The reports of a site, each read once."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

from tlsperf.contract.results import Results
from tlsperf.load.page import Page, read_page
from tlsperf.load.results import read_results


class Report(NamedTuple):
    """The page of a report and the results that it shows. Tests must not change them."""

    page: Page
    results: Results


@cache
def reports(root: Path) -> tuple[Report, ...]:
    """All reports of a site."""
    pages = sorted((root / "content" / "perf").glob("*/index.md"))
    assert pages
    return tuple(
        Report(read_page(page), read_results(page.with_name("results.json"))) for page in pages
    )


def report(root: Path, id_: str) -> Report:
    """The report with an id."""
    return next(it for it in reports(root) if it.results.id == id_)
