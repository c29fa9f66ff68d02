"""The checks of rows: what a raw file of any format may say, located by file and line.

The models of `contract.record` have checked types, numbers and the fields of a scenario that have
few values.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from tlsperf.contract.errors import FormatError
from tlsperf.contract.identifier import IDENTIFIER
from tlsperf.contract.metrics import LEAST_RATE, METRICS, MOST_RATE, STATISTICS, UNITS
from tlsperf.contract.record import CERTIFICATES, SCENARIO_FIELDS, Scenario
from tlsperf.load.rows import ParsedRow

KEY_EXCHANGES: Final = (
    *("X25519", "X448", "secp256r1", "secp384r1", "secp521r1", "ffdhe2048"),
    *("MLKEM512", "MLKEM768", "MLKEM1024"),
    *("X25519MLKEM768", "SecP256r1MLKEM768", "SecP384r1MLKEM1024"),
)

_Accepts = Callable[[str], object]


def _one_of(known: Iterable[str]) -> tuple[_Accepts, str]:
    names = tuple(known)
    return names.__contains__, ", ".join(names)


_OF_ROW: Final[Mapping[str, tuple[_Accepts, str]]] = {
    "metric": _one_of(METRICS),
    "statistic": _one_of(STATISTICS),
    "unit": _one_of(UNITS),
    "implementation": (
        re.compile(IDENTIFIER).fullmatch,
        "an identifier such as openssl-3.6.1",
    ),
}
_OF_SCENARIO: Final[Mapping[str, tuple[_Accepts, str]]] = {
    "key_exchange": _one_of(KEY_EXCHANGES),
    "certificate": _one_of(CERTIFICATES),
    "cipher_suite": (
        re.compile(r"TLS_[A-Z0-9_]+").fullmatch,
        "an IANA name such as TLS_AES_256_GCM_SHA384",
    ),
    "variant": (
        re.compile(r"[A-Za-z0-9][A-Za-z0-9.+_-]{0,99}").fullmatch,
        "a word such as sessions-1000",
    ),
}
"""What a name must be, and how messages say it."""


def check_rows(rows: Iterable[ParsedRow]) -> None:
    """Raises FormatError at the first row with an unknown name or unit, a negative or infinite
    value, an impossible rate, or what an earlier valid row has observed.
    """
    known: defaultdict[Scenario, tuple[set[object], dict[object, ParsedRow]]]
    known = defaultdict(lambda: (set(), {}))
    for row in rows:
        names, observed = known[row.scenario]
        kind = (row.implementation, row.metric, row.statistic)
        named = (*kind, row.unit, row.note is None)
        if named not in names:
            _check_names(row)
            names.add(named)
        if not 0 <= row.value < math.inf:
            raise _error(row, f"value {row.value}", "a finite number that is not negative")
        if row.note is not None:
            continue
        if row.metric == "rate" and not LEAST_RATE <= row.value <= MOST_RATE:
            expected = f"a rate of {LEAST_RATE:g} to {MOST_RATE:g}"
            raise _error(row, f"{row.value:g} {row.unit}", expected)
        observation = (*kind, row.phase, row.round)
        first = observed.setdefault(observation, row)
        if first is not row:
            place = f"line {first.line}" if first.file == row.file else f"{first.file}:{first.line}"
            found = f"a second observation, after {place}, of {_described(row)}"
            raise _error(row, found, "one of each; import each run as a file of its own")


def _check_names(row: ParsedRow) -> None:
    """Checks everything of a row but its numbers."""
    for of, checks in ((row, _OF_ROW), (row.scenario, _OF_SCENARIO)):
        for name, (accepts, expected) in checks.items():
            text = getattr(of, name)
            if text is not None and not accepts(text):
                raise _error(row, f"{name} {text!r}", expected)
    operation = row.scenario.operation
    allowed = METRICS[row.metric].units_of(operation)
    if row.valid and row.unit not in allowed:
        found = f"unit {row.unit} for the {row.metric} of a {operation}"
        raise _error(row, found, " or ".join(allowed) or f"another metric for {operation}")


def _described(row: ParsedRow) -> str:
    """What is observed, for an error."""
    named = [("implementation", row.implementation)]
    named += [(name, getattr(row.scenario, name)) for name in SCENARIO_FIELDS]
    named += [(name, getattr(row, name)) for name in ("phase", "round", "metric", "statistic")]
    return ", ".join(f"{name} {value}" for name, value in named if value is not None)


def _error(row: ParsedRow, found: str, expected: str) -> FormatError:
    return FormatError(row.file, row.line, found, expected)
