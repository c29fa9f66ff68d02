"""Output of openssl-bench (github.com/ctz/openssl-bench), of OpenSSL and BoringSSL.

`openssl-bench/2023`, until November 2024; the echoed command states what was measured:

    env LD_LIBRARY_PATH=../openssl ./bench bulk ECDHE-RSA-AES128-GCM-SHA256 1048576
    negotiated TLSv1.2 with ECDHE-RSA-AES128-GCM-SHA256 [kx NAME]
    send: 6512.01 MB/s
    recv: 7236.13 MB/s
    handshakes\\tclient\\t3419.3\\thandshakes/s

`openssl-bench/2024`, since; only the key type is still stated by the command alone:

    bulk\\tsend\\tTLSv1.2\\tECDHE-RSA-AES128-GCM-SHA256\\t6512.01\\tMB/s
    handshake-ticket\\tserver\\tTLSv1.3\\tTLS_AES_256_GCM_SHA384\\t3780\\thandshakes/s

Both print two lines of session statistics before the rates of a resumption. `misses` are
handshakes that did not resume: the rates that follow are then no rates of resumptions.
"""

from __future__ import annotations

import re
from typing import Final

from tlsperf.load.rows import RawInput
from tlsperf.load.spellings import GROUPS, OPENSSL_API, OPENSSL_SUITES, Suite
from tlsperf.load.transcript import (
    GENERAL,
    RESUMPTIONS,
    TRANSFER_SIDES,
    Command,
    Grammar,
    Measured,
    transcript,
)

_CONNECTS: Final = re.compile(
    r"connects: [0-9]+, connects-good: [0-9]+, accepts: ([0-9]{1,18}), accepts-good: [0-9]+\s*"
)
_SESSIONS: Final = re.compile(r"sessions: [0-9]+, hits: ([0-9]{1,18}), misses: ([0-9]{1,18})\s*")
_UNSUPPORTED: Final = "!!! BoringSSL does not support stateful resumption for TLS1.3"
_VERSIONS: Final = {"TLSv1.2": "1.2", "TLSv1.3": "1.3", "TLSv1/SSLv3": None}
"""The protocol of each printed version. A current BoringSSL prints TLSv1/SSLv3 for every version;
the cipher suite implies the version then.
"""


class _OpensslBench(Grammar):
    suites = OPENSSL_SUITES

    def begin(self) -> None:
        self.key_exchange: str | None = None
        self.note: str | None = None
        self.accepts = 0

    def __init__(self, source: RawInput) -> None:
        super().__init__(source)
        self.begin()
        self.words = {
            "connects:": self.connects,
            "sessions:": self.sessions,
            "negotiated": self.negotiated,
        }

    def explain(self, number: int, line: str) -> bool:
        if line.strip() != _UNSUPPORTED:
            return False
        self.excused = True
        return True

    def certificate(self, suite: Suite) -> str | None:
        """RSA unless the command or the cipher suite says ECDSA. The tool has one key of each
        (bench.cc).
        """
        if suite.signature == "ECDSA":
            return "ecdsa-p256"
        if suite.signature == "RSA":
            return "rsa-2048"
        if self.command is None:
            return None
        return "ecdsa-p256" if "--ecdsa" in self.command.options else "rsa-2048"

    def connects(self, line: int, words: list[str]) -> None:
        found = _CONNECTS.fullmatch(" ".join(words))
        if not found:
            raise self.fail(line, " ".join(words), "connects, connects-good, accepts, …")
        self.accepts = int(found[1])

    def sessions(self, line: int, words: list[str]) -> None:
        found = _SESSIONS.fullmatch(" ".join(words))
        if not found:
            raise self.fail(line, " ".join(words), "sessions: N, hits: N, misses: N")
        hits, misses = int(found[1]), int(found[2])
        resumptions = self.accepts - 1  # the first handshake is full: it makes the session
        if misses:
            self.note = f"{misses:,} of {hits + misses:,} handshakes were full ones"
        elif hits < resumptions:
            self.note = f"{resumptions - hits:,} of {resumptions:,} handshakes did not resume"
        elif not hits and self.library == "openssl":  # BoringSSL does not count
            self.note = "OpenSSL counted no handshake that resumed"

    def negotiated(self, line: int, words: list[str]) -> None:
        """Parses `negotiated VERSION with SUITE [kx NAME]`."""
        command = self.need_command(line)
        if len(words) not in (4, 6) or words[2] != "with" or words[4:5] not in ([], ["kx"]):
            raise self.fail(line, " ".join(words), "negotiated VERSION with SUITE")
        self.check_suite(line, words[1], words[3], command)
        if len(words) == 6 and words[5] != "(null)":
            group = GROUPS.get(words[5].lower())
            if group is None:
                raise self.fail(line, f"kx {words[5]}", "kx " + ", ".join(GROUPS))
            self.key_exchange = group

    def need_command(self, line: int) -> Command:
        if self.command is None:
            raise self.fail(line, "a figure without a command", "make's echo of ./bench before it")
        return self.command

    def check_suite(self, line: int, version: str, name: str, command: Command | None) -> Suite:
        """The negotiated cipher suite. If another one was requested, the figures are marked
        invalid.
        """
        suite = self.suite(line, name)
        if version not in _VERSIONS:
            raise self.fail(line, f"version {version!r}", " or ".join(_VERSIONS))
        if _VERSIONS[version] not in (None, suite.protocol):
            raise self.fail(line, f"{version} with {name}", f"TLSv{suite.protocol}")
        if command and command.suite != name:
            self.note = f"negotiated {name}, not {command.suite} as asked for"
        return suite

    def keep(
        self, line: int, mode: str, suite: Suite, side: str, rate: float, threads: int, unit: str
    ) -> None:
        """Adds the figure of a transfer or handshake."""
        size = None
        if mode == "bulk" and self.command and self.command.numbers:
            size = self.command.numbers[0]
        # A resumption in TLS 1.2 exchanges no keys; `negotiated` is about the session it resumes.
        exchanges_keys = suite.protocol == "1.3" or mode in ("bulk", "handshake")
        measured = Measured(
            operation="transfer" if mode == "bulk" else "handshake",
            protocol=suite.protocol,
            cipher_suite=suite.iana,
            key_exchange=self.key_exchange if exchanges_keys else None,
            certificate=self.certificate(suite),
            authentication="server",
            resumption=RESUMPTIONS.get(mode, "none"),
            threads=threads,
            size=size,
        )
        self.add(line, measured, side, rate, unit, self.note)


class _OpensslBench2023(_OpensslBench):
    def __init__(self, source: RawInput) -> None:
        super().__init__(source)
        self.words = {
            **self.words,
            "send:": self.transfer,
            "recv:": self.transfer,
            "handshakes": self.handshakes,
        }

    def transfer(self, line: int, words: list[str]) -> None:
        """Parses `send: RATE MB/s`."""
        command = self.need_command(line)
        if command.mode != "bulk":
            raise self.fail(line, " ".join(words), f"the figures of {command.mode}")
        rate, threads, unit = self.rate(line, words[1:], GENERAL)
        side = TRANSFER_SIDES[words[0][:-1]]
        self.keep(line, "bulk", self.suite(line, command.suite), side, rate, threads, unit)

    def handshakes(self, line: int, words: list[str]) -> None:
        """Parses `handshakes (client|server) RATE handshakes/s`."""
        command = self.need_command(line)
        if command.mode not in RESUMPTIONS:
            raise self.fail(line, " ".join(words), f"the figures of {command.mode}")
        if len(words) < 2 or words[1] not in ("client", "server"):
            raise self.fail(line, " ".join(words), "handshakes (client|server) RATE handshakes/s")
        rate, threads, unit = self.rate(line, words[2:], GENERAL)
        suite = self.suite(line, command.suite)
        self.keep(line, command.mode, suite, words[1], rate, threads, unit)


class _OpensslBench2024(_OpensslBench):
    def __init__(self, source: RawInput) -> None:
        super().__init__(source)
        figures = ("bulk", "handshakes", "handshake-resume", "handshake-ticket")
        self.words = {**self.words, **dict.fromkeys(figures, self.figure)}

    def figure(self, line: int, words: list[str]) -> None:
        """Parses `(bulk|handshakes|…) SIDE VERSION SUITE RATE UNIT`."""
        mode = "handshake" if words[0] == "handshakes" else words[0]
        sides = TRANSFER_SIDES if mode == "bulk" else {"client": "client", "server": "server"}
        if len(words) < 6 or words[1] not in sides:
            expected = f"{words[0]} ({'|'.join(sides)}) VERSION SUITE RATE UNIT"
            raise self.fail(line, " ".join(words), expected)
        if self.command and self.command.mode != mode:
            raise self.fail(line, " ".join(words), f"the figures of {self.command.mode}")
        suite = self.check_suite(line, words[2], words[3], self.command)
        rate, threads, unit = self.rate(line, words[4:], GENERAL)
        self.keep(line, mode, suite, sides[words[1]], rate, threads, unit)


FORMATS: Final = (
    transcript(
        "openssl-bench/2023",
        "openssl-bench",
        r"(?:send|recv):\s|handshakes\s+(?:client|server)\s+[0-9t]",
        _OpensslBench2023,
        OPENSSL_API,
    ),
    transcript(
        "openssl-bench/2024",
        "openssl-bench",
        r"bulk\s+(?:send|recv)\s|handshake(?:s|-resume|-ticket)\s+(?:client|server)\s+TLSv",
        _OpensslBench2024,
        OPENSSL_API,
    ),
)
