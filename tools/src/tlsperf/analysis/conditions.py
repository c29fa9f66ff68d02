"""Finds differences of host, method, scenario and build between two reports. Pure functions.

Ratios across such a difference are shown without a verdict.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from tlsperf.analysis.diff import NOT_RECORDED, RowPair
from tlsperf.contract.results import Results
from tlsperf.contract.run import HostFacts, Implementation, RunWarning
from tlsperf.contract.warnings import WarningCode

_HOST_FACTS: Final = (
    "machine",
    "cpu",
    "cpu_model",
    "features",
    "cores",
    "threads",
    "memory_bytes",
    "os",
    "kernel",
    "virtualization",
    "container",
    "microcode",
    "smt",
    "governor",
    "turbo",
    "frequency_min_mhz",
    "frequency_max_mhz",
    "isolated_cpus",
    "transparent_hugepages",
    "mitigations",
)


def changed_conditions(before: Results, after: Results) -> list[RunWarning]:
    """Changes of host and method: facts that both reports record with different values, and a
    machine that only one of them records.
    """
    found: list[tuple[WarningCode, str]] = []
    then, now = _by_id(before.hosts), _by_id(after.hosts)
    if not then.keys() & now.keys():
        found.append(("host", f"{', '.join(then)} before, {', '.join(now)} now"))
    for host in then.keys() & now.keys():
        found += [
            ("host", f"{host}, {fact.replace('_', ' ')}: {_text(a)} before, {_text(b)} now")
            for fact in _HOST_FACTS
            if (a := getattr(then[host], fact)) != (b := getattr(now[host], fact)) and a and b
        ]
        if (then[host].machine is None) is not (now[host].machine is None):
            found.append(("host", f"{host}: only one of the reports records which machine it was"))
    methods: dict[str, Callable[[Results], set[str | None]]] = {
        "tool": lambda r: {f"{run.tool.name} {run.tool.version or ''}".strip() for run in r.runs},
        "tool commit": lambda r: {run.tool.commit and run.tool.commit[:8] for run in r.runs},
        "suite": lambda r: {run.suite for run in r.runs},
        "allocator": lambda r: {run.allocator for run in r.runs},
        "estimator": lambda r: {run.source.estimator if run.source else None for run in r.runs},
    }
    for what, of in methods.items():
        a, b = of(before) - {None}, of(after) - {None}
        if a and b and a != b:
            found.append(("method", f"{what}: {_joined(a)} before, {_joined(b)} now"))
    return [RunWarning(code=code, message=f"The {code} changed. {m}.") for code, m in found]


def _by_id(hosts: Sequence[HostFacts]) -> dict[str, HostFacts]:
    return {host.id: host for host in hosts}


def _text(fact: object) -> str:
    return ", ".join(fact) if isinstance(fact, list) else str(fact)


def _joined(values: set[str | None]) -> str:
    return " and ".join(sorted(v for v in values if v))


def changed_scenarios(pairs: Iterable[RowPair]) -> list[RunWarning]:
    """A warning for each difference of scenarios, with the number of rows that have it."""
    return [
        RunWarning(
            code="scenario",
            message=f"The scenario {'may differ' if NOT_RECORDED in field else 'changed'} in "
            f"{n} rows: {field.name} {field.other} before, {field.own} now.",
        )
        for field, n in Counter(field for pair in pairs for field in pair.fields).items()
    ]


_BUILD_FACTS: Final = (
    "provider",
    "provider_version",
    "rust_compiler",
    "c_compiler",
    "configure",
    "flags",
    "allocator",
    "linkage",
)


def is_unchanged(then: Implementation, now: Implementation) -> bool:
    """Whether two builds are the same library in the same version, built alike."""
    return then.id == now.id and not changed_build(then, now)


def is_same_program(then: Implementation, now: Implementation) -> bool:
    return then.binary_sha256 is not None and then.binary_sha256 == now.binary_sha256


def changed_build(then: Implementation, now: Implementation) -> list[str]:
    return [
        f"{fact.replace('_', ' ')}: {a} before, {b} now"
        for fact in _BUILD_FACTS
        if (a := getattr(then, fact)) != (b := getattr(now, fact)) and a and b
    ]
