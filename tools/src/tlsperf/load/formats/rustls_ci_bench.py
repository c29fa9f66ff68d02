"""CSV of rustls' ci-bench (`rustls-ci-bench`; github.com/rustls/rustls: ci-bench/src/main.rs).

`icounts.csv`, instructions of a side by callgrind: of a handshake, until 0.23.13 with its process;
of 30 resumed handshakes (since August 2023); of a transfer of 10 MiB (since November 2023):

    handshake_tickets_aws_lc_rs_1.3_ecdsap256_chacha_client,4331424

`memory.csv` (since November 2025), bytes and blocks allocated in all, bytes and blocks at the peak.
DHAT counts a side's whole process: its start, its configuration, one handshake, then one resumed
handshake or the 10 MiB. So it is a set-up, and nothing is divided:

    handshake_no_resume_aws_lc_rs_1.3_rsa_aes_server,690380,4158,70539,220

`walltime` prints the nanoseconds of each iteration, which is a round: one thread configures both
sides and makes one handshake, then 30 resumed ones or 10 MiB, and all of it is timed:

    handshake_no_resume_ring_1.3_rsa_aes,1010150,1400602,936029

A file has both providers. Names without one are from before November 2023, when it was ring; only
full handshakes are read of them: nothing says how much the others did. The group, which no file
says, is a default.
"""

from __future__ import annotations

import re
from typing import Final

from tlsperf.contract.errors import FormatError
from tlsperf.contract.record import Scenario
from tlsperf.load import rows
from tlsperf.load.rows import Parsed, ParsedRow, RawInput, row_of
from tlsperf.load.spellings import CARGO_LINE, KEY_TYPES

_LINE: Final = re.compile(
    r"^(?P<work>handshake|transfer)_(?P<resumption>no_resume|session_id|tickets)_"
    r"(?:(?P<provider>ring|aws_lc_rs)_)?(?P<protocol>1\.[23])_"
    r"(?:(?P<key>rsa|ecdsa|ecdsap256|ecdsap384)_(?P<cipher>aes|chacha)|no_crypto)"
    r"(?:_(?P<side>server|client)(?P<counts>(?:(?:,[0-9]{1,18}){3})?,[0-9]{1,18})"
    r"|(?P<times>(?:,[0-9]{1,18})+))\r?$",
    re.MULTILINE,
)
_RESUMPTIONS: Final = {"no_resume": "none", "session_id": "session-id", "tickets": "ticket"}
_CIPHERS: Final = {"aes": "AES_128_GCM_SHA256", "chacha": "CHACHA20_POLY1305_SHA256"}
_RESUMED: Final = 30  # handshakes in one count or time of resumed handshakes
_MEBIBYTES: Final = 10  # of one transfer
_INSTRUCTIONS: Final = (True, 1)
_MEMORY: Final = (True, 4)
_COUNTS_HANDSHAKE: Final = (23, 14)
"""0.23.14 and later count the instructions of a full handshake alone (rustls 7d08edbcd)."""
_METHOD: Final = "a set-up has its configuration and a first handshake"


def _kind(found: re.Match[str]) -> tuple[bool, int]:
    """Whether a line's figures are of one side, and how many they are."""
    return found["side"] is not None, (found["counts"] or found["times"]).count(",")


def _rows(
    source: RawInput, line: int, found: re.Match[str], counts_process: bool
) -> list[ParsedRow]:
    key, cipher, side, kind = found["key"], found["cipher"], found["side"], _kind(found)
    transfer, resumed = found["work"] == "transfer", found["resumption"] != "no_resume"
    if kind == _INSTRUCTIONS:
        side = {"server": "sender", "client": "receiver"}[side] if transfer else side
        variant = "process" if counts_process and not transfer and not resumed else ""
    else:
        variant = f"process-{'dhat' if kind == _MEMORY else 'both-sides'}"
        variant += f"-and-{_MEBIBYTES}-mib" if transfer else ""
        variant += f"-and-{1 if kind == _MEMORY else _RESUMED}-resumed" if resumed else ""
    operation = "set-up" if variant else found["work"]
    ecdhe = f"ECDHE_{(key or '')[:5].upper()}_WITH_" if found["protocol"] == "1.2" else ""
    scenario = Scenario.model_validate(
        {
            "operation": operation,
            "protocol": found["protocol"],
            "cipher_suite": f"TLS_{ecdhe}{_CIPHERS[cipher]}" if cipher else None,
            "certificate": KEY_TYPES[key] if key else None,
            "authentication": "server",
            "resumption": _RESUMPTIONS[found["resumption"]],
            "side": side,
            "variant": (variant if key else f"{variant}-no-crypto").strip("-") or None,
        }
    )
    figures = [int(of) for of in (found["counts"] or found["times"])[1:].split(",")]
    of = (source, line, scenario)
    if kind == _INSTRUCTIONS:
        unit, runs = ("MiB", _MEBIBYTES) if transfer else ("handshake", _RESUMED if resumed else 1)
        unit = "operation" if variant else unit
        return [row_of(*of, "instructions", figures[0] / runs, f"instructions/{unit}")]
    if kind == _MEMORY:
        return [
            row_of(*of, "allocated-in-all", figures[0], "bytes"),
            row_of(*of, "allocations", figures[1], "allocations"),
            row_of(*of, "peak-allocated", figures[2], "bytes"),
        ]
    return [
        row_of(*of, "duration", time / 1e3, "µs", round=i)
        for i, time in enumerate(figures, start=1)
    ]


def parse(source: RawInput) -> Parsed:
    """The figures of the implementation's provider, and those without cryptography."""
    own = {i.id: i for i in source.run.implementations}.get(source.implementation)
    own_provider = own.provider if own else None
    release = re.match(r"0\.([0-9]{1,4})\.([0-9]{1,4})", own.version if own else "")
    counts_process = release is not None and (int(release[1]), int(release[2])) < _COUNTS_HANDSHAKE
    first = _LINE.search(rows.text_of(source))
    others = rows.LeftOut(source.name, "other provider's benchmark")
    parsed = Parsed()

    def read(number: int, line: str, last: bool) -> None:
        found = _LINE.fullmatch(line)
        if not found and CARGO_LINE.match(line):
            return
        of_ring = found and found["key"] and not found["provider"]
        doubtful = of_ring and not line.startswith("handshake_no_resume_")
        # The last line may have lost digits if it has no line end.
        if last or not found or doubtful or (first and _kind(found) != _kind(first)):
            expected = "NAME and figures of ci-bench, as many as in its first line"
            raise rows.UnknownLineError(source.name, number, repr(line), expected)
        provider = "ring" if of_ring else (found["provider"] or "").replace("_", "-")
        if found["provider"] and own_provider is None:
            expected = f"an --implementation with a provider, such as {source.implementation}-ring"
            raise FormatError(source.name, number, f"a benchmark of {provider}", expected)
        if provider and own_provider and provider != own_provider:
            others.add(number, line)
            return
        for row in _rows(source, number, found, counts_process):
            parsed.add_once(row)

    rows.each_line(source, parsed.remarks, read)
    parsed.remarks += others.remarks
    if any(row.scenario.operation == "set-up" for row in parsed.rows):
        parsed.remarks.append(rows.Remark(source.name, 1, _METHOD, "method"))
    return parsed


FORMATS: Final = (
    rows.Format(
        "rustls-ci-bench",
        "rustls' ci-bench",
        lambda text, name: _LINE.search(text) is not None,
        rows.with_rounds(parse),
        libraries=rows.only("rustls"),
        splits=True,
    ),
)
