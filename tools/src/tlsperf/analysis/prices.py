"""The price list: a handshake from today's algorithms to post-quantum ones. Pure functions.

A column is a choice of a key exchange and of certificates. Each library is compared with itself:
the handshakes that a side loses are those of its rate against its rate in the first column, in
the same rounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from tlsperf.analysis.ratios import prior_of_ratios, sample_ratio, session_logs
from tlsperf.analysis.series import Key, Rules, Sample, Series, rounded
from tlsperf.analysis.sessions import Prior
from tlsperf.analysis.statistics import RatioEstimate
from tlsperf.contract.metrics import METRICS, Metric, Unit
from tlsperf.contract.prices import (
    SEGMENT,
    WINDOW,
    Lost,
    PriceCell,
    PriceColumn,
    PriceKind,
    PriceTable,
)
from tlsperf.contract.record import (
    CERTIFICATES,
    Authentication,
    Identifier,
    Phase,
    Scenario,
    Side,
)
from tlsperf.contract.results import Cell, Row, Table
from tlsperf.contract.text import ABSENT, value_text
from tlsperf.contract.variant import parse_variant
from tlsperf.contract.verdict import Verdict


class Choice(NamedTuple):
    """The algorithms of a column."""

    id: Identifier
    key_exchange: str
    certificate: str
    variant: str | None = None

    @property
    def name(self) -> str:
        parts = [self.key_exchange, CERTIFICATES[self.certificate]]
        return ", ".join([*parts, *([parse_variant(self.variant).name] if self.variant else [])])


HYBRID: Final = "X25519MLKEM768"


def _with(certificate: str, variant: str | None = None, name: str = "") -> Choice:
    """A column with the hybrid key exchange."""
    return Choice(name or certificate, HYBRID, certificate, variant)


TODAY: Final = Choice("x25519", "X25519", "ecdsa-p256")
_HYBRID: Final = _with("ecdsa-p256", name="x25519mlkem768")
_ML_DSA: Final = tuple(_with(f"ml-dsa-{size}") for size in (44, 65, 87))
_LEAF: Final = {
    size: _with(f"ml-dsa-{size}", "issuer-ecdsa-p256", f"ml-dsa-{size}-leaf") for size in (44, 65)
}

CHOICES: Final = (TODAY, _HYBRID, _LEAF[44], *_ML_DSA)
"""The columns, in the order in which a server may adopt them."""

_GROUPS: Final = (
    *(TODAY, Choice("secp256r1", "secp256r1", "ecdsa-p256")),
    *(Choice("secp384r1", "secp384r1", "ecdsa-p256"), _HYBRID),
    Choice("secp256r1mlkem768", "SecP256r1MLKEM768", "ecdsa-p256"),
    Choice("mlkem768", "MLKEM768", "ecdsa-p256"),
    _with("ecdsa-p256", "hello-retry", "hello-retry"),
)
_CHAINS: Final = (
    *(
        _HYBRID,
        _with("ecdsa-p256", "chain-1", "chain-1"),
        _with("ecdsa-p256", "chain-3", "chain-3"),
    ),
    *(_LEAF[44], _with("ml-dsa-44", "chain-1", "ml-dsa-44-chain-1"), _ML_DSA[0]),
    *(_with("ml-dsa-44", "chain-3", "ml-dsa-44-chain-3"), _LEAF[65]),
)
_TODAYS_RSA: Final = Choice("x25519-rsa-2048", "X25519", "rsa-2048")
_CERTIFICATES: Final = (
    *(_HYBRID, _with("rsa-2048"), _with("ecdsa-p384"), _with("ed25519")),
    *(*_ML_DSA, _TODAYS_RSA),
)
_RSA: Final = (_TODAYS_RSA, _with("rsa-2048"), *_ML_DSA)
_MUTUAL: Final = (_HYBRID, *_ML_DSA)


@dataclass(frozen=True)
class Quantity:
    """What a table of the price list shows, and in which series it is."""

    kind: PriceKind
    side: Side
    authentication: Authentication
    title: str
    metric: Metric
    unit: Unit
    phase: Phase = "total"
    shown: Unit = ""
    """The unit that readers see, if it is another one."""
    choices: tuple[Choice, ...] = CHOICES
    part: str = ""
    """What its columns compare, if they are not those of the other tables."""

    @property
    def anchor(self) -> str:
        mutual = "-mutual" if self.authentication == "mutual" else ""
        kind = "" if self.kind == "time" else f"-{self.kind}"
        part = self.part and f"-{self.part}"
        return f"prices{mutual}-{self.side}{kind}{part}"


_OF_PRICE: Final[Mapping[str, Metric]] = {
    of.price: name for name, of in METRICS.items() if of.price
}
"""The metrics of bytes, segments and memory."""


def _time(
    side: Side, title: str, choices: tuple[Choice, ...] = CHOICES, part: str = ""
) -> Quantity:
    of: Authentication = "mutual" if choices == _MUTUAL else "server"
    return Quantity(
        *("time", side, of, title, "rate", "handshakes/s"), shown="µs", choices=choices, part=part
    )


def _flight(
    side: Side, title: str, choices: tuple[Choice, ...] = CHOICES, part: str = "", number: int = 1
) -> Quantity:
    of: Authentication = "mutual" if choices == _MUTUAL else "server"
    return Quantity(
        *("flight", side, of, title, _OF_PRICE["flight"], "bytes/handshake"),
        phase=f"flight-{number}",
        shown="bytes",
        choices=choices,
        part=part,
    )


def _memory(side: Side, title: str) -> Quantity:
    return Quantity(
        *("memory", side, "server", title, _OF_PRICE["memory"], "bytes/connection"),
        phase="data",
        shown="bytes",
    )


QUANTITIES: Final = (
    _time("server", "Price list: a server"),
    _time("client", "Price list: a client"),
    _flight("server", "Price list: the first flight of a server"),
    # It depends on the key exchange alone.
    _flight("client", "Price list: the ClientHello", CHOICES[:2]),
    _memory("server", "Price list: memory of an idle connection, server"),
    _memory("client", "Price list: memory of an idle connection, client"),
    _time("server", "From RSA-2048: a server", _RSA, "rsa"),
    _time("client", "From RSA-2048: a client", _RSA, "rsa"),
    _time("server", "Key exchanges: a server", _GROUPS, "groups"),
    _time("client", "Key exchanges: a client", _GROUPS, "groups"),
    _time("server", "Certificates: a server", _CERTIFICATES, "certificates"),
    _time("client", "Certificates: a client", _CERTIFICATES, "certificates"),
    _time("server", "Chains: a server", _CHAINS, "chains"),
    _time("client", "Chains: a client", _CHAINS, "chains"),
    _flight("server", "Chains: the first flight of a server", _CHAINS, "chains"),
    _time("server", "Mutual authentication: a server", _MUTUAL),
    _time("client", "Mutual authentication: a client", _MUTUAL),
    _flight("server", "Mutual authentication: the first flight of a server", _MUTUAL),
    _flight("client", "Mutual authentication: the second flight of a client", _MUTUAL, number=2),
)
"""The tables of a price list, in their order."""


# --- which series ---------------------------------------------------------------------------------


class _Of(NamedTuple):
    choice: Choice
    series: Series


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
        and scenario.resumption == "none"
        and scenario.threads == 1
        and scenario.side == quantity.side
        and scenario.authentication == quantity.authentication
    )


def _has(scenario: Scenario, choice: Choice) -> bool:
    return (scenario.key_exchange, scenario.certificate, scenario.variant) == choice[1:]


def _is_price_list(rows: Sequence[Series]) -> bool:
    """Whether a server was timed with the first column and with a certificate of ML-DSA."""
    timed = {of.choice.id for of in _found(rows, QUANTITIES[0])}
    return TODAY.id in timed and any(of.startswith("ml-dsa") for of in timed)


class _Pair(NamedTuple):
    """A library in a column, with its rounds there and in the first column of the table."""

    first: Series
    series: Series
    implementation: Identifier

    @property
    def samples(self) -> tuple[Sample, Sample]:
        """Those of the column, and those of the first one."""
        return self.series.samples[self.implementation], self.first.samples[self.implementation]


def _pairs(found: Sequence[_Of], rules: Rules) -> Iterator[_Pair]:
    """Each library in each column but the first."""
    first = found[0].series
    for of in found[1:]:
        for implementation in of.series.samples:
            if implementation not in first.samples:
                continue
            pair = _Pair(first, of.series, implementation)
            after, before = pair.samples
            if after.counts and before.counts and rules.are_comparable(after, before):
                yield pair


def _all_pairs(rows: Sequence[Series], rules: Rules) -> list[_Pair]:
    """The pairs of all tables of times, each once."""
    timed = [_found(rows, quantity) for quantity in QUANTITIES if quantity.kind == "time"]
    found: dict[tuple[Key, Key, Identifier], _Pair] = {}
    for columns in timed:
        for pair in _pairs(columns, rules) if columns else ():
            found.setdefault((pair.first.key, pair.series.key, pair.implementation), pair)
    return list(found.values())


def _have_rounds(pair: _Pair) -> bool:
    return all(sample.has_rounds for sample in pair.samples)


def tested_prices(rows: Sequence[Series], rules: Rules) -> int:
    """The number of tested losses: they count as comparisons of the page."""
    return sum(map(_have_rounds, _all_pairs(rows, rules))) if _is_price_list(rows) else 0


# --- the tables -----------------------------------------------------------------------------------


def price_tables(
    rows: Sequence[Series],
    tables: Sequence[Table],
    rules: Rules,
    implementations: Sequence[Identifier],
) -> list[PriceTable]:
    """The price list of a report, empty if it has no rates with certificates of ML-DSA.

    `tables` have the rows of the series: their anchors, intervals and reasons.
    """
    if not _is_price_list(rows):
        return []
    prior = _prior(_all_pairs(rows, rules), rules)
    shown = {
        (row.scenario, row.phase, row.metric, row.statistic, table.unit): row
        for table in tables
        for row in table.rows
    }
    found = []
    for quantity in QUANTITIES:
        columns = _found(rows, quantity)
        if len(columns) < 2 or columns[0].choice != quantity.choices[0]:
            continue
        lost = _losses(columns, rules, prior) if quantity.kind == "time" else {}
        found.append(_table(quantity, columns, shown, lost, rules, implementations))
    return found


def _table(
    quantity: Quantity,
    columns: Sequence[_Of],
    shown: Mapping[Key, Row],
    lost: Mapping[tuple[Key, Identifier], Lost],
    rules: Rules,
    implementations: Sequence[Identifier],
) -> PriceTable:
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
        made.append(
            PriceColumn(id=of.choice.id, name=of.choice.name, row=row.anchor, cells=in_column)
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
    key = (series.scenario, series.phase, _OF_PRICE["segments"], "value", "segments/handshake")
    row = shown.get(key)
    return {c.implementation: round(c.value) for c in (row.cells if row else []) if c.value}


def _losses(
    columns: Sequence[_Of], rules: Rules, prior: Prior
) -> dict[tuple[Key, Identifier], Lost]:
    """The losses of each library in each column of a table."""
    found = {}
    for pair in _pairs(columns, rules):
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
            return (
                "Processor time of this side for one full TLS 1.3 handshake, and the part of its "
                "handshakes per second that a library loses against its own first column, in the "
                f"same rounds; intervals corrected for {rules.comparisons} comparisons."
            )
        case "flight":
            return (
                "Bytes that this side sends until the peer answers, and the TCP segments of "
                f"{SEGMENT:,} bytes that they fill; the initial window has {WINDOW} (RFC 6928)."
            )
        case _:
            return "Bytes that one more idle connection has allocated on this side, after data."
