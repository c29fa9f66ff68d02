"""Efficiency of bulk transfers, relative to the AEAD of the same library.

A sender seals and a receiver opens records of at most 16 KiB. So the ceiling is the rate at which
the library itself seals or opens 16 KiB (`aes-256-gcm-seal-16384`). The efficiency is the rate of
the transfer over the ceiling. Copying, framing and the calls themselves take the rest up to 100%.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from tlsperf.analysis.ceilings import ABOVE, primitive_of_transfer
from tlsperf.analysis.ratios import sample_ratio
from tlsperf.analysis.series import MeasuredReport, Series, rounded
from tlsperf.contract.results import Efficiency, Row, ShownImplementation
from tlsperf.contract.text import value_text

_PROVIDERS: Final = {"aws-lc-rs": "aws-lc"}
"""The library whose cryptography a provider of rustls uses, if that is a library of its own."""


def efficiency(report: MeasuredReport) -> list[Efficiency]:
    """The efficiency of each transfer whose primitive was measured, in the order of the tables.

    If only another version of the library has the primitive, it is used; the note says so.
    """
    primitives = {
        s.scenario.variant: s
        for s in report.series.rows
        if s.scenario.operation == "primitive" and (s.metric, s.unit) == ("rate", "MiB/s")
    }
    return [
        found
        for table in report.results.tables
        for row, transfer in report.rows(table)
        if (name := _primitive(transfer)) in primitives
        for found in _of_row(report, row, transfer, primitives[name])
    ]


def _primitive(transfer: Series) -> str | None:
    """The variant of a transfer's primitive; None if it is not a whole transfer on one thread."""
    s = transfer.scenario
    one_thread = s.threads in (None, 1)
    whole = (transfer.metric, transfer.phase, s.operation) == ("rate", "total", "transfer")
    return primitive_of_transfer(s) if whole and one_thread else None


def _of_row(
    report: MeasuredReport, row: Row, transfer: Series, primitive: Series
) -> Iterator[Efficiency]:
    """The efficiency of each implementation in one row."""
    rules = replace(report.series.rules, comparisons=1, floor=1.0)
    shown = report.results.implementations
    for implementation in shown:
        rate = transfer.samples.get(implementation.id)
        source = _source(implementation, shown, primitive)
        if rate is None or source is None:
            continue
        ceiling = primitive.samples[source.id]
        ratio = sample_ratio(rate, ceiling, transfer, rules)
        if ratio is None:
            continue
        ends = [None if end is None else 100 * end for end in (ratio.low, ratio.high)]
        percent, low, high = 100 * ratio.value, *ends
        notes = {
            f"primitive of {source.label}": source.id != implementation.id,
            "primitive and transfer measured separately": not ratio.paired,
            ABOVE: percent > 100,
        }
        yield Efficiency(
            anchor=row.anchor,
            name=row.name,
            implementation=implementation.id,
            primitive=primitive.scenario.variant or "",
            primitive_of=source.id,
            rate=value_text(rate.figure, "MiB/s"),
            ceiling=value_text(ceiling.figure, "MiB/s"),
            percent=rounded(percent, 6),
            low=None if low is None else rounded(low, 6),
            high=None if high is None else rounded(high, 6),
            text=_text(percent, low, high),
            note="; ".join(note for note, holds in notes.items() if holds) or None,
        )


def _source(
    of: ShownImplementation, among: Sequence[ShownImplementation], primitive: Series
) -> ShownImplementation | None:
    """The implementation whose primitive is the ceiling; None if there is none or several.

    It is the implementation itself, or the only one of the library with its cryptography.
    """
    if of.id in primitive.samples:
        return of
    library = _PROVIDERS.get(of.provider or "", of.library)
    others = [i for i in among if i.library == library and i.id in primitive.samples]
    return others[0] if len(others) == 1 else None


def _text(percent: float, low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return f"{percent:.0f}%"
    return f"{percent:.1f}% ({low:.1f} to {high:.1f}%)"
