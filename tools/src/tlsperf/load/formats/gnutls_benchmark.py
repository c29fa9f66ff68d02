"""Output of `gnutls-cli --benchmark-ciphers`, `-tls-ciphers` and `-tls-kx` (`gnutls-benchmark`), by
src/benchmark*.c of GnuTLS 3.2.0 to 3.8, and runs of 3.7.9:

    Checking AEAD ciphers, payload size: 16384
                 AES-128-GCM 4.13 GB/sec
    Testing throughput in cipher/MAC combinations (payload: 1400 bytes)
                       AES-128-GCM - TLS1.3  1.03 GB/sec
    Testing key exchanges (RSA/DH bits: 3072, EC bits: 256)
    (TLS1.3)-(ECDHE-X25519)-(EdDSA-Ed25519)-(AES-128-GCM)
     - 2296.30 transactions/sec
     - avg. handshake time: 431.21 µs

GB are 10^9 bytes, MB 10^6, KB 10^3; seconds are those of the processor. NULL copies memory. Client
and server are in one thread: a transfer is a write and its read; a transaction is a handshake with
making and freeing both sessions, and the handshake time is without them. Before 3.6.12 that time is
a mean of whole milliseconds (`sample variance`) and not read.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Final

from tlsperf.contract.errors import FormatError
from tlsperf.contract.record import Scenario
from tlsperf.load import rows
from tlsperf.load.rows import Format, Parsed, RawInput, UnknownLineError
from tlsperf.load.spellings import GNUTLS_PARTS
from tlsperf.load.subjects import check_stated
from tlsperf.load.units import MICROSECONDS

_DETECTED: Final = re.compile(r"(?m)^((Checking|Testing) .*(payload|exchanges)|\(TLS[0-9.]+\)-\()")
_HEADER: Final = re.compile(r"Checking|Testing")
_SIZED: Final = re.compile(
    r"(?:Checking (?:AEAD ciphers|cipher-MAC combinations|(MAC) algorithms|ciphers), payload size: |"
    r"Testing throughput in cipher/MAC combinations \(payload: )([1-9][0-9]{0,8})(?: bytes\))? ?(.*)"
)
_EXCHANGES: Final = re.compile(
    r"Testing key exchanges(?: \(RSA/DH bits: ([1-9][0-9]{0,5}), EC bits: [0-9]+\))?:?"
)
_SPEED: Final = re.compile(
    r"([\w-]+)(?: - (\w+\.[0-9]))? ([0-9]{1,9}\.[0-9]{2}) (bytes|[KMG]B)/sec"
)
_SUITE: Final = re.compile(r"(\((?:TLS|SSL|DTLS)\S+\))")
_BARE_SUITE: Final = re.compile(r"(TLS[0-9.]+)-((?:EC)?DHE-\w+)-")
_TRANSACTIONS: Final = re.compile(
    r"(-|\(?TLS[0-9.]+\)?-\S+) ([0-9]{1,9}\.[0-9]{2}) transactions/sec"
)
_TIME: Final = re.compile(r"- avg\. handshake time: ([0-9]{1,9}\.[0-9]{2}) (ns|[µμ]s|ms)")
_NOISE: Final = re.compile(
    r"- standard deviation: .*|\(avg\. handshake time: .*, sample variance: .*\)"
    r"|(?:\$ ?)?(?:\S*/)?gnutls-cli --benchmark-.*"
)
_BYTES: Final = {"bytes": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9}


class _Reader:
    def __init__(self, source: RawInput, parsed: Parsed) -> None:
        self.source = source
        self.parsed = parsed
        self.size, self.mac, self.bits = 0, False, ""
        self.suite: Scenario | None = None  # of the handshake whose rate follows
        self.done: tuple[Scenario, float] | None = None  # and rate, of the one whose time follows

    def read(self, number: int, line: str, last: bool) -> None:
        line = " ".join(line.split())
        row = partial(rows.row_of, self.source, number)
        if "GNUTLS_CPUID_OVERRIDE" in line:
            raise FormatError(self.source.name, number, line, "all instructions of the processor")
        if _HEADER.match(line):  # also one that is not understood ends the last one
            self.size, self.bits = 0, ""
        if _HEADER.match(line) or line.startswith("("):
            self.suite = self.done = None
        if stated := re.fullmatch(r"gnutls-cli ([0-9.]+)", line):
            check_stated(self.source, number, "gnutls", stated[1])
        elif sized := _SIZED.fullmatch(line):
            self.size, self.mac = int(sized[2]), sized[1] is not None
            if sized[3]:  # two lines that a forum joined
                self.read(number, sized[3], last)
        elif exchanges := _EXCHANGES.fullmatch(line):
            self.bits = exchanges[1] or ""
        elif (speed := _SPEED.fullmatch(line)) and self.size:
            rate = float(speed[3]) * _BYTES[speed[4]] / (1 << 20)
            work = self._work(number, speed[1], speed[2])
            self.parsed.add_once(row(work, "rate", rate, "MiB/s"))
        elif (found := _TRANSACTIONS.fullmatch(line)) and (suite := self._suite(number, found[1])):
            self.suite, self.done = None, (suite, float(found[2]))
            self.parsed.add_once(row(suite, "rate", float(found[2]), "handshakes/s"))
        elif (found := _TIME.fullmatch(line)) and self.done:
            (suite, rate), self.done = self.done, None
            time, unit = float(found[1]), MICROSECONDS[found[2]]
            least, most = ((time + half) * (rate + half) * unit for half in (-0.005, 0.005))
            note = None if least < 1e6 and most > 0.8e6 else "rate and handshake time do not agree"
            before = self.parsed.rows[-1]
            self.parsed.rows[-1] = before._replace(note=before.note or note)
            self.parsed.add_once(row(suite, "duration", time * unit, "µs", note=note))
        elif _SUITE.fullmatch(line):
            self.suite = self._suite(number, line)
        elif not _NOISE.fullmatch(line):
            raise UnknownLineError(self.source.name, number, repr(line), "a line of gnutls-cli")

    def _work(self, number: int, name: str, protocol: str | None) -> Scenario:
        """The transfer or primitive of a line with bytes per second."""
        if protocol or name.startswith("TLS_"):  # before 3.6.3 a suite without the protocol
            parts = [protocol, name] if protocol else [name.replace("_", "-")]
            return self._both_sides(number, parts, operation="transfer", size=self.size)
        name = name.lower()
        if self.mac:
            name = f"hmac-{name}" if name.startswith("sha") else f"mac-{name}"
        elif name.endswith(("-gcm", "-ccm", "-poly1305")):
            name += "-seal"
        return rows.foreign_primitive(self.source, number, f"{name}-{self.size}")

    def _suite(self, number: int, text: str) -> Scenario | None:
        """The handshake of a line's suite, or of the line before it."""
        if text == "-":
            return self.suite
        parts = _BARE_SUITE.sub(r"\1)-(\2)-(", text).strip("()").split(")-(")
        return self._both_sides(number, parts, operation="handshake", resumption="none")

    def _both_sides(self, number: int, parts: list[str], **fields: object) -> Scenario:
        """The scenario of a suite; what no field says is in the variant."""
        words = ["both-sides"]
        for part in parts:
            if field := GNUTLS_PARTS.get(part) or GNUTLS_PARTS.get(f"{parts[0]} {part}"):
                fields[field[0]] = field[1]
            else:
                bits = f"rsa-{self.bits}" if self.bits else "rsa"
                words.append(re.sub("^rsa", bits, part.lower()))
        named = rows.foreign_primitive(self.source, number, "-".join(words))
        return Scenario.model_validate(fields | {"variant": named.variant})


def parse(source: RawInput) -> Parsed:
    """One row for each figure; the work and its size are of the line's section."""
    parsed = Parsed()
    rows.each_line(source, parsed.remarks, _Reader(source, parsed).read)
    return parsed


FORMATS: Final = (
    Format(
        "gnutls-benchmark",
        "gnutls-cli --benchmark",
        lambda text, name: bool(_DETECTED.search(text)),
        rows.file_by_file(parse),
        libraries=rows.only("gnutls"),
    ),
)
