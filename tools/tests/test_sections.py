"""A report's sections depend only on its own runs, earlier runs and its predecessor."""

from __future__ import annotations

from typing import Any

from synthetic import SIXTEEN, implementation, loaded_run, report_of
from tlsperf.analysis.series import measured
from tlsperf.contract.run import Report
from tlsperf.report.sections import report_noise, sections

LINES = ["alternate rounds", "another layout"]
SUITE = {"name": "standard", "family": "main"}


def test_sections_of_the_second_of_three_reports() -> None:
    rounds = [1000 + i % 7 for i in range(30)]
    loaded = {
        id_: loaded_run(
            id_,
            {"openssl-3.6.3": dict.fromkeys(SIXTEEN, rounds)},
            [implementation("openssl-3.6.3", binary_sha256="a" * 64)],
            suite=SUITE,
        )
        for id_ in ("2026-01-01-first", "2026-02-01-second", "2026-03-01-third")
    }
    reports = [
        Report(id=id_, title=id_, date=run.run.date, runs=[id_]) for id_, run in loaded.items()
    ]
    runs = {id_: run.run for id_, run in loaded.items()}
    series = {id_: measured(run) for id_, run in loaded.items()}

    def of(report: Report) -> dict[str, Any]:
        noise = report_noise(report.runs, series.__getitem__)
        return dict(sections(report, reports, runs, noise, lambda id_: report_of(loaded[id_])))

    found, first = of(reports[1]), of(reports[0])
    assert [n.source for n in found["noise"]] == LINES
    assert found["changes"].predecessor == "2026-01-01-first"
    assert "All 16 rates are the same" in found["changes"].shift
    assert found["changes"].libraries == [], "one library alone"
    assert first["changes"] is None
    assert [n.source for n in first["noise"]] == LINES
