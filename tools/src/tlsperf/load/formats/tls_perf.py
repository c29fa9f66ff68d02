"""Output of tls-perf of Tempesta Technologies (`tls-perf`), by its source of 2020 to 2023: handshakes
with a server over TCP.

    Running TLS benchmark with following settings:
    TLS version: 1.2
    Cipher:      ECDHE-ECDSA-AES128-GCM-SHA256
    TLS tickets: off
     MEASURES (seconds):     MAX h/s 618; AVG h/s 561; 95P h/s 448; MIN h/s 448
     LATENCY (microseconds): MIN 26; AVG 50; 95P 74; MAX 3945

Later versions print `HANDSHAKES/sec:` and `LATENCY (ms):`. Read are the mean rate, and mean and maximum
of the latency. Microseconds are left out: until August 2020 they were of the last call of
SSL_connect() alone (tempesta-tech/tls-perf, commit 4fec13f). With tickets on, nothing says how many
handshakes resumed. Only the command states connections, threads and curve.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from tlsperf.contract.errors import FormatError
from tlsperf.contract.record import Protocol, Scenario
from tlsperf.load import rows
from tlsperf.load.spellings import GROUPS, OPENSSL_SUITES, PREFIX, hyphened
from tlsperf.load.subjects import check_named

_SETTING: Final = re.compile(r"(Host|TLS version|Cipher|TLS tickets|Duration): (.+)")
_COMMAND: Final = re.compile(rf"{PREFIX}(?:\S*/)?tls-perf((?: .+)?)")
_ERRORS: Final = re.compile(r"TLS hs in progress .*, Errors ([0-9]+)")
_NOISE: Final = re.compile(
    r"Running TLS benchmark with following settings:|set open files limit to [0-9]+|\( All peers .*"
    r"|=+|TOTAL: SECONDS [0-9]+; HANDSHAKES [0-9]+"
)
_RATE: Final = re.compile(
    r"(?:HANDSHAKES/sec|MEASURES \(seconds\)): MAX (?:h/s )?\S+; AVG (?:h/s )?([0-9]{1,18}); 95P .*"
)
_NUMBER: Final = r"([0-9]+(?:\.[0-9]+)?(?:e[+-][0-9]{1,3})?)"
_LATENCY: Final = re.compile(
    rf"LATENCY \(ms\): \S+ \S+ AVG (?=\S*\.){_NUMBER}; 95P \S+ MAX {_NUMBER}"
)
"""Milliseconds without decimals are of versions before September 2023, which left out what took
less than one.
"""
_VERSIONS: Final[dict[str, Protocol | None]] = {
    "1.2": "1.2",
    "1.3": "1.3",
    "Any of 1.2 or 1.3": None,
}
_METHOD: Final = "tls-perf measures client, network and server together"


class _Reader:
    def __init__(self, source: rows.RawInput, parsed: rows.Parsed) -> None:
        self.source = source
        self.parsed = parsed
        self.seen: dict[str, str] = {}
        """What each setting says, and which figures were read."""
        self.options: dict[str, str] = {}
        self.errors = "0"

    def read(self, number: int, line: str, last: bool) -> None:
        # Only the line end shows that the last number is whole.
        if last or not self._understands(number, " ".join(line.split())):
            raise rows.UnknownLineError(self.source.name, number, repr(line), "a line of tls-perf")

    def _understands(self, number: int, line: str) -> bool:
        if setting := _SETTING.fullmatch(line):
            self._once(number, *setting.groups())
        elif progress := _ERRORS.fullmatch(line):
            self.errors = progress[1]
        elif command := _COMMAND.fullmatch(line):
            check_named(self.source, number, line)
            self.options = dict(pairwise(command[1].split()))
        elif rate := _RATE.fullmatch(line):
            return self._add(number, line, "rate", {"value": rate[1]}, "handshakes/s")
        elif latency := _LATENCY.fullmatch(line):
            figures = {"value": latency[1], "max": latency[2]}
            return self._add(number, line, "duration", figures, "µs")
        else:
            return _NOISE.fullmatch(line) is not None
        return True

    def _once(self, number: int, name: str, value: str) -> None:
        if name in self.seen:
            expected = "one run of tls-perf in a file"
            raise FormatError(self.source.name, number, f"{name} again", expected)
        self.seen[name] = value

    def _add(self, number: int, line: str, metric: str, figures: dict[str, str], unit: str) -> bool:
        """Adds figures; False if the settings before them do not say what they are of."""
        if not self.seen:
            expected = "the settings before it, which tls-perf prints without -q"
            raise FormatError(self.source.name, number, repr(line), expected)
        version, tickets = self.seen.get("TLS version"), self.seen.get("TLS tickets")
        if version not in _VERSIONS or tickets not in ("off", "advertise", "on"):
            return False
        self._once(number, metric, line)
        if not self.parsed.rows:
            self.parsed.remarks.append(rows.Remark(self.source.name, number, _METHOD, "method"))
        suite = OPENSSL_SUITES.get(self.seen.get("Cipher", ""))
        curve = self.options.get("-C", "")
        group = GROUPS.get(curve.lower())
        variant = ["tcp-tickets" if tickets == "on" else "tcp"]
        for option, what in (("-l", "connections-a-thread"), ("-t", "client-threads")):
            variant += [self.options[option], what] if option in self.options else []
        # OpenSSL ignores cipher suites of the other version.
        used = suite and suite.protocol == _VERSIONS[version]
        with rows.scenario_errors(self.source.name, number):
            scenario = Scenario(
                operation="handshake",
                protocol=_VERSIONS[version],
                cipher_suite=suite.iana if suite and used else None,
                key_exchange=group,
                resumption=None if tickets == "on" else "none",
                variant=hyphened("-".join(variant if group else [*variant, curve])),
            )
        note = None if self.errors == "0" else f"{self.errors} handshakes failed"
        factor = 1000.0 if metric == "duration" else 1.0
        for statistic, figure in figures.items():
            row = rows.row_of(
                *(self.source, number, scenario, metric, float(figure) * factor, unit),
                statistic=statistic,
                note=note,
            )
            self.parsed.rows.append(row)
        return True


def parse(source: rows.RawInput) -> rows.Parsed:
    """The rate and the latencies of one run."""
    parsed = rows.Parsed()
    rows.each_line(source, parsed.remarks, _Reader(source, parsed).read)
    return parsed


FORMATS: Final = (
    rows.Format(
        "tls-perf",
        "tls-perf",
        lambda text, name: (
            re.search(
                r"Running TLS benchmark with following settings:|^ HANDSHAKES/sec: ", text, re.M
            )
            is not None
        ),
        rows.file_by_file(parse),
    ),
)
