"""What one line of a table of published figures (`formats/published.py`) says, by its columns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Final, NamedTuple, TypeVar

from tlsperf.contract.errors import FormatError
from tlsperf.contract.record import Scenario
from tlsperf.load.rows import RawInput, scenario_errors
from tlsperf.load.spellings import MAKEFILE_SCENARIOS, OPENSSL_SUITES

LIBRARIES: Final = ("openssl", "rustls")
"""The libraries of the side-by-side tables, as the names of their columns start."""
_NUMBER: Final = re.compile(r"[0-9]{1,18}(?:\.[0-9]{1,18})?")
_WHOLE: Final = re.compile(r"[1-9][0-9]{0,17}")

_T = TypeVar("_T")


def _choices(field: str, *names: str) -> dict[str, dict[str, str]]:
    return {name: {field: name} for name in names}


_FIELDS: Final[Mapping[str, Mapping[str, Mapping[str, str]]]] = {
    "operation": _choices("operation", "transfer", "handshake"),
    "protocol": _choices("protocol", "1.2", "1.3"),
    "certificate": _choices("certificate", "rsa-2048", "ecdsa-p256"),
    "resumption": _choices("resumption", "none", "session-id", "ticket", "resumed"),
    "side": {
        "sending": {"side": "sender"},
        "receiving": {"side": "receiver"},
        **_choices("side", "client", "server"),
    },
    "key_exchange": {
        "X25519": {"key_exchange": "X25519"},
        "X25519MLKEM768 (shared X25519 setup)": {
            "key_exchange": "X25519MLKEM768",
            "variant": "shared-x25519",
        },
        "X25519MLKEM768 (separate X25519 setup)": {
            "key_exchange": "X25519MLKEM768",
            "variant": "separate-x25519",
        },
    },
    "key_shares": {
        "X25519": {"variant": "X25519"},
        "X25519MLKEM768 + X25519 (separate)": {"variant": "X25519MLKEM768+X25519-separate"},
        "X25519MLKEM768 + X25519 (shared X25519 setup)": {
            "variant": "X25519MLKEM768+X25519-shared"
        },
    },
}
"""For each column: the fields of the scenario that its cells state."""
_CIPHERS: Final = {"aes-128-gcm": "AES_128_GCM_SHA256", "aes-256-gcm": "AES_256_GCM_SHA384"}
_UNITS: Final = {"MB/s": "MiB/s", "handshakes/s": "handshakes/s"}
_ARCHITECTURES: Final = {"amd64": "x86_64", "arm64": "aarch64"}
_PERCENTILES: Final = {name: f"p{name}" for name in ("5", "50", "90", "99")}
_VALUES: Final = {
    "handshakes_per_second_per_thread": ("rate", 1, "handshakes/s/thread"),
    "latency_ms": ("duration", 1000, "µs"),
    "median_microseconds": ("duration", 1, "µs"),
}
"""Columns with a unit in their name: metric, factor and unit of the figure."""


class Figure(NamedTuple):
    library: str
    version: str
    scenario: Scenario
    metric: str
    value: float
    unit: str
    statistic: str = "value"


def figures(source: RawInput, line: int, cells: Mapping[str, str]) -> Iterator[Figure]:
    """The figures of one line that belong to the run. Raises FormatError."""
    return _Cells(source, line, cells).figures()


class _Cells:
    """Every access checks its cell, and errors name the line."""

    def __init__(self, source: RawInput, line: int, cells: Mapping[str, str]) -> None:
        self.source = source
        self.line = line
        self.cells = cells

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

    def figures(self) -> Iterator[Figure]:
        if "count" in self.cells:
            self.check_bin()
            return
        scenario = self.scenario()
        statistic = "value"
        if "percentile" in self.cells:
            statistic = self.one_of("percentile", _PERCENTILES)
        for column in self.cells:
            library, _, version = column.partition("_")
            if column == "value" or column in _VALUES:
                library, version = self.cells["implementation"], self.cells["version"]
            elif library not in LIBRARIES:
                continue
            metric, factor, unit = _VALUES.get(column) or ("rate", 1, self.one_of("unit", _UNITS))
            value = float(self.number(column) * factor)
            if self.is_of_the_run():
                yield Figure(library, version, scenario, metric, value, unit, statistic)

    def check_bin(self) -> None:
        """Bins of a chart are no observations; charts read them from the raw file."""
        if self.number("bin_low_ms") >= self.number("bin_high_ms"):
            raise self.fail("bin_high_ms", f"more than {self.cells['bin_low_ms']}")
        self.number("count")
        if not self.cells["count"].isdecimal():
            raise self.fail("count", "a whole number")

    def is_of_the_run(self) -> bool:
        """False if the line has the architecture of another host."""
        if "architecture" not in self.cells:
            return True
        architecture = self.one_of("architecture", _ARCHITECTURES)
        if self.source.run.host is None:
            expected = "a [host] in run.toml, whose architecture says which rows belong to the run"
            raise FormatError(self.source.name, self.line, f"rows of {architecture}", expected)
        return self.source.run.host.architecture == architecture

    def scenario(self) -> Scenario:
        fields: dict[str, object] = {}
        for column in filter(_FIELDS.__contains__, self.cells):
            fields |= self.one_of(column, _FIELDS[column])
        if "key_shares" in self.cells:
            fields |= {"operation": "client-hello", "protocol": "1.3", "side": "client"}
        if "vs" in self.cells:
            fields.setdefault("resumption", "none")
        if "cipher_suite" in self.cells:
            fields["cipher_suite"] = self.suite(fields)
        if "threads" in self.cells:
            fields = self.of_makefile(fields) | fields
        with scenario_errors(self.source.name, self.line):
            return Scenario.model_validate(fields)

    def suite(self, fields: Mapping[str, object]) -> str:
        """The cipher suite: as the tools of the report ask for it, or by its name."""
        if "certificate" in fields:
            cipher = self.one_of("cipher_suite", _CIPHERS)
            signature = "ECDSA" if fields["certificate"] == "ecdsa-p256" else "RSA"
            asked = "" if fields["protocol"] == "1.3" else f"ECDHE_{signature}_WITH_"
            return f"TLS_{asked}{cipher}"
        suites = OPENSSL_SUITES | {suite.iana: suite for suite in OPENSSL_SUITES.values()}
        suite = self.one_of("cipher_suite", suites)
        if fields["protocol"] != suite.protocol:
            raise self.fail("protocol", suite.protocol)
        return suite.iana

    def of_makefile(self, fields: Mapping[str, object]) -> dict[str, object]:
        """The fields that `make threads` and `make thread-latency` give: RSA-2048, AES-256-GCM."""
        if not _WHOLE.fullmatch(self.cells["threads"]):
            raise self.fail("threads", "a whole number of at least 1")
        named = f"latency-fullhs-tls{self.cells['protocol'].replace('.', '')}"
        if "percentile" in self.cells:
            named = self.cells["figure"].removesuffix(f"-{self.cells['side']}")
            if named not in MAKEFILE_SCENARIOS:
                raise self.fail("figure", " or ".join(MAKEFILE_SCENARIOS))
        makefile = MAKEFILE_SCENARIOS[named].model_dump(exclude_none=True)
        stated = {"protocol": fields["protocol"], "resumption": fields["resumption"]}
        if "percentile" in self.cells and not stated.items() <= makefile.items():
            raise self.fail("figure", f"one of TLS{stated['protocol']}, {stated['resumption']}")
        return makefile | {"threads": int(self.cells["threads"])}
