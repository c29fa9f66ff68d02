"""Ratios between all implementations of a report, by the estimator of its tables."""

from __future__ import annotations

from dataclasses import replace

from tlsperf.analysis.series import MeasuredReport
from tlsperf.contract.record import Identifier
from tlsperf.contract.results import Comparisons, Ratio, ShortRatio
from tlsperf.report.pairs import prior_to, ratios_to
from tlsperf.report.tables import comparisons, grouped

Ratios = dict[tuple[Identifier, Identifier], dict[Identifier, dict[Identifier, Ratio]]]
"""By anchor of the table and of the row: by baseline: by implementation."""


def all_ratios(report: MeasuredReport) -> Ratios:
    """For each baseline, the ratios that results.json would have with that baseline.

    So intervals are corrected for the comparisons with one baseline, not with all.
    """
    groups = grouped(report.series.rows)
    found: Ratios = {}
    for baseline in (i.id for i in report.results.implementations):
        count = max(1, comparisons(groups.values(), baseline, report.series.rules))
        rules = replace(report.series.rules, comparisons=count)
        for table in report.results.tables:
            if table.by_phase or baseline not in table.implementations:
                continue
            rows = report.rows(table)
            prior = prior_to([series for _, series in rows], baseline, rules)
            for shown, row in rows:
                if ratios := ratios_to(row, baseline, rules, prior):
                    found.setdefault((table.anchor, shown.anchor), {})[baseline] = ratios
    return found


def all_comparisons(ratios: Ratios) -> Comparisons:
    """The ratios as comparisons.json has them."""
    return Comparisons(
        rows={
            f"{table} {row}": {
                baseline: {i: _short(ratio) for i, ratio in of.items()}
                for baseline, of in by_baseline.items()
            }
            for (table, row), by_baseline in ratios.items()
        }
    )


def _short(ratio: Ratio) -> ShortRatio:
    return ratio.value, ratio.verdict, ratio.text
