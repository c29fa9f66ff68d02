"""The tables of a price list: what each shows, and the algorithms of its columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from tlsperf.analysis.series import Key
from tlsperf.contract.metrics import METRICS, Metric, Unit
from tlsperf.contract.record import (
    CERTIFICATES,
    Authentication,
    Identifier,
    Phase,
    Resumption,
    Scenario,
    Side,
)
from tlsperf.contract.variant import parse_variant


class Choice(NamedTuple):
    """The algorithms of a column."""

    key_exchange: str
    certificate: str
    variant: str | None = None
    resumption: Resumption = "none"
    authentication: Authentication = "server"

    @property
    def name(self) -> str:
        certificate = [CERTIFICATES[self.certificate]] if self.resumption == "none" else []
        variant = [parse_variant(self.variant).name] if self.variant else []
        return ", ".join([self.key_exchange, *certificate, *variant])


class Figure(NamedTuple):
    """The series of a figure, but for their scenario."""

    metric: Metric
    unit: Unit
    phase: Phase


_OF_PRICE: Final = {of.price: name for name, of in METRICS.items() if of.price}
RATE: Final = Figure("rate", "handshakes/s", "total")
MEMORY: Final = Figure(_OF_PRICE["memory"], "bytes/connection", "data")
_FLIGHT, _SECOND_FLIGHT = (
    Figure(_OF_PRICE["flight"], "bytes/handshake", phase) for phase in ("flight-1", "flight-2")
)


def segments_of(key: Key) -> Key | None:
    """The series with the segments of a flight; None of other figures."""
    scenario, phase, metric, statistic, _ = key
    if metric != _FLIGHT.metric:
        return None
    return scenario, phase, _OF_PRICE["segments"], statistic, "segments/handshake"


@dataclass(frozen=True)
class PriceTable:
    """A table, and the series in which its figures are."""

    anchor: Identifier
    title: str
    choices: tuple[Choice, ...]
    side: Side
    figure: Figure = RATE

    def key(self, choice: Choice) -> Key:
        """The series of a column."""
        scenario = Scenario(
            operation="memory" if self.figure == MEMORY else "handshake",
            protocol="1.3",
            cipher_suite="TLS_AES_256_GCM_SHA384",
            side=self.side,
            threads=1,
            **choice._asdict(),
        )
        metric, unit, phase = self.figure
        return scenario, phase, metric, "value", unit

    @property
    def in_pairs(self) -> bool:
        """Whether each second column is compared with the one before it, not with the first."""
        return self.choices in (_TICKET, _CACHE, _COMPRESSED)

    def against(self, choice: Choice) -> Choice | None:
        """The column that another one is compared with; None for one that others are."""
        at = self.choices.index(choice)
        first = at - at % 2 if self.in_pairs else 0
        return self.choices[first] if at != first else None


# --- the columns ----------------------------------------------------------------------------------

_HYBRID_GROUP: Final = "X25519MLKEM768"


def _hybrid(certificate: str, variant: str | None = None) -> Choice:
    return Choice(_HYBRID_GROUP, certificate, variant)


def _early_data(resumption: Resumption) -> tuple[Choice, ...]:
    """Resumed handshakes, each without and with early data."""
    return tuple(
        Choice(group, "ecdsa-p256", variant, resumption)
        for group in ("X25519", _HYBRID_GROUP)
        for variant in (None, "early-data")
    )


_TODAY: Final = Choice("X25519", "ecdsa-p256")
_TODAYS_RSA: Final = Choice("X25519", "rsa-2048")
_HYBRID: Final = _hybrid("ecdsa-p256")
_ML_DSA: Final = tuple(_hybrid(f"ml-dsa-{size}") for size in (44, 65, 87))
_LEAF_44, _LEAF_65 = (_hybrid(f"ml-dsa-{size}", "issuer-ecdsa-p256") for size in (44, 65))

_ADOPTED: Final = (_TODAY, _HYBRID, _LEAF_44, *_ML_DSA)
"""In the order in which a server may adopt them."""
_IDLE_CHOICES: Final = (_TODAY, Choice("X25519", "ecdsa-p256", "released-buffers"), *_ADOPTED[1:])

_FROM_RSA: Final = (_TODAYS_RSA, _hybrid("rsa-2048"), *_ML_DSA)
_GROUPS: Final = (
    *(Choice(group, "ecdsa-p256") for group in ("X25519", "secp256r1", "secp384r1")),
    *(Choice(group, "ecdsa-p256") for group in (_HYBRID_GROUP, "SecP256r1MLKEM768", "MLKEM768")),
    _hybrid("ecdsa-p256", "hello-retry"),
)
_CERTIFICATES: Final = (
    *(_HYBRID, *map(_hybrid, ("rsa-2048", "ecdsa-p384", "ed25519"))),
    *(*_ML_DSA, _TODAYS_RSA),
)
_CHAINS: Final = (
    *(_HYBRID, _hybrid("ecdsa-p256", "chain-1"), _hybrid("ecdsa-p256", "chain-3")),
    *(_LEAF_44, _hybrid("ml-dsa-44", "chain-1"), _hybrid("ml-dsa-44")),
    *(_hybrid("ml-dsa-44", "chain-3"), _LEAF_65),
)
_MUTUAL: Final = tuple(of._replace(authentication="mutual") for of in (_HYBRID, *_ML_DSA))
_TICKET: Final = _early_data("ticket")
_CACHE: Final = _early_data("session-id")
_COMPRESSED: Final = tuple(
    _hybrid(certificate, variant)
    for certificate in ("rsa-2048", "ecdsa-p256", "ml-dsa-44")
    for variant in (None, "compressed-zlib")
)

# --- the tables -----------------------------------------------------------------------------------


def _times(anchor: str, title: str, choices: tuple[Choice, ...]) -> tuple[PriceTable, PriceTable]:
    """The times of a server and of a client; `anchor` has a gap for the side."""
    return (
        PriceTable(anchor.format("server"), f"{title}: a server", choices, "server"),
        PriceTable(anchor.format("client"), f"{title}: a client", choices, "client"),
    )


_FIRST: Final = "the first flight of a server"
_IDLE: Final = "Price list: memory of an idle connection"
_MUTUALLY: Final = "Mutual authentication"

PRICE_TABLES: Final = (
    *_times("prices-{}", "Price list", _ADOPTED),
    PriceTable("prices-server-flight", f"Price list: {_FIRST}", _ADOPTED, "server", _FLIGHT),
    # It depends on the key exchange alone.
    PriceTable(
        "prices-client-flight", "Price list: the ClientHello", _ADOPTED[:2], "client", _FLIGHT
    ),
    PriceTable("prices-server-memory", f"{_IDLE}, server", _IDLE_CHOICES, "server", MEMORY),
    PriceTable("prices-client-memory", f"{_IDLE}, client", _IDLE_CHOICES, "client", MEMORY),
    *_times("prices-{}-rsa", "From RSA-2048", _FROM_RSA),
    *_times("prices-{}-groups", "Key exchanges", _GROUPS),
    *_times("prices-{}-certificates", "Certificates", _CERTIFICATES),
    *_times("prices-{}-chains", "Chains", _CHAINS),
    PriceTable("prices-server-flight-chains", f"Chains: {_FIRST}", _CHAINS, "server", _FLIGHT),
    *_times("prices-mutual-{}", _MUTUALLY, _MUTUAL),
    PriceTable("prices-mutual-server-flight", f"{_MUTUALLY}: {_FIRST}", _MUTUAL, "server", _FLIGHT),
    PriceTable(
        "prices-mutual-client-flight",
        f"{_MUTUALLY}: the second flight of a client",
        _MUTUAL,
        "client",
        _SECOND_FLIGHT,
    ),
    *_times("prices-{}-early-data", "Early data, resumed by tickets", _TICKET),
    *_times("prices-{}-early-data-cache", "Early data, resumed by a session cache", _CACHE),
    *_times("prices-{}-compression", "Compressed certificates", _COMPRESSED),
    PriceTable(
        "prices-server-flight-compression",
        f"Compressed certificates: {_FIRST}",
        _COMPRESSED,
        "server",
        _FLIGHT,
    ),
)
"""In the order in which pages show them."""
