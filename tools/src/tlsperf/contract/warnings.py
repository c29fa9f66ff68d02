"""The codes of warnings; `data/schema/warnings.json` explains them."""

from __future__ import annotations

from typing import Final, Literal

WarningCode = Literal[
    "changed-host",
    "common-cause",
    "container",
    "disk-full",
    "disturbed-rounds-counted",
    "disturbed-rounds-excluded",
    "failed-blocks",
    "failed-build",
    "failed-check",
    "host",
    "imprecise",
    "incomparable",
    "incomplete",
    "interrupted",
    "invalid",
    "left-out",
    "mask-without-effect",
    "method",
    "missing-figure",
    "missing-scenario",
    "scenario",
    "stepped-clock",
    "too-few-rounds",
    "unreadable-sensor",
    "unstable",
    "virtual-machine",
    "withdrawn",
]

ABOUT_HOST: Final[frozenset[WarningCode]] = frozenset(
    {
        "container",
        "disk-full",
        "disturbed-rounds-excluded",
        "failed-check",
        "interrupted",
        "stepped-clock",
        "unreadable-sensor",
        "virtual-machine",
    }
)
"""These stand under System configuration, with the other facts of the host; all others at the top
of a report, before the figures.
"""
