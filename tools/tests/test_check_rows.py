"""Rows of raw files are what the contract allows, or located; notebooks get them as a frame."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tlsperf
from project import write_run
from synthetic import row
from tlsperf.contract.errors import FormatError
from tlsperf.contract.record import SCENARIO_FIELDS
from tlsperf.load.check_rows import check_rows
from tlsperf.load.rows import ParsedRow
from tlsperf.load.run import load_run


def rows(**changes: Any) -> list[ParsedRow]:
    """Two rounds of one scenario, the second with changes."""
    of = {
        "implementation": "openssl-3.6.1",
        "operation": "handshake",
        "side": "client",
        "metric": "rate",
        "value": 4000.0,
        "unit": "handshakes/s",
    }
    first, second = {"file": "a.txt", "line": 3, "round": 1}, {"file": "b.txt", "line": 7}
    return [row(**of | first), row(**of | {"round": 2} | second | changes)]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"value": -0.5}, "value -0.5, expected a finite number"),
        ({"value": float("nan")}, "value nan, expected a finite number"),
        ({"value": float("inf")}, "value inf"),
        ({"value": 0.001}, "0.001 handshakes/s, expected a rate of 0.01 to 1e+12"),
        ({"value": 2e12}, "2e+12 handshakes/s, expected a rate of 0.01 to 1e+12"),
        ({"value": float("nan"), "note": "why"}, "value nan, expected a finite number"),
        ({"unit": "MiB/s"}, "unit MiB/s for the rate of a handshake, expected handshakes/s or "),
        ({"unit": "MB/s", "note": "why"}, "unit 'MB/s', expected MiB/s, "),
        ({"operation": "set-up"}, "unit handshakes/s for the rate of a set-up, expected another "),
        ({"metric": "speed"}, "metric 'speed', expected rate, "),
        ({"statistic": "p42"}, "statistic 'p42', expected value, "),
        ({"implementation": "A B"}, "implementation 'A B', expected an id"),
        ({"key_exchange": "x25519"}, "key_exchange 'x25519', expected X25519, X448, "),
        ({"certificate": "rsa"}, "certificate 'rsa', expected rsa-2048, "),
        ({"cipher_suite": "AES"}, "cipher_suite 'AES', expected an IANA"),
        ({"variant": "<b>"}, "variant '<b>', expected a word such"),
        (
            {"round": 1},
            "a second observation, after a.txt:3, of implementation openssl-3.6.1, operation "
            "handshake, side client, phase total, round 1, metric rate, statistic value, expected ",
        ),
    ],
)
def test_a_wrong_row_is_named_by_file_and_line(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(FormatError) as caught:
        check_rows(rows(**changes))
    assert str(caught.value).startswith(f"b.txt:7: found {message}")


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"value": 0.01},
        {"value": 1e12},
        {"value": 0.0, "note": "why"},
        {"unit": "MiB/s", "note": "printed as MiB/s"},
        *({"round": 1, name: value} for name, value in (("phase", "data"), ("statistic", "p50"))),
        {"round": 1, "certificate": "rsa-2048"},
        {"round": 1, "implementation": "rustls-0.23.40"},
        {"round": 1, "note": "printed twice"},
    ],
)
def test_other_rows_are_accepted(changes: dict[str, Any]) -> None:
    check_rows(rows(**changes))


def test_a_unit_that_an_invalid_row_may_have_is_refused_in_a_valid_one() -> None:
    both = [rows(unit="MiB/s", note="printed as MiB/s")[1], rows(unit="MiB/s", round=3)[1]]
    with pytest.raises(FormatError, match="found unit MiB/s for the rate of a handshake"):
        check_rows(both)


def test_notebooks_get_a_tidy_frame_of_a_run(tmp_path: Path) -> None:
    folder = write_run(tmp_path)
    frame, read = tlsperf.frame(folder), load_run(folder).rows
    assert [*frame.columns] == [
        *("implementation", *SCENARIO_FIELDS, "phase", "session", "round"),
        *("metric", "statistic", "value", "unit", "valid", "note"),
    ]
    for name in (
        *("implementation", "phase", "session", "round"),
        *("metric", "value", "unit", "valid"),
    ):
        assert list(frame[name]) == [getattr(of, name) for of in read], name
    assert list(frame["certificate"].dropna()) == [
        of.scenario.certificate for of in read if of.scenario.certificate
    ]
    assert {name: str(frame[name].dtype) for name in ("round", "size", "metric", "note")} == {
        "round": "Int64",
        "size": "Int64",
        "metric": "category",
        "note": "category",
    }
