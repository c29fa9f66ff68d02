"""Output of `bssl speed` of BoringSSL and AWS-LC (`bssl-speed`): speeds of primitives.

    Did 139000 AES-256-GCM (16384 bytes) seal operations in 1004138us (138427.2 ops/sec): \\
      2268.0 MB/s  (on the same line)
    Did 717000 EVP-AES-256-GCM encrypt (16384 bytes) operations in 1001385us (…): 11731.1 MB/s
    Did 6280000 EVP-AES-128-GCM encrypt init operations in 1000071us (6279554.2 ops/sec)

Megabytes are 10^6 bytes here; the frame has MiB/s. AWS-LC measures AES-GCM through its EVP API
and says encrypt and decrypt for seal and open.
"""

from __future__ import annotations

import re
from typing import Final

from tlsperf.contract.errors import FormatError
from tlsperf.load.rows import (
    Format,
    Parsed,
    RawInput,
    each_line,
    file_by_file,
    only,
    primitive_row,
)

_LINE: Final = re.compile(
    r"Did ([0-9]{1,18}) (.+?) operations in ([0-9]{1,18})us \(([0-9]+\.[0-9]) ops/sec\)"
    r"(?:: ([0-9]+\.[0-9]) MB/s)?\s*"
)
_SIZE: Final = re.compile(r" \(([0-9]{1,18}) bytes\)")
_COMMAND: Final = re.compile(r"(?:\$ )?(?:\w+=\S* )*(?:\S*/)?bssl speed(?: .*)?")
_WORDS: Final = {"encrypt": "seal", "decrypt": "open"}
MEGABYTE_IN_MIB: Final = 1e6 / (1 << 20)


def primitive_name(printed: str) -> str:
    """The variant of a printed name: aes-256-gcm-seal-16384 for `EVP-AES-256-GCM encrypt (16384
    bytes)`.
    """
    size = _SIZE.search(printed)
    words = _SIZE.sub("", printed).lower().split()
    words[0] = re.sub(r"^(?:evp|aead)-(?=aes|chacha)", "", words[0])
    if "gcm" in words[0] or "poly1305" in words[0]:
        words = [_WORDS.get(word, word) for word in words]
    name = "-".join(words + ([size[1]] if size else []))
    return re.sub(r"[^a-z0-9.]+", "-", name).strip("-")


def parse(source: RawInput) -> Parsed:
    """One row for each line: bytes per second if the tool prints them, else operations."""
    parsed = Parsed()
    names: dict[str, tuple[str, int]] = {}

    def read(number: int, line: str, last: bool) -> None:
        if _COMMAND.fullmatch(line.strip()):
            return
        found = _LINE.fullmatch(" ".join(line.split()))
        if not found or (_SIZE.search(found[2]) and not found[5]):
            expected = "Did N NAME operations in Nus (N ops/sec): N MB/s"
            raise FormatError(source.name, number, repr(line), expected)
        printed, operations, megabytes = found[2], found[4], found[5]
        name = primitive_name(printed)
        note = _contradiction(source, number, found)
        if name in names:
            other, first = names[name]
            if other == printed:
                note = note or f"repeats line {first}; one file must hold one round"
                name = f"{name}-line-{number}"
            else:  # the same cipher through another API
                name = re.sub(r"[^a-z0-9]+", "-", printed.lower()).strip("-")
        else:
            names[name] = (printed, number)
        value = float(megabytes) * MEGABYTE_IN_MIB if megabytes else float(operations)
        unit = "MiB/s" if megabytes else "operations/s"
        parsed.rows.append(primitive_row(source, number, name, value, unit, note))

    each_line(source, parsed.remarks, read)
    return parsed


def _contradiction(source: RawInput, line: int, found: re.Match[str]) -> str | None:
    """Why a line's numbers disagree by more than rounding explains; None if they agree."""
    count, printed, microseconds, operations, megabytes = found.groups()
    if int(microseconds) == 0:
        raise FormatError(source.name, line, "0us", "a time above zero")
    rate = int(count) / int(microseconds) * 1e6
    if abs(rate - float(operations)) > 0.1 + 1e-6 * rate:
        return f"{operations} ops/sec printed where count and time give {rate:.1f}"
    size = _SIZE.search(printed)
    if megabytes and size:
        bulk = rate * int(size[1]) / 1e6
        if abs(bulk - float(megabytes)) > 0.1 + 1e-6 * bulk:
            return f"{megabytes} MB/s printed where count, size and time give {bulk:.1f}"
    return None


FORMATS: Final = (
    Format(
        "bssl-speed",
        "bssl speed",
        lambda text, name: (
            re.search(r"^Did [0-9]+ .+ operations in [0-9]+us ", text, re.M) is not None
        ),
        file_by_file(parse),
        libraries=only("boringssl", "aws-lc", "openssl"),  # AWS-LC's can be linked with OpenSSL
    ),
)
