"""What a scenario is, in words: what is done, who does it, and each of its fields."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from tlsperf.contract.index import ScenarioFact
from tlsperf.contract.names import size_name
from tlsperf.contract.operations import OPERATIONS
from tlsperf.contract.record import Scenario

_FULL: Final = "with certificates and a key exchange, as with a peer that it has not met"
_RESUMED: Final = "with what both sides kept of an earlier connection instead of certificates"

_WHY: Final = {
    ("transfer", "sender"): "A server that sends files does this, and a client that uploads: it "
    "bounds what one processor can send.",
    ("transfer", "receiver"): "A client that downloads does this, and a server that takes uploads: "
    "it bounds what one processor can receive.",
    ("full", "client"): "A client does this once for each server that it holds no session of: "
    "proxies, crawlers and clients of many services do it often.",
    ("full", "server"): "A server does this for each client that does not resume: it bounds the "
    "new connections that a processor accepts in a second.",
    ("resumed", "client"): "A client does this when it comes back to a server with a session that "
    "it kept.",
    ("resumed", "server"): "A server does this for each client that comes back with a session: it "
    "bounds the returning connections that a processor accepts in a second.",
}

_NOUNS: Final = {"sender": "sends", "receiver": "receives"}

_FACTS: Final = (
    ("protocol", "Protocol"),
    ("cipher_suite", "Cipher suite"),
    ("key_exchange", "Key exchange"),
    ("certificate", "Certificate"),
    ("authentication", "Authentication"),
    ("resumption", "Resumption"),
    ("side", "Side that is measured"),
    ("threads", "Threads"),
    ("size", "Bytes a write"),
    ("in_flight", "Bytes in flight"),
    ("record_size", "Largest record"),
    ("variant", "Variant"),
)

_VALUES: Final = {
    "resumption": {
        "none": "none: a full handshake",
        "resumed": "resumed, the source does not say by what",
        "session-id": "by session id",
        "ticket": "by ticket",
    },
    "authentication": {"server": "of the server", "mutual": "of both sides"},
    "certificate": {
        "rsa-2048": "RSA-2048",
        "rsa-4096": "RSA-4096",
        "ecdsa-p256": "ECDSA P-256",
        "ecdsa-p384": "ECDSA P-384",
        "ed25519": "Ed25519",
    },
}


def done(scenario: Scenario) -> str:
    """What is done, in a sentence."""
    s = scenario
    protocol = f"TLS {s.protocol}" if s.protocol else "TLS"
    if s.operation == "transfer":
        cipher = f", encrypted with {s.cipher_suite}" if s.cipher_suite else ""
        return f"One side {_NOUNS.get(s.side or '', 'moves')} data over {protocol}{cipher}."
    if s.operation == "handshake":
        who = f"A {s.side}" if s.side else "Client and server, together,"
        ending = "s" if s.side else ""
        if _is_full(s):
            return f"{who} make{ending} a full handshake in {protocol}, {_FULL}."
        return f"{who} resume{ending} a session in {protocol}, {_RESUMED}."
    if s.operation == "primitive":
        return f"The cryptography below the library does {s.variant}, without TLS."
    variant = f": {s.variant}" if s.variant else ""
    return f"{OPERATIONS[s.operation].name}{variant}."


def why(scenario: Scenario) -> str:
    """Who does it, and what it bounds, in a sentence; empty for what no program does by itself."""
    s = scenario
    kind: str = s.operation
    if kind == "handshake":
        kind = "full" if _is_full(s) else "resumed"
    return _WHY.get((kind, s.side or ""), "")


def _is_full(scenario: Scenario) -> bool:
    return scenario.resumption in (None, "none")


def facts(scenarios: Iterable[Scenario]) -> list[ScenarioFact]:
    """The fields that reports record of one scenario. Where they record different ones, or some of
    them none, the fact says so."""
    known = list(scenarios)
    found = []
    for field, name in _FACTS:
        if field == "resumption" and known[0].operation != "handshake":
            continue
        values = [getattr(scenario, field) for scenario in known]
        words = dict.fromkeys(_words(field, value) for value in values if value is not None)
        if words:
            some = "; not recorded by every report" if None in values else ""
            found.append(ScenarioFact(name=name, value=f"{' or '.join(words)}{some}"))
    return found


def _words(field: str, value: str | int) -> str:
    if field == "protocol":
        return f"TLS {value}"
    if isinstance(value, int):
        return str(value) if field == "threads" else size_name(value)
    return _VALUES.get(field, {}).get(value, value)
