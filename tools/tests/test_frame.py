"""The tidy frame accepts rows that the contract allows, and locates the others."""

from __future__ import annotations

from typing import Any

import pytest

from tlsperf.contract.errors import FormatError
from tlsperf.contract.record import Scenario
from tlsperf.load.frame import COLUMNS, concatenate, scenarios_of, tidy_frame


def columns(**changes: Any) -> dict[str, list[Any]]:
    """Two rounds of one handshake scenario, with columns replaced."""
    base: dict[str, list[Any]] = {
        "file": ["a.txt", "b.txt"],
        "line": [3, 7],
        "implementation": ["openssl-3.6.1"] * 2,
        "operation": ["handshake"] * 2,
        "protocol": ["1.3"] * 2,
        "side": ["client"] * 2,
        "threads": [1, 1],
        "round": [1, 2],
        "metric": ["rate"] * 2,
        "value": [4000.0, 4100.5],
        "unit": ["handshakes/s"] * 2,
    }
    return base | changes


def test_columns_left_out_are_missing_or_have_their_default() -> None:
    frame = tidy_frame(columns())
    assert tuple(frame.columns) == COLUMNS
    assert frame["cipher_suite"].isna().all()
    assert frame["size"].isna().all()
    assert list(frame["phase"]) == ["total", "total"]
    assert list(frame["statistic"]) == ["value", "value"]
    assert frame["valid"].all()
    assert list(frame["value"]) == [4000.0, 4100.5]
    assert str(frame["round"].dtype) == "Int64"


def test_an_empty_frame_keeps_its_columns() -> None:
    names = [*columns(), "valid", "note"]
    assert tuple(tidy_frame({name: [] for name in names}).columns) == COLUMNS


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"value": [1.0, -0.5]}, "b.txt:7: found value -0.5, expected a finite number"),
        ({"value": [float("nan"), 1.0]}, "a.txt:3: found value nan, expected a finite number"),
        ({"value": [1.0, float("inf")]}, "b.txt:7: found value inf"),
        ({"unit": ["handshakes/s", "MiB/s"]}, "b.txt:7: found unit MiB/s for the rate of a hand"),
        ({"unit": ["handshakes/s", "MB/s"]}, "b.txt:7: found unit 'MB/s', expected MiB/s, "),
        ({"metric": ["rate", "speed"]}, "b.txt:7: found metric 'speed', expected rate, "),
        ({"operation": ["handshake", None]}, "b.txt:7: found no operation, expected a value"),
        ({"implementation": ["a", "A B"]}, "b.txt:7: found implementation 'A B', expected an id"),
        ({"cipher_suite": ["TLS_X", "AES"]}, "b.txt:7: found cipher_suite 'AES', expected an IANA"),
        ({"variant": ["hello-retry", "<b>"]}, "b.txt:7: found variant '<b>', expected a word such"),
        ({"threads": [1, 0]}, "b.txt:7: found threads 0, expected an integer of at least 1"),
        ({"round": [1, 1]}, "b.txt:7: found a second observation of implementation openssl-3.6.1"),
        ({"valid": [True, False]}, "b.txt:7: found an invalid observation without a note"),
    ],
)
def test_a_wrong_row_is_named_by_file_and_line(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(FormatError) as caught:
        tidy_frame(columns(**changes))
    assert str(caught.value).startswith(message)


def test_a_repeated_observation_is_kept_when_it_is_marked_invalid() -> None:
    frame = tidy_frame(columns(round=[1, 1], valid=[True, False], note=[None, "printed twice"]))
    assert list(frame["valid"]) == [True, False]


def test_a_scenario_without_a_field_is_another_than_one_with_it() -> None:
    frame = tidy_frame(columns(certificate=[None, "rsa-2048"], round=[1, 1]))
    base = Scenario(operation="handshake", protocol="1.3", side="client", threads=1)
    numbers, scenarios = scenarios_of(frame)
    assert scenarios == [base, base.model_copy(update={"certificate": "rsa-2048"})]
    assert numbers == [0, 1]


def test_frames_of_different_categories_concatenate() -> None:
    one = tidy_frame(columns())
    two = tidy_frame(columns(implementation=["rustls-0.23.40"] * 2))
    both = concatenate([one, two])
    assert len(both) == 4
    assert set(both["implementation"].cat.categories) == {"openssl-3.6.1", "rustls-0.23.40"}
    assert {c: str(t) for c, t in both.dtypes.items()} == {c: str(t) for c, t in one.dtypes.items()}
