"""Raw formats of other tools: a module each, listed here, that finds out whether a file is its own.

Our own `tlsbench/1` is read by `tlsbench`; these are for `run.load_run` and `tlsperf import`.
"""

from __future__ import annotations

from typing import Final

from tlsperf.contract.errors import UserError
from tlsperf.load.formats import (
    bench_latency,
    bench_memory,
    bssl_speed,
    openssl_bench,
    openssl_speed,
    published,
    rustls_bench,
)
from tlsperf.load.formats.rows import Format, refuse_utf16

FOREIGN: Final[dict[str, Format]] = {
    format.name: format
    for module in (
        openssl_bench,
        rustls_bench,
        bench_memory,
        bench_latency,
        bssl_speed,
        openssl_speed,
        published,
    )
    for format in module.FORMATS
}
"""By the name that run.toml has."""

_HEAD: Final = 1 << 16
"""Bytes of a file that are enough to know its format by."""


def detect(data: bytes, name: str, shown: str) -> Format:
    """The one format of a file, by its bytes and its name; `shown` is what errors call it."""
    refuse_utf16(data, shown)
    head = data[:_HEAD].decode("utf-8-sig", errors="replace").replace("\r\n", "\n")
    found = [format for format in FOREIGN.values() if format.detects(head, name)]
    if len(found) == 1:
        return found[0]
    if not found:
        known = ", ".join(FOREIGN)
        raise UserError(f"{shown}: no line of a known format ({known})")
    names = ", ".join(format.name for format in found)
    raise UserError(f"{shown}: could be {names}; say which with --format")
