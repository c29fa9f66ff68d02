"""Output of h1load (`h1load`), connections per second to a server, by its source of 2020 to 2025:

    $ h1load -P -t 2 -c 100 -d 10 -r 1 https://127.0.0.1:4443/
    #     time conns tot_conn  tot_req      tot_bytes    err  cps  rps  bps   ttfb
             1   100     8123     8031        1606200      0 8k12 8k03 12M8 5.101m
             2     0     8200     8200        3260000      0 77.0 169. 300k 5.213m
    #======= Percentiles for time-to-first-byte and time-to-last-byte =======

The command is in the file where somebody put it; path and -I of its request are in the scenario.
bench_run_haproxy.sh of openssl/perftools leaves files without it. Their names state the test, the
threads of h1load, and the library of both ends: `h1load-dh-rsa-noreuse-64-openssl-3.6.out`.

The figure is the median of `cps` (the lower of the two in the middle) over the whole seconds, those
before the last connection was started. The line of percentiles (-P) shows that no second is missing.
"""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import PurePosixPath
from statistics import median_low
from typing import Final

from tlsperf.contract.errors import FormatError
from tlsperf.contract.record import Protocol, Scenario
from tlsperf.load import rows
from tlsperf.load.spellings import OPENSSL_SUITES, PREFIX, hyphened
from tlsperf.load.subjects import check_build, check_named

_NAME: Final = re.compile(
    r"h1load-((?:dh-rsa|ec-dsa)-(?:no)?reuse)-([1-9][0-9]{0,5})-(.+?)(?:[.-]out)?(?:\.txt)?"
)
_COMMAND: Final = re.compile(rf"{PREFIX}(?:\S*/)?h1load( .+)")
_URL: Final = re.compile(r" ['\"]?https://[^/\s]*(\S*)")
_HEADER: Final = re.compile(r"^#[ _]*time +conns +tot_conn +tot_req +tot_bytes +err .*cps", re.M)
_COUNT: Final = re.compile(r"[0-9]{1,18}")
_RATE: Final = re.compile(r"([0-9]{1,3})([m.kMG])([0-9]{0,2})|([0-9]{1,18}\.[0-9])")
_UNITS: Final = {"m": -1, ".": 0, "k": 1, "M": 2, "G": 3}
"""The power of 1000 of each suffix that a rate can have: 8k12 is 8120; -ll prints 8120.5."""
_VERSIONS: Final[dict[str, Protocol]] = {"TLS1.2": "1.2", "TLS1.3": "1.3"}
_METHOD: Final = (
    "h1load measures client, network and server together, and each connection has one HTTP request",
    "; it passes a chain of HAProxy processes, ten by default, with a handshake each",
)


class _Reader:
    def __init__(self, source: rows.RawInput) -> None:
        self.source = source
        self.test = ""
        self.scenario: Scenario | None = None
        self.columns: list[str] = []
        self.seconds: list[tuple[int, float, int]] = []
        """For each second: connections since the start, connections per second, errors."""
        self.place, self.ended = 1, False
        if name := _NAME.fullmatch(PurePosixPath(source.name).name):
            self.test, threads, library = name.groups()
            check_build(source, library)
            self.command(1, f" -c 1280 -r 1 -t {threads} --tls-ver TLS1.3 https://")

    def read(self, number: int, line: str, last: bool) -> None:
        line = " ".join(line.split())
        command = _COMMAND.fullmatch(line)
        if self.columns and (command or _HEADER.match(line)):
            raise self.fail(number, line, "one run of h1load in a file")
        if command:
            check_named(self.source, number, line)
            self.command(number, command[1])
        elif _HEADER.match(line):
            self.columns, self.place = line.lstrip("#_").split(), number
        elif self.columns and line.startswith("#="):
            self.ended |= not last
        elif not (self.ended and (line.startswith("#") or len(line.split()) == 7)):
            self.second(number, line, line.split())

    def second(self, number: int, line: str, values: list[str]) -> None:
        row = dict(zip(self.columns, values, strict=False))
        rate = _RATE.fullmatch(row.get("cps", ""))
        counts = [row.get(name, "") for name in ("tot_conn", "err")]
        whole = len(values) == len(self.columns) and all(map(_COUNT.fullmatch, counts))
        if self.ended or not rate or not whole:
            expected = "a value for each column"
            raise rows.UnknownLineError(self.source.name, number, repr(line), expected)
        figure = rate[4] or f"{rate[1]}.{rate[3] or 0}e{3 * _UNITS[rate[2]]}"
        self.seconds.append((int(counts[0]), float(figure), int(counts[1])))

    def command(self, number: int, command: str) -> None:
        """Makes the scenario from the options and, if the file's name states it, the test."""
        words, url = command.split(), _URL.search(command)
        options = dict(pairwise(words))
        if options.get("-r") != "1" or not url or {"-R", "-T", "-s"}.intersection(words):
            expected = "`h1load … -r 1 https://…`, without -R, -T and -s, which slow it down"
            raise self.fail(number, f"h1load{command}", expected)
        protocol = _VERSIONS.get(options.get("--tls-ver", ""))
        if "--tls-ver" in options and not protocol:
            raise self.fail(number, options["--tls-ver"], " or ".join(_VERSIONS))
        named = "--cipher-suites" if protocol == "1.3" else "--cipher-list"
        suite = OPENSSL_SUITES.get(options.get(named, ""))
        variant = f"haproxy-chain-{self.test}" if self.test else "tcp-and-request"
        variant += f"-{hyphened(url[1])}".rstrip("-") + ("-head" if "-I" in words else "")
        variant += "-tls-reuse" if "--tls-reuse" in words else ""
        for option, what in (("-c", "connections"), ("-t", "client-threads")):
            variant += f"-{options[option]}-{what}" if option in options else ""
        with rows.scenario_errors(self.source.name, number):
            self.scenario = Scenario(
                operation="handshake",
                protocol=protocol,
                cipher_suite=suite.iana if suite and suite.protocol == protocol else None,
                resumption=None if "-reuse" in self.test or "--tls-reuse" in words else "none",
                variant=variant,
            )

    def fail(self, line: int, found: str, expected: str) -> FormatError:
        return FormatError(self.source.name, line, repr(found), expected)


def parse(source: rows.RawInput) -> rows.Parsed:
    """The median rate of one run."""
    parsed = rows.Parsed()
    reader = _Reader(source)
    rows.each_line(source, parsed.remarks, reader.read)
    place, seconds = reader.place, reader.seconds
    connections = max((total for total, *_ in seconds), default=0)
    whole = [rate for total, rate, _ in seconds if total < connections]
    if not (scenario := reader.scenario):
        expected = "`h1load … https://…` as the first line, or the name by bench_run_haproxy.sh"
        raise FormatError(source.name, place, "output without its command", expected)
    if not reader.ended or not whole:
        found = "no whole second" if reader.ended else "no percentiles (-P)"
        raise FormatError(source.name, place, found, "seconds, and percentiles after the last")
    counted = sum(rate for _, rate, _ in seconds)
    note = f"{seconds[-1][2]} connections failed" if seconds[-1][2] else None
    if abs(counted - connections) > 0.2 * connections:
        note = note or f"its seconds have {counted:,.0f} connections, and tot_conn {connections:,}"
    figure = (source, place, scenario, "rate", median_low(whole), "handshakes/s")
    method = "".join(_METHOD if reader.test else _METHOD[:1])
    parsed.rows.append(rows.row_of(*figure, note=note))
    parsed.remarks.append(rows.Remark(source.name, place, method, "method"))
    return parsed


FORMATS: Final = (
    rows.Format(
        "h1load",
        "h1load",
        lambda text, name: _HEADER.search(text) is not None,
        rows.file_by_file(parse),
    ),
)
