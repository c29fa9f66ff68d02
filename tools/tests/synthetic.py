"""Made-up runs and reports for tests, with rates that the test chooses."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from tlsperf.analysis.series import At, MeasuredReport, Sample, Series, measured
from tlsperf.analysis.sessions import DEFAULT_SPREADS, Spreads
from tlsperf.analysis.statistics import normal_quantile
from tlsperf.contract.claim import Claim
from tlsperf.contract.metrics import METRICS, Metric, Statistic, Unit
from tlsperf.contract.record import SCENARIO_FIELDS, Phase, Scenario
from tlsperf.contract.run import (
    FigureKind,
    HostFacts,
    Implementation,
    RawFile,
    Report,
    Run,
    RunCounter,
    Tool,
)
from tlsperf.load.check_rows import check_rows
from tlsperf.load.rows import ParsedRow
from tlsperf.load.run import LoadedRun
from tlsperf.report.results import measured_report

Rates = Mapping[str, Mapping[Scenario, Sequence[float] | float]]
"""Rates of each round, or a single figure, by implementation id and scenario."""

TRANSFERS = [
    Scenario(operation="transfer", protocol=protocol, cipher_suite=suite, side=side)
    for protocol, suite in (
        ("1.2", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"),
        ("1.3", "TLS_AES_256_GCM_SHA384"),
    )
    for side in ("sender", "receiver")
]
HANDSHAKES = [
    Scenario(
        operation="handshake",
        protocol=protocol,
        cipher_suite="TLS_AES_256_GCM_SHA384",
        certificate=certificate,
        resumption=resumption,
        side=side,
    )
    for resumption, certificates in (("none", ("rsa-2048", "ecdsa-p256")), ("ticket", (None,)))
    for protocol in ("1.2", "1.3")
    for certificate in certificates
    for side in ("client", "server")
]
SIXTEEN = [*TRANSFERS, *HANDSHAKES]
OF_SERVER = Scenario(
    operation="handshake",
    protocol="1.3",
    cipher_suite="TLS_AES_256_GCM_SHA384",
    key_exchange="X25519",
    certificate="rsa-2048",
    authentication="server",
    resumption="none",
    side="server",
    threads=1,
)
"""A handshake with every field that a source may record."""


RUN = "2026-11-21-a"


def series(
    of: Scenario,
    unit: Unit = "handshakes/s",
    metric: Metric = "rate",
    statistic: Statistic = "value",
    phase: Phase = "total",
    samples: Mapping[str, Sample] | None = None,
) -> Series:
    """The row of a table."""
    return Series(of, phase, metric, statistic, unit, dict(samples or {}))


def sample(*values: float, run: str = RUN, rounds_a_session: int = 1000, **more: Any) -> Sample:
    """One observation in each round."""
    at = (At(run, 1 + n // rounds_a_session, n + 1) for n in range(len(values)))
    return Sample(dict(zip(at, values, strict=True)), **more)


def single(value: float) -> Sample:
    """A figure without rounds."""
    return Sample({At(RUN, 1, None): value}, has_rounds=False)


def series_with(*samples: Sample, of: Scenario | None = None, **more: Any) -> Series:
    """The row of a handshake, or another, with these samples of OpenSSL 1, 2, …"""
    named = {f"openssl-{n}": s for n, s in enumerate(samples, 1)}
    return series(of or HANDSHAKES[0], samples=named, **more)


def implementation(id_: str, **more: Any) -> Implementation:
    """`openssl-3.5.1` is OpenSSL 3.5.1; text after another hyphen is the build."""
    library, version, *build = id_.split("-", 2)
    fields = {"id": id_, "library": library, "version": version, "build": "".join(build) or None}
    return Implementation.model_validate(fields | more)


def loaded_run(
    id_: str,
    rates: Rates,
    implementations: Sequence[Implementation] | None = None,
    format_: str = "tlsbench/1",
    **more: Any,
) -> LoadedRun:
    """A run with these rates: transfers in MiB/s, others in handshakes/s or operations/s."""
    rows: list[dict[str, Any]] = []
    for name, scenarios in rates.items():
        for scenario, rounds in scenarios.items():
            unit = "handshakes/s" if scenario.operation == "handshake" else "MiB/s"
            common = {"implementation": name, **scenario.model_dump(), "metric": "rate"}
            single = isinstance(rounds, float)
            for number, value in enumerate([rounds] if isinstance(rounds, float) else rounds, 1):
                in_round = None if single else number
                rows.append(common | {"round": in_round, "value": value, "unit": unit})
    return run_of_rows(
        id_, rows, list(implementations or [implementation(i) for i in rates]), format_, **more
    )


def run_of_rows(
    id_: str,
    rows: Sequence[Mapping[str, Any]],
    implementations: Sequence[Implementation],
    format_: str = "tlsbench/1",
    **more: Any,
) -> LoadedRun:
    """A run with these observations (`row`)."""
    fields = {
        "schema": 1,
        "id": id_,
        "date": date.fromisoformat(id_[:10]),
        "host_id": "a-host",
        "tool": Tool(name="tlsbench"),
        "implementations": list(implementations),
        "files": [RawFile(path="raw/a", sha256="0" * 64, bytes=0, format=format_)],
    }
    made = [row(**of) for of in rows]
    check_rows(made)
    return LoadedRun(Run.model_validate(fields | more), made)


def counted_run(
    id_: str,
    counts: Mapping[str, float],
    scenarios: Sequence[Scenario],
    rounds: int = 2,
    metric: str = "instructions",
    more_a_round: int = 1,
    **more: Any,
) -> LoadedRun:
    """A run of counts, which increase by a few in each round."""
    rows = [
        {
            "implementation": name,
            **scenario.model_dump(),
            "metric": metric,
            "unit": METRICS[metric].units_of(scenario.operation)[0],
            "round": number,
            "value": count + number * more_a_round,
        }
        for name, count in counts.items()
        for scenario in scenarios
        for number in range(1, rounds + 1)
    ]
    fields: dict[str, Any] = {
        "suite": {"name": metric, "family": metric},
        "counter": RunCounter(name="callgrind", version="3.19.0"),
    }
    return run_of_rows(id_, rows, [implementation(name) for name in counts], **fields | more)


def row(**fields: Any) -> ParsedRow:
    """An observation; the fields of its scenario stand beside its own."""
    scenario = {name: fields.pop(name) for name in SCENARIO_FIELDS if name in fields}
    place: dict[str, Any] = {"file": "synthetic", "line": 1, "round": None}
    return ParsedRow(**place | fields, scenario=Scenario.model_validate(scenario))


def rounds_of(values: Sequence[float], scenario: Scenario, **fields: Any) -> list[ParsedRow]:
    """One observation in each round."""
    of = scenario.model_dump() | fields
    return [row(**of, round=number, value=value) for number, value in enumerate(values, 1)]


def with_rows(run: LoadedRun, *more: Sequence[ParsedRow]) -> LoadedRun:
    """The run with more observations."""
    return replace(run, rows=[*run.rows, *(of for rows in more for of in rows)])


def with_each(run: LoadedRun, change: Callable[[ParsedRow], ParsedRow]) -> LoadedRun:
    """The run with each observation changed."""
    return replace(run, rows=[change(of) for of in run.rows])


def in_sessions(run: LoadedRun, rounds: int) -> LoadedRun:
    """The run with this number of rounds in each session."""
    return with_each(run, lambda of: of._replace(session=1 + ((of.round or 1) - 1) // rounds))


def report_of(
    run: LoadedRun,
    hosts: Sequence[HostFacts] = (),
    floor: float | None = None,
    claims: Sequence[Claim] = (),
    **report: Any,
) -> MeasuredReport:
    """The report of one run; `floor` is its noise floor, `claims` those of its page."""
    known = {h.id: h for h in hosts} | {
        h: HostFacts(id=h, cpu="A CPU", architecture="x86_64")
        for h in {run.run.host_id} - {h.id for h in hosts}
    }
    fields = {"id": run.run.id, "title": "A report", "date": run.run.date, "runs": [run.run.id]}
    return measured_report(
        Report.model_validate(fields | report), [measured(run)], known, floor or 1.0, claims
    )


def spreads(
    rates: Mapping[FigureKind, float] | None = None,
    ratios: Mapping[FigureKind, float] | None = None,
    **more: Any,
) -> Spreads:
    """Spreads between runs with these standard deviations (in logs) by kind; 0 for the others."""

    def percents(of: Mapping[FigureKind, float] | None) -> dict[FigureKind, float]:
        deviations = {**dict.fromkeys(DEFAULT_SPREADS.rates, 0.0), **(of or {})}
        reach = math.sqrt(2) * normal_quantile()
        return {kind: 100 * math.expm1(reach * sd) for kind, sd in deviations.items()}

    return Spreads(percents(rates), percents(ratios), **more)


NO_SPREAD = spreads()
