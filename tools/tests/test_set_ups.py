"""Rows of a report on set-ups that measure one thing in two ways agree with each other."""

from __future__ import annotations

from pathlib import Path

from tlsperf.contract.results import Results

ROOT = Path(__file__).parents[2]
CLIENT = "set-up-1-3-ecdsa-p256-x25519-{}-duration"
FACTOR = 2.0
"""The two ways differ by less than this in every library."""


def figures(results: Results, variant: str) -> dict[str, float]:
    anchor = CLIENT.format(variant)
    rows = [row for table in results.tables for row in table.rows if row.anchor == anchor]
    return {cell.implementation: cell.value for row in rows for cell in row.cells if cell.value}


def disagreeing(report: str) -> list[str]:
    """The libraries whose client with one anchor takes another time than a client's context with
    Mozilla's anchors without the time to load these anchors.
    """
    path = ROOT / "content" / "perf" / report / "results.json"
    results = Results.model_validate_json(path.read_bytes())
    one, client, anchors = (
        figures(results, variant)
        for variant in ("client-slope", "client-mozilla", "anchors-mozilla")
    )
    compared = sorted(one.keys() & client.keys() & anchors.keys())
    assert len(compared) > 10
    rest = {library: client[library] - anchors[library] for library in compared}
    return [i for i in compared if not rest[i] / FACTOR < one[i] < rest[i] * FACTOR]


def test_a_client_with_one_anchor_takes_the_time_of_the_work_without_anchors() -> None:
    assert disagreeing("2026-11-26-set-up-xeon-vm") == []


def test_the_comparison_finds_what_the_first_report_had_wrong() -> None:
    assert "aws-lc-5.12.0" in disagreeing("2026-11-23-set-up-vm")
    assert "openssl-1.1.1w" in disagreeing("2026-11-23-set-up-vm")
