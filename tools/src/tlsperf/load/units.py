"""Units in which other tools print times and rates."""

from __future__ import annotations

import re
from typing import Final

from tlsperf.contract.metrics import LEAST_RATE, MOST_RATE

MICROSECONDS: Final = {"ps": 1e-6, "ns": 1e-3, "us": 1.0, "µs": 1.0, "μs": 1.0, "ms": 1e3, "s": 1e6}
"""The length of each unit of time in µs; both signs for micro are in use."""
_TIME: Final = re.compile(rf"({'|'.join(MICROSECONDS)})(?:/iter|/op)?")
_RATES: Final = {
    **dict.fromkeys(("ops/s", "ops/sec", "iter/sec"), ("operations/s", 1.0)),
    **{"ops/ms": ("operations/s", 1e3), "ops/us": ("operations/s", 1e6)},
    **{"KiB/s": ("MiB/s", 1 / 1024), "MiB/s": ("MiB/s", 1.0), "GiB/s": ("MiB/s", 1024.0)},
}
"""MB/s is missing: some tools print 10^6 bytes so, others a MiB."""


def duration_or_rate(value: float, unit: str) -> tuple[str, float, str] | None:
    """Metric, value and unit of a primitive's figure; None for an unknown unit and for a figure that
    is no possible duration or rate.
    """
    if (time := _TIME.fullmatch(unit)) and value > 0:
        return "duration", value * MICROSECONDS[time[1]], "µs"
    ours, factor = _RATES.get(unit, ("", 0.0))
    if ours and LEAST_RATE <= value * factor <= MOST_RATE:
        return "rate", value * factor, ours
    return None
