"""Ratios between all implementations of a report: Explore shows those to the reader's baseline."""

from __future__ import annotations

from dataclasses import replace

from tlsperf.analysis.series import MeasuredReport
from tlsperf.contract.results import Comparisons, Ratio, ShortRatio
from tlsperf.report.pairs import prior_to, ratios_to
from tlsperf.report.tables import comparisons, grouped


def all_comparisons(report: MeasuredReport) -> Comparisons:
    """For each baseline, the ratios that results.json would have with that baseline.

    So intervals are corrected for the comparisons with one baseline, not with all.
    """
    groups = grouped(report.series.rows)
    found: dict[str, dict[str, dict[str, ShortRatio]]] = {}
    for baseline in (i.id for i in report.results.implementations):
        count = max(1, comparisons(groups.values(), baseline, report.series.rules))
        rules = replace(report.series.rules, comparisons=count)
        for table in report.results.tables:
            if table.by_phase or baseline not in table.implementations:
                continue
            rows = report.rows(table)
            prior = prior_to([series for _, series in rows], baseline, rules)
            for shown, row in rows:
                ratios = ratios_to(row, baseline, rules, prior)
                if ratios:
                    of_row = found.setdefault(f"{table.anchor} {shown.anchor}", {})
                    of_row[baseline] = {i: _short(ratio) for i, ratio in ratios.items()}
    return Comparisons(rows=found)


def _short(ratio: Ratio) -> ShortRatio:
    return ratio.value, ratio.verdict, ratio.text
