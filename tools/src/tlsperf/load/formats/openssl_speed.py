"""Output of `openssl speed -aead -evp NAME` (`openssl-speed`): speeds of primitives.

    The 'numbers' are in 1000s of bytes per second processed.
    type              2 bytes     31 bytes    136 bytes   1024 bytes   8192 bytes  16384 bytes
    AES-256-GCM      13570.29k   168865.38k   623050.41k  1766296.58k  2320760.83k  2374123.52k

The frame has MiB/s. Only the command (-decrypt) states whether it encrypts or decrypts; if it
is in the file, that is part of the variant (aes-256-gcm-seal-16384).
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
    primitive_row,
)

_HEADER: Final = re.compile(r"type((?: +[0-9]{1,18} bytes)+)")
_FIGURES: Final = re.compile(r"(\S.*?)((?: +[0-9]+\.[0-9]{2}k)+)")
_COMMAND: Final = re.compile(r"(?:\$ )?(?:\w+=\S* )*(?:\S*/)?openssl speed( .*)?")
_NOISE: Final = re.compile(
    r"Doing .* size blocks: [0-9]+ .+ in [0-9.]+s"  # "… ops in" since 3.2, "…'s in" before
    r"|The 'numbers' are in 1000s of bytes per second processed\."
    r"|(?:version|built on|options|compiler|CPUINFO): ?.*"
    r"|OpenSSL [0-9].*"
    r"|You have chosen to measure elapsed time instead of user CPU time\."
)


def parse(source: RawInput) -> Parsed:
    """One row for each cipher and size."""
    parsed = Parsed()
    sizes: list[int] = []
    direction: str | None = None
    seen: dict[str, int] = {}

    def read(number: int, line: str, last: bool) -> None:
        nonlocal sizes, direction
        line = " ".join(line.split())
        if _NOISE.fullmatch(line):
            return
        if command := _COMMAND.fullmatch(line):
            direction = "open" if "-decrypt" in (command[1] or "").split() else "seal"
            return
        if header := _HEADER.fullmatch(line):
            sizes = [int(size) for size in re.findall(r"[0-9]+", header[1])]
            return
        figures = _FIGURES.fullmatch(line)
        values = figures[2].split() if figures else []
        if not figures or not sizes or len(values) != len(sizes):
            expected = "`type N bytes …`, then a name and a figure in k for each size"
            raise FormatError(source.name, number, repr(line[:200]), expected)
        for size, value in zip(sizes, values, strict=True):
            name = re.sub(r"[^a-z0-9]+", "-", figures[1].lower()).strip("-")
            variant = "-".join([name, *([direction] if direction else []), str(size)])
            note = None
            if variant in seen:
                note = f"repeats line {seen[variant]}; one file must hold one round"
                variant = f"{variant}-line-{number}"
            seen.setdefault(variant, number)
            rate = float(value[:-1]) * 1000 / (1 << 20)
            parsed.rows.append(primitive_row(source, number, variant, rate, "MiB/s", note))

    each_line(source, parsed.remarks, read)
    return parsed


FORMATS: Final = (
    Format(
        "openssl-speed",
        "openssl speed",
        lambda text, name: re.search(r"^type +[0-9]+ bytes", text, re.M) is not None,
        file_by_file(parse),
    ),
)
