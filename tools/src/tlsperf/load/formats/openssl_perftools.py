"""Programs of openssl/perftools (`openssl-perftools`), by their source of July 2024 to August 2026:

    $ ./handshake certs 4
    Average time per handshake: 493.620098us
    Handshakes per second: 8103.400000
    $ ./newrawkey -a ml-kem-768 1
    Average time per EVP_PKEY_new_raw_public_key_ex() call for algorithm ML-KEM-768: 19.120459us

The time is that of one call in one thread; a handshake is client and server together. The command
is in the file where somebody put it, before the output. Only it says how many threads ran, with
which options. bench_run_forks.sh leaves files without it, whose names state build, program, a key
and threads: `libressl-4.2.1-handshake-4.out`. Figures of -t (bare numbers) are unknown lines.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Final, NamedTuple

from tlsperf.contract.record import Scenario
from tlsperf.load import rows
from tlsperf.load.spellings import PREFIX
from tlsperf.load.subjects import check_build, check_named, check_stated

_WORK: Final = {
    "handshake": ("handshake", "both-sides"),
    "newrawkey": (r"\w+\(\) call for algorithm ([\w-]+)", r"\1-new-raw-public-key"),
    "rsasign": ("RSA signature operation", "rsa-512-sign-sha1-digest"),
    "x509storeissuer": (r"X509_STORE_CTX_get1_issuer\(\) call", "x509-store-get1-issuer"),
    "sslnew": ("SSL/BIO creation call", "ssl-new"),
    "writeread": ("write/read", "write-read"),
    "randbytes": (r"RAND_bytes\(\) call", "rand-bytes"),
    "providerdoall": (r"OSSL_PROVIDER_do_all\(\) call", "provider-do-all"),
    "pkeyread": (r"(pem|der)\((\w+)\)(?: call)?", r"\1-read-\2"),
    "evp_setpeer": (r"(\w+) evp_set_peer call", r"\1-set-peer"),
    "rwlocks": (r"(write|read)_lock/unlock call pair", r"rwlock-\1"),
}
"""For each program: a pattern of the work that its lines name, and the primitive."""
_BY_COMMAND: Final = {
    **{"evp_hash": "hash", "evp_cipher": "encryption", "evp_fetch": "fetch call"},
    **{"evp_pkey": "key generation"},
    **dict.fromkeys(("evp_mac", "evp_kdf", "evp_rand"), "computation"),
}
"""Programs whose lines state no algorithm: they are read after their command."""
_PROGRAMS: Final = "|".join((*_WORK, *_BY_COMMAND))
_THREADS: Final = "([1-9][0-9]{0,5})"
_COMMAND: Final = re.compile(
    rf"{PREFIX}(?:\S*/)?({_PROGRAMS})((?: \S+)*?)(?: {_THREADS})?(?: [12]?[>|].*)?"
)
_SETTING: Final = re.compile(r"(?<!\S)OPENSSL_\w+=(\S*) ")
"""OPENSSL_CONF and others, which can choose the work."""
_RUNS: Final = re.compile(rf"[$#>] .*|\w+=.*|\S*/.*|(?:.*[ /])?(?:{_PROGRAMS})(?: .*)?")
"""A line that runs a program: what follows is not of the command before it."""
_NAME: Final = re.compile(rf"([a-zA-Z].+)-({_PROGRAMS})((?:-\w+)*?)-{_THREADS}(?:\.out|-out\.txt)")
_FIGURE: Final = re.compile(
    r"Average time per (?P<of>.+): (?P<time>[0-9]+\.[0-9]{6})us"
    r"|(?P<read>\w+\(\w+\)): avg: (?P<average>[0-9]+\.[0-9]{3}) us, median: .*"
    r"|Handshakes per second: (?P<rate>[0-9]+\.[0-9]{6})"
)
_LIBRARY: Final = re.compile(r"OpenSSL library: ([A-Za-z-]+)(?: ([0-9.]+[a-z]?)?.*)?")
_NOISE: Final = re.compile(r"Running rwlock test .*|total \w+ lock/unlock calls .*|\w+ version .*:")


class _Command(NamedTuple):
    program: str = ""
    threads: int | None = None
    options: str = ""


class _Reader:
    def __init__(self, source: rows.RawInput, parsed: rows.Parsed) -> None:
        self.source = source
        self.parsed = parsed
        self.command: _Command | None = _Command()
        if name := _NAME.fullmatch(PurePosixPath(source.name).name):
            check_build(source, name[1])
            key = "" if name[2] == "evp_setpeer" else name[3]  # its lines state it
            self.command = _Command(name[2], int(name[4]), key)

    def read(self, number: int, line: str, last: bool) -> None:
        line = " ".join(line.split())
        if command := _COMMAND.fullmatch(_SETTING.sub("", line)):
            check_named(self.source, number, re.sub("openssl.perftools", "", line))
            program, words, threads = command[1], command[2].split(), command[3]
            if program in ("handshake", "writeread", "x509storeissuer"):
                folder = "".join(words[-1:]).rstrip("/").rpartition("/")[2]
                words[-1:] = [folder] if folder != "certs" else []
            elif program in _WORK:
                words = []  # the lines name the work
            given = ["", *words, *(it.split("/")[-1] for it in _SETTING.findall(line))]
            options = re.sub(r"[^\w.]+", "-", " ".join(given)).rstrip("-")
            self.command = _Command(program, int(threads) if threads else None, options)
        elif library := _LIBRARY.fullmatch(line):
            check_stated(self.source, number, library[1].lower(), library[2])
        elif not _NOISE.fullmatch(line) and not self._figure(number, _FIGURE.fullmatch(line)):
            self.command = None if _RUNS.fullmatch(line) else self.command
            raise rows.UnknownLineError(self.source.name, number, repr(line), "a figure")

    def _figure(self, number: int, figure: re.Match[str] | None) -> bool:
        scenario = self._scenario(number, figure) if figure else None
        if not figure or not scenario:
            return False
        note = None
        if figure["rate"]:
            metric, value, unit = "rate", float(figure["rate"]), "handshakes/s"
            other, threads = self.parsed.rows[-1:], scenario.threads
            same = [(r.metric, r.scenario) for r in other] == [("duration", scenario)]
            if threads and same and not 0.5e6 < value * other[0].value / threads < 1.05e6:
                note = f"{other[0].value:g} µs and {value:g} a second are not of {threads} threads"
        else:
            metric, value, unit = "duration", float(figure["time"] or figure["average"]), "µs"
        of = (self.source, number, scenario, metric, value, unit)
        self.parsed.add_once(rows.row_of(*of, note=note))
        return True

    def _scenario(self, number: int, figure: re.Match[str]) -> Scenario | None:
        work = figure["of"] or figure["read"] or "handshake"
        program, threads, options = self.command or _Command("none")
        if not program:
            program = next((name for name in _WORK if re.fullmatch(_WORK[name][0], work)), "none")
        general = (_BY_COMMAND.get(program, ""), program.replace("_", "-"))
        pattern, name = _WORK.get(program, general)
        if not (found := re.fullmatch(pattern, work)):
            return None
        with rows.scenario_errors(self.source.name, number):
            return Scenario(
                operation="handshake" if program == "handshake" else "primitive",
                resumption="none" if program == "handshake" else None,
                threads=threads,
                variant=found.expand(name).lower() + options,
            )


def parse(source: rows.RawInput) -> rows.Parsed:
    """One row for each line with a figure."""
    parsed = rows.Parsed()
    rows.each_line(source, parsed.remarks, _Reader(source, parsed).read)
    return parsed


FORMATS: Final = (
    rows.Format(
        "openssl-perftools",
        "openssl/perftools",
        lambda text, name: re.search(r"^Average time per .+: [0-9.]+us", text, re.M) is not None,
        rows.file_by_file(parse),
        libraries=rows.only("openssl", "boringssl", "aws-lc", "libressl", "wolfssl"),
    ),
)
