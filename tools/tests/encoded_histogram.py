"""Histograms for tests, encoded as HdrHistogram V2 does."""

from __future__ import annotations

import base64
import struct


def encoded(values: dict[int, int], digits: int = 3) -> str:
    """A histogram encoded after the description of the format; `values` has counts by bin index."""
    counts = bytearray()
    last = -1
    for index, count in sorted(values.items()):
        if index > last + 1:
            counts += zigzag(-(index - last - 1))
        counts += zigzag(count)
        last = index
    header = struct.pack(">iiiiqqd", 0x1C849313, len(counts), 0, digits, 1, 60 * 10**9, 1.0)
    return base64.b64encode(header + bytes(counts)).decode()


def zigzag(number: int) -> bytes:
    value = (number << 1 ^ number >> 63) & (1 << 64) - 1
    out = bytearray()
    while len(out) < 8 and value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
