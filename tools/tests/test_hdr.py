"""HdrHistogram V2: histograms of the Rust crate are read, and other texts are rejected."""

from __future__ import annotations

import base64
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from encoded_histogram import encoded
from tlsperf.load.hdr import decode

WRITTEN = (
    "HISTEwAAAOkAAAAAAAAAAwAAAAAAAAABAAAADfhHWAA/8AAAAAAAAPtzBAwWHFZ+9gGGAuQC/gL0Au4CsgK0AtAB"
    "sgFuckBEKiAiFAwKBBYSDBgiDjAgHiQyHBYSCgoODAYGAAIFCgQAAgACAAIABAQEAAgCBAYGEAIMCAwOBgwEBhgK"
    "BggABAYEAgACAAICAgICBAAEAgAEAgQAAgIRBAACEQIEAAQNAgMEuwECWQIAAgICAwIAAj0CEQICAgMCAgQECQIA"
    "AgMCAAYFAgAECwIABAUCAAIAAgkEAgUCBAICCwIHAgAEEwIABAUCAgMCBwILAgACDQIRAgcCOwIAAiECAwIJAg0C"
    "awIfAlkCpRUC"
)
"""From a record of `tlsbench`: 2312 handshakes, in nanoseconds."""


def test_what_tlsbench_writes_is_read() -> None:
    bins = decode(WRITTEN)
    assert sum(count for _, _, count in bins) == 2312
    assert bins == sorted(bins)
    # The percentiles of the same record in µs, as the crate computed them.
    below = 0
    for low, high, count in bins:
        for share, microseconds in ((0.5, 82.623), (0.9, 84.479), (0.99, 107.903)):
            if below < share * 2312 <= below + count:
                assert low <= microseconds * 1000 < high
        below += count
    low, high, _ = bins[-1]
    assert low <= 318.975 * 1000 < high


def test_the_largest_value_of_63_bits_is_read() -> None:
    [(low, high, count)] = decode(encoded({54 * 1024 - 1: 2}))
    assert (low < 2**63 - 1 < high, count) == (True, 2)


@given(st.dictionaries(st.integers(0, 26_000), st.integers(1, 2**62), max_size=40))
def test_every_count_is_read_at_its_place(values: dict[int, int]) -> None:
    bins = decode(encoded(values))
    assert [count for _, _, count in bins] == [values[index] for index in sorted(values)]
    for (low, high, _), index in zip(bins, sorted(values), strict=True):
        if index < 2048:
            assert (low, high) == (index, index + 1)
        else:
            assert (high - low) * 1024 <= low < (high - low) * 2048
    for (_, high, _), (low, _, _) in pairwise(bins):
        assert high <= low


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("?", "base64"),
        ("AAAA", "3 bytes, fewer than a header has"),
        (base64.b64encode(bytes(40)).decode(), "cookie 0x0, not HdrHistogram V2"),
        (encoded({1: 2, 9: 2, 90: 2})[:-4], "bytes of counts, not"),
        (encoded({1: 2}, digits=9), "9 digits"),
        (encoded({2**40: 2}), "a bin for values of more than 63 bits"),
        (encoded({54 * 1024: 2}), "a bin for values of more than 63 bits"),
    ],
)
def test_other_texts_are_rejected_as_histograms(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        decode(text)
