"""The tidy frame: every raw format becomes one row for each observation.

Its columns are described in docs/design.md and have this order:

    implementation                                text
    operation … side, variant                     text   } together a scenario
    threads, size, in_flight, record_size         Int64  }
    phase, metric, statistic, unit, note          text
    session, round                                Int64
    value                                         float64, finite, >= 0
    valid                                         bool

Text columns are categorical, which keeps 300,000 rows below 20 MB. A value that the source does not
report is missing (NaN in text, <NA> in integers), so group with `observed=True, dropna=False`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, get_args

import numpy as np
import pandas as pd

from tlsperf.contract.errors import FormatError
from tlsperf.contract.metrics import METRICS, STATISTICS, UNITS
from tlsperf.contract.operations import Operation
from tlsperf.contract.record import (
    CERTIFICATES,
    PHASE,
    SCENARIO_FIELDS,
    Authentication,
    Protocol,
    Resumption,
    Scenario,
    Side,
)

COLUMNS: Final = (
    "implementation",
    *SCENARIO_FIELDS,
    "phase",
    "session",
    "round",
    "metric",
    "statistic",
    "value",
    "unit",
    "valid",
    "note",
)
INTEGER_COLUMNS: Final = ("threads", "size", "in_flight", "record_size", "session", "round")
_NO_IDENTITY: Final = {"session", "value", "unit", "valid", "note"}
IDENTITY_COLUMNS: Final = tuple(c for c in COLUMNS if c not in _NO_IDENTITY)
"""Columns that identify an observation: no two valid rows agree in all of them."""

REQUIRED_COLUMNS: Final = ("implementation", "operation", "metric", "value", "unit")
DEFAULTS: Final[Mapping[str, object]] = {"phase": "total", "statistic": "value", "valid": True}

KEY_EXCHANGES: Final = (
    "X25519",
    "X448",
    "secp256r1",
    "secp384r1",
    "secp521r1",
    "ffdhe2048",
    "MLKEM512",
    "MLKEM768",
    "MLKEM1024",
    "X25519MLKEM768",
    "SecP256r1MLKEM768",
    "SecP384r1MLKEM1024",
)

_KNOWN: Final[Mapping[str, tuple[str, ...]]] = {
    "operation": get_args(Operation),
    "protocol": get_args(Protocol),
    "key_exchange": KEY_EXCHANGES,
    "certificate": tuple(CERTIFICATES),
    "authentication": get_args(Authentication),
    "resumption": get_args(Resumption),
    "side": get_args(Side),
    "metric": tuple(METRICS),
    "statistic": STATISTICS,
    "unit": UNITS,
}
_PATTERNS: Final[Mapping[str, tuple[re.Pattern[str], str]]] = {
    "implementation": (re.compile(r"[a-z0-9][a-z0-9._-]*"), "an identifier such as openssl-3.6.1"),
    "cipher_suite": (re.compile(r"TLS_[A-Z0-9_]+"), "an IANA name such as TLS_AES_256_GCM_SHA384"),
    "variant": (re.compile(r"[A-Za-z0-9][A-Za-z0-9.+_-]{0,99}"), "a word such as sessions-1000"),
    "phase": (
        re.compile(PHASE),
        "total, construction, flight-1 to flight-9, tickets, handshake, data, destruction, "
        "processor, waiting, fixed or each",
    ),
}


def tidy_frame(columns: Mapping[str, Sequence[Any]]) -> pd.DataFrame:
    """The checked tidy frame, made from lists of equal length, one for each column.

    `file` and `line` are required: they locate errors and are not part of the frame. The columns in
    REQUIRED_COLUMNS are required too. A missing column, or None in a list, means that the source
    does not report the value; DEFAULTS apply to a column that is missing as a whole. The cost of a
    frame depends on its number of columns, so make one frame of many files.

    Raises FormatError at the first row with an unknown value or unit, a negative or infinite value,
    an impossible rate, an invalid row without a note, or the identity of an earlier valid row.
    """
    files, lines = columns["file"], columns["line"]
    unknown = set(columns) - {*COLUMNS, "file", "line"}
    missing = [c for c in REQUIRED_COLUMNS if c not in columns]
    if unknown or missing:
        raise TypeError(f"unknown columns {sorted(unknown)}, missing columns {missing}")
    count = len(files)
    data: dict[str, Any] = {}
    for name in COLUMNS:
        given = columns.get(name)
        if name == "value":
            data[name] = np.asarray(given, dtype=np.float64)
        elif name == "valid":
            data[name] = np.ones(count, dtype=bool) if given is None else np.asarray(given, bool)
        elif name in INTEGER_COLUMNS:
            data[name] = _integers(given, count)
        elif given is None:
            data[name] = _constant(DEFAULTS.get(name), count)
        else:
            codes, categories = pd.factorize(np.asarray(given, dtype=object), sort=False)
            data[name] = pd.Categorical.from_codes(codes, categories=pd.Index(categories))
    frame = pd.DataFrame(data, columns=list(COLUMNS))
    _check(frame, lambda row, found, expected: FormatError(files[row], lines[row], found, expected))
    return frame


def scenarios_of(frame: pd.DataFrame) -> tuple[list[int], list[Scenario]]:
    """The scenario number of each row, and the scenarios in the order of their first rows."""
    keys = list(SCENARIO_FIELDS)
    numbers = np.zeros(len(frame), dtype=np.int64)
    for key in keys:  # ten times as fast as a groupby of all
        column = frame[key]
        codes = column.cat.codes if key not in INTEGER_COLUMNS else pd.factorize(column)[0]
        of_key = np.asarray(codes, dtype=np.int64) + 1
        numbers = pd.factorize(numbers * (1 + of_key.max(initial=0)) + of_key)[0]
    _, places = np.unique(numbers, return_index=True)
    rows = frame[keys].iloc[places].astype(object).itertuples(index=False, name=None)
    scenarios = [
        Scenario.model_validate({k: _plain(v) for k, v in zip(keys, row, strict=True)})
        for row in rows
    ]
    return numbers.tolist(), scenarios


def concatenate(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """One tidy frame of several; its text columns have the categories of all of them."""
    if len(frames) == 1:
        return frames[0]
    joined = pd.concat(
        [
            f.astype({c: object for c in f.columns if isinstance(f[c].dtype, pd.CategoricalDtype)})
            for f in frames
        ],
        ignore_index=True,
    )
    text = [c for c in COLUMNS if c not in {*INTEGER_COLUMNS, "value", "valid"}]
    return joined.astype(dict.fromkeys(text, "category"))


def _plain(value: Any) -> Any:
    if pd.isna(value):
        return None
    return int(value) if isinstance(value, (int, np.integer)) else value


def _constant(value: object, count: int) -> Any:
    if value is None:
        return pd.Categorical.from_codes(np.full(count, -1), categories=pd.Index([], dtype=object))
    return pd.Categorical.from_codes(np.zeros(count, dtype=int), categories=pd.Index([value]))


def _integers(values: Sequence[int | None] | None, count: int) -> Any:
    return pd.array([None] * count if values is None else values, dtype="Int64")


LEAST_RATE: Final = 0.01
MOST_RATE: Final = 1e12
"""A rate outside these bounds cannot have been measured, in any unit."""

_Fail = Callable[[int, str, str], FormatError]


def _check(frame: pd.DataFrame, fail: _Fail) -> None:
    """Raises the error that `fail(row, found, expected)` makes for the first wrong column."""
    for name in REQUIRED_COLUMNS:
        absent = frame[name].isna().to_numpy() & (name != "value")
        if absent.any():
            raise fail(int(absent.argmax()), f"no {name}", f"a value for {name}")
    for name, known in _KNOWN.items():
        _check_categories(frame, name, known.__contains__, ", ".join(known), fail)
    for name, (pattern, expected) in _PATTERNS.items():
        _check_categories(frame, name, pattern.fullmatch, expected, fail)
    for name in INTEGER_COLUMNS:
        wrong = (frame[name] < 1).fillna(False).to_numpy(dtype=bool)
        if wrong.any():
            row = int(wrong.argmax())
            raise fail(row, f"{name} {frame[name].iloc[row]}", "an integer of at least 1")
    # invalid observations may have a wrong unit
    combinations = frame.loc[frame["valid"], ["operation", "metric", "unit"]].drop_duplicates()
    for row, (operation, metric, unit) in zip(
        combinations.index, combinations.itertuples(index=False, name=None), strict=True
    ):
        allowed = METRICS[metric].units_of(operation)
        if unit not in allowed:
            expected = " or ".join(allowed) or f"another metric for {operation}"
            raise fail(int(row), f"unit {unit} for the {metric} of a {operation}", expected)
    values = frame["value"].to_numpy()
    wrong = ~(np.isfinite(values) & (values >= 0))
    if wrong.any():
        row = int(wrong.argmax())
        raise fail(row, f"value {values[row]}", "a finite number that is not negative")
    valid = frame["valid"].to_numpy()
    rates = valid & (frame["metric"] == "rate").to_numpy()
    wrong = rates & ~((values >= LEAST_RATE) & (values <= MOST_RATE))
    if wrong.any():
        row = int(wrong.argmax())
        expected = f"a rate of {LEAST_RATE:g} to {MOST_RATE:g}"
        raise fail(row, f"{values[row]:g} {frame['unit'].iloc[row]}", expected)
    silent = ~valid & frame["note"].isna().to_numpy()
    if silent.any():
        raise fail(int(silent.argmax()), "an invalid observation without a note", "the reason")
    repeated = frame.loc[valid, list(IDENTITY_COLUMNS)].duplicated()
    if repeated.to_numpy().any():
        row = int(np.flatnonzero(valid)[repeated.to_numpy().argmax()])
        described = ", ".join(
            f"{c} {v}" for c in IDENTITY_COLUMNS if not pd.isna(v := frame[c].iloc[row])
        )
        raise fail(row, f"a second observation of {described}", "each observation once")


def _check_categories(
    frame: pd.DataFrame,
    name: str,
    accepts: Callable[[str], object],
    expected: str,
    fail: _Fail,
) -> None:
    column = frame[name].cat
    for code, category in enumerate(column.categories):
        if not (isinstance(category, str) and accepts(category)):
            row = int((column.codes.to_numpy() == code).argmax())
            raise fail(row, f"{name} {category!r}", expected)
