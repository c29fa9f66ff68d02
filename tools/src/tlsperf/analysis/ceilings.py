"""Primitive ceilings: the primitives that a side cannot do without, and their share of its time.

This is the only list of the primitives of a scenario. A handshake needs asymmetric primitives:

- Each side makes a key pair and agrees with it (RFC 8446, 4.2.8; TLS 1.2: RFC 8422, 5.4 and 5.7).
  With ML-KEM the client makes a key pair and decapsulates, and the server encapsulates; a hybrid
  group needs both (draft-ietf-tls-ecdhe-mlkem, 4).
- A side with a certificate signs once (RFC 8446, 4.4.3; TLS 1.2: RFC 8422, 5.4 and 5.8).
- Its peer verifies that signature, and one signature for each certificate below the trusted root
  (RFC 8446, 4.4.2; RFC 5280, 6.1). The usual chain has two: a leaf and an intermediate.
- A resumed handshake in TLS 1.3 needs the key exchange alone (RFC 8446, 4.2.9).

A transfer seals or opens each record once (RFC 8446, 5.2): its primitive has the size of its
records.

The ceiling is the rate of a side that would do nothing else. The share is the time of the
primitives by themselves, divided by the time of the side.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final, Literal, NamedTuple

from tlsperf.contract.names import cipher_name
from tlsperf.contract.record import Scenario
from tlsperf.contract.variant import sized_primitive

RECORD_BYTES: Final = 16384
"""The largest plaintext of a TLS record (RFC 8446, 5.1); bulk transfers fill their records."""

_DIRECTIONS: Final[Mapping[str, Literal["seal", "open"]]] = {"sender": "seal", "receiver": "open"}

_ML_KEM: Final = "ml-kem-768"
_PARTS: Final = {
    "X25519": ("x25519",),
    "secp256r1": ("secp256r1",),
    "secp384r1": ("secp384r1",),
    "X25519MLKEM768": ("x25519", _ML_KEM),
    "SecP256r1MLKEM768": ("secp256r1", _ML_KEM),
    "MLKEM768": (_ML_KEM,),
}
"""The key exchanges that a group combines."""

_BELOW_ROOT: Final = {None: 2, "chain-1": 1, "chain-3": 3, "issuer-ecdsa-p256": 2}
"""The certificates that are verified, by variant."""

_ISSUERS: Final = {"issuer-ecdsa-p256": "ecdsa-p256"}
"""The key that signs certificates, if it is not of the leaf's type."""


def primitives_of(scenario: Scenario) -> Counter[str] | None:
    """How often a side performs each primitive; None if that is not known of the scenario.

    A transfer has the primitive of one record.
    """
    if scenario.threads not in (None, 1):
        return None
    if scenario.operation == "transfer":
        name = primitive_of_transfer(scenario)
        return None if name is None else Counter([name])
    if scenario.operation != "handshake" or scenario.side not in ("client", "server"):
        return None
    if scenario.resumption == "none":
        return _full(scenario)
    alone = scenario.variant is None and scenario.resumption is not None
    return _key_exchange(scenario) if alone and scenario.protocol == "1.3" else None


def primitive_of_transfer(scenario: Scenario) -> str | None:
    """The primitive with the size of a transfer's records; None if its side is not recorded."""
    direction = _DIRECTIONS.get(scenario.side or "")
    if not (direction and scenario.cipher_suite):
        return None
    size = min(scenario.record_size or RECORD_BYTES, scenario.size or RECORD_BYTES)
    return sized_primitive(cipher_name(scenario.cipher_suite).lower(), direction, size)


def _full(s: Scenario) -> Counter[str] | None:
    exchange = _key_exchange(s)
    below = _BELOW_ROOT.get(s.variant)
    if exchange is None or below is None or s.certificate is None or s.authentication is None:
        return None
    sign, verify = f"{s.certificate}-sign", f"{s.certificate}-verify"
    issuer = f"{_ISSUERS.get(s.variant or '', s.certificate)}-verify"
    presents, receives = Counter([sign]), Counter([verify]) + Counter({issuer: below})
    if s.authentication == "mutual":
        return exchange + presents + receives
    return exchange + (presents if s.side == "server" else receives)


def _key_exchange(s: Scenario) -> Counter[str] | None:
    """One key exchange; None if the group is not recorded."""
    parts = _PARTS.get(s.key_exchange or "")
    if parts is None:
        return None
    encapsulates = s.side == "server"
    found: Counter[str] = Counter()
    for part in parts:
        if part != _ML_KEM:
            found.update((f"{part}-generate", f"{part}-agree"))
        elif encapsulates:
            found.update((f"{part}-encapsulate",))
        else:
            found.update((f"{part}-generate", f"{part}-decapsulate"))
    return found


ABOVE: Final = "above its ceiling, so the two were not measured in the same way"
"""The note of a share of more than 100%."""


class Estimate(NamedTuple):
    """A rate or a share (0.6 is 60%), with the ends of its interval if it has one."""

    value: float
    low: float | None = None
    high: float | None = None


def share(
    needed: Mapping[str, int], rates: Mapping[str, Estimate], side: Estimate
) -> Estimate | None:
    """The share of the primitives in the time of a side; None if a primitive was not measured.

    All rates count the same: operations, or bytes. The interval joins the worst ends of all
    intervals, so it is not too narrow; without one of them there is none.
    """

    def part(rate: float | None, end: Callable[[Estimate], float | None]) -> float | None:
        total = 0.0
        for name, times in needed.items():
            if name not in rates or not (of := end(rates[name])):
                return None
            total += times / of
        return None if rate is None else total * rate

    value = part(side.value, lambda of: of.value)
    if not value:
        return None
    return Estimate(value, part(side.low, lambda of: of.high), part(side.high, lambda of: of.low))
