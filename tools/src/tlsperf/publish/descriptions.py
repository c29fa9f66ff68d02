"""Describes a scenario in words: what is done, who does it, and each of its fields."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from tlsperf.contract.index import ScenarioFact
from tlsperf.contract.names import size_name
from tlsperf.contract.operations import OPERATIONS
from tlsperf.contract.record import CERTIFICATES, Scenario
from tlsperf.contract.variant import SERVERS, parse_variant

_FULL: Final = "with certificates and a key exchange, as with an unknown peer"
_RESUMED: Final = "with the state of an earlier connection instead of certificates"

_WHY: Final = {
    ("transfer", "sender"): "Servers that send files and clients that upload do this. It limits "
    "how much one processor can send.",
    ("transfer", "receiver"): "Clients that download and servers that receive uploads do this. It "
    "limits how much one processor can receive.",
    ("full", "client"): "A client does this for each server with which it has no session. Proxies, "
    "crawlers and clients of many services do it often.",
    ("full", "server"): "A server does this for each client that does not resume. It limits how "
    "many new connections a processor accepts in a second.",
    ("resumed", "client"): "A client does this when it returns to a server with which it has a "
    "session.",
    ("resumed", "server"): "A server does this for each client that returns with a session. It "
    "limits how many returning connections a processor accepts in a second.",
    ("client-hello", "client"): "A client does this first for each connection, with a session or "
    "without.",
    ("connection", "client"): "A client that keeps no connections does this for each request. "
    "Crawlers and monitors are examples.",
    ("connection", "server"): "A server does this for each client that keeps no connection, with "
    "the kernel's part of the work.",
    ("connection", ""): "Clients that keep no connections do this for each request. It limits how "
    "many of them one server can answer.",
    ("memory", "client"): "A client holds this for each connection that it keeps open. It limits "
    "how many connections fit into its memory.",
    ("memory", "server"): "A server holds this for each client that stays connected. It limits how "
    "many connections fit into its memory.",
    ("quic-packet", "sender"): "A QUIC stack does this for each packet that it sends. It limits "
    "how many packets one processor sends in a second.",
    ("quic-packet", "receiver"): "A QUIC stack does this for each packet that it receives. It "
    "limits how many packets one processor receives in a second.",
}

_CERTIFICATES: Final = {
    "chain-1": " The root issues the leaf, which is sent alone.",
    "chain-3": " Three certificates are sent: a leaf and two intermediates.",
    "issuer-ecdsa-p256": " Only the leaf has a key of this type: the intermediate, which is sent "
    "with it, and the root have keys of ECDSA P-256.",
    "compressed-zlib": " The server compresses its certificates with zlib (RFC 8879).",
}

_NOUNS: Final = {"sender": "sends", "receiver": "receives"}

_PACKETS: Final = {
    "sender": "seals packets of QUIC: it encrypts the payload and protects the header.",
    "receiver": "opens packets of QUIC: it removes the protection of the header, decrypts the "
    "payload and checks the tag.",
}

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
        "resumed": "resumed; by identifier or ticket is not recorded",
        "session-id": "by session id",
        "ticket": "by ticket",
    },
    "authentication": {"server": "of the server", "mutual": "of both sides"},
    "certificate": CERTIFICATES,
}


def done(scenario: Scenario) -> str:
    """A sentence about what is done."""
    s = scenario
    protocol = f"TLS {s.protocol}" if s.protocol else "TLS"
    if s.operation == "transfer":
        cipher = f", encrypted with {s.cipher_suite}" if s.cipher_suite else ""
        return f"One side {_NOUNS.get(s.side or '', 'moves')} data over {protocol}{cipher}."
    if s.operation == "handshake":
        who = f"A {s.side}" if s.side else "Client and server, together,"
        ending = "s" if s.side else ""
        if _is_full(s):
            sent = _CERTIFICATES.get(s.variant or "", "")
            return f"{who} make{ending} a full handshake in {protocol}, {_FULL}.{sent}"
        return f"{who} resume{ending} a session in {protocol}, {_RESUMED}."
    if s.operation == "client-hello":
        shares = f", with key shares of {s.variant.replace('+', ' and ')}" if s.variant else ""
        return f"A client starts a connection and makes its ClientHello in {protocol}{shares}."
    if s.operation == "primitive":
        return f"The library's cryptography performs {s.variant} by itself, without TLS."
    if s.operation == "quic-packet":
        return f"The library {_PACKETS.get(s.side or '', 'protects packets of QUIC.')}"
    if s.operation == "connection":
        kind = "full" if _is_full(s) else "resumed"
        if s.variant in SERVERS:
            return (
                f"A client makes connections over loopback TCP to {s.variant}, in one process: a "
                f"{kind} {protocol} handshake, a request and an answer of HTTP, and a close."
            )
        nagle = ", without TCP_NODELAY" if s.variant == "nagle" else ""
        return (
            f"Two processes make connections over loopback TCP{nagle}: a {kind} {protocol} "
            "handshake, a byte in each direction, and a close."
        )
    if s.operation == "set-up" and s.variant:
        return _set_up(s.variant)
    variant = f": {s.variant}" if s.variant else ""
    return f"{OPERATIONS[s.operation].name}{variant}."


def _set_up(variant: str) -> str:
    """A sentence about what is set up."""
    what, _, many = variant.rpartition("-")
    if many == "slope":
        things = "names of a server" if what == "names" else "trust anchors"
        return f"The fixed part of the time for {things}, and the time that each of them adds."
    anchors = "Mozilla's trust anchors" if many == "mozilla" else f"{many} trust anchors"
    match what or variant:
        case "anchors":
            return f"A program loads {anchors} from PEM, without a context, and frees them."
        case "client":
            return f"A client makes a context with {anchors}, for one connection."
        case "shared":
            return f"A client with {anchors} in its context makes one connection."
        case "process-client":
            return f"A process starts, loads {anchors} and completes a handshake as a client."
        case "names":
            return f"A server makes a context with {many} certificates and one connection."
        case "reload":
            return f"A server replaces its context with {many} certificates by a new one."
        case "process":
            return (
                "A process starts, loads its chain and key and completes a handshake as a server."
            )
        case "private":
            return "A program loads a private key from PEM, without a context, and frees it."
        case _:
            return "A server makes a context with its chain and key, for one connection."


def why(scenario: Scenario) -> str:
    """Who does it, and what it limits; empty for work that no program does by itself."""
    s = scenario
    kind: str = s.operation
    if kind == "handshake":
        kind = "full" if _is_full(s) else "resumed"
    return _WHY.get((kind, s.side or ""), "")


def _is_full(scenario: Scenario) -> bool:
    return scenario.resumption in (None, "none")


def facts(scenarios: Iterable[Scenario]) -> list[ScenarioFact]:
    """The fields that reports record for one scenario.

    A fact says so if reports record different values, or if some record none.
    """
    known = list(scenarios)
    found = []
    for field, name in _FACTS:
        if field == "resumption" and known[0].operation != "handshake":
            continue
        if field == "size" and known[0].operation == "quic-packet":
            name = "Bytes of a packet"
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
    if field == "variant":
        return parse_variant(value).name
    return _VALUES.get(field, {}).get(value, value)
