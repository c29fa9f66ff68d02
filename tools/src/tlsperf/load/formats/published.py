"""Published figures (`published`): a CSV of what a page prints, or of what its charts show.

The header decides which table it is (`_READERS`). Implementations are named as on the page, library
and version, and become the implementation of the run with that library and version. A table with
a column `architecture` belongs to several runs, one a host; each takes the rows of its own.

What a table leaves out because it follows from the tools of its time is filled in: the cipher
suites that their `make measure` and `make threads` ask for. What no source states stays empty.
Figures are of one run, or whatever the run's `source.estimator` says; there are no rounds.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Final, NamedTuple, TypeVar, cast

from pydantic import ValidationError

from tlsperf.contract.errors import FormatError
from tlsperf.contract.operations import Operation
from tlsperf.contract.record import Protocol, Resumption, Scenario, Side
from tlsperf.contract.run import Implementation
from tlsperf.load.rows import Format, Parsed, ParsedRow, RawInput, decode, file_by_file
from tlsperf.load.spellings import MAKEFILE_SCENARIOS, OPENSSL_SUITES

_NUMBER: Final = re.compile(r"[0-9]{1,18}(?:\.[0-9]{1,18})?")
_WHOLE: Final = re.compile(r"[1-9][0-9]{0,17}")
_UNITS: Final = {"MB/s": "MiB/s", "handshakes/s": "handshakes/s"}
_SIDES: Final = {
    "sending": "sender",
    "receiving": "receiver",
    "client": "client",
    "server": "server",
}
_CIPHERS: Final = {"aes-128-gcm": "AES_128_GCM_SHA256", "aes-256-gcm": "AES_256_GCM_SHA384"}
_LIBRARIES: Final = ("openssl", "rustls")
"""The libraries of the side-by-side tables, as their column names start."""
_ARCHITECTURES: Final = {"amd64": "x86_64", "arm64": "aarch64"}
_KEY_SHARES: Final = {
    "X25519": "X25519",
    "X25519MLKEM768 + X25519 (separate)": "X25519MLKEM768+X25519-separate",
    "X25519MLKEM768 + X25519 (shared X25519 setup)": "X25519MLKEM768+X25519-shared",
}
_KEY_EXCHANGES: Final = {
    "X25519": ("X25519", None),
    "X25519MLKEM768 (shared X25519 setup)": ("X25519MLKEM768", "shared-x25519"),
    "X25519MLKEM768 (separate X25519 setup)": ("X25519MLKEM768", "separate-x25519"),
}


_T = TypeVar("_T")


class _Figure(NamedTuple):
    library: str
    version: str
    scenario: Scenario
    metric: str
    value: float
    unit: str
    statistic: str = "value"


class _Cells:
    """One line of a table; every access checks its cell, and errors name the line."""

    def __init__(self, source: RawInput, line: int, cells: Mapping[str, str]) -> None:
        self.source = source
        self.line = line
        self.cells = cells

    def __getitem__(self, column: str) -> str:
        return self.cells[column]

    def fail(self, column: str, expected: str) -> FormatError:
        found = f"{column} {self.cells[column]!r}"
        return FormatError(self.source.name, self.line, found, expected)

    def one_of(self, column: str, known: Mapping[str, _T]) -> _T:
        if self.cells[column] not in known:
            raise self.fail(column, " or ".join(known))
        return known[self.cells[column]]

    def number(self, column: str) -> Decimal:
        if not _NUMBER.fullmatch(self.cells[column]):
            raise self.fail(column, "a number")
        return Decimal(self.cells[column])

    def whole(self, column: str) -> int:
        if not _WHOLE.fullmatch(self.cells[column]):
            raise self.fail(column, "a whole number of at least 1")
        return int(self.cells[column])

    def choice(self, column: str, *known: str) -> str:
        return self.one_of(column, {name: name for name in known})

    def protocol(self) -> Protocol:
        return cast(Protocol, self.choice("protocol", "1.2", "1.3"))

    def side(self) -> Side:
        return cast(Side, self.one_of("side", _SIDES))

    def resumption(self) -> Resumption:
        known = ("none", "session-id", "ticket", "resumed")
        return cast(Resumption, self.choice("resumption", *known))

    def operation(self) -> Operation:
        return cast(Operation, self.choice("operation", "transfer", "handshake"))


def _report(cells: _Cells) -> Iterator[_Figure]:
    """The sixteen scenarios of a report from 2024 to 2026."""
    protocol = cells.protocol()
    cipher = cells.one_of("cipher_suite", _CIPHERS)
    certificate = cells.choice("certificate", "rsa-2048", "ecdsa-p256")
    signature = "ECDSA" if certificate.startswith("ecdsa") else "RSA"
    yield _Figure(
        cells["implementation"],
        cells["version"],
        Scenario(
            operation=cells.operation(),
            protocol=protocol,
            cipher_suite=(
                f"TLS_{cipher}" if protocol == "1.3" else f"TLS_ECDHE_{signature}_WITH_{cipher}"
            ),
            certificate=certificate,
            resumption=cells.resumption(),
            side=cells.side(),
        ),
        "rate",
        float(cells.number("value")),
        cells.one_of("unit", _UNITS),
    )


def _side_by_side(cells: _Cells) -> Iterator[_Figure]:
    """A table from 2018 or 2019, with a column `library_commit` for each implementation."""
    suites = OPENSSL_SUITES | {suite.iana: suite for suite in OPENSSL_SUITES.values()}
    suite = cells.one_of("cipher_suite", suites)
    if cells.protocol() != suite.protocol:
        raise cells.fail("protocol", suite.protocol)
    scenario = Scenario(
        operation=cells.operation(),
        protocol=cells.protocol(),
        cipher_suite=suite.iana,
        resumption=cells.resumption() if "resumption" in cells.cells else "none",
        side=cells.side(),
    )
    for column in cells.cells:
        library, _, version = column.partition("_")
        if library in _LIBRARIES:
            value = float(cells.number(column))
            yield _Figure(library, version, scenario, "rate", value, cells.one_of("unit", _UNITS))


def _threads(cells: _Cells) -> Iterator[_Figure]:
    """Rate per thread with several threads (`make threads`: RSA-2048, AES-256-GCM)."""
    protocol = cells.protocol()
    makefile = MAKEFILE_SCENARIOS[f"latency-fullhs-tls{protocol.replace('.', '')}"]
    yield _Figure(
        cells["implementation"],
        cells["version"],
        makefile.model_copy(
            update={
                "operation": cells.operation(),
                "resumption": cells.resumption(),
                "side": cells.side(),
                "threads": cells.whole("threads"),
            }
        ),
        "rate",
        float(cells.number("handshakes_per_second_per_thread")),
        "handshakes/s/thread",
    )


def _percentiles(cells: _Cells) -> Iterator[_Figure]:
    """Handshake latencies (`make thread-latency`), printed in ms."""
    figure = cells["figure"].removesuffix(f"-{cells['side']}")
    if figure not in MAKEFILE_SCENARIOS:
        raise cells.fail("figure", " or ".join(MAKEFILE_SCENARIOS))
    makefile = MAKEFILE_SCENARIOS[figure]
    if (makefile.protocol, makefile.resumption) != (cells.protocol(), cells.resumption()):
        raise cells.fail("figure", f"one of TLS{cells['protocol']}, {cells['resumption']}")
    percentile = cells.choice("percentile", "5", "50", "90", "99")
    yield _Figure(
        cells["implementation"],
        cells["version"],
        makefile.model_copy(update={"side": cells.side(), "threads": cells.whole("threads")}),
        "duration",
        float(cells.number("latency_ms") * 1000),
        "µs",
        f"p{percentile}",
    )


def _histogram(cells: _Cells) -> Iterator[_Figure]:
    """Checks the bins of a chart. They are not observations; charts read them from the raw file."""
    if cells.number("bin_low_ms") >= cells.number("bin_high_ms"):
        raise cells.fail("bin_high_ms", f"more than {cells['bin_low_ms']}")
    cells.number("count")
    if not cells["count"].isdecimal():
        raise cells.fail("count", "a whole number")
    yield from ()


def _client_hello(cells: _Cells) -> Iterator[_Figure]:
    """Time to make and encode a ClientHello."""
    architecture = cells.one_of("architecture", _ARCHITECTURES)
    run = cells.source.run
    if run.host is None:
        expected = "a [host] in run.toml, whose architecture says which rows belong to the run"
        raise FormatError(cells.source.name, cells.line, f"rows of {architecture}", expected)
    if run.host.architecture != architecture:
        return
    yield _Figure(
        cells["implementation"],
        cells["version"],
        Scenario(
            operation="client-hello",
            protocol="1.3",
            side="client",
            variant=cells.one_of("key_shares", _KEY_SHARES),
        ),
        "duration",
        float(cells.number("median_microseconds")),
        "µs",
    )


def _key_exchanges(cells: _Cells) -> Iterator[_Figure]:
    """TLS 1.3 handshakes by key exchange."""
    key_exchange, variant = cells.one_of("key_exchange", _KEY_EXCHANGES)
    yield _Figure(
        cells["implementation"],
        cells["version"],
        Scenario(
            operation=cells.operation(),
            protocol=cells.protocol(),
            key_exchange=key_exchange,
            certificate=cells.choice("certificate", "rsa-2048", "ecdsa-p256"),
            resumption=cells.resumption(),
            side=cells.side(),
            variant=variant,
        ),
        "rate",
        float(cells.number("value")),
        cells.one_of("unit", _UNITS),
    )


_Reader = Callable[[_Cells], Iterator[_Figure]]
_READERS: Final[tuple[tuple[re.Pattern[str], _Reader], ...]] = tuple(
    (re.compile(header), reader)
    for header, reader in (
        (
            "operation,protocol,cipher_suite,certificate,resumption,side,implementation,version,"
            "value,unit",
            _report,
        ),
        (
            r"operation,protocol,cipher_suite,(?:resumption,)?side,openssl_[\w.]+,rustls_[\w.]+,vs,unit",
            _side_by_side,
        ),
        (
            "figure,operation,protocol,resumption,side,implementation,version,threads,"
            "handshakes_per_second_per_thread",
            _threads,
        ),
        (
            "figure,protocol,resumption,side,implementation,version,threads,samples,percentile,"
            "latency_ms",
            _percentiles,
        ),
        ("figure,implementation,version,bin_low_ms,bin_high_ms,count", _histogram),
        ("architecture,implementation,version,key_shares,median_microseconds", _client_hello),
        (
            "operation,protocol,certificate,resumption,side,implementation,version,key_exchange,"
            "value,unit",
            _key_exchanges,
        ),
    )
)


def parse(source: RawInput) -> Parsed:
    """One row for each figure. A point that two charts show becomes one row; both must agree."""
    reader, lines = table(source.data, source.name)
    parsed = Parsed()
    seen: dict[tuple[str, Scenario, str], ParsedRow] = {}
    for number, cells in lines:
        for figure in reader(_Cells(source, number, cells)):
            row = _row(source, number, figure)
            key = (row.implementation, row.scenario, row.statistic)
            earlier = seen.setdefault(key, row)
            if earlier is row:
                parsed.rows.append(row)
            elif earlier.value != row.value or "figure" not in cells:
                found = f"{row.value:g} where line {earlier.line} has {earlier.value:g}"
                raise FormatError(source.name, number, found, "each figure once")
    return parsed


def table(data: bytes, name: str) -> tuple[_Reader, Iterator[tuple[int, dict[str, str]]]]:
    """What reads a table, and its lines with their numbers: cells by their column."""
    text = decode(data, name)
    header, _, _ = text.partition("\n")
    reader = _reader(header)
    if reader is None:
        expected = "the header of a known table: " + " | ".join(h.pattern for h, _ in _READERS)
        raise FormatError(name, 1, repr(header), expected)
    if not text.endswith("\n"):
        last = text.count("\n") + 1
        raise FormatError(name, last, "a last line that does not end", "the whole file")
    return reader, _lines(text.split("\n")[1:-1], header.split(","), name)


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


def _reader(header: str) -> _Reader | None:
    return next((reader for pattern, reader in _READERS if pattern.fullmatch(header)), None)


def _row(source: RawInput, number: int, figure: _Figure) -> ParsedRow:
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
    _, lines = table(data, name)
    rows = [cells for _, cells in lines]
    if not rows:
        raise FormatError(name, 1, "a table without lines", "a line for each figure")
    named = [(row.get("implementation", ""), row.get("version", "")) for row in rows]
    if "implementation" not in rows[0]:
        columns = [column.partition("_") for column in rows[0]]
        named = [(library, version) for library, _, version in columns if library in _LIBRARIES]
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
        lambda text, name: _reader(text.partition("\n")[0]) is not None,
        file_by_file(parse),
        has_rounds=False,
        implementations=implementations,
    ),
)
