"""Programs of openssl/perftools (`openssl-perftools`), by their source of July 2024 to August 2026:

    $ ./handshake certs 4
    Average time per handshake: 493.620098us
    Handshakes per second: 8103.400000
    $ ./newrawkey -a ml-kem-768 1
    Average time per EVP_PKEY_new_raw_public_key_ex() call for algorithm ML-KEM-768: 19.120459us

The tools print no command: it is in the file where somebody put it, before the output. Only it says
how many threads ran, and which options (`-s`, `-p`, `-P`, …) the handshake had. The time is that of
one call in one thread; a handshake is client and server together, and nothing says its protocol.

Output of `-t` (bare numbers) is rejected, as are evp_hash, evp_cipher, evp_mac, evp_kdf, evp_rand,
evp_pkey, evp_fetch (whose line does not say the algorithm) and ssl_poll_perf (QUIC).
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from tlsperf.contract.errors import FormatError
from tlsperf.contract.record import Scenario
from tlsperf.load.rows import (
    Format,
    Parsed,
    RawInput,
    each_line,
    file_by_file,
    only,
    row_of,
    scenario_errors,
)

_PROGRAMS: Final = (
    "handshake|newrawkey|rsasign|x509storeissuer|sslnew|writeread|randbytes|providerdoall|"
    "pkeyread|evp_setpeer|rwlocks"
)
_COMMAND: Final = re.compile(rf"(?:\$ )?(?:\w+=\S* )*(?:\S*/)?({_PROGRAMS})((?: \S+)*)")
_AVERAGE: Final = re.compile(r"Average time per (.+): ([0-9]+\.[0-9]{6})us")
_PER_SECOND: Final = re.compile(r"Handshakes per second: ([0-9]+\.[0-9]{6})")
_NOISE: Final = re.compile(
    r"Running rwlock test with [0-9]+ writers and [0-9]+ readers"
    r"|total (?:write|read) lock/unlock calls [0-9]+ (?:in )?[0-9]+ s"
)
_WORK: Final = (
    (r"handshake", "handshake", ""),
    (
        r"EVP_PKEY_new_raw_public_key_ex\(\) call for algorithm ([\w-]+)",
        "newrawkey",
        r"\1-new-raw-public-key",
    ),
    (r"RSA signature operation", "rsasign", "rsa-512-sign-sha1-digest"),
    (r"X509_STORE_CTX_get1_issuer\(\) call", "x509storeissuer", "x509-store-get1-issuer"),
    (r"SSL/BIO creation call", "sslnew", "ssl-new"),
    (r"write/read", "writeread", "write-read"),
    (r"RAND_bytes\(\) call", "randbytes", "rand-bytes"),
    (r"OSSL_PROVIDER_do_all\(\) call", "providerdoall", "provider-do-all"),
    (r"(pem|der)\((\w+)\) call", "pkeyread", r"\1-read-\2"),
    (r"(\w+) evp_set_peer call", "evp_setpeer", r"\1-set-peer"),
    (r"(write|read)_lock/unlock call pair", "rwlocks", r"rwlock-\1"),
)
"""For each line: a pattern of the work it names, the program that prints it, and the primitive."""


class _Command(NamedTuple):
    """A command line that precedes the output of its program."""

    program: str
    threads: int | None
    options: str
    """The options as part of a variant: `-s-P-o-4`."""


class _Reader:
    def __init__(self, source: RawInput, parsed: Parsed) -> None:
        self.source = source
        self.parsed = parsed
        self.command: _Command | None = None
        self.seen: dict[tuple[Scenario, str], int] = {}

    def read(self, number: int, line: str, last: bool) -> None:
        line = " ".join(line.split())
        if command := _COMMAND.fullmatch(line):
            self.command = self._command(number, command[1], command[2].split())
        elif found := _AVERAGE.fullmatch(line):
            scenario = self._scenario(number, line, found[1])
            self._add(number, scenario, "duration", float(found[2]), "µs")
        elif found := _PER_SECOND.fullmatch(line):
            scenario = self._scenario(number, line, "handshake")
            self._add(number, scenario, "rate", float(found[1]), "handshakes/s")
        elif not _NOISE.fullmatch(line):
            expected = "a command, or `Average time per …: N.NNNNNNus` (without -t)"
            raise FormatError(self.source.name, number, repr(line), expected)

    def _command(self, number: int, program: str, words: list[str]) -> _Command:
        """The number of threads and the options of a command."""
        if program == "writeread" and "-d" in words:
            raise FormatError(self.source.name, number, "DTLS (-d)", "TLS")
        threads = words.pop() if words and program != "pkeyread" else None
        if program == "pkeyread" and "-t" in words[:-1]:
            threads = words[words.index("-t") + 1]
        if threads is not None and not re.fullmatch(r"[1-9][0-9]{0,5}", threads):
            found = f"{threads!r} of {program}"
            raise FormatError(self.source.name, number, found, "a number of threads")
        options = ""
        if program in ("handshake", "writeread"):
            options = "".join(f"-{word.lstrip('-')}" for word in words[:-1])  # certsdir is the last
        return _Command(program, int(threads) if threads else None, options)

    def _scenario(self, number: int, line: str, work: str) -> Scenario:
        for pattern, program, name in _WORK:
            if not (found := re.fullmatch(pattern, work)):
                continue
            command = self.command or _Command(program, None, "")
            if command.program != program:
                expected = f"output of {command.program}, the command before it"
                raise FormatError(self.source.name, number, repr(line), expected)
            with scenario_errors(self.source.name, number):
                if program == "handshake":
                    return Scenario(
                        operation="handshake",
                        resumption="none",
                        threads=command.threads,
                        variant=f"both-sides{command.options}",
                    )
                return Scenario(
                    operation="primitive",
                    threads=command.threads,
                    variant=found.expand(name).lower() + command.options,
                )
        expected = f"the work of one of {_PROGRAMS.replace('|', ', ')}"
        raise FormatError(self.source.name, number, repr(line), expected)

    def _add(self, number: int, scenario: Scenario, metric: str, value: float, unit: str) -> None:
        note = None
        first = self.seen.setdefault((scenario, metric), number)
        if first != number:
            note = f"repeats line {first}; one file must hold one round"
            variant = f"{scenario.variant}-line-{number}"
            scenario = scenario.model_copy(update={"variant": variant})
        row = row_of(self.source, number, scenario, metric, value, unit, note=note)
        self.parsed.rows.append(row)


def parse(source: RawInput) -> Parsed:
    """One row for each line with a figure."""
    parsed = Parsed()
    each_line(source, parsed.remarks, _Reader(source, parsed).read)
    return parsed


FORMATS: Final = (
    Format(
        "openssl-perftools",
        "openssl/perftools",
        lambda text, name: re.search(r"^Average time per .+: [0-9.]+us", text, re.M) is not None,
        file_by_file(parse),
        libraries=only("openssl", "boringssl", "aws-lc", "libressl"),
    ),
)
