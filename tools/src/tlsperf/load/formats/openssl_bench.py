"""Output of openssl-bench (github.com/ctz/openssl-bench), of OpenSSL and BoringSSL: as
`openssl-bench/2023` until November 2024; the echoed command states what was measured:

    env LD_LIBRARY_PATH=../openssl ./bench bulk ECDHE-RSA-AES128-GCM-SHA256 1048576
    negotiated TLSv1.2 with ECDHE-RSA-AES128-GCM-SHA256 [kx NAME]
    send: 6512.01 MB/s
    recv: 7236.13 MB/s
    handshakes\\tclient\\t3419.3\\thandshakes/s

`openssl-bench/2024`, since; only the key type is still stated by the command alone:

    bulk\\tsend\\tTLSv1.2\\tECDHE-RSA-AES128-GCM-SHA256\\t6512.01\\tMB/s
    handshake-ticket\\tserver\\tTLSv1.3\\tTLS_AES_256_GCM_SHA384\\t3780\\thandshakes/s

Both print session statistics before the rates of a resumption; `misses` did not resume.
"""

from __future__ import annotations

import re
from typing import Final

from tlsperf.load.rows import RawInput
from tlsperf.load.spellings import GROUPS, OPENSSL_API, OPENSSL_SUITES, Suite
from tlsperf.load.transcript import PER_SECOND, RATE, RESUMPTIONS, Command, Grammar, transcript

_CONNECTS: Final = re.compile(
    r"connects: [0-9]+, connects-good: [0-9]+, accepts: ([0-9]{1,18}), accepts-good: [0-9]+"
)
_SESSIONS: Final = re.compile(r"sessions: [0-9]+, hits: ([0-9]{1,18}), misses: ([0-9]{1,18})")
_NEGOTIATED: Final = re.compile(r"negotiated (\S+) with (\S+)(?: kx (\S+))?")
_UNSUPPORTED: Final = "!!! BoringSSL does not support stateful resumption for TLS1.3"
_VERSIONS: Final = {"TLSv1.2": "1.2", "TLSv1.3": "1.3", "TLSv1/SSLv3": None}
"""The protocol of each printed version. A current BoringSSL prints TLSv1/SSLv3 for every version;
the cipher suite implies the version then.
"""


class _OpensslBench(Grammar):
    suites = OPENSSL_SUITES
    stateful = re.compile("connects:|sessions:|negotiated")
    transfer: re.Pattern[str]
    handshakes: re.Pattern[str]

    def __init__(self, source: RawInput) -> None:
        super().__init__(source)
        self.counts_hits = source.implementation.startswith("openssl-")  # BoringSSL does not
        self.begin()

    def begin(self) -> None:
        self.key_exchange: str | None = None
        self.note: str | None = None
        self.accepts = 0

    def understands(self, number: int, line: str) -> bool:
        if negotiated := _NEGOTIATED.fullmatch(line):
            return self._negotiated(*negotiated.groups())
        if connects := _CONNECTS.fullmatch(line):
            self.accepts = int(connects[1])
        elif sessions := _SESSIONS.fullmatch(line):
            self._sessions(int(sessions[1]), int(sessions[2]))
        elif line == _UNSUPPORTED:
            self.excused = True
        else:
            return self._figure(number, line)
        return True

    def _sessions(self, hits: int, misses: int) -> None:
        resumptions = self.accepts - 1  # the first handshake is full: it makes the session
        if misses:
            self.note = f"{misses:,} of {hits + misses:,} handshakes were full ones"
        elif hits < resumptions:
            self.note = f"{resumptions - hits:,} of {resumptions:,} handshakes did not resume"
        elif not hits and self.counts_hits:
            self.note = "OpenSSL counted no handshake that resumed"

    def _negotiated(self, version: str, name: str, group: str | None) -> bool:
        self.key_exchange = GROUPS.get((group or "").lower())
        known = group in (None, "(null)") or self.key_exchange is not None
        return self.command is not None and known and self._suite(version, name) is not None

    def _suite(self, version: str, name: str) -> Suite | None:
        """The negotiated cipher suite. If another one was requested, the figures do not count."""
        suite = self.suites.get(name)
        if not suite or _VERSIONS.get(version, "") not in (None, suite.protocol):
            return None
        if self.command and self.command.suite != name:
            self.note = f"negotiated {name}, not {self.command.suite} as asked for"
        return suite

    def _figure(self, number: int, line: str) -> bool:
        """Adds the figure of a transfer or handshake, which the command or the line states."""
        transfer = self.transfer.fullmatch(line)
        found = transfer or self.handshakes.fullmatch(line)
        command = self.command or Command()
        if not found:
            return False
        stated = found.groupdict()
        mode = stated.get("mode", command.mode).replace("handshakes", "handshake")
        suite = self.suites.get(command.suite)
        if "suite" in stated:
            suite = self._suite(stated["version"], stated["suite"])
        known = mode in (("bulk",) if transfer else RESUMPTIONS) and command.mode in ("", mode)
        if not suite or not known:
            return False
        # A resumption in TLS 1.2 exchanges no keys; `negotiated` is about the session it resumes.
        exchanges_keys = suite.protocol == "1.3" or mode in ("bulk", "handshake")
        scenario = {
            "operation": "transfer" if transfer else "handshake",
            "protocol": suite.protocol,
            "cipher_suite": suite.iana,
            "key_exchange": self.key_exchange if exchanges_keys else None,
            "certificate": self._certificate(suite),
            "authentication": "server",
            "resumption": RESUMPTIONS.get(mode, "none"),
            "size": next(iter(command.numbers), None) if transfer else None,
        }
        return self.add(number, found, scenario, self.note)

    def _certificate(self, suite: Suite) -> str | None:
        """RSA unless the command or the cipher suite says ECDSA: the tool has one key of each."""
        signature = suite.signature
        if self.command and not signature:
            signature = "ECDSA" if "ecdsa" in self.command.options else "RSA"
        return {"ECDSA": "ecdsa-p256", "RSA": "rsa-2048"}.get(signature or "")


class _OpensslBench2023(_OpensslBench):
    transfer = re.compile(rf"(?P<side>send|recv): {RATE} MB/s")
    handshakes = re.compile(rf"handshakes (?P<side>client|server) {RATE} {PER_SECOND}")


class _OpensslBench2024(_OpensslBench):
    transfer = re.compile(
        rf"(?P<mode>bulk) (?P<side>send|recv) (?P<version>\S+) (?P<suite>\S+) {RATE} MB/s"
    )
    handshakes = re.compile(
        r"(?P<mode>handshake(?:s|-resume|-ticket)) (?P<side>client|server) (?P<version>\S+)"
        rf" (?P<suite>\S+) {RATE} {PER_SECOND}"
    )


_LINES: Final = {
    "2023": r"(?:send|recv):\s|handshakes\s+(?:client|server)\s+[0-9t]",
    "2024": r"bulk\s+(?:send|recv)\s|handshake(?:s|-resume|-ticket)\s+(?:client|server)\s+TLSv",
}
FORMATS: Final = tuple(
    transcript(f"openssl-bench/{year}", "openssl-bench", _LINES[year], grammar, OPENSSL_API)
    for year, grammar in (("2023", _OpensslBench2023), ("2024", _OpensslBench2024))
)
