"""The geometric mean of an implementation's ratios over the rows of a table.

A group's figure in a round is the geometric mean of its rows in that round. Groups are compared
like other samples, so the spread of the ratio contains what the rows of a round share.
"""

from __future__ import annotations

from collections.abc import Sequence

from tlsperf.analysis.ratios import as_ratio, prior_of_ratios, sample_ratio, session_logs
from tlsperf.analysis.series import MeasuredReport, Sample
from tlsperf.analysis.statistics import geometric_means
from tlsperf.contract.results import GroupMean


def group_means(report: MeasuredReport) -> list[GroupMean]:
    """The mean of each implementation against the baseline, for tables with at least two rows.

    The variances of sessions are moderated over all means of the report.
    """
    rules = report.series.rules
    groups = []
    for table in report.results.tables:
        baseline = table.baseline
        for implementation in table.implementations:
            if baseline is None or implementation == baseline:
                continue
            members = [
                row
                for _, row in report.rows(table)
                if row.counts_for(implementation) and row.counts_for(baseline)
            ]
            if len(members) > 1:
                ours, theirs = (
                    _mean([r.samples[i] for r in members]) for i in (implementation, baseline)
                )
                groups.append((table, implementation, baseline, members, ours, theirs))
    prior = prior_of_ratios(session_logs(ours, theirs, rules.pairs) for *_, ours, theirs in groups)
    return [
        GroupMean(
            table=table.anchor,
            title=table.title,
            implementation=implementation,
            baseline=baseline,
            rows=len(members),
            ratio=as_ratio(estimate, members[0].metric),
        )
        for table, implementation, baseline, members, ours, theirs in groups
        if (estimate := sample_ratio(ours, theirs, members[0], rules, prior)) is not None
    ]


def _mean(samples: Sequence[Sample]) -> Sample:
    """Geometric means of samples by round, for the rounds that all of them have."""
    common = [key for key in samples[0].valid if all(key in s.valid for s in samples)]
    mean = Sample(has_rounds=all(s.has_rounds for s in samples), statistic=samples[0].statistic)
    if common:
        values = geometric_means([[s.valid[key] for key in common] for s in samples])
        mean.valid.update(zip(common, values.tolist(), strict=True))
    return mean
