"""Sentences that captions of several metrics share."""

from __future__ import annotations

from typing import Final

ALLOCATOR: Final = "{} in an operation; for a set-up, with its first handshake (glibc's mtrace)"

LOCKS: Final = (
    "A count on one thread does not show contention. rustls has no such figure: the locks "
    "of Rust's standard library are locked instructions"
)

WIRE: Final = "The harness' own transport records what is sent"

ENCRYPTED: Final = "Encrypted: messages of TLS 1.3 after the hellos, and a Finished of TLS 1.2"

CALLS: Final = (
    "The transport is memory: a read finds a whole flight, and a write accepts all bytes. After "
    "the handshake, one byte is sent in each direction (data)"
)

TIMING: Final = "How many reads find nothing depends on when bytes arrive"
