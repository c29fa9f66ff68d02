"""Output of `openssl speed` (`openssl-speed`), as a table or for machines (-mr): primitives.

    type              2 bytes     31 bytes    136 bytes   1024 bytes   8192 bytes  16384 bytes
    AES-256-GCM      13570.29k   168865.38k   623050.41k  1766296.58k  2320760.83k  2374123.52k
    +F4:3:256:40814.285714:14133.333333

The frame has MiB/s and operations/s. With -multi a figure is the sum of several processes, whose
number is in its name; lines `Got:` are its parts. `tlsperf.load.speed_lines` has the sources.
"""

from __future__ import annotations

import re
from typing import Final

from tlsperf.contract.metrics import LEAST_RATE, MOST_RATE
from tlsperf.load.rows import (
    Format,
    Parsed,
    RawInput,
    Remark,
    UnknownLineError,
    each_line,
    file_by_file,
    only,
    primitive_row,
)
from tlsperf.load.speed_lines import WHOLE, of_machine, of_table, slug
from tlsperf.load.speed_output import EXPORTED, UNCLEAR, UNCLEAR_COMMAND, Output
from tlsperf.load.subjects import check_named, check_stated

_COMMAND: Final = re.compile(r"(?:.*? )??((?:\w+=\S* )*\S*?)openssl\S* speed( .*)?")
_KEY_HEADER: Final = re.compile(r"[a-z]+ [a-z./ ]*/s")
_STATED: Final = re.compile(
    r"(?:.*Library: )?(?:([A-Z]\w*) |version: )([0-9]+\.[0-9]+\.[0-9]\S*)( .*)?"
)
_ENGINE: Final = re.compile(r'[Ee]ngine "(\S+)" set\.')
_CHILD: Final = re.compile(r"Forked child ([0-9]{1,4})|Got: (\+\S.*) from ([0-9]{1,4})")
_NOISE: Final = re.compile(
    r"(?:Doing .+ for [0-9]+s[^:]*: ?)?(?:[0-9]+ .+ in [0-9]+\.[0-9]+s)?"
    r"|\+(?:D[A-Z]*|R[0-9]*):.*"
    r"|(?:built on|options|compiler|CPUINFO|platform|[A-Z]+DIR|Seeding source):.*"
    r"|The 'numbers' are in .*|You have chosen to measure elapsed time .*"
    r"|WARNING: can't open config file: .*"
)
_BEFORE: Final = re.compile(r"Doing |\+[DHR]|Got: |Forked |type |version:|.*SSL [0-9]")
"""Begins a line that the tool prints before its figures."""
_SIGNING: Final = (
    "openssl speed signs a digest, RSA with PKCS #1 v1.5; "
    "tlsbench hashes a message, and RSA has PSS"
)


class _Reader:
    def __init__(self, source: RawInput, parsed: Parsed) -> None:
        self.source, self.parsed = source, parsed
        self.seen: dict[str, int] = {}
        own = {i.id: i for i in source.run.implementations}[source.implementation]
        version = list(map(int, re.findall("[0-9]+", own.version)))
        self.seconds = own.library == "libressl" or [0] < version < [1, 1, 1]
        self.output = Output(None, self.seconds)
        self.exported = False

    def read(self, number: int, line: str, last: bool) -> None:
        ended = not last or line.endswith(" ")  # a figure without k has a space after it
        line = " ".join(line.split())
        known = True
        if self.output.printed and _BEFORE.match(line):
            self.output = self.output.following()
        self.output.progress(line)
        self.exported |= EXPORTED.search(line) is not None
        if command := _COMMAND.fullmatch(line):
            check_named(self.source, number, command[1])
            self.output = Output(command[2] or "", self.seconds)
            self.output.understood &= not (self.exported or UNCLEAR_COMMAND.search(line))
            known = self.output.understood
        elif UNCLEAR.match(line):
            self.output.understood = known = False
        elif stated := _STATED.fullmatch(line):
            library = (stated[1] or "OpenSSL").lower()
            check_stated(self.source, number, library, stated[2])
        elif engine := _ENGINE.fullmatch(line):
            self.output.said["engine"] = engine[1]
        elif child := _CHILD.fullmatch(line):
            known = self.output.child(child[1] or child[3], child[2])
        elif line.startswith(("type ", "+H")):
            known = self.output.header(line)
        elif _KEY_HEADER.fullmatch(line):
            known = self.output.key_header(line)
        elif not _NOISE.fullmatch(line):
            known = (ended or bool(WHOLE.fullmatch(line))) and self._figures(number, line)
        if not known:
            expected = "a figure under its header, or another line of openssl speed"
            raise UnknownLineError(self.source.name, number, repr(line), expected)

    def _figures(self, number: int, line: str) -> bool:
        """Adds the figures of a line; False if it is not known what they are of."""
        output = self.output
        machine = line.startswith("+F")
        read = of_machine(line, self.seconds) if machine else of_table(line, output.steps)
        output.printed |= machine or read is not None
        suffix = output.suffix()
        if not read or suffix is None or not output.understood:
            return False
        found = output.named(read)
        if found.steps:
            variants = [f"{found.name}-{step}" for step in found.steps]
            remark = _SIGNING if "verify" in found.steps else None
            rates, unit = found.rates, "operations/s"
        else:
            name, remark = output.cipher(found.name)
            variants = [f"{name}-{size}" for size in output.sizes]
            rates, unit = [rate / (1 << 20) for rate in found.rates], "MiB/s"
        if not slug(found.name) or len(variants) != len(rates) or len(variants[0] + suffix) > 80:
            return False
        if remark and all(known.message != remark for known in self.parsed.remarks):
            self.parsed.remarks.append(Remark(self.source.name, number, remark, "method"))
        note = found.note or output.contradicted(found.rates)
        for variant, rate in zip(variants, rates, strict=True):
            self._add(number, variant + suffix, rate, unit, note)
        return True

    def _add(self, number: int, variant: str, rate: float, unit: str, note: str | None) -> None:
        if note is None and not LEAST_RATE <= rate <= MOST_RATE:
            note = f"not a rate of {LEAST_RATE:g} to {MOST_RATE:g}"
        if variant in self.seen:
            note = f"repeats line {self.seen[variant]}; only the first figure of a file counts"
            variant = f"{variant}-line-{number}"
        self.seen.setdefault(variant, number)
        self.parsed.rows.append(primitive_row(self.source, number, variant, rate, unit, note))


def parse(source: RawInput) -> Parsed:
    """One row for each cipher and size, and for each step of a key."""
    parsed = Parsed()
    each_line(source, parsed.remarks, _Reader(source, parsed).read)
    return parsed


_DETECTED: Final = re.compile(
    r"(?m)^ *type +[0-9]+ bytes|^(?:Got: )?\+(?:H|F[0-9]*):[0-9]|^ *(?:sign|keygen|op) .*/s$"
)

FORMATS: Final = (
    Format(
        *("openssl-speed", "openssl speed", lambda text, name: bool(_DETECTED.search(text))),
        file_by_file(parse),
        libraries=only("openssl", "libressl"),
    ),
)
