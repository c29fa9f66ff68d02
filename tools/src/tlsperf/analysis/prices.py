"""The price list: a handshake from today's algorithms to post-quantum ones. Pure functions.

A column is a choice of a key exchange and of certificates. Each library is compared with itself:
the handshakes that a side loses are those of its rate against its rate in another column, in the
same rounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from tlsperf.analysis.price_list import OF_PRICE, QUANTITIES, TODAY, Choice, Quantity
from tlsperf.analysis.ratios import prior_of_ratios, sample_ratio, session_logs
from tlsperf.analysis.series import Key, Rules, Sample, Series, rounded
from tlsperf.analysis.sessions import Prior
from tlsperf.analysis.statistics import RatioEstimate
from tlsperf.contract.prices import SEGMENT, WINDOW, Lost, PriceCell, PriceColumn, PriceTable
from tlsperf.contract.record import Identifier, Scenario
from tlsperf.contract.results import Cell, Row, Table
from tlsperf.contract.text import ABSENT, value_text
from tlsperf.contract.verdict import Verdict

# --- which series ---------------------------------------------------------------------------------


class _Of(NamedTuple):
    choice: Choice
    series: Series


class _Columns(NamedTuple):
    """A table with the series of the columns that were measured."""

    quantity: Quantity
    columns: Sequence[_Of]

    def against(self, of: _Of) -> _Of | None:
        """The column that another one is compared with; None for one that others are."""
        first = of.choice.against or self.columns[0].choice.id
        found = (it for it in self.columns if it.choice.id == first and it is not of)
        return next(found, None)


def _found(rows: Sequence[Series], quantity: Quantity) -> list[_Of]:
    """The series of each column; columns that were not measured are left out."""
    wanted = [
        row
        for row in rows
        if (row.metric, row.unit, row.phase) == (quantity.metric, quantity.unit, quantity.phase)
        and row.statistic == "value"
        and _is_of(row.scenario, quantity)
    ]
    return [
        _Of(choice, row)
        for choice in quantity.choices
        for row in wanted
        if _has(row.scenario, choice)
    ]


def _is_of(scenario: Scenario, quantity: Quantity) -> bool:
    operation = "memory" if quantity.kind == "memory" else "handshake"
    return (
        scenario.operation == operation
        and scenario.protocol == "1.3"
        and scenario.cipher_suite == "TLS_AES_256_GCM_SHA384"
        and scenario.threads == 1
        and scenario.side == quantity.side
        and scenario.authentication == quantity.authentication
    )


def _has(scenario: Scenario, choice: Choice) -> bool:
    return (
        scenario.key_exchange == choice.key_exchange
        and scenario.certificate == choice.certificate
        and scenario.variant == choice.variant
        and scenario.resumption == choice.resumption
    )


def _listed(rows: Sequence[Series]) -> list[_Columns]:
    """The tables of a report, each with its first column and others.

    The tables from today's algorithms to post-quantum ones need a server that was timed with both;
    memory is also shown alone. Tables of pairs need a pair.
    """
    found = [_Columns(quantity, _found(rows, quantity)) for quantity in QUANTITIES]
    timed = _is_post_quantum(found[0])
    return [
        table
        for table in found
        if len(table.columns) > 1
        and table.columns[0].choice == table.quantity.choices[0]
        and (
            any(map(table.against, table.columns))
            if table.quantity.in_pairs
            else timed or (table.quantity.kind == "memory" and _is_post_quantum(table))
        )
    ]


def _is_post_quantum(table: _Columns) -> bool:
    """Whether a table has today's algorithms and a certificate of ML-DSA."""
    ids = {of.choice.id for of in table.columns}
    return TODAY.id in ids and any(of.startswith("ml-dsa") for of in ids)


class _Pair(NamedTuple):
    """A library in a column, with its rounds there and in the column that it is compared with."""

    first: Series
    series: Series
    implementation: Identifier

    @property
    def samples(self) -> tuple[Sample, Sample]:
        """Those of the column, and those of the other one."""
        return self.series.samples[self.implementation], self.first.samples[self.implementation]


def _pairs(table: _Columns, rules: Rules) -> Iterator[_Pair]:
    """Each library in each column that is compared with another one."""
    for of in table.columns:
        if (other := table.against(of)) is None:
            continue
        first = other.series
        for implementation in of.series.samples:
            if implementation not in first.samples:
                continue
            pair = _Pair(first, of.series, implementation)
            after, before = pair.samples
            if after.counts and before.counts and rules.are_comparable(after, before):
                yield pair


def _all_pairs(tables: Sequence[_Columns], rules: Rules) -> list[_Pair]:
    """The pairs of all tables of times, each once."""
    found: dict[tuple[Key, Key, Identifier], _Pair] = {}
    for table in tables:
        for pair in _pairs(table, rules) if table.quantity.kind == "time" else ():
            found.setdefault((pair.first.key, pair.series.key, pair.implementation), pair)
    return list(found.values())


def _have_rounds(pair: _Pair) -> bool:
    return all(sample.has_rounds for sample in pair.samples)


def tested_prices(rows: Sequence[Series], rules: Rules) -> int:
    """The number of tested losses: they count as comparisons of the page."""
    return sum(map(_have_rounds, _all_pairs(_listed(rows), rules)))


# --- the tables -----------------------------------------------------------------------------------


def price_tables(
    rows: Sequence[Series],
    tables: Sequence[Table],
    rules: Rules,
    implementations: Sequence[Identifier],
) -> list[PriceTable]:
    """The price list of a report, empty if it has none of its tables.

    `tables` have the rows of the series: their anchors, intervals and reasons.
    """
    listed = _listed(rows)
    prior = _prior(_all_pairs(listed, rules), rules)
    shown = {
        (row.scenario, row.phase, row.metric, row.statistic, table.unit): row
        for table in tables
        for row in table.rows
    }
    found = []
    for table in listed:
        lost = _losses(table, rules, prior) if table.quantity.kind == "time" else {}
        found.append(_table(table, shown, lost, rules, implementations))
    return found


def _table(
    table: _Columns,
    shown: Mapping[Key, Row],
    lost: Mapping[tuple[Key, Identifier], Lost],
    rules: Rules,
    implementations: Sequence[Identifier],
) -> PriceTable:
    quantity, columns = table
    of_rows = [shown[of.series.key] for of in columns]
    cells = [{cell.implementation: cell for cell in row.cells} for row in of_rows]
    involved = [i for i in implementations if any(i in of for of in cells)]
    made = []
    for of, row, known in zip(columns, of_rows, cells, strict=True):
        segments = _segments(of.series, shown) if quantity.kind == "flight" else {}
        in_column = [
            _cell(
                quantity,
                i,
                known.get(i),
                lost.get((of.series.key, i)),
                segments.get(i),
            )
            for i in involved
        ]
        against = table.against(of)
        made.append(
            PriceColumn(
                id=of.choice.id,
                name=of.choice.name,
                row=row.anchor,
                against=against and against.choice.id,
                cells=in_column,
            )
        )
    return PriceTable(
        anchor=quantity.anchor,
        title=quantity.title,
        caption=_caption(quantity, rules),
        kind=quantity.kind,
        side=quantity.side,
        authentication=quantity.authentication,
        unit=quantity.shown,
        implementations=involved,
        columns=made,
    )


def _cell(
    quantity: Quantity,
    implementation: Identifier,
    cell: Cell | None,
    lost: Lost | None,
    segments: int | None,
) -> PriceCell:
    """A cell of the price list from that of the row."""
    if cell is None or cell.value is None or not cell.valid:
        note = (cell and cell.note) or "not measured"
        return PriceCell(implementation=implementation, text=ABSENT, note=note)
    if quantity.kind != "time":
        return PriceCell(
            implementation=implementation, value=cell.value, text=cell.text, segments=segments
        )
    micros = 1e6 / cell.value
    interval = None
    if cell.low and cell.high:
        ends = (value_text(1e6 / bound, "µs", micros) for bound in (cell.high, cell.low))
        interval = " to ".join(ends)
    return PriceCell(
        implementation=implementation,
        value=rounded(micros),
        text=value_text(micros, "µs"),
        interval=interval,
        lost=lost,
    )


def _segments(series: Series, shown: Mapping[Key, Row]) -> dict[Identifier, int]:
    """The segments of a flight, by library."""
    key = (series.scenario, series.phase, OF_PRICE["segments"], "value", "segments/handshake")
    row = shown.get(key)
    return {c.implementation: round(c.value) for c in (row.cells if row else []) if c.value}


def _losses(table: _Columns, rules: Rules, prior: Prior) -> dict[tuple[Key, Identifier], Lost]:
    """The losses of each library in each column of a table."""
    found = {}
    for pair in _pairs(table, rules):
        estimate = sample_ratio(*pair.samples, pair.series, rules, prior)
        if estimate is not None:
            found[pair.series.key, pair.implementation] = lost_of(estimate)
    return found


def _prior(pairs: Sequence[_Pair], rules: Rules) -> Prior:
    """One prior for all tables, so that a loss has one interval in all of them."""
    return prior_of_ratios(
        session_logs(*pair.samples, rules.pairs) for pair in pairs if _have_rounds(pair)
    )


def lost_of(estimate: RatioEstimate) -> Lost:
    """The handshakes that a rate loses, from its ratio to the rate in the first column."""
    percent = _percent(estimate.value)
    verdict = estimate.verdict
    ends = None
    if verdict not in ("too few rounds", "not tested") and estimate.low and estimate.high:
        ends = _percent(estimate.high), _percent(estimate.low)
    return Lost(
        percent=percent,
        low=ends and ends[0],
        high=ends and ends[1],
        verdict=verdict,
        text=_lost_text(percent, ends, verdict),
    )


def _percent(ratio: float) -> float:
    return rounded(100 * (1 - ratio), 6)


def _lost_text(percent: float, ends: tuple[float, float] | None, verdict: Verdict) -> str:
    text = _amount(percent)
    if ends is None:
        return f"{text}, {verdict}"
    low, high = ends
    match verdict:
        case "faster":
            return f"{text} ({-high:.1f} to {-low:.1f}%)"
        case "slower":
            return f"{text} ({low:.1f} to {high:.1f}%)"
        case _:
            return f"{verdict} ({_amount(low)} to {_amount(high)})"


def _amount(percent: float) -> str:
    """The amount and its direction: 31.2% lost, 3.0% gained."""
    return f"{abs(percent):.1f}% {'gained' if percent < 0 else 'lost'}"


# --- captions -------------------------------------------------------------------------------------


def _caption(quantity: Quantity, rules: Rules) -> str:
    match quantity.kind:
        case "time":
            handshake = "full" if quantity.choices[0].resumption == "none" else "resumed"
            other = "the column before" if quantity.in_pairs else "its own first column"
            return (
                f"Processor time of this side for one {handshake} TLS 1.3 handshake, and the part "
                f"of its handshakes per second that a library loses against {other}, in the same "
                f"rounds; intervals corrected for {rules.comparisons} comparisons."
            )
        case "flight":
            return (
                "Bytes that this side sends until the peer answers, and the TCP segments of "
                f"{SEGMENT:,} bytes that they fill; the initial window has {WINDOW} (RFC 6928)."
            )
        case _:
            return "Bytes that one more idle connection has allocated on this side, after data."
