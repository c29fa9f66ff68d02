"""The codes of warnings, which `data/schema/warnings.json` explains."""

from __future__ import annotations

from typing import Literal

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
    "incomplete",
    "interrupted",
    "invalid",
    "method",
    "missing-figure",
    "missing-scenario",
    "scenario",
    "too-few-rounds",
    "unreadable-sensor",
    "unstable",
    "virtual-machine",
]
