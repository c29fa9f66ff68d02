"""data.js of github-action-benchmark (`data-js`): the figures of commits of one repository.

    window.BENCHMARK_DATA = {"repoUrl": "https://github.com/OWNER/boringssl", "entries": {
      "Benchmark on x86-64 Linux Clang": [{"commit": {"id": "0123456…", …}, "date": 1788429461984,
        "tool": "googlecpp", "benches": [{"name": "BM_SpeedMLKEM768DecapOnly", "value": 28.1,
        "unit": "us/iter", "extra": "threads: 1\\ncpu_model: AMD EPYC 7763 64-Core Processor"}]}]}}

or its JSON alone. The repository's name is the library, a commit is an implementation, an entry is a
build of it, and a commit that was measured several times has rounds. If `extra` names several hosts,
each is part of the variants of its figures: two hosts are never compared. Names and units are as in
src/extract.ts of the action; `MB/s` is known of Go only, as 10^6 bytes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from pydantic import ValidationError

from tlsperf.contract.errors import FormatError
from tlsperf.contract.run import MOST_IMPLEMENTATIONS, Implementation
from tlsperf.contract.text import counted
from tlsperf.load import rows
from tlsperf.load.commit_points import Bench, Point, is_commit_points, read_points
from tlsperf.load.json_text import Places
from tlsperf.load.rows import Format, Parsed, ParsedRow, RawInput, Remark
from tlsperf.load.spellings import bssl_bench_primitive, hyphened
from tlsperf.load.subjects import own_rows
from tlsperf.load.units import duration_or_rate

_AGGREGATE: Final = r"_(?:mean|median|stddev|cv)$"
_UNCLEAR: Final = re.compile(_AGGREGATE + r"|/threads:(?!1$)[0-9]+$")
_AGAIN: Final = {"go": " - ns/op$", "googlecpp": _AGGREGATE}  # figures that follow from others
_THREADS: Final = re.compile(r"^threads: ([0-9]{1,5})$", re.MULTILINE)
_HOST: Final = re.compile(
    r"^(?:\w*(?:host|instance|machine|model|processor|runner|vmsize)\w*|cpu(?=: *[a-z])): *(.+)$",
    re.IGNORECASE | re.MULTILINE,
)
_PROCS: Final = re.compile(r"^[0-9]{1,5} procs$", re.MULTILINE)
_NO_HOST: Final = "the file does not say on which host its figures were measured"
_OLDER: Final = f"{{}} left out: a run has {MOST_IMPLEMENTATIONS} builds at most"
_Points = list[tuple[Implementation, Point]]


def implementations(data: bytes, name: str) -> list[Implementation]:
    """The newest commits of a file, in each build: as many as a run can have."""
    ordered = sorted(read_points(data, name)[1], key=lambda point: point[1].date)
    return list({of.id: of for of, _ in ordered}.values())[-MOST_IMPLEMENTATIONS:]


def parse(sources: Sequence[RawInput]) -> Parsed:
    """One row for each figure of a known unit."""
    parsed = Parsed()
    files = [(source, *read_points(source.data, source.name)) for source in sources]
    owner, hosts = dict[str, str](), set[str]()
    for source, _, points in files:
        for of, point in points:
            hosts.update(_host(str(bench.get("extra", ""))) for bench in point.benches)
            if owner.setdefault(of.id, source.name) != source.name:
                found = f"{of.id}, which {owner[of.id].rpartition('/')[2]} has too"
                raise FormatError(source.name, 1, found, "one file of a build")
    for source, text, points in files:
        builds = dict[str, list[tuple[str, ParsedRow]]]()
        for of, name, row in _rows(source, text, points, parsed.remarks, with_host=len(hosts) > 1):
            builds.setdefault(f"{of.library}-{of.build}", []).append((name, row))
        for build, named in builds.items():
            own = own_rows(source._replace(implementation=build), named)
            parsed.rows += own.rows
            parsed.remarks += own.remarks
        if all(re.fullmatch("([0-9]+-procs)?", host) for host in hosts):
            parsed.remarks.append(Remark(source.name, 1, _NO_HOST, "method"))
    return parsed


def _rows(
    source: RawInput, text: str, points: _Points, remarks: list[Remark], with_host: bool
) -> Iterator[tuple[Implementation, str, ParsedRow]]:
    places, left_out = Places(text), rows.LeftOut(source.name)
    times, named = Counter[tuple[object, ...]](), dict[tuple[object, ...], str]()
    known = {implementation.id for implementation in source.run.implementations}
    if older := {of.id for of, _ in points} - known:
        remarks.append(
            Remark(source.name, 1, _OLDER.format(counted(len(older), "older commit")), "left-out")
        )
    for of, point in [point for point in points if point[0].id in known]:
        own = source._replace(implementation=of.id)
        names = Counter(str(bench.get("name")) for bench in point.benches)
        for bench in point.benches:
            name = str(bench.get("name"))
            line = places.line_of("name", name)
            of_whom = re.sub(_AGAIN.get(point.tool, "$"), "", name)
            if of_whom != name and of_whom in names:
                continue
            unclear = FormatError(source.name, line, name, "a name of its own")
            try:
                if names[name] > 1 and f"{name}_mean" not in names:
                    raise unclear
                row = _row(own, line, point.tool, Bench.model_validate(bench), with_host)
                if named.setdefault((row.scenario, row.metric), name) != name:
                    raise unclear
            except (ValidationError, FormatError):
                left_out.add(line, f"{name}: {bench.get('value')} {bench.get('unit')}")
                continue
            key = (of.id, row.scenario, row.metric)
            times[key] += 1
            yield of, name, row._replace(round=times[key])
    remarks += left_out.remarks


def _row(own: RawInput, line: int, tool: str, bench: Bench, with_host: bool) -> ParsedRow:
    name, unit, value = bench.name, bench.unit, bench.value
    if tool == "go":  # of several figures of a benchmark, its unit has all
        unit = f"{unit} -".split()[0]
        name = name.removesuffix(f" - {unit}")
        if unit == "MB/s":
            unit, value = "MiB/s", value * 1e6 / (1 << 20)
    figure = duration_or_rate(value, unit)
    wrong = {"customBiggerIsBetter": "duration", "customSmallerIsBetter": "rate"}.get(tool)
    threads = int(found[1]) if (found := _THREADS.search(bench.extra)) else 1
    # Until 1.8.5, google/benchmark divided the real time of several threads by their number.
    is_unclear = tool == "googlecpp" and (threads > 1 or _UNCLEAR.search(name))
    if not figure or figure[0] == wrong or is_unclear:
        raise FormatError(own.name, line, f"{value} {unit}", "a figure of a known unit")
    name = bssl_bench_primitive(re.sub(r"/threads:1$", "", name))
    name += f"-on-{_host(bench.extra) or 'unknown-host'}" if with_host else ""
    scenario = rows.foreign_primitive(own, line, name)
    scenario = scenario.model_copy(update={"threads": threads if threads > 1 else None})
    return rows.row_of(own, line, scenario, *figure)


def _host(extra: str) -> str:
    named = " ".join(_HOST.findall(extra) + _PROCS.findall(extra)).lower()
    return hyphened(re.sub(r"\((?:r|tm)\)|(?:\d+-core )?processor|\bcpu\b|standard_", " ", named))


FORMATS: Final = (
    Format(
        "data-js",
        "github-action-benchmark",
        lambda text, name: is_commit_points(text),
        parse,
        has_rounds=False,
        implementations=implementations,
    ),
)
