"""Output of tls-perf of Tempesta Technologies (`tls-perf`): handshakes with a server over TCP.

    Running TLS benchmark with following settings:
    Host:        192.168.100.4 : 443
    TLS version: 1.2
    Cipher:      ECDHE-ECDSA-AES128-GCM-SHA256
    TLS tickets: off
    Duration:    3000

    ========================================
     TOTAL:                  SECONDS 7; HANDSHAKES 5443
     MEASURES (seconds):     MAX h/s 618; AVG h/s 561; 95P h/s 448; MIN h/s 448
     LATENCY (microseconds): MIN 26; AVG 50; 95P 74; MAX 3945

Its source prints `HANDSHAKES/sec:` and `LATENCY (ms):` where its README has the last two lines.
The frame has the mean rate, and mean and maximum of the latency in µs; MAX, 95P and MIN of the rate
and MIN and 95P of the latency have no statistic of ours. With `TLS tickets: on` nothing says how
many handshakes resumed, so resumption stays empty and the variant says that tickets were on.
"""

from __future__ import annotations

import re
from typing import Final

from tlsperf.contract.errors import FormatError
from tlsperf.contract.record import Scenario
from tlsperf.load.rows import (
    Format,
    Parsed,
    RawInput,
    Remark,
    each_line,
    file_by_file,
    row_of,
    scenario_errors,
)
from tlsperf.load.spellings import OPENSSL_SUITES

_NUMBER: Final = r"([0-9]+(?:\.[0-9]+)?(?:e[+-][0-9]+)?)"
_SETTING: Final = re.compile(r"(Host|TLS version|Cipher|TLS tickets|Duration): (.+)")
_PROGRESS: Final = re.compile(
    r"TLS hs in progress -?[0-9]+ \[-?[0-9]+ h/s\], TCP open conns -?[0-9]+ "
    r"\[-?[0-9]+ hs in progress\], Errors ([0-9]{1,18})"
)
_NOISE: Final = re.compile(
    r"Running TLS benchmark with following settings:"
    r"|set open files limit to [0-9]+"
    r"|\( All peers are active, start to gather statistics \)"
    r"|=+"
    r"|(?:\$ )?(?:\S*/)?tls-perf(?: .*)?"
    r"|TOTAL: SECONDS [0-9]+; HANDSHAKES [0-9]+"
)
_RATE: Final = re.compile(
    rf"(?:HANDSHAKES/sec: MAX {_NUMBER}; AVG {_NUMBER}; 95P {_NUMBER}; MIN {_NUMBER}"
    rf"|MEASURES \(seconds\): MAX h/s {_NUMBER}; AVG h/s {_NUMBER}; 95P h/s {_NUMBER}; "
    rf"MIN h/s {_NUMBER})"
)
_LATENCY: Final = re.compile(
    rf"LATENCY \((ms|microseconds)\): MIN {_NUMBER}; AVG {_NUMBER}; 95P {_NUMBER}; MAX {_NUMBER}"
)
_MICROSECONDS: Final = {"ms": 1000.0, "microseconds": 1.0}
_VERSIONS: Final = {"1.2": "1.2", "1.3": "1.3", "Any of 1.2 or 1.3": None}
_TICKETS: Final = {"off": "none", "advertise": "none", "on": None}
_METHOD: Final = "tls-perf measures client, network and server together"


class _Reader:
    def __init__(self, source: RawInput, parsed: Parsed) -> None:
        self.source = source
        self.parsed = parsed
        self.settings: dict[str, str] = {}
        self.errors = 0
        self.seen: set[str] = set()

    def read(self, number: int, line: str, last: bool) -> None:
        if last:
            # Only the line end shows that the last number is whole.
            raise self._fail(number, line, "a line that ends")
        line = " ".join(line.split())
        if setting := _SETTING.fullmatch(line):
            name, value = setting.groups()
            if name in self.settings:
                raise self._fail(number, line, "the output of one run of tls-perf")
            self.settings[name] = value
        elif progress := _PROGRESS.fullmatch(line):
            self.errors = int(progress[1])
        elif rate := _RATE.fullmatch(line):
            mean = rate[2] or rate[6]
            self._add(number, line, "rate", {"value": float(mean)}, "handshakes/s")
        elif latency := _LATENCY.fullmatch(line):
            factor = _MICROSECONDS[latency[1]]
            values = {"value": float(latency[3]) * factor, "max": float(latency[5]) * factor}
            self._add(number, line, "duration", values, "µs")
        elif not _NOISE.fullmatch(line):
            raise self._fail(number, line, "a line of tls-perf")

    def _add(
        self, number: int, line: str, metric: str, values: dict[str, float], unit: str
    ) -> None:
        if metric in self.seen:
            raise self._fail(number, line, "the output of one run of tls-perf")
        self.seen.add(metric)
        scenario = self._scenario(number, line)
        note = f"{self.errors} handshakes failed" if self.errors else None
        for statistic, value in values.items():
            row = row_of(
                *(self.source, number, scenario, metric, value, unit),
                statistic=statistic,
                note=note,
            )
            self.parsed.rows.append(row)
        if metric == "rate":
            self.parsed.remarks.append(Remark(self.source.name, number, _METHOD, "method"))

    def _scenario(self, number: int, line: str) -> Scenario:
        version = self.settings.get("TLS version", "")
        tickets = self.settings.get("TLS tickets", "")
        if version not in _VERSIONS or tickets not in _TICKETS:
            expected = "`TLS version:` and `TLS tickets:` before it, as tls-perf prints them"
            raise self._fail(number, line, expected)
        suite = OPENSSL_SUITES.get(self.settings.get("Cipher", ""))
        if suite and suite.protocol != _VERSIONS[version]:
            suite = None  # OpenSSL ignores cipher suites of the other version
        with scenario_errors(self.source.name, number):
            return Scenario.model_validate(
                {
                    "operation": "handshake",
                    "protocol": _VERSIONS[version],
                    "cipher_suite": suite.iana if suite else None,
                    "resumption": _TICKETS[tickets],
                    "variant": "tcp-tickets" if tickets == "on" else "tcp",
                }
            )

    def _fail(self, line: int, found: str, expected: str) -> FormatError:
        return FormatError(self.source.name, line, repr(found), expected)


def parse(source: RawInput) -> Parsed:
    """The rate and the latencies of one run."""
    parsed = Parsed()
    each_line(source, parsed.remarks, _Reader(source, parsed).read)
    return parsed


FORMATS: Final = (
    Format(
        "tls-perf",
        "tls-perf",
        lambda text, name: "Running TLS benchmark with following settings:" in text,
        file_by_file(parse),
    ),
)
