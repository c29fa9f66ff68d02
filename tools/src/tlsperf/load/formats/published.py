"""Published figures (`published`): a CSV of what a page prints, or of what its charts show.

The header decides which table it is. Implementations are named as on the page, library and version,
and become that implementation of the run. A table with a column `architecture` belongs to several
runs, one a host. The cipher suites of a report are those that its tools' `make measure` asks for.
Figures are of one run, or whatever the run's `source.estimator` says; there are no rounds.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from typing import Final

from pydantic import ValidationError

from tlsperf.contract.errors import FormatError
from tlsperf.contract.record import Scenario
from tlsperf.contract.run import Implementation
from tlsperf.load.page_tables import LIBRARIES, Figure, figures
from tlsperf.load.rows import Format, Parsed, ParsedRow, RawInput, decode, file_by_file

_HEADERS: Final = (
    # the sixteen scenarios of a report from 2024 to 2026
    "operation,protocol,cipher_suite,certificate,resumption,side,implementation,version,value,unit",
    # a table from 2018 or 2019, with a column `library_commit` for each implementation
    r"operation,protocol,cipher_suite,(?:resumption,)?side,openssl_[\w.]+,rustls_[\w.]+,vs,unit",
    # rates of `make threads`
    "figure,operation,protocol,resumption,side,implementation,version,threads,"
    "handshakes_per_second_per_thread",
    # latencies of `make thread-latency`
    "figure,protocol,resumption,side,implementation,version,threads,samples,percentile,latency_ms",
    # bins of a chart
    "figure,implementation,version,bin_low_ms,bin_high_ms,count",
    # the time to make and encode a ClientHello
    "architecture,implementation,version,key_shares,median_microseconds",
    # TLS 1.3 handshakes by key exchange
    "operation,protocol,certificate,resumption,side,implementation,version,key_exchange,value,unit",
)


def parse(source: RawInput) -> Parsed:
    """One row for each figure. A point that two charts show becomes one row; both must agree."""
    parsed = Parsed()
    seen: dict[tuple[str, Scenario, str], ParsedRow] = {}
    for number, cells in table(source.data, source.name):
        for figure in figures(source, number, cells):
            row = _row(source, number, figure)
            key = (row.implementation, row.scenario, row.statistic)
            earlier = seen.setdefault(key, row)
            if earlier is row:
                parsed.rows.append(row)
            elif earlier.value != row.value or "figure" not in cells:
                found = f"{row.value:g} where line {earlier.line} has {earlier.value:g}"
                raise FormatError(source.name, number, found, "each figure once")
    return parsed


def table(data: bytes, name: str) -> Iterator[tuple[int, dict[str, str]]]:
    """The lines of a table with their numbers: cells by their column."""
    text = decode(data, name)
    header, _, _ = text.partition("\n")
    if not _is_header(header):
        expected = f"the header of a known table: {' | '.join(_HEADERS)}"
        raise FormatError(name, 1, repr(header), expected)
    if not text.endswith("\n"):
        found = "a last line that does not end"
        raise FormatError(name, text.count("\n") + 1, found, "the whole file")
    return _lines(text.split("\n")[1:-1], header.split(","), name)


def _is_header(line: str) -> bool:
    return any(re.fullmatch(header, line) for header in _HEADERS)


def _lines(
    lines: Sequence[str], columns: Sequence[str], name: str
) -> Iterator[tuple[int, dict[str, str]]]:
    read = csv.reader(lines, strict=True)
    try:
        for cells in read:
            if len(cells) != len(columns):
                found, expected = f"{len(cells)} cells", f"{len(columns)} cells"
                raise FormatError(name, read.line_num + 1, found, expected)
            yield read.line_num + 1, dict(zip(columns, cells, strict=True))
    except csv.Error as error:
        number = read.line_num + 1
        raise FormatError(name, number, str(error), "comma-separated cells") from None


def _row(source: RawInput, number: int, figure: Figure) -> ParsedRow:
    return ParsedRow(
        file=source.name,
        line=number,
        implementation=_implementation(source, number, figure.library, figure.version),
        round=None,
        scenario=figure.scenario,
        metric=figure.metric,
        value=figure.value,
        unit=figure.unit,
        statistic=figure.statistic,
    )


def _implementation(source: RawInput, line: int, library: str, version: str) -> str:
    """The id of the run's implementation with this library and version."""
    library = library.lower()
    found = [
        i.id for i in source.run.implementations if (i.library, i.version) == (library, version)
    ]
    if len(found) != 1:
        known = ", ".join(f"{i.library} {i.version}" for i in source.run.implementations)
        raise FormatError(source.name, line, f"{library} {version}", f"one of run.toml: {known}")
    return found[0]


def implementations(data: bytes, name: str) -> list[Implementation]:
    """The implementations that a table names, with their library and version."""
    rows = [cells for _, cells in table(data, name)]
    if not rows:
        raise FormatError(name, 1, "a table without lines", "a line for each figure")
    if "implementation" in rows[0]:
        named = [(row["implementation"], row["version"]) for row in rows]
    else:
        columns = [column.partition("_") for column in rows[0]]
        named = [(library, version) for library, _, version in columns if library in LIBRARIES]
    found = {}
    for library, version in named:
        identifier = re.sub(r"[^a-z0-9._]+", "-", f"{library}-{version}".lower()).strip("-")
        try:
            found[identifier] = Implementation.model_validate(
                {"id": identifier, "library": library.lower(), "version": version}
            )
        except ValidationError:
            expected = "a library and a version such as OpenSSL 3.6.1"
            raise FormatError(name, None, f"{library!r} {version!r}", expected) from None
    return list(found.values())


FORMATS: Final = (
    Format(
        "published",
        "published figures",
        lambda text, name: _is_header(text.partition("\n")[0]),
        file_by_file(parse),
        has_rounds=False,
        implementations=implementations,
    ),
)
