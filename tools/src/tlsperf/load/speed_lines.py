"""The lines of figures of `openssl speed`, in tables and for machines (-mr).

Source: apps/speed.c of OpenSSL 0.9.8 to 4.0 (https://github.com/openssl/openssl) and of LibreSSL
(https://github.com/libressl/openbsd, src/usr.bin/openssl). Numbers of lines for machines changed:

    always                 +F cipher or hash, +F2 RSA, +F3 DSA, +F4 ECDSA, +F5 ECDH
    OpenSSL 1.1.1 to 3.6   +F6 EdDSA, since 3.0 +F7 SM2 and +F8 ffdh, since 3.2 +F9 KEM and
                           +F10 signature
    OpenSSL 4.0            +F4 EdDSA too, +F7 ffdh, +F8 KEM, +F9 signature
    LibreSSL 4.3           +F6 ML-KEM

The lines of KEMs and signatures have no names; the progress on standard error (+R15 to +R20) has.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

STEPS: Final = {
    **{"sign/s": "sign", "signs/s": "sign", "verify/s": "verify", "op/s": "agree"},
    **{"encr./s": "encrypt", "decr./s": "decrypt"},
    **{"keygens/s": "generate", "encaps/s": "encapsulate", "decaps/s": "decapsulate"},
    **{"keygen/s": "generate", "encap/s": "encapsulate", "decap/s": "decapsulate"},
}
"""What the columns of a table are rates of."""
KEM: Final = ("generate", "encapsulate", "decapsulate")
_RSA: Final = ("sign", "verify", "encrypt", "decrypt")
_SLOWEST: Final = 0.1
"""Operations per second: the tool measures each for ten seconds."""


class Figures(NamedTuple):
    """The figures of one line."""

    key: str
    """What is measured, in the words of the line: the same in lines of several processes."""
    name: str
    """Empty if the line does not have one that is known."""
    steps: Sequence[str]
    """What each rate is of; empty for a cipher or hash, whose rates are of each size."""
    rates: Sequence[float]
    """Operations per second, or bytes per second of a cipher or hash."""
    note: str | None = None
    """Why they must not count."""


_Known = tuple[str, Sequence[str], Sequence[float], str | None]
"""The fields of Figures after the key."""
_FIGURE: Final = re.compile(r"[0-9]{1,15}\.[0-9]{1,6}")
_KEY: Final = re.compile(r"\+F[0-9]*(?::[0-9]{1,6}){1,2}(?::[^:]+)?")


def of_machine(line: str, seconds: bool) -> Figures | None:
    """The figures of a line +F, +F2, …; None for another form.

    `seconds`: the version prints the seconds of an operation in +F2 to +F5, not its rate.
    """
    kind, *fields = line.split(":")
    figures = [field for field in fields if _FIGURE.fullmatch(field)]
    words = fields[: len(fields) - len(figures)]
    key = ":".join([kind, *words])
    if not figures or fields != words + figures or not _KEY.fullmatch(key):
        return None
    found = _known(kind, words, figures, seconds)
    return Figures(key, *found) if found else None


def _known(kind: str, words: list[str], figures: list[str], seconds: bool) -> _Known | None:
    values = [float(figure) for figure in figures]
    match kind, words, len(figures):
        case "+F", [_, name], _:
            return name, (), values, None
        case "+F2", [_, bits], 2 | 4:
            return _rates(f"rsa-{bits}", _RSA[: len(values)], values, seconds)
        case "+F3", [_, bits], 2:
            return _rates(f"dsa-{bits}", _RSA[:2], values, seconds)
        case "+F4", [place, bits], 2:
            name = {"253": "ed25519", "456": "ed448"}.get(bits) or _prime(place, bits, "ecdsa-p")
            return _rates(name, _RSA[:2], values, seconds)
        case "+F5", [place, bits], 1 | 2:
            name = {"253": "x25519", "448": "x448"}.get(bits) or _prime(place, bits, "secp")
            return _agreement(name, figures, seconds)
        case "+F7" | "+F8", [_, bits], 1 | 2:
            return _agreement(f"ffdh-{bits}", figures, seconds)
        case "+F6" | "+F7", [_, _, name], 2:
            return _rates(_curve(name, ""), _RSA[:2], values, seconds)
        case "+F6", [bits], 6:
            return f"ml-kem-{bits}", KEM, values[1::2], _differ(figures[::2], figures[1::2])
        case "+F8" | "+F9" | "+F10", [_], 3:
            return "", (), values, None
    return None


def _prime(place: str, bits: str, before: str) -> str:
    """The name of a curve by its place in the tool's list: NIST's primes are its first."""
    known = int(place) <= 5 and bits in ("224", "256", "384", "521")
    return _curve(f"nistp{bits}", before) if known else ""


def _curve(name: str, before: str) -> str:
    """Our name of a curve; `before` stands before the bits of NIST's primes. OpenSSL 4.0 writes
    prime256v1 for nistp256.
    """
    if bits := re.fullmatch(r"(?:nistp|prime|secp)(192|224|256|384|521)(?:v1|r1|)", name):
        return f"{before}{bits[1]}{'r1' if before == 'secp' else ''}"
    return slug(name).removeprefix("curve")  # CurveSM2 before 4.0


def _rates(
    name: str, steps: Sequence[str], values: Sequence[float], seconds: bool
) -> _Known | None:
    """Of the rates in `values`; with `seconds` of the times in it."""
    if not all(values):
        return None
    rates = [1 / value for value in values] if seconds else values
    return name, steps, rates, _doubtful(rates, seconds)


def _doubtful(rates: Sequence[float], seconds: bool) -> str | None:
    unit = "seconds" if seconds else "operations per second"
    return f"not the {unit} that this version prints" if min(rates) < _SLOWEST else None


def _agreement(name: str, figures: list[str], seconds: bool) -> _Known | None:
    """Of a rate and its seconds; with `seconds` in the other order."""
    if len(figures) == 1:
        return _rates(name, ("agree",), [float(figures[0])], seconds)
    time, rate = figures if seconds else reversed(figures)
    note = _doubtful([float(rate)], seconds) or _differ([time], [rate])
    return name, ("agree",), [float(rate)], note


def _differ(times: Sequence[str], rates: Sequence[str]) -> str | None:
    """A note if the seconds of an operation and its rate differ by more than rounding does."""
    for time, rate in zip(times, rates, strict=True):
        of_time, of_rate = (0.51 * 10.0 ** -len(x.partition(".")[2]) for x in (time, rate))
        t, r = float(time), float(rate)
        if abs(t * r - 1) > t * of_rate + r * of_time + of_rate * of_time:
            return f"{time}s and {rate}/s contradict each other"
    return None


_ROW: Final = re.compile(r"(\S.*?)((?: [0-9]{1,15}\.[0-9]{1,6}[ks]?)+)")
_EC: Final = re.compile(r"[0-9]+ bits? (?:ecdsa|ecdh|EC|EdDSA|SM2|CurveSM2) \((\w+)\)")

WHOLE: Final = re.compile(
    r"\+F:.*\.[0-9]{2}|\+F[0-9]+:.*\.[0-9]{6}:[0-9]+\.[0-9]{6}|[^+].*\.[0-9]{2}k|[^+].*s .*\.[0-9]"
)
"""A complete line of figures, by the decimals at its end."""


def of_table(line: str, steps: Sequence[str]) -> Figures | None:
    """The figures of a row, under a header of these `steps` if it is of a key."""
    row = _ROW.fullmatch(line)
    if not row:
        return None
    figures = row[2].split()
    times = [figure[:-1] for figure in figures if figure.endswith("s")]
    rates = [figure for figure in figures if not figure.endswith("s")]
    if not times and re.fullmatch(r"(?: [0-9]+\.[0-9]{2}k?)+", row[2]):
        # What is no more than 10,000 bytes per second is printed without k.
        values = [float(rate.rstrip("k")) * (1000 if rate.endswith("k") else 1) for rate in rates]
        return Figures(row[1], row[1], (), values)
    if "k" in row[2] or not len(times) == len(rates) == len(steps):
        return None
    before = "secp" if "agree" in steps else "ecdsa-p"
    name = _curve(found[1], before) if (found := _EC.fullmatch(row[1])) else slug(row[1])
    name = re.sub(r"^(rsa|dsa)-([0-9]+)-bits?$", r"\1-\2", name)
    name = re.sub(r"^([0-9]+)-bits?-ffdh$", r"ffdh-\1", name)
    if not figures[1].endswith("s"):  # LibreSSL's; liboqs has `mlkem1024` too, times before rates
        name = re.sub(r"^mlkem-?([0-9]+)$", r"ml-kem-\1", name)
    return Figures(row[1], name, steps, [float(rate) for rate in rates], _differ(times, rates))


def slug(printed: str) -> str:
    """A name in lower case with hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", printed.lower()).strip("-")
