"""Factors that a report's prose quotes: computed, so that no factor is typed by hand."""

from __future__ import annotations

from collections.abc import Sequence

from tlsperf.analysis.ratios import factor_text
from tlsperf.analysis.series import hosts_of
from tlsperf.contract.errors import UserError, alternatives
from tlsperf.contract.results import Factor, Results
from tlsperf.contract.run import FactorRequest, Report, Run


def quoted_factors(report: Report, results: Results, runs: Sequence[Run]) -> list[Factor]:
    """The factors of `[[extra.report.factors]]`.

    Raises UserError if a figure does not exist, or if the figures are of two hosts and the report
    does not compare hosts.
    """
    of_run = hosts_of(runs)
    hosts = {i.id: of_run[run.id] for run in runs for i in run.implementations}
    values = {
        (row.anchor, cell.implementation): cell.value
        for table in results.tables
        for row in table.rows
        for cell in row.cells
        if cell.valid
    }

    def value(request: FactorRequest, row: str, implementation: str) -> float:
        found = values.get((row, implementation))
        if not found:
            rows = dict.fromkeys(anchor for anchor, _ in values)
            expected = alternatives(row, rows) if row not in rows else "one that has"
            raise UserError(
                f"report {report.id}: factor {request.id!r}: {implementation} has no valid figure "
                f"in row {row!r}: expected {expected}"
            )
        return found

    for request in report.factors:
        pair = [request.implementation, request.over_implementation or request.implementation]
        on = [hosts.get(implementation) for implementation in pair]
        if on[0] != on[1] and not report.across_hosts:
            raise UserError(
                f"report {report.id}: factor {request.id!r}: {pair[0]} was measured on {on[0]} and "
                f"{pair[1]} on {on[1]}: expected figures of one host, or across_hosts = true"
            )
    return [
        Factor(
            id=request.id,
            row=request.row,
            text=factor_text(
                value(request, request.row, request.implementation)
                / value(
                    request,
                    request.over_row or request.row,
                    request.over_implementation or request.implementation,
                )
            ),
        )
        for request in report.factors
    ]
