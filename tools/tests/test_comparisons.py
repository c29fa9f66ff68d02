"""Comparisons of all implementations with each other, which Explore shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tlsperf.contract.results import Comparisons
from tlsperf.load.page import read_page
from tlsperf.publish.assemble import Assembled, assembler

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def assembled() -> Assembled:
    """The main report of the newest day, assembled again."""
    pages = [read_page(p) for p in sorted((ROOT / "content" / "perf").glob("*/index.md"))]
    [page] = [p for p in pages if p.report.id == "2026-11-21-standard-vm"]
    return assembler(ROOT, [p.report for p in pages], {page.report.id: page.calls})(page.report)


def test_to_the_baseline_of_the_report_they_are_those_of_its_tables(assembled: Assembled) -> None:
    found = 0
    for table in assembled.results.tables:
        for row in table.rows:
            for cell in row.cells:
                if cell.ratio and not table.by_phase:
                    found += 1
                    of_row = assembled.comparisons.rows[f"{table.anchor} {row.anchor}"]
                    assert table.baseline is not None
                    assert of_row[table.baseline][cell.implementation] == (
                        *(cell.ratio.value, cell.ratio.verdict, cell.ratio.text),
                    )
    assert found == 32


def test_each_pair_has_both_directions_with_inverse_verdicts(assembled: Assembled) -> None:
    inverse = {"faster": "slower", "slower": "faster"}
    for name, of_row in assembled.comparisons.rows.items():
        for baseline, ratios in of_row.items():
            for other, (value, verdict, _) in ratios.items():
                back, its_verdict, _ = of_row[other][baseline]
                assert value * back == pytest.approx(1, rel=0.002), name
                assert its_verdict == inverse.get(verdict, verdict), name


def test_the_committed_files_have_every_row_that_a_page_shows() -> None:
    for path in sorted((ROOT / "content" / "perf").glob("*/comparisons.json")):
        comparisons = Comparisons.model_validate_json(path.read_text(encoding="utf-8"))
        assert all(len(name.split()) == 2 for name in comparisons.rows), path
