"""The geometric mean of an implementation's ratios over the rows of a table.

A group's figure in a round is the geometric mean of its rows in that round. Groups are compared
like other samples, so the spread of the ratio contains what the rows of a round share.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tlsperf.analysis.ratios import as_ratio, prior_of_ratios, sample_ratio, session_logs
from tlsperf.analysis.series import Key, MeasuredReport, Sample, Series
from tlsperf.analysis.statistics import geometric_means
from tlsperf.contract.results import GroupMean, Table


def group_means(report: MeasuredReport) -> list[GroupMean]:
    """The mean of each implementation against the baseline, for tables with at least two rows.

    The variances of sessions are moderated over all means of the report.
    """
    rows = {row.key: row for row in report.series.rows}
    rules = report.series.rules
    groups = []
    for table in report.results.tables:
        for implementation in table.implementations:
            baseline = table.baseline
            if baseline is None or implementation == baseline:
                continue
            members = _members(table, rows, implementation, baseline)
            if len(members) > 1:
                ours, theirs = (
                    _mean([r.samples[i] for r in members]) for i in (implementation, baseline)
                )
                groups.append((table, baseline, implementation, members, ours, theirs))
    prior = prior_of_ratios(session_logs(group[4], group[5], rules.pairs) for group in groups)
    found = []
    for table, baseline, implementation, members, ours, theirs in groups:
        estimate = sample_ratio(ours, theirs, members[0], rules, prior)
        if estimate is not None:
            found.append(
                GroupMean(
                    table=table.anchor,
                    title=table.title,
                    implementation=implementation,
                    baseline=baseline,
                    rows=len(members),
                    ratio=as_ratio(estimate, members[0].metric),
                )
            )
    return found


def _members(table: Table, rows: Mapping[Key, Series], *implementations: str) -> list[Series]:
    """The rows of a table that count for all these implementations."""
    keyed = [rows[r.scenario, r.phase, r.metric, r.statistic, table.unit] for r in table.rows]
    return [
        row
        for row in keyed
        if all(i in row.samples and row.samples[i].counts for i in implementations)
    ]


def _mean(samples: Sequence[Sample]) -> Sample:
    """Geometric means of samples by round, for the rounds that all of them have."""
    common = [key for key in samples[0].valid if all(key in s.valid for s in samples)]
    mean = Sample(has_rounds=all(s.has_rounds for s in samples), statistic=samples[0].statistic)
    if common:
        values = geometric_means([[s.valid[key] for key in common] for s in samples])
        mean.valid.update(zip(common, values.tolist(), strict=True))
    return mean
