"""The codes of warnings; `data/schema/warnings.json` explains them."""

from __future__ import annotations

from collections.abc import Mapping
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

Weight = Literal["figures", "host"]
"""Where a report shows a warning: at its top, before the figures, or under System configuration
with the other facts of the host.
"""

WEIGHTS: Final[Mapping[WarningCode, Weight]] = {
    "changed-host": "figures",
    "common-cause": "figures",
    "container": "host",
    "disk-full": "host",
    "disturbed-rounds-counted": "figures",
    "disturbed-rounds-excluded": "host",
    "failed-blocks": "figures",
    "failed-build": "figures",
    "failed-check": "host",
    "host": "figures",
    "imprecise": "figures",
    "incomparable": "figures",
    "incomplete": "figures",
    "interrupted": "host",
    "invalid": "figures",
    "method": "figures",
    "missing-figure": "figures",
    "missing-scenario": "figures",
    "scenario": "figures",
    "stepped-clock": "host",
    "too-few-rounds": "figures",
    "unreadable-sensor": "host",
    "unstable": "figures",
    "virtual-machine": "host",
    "withdrawn": "figures",
}
