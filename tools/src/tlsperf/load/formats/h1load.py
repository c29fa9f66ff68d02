"""Output of h1load (`h1load`): connections per second to a TLS server.

    $ h1load -e -P -t 2 -c 100 -d 10 -r 1 https://127.0.0.1:4443/
    #     time conns tot_conn  tot_req      tot_bytes    err  cps  rps  bps   ttfb
             1   100     8123     8031        1606200      0 8k12 8k03 12M8 5.101m
             2   100    16310    16210        3242000      0 8k18 8k17 13M0 5.213m
    #======= Percentiles for time-to-first-byte and time-to-last-byte =======
    …
    100     0      250000      81234   25.344     81234   25.344

The first line must be the command: only it says that connections have TLS (`https://`) and that
each has one request (`-r 1`), so that connections per second are handshakes per second. The table
of percentiles (`-P`) must be there: nothing else shows that the output is whole.

The figure is the median of `cps`, one a second (the lower of the two in the middle). h1load counts
connections that it starts; a run with errors does not count. Requests per second and times to the
first byte are those of HTTP, and are left out.
"""

from __future__ import annotations

import re
from itertools import pairwise
from statistics import median_low
from typing import Final

from tlsperf.contract.errors import FormatError
from tlsperf.contract.record import Scenario
from tlsperf.load.rows import (
    Format,
    Parsed,
    RawInput,
    Remark,
    file_by_file,
    row_of,
    scenario_errors,
    text_of,
)
from tlsperf.load.spellings import OPENSSL_SUITES

_COMMAND: Final = re.compile(r"(?:\$ )?(?:\w+=\S* )*(?:\S*/)?h1load( .+)")
_HEADER: Final = re.compile(r"#_*\s*time conns tot_conn tot_req tot_bytes err (?:.* )?cps rps .*")
_HUMAN: Final = re.compile(r"([0-9]{1,3})([m.kMG])([0-9]{0,2})")
_RAW: Final = re.compile(r"[0-9]+\.[0-9]")
_UNITS: Final = {"m": -1, ".": 0, "k": 1, "M": 2, "G": 3}
"""The power of 1000 of each suffix that a rate can have."""
_VALUE: Final = r"(?:-|[0-9]\S*)"
_PERCENTILES: Final = re.compile(rf"{_VALUE}(?: {_VALUE}){{6}}")
_METHOD: Final = (
    "h1load measures client, network and server together, and each connection has one HTTP request"
)
_VERSIONS: Final = {"TLS1.2": "1.2", "TLS1.3": "1.3"}


def parse(source: RawInput) -> Parsed:
    """The median rate of one run."""
    lines = [
        (number, " ".join(line.split()))
        for number, line in enumerate(text_of(source).split("\n"), start=1)
        if line.strip()
    ]
    if not lines:
        return Parsed()
    first, command = lines[0]
    scenario = _scenario(source, first, command)
    columns: list[str] = []
    rates: list[float] = []
    errors = 0
    ended = False
    percentiles = False
    place = first
    for number, line in lines[1:]:
        if ended:
            raise _fail(source, number, line, "one run of h1load in a file")
        if _HEADER.fullmatch(line) and not columns:
            columns = line.lstrip("#_").split()
            place = number
        elif line.startswith("#") and columns:
            percentiles = True
        elif percentiles:
            if not _PERCENTILES.fullmatch(line):
                raise _fail(source, number, line, "seven numbers of the table of percentiles")
            ended = line.startswith("100 ")
        else:
            values = line.split()
            if not columns or len(values) != len(columns):
                raise _fail(source, number, line, "the header of h1load, then a value per column")
            row = dict(zip(columns, values, strict=True))
            rates.append(_number(source, number, row["cps"]))
            if not re.fullmatch(r"[0-9]{1,18}", row["err"]):
                raise _fail(source, number, row["err"], "a number of errors")
            errors = int(row["err"])
    if not ended or not text_of(source).endswith("\n"):
        expected = "the table of percentiles to its end (-P), without which a file may be cut"
        raise FormatError(source.name, lines[-1][0], "the end", expected)
    if not rates:
        raise FormatError(source.name, place, "no line with figures", "one a second")
    note = f"{errors} connections failed" if errors else None
    rate = median_low(rates)
    row_ = row_of(source, place, scenario, "rate", rate, "handshakes/s", note=note)
    return Parsed([row_], [Remark(source.name, place, _METHOD, "method")])


def _scenario(source: RawInput, number: int, line: str) -> Scenario:
    """The scenario that the command's options describe."""
    command = _COMMAND.fullmatch(line)
    words = command[1].split() if command else []
    options = dict(pairwise(words))
    if options.get("-r") != "1" or not any(word.startswith("https://") for word in words):
        expected = (
            "the command as the first line, with -r 1 and https://: `h1load … -r 1 https://…`"
        )
        raise _fail(source, number, line, expected)
    protocol = _VERSIONS.get(options.get("--tls-ver", ""))
    if "--tls-ver" in options and protocol is None:
        raise _fail(source, number, options["--tls-ver"], " or ".join(_VERSIONS))
    named = "--cipher-suites" if protocol == "1.3" else "--cipher-list"
    suite = OPENSSL_SUITES.get(options.get(named, ""))
    reuse = "--tls-reuse" in words
    with scenario_errors(source.name, number):
        return Scenario.model_validate(
            {
                "operation": "handshake",
                "protocol": protocol,
                "cipher_suite": suite.iana if suite and suite.protocol == protocol else None,
                "resumption": None if reuse else "none",
                "variant": "tcp-and-request-tls-reuse" if reuse else "tcp-and-request",
            }
        )


def _number(source: RawInput, line: int, printed: str) -> float:
    """A rate from its printed form: `8k12` is 8120; with -ll it is a decimal number."""
    if _RAW.fullmatch(printed):
        return float(printed)
    if found := _HUMAN.fullmatch(printed):
        return float(f"{found[1]}.{found[3] or 0}e{3 * _UNITS[found[2]]}")
    raise _fail(source, line, printed, "a rate such as 8k12, or 8120.0 with -ll")


def _fail(source: RawInput, line: int, found: str, expected: str) -> FormatError:
    return FormatError(source.name, line, repr(found), expected)


FORMATS: Final = (
    Format(
        "h1load",
        "h1load",
        lambda text, name: (
            re.search(r"^#[ _]+time conns tot_conn +tot_req +tot_bytes +err ", text, re.M)
            is not None
        ),
        file_by_file(parse),
    ),
)
