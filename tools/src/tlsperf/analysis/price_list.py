"""The tables of a price list: what each shows, and the algorithms of its columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from tlsperf.contract.metrics import METRICS, Metric, Unit
from tlsperf.contract.prices import PriceKind
from tlsperf.contract.record import (
    CERTIFICATES,
    Authentication,
    Identifier,
    Phase,
    Resumption,
    Side,
)
from tlsperf.contract.variant import parse_variant


class Choice(NamedTuple):
    """The algorithms of a column."""

    id: Identifier
    key_exchange: str
    certificate: str
    variant: str | None = None
    resumption: Resumption = "none"
    against: Identifier | None = None
    """The column that a library is compared with, its own id for none; None: the first one."""

    @property
    def name(self) -> str:
        of = [] if self.resumption != "none" else [CERTIFICATES[self.certificate]]
        variant = [parse_variant(self.variant).name] if self.variant else []
        return ", ".join([self.key_exchange, *of, *variant])


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


def _early_data(resumption: Resumption) -> tuple[Choice, ...]:
    """Resumed handshakes of two key exchanges, each without and with early data."""
    return tuple(
        Choice(f"{group.lower()}{name}", group, "ecdsa-p256", variant, resumption, group.lower())
        for group in ("X25519", HYBRID)
        for name, variant in (("", None), ("-early-data", "early-data"))
    )


_TICKET: Final = _early_data("ticket")
_CACHE: Final = _early_data("session-id")
_COMPRESSED: Final = tuple(
    Choice(f"{key}{name}", HYBRID, key, variant, against=key)
    for key in ("rsa-2048", "ecdsa-p256", "ml-dsa-44")
    for name, variant in (("", None), ("-compressed", "compressed-zlib"))
)


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
    def in_pairs(self) -> bool:
        """Whether each second column is compared with the one before it, not with the first."""
        return self.choices[0].against is not None

    @property
    def anchor(self) -> str:
        mutual = "-mutual" if self.authentication == "mutual" else ""
        kind = "" if self.kind == "time" else f"-{self.kind}"
        part = self.part and f"-{self.part}"
        return f"prices{mutual}-{self.side}{kind}{part}"


OF_PRICE: Final[Mapping[str, Metric]] = {of.price: name for name, of in METRICS.items() if of.price}
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
        *("flight", side, of, title, OF_PRICE["flight"], "bytes/handshake"),
        phase=f"flight-{number}",
        shown="bytes",
        choices=choices,
        part=part,
    )


def _memory(side: Side, title: str) -> Quantity:
    return Quantity(
        *("memory", side, "server", title, OF_PRICE["memory"], "bytes/connection"),
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
    _time("server", "Early data, resumed by tickets: a server", _TICKET, "early-data"),
    _time("client", "Early data, resumed by tickets: a client", _TICKET, "early-data"),
    _time("server", "Early data, resumed by a session cache: a server", _CACHE, "early-data-cache"),
    _time("client", "Early data, resumed by a session cache: a client", _CACHE, "early-data-cache"),
    _time("server", "Compressed certificates: a server", _COMPRESSED, "compression"),
    _time("client", "Compressed certificates: a client", _COMPRESSED, "compression"),
    _flight(
        *("server", "Compressed certificates: the first flight of a server"),
        *(_COMPRESSED, "compression"),
    ),
)
"""The tables of a price list, in their order."""
