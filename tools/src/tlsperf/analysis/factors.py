"""Factors that a report's prose quotes: one figure over another, so that none is typed."""

from __future__ import annotations

from tlsperf.analysis.ratios import factor_text
from tlsperf.contract.errors import UserError
from tlsperf.contract.results import Factor, Results
from tlsperf.contract.run import FactorRequest, Report


def quoted_factors(report: Report, results: Results) -> list[Factor]:
    """The factors of `[[extra.report.factors]]`; UserError at one of a figure that is not there."""
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
            raise UserError(
                f"report {report.id}: factor {request.id!r}: {implementation} has no valid figure "
                f"in row {row!r}"
            )
        return found

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
