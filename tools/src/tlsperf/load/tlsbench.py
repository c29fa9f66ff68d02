"""Our own raw format `tlsbench/1`: JSON Lines as `tlsbench` appends them.

data/schema/record.schema.json is the grammar of a line. The records of a block come before its mark
(`kind: block`), and the state of a round (`kind: round`) after its blocks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from tlsperf.contract.errors import FormatError, mismatch
from tlsperf.contract.record import (
    SCHEMA_VERSION,
    Block,
    Identifier,
    Measurement,
    Observation,
    Overhead,
    Record,
    RoundState,
    Scenario,
)
from tlsperf.load.check_rows import check_rows
from tlsperf.load.rows import ParsedRow

FORMAT: Final = "tlsbench/1"

_RECORD: Final[TypeAdapter[Measurement | Block | Overhead | RoundState]] = TypeAdapter(Record)


@dataclass(frozen=True)
class Gap:
    """A scenario (with both sides if it has two) without figures of an implementation, and the
    reason.
    """

    implementation: str
    scenario: Scenario
    reason: str


@dataclass(frozen=True)
class EncodedHistogram:
    """The times of single handshakes in one round, encoded as in the record in `line`."""

    line: int
    implementation: str
    scenario: Scenario
    text: str


@dataclass(frozen=True)
class Records:
    """The content of a file. Rows of failed blocks and disturbed rounds are invalid; `histograms`
    has only those that count.
    """

    rows: list[ParsedRow]
    gaps: list[Gap]
    rounds: list[RoundState]
    overheads: list[Overhead]
    histograms: list[EncodedHistogram]


def parse(data: bytes, file: str) -> Records:
    """Reads the bytes of a `records.jsonl`; `file` is its name in errors.

    Raises FormatError at the first line that is not a whole record of schema 1, repeats a
    measurement, belongs to another block, or was cut off when the run stopped.
    """
    if not data:
        raise FormatError(file, None, "an empty file", "one record a line")
    rows: list[ParsedRow] = []
    histograms: list[tuple[int, EncodedHistogram]] = []  # with the round
    blocks: list[Block] = []
    rounds: dict[int, RoundState] = {}
    overheads: list[Overhead] = []
    scenarios: defaultdict[int, dict[Scenario, None]] = defaultdict(dict)  # block -> scenarios
    first_lines: dict[tuple[str, int, Scenario], int] = {}
    marks: dict[tuple[str, int, int], int] = {}
    open_block: list[tuple[int, Measurement]] = []

    for number, record in _records(data, file):
        if isinstance(record, Measurement):
            key = (record.implementation, record.round, record.scenario)
            if key in first_lines:
                raise FormatError(
                    file,
                    number,
                    f"{record.implementation} in round {record.round} measured as in line "
                    f"{first_lines[key]}",
                    "each measurement once",
                )
            first_lines[key] = number
            open_block.append((number, record))
        elif isinstance(record, Block):
            mark = (record.implementation, record.round, record.block)
            if mark in marks:
                raise FormatError(
                    file,
                    number,
                    f"the block marked in line {marks[mark]} again",
                    "one mark a block",
                )
            marks[mark] = number
            for line, m in open_block:
                if (m.implementation, m.round) != mark[:2]:
                    raise FormatError(
                        file,
                        line,
                        f"{m.implementation} of round {m.round} in a block of "
                        f"{record.implementation} of round {record.round}",
                        "records of one block before its mark",
                    )
                scenarios[record.block][m.scenario] = None
                note = _note(m, record)
                rows += _rows(line, m, note, file)
                if m.histogram is not None and note is None:
                    of = EncodedHistogram(line, m.implementation, m.scenario, m.histogram)
                    histograms.append((m.round, of))
            open_block = []
            blocks.append(record)
        elif isinstance(record, RoundState):
            rounds[record.round] = record
        else:
            overheads.append(record)
    if open_block:
        raise FormatError(
            file,
            open_block[0][0],
            "a measurement that no block mark follows (the run was interrupted)",
            "a whole block; resume the run, which cuts off what was in flight",
        )
    disturbed = {
        state.round: f"round {state.round} was disturbed: {'; '.join(state.reasons)}"
        for state in rounds.values()
        if state.disturbed
    }
    if disturbed:
        rows = [row._replace(note=row.note or disturbed.get(row.round or 0)) for row in rows]
    check_rows(rows)
    return Records(
        rows,
        _gaps(blocks, scenarios, {(of, scenario) for of, _, scenario in first_lines}),
        list(rounds.values()),
        overheads,
        [of for in_round, of in histograms if in_round not in disturbed],
    )


def _note(measurement: Measurement, block: Block) -> str | None:
    """Why a measurement does not count, whatever happened to its round; None if it counts."""
    if block.status != "measured":
        return f"the block is marked {block.status}: {block.reason}"
    if not measurement.valid:
        return measurement.note or "marked invalid without a reason"
    return None


def _records(data: bytes, file: str) -> Any:
    lines = data.split(b"\n")
    last = lines.pop()
    for number, line in enumerate(lines, 1):
        yield number, _record(line, file, number)
    if last:
        raise FormatError(
            file, len(lines) + 1, f"a line cut off after {len(last)} bytes", "a whole record"
        )


def _record(line: bytes, file: str, number: int) -> Measurement | Block | Overhead | RoundState:
    try:
        record = _RECORD.validate_json(line, strict=True)
    except ValidationError as error:
        raise _mismatch(error, file, number) from None
    if "schema_" not in record.model_fields_set:
        raise FormatError(file, number, "no schema number", f"schema {SCHEMA_VERSION}")
    return record


def _mismatch(error: ValidationError, file: str, number: int) -> FormatError:
    if error.errors()[0]["type"] == "json_invalid":
        return FormatError(file, number, error.errors()[0]["msg"], "a JSON object")
    return mismatch(error, file, number)


def _rows(line: int, measurement: Measurement, note: str | None, file: str) -> Iterator[ParsedRow]:
    m = measurement
    for of in (*m.observations, *_per_thread(m)):
        yield ParsedRow(
            file=file,
            line=line,
            implementation=m.implementation,
            round=m.round,
            scenario=m.scenario,
            metric=of.metric,
            value=of.value,
            unit=of.unit,
            statistic=of.statistic,
            note=note,
            phase=of.phase,
            session=m.session,
        )


def _per_thread(measurement: Measurement) -> list[Observation]:
    """The rate of the median thread by wall time, for a measurement of both sides together."""
    if measurement.scenario.operation != "handshake" or measurement.scenario.side is not None:
        return []
    rates = measurement.per_thread or [o.value for o in measurement.observations]
    unit = "handshakes/s/thread"
    return [Observation(metric="rate", statistic="p50", value=median(rates), unit=unit)]


def _gaps(
    blocks: list[Block],
    scenarios: dict[int, dict[Scenario, None]],
    done: set[tuple[Identifier, Scenario]],
) -> list[Gap]:
    """Scenarios that an implementation never measured in a block in which others measured them."""
    gaps: dict[tuple[str, Scenario], Gap] = {}
    for block in blocks:
        if block.status == "measured":
            continue
        reason = block.reason or f"{block.status} without a reason"
        if block.status == "failed":
            reason = f"failed: {reason}"
        for scenario in scenarios.get(block.block, ()):
            key = (block.implementation, scenario)
            if key not in done:
                gaps.setdefault(key, Gap(*key, reason))
    return list(gaps.values())
