"""Our own raw format: written records are read, errors are located, and nothing crashes."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tlsperf.contract.errors import FormatError
from tlsperf.contract.record import CERTIFICATES, Scenario
from tlsperf.contract.variant import parse_variant
from tlsperf.load.tlsbench import Gap, parse

EXAMPLE = Path(__file__).parents[2] / "data/schema/record.example.jsonl"

TRANSFER = {"operation": "transfer", "protocol": "1.3", "side": "sender", "size": 1048576}
SCENARIO = Scenario.model_validate(TRANSFER)


def measurement(value: float = 6000.0, **changes: Any) -> dict[str, Any]:
    record = {
        "schema": 1,
        "kind": "measurement",
        "time": "2026-11-21T08:00:01Z",
        "round": 1,
        "implementation": "openssl-3.6.1",
        "scenario": TRANSFER,
        "observations": [{"metric": "rate", "value": value, "unit": "MiB/s"}],
        "operations": 10,
        "elapsed_seconds": 0.5,
    }
    return record | changes


def block(**changes: Any) -> dict[str, Any]:
    record = {
        "schema": 1,
        "kind": "block",
        "time": "2026-11-21T08:00:02Z",
        "round": 1,
        "block": 0,
        "implementation": "openssl-3.6.1",
        "status": "measured",
        "elapsed_seconds": 1.0,
    }
    return record | changes


def lines(*records: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(r).encode() + b"\n" for r in records)


def test_the_example_of_the_contract_is_read() -> None:
    records = parse(EXAMPLE.read_bytes(), "records.jsonl")
    rows = records.rows
    assert [row.value for row in rows] == [6012.25, 4000.0, 6.5, 60.0, 183.5, 2000.0, 6050.5]
    assert records.overheads[0].clock_nanoseconds == 27.5
    assert [row.valid for row in rows] == [*[False] * 6, True]
    assert rows[0].note == "round 1 was disturbed: steal time 3.2% is above 1%"
    assert rows[5].note == "an example of an observation that must not count"


def test_what_one_implementation_cannot_do_is_a_gap_with_its_reason() -> None:
    ring = "rustls-0.23-ring"
    records = parse(
        lines(
            block(implementation=ring, status="absent", reason="ring has no X25519MLKEM768"),
            measurement(),
            block(),
        ),
        "records.jsonl",
    )
    assert records.gaps == [Gap(ring, SCENARIO, "ring has no X25519MLKEM768")]
    assert len(records.rows) == 1


def test_a_block_that_failed_in_one_round_only_is_no_gap() -> None:
    failed = block(round=2, status="failed", reason="wrong suite")
    assert parse(lines(measurement(), block(), failed), "records.jsonl").gaps == []


def test_a_block_that_always_failed_is_a_gap() -> None:
    failed = block(implementation="other-1", status="failed", reason="wrong suite")
    records = parse(lines(measurement(), block(), failed), "records.jsonl")
    assert records.gaps == [Gap("other-1", SCENARIO, "failed: wrong suite")]


def test_measurements_of_a_failed_block_do_not_count() -> None:
    failed = block(status="failed", reason="wrong byte")
    [row] = parse(lines(measurement(session=2), failed), "records.jsonl").rows
    assert (row.note, row.session) == ("the block is marked failed: wrong byte", 2)


HANDSHAKES = {"operation": "handshake", "protocol": "1.3", "threads": 3}


def test_both_sides_together_also_give_the_rate_of_the_median_thread() -> None:
    rate = [{"metric": "rate", "value": 60.0, "unit": "handshakes/s"}]
    together = measurement(scenario=HANDSHAKES, observations=rate, per_thread=[10.0, 20.0, 30.0])
    alone = measurement(scenario=HANDSHAKES | {"threads": 1}, observations=rate)
    side = measurement(
        scenario=HANDSHAKES | {"side": "client"}, observations=rate, per_thread=[1.0, 2.0, 3.0]
    )
    rows = parse(lines(together, alone, side, block()), "records.jsonl").rows
    assert [(row.unit, row.statistic, row.value) for row in rows] == [
        *(("handshakes/s", "value", 60.0), ("handshakes/s/thread", "p50", 20.0)),
        *(("handshakes/s", "value", 60.0), ("handshakes/s/thread", "p50", 60.0)),
        ("handshakes/s", "value", 60.0),
    ]


def test_only_valid_histograms_are_returned() -> None:
    disturbed = {
        "schema": 1,
        "kind": "round",
        "time": "2026-11-21T08:00:03Z",
        "round": 1,
        "elapsed_seconds": 1.0,
        "disturbed": True,
        "reasons": ["hot"],
    }
    data = lines(
        measurement(histogram="one"),
        block(),
        disturbed,
        measurement(histogram="two", round=2),
        block(round=2),
        measurement(round=3),
        block(round=3),
        measurement(round=4, histogram="three", valid=False, note="wrong suite"),
        block(round=4),
        measurement(round=5, histogram="four"),
        block(round=5, status="failed", reason="wrong byte"),
    )
    [found] = parse(data, "records.jsonl").histograms
    assert (found.line, found.implementation, found.scenario, found.text) == (
        4,
        "openssl-3.6.1",
        SCENARIO,
        "two",
    )


NAN = lines(measurement()).replace(b"6000.0", b"NaN")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "records.jsonl: found an empty file, expected one record a line"),
        (lines(measurement(), block())[:-9], "records.jsonl:2: found a line cut off after"),
        (lines(measurement())[:-1], "records.jsonl:1: found a line cut off after"),
        (lines(measurement(schema=2)), "records.jsonl:1: found measurement.schema 2, expected 1"),
        (
            lines({k: v for k, v in measurement().items() if k != "schema"}),
            "records.jsonl:1: found no schema number, expected schema 1",
        ),
        (
            lines(measurement(-1.0)),
            "records.jsonl:1: found measurement.observations.0.value -1.0, expected gr",
        ),
        (
            NAN,
            "records.jsonl:1: found measurement.observations.0.value nan, expected a finite number",
        ),
        (
            lines(
                measurement(observations=[{"metric": "rate", "value": 1.0, "unit": "MB/s"}]),
            ),
            "records.jsonl:1: found measurement.observations.0.unit 'MB/s', expected 'MiB/s', ",
        ),
        (
            lines(
                measurement(observations=[{"metric": "rate", "value": 1.0, "unit": "bytes"}]),
                block(),
            ),
            "records.jsonl:1: found unit bytes for the rate of a transfer, expected MiB/s",
        ),
        (
            lines(measurement(), block(), measurement(), block(block=1)),
            "records.jsonl:3: found openssl-3.6.1 in round 1 measured as in line 1, expected each",
        ),
        (
            lines(measurement(), block(), block()),
            "records.jsonl:3: found the block marked in line 2 again, expected one mark a block",
        ),
        (
            lines(measurement(), block(round=2)),
            "records.jsonl:1: found openssl-3.6.1 of round 1 in a block of openssl-3.6.1 of rou",
        ),
        (
            lines(measurement(), block(), measurement(round=2)),
            "records.jsonl:3: found a measurement that no block mark follows",
        ),
        (
            lines(measurement(colour="red")),
            "records.jsonl:1: found the unknown key measurement.colour, expected no such key",
        ),
        (lines(measurement(kind="speed")), "records.jsonl:1: found"),
        (lines(measurement(), block()) + b"\n", "records.jsonl:3: found Invalid JSON"),
        (b"\x7fELF\x02\x01\x01\x00\n", "records.jsonl:1: found Invalid JSON"),
        (b"\xff\xfe{\x00}\x00\n", "records.jsonl:1: found Invalid JSON"),
    ],
)
def test_errors_name_file_and_line(data: bytes, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        parse(data, "records.jsonl")
    assert str(caught.value).startswith(message)


LINES = EXAMPLE.read_text(encoding="utf-8").splitlines()
CHANGES = json.loads((EXAMPLE.parent / "record-changes.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("change", "accepted"),
    [(change, name == "accepted") for name, changes in CHANGES.items() for change in changes],
)
def test_a_line_is_accepted_as_tlsbench_accepts_it(change: dict[str, Any], accepted: bool) -> None:
    """`tlsbench` reads the same changed lines in bench/harness/src/record.rs."""
    line = LINES[change["line"] - 1]
    for old, new in change["changes"]:
        assert old in line
        line = line.replace(old, new, 1)
    marked = [line, LINES[8]] if '"measurement"' in line else [line]
    try:
        parse("".join(f"{it}\n" for it in marked).encode(), "records.jsonl")
    except FormatError:
        assert not accepted
    else:
        assert accepted


def is_variant(text: str) -> bool:
    try:
        parse_variant(text)
    except ValueError:
        return False
    return True


scenarios = st.builds(
    Scenario,
    operation=st.just("handshake"),
    protocol=st.sampled_from([None, "1.2", "1.3"]),
    cipher_suite=st.sampled_from([None, "TLS_AES_128_GCM_SHA256"]),
    key_exchange=st.sampled_from([None, "X25519"]),
    certificate=st.sampled_from([None, *CERTIFICATES]),
    authentication=st.sampled_from([None, "server", "mutual"]),
    resumption=st.sampled_from([None, "none", "ticket"]),
    side=st.sampled_from(["client", "server"]),
    threads=st.none() | st.integers(1, 4096),
    size=st.none(),
    record_size=st.none(),
    variant=st.none()
    | st.from_regex(r"[A-Za-z0-9][A-Za-z0-9.+_-]{0,7}", fullmatch=True).filter(is_variant),
)
rates = st.floats(min_value=0.01, max_value=1e12, allow_nan=False)


@given(
    st.dictionaries(
        st.tuples(st.sampled_from(["a-1", "b-2"]), st.integers(1, 5), scenarios), rates, max_size=8
    )
)
def test_written_records_are_read(figures: dict[tuple[str, int, Scenario], float]) -> None:
    records = []
    for number, ((implementation, in_round, scenario), value) in enumerate(figures.items()):
        where: dict[str, Any] = {"implementation": implementation, "round": in_round}
        observation = {"metric": "rate", "value": value, "unit": "handshakes/s"}
        fields = scenario.model_dump(exclude_none=True)
        records.append(measurement(scenario=fields, observations=[observation], **where))
        records.append(block(block=number, **where))
    if not records:
        return
    rows = parse(lines(*records), "records.jsonl").rows
    assert {(row.implementation, row.round, row.scenario): row.value for row in rows} == figures


VALID = lines(measurement(), block(), measurement(round=2), block(round=2))


@given(st.integers(0, len(VALID) - 1), st.binary(max_size=4), st.integers(0, 4))
def test_a_damaged_file_is_read_or_rejected_but_never_crashes(
    place: int, replacement: bytes, cut: int
) -> None:
    damaged = VALID[:place] + replacement + VALID[place + cut :]
    with contextlib.suppress(FormatError):
        assert all(row.value >= 0 for row in parse(damaged, "records.jsonl").rows)


@given(st.binary(max_size=200))
def test_any_bytes_are_rejected(data: bytes) -> None:
    with pytest.raises(FormatError):
        parse(data, "records.jsonl")
