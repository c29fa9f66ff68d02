"""Output of `openssl speed` (`openssl-speed`), as a table or for machines (-mr): primitives.

    The 'numbers' are in 1000s of bytes per second processed.
    type              2 bytes     31 bytes    136 bytes   1024 bytes   8192 bytes  16384 bytes
    AES-256-GCM      13570.29k   168865.38k   623050.41k  1766296.58k  2320760.83k  2374123.52k
                      sign    verify    sign/s verify/s
    rsa 2048 bits 0.000313s 0.000018s   3200.0  56632.0

    +F:25:AES-256-GCM:5052231.58:76461663.16:292368266.67:1773681178.95:4336284294.74:4699914240.00
    +F4:3:256:40814.285714:14133.333333

The frame has MiB/s and operations/s. Only the command states whether it decrypts (-decrypt) and
whether each operation has a nonce and a tag (-aead): where the file does not have it, a remark
says what is taken for granted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from tlsperf.contract.errors import FormatError
from tlsperf.load.rows import (
    Format,
    Parsed,
    RawInput,
    Remark,
    each_line,
    file_by_file,
    only,
    primitive_row,
)

_HEADER: Final = re.compile(r"type((?: +[0-9]{1,18} bytes)+)")
_FIGURES: Final = re.compile(r"(\S.*?)((?: +[0-9]+\.[0-9]{2}k?)+)")
_COMMAND: Final = re.compile(r"(?:\$ )?(?:\w+=\S* )*(?:\S*/)?openssl speed( .*)?")
_NOISE: Final = re.compile(
    r"Doing .+ for [0-9]+s.*: [0-9]+ .+ in [0-9.]+s"  # "… ops in" since 3.2, "…'s in" before
    r"|\+(?:DT|DTP|R[0-9]*):.*"
    r"|The 'numbers' are in 1000s of bytes per second processed\."
    r"|(?:version|built on|options|compiler|CPUINFO): ?.*"
    r"|OpenSSL [0-9].*"
    r"|You have chosen to measure elapsed time instead of user CPU time\."
)
_AEADS: Final = ("aes-128-gcm", "aes-256-gcm", "chacha20-poly1305")

_WHOLE: Final = re.compile(
    r"^\+F:.*\.[0-9]{2}$|^\+F[2-6]:.*\.[0-9]{6}$|^[^+].* [0-9]+\.[0-9]{2}k$|^[^+].*s .*\.[0-9]$"
)
"""Matches the end of a complete line of figures, by the decimals that `openssl speed` prints."""

_KEY_HEADER: Final = re.compile(r"(?:[a-z]+ )+((?:[a-z]+\.?/s ?)+)")
_KEY_ROW: Final = re.compile(r"(.*?)((?: [0-9]+\.[0-9]+s)+)((?: [0-9]+\.[0-9]+)+)")
_STEPS: Final = {
    **{"sign/s": "sign", "signs/s": "sign", "verify/s": "verify", "op/s": "agree"},
    **{"encr./s": "encrypt", "decr./s": "decrypt"},
    **{"keygens/s": "generate", "encaps/s": "encapsulate", "decaps/s": "decapsulate"},
}
_LABELS: Final = (
    (re.compile(r"(rsa|dsa) ([0-9]+) bits?"), r"\1-\2"),
    (re.compile(r"[0-9]+ bits? ecdsa \(nistp([0-9]+)\)"), r"ecdsa-p\1"),
    (re.compile(r"[0-9]+ bits? ecdh \(nistp([0-9]+)\)"), r"secp\1r1"),
    (re.compile(r"[0-9]+ bits? (?:ecdh|EdDSA|ecdsa|CurveSM2) \((\w+)\)"), r"\1"),
    (re.compile(r"([0-9]+) bits? ffdh"), r"ffdh-\1"),
)
_CURVES: Final = {("3", "256"): "256", ("4", "384"): "384", ("5", "521"): "521"}
"""The size of a NIST curve by the two numbers that -mr prints: its place in the tool's list, and
its bits.
"""
_MONTGOMERY: Final = {"253": "x25519", "448": "x448"}


_SIGNING: Final = (
    "openssl speed signs a digest, RSA with PKCS #1 v1.5; "
    "tlsbench hashes a message, and RSA has PSS"
)


class _Rate(NamedTuple):
    """A figure and the variant it belongs to."""

    variant: str
    value: float
    unit: str


class _Reader:
    def __init__(self, source: RawInput, parsed: Parsed) -> None:
        self.source = source
        self.parsed = parsed
        self.sizes: list[int] = []
        self.steps: list[str] = []
        self.options: list[str] | None = None
        """The options of the command; None if the file has no command."""
        self.seen: dict[str, int] = {}

    def read(self, number: int, line: str, last: bool) -> None:
        ended = not last or line.endswith(" ")  # a figure without k has a space after it
        line = " ".join(line.split())
        if _NOISE.fullmatch(line):
            return
        if command := _COMMAND.fullmatch(line):
            self.options = (command[1] or "").split()
        elif header := _HEADER.fullmatch(line):
            self.sizes = [int(size) for size in re.findall(r"[0-9]+", header[1])]
        elif line.startswith("+H:"):
            self.sizes = [int(size) for size in re.findall(r"[0-9]+", line)]
        elif header := _KEY_HEADER.fullmatch(line):
            self.steps = header[1].split()
            if unknown := [step for step in self.steps if step not in _STEPS]:
                raise self._fail(number, unknown[0], f"one of {', '.join(_STEPS)}")
        elif ended or _WHOLE.search(line):
            for rate in self._rates(number, line):
                self._add(number, rate)
        else:
            raise self._fail(number, repr(line), "a figure with all its decimals, or with k")

    def _rates(self, number: int, line: str) -> Iterator[_Rate]:
        if line.startswith("+F"):
            yield from self._for_machines(number, line)
        elif row := _KEY_ROW.fullmatch(line):
            rates = row[3].split()
            if len(rates) != len(self.steps) or len(row[2].split()) != len(rates):
                expected = f"times and rates of {', '.join(self.steps) or 'a header with sign/s'}"
                raise self._fail(number, repr(line), expected)
            name = _key_name(row[1])
            for step, rate in zip(self.steps, rates, strict=True):
                yield _Rate(f"{name}-{_STEPS[step]}", float(rate), "operations/s")
        else:
            figures = _FIGURES.fullmatch(line)
            values = figures[2].split() if figures else []
            if not figures or not self.sizes or len(values) != len(self.sizes):
                expected = "`type N bytes …`, then a name and a figure in k for each size"
                raise self._fail(number, repr(line), expected)
            # What is no more than 10,000 bytes per second is printed without k.
            rates_ = [float(v.rstrip("k")) * (1000 if v.endswith("k") else 1) for v in values]
            yield from self._cipher(number, figures[1], rates_)

    def _for_machines(self, number: int, line: str) -> Iterator[_Rate]:
        kind, _, rest = line.partition(":")
        fields = rest.split(":")
        try:
            if kind == "+F" and self.sizes and len(fields) == 2 + len(self.sizes):
                yield from self._cipher(number, fields[1], [float(v) for v in fields[2:]])
                return
            named = _machine_name(kind, fields)
            if named is not None:
                name, steps, values = named
                for step, value in zip(steps, values, strict=False):
                    yield _Rate(f"{name}-{step}", _per_second(float(value)), "operations/s")
                return
        except (ValueError, ZeroDivisionError, IndexError):
            pass
        expected = "+F:N:NAME:… with a figure for each size of +H, or +F2 to +F6 with their figures"
        raise self._fail(number, repr(line), expected)

    def _cipher(self, number: int, printed: str, rates: list[float]) -> Iterator[_Rate]:
        """The rates of a cipher or hash at each size; `rates` are in bytes per second."""
        name = re.sub(r"[^a-z0-9]+", "-", printed.lower()).strip("-")
        decrypts = "-decrypt" in (self.options or [])
        if name in _AEADS:
            name += "-open" if decrypts else "-seal"
            self._remark(number, self._about_aeads())
        elif decrypts:
            name += "-decrypt"
        for size, rate in zip(self.sizes, rates, strict=True):
            yield _Rate(f"{name}-{size}", rate / (1 << 20), "MiB/s")

    def _about_aeads(self) -> str | None:
        if self.options is None:
            return "the file has no command: figures are taken to be of encryption, the default"
        if "-aead" not in self.options:
            return "measured without -aead: operations have no nonce and no tag of their own"
        return None

    def _remark(self, number: int, message: str | None) -> None:
        """Adds a remark once: how the work differs from ours, or what the file does not state."""
        if message and all(remark.message != message for remark in self.parsed.remarks):
            self.parsed.remarks.append(Remark(self.source.name, number, message, "method"))

    def _add(self, number: int, rate: _Rate) -> None:
        variant, note = rate.variant, None
        if variant in self.seen:
            note = f"repeats line {self.seen[variant]}; one file must hold one round"
            variant = f"{variant}-line-{number}"
        self.seen.setdefault(variant, number)
        if variant.endswith(("-sign", "-verify")):
            self._remark(number, _SIGNING)
        row = primitive_row(self.source, number, variant, rate.value, rate.unit, note)
        self.parsed.rows.append(row)

    def _fail(self, line: int, found: str, expected: str) -> FormatError:
        return FormatError(self.source.name, line, found, expected)


def _key_name(label: str) -> str:
    label = label.strip()
    for pattern, name in _LABELS:
        if found := pattern.fullmatch(label):
            return found.expand(name).lower()
    return re.sub(r"[^a-z0-9]+", "-", label.lower()).strip("-")


def _machine_name(kind: str, fields: list[str]) -> tuple[str, list[str], list[str]] | None:
    """The name, steps and figures of a line +F2 to +F6; None for any other line."""
    place, bits, *values = fields
    curve = _CURVES.get((place, bits))
    match kind:
        case "+F2":
            return f"rsa-{bits}", ["sign", "verify", "encrypt", "decrypt"], values
        case "+F3":
            return f"dsa-{bits}", ["sign", "verify"], values
        case "+F4":
            name = f"ecdsa-p{curve}" if curve else f"ecdsa-curve-{place}-{bits}"
            return name, ["sign", "verify"], values
        case "+F5":
            name = f"secp{curve}r1" if curve else _MONTGOMERY.get(bits, f"ecdh-{place}-{bits}")
            return name, ["agree"], values
        case "+F6":
            return values[0].lower(), ["sign", "verify"], values[1:]
    return None


def _per_second(value: float) -> float:
    """A rate. Before 3.0, -mr printed the seconds of one operation instead."""
    return value if value >= 1 else 1 / value


def parse(source: RawInput) -> Parsed:
    """One row for each cipher and size, and for each step of a key."""
    parsed = Parsed()
    each_line(source, parsed.remarks, _Reader(source, parsed).read)
    return parsed


_DETECTED: Final = re.compile(
    r"^type +[0-9]+ bytes|^\+H:[0-9]|^\+F[0-9]*:[0-9]|^ +(?:sign|keygen|op) .*/s$", re.MULTILINE
)

FORMATS: Final = (
    Format(
        "openssl-speed",
        "openssl speed",
        lambda text, name: _DETECTED.search(text) is not None,
        file_by_file(parse),
        libraries=only("openssl", "libressl"),
    ),
)
