"""Published comparison tables, computed again from the raw data to the last digit.

A file `data/comparisons/<name>.toml` defines the two implementations, the scenarios and the
estimator of a published table (contract/comparisons.py). The CSV beside it has the table as it was
printed. The definition lists the errors of the source with the correct values, so the computed
table differs from the printed one in exactly these cells.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final, Literal, NamedTuple

from tlsperf.analysis.diff import row_pairs
from tlsperf.analysis.ratios import factor_text
from tlsperf.analysis.series import MeasuredRun, Series, rounded
from tlsperf.analysis.statistics import summary
from tlsperf.contract.comparisons import ComparedTable, Definition
from tlsperf.contract.errors import UserError
from tlsperf.contract.record import Identifier, Scenario
from tlsperf.contract.results import PublishedTable
from tlsperf.contract.text import csv_text, markdown_table
from tlsperf.contract.variant import parse_variant

_CIPHERS: Final = {
    "AES_128_GCM_SHA256": "AES128-GCM_SHA256",
    "AES_256_GCM_SHA384": "AES256-GCM_SHA384",
    "CHACHA20_POLY1305_SHA256": "CHACHA20_POLY1305",
}
_SIDES: Final = {"sender": "sent", "receiver": "received"}
_HANDSHAKES: Final = {"none": "full", "session-id": "session-id", "ticket": "ticket"}


def scenario_label(scenario: Scenario) -> str | None:
    """The name of a scenario in the tables of December 2023; None if they do not have it."""
    s = scenario
    cipher = next((c for part, c in _CIPHERS.items() if f"_{part}" in (s.cipher_suite or "")), None)
    if cipher is None or s.variant is not None:
        return None
    if s.operation == "transfer" and s.side:
        return f"bulk_{s.protocol}_ECDHE_RSA_{cipher}_{_SIDES[s.side]}"
    if s.operation == "handshake" and s.side and s.resumption in _HANDSHAKES:
        kind = _HANDSHAKES[s.resumption]
        return f"handshake-{kind}_{s.protocol}_ECDHE_RSA_{cipher}_{s.side}"
    return None


class _Row(NamedTuple):
    label: str
    scenario: Scenario
    left: float
    right: float


def _rows(definition: Definition, table: ComparedTable, run: MeasuredRun) -> list[_Row]:
    """The scenarios of one table with the figures of both sides."""
    sides = (table.left, table.right)
    left, right = ([row for row in run.series if side in row.samples] for side in sides)
    found = []
    for row, other, name, *_ in row_pairs(left, right):
        if definition.layout == "memory":
            label = name if row.scenario.operation == "memory" else None
        else:
            label = scenario_label(row.scenario)
        if label is None or not any(fnmatchcase(label, p) for p in table.scenarios):
            continue
        if label not in table.without:
            figures = (_figure(definition, *of) for of in ((row, table.left), (other, table.right)))
            found.append(_Row(label, row.scenario, *figures))
    return found


def _figure(definition: Definition, row: Series, implementation: Identifier) -> float:
    """The figure that the source's estimator gives."""
    sample = row.samples[implementation]
    values = list(sample.valid.values())
    if definition.include_invalid or not values:
        values += sample.invalid
    return summary(values, row.definition.better).by(definition.estimator)


def lines_of(definition: Definition, run: MeasuredRun) -> list[list[str]]:
    """The lines of the published CSV, computed from the data, header first."""
    lines: list[list[str]] = []
    for table in definition.table:
        rows = _rows(definition, table, run)
        if definition.layout == "factor":
            lines += _factor_lines(table, rows)
        else:
            lines += _memory_lines(rows)
    headers = {
        "factor": ["table", "scenario", "left", "right", "left_median", "right_median", "factor"],
        "memory": [
            *("cipher_suite", "protocol", "sessions"),
            *(
                f"{label}_kib"
                for t in definition.table[:1]
                for label in (t.left_label, t.right_label)
            ),
            "change",
        ],
    }
    return [headers[definition.layout], *lines]


def _factor_lines(table: ComparedTable, rows: Sequence[_Row]) -> Iterator[list[str]]:
    for row in rows:
        yield [
            *(table.title, row.label, table.left_label, table.right_label),
            *(_number_text(row.left), _number_text(row.right), factor_text(row.right / row.left)),
        ]


def _number_text(value: float) -> str:
    """A figure as it was printed, without digits that only result from arithmetic."""
    return str(rounded(value, 9))


def _memory_lines(rows: Sequence[_Row]) -> Iterator[list[str]]:
    for row in rows:
        change = (row.right - row.left) / row.left
        yield [
            *(row.scenario.cipher_suite or "", row.scenario.protocol or ""),
            str(parse_variant(row.scenario.variant or "").number),
            *(f"{row.left:.0f}", f"{row.right:.0f}", f"{100 * change:.0f}%"),
        ]


def differences(
    definition: Definition, printed: Sequence[Sequence[str]], run: MeasuredRun, path: Path
) -> list[str]:
    """Differences between the computed table and the printed one, except for the errata.

    `path` is the definition's file. An erratum whose printed value is wrong is a difference too.
    Raises UserError if an erratum's cell does not exist.
    """
    place = path.parent / definition.published
    computed = lines_of(definition, run)
    expected = [list(line) for line in printed]
    found = []
    for erratum in definition.errata:
        try:
            column = printed[0].index(erratum.column)
            cell = printed[erratum.line - 1][column]
        except (ValueError, IndexError):
            raise UserError(
                f"{path}: {place} has no {erratum.column} in line {erratum.line}"
            ) from None
        if cell != erratum.printed:
            found.append(
                f"{place}:{erratum.line}: {cell!r} is not the {erratum.printed!r} of {path}"
            )
        expected[erratum.line - 1][column] = erratum.correct
    if len(expected) != len(computed):
        found.append(f"{place}: {len(expected)} lines, where the data give {len(computed)}")
    for number, (theirs, ours) in enumerate(zip(expected, computed, strict=False), start=1):
        if theirs != ours:
            found.append(
                f"{place}:{number}: {','.join(theirs)}, where the data give {','.join(ours)}"
            )
    return found


def tables(definition: Definition, run: MeasuredRun) -> list[PublishedTable]:
    """The tables of a definition, computed from the data, as pages show them."""
    header, *lines = lines_of(definition, run)
    if definition.layout == "memory":
        columns = ["Cipher suite", "TLS", "Sessions", *header[3:]]
        return [_table(definition.table[0].title, columns, lines)]
    return [
        _table(
            table.title,
            ["Scenario", table.left_label, table.right_label, "Factor"],
            [[line[1], *line[4:]] for line in lines if line[0] == table.title],
        )
        for table in definition.table
    ]


def _table(title: str, columns: list[str], rows: list[list[str]]) -> PublishedTable:
    anchor = "-".join(re.findall(r"[a-z0-9]+", f"published {title}".lower()))
    return PublishedTable(anchor=anchor, title=title, columns=columns, rows=rows)


def tables_text(
    definition: Definition, run: MeasuredRun, format_: Literal["markdown", "csv"]
) -> str:
    """All tables of a definition, as CSV, or as Markdown followed by the errata."""
    if format_ == "csv":
        return csv_text(lines_of(definition, run))
    parts = [
        f"## {table.title}\n\n{markdown_table(table.columns, table.rows, table.columns[1:])}"
        for table in tables(definition, run)
    ]
    parts += [
        f"Line {e.line}, {e.column}: the source prints {e.printed}, which is {e.correct}: "
        f"{e.reason}\n"
        for e in definition.errata
    ]
    return "\n".join(parts)
