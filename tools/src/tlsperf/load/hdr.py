"""HdrHistogram's encoding V2, as `tlsbench` writes it in base64.

The format is that of the Java original, `AbstractHistogram.encodeIntoByteBuffer`, and of the Rust
crate hdrhistogram, `serialization::V2Serializer`. Big-endian: cookie, length of the counts,
normalising offset, significant digits (32 bits each), lowest and highest trackable value (64 bits),
conversion ratio (double). Then the counts, ascending by value, as ZigZag LEB128 of at most 9 bytes,
whose last has 8 bits of value; -n means n empty ones.
"""

from __future__ import annotations

import base64
import binascii
import struct
from collections.abc import Iterator
from typing import Final

_HEADER: Final = struct.Struct(">iiiiqqd")
_COOKIE: Final = 0x1C849303
_LAST_BYTE: Final = 8
_MOST_BITS: Final = 63
"""Of a value: a histogram may promise more bins than that in a few bytes."""


def decode(text: str) -> list[tuple[int, int, int]]:
    """Pairs of bounds with their counts above 0: (lowest value, highest value + 1, count),
    ascending.

    Values are in the unit of the histogram. Raises ValueError, which says what is wrong.
    """
    try:
        data = base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError(f"base64: {error}") from None
    if len(data) < _HEADER.size:
        raise ValueError(f"{len(data)} bytes, fewer than a header has")
    cookie, length, offset, digits, lowest, _, _ = _HEADER.unpack_from(data)
    if cookie & ~0xF0 != _COOKIE:
        raise ValueError(f"cookie {cookie & 0xFFFFFFFF:#x}, not HdrHistogram V2")
    if offset != 0 or not 0 <= digits <= 5 or lowest < 1:
        raise ValueError(f"offset {offset}, {digits} digits, lowest {lowest}")
    counts = data[_HEADER.size :]
    if len(counts) != length:
        raise ValueError(f"{len(counts)} bytes of counts, not {length}")
    # Values below 2 * `half` have a bin each; above, each doubling has `half` bins.
    half_bits = (2 * 10**digits - 1).bit_length() - 1
    half = 1 << half_bits
    unit = lowest.bit_length() - 1
    bins = []
    index = 0
    for count in _zigzag(counts):
        if count < 0:
            index -= count
            continue
        if (index >> half_bits) + half_bits + unit > _MOST_BITS:
            raise ValueError("a bin for values of more than 63 bits")
        if count:
            bucket, within = (index >> half_bits) - 1, (index & (half - 1)) + half
            if bucket < 0:
                bucket, within = 0, within - half
            shift = bucket + unit
            bins.append((within << shift, (within + 1) << shift, count))
        index += 1
    return bins


def _zigzag(data: bytes) -> Iterator[int]:
    value = used = 0
    for byte in data:
        if used == _LAST_BYTE:
            value |= byte << (7 * used)
        else:
            value |= (byte & 0x7F) << (7 * used)
            used += 1
            if byte & 0x80:
                continue
        yield (value >> 1) ^ -(value & 1)
        value = used = 0
    if used:
        raise ValueError("the last count is cut off")
