"""JSON of google/benchmark (`google-benchmark`), such as that of BoringSSL's `bssl_bench`.

    {"context": {"executable": "build/bssl_bench", …}, "benchmarks": [
      {"name": "BM_SpeedAEAD/seal_aes_256_gcm/InputSize:16384", "run_type": "iteration",
       "repetitions": 2, "repetition_index": 0, "threads": 1, "iterations": 19000,
       "real_time": 3.6405, "cpu_time": 3.6400, "time_unit": "us", "bytes_per_second": 4.501e9}, …

A benchmark that counts bytes has a rate, any other the duration of an iteration. Both are of processor
time, as `bytes_per_second` is, or of real time if the name says so (`/real_time`, `/manual_time`;
src/benchmark_runner.cc). A repetition is a round; an aggregate of them is none, and before 1.5 only its name
says that it is one. Several threads are part of the scenario and have the processor time of an iteration: their bytes per second are of
one thread until 1.9.4, and of all since.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final, Literal

from pydantic import Field, ValidationError

from tlsperf.contract.errors import FormatError
from tlsperf.contract.libraries import NAMES
from tlsperf.load import rows
from tlsperf.load.json_text import Content, Places, line_of, read_json
from tlsperf.load.rows import Format, Parsed, ParsedRow, RawInput, Remark
from tlsperf.load.spellings import bssl_bench_primitive
from tlsperf.load.subjects import check_named, own_rows
from tlsperf.load.units import MICROSECONDS, duration_or_rate

_THREADS: Final = re.compile(r"/threads:([0-9]{1,6})$")
_CLOCK: Final = re.compile(r"/(manual|process|real)_time(?=/|$)")
_SIZE: Final = re.compile(r"/InputSize:([0-9]{1,12})(?=/|$)")
_DEBUG: Final = "google/benchmark was built for debugging, and says that this may change times"
_ALL: Final = "each repetition: a run without --benchmark_report_aggregates_only"


class _File(Content):
    context: dict[str, object] = Field({})
    benchmarks: list[dict[str, object]]


class _Run(Content):
    """A repetition of a benchmark that did not fail."""

    name: str
    run_type: Literal["iteration"]  # since 1.5; `_aggregate` tells for older versions
    repetition_index: int | None = Field(None, ge=0, lt=10**6)
    threads: int = Field(1, ge=1, le=10**5)
    cpu_time: float = Field(gt=0)
    real_time: float = Field(gt=0)
    time_unit: Literal["ns", "us", "ms", "s"]
    bytes_per_second: float | None = Field(None, gt=0)
    error_occurred: Literal[False] = False
    skipped: Literal[False] = False


def parse(sources: Sequence[RawInput]) -> Parsed:
    """One row for each repetition of a benchmark."""
    first = dict[object, str]()
    return rows.with_rounds(lambda source: _read(source, first))(sources)


def _read(source: RawInput, first: dict[object, str]) -> Parsed:
    """The rows of a file; repetitions are rounds from 1. `first` has hosts and programs so far."""
    text, remarks = rows.text_of(source), list[Remark]()
    file = read_json(text, source.name, _File)
    for key in ("host_name", "executable"):
        line = line_of(text, value := str(file.context.get(key, "")))
        if (known := first.setdefault((source.implementation, key), value)) != value:
            expected = f"{known!r}, as in another file of {source.implementation}"
            raise FormatError(source.name, line, f"{key} {value!r}", expected)
    check_named(source, line, re.split(r"[/\\]", value)[-1])
    if file.context.get("library_build_type") == "debug":
        remarks.append(Remark(source.name, line_of(text, "library_build_type"), _DEBUG, "method"))
    repeated = {str(entry.get("name")) for entry in file.benchmarks if not _aggregate(entry)}
    if file.benchmarks and not repeated:
        raise FormatError(source.name, 1, "only aggregates of repetitions", _ALL)
    places, left_out = Places(text), rows.LeftOut(source.name)
    found, times = list[tuple[str, ParsedRow]](), Counter[str]()
    for entry in file.benchmarks:
        name, of = str(entry.get("name")), _aggregate(entry)
        line = places.line_of("name", name)
        if (of and of in repeated) or re.search("_(?:BigO|RMS)$", name):
            continue
        try:
            run = _Run.model_validate({"run_type": "" if of else "iteration"} | entry)
            index = times[name] if run.repetition_index is None else run.repetition_index
            times[name] += 1
            found.append((name, _row(source, line, run, index + 1)))
        except (ValidationError, FormatError):
            reason = entry.get("error_message") or entry.get("skip_message")
            left_out.add(line, f"{name}: {reason}" if reason else name)
    number = Counter((row.scenario, row.round) for _, row in found)
    for _, row in found:
        if number[row.scenario, row.round] > 1:
            left_out.add(row.line, f"two benchmarks with the name {row.scenario.variant}")
    once = [(name, row) for name, row in found if number[row.scenario, row.round] == 1]
    own = own_rows(source, once)
    return Parsed(own.rows, remarks + left_out.remarks + own.remarks)


def _aggregate(entry: dict[str, object]) -> str:
    """The name of the benchmark of which an entry is an aggregate; empty if it is none."""
    name = str(entry.get("name"))
    base = re.sub("_(?:mean|median|stddev|cv|BigO|RMS)$", "", name)
    is_one = entry.get("run_type", "iteration" if base == name else "aggregate") == "aggregate"
    return str(entry.get("run_name", base)) if is_one else ""


def _row(source: RawInput, line: int, run: _Run, round: int) -> ParsedRow:
    clocks = set(_CLOCK.findall(run.name))
    time = run.real_time if clocks - {"process"} else run.cpu_time
    figure = duration_or_rate(time, run.time_unit)
    said, size, note = _THREADS.search(run.name), _SIZE.search(run.name), None
    threads = run.threads if run.threads > 1 else None
    if (said and int(said[1]) != run.threads) or (threads and clocks):
        figure = None
    elif not threads and (bytes_per_second := run.bytes_per_second):
        figure = duration_or_rate(bytes_per_second / (1 << 20), "MiB/s")
        given = bytes_per_second * time * MICROSECONDS[run.time_unit] / 1e6
        if size and abs(given - int(size[1])) > 0.01 * int(size[1]):
            note = f"bytes per second and time give {given:.1f} bytes"
    if not figure:
        raise FormatError(source.name, line, run.name, "a time or rate that versions agree on")
    name = bssl_bench_primitive(_THREADS.sub("", run.name))
    scenario = rows.foreign_primitive(source, line, name).model_copy(update={"threads": threads})
    return rows.row_of(source, line, scenario, *figure, note=note, round=round)


_OF_BORINGSSL: Final = re.compile(r'"executable":\s*"(?:[^"]*[/\\])?bssl_bench(?:\.exe)?"')
_ANY: Final = re.compile(r'\s*\{.*"time_unit"\s*:\s*"', re.DOTALL)
FORMATS: Final = (
    Format(
        "google-benchmark",
        "google/benchmark",
        lambda text, name: _ANY.match(text) is not None,
        parse,
        splits=True,
        libraries=lambda text: frozenset(["boringssl"] if _OF_BORINGSSL.search(text) else NAMES),
    ),
)
