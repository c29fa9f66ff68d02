"""The readable name and the anchor of a scenario."""

from __future__ import annotations

import re
from typing import Final

from tlsperf.contract.record import CERTIFICATES, ML_DSA, Scenario
from tlsperf.contract.variant import parse_variant

_CIPHERS: Final = {
    "AES_128_GCM": "AES-128-GCM",
    "AES_256_GCM": "AES-256-GCM",
    "CHACHA20_POLY1305": "CHACHA20-POLY1305",
}


_SIDES: Final = {
    "client": "client",
    "server": "server",
    "sender": "sending",
    "receiver": "receiving",
}

_PACKET_SIDES: Final = {**_SIDES, "sender": "sealing", "receiver": "opening"}


_RESUMPTIONS: Final = {
    None: "handshake",
    "none": "full handshake",
    "resumed": "resumed handshake",
    "session-id": "resumed handshake",
    "ticket": "resumed handshake",
}


def cipher_name(cipher_suite: str) -> str:
    """The AEAD of an IANA cipher suite: AES-256-GCM. An unknown cipher suite is returned
    unchanged.
    """
    for part, name in _CIPHERS.items():
        if f"_{part}_" in f"{cipher_suite}_":
            return name
    return cipher_suite


def size_name(size: int) -> str:
    """Bytes in the largest binary unit that divides them: 16 B, 8 KiB, 1 MiB."""
    for unit, factor in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size % factor == 0:
            return f"{size // factor} {unit}"
    return f"{size} B"


def scenario_name(scenario: Scenario) -> str:
    """The readable name of a scenario; within a report, equal names mean equal scenarios.

    The name leaves out what is the same in every main report: the certificate and the group of a
    transfer, the certificate and AES-256-GCM of a resumed handshake, server authentication, one
    thread. It also leaves out the size of writes if it is `in_flight`, or 1 MiB without
    `in_flight`, and the certificate of a connection whose memory is measured, except ML-DSA.
    """
    s = scenario
    parts: list[str] = []
    handshake = s.operation == "handshake"
    packet = s.operation == "quic-packet"
    kind = _RESUMPTIONS[s.resumption] if handshake else s.operation.replace("-", " ")
    kind = "QUIC packet protection" if packet else kind
    parts.append(f"TLS {s.protocol} {kind}" if s.protocol else kind)
    if s.resumption == "session-id":
        parts.append("session id")
    elif s.resumption == "ticket":
        parts.append("ticket")
    if s.cipher_suite:
        cipher = cipher_name(s.cipher_suite)
        if s.operation == "transfer" or packet or cipher != "AES-256-GCM":
            parts.append(cipher)
    presents = s.operation in ("handshake", "set-up", "connection") or (
        s.operation == "memory" and s.certificate in ML_DSA
    )
    if s.certificate and presents and s.resumption in (None, "none"):
        parts.append(CERTIFICATES.get(s.certificate, s.certificate))
    if s.key_exchange and s.operation != "transfer":
        parts.append(s.key_exchange)
    if s.authentication == "mutual":
        parts.append("mutual")
    if s.in_flight:
        parts.append(f"{size_name(s.in_flight)} in flight")
    usual_size = (s.in_flight or 1 << 20) if s.operation == "transfer" else None
    if s.size and s.size != usual_size:
        parts.append(
            f"{size_name(s.size)} writes" if s.operation == "transfer" else size_name(s.size)
        )
    if s.record_size:
        parts.append(f"{size_name(s.record_size)} records")
    if s.variant:
        parts.append(parse_variant(s.variant).name)
    if s.threads and s.threads != 1:
        parts.append(f"{s.threads} threads")
    if s.side:
        parts.append((_PACKET_SIDES if packet else _SIDES)[s.side])
    return ", ".join(parts)


def scenario_anchor(scenario: Scenario) -> str:
    """The permanent anchor of a scenario: full-handshake-1-3-ecdsa-p256 for "TLS 1.3 full
    handshake, ECDSA P-256".

    Anchors keep the word order and spelling that names had when anchors were first published.
    """
    name = re.sub(r"^TLS (1\.[0-9]) ([^,]+)", r"\2 \1", scenario_name(scenario))
    return anchor_of(name.replace("ECDSA P-", "ECDSA-P"))


def scenario_path(scenario: Scenario) -> str:
    """KIND/PROTOCOL/NAME of a scenario in a suite, as `tlsbench list` prints it and `--only` takes
    it: full/1.3/rsa-2048-x25519. A suite's scenario is for both sides.
    """
    s = scenario
    kind: str = s.operation
    if kind == "handshake":
        kind = "full" if s.resumption in (None, "none") else "resumed"
    _, _, name = scenario_name(s.model_copy(update={"side": None})).partition(", ")
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    return "/".join(filter(None, [kind, s.protocol, slug]))


def anchor_of(name: str) -> str:
    """A name in lower case, with its words joined by hyphens."""
    lower = name.lower().replace("+", "-and-")
    kept = "".join(c if c.isascii() and (c.isalnum() or c == ".") else "-" for c in lower)
    return "-".join(word for word in kept.split("-") if word).replace(".", "-")
