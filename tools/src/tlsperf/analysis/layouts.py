"""The effect of a program's layout on its figures. Pure functions.

A run whose layouts have several sessions each, interleaved, shows two effects separately: how much
each layout differs from the linker's own order, and how much sessions of one layout differ from
each other (A/A). The n-th session of a layout is compared with the n-th of the own order. This
cancels drift of the host that is slower than one turn.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np

from tlsperf.analysis.series import Key, MeasuredRun, Sample, Series, key_of, rounded
from tlsperf.analysis.sessions import log_medians
from tlsperf.analysis.statistics import Floats, hodges_lehmann, normal_quantile
from tlsperf.contract.record import Identifier
from tlsperf.contract.results import LayoutEffect, Row, Table
from tlsperf.contract.text import span_text

FEWEST_SESSIONS: Final = 3
"""Fewer sessions of a layout than this show no A/A."""

_NORMAL: Final = 1.4826
"""Ratio of standard deviation to median absolute deviation of normally distributed values."""


def with_layouts(table: Table, runs: Iterable[MeasuredRun]) -> Table:
    """The table with the effects of layouts on its figures, if runs repeat layouts."""
    found = [
        effect
        for run in runs
        if (kind := _kind(run)) is not None
        for series in [{s.key: s for s in run.series}]
        for row in table.rows
        for cell in row.cells
        if cell.valid
        and cell.value is not None
        and (effect := _effect(run, kind, series, row, table, cell.implementation)) is not None
    ]
    return table.model_copy(update={"layouts": found}) if found and not table.by_phase else table


def _kind(run: MeasuredRun) -> str | None:
    """How the layouts of a run differ from the linker's own order; None without such layouts."""
    kinds = {layout.kind for layout in run.loaded.run.layouts if layout.number > 0}
    return kinds.pop() if len(kinds) == 1 else None


def _effect(
    run: MeasuredRun,
    kind: str,
    series: Mapping[Key, Series],
    row: Row,
    table: Table,
    implementation: Identifier,
) -> LayoutEffect | None:
    of_row = series.get(key_of(table, row))
    sample = of_row.samples.get(implementation) if of_row else None
    if sample is None or not sample.counts:
        return None
    logs = _sessions_by_layout(run, sample)
    if 0 not in logs or len(logs) < 2 or min(map(len, logs.values())) < FEWEST_SESSIONS:
        return None
    turns = min(map(len, logs.values()))
    own = np.array(logs[0][:turns])
    against = {at: np.array(of[:turns]) - own for at, of in logs.items() if at > 0}
    logs_of = {at: hodges_lehmann(of) for at, of in against.items()}
    effects = sorted(_percent(effect) for effect in logs_of.values())
    same = _percent(_noise([of - logs_of[at] for at, of in against.items()], turns))
    return LayoutEffect(
        anchor=row.anchor,
        name=row.name,
        implementation=implementation,
        kind=kind,
        percents=effects,
        same_percent=same,
        beyond=sum(abs(effect) > same for effect in effects),
        text=span_text(effects),
        same_text=f"{same:.1f}%",
    )


def _noise(left: Sequence[Floats], turns: int) -> float:
    """The bound for 95% of the effects of equal layouts, from the residuals of single turns.

    It uses the median absolute deviation, so that a disturbed session does not widen it.
    """
    deviation = _NORMAL * float(np.median(np.abs(np.concatenate(left))))
    return normal_quantile() * deviation * math.sqrt(turns / (turns - 1)) / math.sqrt(turns)


def _sessions_by_layout(run: MeasuredRun, sample: Sample) -> Mapping[int, Sequence[float]]:
    """The logarithm of each session's median, by the number of its layout."""
    layouts = {session.number: session.layout for session in run.loaded.run.sessions}
    found: defaultdict[int, list[float]] = defaultdict(list)
    logs = log_medians(sample.sessions.values())
    for (_, number), log in zip(sample.sessions, logs, strict=True):
        found[layouts.get(number, 0)].append(float(log))
    return found


def _percent(log: float) -> float:
    return rounded(100 * float(np.expm1(log)), 3)
