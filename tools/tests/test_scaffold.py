"""The page of a new report."""

from __future__ import annotations

from pathlib import Path

import pytest

from synthetic import SIXTEEN, loaded_run, report_of
from tlsperf.contract.run import Report
from tlsperf.load.page import read_page
from tlsperf.publish.prose import uncovered
from tlsperf.publish.scaffold import report_page


@pytest.mark.parametrize("libraries", [1, 2, 5])
def test_a_new_page_has_its_tables_and_nothing_that_a_claim_must_cover(
    tmp_path: Path, libraries: int
) -> None:
    names = ["openssl-1", "rustls-1", "boringssl-1", "gnutls-1", "wolfssl-1"][:libraries]
    rates = {name: {s: [1000.0 + r for r in range(8)] for s in SIXTEEN} for name in names}
    results = report_of(
        loaded_run("2026-01-01-new", rates), baseline=names[0] if libraries > 1 else None
    ).results
    new = Report(id=results.id, title="A report", date=results.date, runs=[results.id])
    path = tmp_path / new.id / "index.md"
    path.parent.mkdir()
    path.write_text(report_page([new], [results]), encoding="utf-8")
    page = read_page(path)
    assert uncovered(page) == []
    tables = [call.arguments["id"] for call in page.calls if call.name == "table"]
    assert tables == ["transfer", "full-handshakes", "resumed-handshakes"]
