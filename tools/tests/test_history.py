"""The committed runs of the history have exactly the figures that were published."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest

from tlsperf.analysis.series import measured
from tlsperf.contract.names import scenario_name
from tlsperf.load.run import LoadedRun, load_run

RUNS = Path(__file__).parents[2] / "data" / "runs"
SIXTEEN = ("2024-10-18-x86-64", "2024-10-31-arm64", "2025-07-31-x86-64", "2026-03-07-x86-64")
FIGURES = {
    "2018-01-07-bulk": 12,
    "2019-07-02-resumption": 12,
    "2023-12-13-configurations": 2 * 30 * 20 + 6 * 30 * 22 + 16 + 54,
    "2024-10-18-x86-64": 48,
    "2024-10-31-arm64": 48 + 2 + 6,
    "2024-11-28-threads-latency": 18 * 17 + 64,
    "2024-12-17-post-quantum": 21 + 3,
    "2024-12-17-post-quantum-arm64": 3,
    "2025-07-31-x86-64": 48,
    "2026-03-07-x86-64": 48,
}


@pytest.fixture(scope="module")
def history() -> dict[str, LoadedRun]:
    return {name: load_run(RUNS / name) for name in FIGURES}


def test_every_run_has_its_figures(history: dict[str, LoadedRun]) -> None:
    assert {name: len(run.frame) for name, run in history.items()} == FIGURES
    for name, run in history.items():
        assert run.run.source is not None, name
        assert run.run.source.url.startswith("https://"), name
        assert run.run.host is not None, name


@pytest.mark.parametrize("name", SIXTEEN)
def test_each_figure_of_a_report_is_there_as_printed(
    history: dict[str, LoadedRun], name: str
) -> None:
    (file,) = [file for file in history[name].run.files if file.format == "published"]
    with (RUNS / name / file.path).open(encoding="utf-8") as text:
        printed = Counter(float(line["value"]) for line in csv.DictReader(text))
    frame = history[name].frame
    assert Counter(frame.loc[frame["operation"] != "primitive", "value"]) == printed


def test_the_sixteen_scenarios_have_the_same_names_in_all_four(
    history: dict[str, LoadedRun],
) -> None:
    names = [
        {
            scenario_name(row.scenario)
            for row in measured(history[name]).series
            if row.scenario.operation != "primitive"
        }
        for name in SIXTEEN
    ]
    assert all(found == names[0] for found in names)
    assert len(names[0]) == 16
    for name in SIXTEEN:
        suite = history[name].run.suite
        assert suite is not None
        assert suite.family == "main"


@pytest.mark.parametrize(
    ("run", "implementation", "scenario", "statistic", "value", "unit"),
    [
        (
            "2018-01-07-bulk",
            "rustls-128fb80-ring",
            "TLS 1.2 transfer, CHACHA20-POLY1305, sending",
            *("value", 1672.15, "MiB/s"),
        ),
        (
            "2019-07-02-resumption",
            "openssl-fdbb3a86",
            "TLS 1.3 resumed handshake, ticket, server",
            *("value", 5154.0, "handshakes/s"),
        ),
        (
            "2024-10-31-arm64",
            "aws-lc-not-told",
            "primitive, aes-256-gcm-seal-16384",
            *("value", 2267.1e6 / 2**20, "MiB/s"),
        ),
        (
            "2024-10-31-arm64",
            "openssl-3.3.2",
            "primitive, aes-256-gcm-seal-16384",
            *("value", 2374123.52e3 / 2**20, "MiB/s"),
        ),
        (
            "2024-11-28-threads-latency",
            "rustls-0.23.17-aws-lc-rs",
            "TLS 1.3 resumed handshake, ticket, 2 threads, server",
            *("value", 7937.7, "handshakes/s/thread"),
        ),
        (
            "2024-11-28-threads-latency",
            "openssl-3.0.14",
            "TLS 1.3 full handshake, RSA-2048, 80 threads, server",
            *("p99", 10980.0, "µs"),
        ),
        (
            "2024-12-17-post-quantum",
            "rustls-main-2024-12-x86-64",
            "TLS 1.3 client hello, X25519MLKEM768+X25519-shared, client",
            *("value", 69.36, "µs"),
        ),
        (
            "2024-12-17-post-quantum-arm64",
            "rustls-main-2024-12-aarch64",
            "TLS 1.3 client hello, X25519, client",
            *("value", 20.82, "µs"),
        ),
    ],
)
def test_a_figure_is_where_it_belongs(
    history: dict[str, LoadedRun],
    run: str,
    implementation: str,
    scenario: str,
    statistic: str,
    value: float,
    unit: str,
) -> None:
    rows = [
        row
        for row in measured(history[run]).series
        if (scenario_name(row.scenario), row.statistic, row.unit) == (scenario, statistic, unit)
        and implementation in row.samples
    ]
    (row,) = rows
    (found,) = row.samples[implementation].valid.values()
    assert found == pytest.approx(value, rel=1e-12)
