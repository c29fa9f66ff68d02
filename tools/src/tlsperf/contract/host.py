"""Whether two hosts are of one processor model, and whether they are one host in one state.

The hash of the machine's id never decides alone that they are one: it is the hash of the image
that the machine was made from, and two hosts of one name may have different processors.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tlsperf.contract.run import HostFacts

_MODEL: Final = ("cpu", "architecture", "threads", "virtual", "virtualization")
_STATE: Final = ("cores", "kernel", "mitigations", "microcode")


def one_model(a: HostFacts, b: HostFacts) -> bool:
    """Whether two hosts have the same processor model, as many threads of it and the same
    hypervisor, as far as both record them.
    """
    return not _differ(a, b, _MODEL) and _agree(a.cpu_model, b.cpu_model)


def one_state(a: HostFacts, b: HostFacts) -> bool:
    """Whether two hosts are one in one state, as far as both record it.

    If only one of them records the machine, it may be another machine.
    """
    return one_model(a, b) and a.machine == b.machine and not _differ(a, b, _STATE)


def _differ(a: HostFacts, b: HostFacts, facts: tuple[str, ...]) -> bool:
    pairs = ((getattr(a, fact), getattr(b, fact)) for fact in facts)
    return any(x != y for x, y in pairs if x not in (None, {}) and y not in (None, {}))


def _agree(a: str | None, b: str | None) -> bool:
    """Whether `family 6, model 94 (Skylake)` and `family 6, model 94, stepping 3` agree."""
    ours, theirs = _parts(a), _parts(b)
    return all(ours[name] == theirs[name] for name in ours.keys() & theirs.keys())


def _parts(cpu_model: str | None) -> Mapping[str, str]:
    parts = (part.partition(" (")[0].rpartition(" ") for part in (cpu_model or "").split(", "))
    return {name: value for name, _, value in parts}
