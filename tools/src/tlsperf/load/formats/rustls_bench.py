"""Output of rustls' own bench (github.com/rustls/rustls: bench.rs, later rustls-bench).

`rustls-bench/2019`:

    bulk\\tTLSv1_2\\tSUITE\\t(send|recv)\\tRATE\\tMB/s
    handshakes\\tTLSv1_3\\tSUITE\\t(client|server)\\t(server-auth|mutual)\\tRESUMPTION\\tRATE\\thandshake/s

`rustls-bench/2023`, since about 2020, with the names of keys changed and a unit corrected in 2024:

    bulk[-unbuffered]\\tTLSv1_2\\tSUITE\\tmax_fragment_size:(default|N)\\t(send|recv)\\tRATE\\tMB/s
    handshakes[-unbuffered]\\tTLSv1_3\\tKEY\\tSUITE\\t(client|server)\\t…\\tRATE\\thandshakes/s

A command without --key-type runs once for each key type that fits, RSA first; bulk lines do not say
which, so that all but the first are distinguished as `repeat-2` and so on.
"""

from __future__ import annotations

import re
from typing import Final

from tlsperf.contract.errors import FormatError
from tlsperf.load.rows import RawInput
from tlsperf.load.spellings import KEY_TYPES, RUSTLS_SUITES, Suite
from tlsperf.load.transcript import PER_SECOND, RATE, RESUMPTIONS, Command, Grammar, transcript

_RESUMPTIONS: Final = {"no-resume": "none", "sessionid": "session-id", "tickets": "ticket"}
_AUTHENTICATIONS: Final = {"server-auth": "server", "mutual": "mutual"}
_KEYS_OF: Final = {
    "RSA": ("rsa",),
    "ECDSA": ("ecdsa", "ed25519"),
    None: ("rsa", "ecdsa", "ed25519"),
}
"""The keys that can sign for a TLS 1.2 cipher suite: RFC 8422, section 5.2, lets Ed25519 use those
of ECDSA.
"""
_BULK: Final = re.compile(
    r"bulk(?P<api>-unbuffered)? TLSv(?P<version>1_[23]) (?P<suite>\S+)"
    rf"(?: max_fragment_size:(?:default|(?P<record>[1-9][0-9]{{0,17}})))? (?P<side>send|recv) {RATE} MB/s"
)
_HANDSHAKES: Final = re.compile(
    r"handshakes(?P<api>-unbuffered)? TLSv(?P<version>1_[23])(?: (?P<key>\w+))? (?P<suite>TLS\S+)"
    rf" (?P<side>client|server) (?P<authentication>{'|'.join(_AUTHENTICATIONS)})"
    rf" (?P<resumption>{'|'.join(_RESUMPTIONS)}) {RATE} {PER_SECOND}"
)


class _RustlsBench(Grammar):
    suites = RUSTLS_SUITES

    def __init__(self, source: RawInput) -> None:
        super().__init__(source)
        self.begin()

    def begin(self) -> None:
        options = self.command.options if self.command else {}
        if "key-type" not in options:
            self.repeats_expected.add(len(self.commands))
        own, provider = self.source.implementation, options.get("provider", "")
        if provider and f"-{provider}-" not in f"{own}-":
            expected = f"figures of {own}; import each provider by itself"
            raise FormatError(
                self.source.name, self.commands[-1], f"--provider {provider}", expected
            )

    def understands(self, number: int, line: str) -> bool:
        bulk = _BULK.fullmatch(line)
        found = bulk or _HANDSHAKES.fullmatch(line)
        suite = self.suites.get(found["suite"]) if found else None
        command = self.command or Command()
        modes = ("", "bulk") if bulk else ("", *RESUMPTIONS)
        if not found or not suite or command.mode not in modes:
            return False
        if suite.protocol != found["version"].replace("_", "."):
            return False
        note = None
        if command.mode and command.suite.lower() != found["suite"].lower():
            note = f"measured {found['suite']}, not {command.suite} as asked for"
        scenario = _transfer(found, suite, self.command) if bulk else _handshake(found, suite)
        scenario["protocol"], scenario["cipher_suite"] = suite.protocol, suite.iana
        scenario["variant"] = "unbuffered" if found["api"] else None
        return "certificate" in scenario and self.add(number, found, scenario, note)


def _transfer(found: re.Match[str], suite: Suite, command: Command | None) -> dict[str, object]:
    """The fields of a transfer. The certificate is that of the first pair: --key-type, or RSA if the
    cipher suite allows it. Without its command, nothing states the size and a key in TLS 1.3.
    """
    key = command.options.get("key-type") if command else None
    if key is None and (suite.signature == "RSA" or (command and not suite.signature)):
        key = "rsa"
    return {
        "operation": "transfer",
        "certificate": KEY_TYPES.get((key or "").replace("-", "").lower()),
        "authentication": "server",
        "resumption": "none",
        "size": next(iter(command.numbers), 1 << 20) if command else None,
        "record_size": int(found["record"]) if found["record"] else None,
    }


def _handshake(found: re.Match[str], suite: Suite) -> dict[str, object]:
    """The fields of a handshake, without a certificate if the key is unknown or cannot sign."""
    scenario: dict[str, object] = {
        "operation": "handshake",
        "authentication": _AUTHENTICATIONS[found["authentication"]],
        "resumption": _RESUMPTIONS[found["resumption"]],
    }
    if not found["key"]:
        return scenario | {
            "certificate": KEY_TYPES[suite.signature.lower()] if suite.signature else None
        }
    certificate = KEY_TYPES.get(found["key"].lower(), "")
    if certificate.startswith(_KEYS_OF[suite.signature]):
        scenario["certificate"] = certificate
    return scenario


FORMATS: Final = (
    transcript(
        "rustls-bench/2019",
        "rustls' bench",
        r"bulk\s+TLSv1_[23]\s+\S+\s+(?:send|recv)\s"
        r"|handshakes\s+TLSv1_[23]\s+TLS\S+\s+(?:client|server)\s",
        _RustlsBench,
        ["rustls"],
    ),
    transcript(
        "rustls-bench/2023",
        "rustls' bench",
        r"bulk(?:-unbuffered)?\s+TLSv1_[23]\s+\S+\s+max_fragment_size:"
        r"|handshakes(?:-unbuffered)?\s+TLSv1_[23]\s+\w+\s+TLS\S+\s+(?:client|server)\s",
        _RustlsBench,
        ["rustls"],
    ),
)
