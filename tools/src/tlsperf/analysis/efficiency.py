"""Efficiency of bulk transfers, relative to the AEAD of the same library.

A sender seals and a receiver opens records of at most 16 KiB. So the ceiling is the rate at which
the library itself seals or opens 16 KiB (`aes-256-gcm-seal-16384`). The efficiency is the rate of
the transfer over the ceiling. Copying, framing and the calls themselves take the rest up to 100%.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from tlsperf.analysis.ceilings import primitive_of_transfer
from tlsperf.analysis.ratios import sample_ratio
from tlsperf.analysis.series import MeasuredReport, Sample, Series, rounded
from tlsperf.analysis.statistics import RatioEstimate
from tlsperf.contract.results import Efficiency, ShownImplementation
from tlsperf.contract.text import value_text

_PROVIDERS: Final = {"aws-lc-rs": "aws-lc"}
"""The library whose cryptography a provider of rustls uses, if that is a library of its own."""


def efficiency(report: MeasuredReport) -> list[Efficiency]:
    """The efficiency of each transfer whose primitive was measured, in the order of the tables.

    If only another version of the library has the primitive, it is used; the note says so.
    """
    results, series = report.results, report.series
    rows = {s.key: s for s in series.rows}
    primitives = {
        s.scenario.variant: s
        for s in series.rows
        if s.scenario.operation == "primitive" and (s.metric, s.unit) == ("rate", "MiB/s")
    }
    found = []
    for table in results.tables:
        for row in table.rows:
            key = (row.scenario, row.phase, row.metric, row.statistic, table.unit)
            name = _primitive(rows[key])
            ceilings = primitives.get(name)
            if name is None or ceilings is None:
                continue
            for implementation in results.implementations:
                transfer = rows[key].samples.get(implementation.id)
                source = _source(implementation, results.implementations, ceilings)
                if source is None or transfer is None:
                    continue
                ceiling = ceilings.samples[source.id]
                estimate = sample_ratio(
                    transfer, ceiling, rows[key], replace(series.rules, comparisons=1, floor=1.0)
                )
                if estimate is not None:
                    found.append(
                        _efficiency(
                            row.anchor,
                            row.name,
                            implementation,
                            name,
                            source,
                            (transfer, ceiling),
                            estimate,
                        )
                    )
    return found


def _primitive(transfer: Series) -> str | None:
    """The variant of a transfer's primitive; None if it is not a whole transfer on one thread."""
    s = transfer.scenario
    one_thread = s.threads in (None, 1)
    whole = (transfer.metric, transfer.phase, s.operation) == ("rate", "total", "transfer")
    return primitive_of_transfer(s) if whole and one_thread else None


def _source(
    of: ShownImplementation, among: Sequence[ShownImplementation], ceilings: Series
) -> ShownImplementation | None:
    """The implementation whose primitive is the ceiling; None if there is none or several.

    It is the implementation itself, or the only one of the library with its cryptography.
    """
    if of.id in ceilings.samples:
        return of
    library = _PROVIDERS.get(of.provider or "", of.library)
    others = [i for i in among if i.library == library and i.id in ceilings.samples]
    return others[0] if len(others) == 1 else None


def _efficiency(
    anchor: str,
    name: str,
    implementation: ShownImplementation,
    primitive: str,
    source: ShownImplementation,
    samples: tuple[Sample, Sample],
    estimate: RatioEstimate,
) -> Efficiency:
    percent = 100 * estimate.value
    low, high = (None if b is None else 100 * b for b in (estimate.low, estimate.high))
    notes = []
    if source.id != implementation.id:
        notes.append(f"primitive of {source.label}")
    if not estimate.paired:
        notes.append("primitive and transfer measured separately")
    if percent > 100:
        notes.append("above its ceiling, so the two were not measured in the same way")
    return Efficiency(
        anchor=anchor,
        name=name,
        implementation=implementation.id,
        primitive=primitive,
        primitive_of=source.id,
        rate=value_text(samples[0].figure, "MiB/s"),
        ceiling=value_text(samples[1].figure, "MiB/s"),
        percent=rounded(percent, 6),
        low=None if low is None else rounded(low, 6),
        high=None if high is None else rounded(high, 6),
        text=_text(percent, low, high),
        note="; ".join(notes) or None,
    )


def _text(percent: float, low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return f"{percent:.0f}%"
    return f"{percent:.1f}% ({low:.1f} to {high:.1f}%)"
