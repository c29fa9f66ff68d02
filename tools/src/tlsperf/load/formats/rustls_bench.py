"""Output of rustls' own bench (github.com/rustls/rustls: bench.rs, later rustls-bench).

`rustls-bench/2019`:

    bulk\\tTLSv1_2\\tSUITE\\t(send|recv)\\tRATE\\tMB/s
    handshakes\\tTLSv1_3\\tSUITE\\t(client|server)\\t(server-auth|mutual)\\tRESUMPTION\\tRATE\\thandshake/s

`rustls-bench/2023`, since about 2020, with the names of keys changed and a unit corrected in 2024:

    bulk[-unbuffered]\\tTLSv1_2\\tSUITE\\tmax_fragment_size:(default|N)\\t(send|recv)\\tRATE\\tMB/s
    handshakes[-unbuffered]\\tTLSv1_3\\tKEY\\tSUITE\\t(client|server)\\t…\\tRATE\\thandshakes/s

RESUMPTION is no-resume, sessionid or tickets. A command without --key-type runs once for each key
type that fits, RSA first; bulk lines do not say which, so that all but the first are distinguished
as `repeat-2` and so on.
"""

from __future__ import annotations

import re
from typing import Final

from tlsperf.load.rows import RawInput
from tlsperf.load.spellings import KEY_TYPES, RUSTLS_SUITES, Suite
from tlsperf.load.transcript import (
    DEFAULT_SIZE,
    FIXED,
    TRANSFER_SIDES,
    Grammar,
    Measured,
    transcript,
)

_VERSIONS: Final = {"TLSv1_2": "1.2", "TLSv1_3": "1.3"}
_RESUMPTIONS: Final = {"no-resume": "none", "sessionid": "session-id", "tickets": "ticket"}
_AUTHENTICATIONS: Final = {"server-auth": "server", "mutual": "mutual"}
_KEYS_OF: Final = {"RSA": ("rsa",), "ECDSA": ("ecdsa", "ed25519")}
"""The keys that can sign for a TLS 1.2 cipher suite: RFC 8422, section 5.2, lets Ed25519 use those
of ECDSA.
"""
_FRAGMENT: Final = re.compile(r"max_fragment_size:(default|[1-9][0-9]{0,17})")


class _RustlsBench(Grammar):
    suites = RUSTLS_SUITES

    def __init__(self, source: RawInput) -> None:
        super().__init__(source)
        self.words = {
            "bulk": self.bulk,
            "bulk-unbuffered": self.bulk,
            "handshakes": self.handshakes,
            "handshakes-unbuffered": self.handshakes,
        }
        self.begin()

    def begin(self) -> None:
        if self.command is None or "--key-type" not in self.command.options:
            self.repeats_expected.add(len(self.commands))

    def bulk(self, line: int, words: list[str]) -> None:
        raise NotImplementedError

    def handshakes(self, line: int, words: list[str]) -> None:
        raise NotImplementedError

    def version_and_suite(self, line: int, version: str, name: str) -> Suite:
        suite = self.suite(line, name)
        if _VERSIONS.get(version) != suite.protocol:
            expected = f"TLSv{suite.protocol.replace('.', '_')}"
            raise self.fail(line, f"version {version!r} with {name}", expected)
        return suite

    def note(self, name: str) -> str | None:
        """Why the current command's figures are invalid; None if they are valid."""
        if self.command and self.command.suite.lower() != name.lower():
            return f"measured {name}, not {self.command.suite} as asked for"
        return None

    def keep_bulk(
        self, line: int, words: list[str], suite: Suite, rest: int, record_size: int | None
    ) -> None:
        """Adds a transfer whose side, rate and unit start at word `rest`."""
        self.check_mode(line, words, ("bulk",))
        if words[rest] not in TRANSFER_SIDES:
            raise self.fail(line, " ".join(words), "… (send|recv) RATE MB/s")
        rate, threads, unit = self.rate(line, words[rest + 1 :], FIXED)
        size = self.command.option("--plaintext-size") if self.command else None
        if size is None and self.command and self.command.numbers:
            size = self.command.numbers[0]
        measured = Measured(
            operation="transfer",
            protocol=suite.protocol,
            cipher_suite=suite.iana,
            certificate=self.bulk_certificate(suite),
            authentication="server",
            resumption="none",
            threads=threads,
            size=size or DEFAULT_SIZE,
            record_size=record_size,
            variant="unbuffered" if words[0].endswith("-unbuffered") else None,
        )
        self.add(line, measured, TRANSFER_SIDES[words[rest]], rate, unit, self.note(words[2]))

    def bulk_certificate(self, suite: Suite) -> str | None:
        """The certificate of the first pair: --key-type, or RSA if the cipher suite allows it."""
        if self.command and "--key-type" in self.command.options:
            return KEY_TYPES.get(self.command.options["--key-type"].replace("-", "").lower())
        return None if suite.signature == "ECDSA" else "rsa-2048"

    def keep_handshake(
        self, line: int, words: list[str], suite: Suite, certificate: str | None, rest: int
    ) -> None:
        """Adds a handshake whose side, authentication, … start at word `rest`."""
        self.check_mode(line, words, ("handshake", "handshake-resume", "handshake-ticket"))
        if (
            words[rest] not in ("client", "server")
            or words[rest + 1] not in _AUTHENTICATIONS
            or words[rest + 2] not in _RESUMPTIONS
        ):
            expected = (
                "… (client|server) (server-auth|mutual) (no-resume|sessionid|tickets) RATE "
                "handshakes/s"
            )
            raise self.fail(line, " ".join(words), expected)
        rate, threads, unit = self.rate(line, words[rest + 3 :], FIXED)
        measured = Measured(
            operation="handshake",
            protocol=suite.protocol,
            cipher_suite=suite.iana,
            certificate=certificate,
            authentication=_AUTHENTICATIONS[words[rest + 1]],
            resumption=_RESUMPTIONS[words[rest + 2]],
            threads=threads,
            variant="unbuffered" if words[0].endswith("-unbuffered") else None,
        )
        self.add(line, measured, words[rest], rate, unit, self.note(words[rest - 1]))

    def check_mode(self, line: int, words: list[str], modes: tuple[str, ...]) -> None:
        if self.command and self.command.mode not in modes:
            raise self.fail(line, " ".join(words), f"the figures of {self.command.mode}")

    def need(self, line: int, words: list[str], count: int, expected: str) -> None:
        if len(words) < count:
            raise self.fail(line, " ".join(words), expected)


class _RustlsBench2019(_RustlsBench):
    def bulk(self, line: int, words: list[str]) -> None:
        self.need(line, words, 6, "bulk VERSION SUITE (send|recv) RATE MB/s")
        suite = self.version_and_suite(line, words[1], words[2])
        self.keep_bulk(line, words, suite, 3, None)

    def handshakes(self, line: int, words: list[str]) -> None:
        self.need(line, words, 8, "handshakes VERSION SUITE SIDE AUTH RESUMPTION RATE handshake/s")
        suite = self.version_and_suite(line, words[1], words[2])
        certificate = KEY_TYPES[suite.signature.lower()] if suite.signature else None
        self.keep_handshake(line, words, suite, certificate, 3)


class _RustlsBench2023(_RustlsBench):
    def bulk(self, line: int, words: list[str]) -> None:
        expected = "bulk VERSION SUITE max_fragment_size:(default|N) (send|recv) RATE MB/s"
        self.need(line, words, 7, expected)
        suite = self.version_and_suite(line, words[1], words[2])
        fragment = _FRAGMENT.fullmatch(words[3])
        if not fragment:
            raise self.fail(line, words[3], "max_fragment_size:(default|N)")
        record_size = None if fragment[1] == "default" else int(fragment[1])
        self.keep_bulk(line, words, suite, 4, record_size)

    def handshakes(self, line: int, words: list[str]) -> None:
        expected = "handshakes VERSION KEY SUITE SIDE AUTH RESUMPTION RATE handshakes/s"
        self.need(line, words, 9, expected)
        suite = self.version_and_suite(line, words[1], words[3])
        certificate = KEY_TYPES.get(words[2].lower())
        if certificate is None:
            raise self.fail(line, f"key {words[2]!r}", "Rsa2048, EcdsaP256, EcdsaP384, Ed25519, …")
        if suite.signature and not certificate.startswith(_KEYS_OF[suite.signature]):
            raise self.fail(line, f"key {words[2]} with {words[3]}", f"a key of {suite.signature}")
        self.keep_handshake(line, words, suite, certificate, 4)


FORMATS: Final = (
    transcript(
        "rustls-bench/2019",
        "rustls' bench",
        r"bulk\s+TLSv1_[23]\s+\S+\s+(?:send|recv)\s"
        r"|handshakes\s+TLSv1_[23]\s+TLS\S+\s+(?:client|server)\s",
        _RustlsBench2019,
        ["rustls"],
    ),
    transcript(
        "rustls-bench/2023",
        "rustls' bench",
        r"bulk(?:-unbuffered)?\s+TLSv1_[23]\s+\S+\s+max_fragment_size:"
        r"|handshakes(?:-unbuffered)?\s+TLSv1_[23]\s+\w+\s+TLS\S+\s+(?:client|server)\s",
        _RustlsBench2023,
        ["rustls"],
    ),
)
